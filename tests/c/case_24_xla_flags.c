/* XLA ends the process when XLA_FLAGS is malformed or holds a flag that it does not
 * know. The library refuses such a value first; each is tried in a child. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "support.h"
#include "test.h"

static void a_value_is_refused(void)
{
    cyxla_executable *e = NULL;
    const cyxla_runtime_info *info = NULL;

    CHECK_FAILS(cyxla_runtime_info_get(&info), CYXLA_CODE_INVALID_ARGUMENT, "XLA_FLAGS");
    CHECK_FAILS(compile_text(DOUBLE_F32_4, &e), CYXLA_CODE_INVALID_ARGUMENT, "XLA_FLAGS");
    CHECK(!cyxla_is_initialized());
    /* The plugin was not loaded, so it has not read the value: another one is in time. */
    unsetenv("XLA_FLAGS");
    CHECK(alive());
}

static void a_value_is_fine(void)
{
    const cyxla_runtime_info *info = NULL;

    CHECK(alive());
    CHECK_OK(cyxla_runtime_info_get(&info));
    CHECK_INT(cyxla_runtime_info_device_count(info), 1);
}

static void fatal_values_are_refused(void)
{
    static const char *const values[] = {
        "XLA_FLAGS=--xla_no_such_flag=1",
        "XLA_FLAGS=--xla_no_such_flag",
        "XLA_FLAGS=--xla_gpu_autotune_level=0 --xla_no_such_flag=1",
        "XLA_FLAGS=--xla_force_host_platform_device_count=abc",
        "XLA_FLAGS=--xla_force_host_platform_device_count",
        "XLA_FLAGS=--xla_cpu_multi_thread_eigen=maybe",
        "XLA_FLAGS=--xla_cpu_multi_thread_eigen=",
        "XLA_FLAGS=--xla_hlo_profile=maybe",
        "XLA_FLAGS=--xla_llvm_disable_expensive_passes=maybe",
        "XLA_FLAGS=--xla_cpu_enable_xprof_traceme=x",
        "XLA_FLAGS=--xla_cpu_prefer_vector_width=abc",
        "XLA_FLAGS=--xla_cpu_prefer_vector_width=99999999999",
        "XLA_FLAGS=--xla_cpu_prefer_vector_width",
        "XLA_FLAGS=--xla_dump_to",
        "XLA_FLAGS=--xla_dump_hlo_pass_re",
        "XLA_FLAGS=--xla_backend_extra_options",
        "XLA_FLAGS=--cpu=1", /* names of other things in the library */
        "XLA_FLAGS=--main=1",
        "XLA_FLAGS=--xla_cpu=1",
        "XLA_FLAGS=/dev/zero",
        "XLA_FLAGS=   ",
        "XLA_FLAGS=\t\n",
        "XLA_FLAGS=/no/such/file",
        "XLA_FLAGS=xla_force_host_platform_device_count=2",
        "XLA_FLAGS=--",
        "XLA_FLAGS=-",
        "XLA_FLAGS=---xla_gpu_autotune_level=0",
        "XLA_FLAGS=/",
        "XLA_FLAGS=--xla_gpu_autotune_levels=0",
        "XLA_FLAGS=--xla_gpu_autotune_leve=0",
        "XLA_FLAGS=\xff",
    };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (!CHECK_CHILD("refused", values[i]))
            printf("that was %s\n", values[i]);
    }
}

static void other_values_are_not(void)
{
    char from_file[4096];
    char *path = temporary("flags.txt");
    static const char *const values[] = {
        "XLA_FLAGS=",
        "XLA_FLAGS=--xla_gpu_autotune_level=0",
        "XLA_FLAGS=--xla_force_host_platform_device_count=2",
        "XLA_FLAGS=--xla_gpu_autotune_level=0 stray --xla_no_such_flag", /* read up to what is no flag */
        "XLA_FLAGS=--xla_cpu_multi_thread_eigen --xla_llvm_disable_expensive_passes=TRUE",
        "XLA_FLAGS=--xla_cpu_prefer_vector_width=128",
        "XLA_FLAGS= --xla_gpu_autotune_level=0   --xla_cpu_multi_thread_eigen=false ",
    };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (!CHECK_CHILD("fine", values[i]))
            printf("that was %s\n", values[i]);
    }
    write_file(path, "--xla_gpu_autotune_level=0\n", 27);
    snprintf(from_file, sizeof from_file, "XLA_FLAGS=%s", path);
    CHECK_CHILD("fine", from_file);
    write_file(path, "--xla_no_such_flag=0\n", 21);
    CHECK_CHILD("refused", from_file);
    free(path);
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"refused", a_value_is_refused},
        {"fine", a_value_is_fine},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(fatal_values_are_refused);
    RUN(other_values_are_not);
    return test_end();
}
