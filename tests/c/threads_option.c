/* The create option `threads`: how many threads a CPU client's pool has. */
#include <dirent.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>

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

/* How many threads the process has; all may run on `cpus`. */
static int threads_on(const cpu_set_t *cpus)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");

    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0) {
            cpu_set_t its = cpus_of(thread);
            CHECK(CPU_EQUAL(&its, cpus));
            count++;
        }
    }
    if (folder)
        closedir(folder);
    return count;
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

/* Runs a program that plugins divide among the threads of the pool, and prints where. */
static void measure(int threads, long *all, long *here)
{
    cyxla_call *call = NULL;
    cyxla_executable *e = NULL;

    if (!CHECK_OK(with_threads(threads)))
        return;
    e = compiled(DOT);
    if (!e || !CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    CHECK(cyxla_call_input(call, 0, 0, NULL) != NULL);
    CHECK_OK(cyxla_call_run(call));
    *all = -microseconds(RUSAGE_SELF);
    *here = -microseconds(RUSAGE_THREAD);
    for (int i = 0; i < 20; i++)
        CHECK_OK(cyxla_call_run(call));
    *all += microseconds(RUSAGE_SELF);
    *here += microseconds(RUSAGE_THREAD);
    printf("threads=%d: %.1f ms of CPU time a step, %.1f ms of it in the calling thread\n", threads,
           (double)*all / 20000, (double)*here / 20000);
    cyxla_call_free(call);
    cyxla_executable_free(e);
}

static void one_thread_is_the_caller(void)
{
    const cyxla_runtime_info *info = NULL;
    long all = 0;
    long here = 0;

    measure(1, &all, &here);
    CHECK_OK(cyxla_runtime_info_get(&info));
    /* Else a thread of the pool runs the program. */
    if (cyxla_runtime_info_is_synchronous(info))
        CHECK(all - here < all / 50);
    else
        CHECK(here < all / 2);
}

static void more_threads_help_the_caller(void)
{
    long all = 0;
    long here = 0;

    measure(all_cpus(), &all, &here);
    CHECK(all_cpus() == 1 || here < all);
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
