/* Client options: what kills plugins is refused before they see it; what they do not
 * know comes back as their error, or is told where they ignore it. */
#include <stdint.h>

#include "child.h"
#include "support.h"
#include "test.h"

/* Initializes with the options, which are freed. */
static cyxla_error *with(cyxla_options *options, const cyxla_runtime_info **info)
{
    cyxla_error *error = cyxla_initialize(NULL, "cpu", options, info);

    cyxla_options_free(options);
    return error;
}

static cyxla_options *parsed(const char *text)
{
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_parse(options, text));
    return options;
}

/* After all the refusals the process has no runtime, and can have one. */
static void values_that_would_kill_the_plugin_are_refused(void)
{
    static const char *const counts[] = {
        "cpu_device_count=-1",    "cpu_device_count=0",          "cpu_device_count=four",
        "cpu_device_count=true",  "cpu_device_count=4.5",        "cpu_device_count=1,2",
        "cpu_device_count=",      "cpu_device_count=100000",     "cpu_device_count=4294967297",
        "cpu_device_count=9223372036854775807", "cpu_device_count=-9223372036854775808",
    };
    const cyxla_runtime_info *info = NULL;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        CHECK_FAILS(with(parsed(counts[i]), &info), CYXLA_CODE_INVALID_ARGUMENT, "cpu_device_count");
    CHECK_FAILS(with(parsed("asynchronous=0"), &info), CYXLA_CODE_INVALID_ARGUMENT, "asynchronous", "bool");
    CHECK_FAILS(with(parsed("asynchronous=no"), &info), CYXLA_CODE_INVALID_ARGUMENT, "asynchronous", "bool");
    CHECK(!cyxla_is_initialized());
    CHECK(info == NULL);
    CHECK(alive());
}

static void a_string_is_not_a_number(void)
{
    const cyxla_runtime_info *info = NULL;
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_set_string(options, "cpu_device_count", "4"));
    CHECK_FAILS(with(options, &info), CYXLA_CODE_INVALID_ARGUMENT, "cpu_device_count", "string", "integer");
    CHECK(alive());
}

/* An option that the caller gave and the plugin does not know is an error, also from
 * plugins that would ignore it. */
static void unknown_options_are_never_silent(void)
{
    const cyxla_runtime_info *info = NULL;

    CHECK_FAILS(with(parsed("no_such_option=1"), &info), CYXLA_CODE_INVALID_ARGUMENT, "no_such_option");
    CHECK_FAILS(with(parsed("memory_fraction=0.5"), &info), CYXLA_CODE_INVALID_ARGUMENT, "memory_fraction");
    CHECK_FAILS(with(parsed("cpu_device_counts=2"), &info), CYXLA_CODE_INVALID_ARGUMENT, "cpu_device_counts",
                "'cpu_device_count'");
    CHECK_FAILS(with(parsed("cpu_device_count=2;no_such_option=1"), &info), CYXLA_CODE_INVALID_ARGUMENT,
                "no_such_option");
    CHECK(!cyxla_is_initialized());
    CHECK(info == NULL);
    CHECK(alive());
    CHECK_OK(cyxla_runtime_info_get(&info));
    CHECK_INT(cyxla_runtime_info_device_count(info), 1);
}

/* Ignored by plugins older than it; is_synchronous tells the truth. */
static void asynchronous_is_known_to_the_library(void)
{
    const cyxla_runtime_info *info = NULL;

    if (CHECK_OK(with(parsed("asynchronous=true"), &info)))
        CHECK(!cyxla_runtime_info_is_synchronous(info));
    CHECK(alive());
}

static void four_devices(void)
{
    const cyxla_runtime_info *info = NULL;

    if (CHECK_OK(with(parsed("cpu_device_count=4"), &info)))
        CHECK_INT(cyxla_runtime_info_device_count(info), 4);
    CHECK(alive());
}

static void no_options_mean_one_device(void)
{
    const cyxla_runtime_info *info = NULL;

    if (CHECK_OK(with(cyxla_options_new(), &info)))
        CHECK_INT(cyxla_runtime_info_device_count(info), 1);
    CHECK(alive());
}

/* For the GPU: refused by kind and range before any plugin is looked for. */
static void options_of_gpus(void)
{
    static const char *const bad[] = {"memory_fraction=100.0", "preallocate=no", "visible_devices=-1"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cyxla_options *options = parsed(bad[i]);
        cyxla_error *error = cyxla_initialize("/no/such/cuda_plugin.so", "cuda", options, NULL);
        CHECK_FAILS(error, CYXLA_CODE_INVALID_ARGUMENT, "");
        cyxla_options_free(options);
    }
    cyxla_options *options = cyxla_options_new();
    CHECK_OK(cyxla_options_set_ints(options, "visible_devices", NULL, 0));
    CHECK_FAILS(cyxla_initialize("/no/such/cuda_plugin.so", "cuda", options, NULL), CYXLA_CODE_INVALID_ARGUMENT,
                "visible_devices");
    cyxla_options_free(options);
    CHECK(!cyxla_is_initialized());
}

static void names_and_repeats(void)
{
    cyxla_options *options = cyxla_options_new();

    CHECK_FAILS(cyxla_options_set_int(options, "", 1), CYXLA_CODE_INVALID_ARGUMENT, "empty");
    CHECK_FAILS(cyxla_options_parse(options, "cpu_device_count=2;cpu_device_count=3"), CYXLA_CODE_INVALID_ARGUMENT,
                "duplicate", "cpu_device_count");
    cyxla_options_free(options);
}

static void children(void)
{
    static const char *const modes[] = {"fatal", "string", "unknown", "asynchronous", "four", "none"};

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        CHECK_CHILD(modes[i], "CYXLA_OPTIONS");
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"fatal", values_that_would_kill_the_plugin_are_refused},
        {"string", a_string_is_not_a_number},
        {"unknown", unknown_options_are_never_silent},
        {"asynchronous", asynchronous_is_known_to_the_library},
        {"four", four_devices},
        {"none", no_options_mean_one_device},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(options_of_gpus);
    RUN(names_and_repeats);
    RUN(children);
    return test_end();
}
