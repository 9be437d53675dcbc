/* Handles may be freed in any order, and the process may end at any moment. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "support.h"
#include "test.h"

static const float FOUR[] = {1, 2, 3, 4};
static const float TWICE[] = {2, 4, 6, 8};
static const int64_t DIMS_4[] = {4};

static cyxla_buffer *four(void)
{
    cyxla_buffer *b = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, FOUR, &b));
    return b;
}

static void a_program_may_go_before_its_executable(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;
    float out[4] = {0};

    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_OK(cyxla_compile_program(program, NULL, &e));
    cyxla_program_free(program);
    if (e) {
        CHECK_STR(cyxla_executable_name(e), "double_f32");
        CHECK_OK(run_1_1(e, FOUR, sizeof FOUR, out, sizeof out));
        CHECK_FLOATS(out, TWICE, 4);
    }
    cyxla_executable_free(e);
}

static void inputs_and_executable_may_go_before_the_result(void)
{
    float back[4] = {0};
    cyxla_executable *e = compiled(DOUBLE_F32_4);
    cyxla_buffer *in = four();
    const cyxla_buffer *inputs[] = {in};
    cyxla_buffer *out = NULL;

    if (!e)
        return;
    CHECK_OK(cyxla_execute(e, inputs, 1, &out, 1));
    cyxla_buffer_free(in);
    cyxla_executable_free(e);
    CHECK_OK(cyxla_buffer_to_host(out, back, sizeof back));
    CHECK_FLOATS(back, TWICE, 4);
    cyxla_buffer_free(out);
}

static void options_may_go_before_what_they_were_for(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_set_int(options, "device", 0));
    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_OK(cyxla_compile_program(program, options, &e));
    cyxla_options_free(options);
    cyxla_program_free(program);
    cyxla_executable_free(e);
    CHECK(alive());
}

/* One program compiled twice, one buffer used twice, one result read twice. */
static void things_may_be_used_twice(void)
{
    float back[4] = {0};
    cyxla_program *program = NULL;
    cyxla_executable *first = NULL;
    cyxla_executable *second = NULL;
    cyxla_buffer *in = four();
    const cyxla_buffer *inputs[] = {in};
    cyxla_buffer *out[2] = {NULL, NULL};

    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_OK(cyxla_compile_program(program, NULL, &first));
    CHECK_OK(cyxla_compile_program(program, NULL, &second));
    CHECK(first != second);
    CHECK_OK(cyxla_execute(first, inputs, 1, &out[0], 1));
    cyxla_executable_free(first);
    CHECK_OK(cyxla_execute(second, inputs, 1, &out[1], 1));
    for (size_t i = 0; i < 4; i++) {
        CHECK_OK(cyxla_buffer_to_host(out[i / 2], back, sizeof back));
        CHECK_FLOATS(back, TWICE, 4);
    }
    cyxla_buffer_free(out[0]);
    cyxla_buffer_free(out[1]);
    cyxla_buffer_free(in);
    cyxla_executable_free(second);
    cyxla_program_free(program);
}

/* --- ways to end the process: a child ends with exit() when its mode returns --- */

/* What lives when the process ends: nobody frees it. */
static cyxla_executable *left_executable;
static cyxla_buffer *left_input;
static cyxla_buffer *left_output;

static void leave_things_alive(void)
{
    left_executable = compiled(DOUBLE_F32_4);
    left_input = four();
    const cyxla_buffer *inputs[] = {left_input};
    if (left_executable)
        CHECK_OK(cyxla_execute(left_executable, inputs, 1, &left_output, 1));
}

static void exit_with_everything_alive(void)
{
    leave_things_alive();
}

__attribute__((noreturn)) static void leave_without_handlers(void)
{
    leave_things_alive();
    _exit(test_status());
}

static void exit_after_a_failed_initialize(void)
{
    CHECK_FAILS(cyxla_initialize("/no/such/plugin.so", NULL, NULL, NULL), CYXLA_CODE_NOT_FOUND, "");
}

static void exit_after_loading_alone(void)
{
    CHECK_OK(cyxla_initialize(NULL, NULL, NULL, NULL));
}

static void free_at_exit(void)
{
    float back[4] = {0};

    if (!CHECK_OK(cyxla_buffer_to_host(left_output, back, sizeof back)))
        _exit(1);
    cyxla_buffer_free(left_output);
    cyxla_buffer_free(left_input);
    cyxla_executable_free(left_executable);
}

static void free_in_an_exit_handler(void)
{
    atexit(free_at_exit);
    leave_things_alive();
}

static void the_process_may_end_at_any_moment(void)
{
    CHECK_CHILD("exit", "CYXLA_OPTIONS");
    CHECK_CHILD("_exit", "CYXLA_OPTIONS");
    CHECK_CHILD("exit-failed", "CYXLA_OPTIONS");
    CHECK_CHILD("exit-loaded", "CYXLA_OPTIONS");
    CHECK_CHILD("exit-handler", "CYXLA_OPTIONS");
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"exit", exit_with_everything_alive},
        {"_exit", leave_without_handlers},
        {"exit-failed", exit_after_a_failed_initialize},
        {"exit-loaded", exit_after_loading_alone},
        {"exit-handler", free_in_an_exit_handler},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(a_program_may_go_before_its_executable);
    RUN(inputs_and_executable_may_go_before_the_result);
    RUN(options_may_go_before_what_they_were_for);
    RUN(things_may_be_used_twice);
    RUN(the_process_may_end_at_any_moment);
    return test_end();
}
