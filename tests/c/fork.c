/* A fork copies one thread of many, so the plugin's locks and pools are dead in the
 * child: there, every call that would need them is refused instead of hanging. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
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
        alarm(10); /* a child that hangs is killed, and fails the test */
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

/* --- calls --- */

/* A call with results, and one with an input that was never asked for. */
static cyxla_call *call;
static cyxla_call *fresh_call;

static void make_calls(cyxla_executable *of)
{
    CHECK_OK(cyxla_call_new(of, NULL, &call));
    CHECK_OK(cyxla_call_new(of, NULL, &fresh_call));
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, FOUR, &buffer));
    CHECK_OK(cyxla_call_bind(call, 0, 0, buffer));
    CHECK_OK(cyxla_call_run(call));
}

static void free_calls(void)
{
    cyxla_call_free(call);
    cyxla_call_free(fresh_call);
    cyxla_buffer_free(buffer);
    call = NULL;
    fresh_call = NULL;
    buffer = NULL;
}

static void refuse_calls(void)
{
    cyxla_call *made = NULL;
    cyxla_buffer *taken = NULL;
    cyxla_call *const calls[] = {call, fresh_call};

    CHECK_FAILS(cyxla_call_new(executable, NULL, &made), CYXLA_CODE_FAILED_PRECONDITION, "fork");
    for (int i = 0; i < 2; i++) {
        CHECK_FAILS(cyxla_call_run(calls[i]), CYXLA_CODE_FAILED_PRECONDITION, "fork");
        CHECK_FAILS(cyxla_call_start(calls[i]), CYXLA_CODE_FAILED_PRECONDITION, "fork");
        CHECK_FAILS(cyxla_call_wait(calls[i], -1), CYXLA_CODE_FAILED_PRECONDITION, "fork");
        CHECK_FAILS(cyxla_call_wait(calls[i], 10), CYXLA_CODE_FAILED_PRECONDITION, "fork");
        CHECK_FAILS(cyxla_call_bind(calls[i], 0, 0, buffer), CYXLA_CODE_FAILED_PRECONDITION, "fork");
        CHECK_FAILS(cyxla_call_feed(calls[i], 0, 0, 0), CYXLA_CODE_FAILED_PRECONDITION, "fork");
        CHECK_FAILS(cyxla_call_take(calls[i], 0, 0, &taken), CYXLA_CODE_FAILED_PRECONDITION, "fork");
        CHECK(cyxla_call_is_done(calls[i]));
        CHECK(cyxla_call_input(calls[i], 0, 0, NULL) == NULL);
        CHECK(cyxla_call_output(calls[i], 0, 0, NULL) == NULL);
    }
    CHECK(!made && !taken);
    free_calls();
}

static void calls_are_refused_in_a_child(void)
{
    executable = compiled(DOUBLE_F32_4);
    if (!executable)
        return;
    make_calls(executable);
    in_a_fork(refuse_calls);
    CHECK_OK(cyxla_call_run(call));
    CHECK_FLOATS((const float *)cyxla_call_output(call, 0, 0, NULL), ((const float[]){2, 4, 6, 8}), 4);
    free_calls();
    cyxla_executable_free(executable);
}

/* --- forks while something is going on --- */

static void a_step_is_in_flight(void)
{
    executable = compiled(long_program());
    if (!executable)
        return;
    for (int i = 0; i < 5; i++) {
        CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, FOUR, &buffer));
        CHECK_OK(cyxla_call_new(executable, NULL, &call));
        CHECK_OK(cyxla_call_new(executable, NULL, &fresh_call));
        CHECK(cyxla_call_input(call, 0, 0, NULL) != NULL);
        CHECK_OK(cyxla_call_start(call));
        in_a_fork(refuse_calls);
        CHECK_OK(cyxla_call_wait(call, -1));
        CHECK(cyxla_call_output(call, 0, 0, NULL) != NULL);
        CHECK_OK(cyxla_call_start(call));
        free_calls(); /* in flight */
    }
    free_at_the_end(executable);
}

static int is_over;
static cyxla_call *busy_call;

static void *keep_running(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&is_over, __ATOMIC_SEQ_CST))
        CHECK_OK(cyxla_call_run(busy_call));
    return NULL;
}

static void *keep_compiling(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&is_over, __ATOMIC_SEQ_CST))
        cyxla_executable_free(compiled(DOUBLE_F32_4));
    return NULL;
}

/* The thread that uses the call does not exist in the child. */
static void leave_the_busy_call(void)
{
    cyxla_executable *e = NULL;

    CHECK_FAILS(cyxla_call_run(busy_call), CYXLA_CODE_FAILED_PRECONDITION, "");
    CHECK_FAILS(cyxla_call_wait(busy_call, 10), CYXLA_CODE_FAILED_PRECONDITION, "");
    CHECK(cyxla_call_output(busy_call, 0, 0, NULL) == NULL);
    CHECK_FAILS(compile_text(DOUBLE_F32_4, &e), CYXLA_CODE_FAILED_PRECONDITION, "fork");
    cyxla_call_free(busy_call);
    refuse_calls();
}

static void other_threads_are_busy(void)
{
    pthread_t runs;
    pthread_t compiles;

    executable = compiled(DOUBLE_F32_4);
    if (!executable)
        return;
    make_calls(executable);
    CHECK_OK(cyxla_call_new(executable, NULL, &busy_call));
    CHECK(cyxla_call_input(busy_call, 0, 0, NULL) != NULL);
    CHECK_INT(pthread_create(&runs, NULL, keep_running, NULL), 0);
    CHECK_INT(pthread_create(&compiles, NULL, keep_compiling, NULL), 0);
    for (int i = 0; i < 20; i++)
        in_a_fork(leave_the_busy_call);
    __atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
    pthread_join(runs, NULL);
    pthread_join(compiles, NULL);
    cyxla_call_free(busy_call);
    free_calls();
    cyxla_executable_free(executable);
    CHECK(alive_and_compiles());
}

static void whatever_is_going_on(void)
{
    /* What threads that are not in the child held is lost, which valgrind calls a leak. */
    if (on_fake_plugin())
        return;
    CHECK_CHILD("in-flight", "CYXLA_OPTIONS=asynchronous=true");
    CHECK_CHILD("busy", "CYXLA_OPTIONS=asynchronous=true");
    CHECK_CHILD("busy", "CYXLA_OPTIONS");
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"in-flight", a_step_is_in_flight},
        {"busy", other_threads_are_busy},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(a_fork_before_the_first_use_is_free);
    RUN(make_everything);
    RUN(a_child_is_refused_instead_of_hanging);
    RUN(the_parent_goes_on);
    RUN(calls_are_refused_in_a_child);
    RUN(whatever_is_going_on);
    return test_end();
}
