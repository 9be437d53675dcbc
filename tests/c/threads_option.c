/* The create option `threads`: how many threads a CPU client's pool has. */
#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include "child.h"
#include "support.h"
#include "test.h"

static const char DOT[] =
    "module @dot { func.func public @main(%a: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {\n"
    "  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] :\n"
    "    (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>\n"
    "  return %0 : tensor<1024x1024xf32> } }\n";

static cpu_set_t cpus_of(pid_t thread)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    sched_getaffinity(thread, sizeof cpus, &cpus);
    return cpus;
}

/* How many threads the process has; all may run on `cpus`, if that is not NULL. */
static int threads_on(const cpu_set_t *cpus)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");

    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0) {
            cpu_set_t its = cpus_of(thread);
            CHECK(!cpus || CPU_EQUAL(&its, cpus));
            count++;
        }
    }
    if (folder)
        closedir(folder);
    return count;
}

/* The system lists a thread a moment longer than it takes to join it. */
static void wait_for_ended_threads(int left)
{
    const struct timespec moment = {0, 1000000};

    for (int i = 0; i < 5000 && threads_on(NULL) > left; i++)
        nanosleep(&moment, NULL);
}

static int all_cpus(void)
{
    cpu_set_t cpus = cpus_of(0);

    return CPU_COUNT(&cpus);
}

static cyxla_error *with_threads(int64_t threads)
{
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_set_int(options, "threads", threads));
    cyxla_error *error = cyxla_initialize(NULL, "cpu", options, NULL);
    cyxla_options_free(options);
    return error;
}

/* Checks that the client's pool has so many threads: plugins start two for each. */
static void check_pool(cyxla_error *(*initialize)(int64_t threads), int threads)
{
    const cyxla_runtime_info *info = NULL;
    char option[32];
    cpu_set_t before = cpus_of(0);
    int others = threads_on(&before);

    if (!CHECK_OK(initialize(threads)) || !CHECK_OK(cyxla_runtime_info_get(&info)))
        return;
    cpu_set_t after = cpus_of(0);
    CHECK(CPU_EQUAL(&before, &after));
    wait_for_ended_threads(others + 2 * threads);
    CHECK_INT(threads_on(&before) - others, 2 * threads);
    snprintf(option, sizeof option, "\"threads\":%d", threads);
    CHECK_HAS(cyxla_runtime_info_json(info), option);
    CHECK(alive_and_compiles());
    threads_on(&before); /* also those that compiling has started */
}

static void one_thread(void)
{
    check_pool(with_threads, 1);
}

static void a_thread_for_each_cpu(void)
{
    check_pool(with_threads, all_cpus());
}

static cyxla_error *by_the_environment(int64_t threads)
{
    (void)threads;
    return cyxla_initialize(NULL, NULL, NULL, NULL);
}

static void one_thread_by_the_environment(void)
{
    check_pool(by_the_environment, 1);
}

static void more_threads_than_cpus(void)
{
    check_pool(with_threads, atoi(getenv("PJRT_NPROC")));
}

static void wrong_numbers(void)
{
    char cpus[32];

    CHECK_FAILS(with_threads(0), CYXLA_CODE_INVALID_ARGUMENT, "'threads'", "from 1 to");
    CHECK_FAILS(with_threads(-1), CYXLA_CODE_INVALID_ARGUMENT, "'threads'", "from 1 to");
    CHECK_FAILS(with_threads(INT64_MAX), CYXLA_CODE_INVALID_ARGUMENT, "'threads'", "from 1 to");
    snprintf(cpus, sizeof cpus, "run on %d CPUs", all_cpus());
    CHECK_FAILS(with_threads(all_cpus() + 1), CYXLA_CODE_INVALID_ARGUMENT, "'threads'", cpus, "PJRT_NPROC");
    CHECK(!cyxla_is_initialized());
    /* A failed attempt leaves the process as it was. */
    check_pool(with_threads, 1);
}

static void fewer_threads_than_devices(void)
{
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_parse(options, "threads=1;cpu_device_count=2"));
    CHECK_FAILS(cyxla_initialize(NULL, "cpu", options, NULL), CYXLA_CODE_INVALID_ARGUMENT, "'threads' is 1",
                "2 devices");
    cyxla_options_free(options);
}

static void a_variable_says_otherwise(void)
{
    CHECK_FAILS(with_threads(1), CYXLA_CODE_FAILED_PRECONDITION, "'threads' is 1", "variable NPROC", "unset NPROC");
    CHECK(!cyxla_is_initialized());
    CHECK_OK(with_threads(7));
}

/* A plugin for another platform has no such option, or another of this name. */
static void on_another_platform(void)
{
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_set_int(options, "threads", 1));
    CHECK_FAILS(cyxla_initialize(getenv("CYXLA_PLUGIN"), "rocm", options, NULL), CYXLA_CODE_INVALID_ARGUMENT, "threads",
                "an option for cpu");
    cyxla_options_free(options);
}

static long microseconds(int who)
{
    struct rusage usage;

    getrusage(who, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000L + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

/* How often it is tried: on a busy machine the threads may not get their turn. */
#define TRIES 10

/* Of a step, in microseconds of CPU time. */
struct cost {
    long all;
    long here; /* in the calling thread */
};

static struct cost cost_of_steps(cyxla_call *call)
{
    const int steps = 20;
    const struct cost before = {microseconds(RUSAGE_SELF), microseconds(RUSAGE_THREAD)};

    for (int i = 0; i < steps; i++)
        CHECK_OK(cyxla_call_run(call));
    const struct cost cost = {(microseconds(RUSAGE_SELF) - before.all) / steps,
                              (microseconds(RUSAGE_THREAD) - before.here) / steps};
    return cost;
}

/* Runs a program that plugins divide among the threads of the pool, prints where, and
 * checks that it is once where it should be. */
static void check_where(int threads, bool (*is_right)(struct cost cost))
{
    cyxla_call *call = NULL;
    cyxla_executable *e = NULL;
    bool was_right = false;

    if (!CHECK_OK(with_threads(threads)))
        return;
    e = compiled(DOT);
    if (!e || !CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    CHECK(cyxla_call_input(call, 0, 0, NULL) != NULL);
    CHECK_OK(cyxla_call_run(call));
    for (int i = 0; i < TRIES && !was_right; i++) {
        struct cost cost = cost_of_steps(call);
        printf("threads=%d: %.1f ms of CPU time a step, %.1f ms of it in the calling thread\n", threads,
               (double)cost.all / 1000, (double)cost.here / 1000);
        was_right = is_right(cost);
    }
    CHECK(was_right);
    cyxla_call_free(call);
    cyxla_executable_free(e);
}

static bool is_all_here(struct cost cost)
{
    return cost.all - cost.here < cost.all / 50;
}

static bool is_mostly_elsewhere(struct cost cost)
{
    return cost.here < cost.all / 2;
}

static bool is_partly_elsewhere(struct cost cost)
{
    return 5 * cost.here < 4 * cost.all;
}

/* In the caller, or else in a thread of the pool. */
static bool is_in_one_thread(struct cost cost)
{
    const cyxla_runtime_info *info = NULL;

    CHECK_OK(cyxla_runtime_info_get(&info));
    return cyxla_runtime_info_is_synchronous(info) ? is_all_here(cost) : is_mostly_elsewhere(cost);
}

static void one_thread_is_the_caller(void)
{
    check_where(1, is_in_one_thread);
}

static void more_threads_help_the_caller(void)
{
    check_where(all_cpus(), all_cpus() == 1 ? is_in_one_thread : is_partly_elsewhere);
}

static void the_pool_has_as_many_threads_as_asked_for(void)
{
    CHECK_CHILD("one", "NPROC", "PJRT_NPROC");
    CHECK_CHILD("all", "NPROC", "PJRT_NPROC");
    CHECK_CHILD("environment", "NPROC", "PJRT_NPROC", "CYXLA_OPTIONS=threads=1");
}

static void variables_are_heeded(void)
{
    CHECK_CHILD("more", "NPROC=1", "PJRT_NPROC=5");
    CHECK_CHILD("one", "NPROC=1", "PJRT_NPROC");
    CHECK_CHILD("one", "NPROC=none", "PJRT_NPROC=");
    CHECK_CHILD("variable", "NPROC=7", "PJRT_NPROC");
}

static void what_cannot_be_had_is_refused(void)
{
    CHECK_CHILD("wrong", "NPROC", "PJRT_NPROC");
    CHECK_CHILD("devices", "NPROC", "PJRT_NPROC");
    if (plugin_minor() >= 115)
        CHECK_CHILD("platform", "NPROC", "PJRT_NPROC");
}

static void compile_in_cache(bool is_there)
{
    cyxla_executable *e;

    CHECK_OK(cyxla_initialize(NULL, NULL, NULL, NULL));
    e = compiled(DOUBLE_F32_4);
    CHECK(cyxla_executable_is_from_cache(e) == is_there);
    cyxla_executable_free(e);
}

static void compile_for_the_cache(void)
{
    compile_in_cache(false);
}

static void compile_from_the_cache(void)
{
    compile_in_cache(true);
}

/* Plugins may generate other code for another number of threads. */
static void a_cache_tells_them_apart(void)
{
    char variable[4200];
    char *folder = own_path("threads-cache");

    snprintf(variable, sizeof variable, "CYXLA_CACHE_DIR=%s", folder);
    CHECK_CHILD("compile", variable, "CYXLA_OPTIONS");
    CHECK_CHILD("compile", variable, "CYXLA_OPTIONS=threads=1");
    CHECK_CHILD("cached", variable, "CYXLA_OPTIONS=threads=1");
    CHECK_CHILD("cached", variable, "CYXLA_OPTIONS");
    remove_all(folder);
    free(folder);
}

static void the_work_is_where_it_should_be(void)
{
    CHECK_CHILD("caller", "NPROC", "PJRT_NPROC");
    CHECK_CHILD("divided", "NPROC", "PJRT_NPROC");
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"one", one_thread},
        {"all", a_thread_for_each_cpu},
        {"environment", one_thread_by_the_environment},
        {"more", more_threads_than_cpus},
        {"variable", a_variable_says_otherwise},
        {"wrong", wrong_numbers},
        {"devices", fewer_threads_than_devices},
        {"platform", on_another_platform},
        {"caller", one_thread_is_the_caller},
        {"divided", more_threads_help_the_caller},
        {"compile", compile_for_the_cache},
        {"cached", compile_from_the_cache},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(the_pool_has_as_many_threads_as_asked_for);
    RUN(variables_are_heeded);
    RUN(what_cannot_be_had_is_refused);
    RUN(a_cache_tells_them_apart);
    RUN(the_work_is_where_it_should_be);
    return test_end();
}
