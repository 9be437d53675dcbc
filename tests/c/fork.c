/* A fork copies one thread of many, so the plugin's locks and pools are dead in the
 * child: there, every call that would need them is refused instead of hanging. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "test.h"

static const float FOUR[] = {1, 2, 3, 4};
static const int64_t DIMS_4[] = {4};

/* Runs `function` in a forked child and checks that it ended well and in time. */
static void in_a_fork(void (*function)(void))
{
    int status = 0;

    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        function();
        _exit(test_status());
    }
    CHECK(child > 0);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(WIFSIGNALED(status) ? WTERMSIG(status) : 0, 0);
    CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

/* --- made by the parent, used in the child --- */
static const cyxla_runtime_info *info;
static cyxla_program *program;
static cyxla_executable *executable;
static cyxla_buffer *buffer;
static cyxla_bytes *saved;

static void make_everything(void)
{
    CHECK_OK(cyxla_runtime_info_get(&info));
    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_OK(cyxla_compile_program(program, NULL, &executable));
    CHECK_OK(cyxla_executable_to_bytes(executable, &saved));
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, FOUR, &buffer));
    CHECK(alive());
}

static void every_call_is_refused(void)
{
    const cyxla_buffer *inputs[] = {buffer};
    float out[4] = {0};
    cyxla_executable *e = NULL;
    cyxla_buffer *b = NULL;
    cyxla_bytes *bytes = NULL;

    CHECK_FAILS(cyxla_compile_program(program, NULL, &e), CYXLA_CODE_FAILED_PRECONDITION, "fork");
    CHECK_FAILS(cyxla_executable_to_bytes(executable, &bytes), CYXLA_CODE_FAILED_PRECONDITION, "fork");
    CHECK_FAILS(cyxla_executable_from_bytes(cyxla_bytes_data(saved), cyxla_bytes_size(saved), &e),
                CYXLA_CODE_FAILED_PRECONDITION, "fork");
    CHECK_FAILS(cyxla_executable_optimized_program(executable, &bytes), CYXLA_CODE_FAILED_PRECONDITION, "fork");
    CHECK_STR(cyxla_executable_fingerprint(executable), "");
    CHECK_STR(cyxla_executable_memory_json(executable), "null");
    CHECK_INT(cyxla_executable_generated_code_size(executable), 0);
    CHECK_FAILS(run_1_1(executable, FOUR, sizeof FOUR, out, sizeof out), CYXLA_CODE_FAILED_PRECONDITION, "fork");
    CHECK_FAILS(cyxla_execute(executable, inputs, 1, &b, 1), CYXLA_CODE_FAILED_PRECONDITION, "fork");
    CHECK_FAILS(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, FOUR, &b), CYXLA_CODE_FAILED_PRECONDITION,
                "fork");
    CHECK_FAILS(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, out, false, NULL, NULL, &b),
                CYXLA_CODE_FAILED_PRECONDITION, "fork");
    CHECK_FAILS(cyxla_buffer_to_host(buffer, out, sizeof out), CYXLA_CODE_FAILED_PRECONDITION, "fork");
    CHECK_FAILS(cyxla_buffer_wait(buffer), CYXLA_CODE_FAILED_PRECONDITION, "fork");
    CHECK(cyxla_buffer_data(buffer) == NULL);
    CHECK(e == NULL && b == NULL && bytes == NULL);
}

static void what_needs_no_plugin_works(void)
{
    cyxla_program *again = NULL;

    CHECK(cyxla_is_initialized());
    CHECK_STR(cyxla_runtime_info_platform(info), "cpu");
    CHECK_INT(cyxla_executable_input_size(executable, 0), 16);
    CHECK_INT(cyxla_buffer_size(buffer), 16);
    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &again));
    cyxla_program_free(again);
}

static void freeing_does_not_hang(void)
{
    cyxla_buffer_free(buffer);
    cyxla_executable_free(executable);
    cyxla_bytes_free(saved);
    cyxla_program_free(program);
}

static void a_child_is_refused_instead_of_hanging(void)
{
    in_a_fork(every_call_is_refused);
    in_a_fork(what_needs_no_plugin_works);
    in_a_fork(freeing_does_not_hang);
}

static void the_parent_goes_on(void)
{
    float back[4] = {0};

    CHECK(alive_and_compiles());
    CHECK_OK(cyxla_buffer_to_host(buffer, back, sizeof back));
    CHECK_FLOATS(back, FOUR, 4);
    cyxla_buffer_free(buffer);
    cyxla_executable_free(executable);
    cyxla_bytes_free(saved);
    cyxla_program_free(program);
}

static void use_it_for_the_first_time(void)
{
    CHECK(alive_and_compiles());
}

/* Before there is a runtime, a fork is a process like any other. */
static void a_fork_before_the_first_use_is_free(void)
{
    CHECK(!cyxla_is_initialized());
    in_a_fork(use_it_for_the_first_time);
    CHECK(!cyxla_is_initialized());
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(a_fork_before_the_first_use_is_free);
    RUN(make_everything);
    RUN(a_child_is_refused_instead_of_hanging);
    RUN(the_parent_goes_on);
    return test_end();
}
