/* A host may use signals, also such as interrupt what a thread waits for: work goes on,
 * and waits neither end early nor start over with their time limit. */
#include <signal.h>
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

/* --- the storm --- */

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

/* From now on a signal comes every `ms` milliseconds, and interrupts system calls. */
static void storm(int ms)
{
    struct sigaction action;
    const struct itimerval every = {{0, ms * 1000}, {0, ms * 1000}};

    memset(&action, 0, sizeof action);
    action.sa_handler = count_signal; /* no SA_RESTART */
    sigaction(SIGALRM, &action, NULL);
    signals = 0;
    setitimer(ITIMER_REAL, &every, NULL);
}

static void calm(void)
{
    const struct itimerval never = {{0, 0}, {0, 0}};

    setitimer(ITIMER_REAL, &never, NULL);
}

/* valgrind needs a while for each. */
static int period(void)
{
    return on_fake_plugin() ? 10 : 1;
}

static long long now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* --- work in it --- */

/* Before anything is loaded: the search and the loader are in it too. */
static void everything_goes_on(void)
{
    char *cache = own_path("signals-cache");
    char setting[4200];
    cyxla_program *program = NULL;
    cyxla_bytes *bytes = NULL;
    cyxla_plugin_list *list = NULL;

    storm(period());
    CHECK_OK(cyxla_plugin_list_find(&list));
    cyxla_plugin_list_free(list);
    snprintf(setting, sizeof setting, "cache_dir=%s", cache);
    CHECK_OK(cyxla_program_from_bytes(ADD_F32_4, strlen(ADD_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    for (int i = 0; program && i < 20; i++) {
        cyxla_executable *e = NULL;
        cyxla_executable *again = NULL;
        if (CHECK_OK(compile_with(program, i < 10 ? "" : setting, &e)) && CHECK_OK(cyxla_executable_to_bytes(e, &bytes)))
            CHECK_OK(cyxla_executable_from_bytes(cyxla_bytes_data(bytes), cyxla_bytes_size(bytes), &again));
        CHECK(i <= 10 || cyxla_executable_is_from_cache(e));
        cyxla_bytes_free(bytes);
        bytes = NULL;
        cyxla_executable_free(again);
        cyxla_executable_free(e);
        CHECK(alive());
    }
    calm();
    CHECK(signals > 0 || on_fake_plugin()); /* which is quick */
    cyxla_program_free(program);
    remove_all(cache);
    free(cache);
}

/* --- waits in it --- */

static cyxla_executable *executable;
/* What the call takes and gives, found out while all is calm. */
static size_t size;
static float *expected;

static cyxla_call *long_call(void)
{
    cyxla_call *call = NULL;
    const void *result = NULL;

    executable = compiled(long_program());
    if (!executable || !CHECK_OK(cyxla_call_new(executable, NULL, &call)))
        return NULL;
    float *a = cyxla_call_input(call, 0, 0, &size);
    for (size_t i = 0; a && i < size / sizeof *a; i++)
        a[i] = (float)(i % 1000) / 1000;
    CHECK_OK(cyxla_call_run(call));
    expected = malloc(size);
    result = cyxla_call_output(call, 0, 0, NULL);
    if (!CHECK(a && expected && result))
        return NULL;
    memcpy(expected, result, size);
    return call;
}

static void free_long_call(cyxla_call *call)
{
    cyxla_call_free(call);
    free_at_the_end(executable);
    free(expected);
}

static void check_result(const void *result)
{
    if (CHECK(result != NULL))
        CHECK_BYTES(result, expected, size);
}

static void waits_end_when_the_work_does(void)
{
    cyxla_call *call = long_call();

    if (!call)
        return;
    storm(period());
    for (int i = 0; i < 5; i++) {
        CHECK_OK(cyxla_call_start(call));
        CHECK_OK(cyxla_call_wait(call, i % 2 ? 60000 : -1));
        check_result(cyxla_call_output(call, 0, 0, NULL));
    }
    calm();
    CHECK(signals > 0);
    free_long_call(call);
}

static void time_limits_are_kept(void)
{
    cyxla_call *call = long_call();
    int ended = 0;

    if (!call)
        return;
    for (int i = 0; i < 4; i++) {
        static const int limits[] = {0, 1, 5, 20};
        CHECK_OK(cyxla_call_start(call));
        storm(period());
        long long start = now_ms();
        cyxla_error *error = cyxla_call_wait(call, limits[i]);
        long long took = now_ms() - start;
        calm();
        if (error)
            CHECK_FAILS(error, CYXLA_CODE_DEADLINE_EXCEEDED, "did not end");
        else
            ended++; /* a synchronous plugin's start is its end */
        CHECK(took + 1 >= limits[i] || !error);
        CHECK(took < limits[i] + 1000);
        CHECK_OK(cyxla_call_wait(call, -1));
        check_result(cyxla_call_output(call, 0, 0, NULL));
    }
    printf("%d of 4 ended in time\n", ended);
    CHECK(ended < 4);
    free_long_call(call);
}

/* What is not a call waits as well. */
static void buffers_and_runs(void)
{
    cyxla_call *call = long_call();
    cyxla_buffer *a = NULL;
    cyxla_buffer *result = NULL;
    const void *in = cyxla_call_input(call, 0, 0, NULL);
    const int64_t dims[] = {(int64_t)(size / sizeof(float))};
    float *out = malloc(size);

    if (!call || !out)
        return;
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, in, &a));
    storm(period());
    for (int i = 0; a && i < 3; i++) {
        const cyxla_buffer *inputs[] = {a};
        CHECK_OK(cyxla_execute(executable, inputs, 1, &result, 1));
        if (i > 0)
            CHECK_OK(cyxla_buffer_wait(result));
        memset(out, 0, size);
        CHECK_OK(cyxla_buffer_to_host(result, out, size));
        check_result(out);
        cyxla_buffer_free(result);
        memset(out, 0, size);
        CHECK_OK(run_1_1(executable, in, size, out, size));
        check_result(out);
    }
    calm();
    CHECK(signals > 0 || on_fake_plugin()); /* which is quick */
    free(out);
    cyxla_buffer_free(a);
    free_long_call(call);
}

#define ASYNCHRONOUS "CYXLA_OPTIONS=asynchronous=true", "CYXLA_FAKE_PLUGIN=async,delay_ms=100"

static void signals_do_no_harm(void)
{
    CHECK_CHILD("everything", "CYXLA_OPTIONS");
    CHECK_CHILD("waits", ASYNCHRONOUS);
    CHECK_CHILD("limits", ASYNCHRONOUS);
    CHECK_CHILD("buffers", ASYNCHRONOUS);
    CHECK_CHILD("buffers", "CYXLA_OPTIONS", "CYXLA_FAKE_PLUGIN=async,delay_ms=1");
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"everything", everything_goes_on},
        {"waits", waits_end_when_the_work_does},
        {"limits", time_limits_are_kept},
        {"buffers", buffers_and_runs},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(signals_do_no_harm);
    return test_end();
}
