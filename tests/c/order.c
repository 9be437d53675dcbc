/* Handles may be freed in any order, and the process may end at any moment. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
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

static void free_everything(void)
{
    cyxla_buffer_free(left_output);
    cyxla_buffer_free(left_input);
    cyxla_executable_free(left_executable);
}

/* Runs before the plugin's globals are destroyed. */
static void use_and_free(void)
{
    float back[4] = {0};

    if (!CHECK_OK(cyxla_buffer_to_host(left_output, back, sizeof back)) || !CHECK_FLOATS(back, TWICE, 4))
        _exit(1);
    free_everything();
}

static void exit_handlers_may_use_the_runtime(void)
{
    leave_things_alive();
    atexit(use_and_free);
}

/* Runs after the plugin's globals are destroyed: they are younger. */
static void try_and_free(void)
{
    float back[4] = {0};
    cyxla_executable *e = NULL;

    bool refused = CHECK_FAILS(cyxla_buffer_to_host(left_output, back, sizeof back), CYXLA_CODE_FAILED_PRECONDITION,
                               "ending") &&
                   CHECK_FAILS(run_1_1(left_executable, FOUR, sizeof FOUR, back, sizeof back),
                               CYXLA_CODE_FAILED_PRECONDITION, "ending") &&
                   CHECK_FAILS(compile_text(DOUBLE_F32_4, &e), CYXLA_CODE_FAILED_PRECONDITION, "ending");
    if (!refused)
        _exit(1);
    free_everything();
}

static void older_exit_handlers_may_free(void)
{
    atexit(try_and_free);
    leave_things_alive();
}

static void *never_stop(void *unused)
{
    float out[4];
    cyxla_error *error = NULL;

    (void)unused;
    while (!error)
        error = run_1_1(left_executable, FOUR, sizeof FOUR, out, sizeof out);
    cyxla_error_free(error);
    return NULL; /* the process is ending */
}

static void exit_while_threads_run_programs(void)
{
    static const struct timespec a_while = {0, 50000000};

    leave_things_alive();
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, never_stop, NULL), 0);
        pthread_detach(thread);
    }
    nanosleep(&a_while, NULL);
}

/* --- ways to end it with a step in flight --- */

/* What these processes end with, to tell their end from others. */
#define ENDED 7

/* From now on the process has so long to end. */
static void end_in_time(void)
{
    /* It takes some milliseconds, or as long as the step, but the machine may be busy, and valgrind is slow. */
    const struct itimerval limit = {{0, 0}, {on_fake_plugin() ? 20 : 5, 0}};

    setitimer(ITIMER_REAL, &limit, NULL);
}

static cyxla_call *in_flight;

static void start_a_step(void)
{
    left_executable = compiled(long_program());
    CHECK_OK(cyxla_call_new(left_executable, NULL, &in_flight));
    CHECK(cyxla_call_input(in_flight, 0, 0, NULL) != NULL);
    CHECK_OK(cyxla_call_run(in_flight)); /* plugins make more globals at the first */
    CHECK_OK(cyxla_call_start(in_flight));
    end_in_time();
    if (test_status() != 0)
        _exit(1);
}

__attribute__((noreturn)) static void exit_in_flight(void)
{
    start_a_step();
    exit(ENDED);
}

__attribute__((noreturn)) static void exit_without_handlers_in_flight(void)
{
    start_a_step();
    _exit(ENDED);
}

static void fail_in_handler(void)
{
    if (test_status() != 0)
        _exit(1);
}

static void free_the_step(void)
{
    cyxla_call_free(in_flight);
    free_at_the_end(left_executable);
}

static void wait_for_the_step(void)
{
    CHECK_OK(cyxla_call_wait(in_flight, -1));
    CHECK(cyxla_call_output(in_flight, 0, 0, NULL) != NULL);
    free_the_step();
    fail_in_handler();
}

__attribute__((noreturn)) static void a_handler_waits(void)
{
    start_a_step();
    atexit(wait_for_the_step);
    exit(ENDED);
}

__attribute__((noreturn)) static void a_handler_frees(void)
{
    start_a_step();
    atexit(free_the_step);
    exit(ENDED);
}

__attribute__((noreturn)) static void a_handler_frees_without_others(void)
{
    start_a_step();
    at_quick_exit(free_the_step);
    quick_exit(ENDED);
}

static void find_it_gone(void)
{
    cyxla_call *other = NULL;

    CHECK_FAILS(cyxla_call_wait(in_flight, -1), CYXLA_CODE_FAILED_PRECONDITION, "ending");
    CHECK_FAILS(cyxla_call_start(in_flight), CYXLA_CODE_FAILED_PRECONDITION, "ending");
    CHECK_FAILS(cyxla_call_new(left_executable, NULL, &other), CYXLA_CODE_FAILED_PRECONDITION, "ending");
    CHECK(cyxla_call_output(in_flight, 0, 0, NULL) == NULL);
    CHECK(cyxla_call_is_done(in_flight));
    free_the_step();
    fail_in_handler();
}

__attribute__((noreturn)) static void an_older_handler_frees(void)
{
    atexit(find_it_gone);
    start_a_step();
    exit(ENDED);
}

static bool has_destructor;

/* Runs after all exit handlers. */
__attribute__((destructor)) static void last_of_all(void)
{
    if (has_destructor)
        free_the_step();
}

__attribute__((noreturn)) static void a_destructor_frees(void)
{
    start_a_step();
    has_destructor = true;
    exit(ENDED);
}

__attribute__((noreturn)) static void *end_the_process(void *unused)
{
    static const struct timespec a_while = {0, 50000000};

    (void)unused;
    nanosleep(&a_while, NULL);
    end_in_time();
    exit(ENDED);
}

__attribute__((noreturn)) static void *never_stop_calling(void *unused)
{
    cyxla_call *call = NULL;
    cyxla_error *error = NULL;

    (void)unused;
    CHECK_OK(cyxla_call_new(left_executable, NULL, &call));
    CHECK(cyxla_call_input(call, 0, 0, NULL) != NULL);
    while (!error) {
        error = cyxla_call_start(call);
        if (!error)
            error = cyxla_call_wait(call, -1);
    }
    cyxla_error_free(error);
    cyxla_call_free(call);
    for (;;)
        pause(); /* the process is ending */
}

__attribute__((noreturn)) static void another_thread_exits(void)
{
    pthread_t thread;

    left_executable = compiled(long_program());
    CHECK_INT(pthread_create(&thread, NULL, never_stop_calling, NULL), 0);
    CHECK_INT(pthread_create(&thread, NULL, end_the_process, NULL), 0);
    never_stop_calling(NULL);
}

static void ends(const char *mode)
{
    static const char *const settings[] = {"CYXLA_OPTIONS=asynchronous=true", "CYXLA_FAKE_PLUGIN=async,delay_ms=100",
                                           NULL};
    struct child child;

    child_run(&child, mode, settings);
    if (!CHECK_INT(child.signal, 0) || !CHECK_INT(child.exit_code, ENDED))
        printf("--- mode %s said:\n%s---\n", mode, child.output);
}

static void the_process_may_end_while_a_step_is_in_flight(void)
{
    ends("flight-_exit");
    ends("flight-handler-waits");
    ends("flight-handler-frees");
    ends("flight-quick_exit");
    /* As above: what the plugin made and its threads have is left. */
    if (!on_fake_plugin()) {
        ends("flight-exit");
        ends("flight-handler-older");
        ends("flight-destructor");
        ends("flight-thread");
    }
}

static void the_process_may_end_at_any_moment(void)
{
    CHECK_CHILD("exit", "CYXLA_OPTIONS");
    CHECK_CHILD("_exit", "CYXLA_OPTIONS");
    CHECK_CHILD("exit-failed", "CYXLA_OPTIONS");
    CHECK_CHILD("exit-loaded", "CYXLA_OPTIONS");
    CHECK_CHILD("exit-busy", "CYXLA_OPTIONS");
    CHECK_CHILD("exit-handler", "CYXLA_OPTIONS");
    /* What the plugin made is left to the end of the process, which valgrind calls a leak. */
    if (!on_fake_plugin())
        CHECK_CHILD("exit-handler-older", "CYXLA_OPTIONS");
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"exit", exit_with_everything_alive},
        {"_exit", leave_without_handlers},
        {"exit-failed", exit_after_a_failed_initialize},
        {"exit-loaded", exit_after_loading_alone},
        {"exit-busy", exit_while_threads_run_programs},
        {"exit-handler", exit_handlers_may_use_the_runtime},
        {"exit-handler-older", older_exit_handlers_may_free},
        {"flight-exit", exit_in_flight},
        {"flight-_exit", exit_without_handlers_in_flight},
        {"flight-handler-waits", a_handler_waits},
        {"flight-handler-frees", a_handler_frees},
        {"flight-handler-older", an_older_handler_frees},
        {"flight-quick_exit", a_handler_frees_without_others},
        {"flight-destructor", a_destructor_frees},
        {"flight-thread", another_thread_exits},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(a_program_may_go_before_its_executable);
    RUN(inputs_and_executable_may_go_before_the_result);
    RUN(options_may_go_before_what_they_were_for);
    RUN(things_may_be_used_twice);
    RUN(the_process_may_end_at_any_moment);
    RUN(the_process_may_end_while_a_step_is_in_flight);
    return test_end();
}
