#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "support.h"
#include "test.h"

static const cyxla_runtime_info *default_runtime(void)
{
    const cyxla_runtime_info *info = NULL;

    CHECK_OK(cyxla_runtime_info_get(&info));
    return info;
}

static void nothing_is_loaded_before_it_is_needed(void)
{
    cyxla_program *program = NULL;

    CHECK(!cyxla_is_initialized());
    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    cyxla_program_free(program);
    CHECK(!cyxla_is_initialized());
}

static void the_default_runtime_tells_what_it_is(void)
{
    int32_t major = -1;
    int32_t minor = -1;
    const cyxla_runtime_info *info = default_runtime();

    if (!info)
        return;
    CHECK(cyxla_is_initialized());
    CHECK_STR(cyxla_runtime_info_platform(info), "cpu");
    CHECK(cyxla_runtime_info_platform_version(info) != NULL);
    CHECK_STR(cyxla_runtime_info_plugin_path(info), getenv("CYXLA_PLUGIN"));
    CHECK_HAS(cyxla_runtime_info_plugin_origin(info), "CYXLA_PLUGIN");
    cyxla_runtime_info_api_version(info, &major, &minor);
    CHECK_INT(major, 0);
    CHECK_INT(minor, plugin_minor());
    cyxla_runtime_info_api_version(info, NULL, NULL);
    CHECK(cyxla_runtime_info_avoids_copies(info));
}

/* One device; synchronous where the plugin knows the option. */
static void the_cpu_s_defaults_are_in_force(void)
{
    const cyxla_runtime_info *info = default_runtime();

    if (!info)
        return;
    CHECK_INT(cyxla_runtime_info_device_count(info), 1);
    CHECK_INT(cyxla_runtime_info_device_id(info, 0), 0);
    CHECK(cyxla_runtime_info_device_kind(info, 0) != NULL);
    CHECK_HAS(cyxla_runtime_info_device_json(info, 0), "{");
    CHECK_INT(cyxla_runtime_info_is_synchronous(info), plugin_minor() >= 115);
}

static void json_tells_it_all(void)
{
    const cyxla_runtime_info *info = default_runtime();

    if (!info)
        return;
    CHECK_HAS(cyxla_runtime_info_json(info), "\"platform\"");
    CHECK_HAS(cyxla_runtime_info_json(info), "\"cpu\"");
    CHECK_HAS(cyxla_runtime_info_json(info), "\"plugin_path\"");
    CHECK_HAS(cyxla_runtime_info_json(info), getenv("CYXLA_PLUGIN"));
    CHECK_HAS(cyxla_runtime_info_json(info), "\"devices\"");
    CHECK_HAS(cyxla_runtime_info_json(info), "\"is_synchronous\"");
    CHECK_HAS(cyxla_runtime_info_json(info), "cpu_device_count");
}

static void later_calls_change_nothing(void)
{
    const cyxla_runtime_info *info = default_runtime();
    const cyxla_runtime_info *again = NULL;
    const cyxla_runtime_info *other = NULL;
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_set_int(options, "cpu_device_count", 3));
    CHECK_OK(cyxla_initialize(NULL, NULL, NULL, &again));
    CHECK(again == info);
    CHECK_OK(cyxla_initialize("/no/such/plugin.so", NULL, options, &other));
    CHECK(other == info);
    CHECK_OK(cyxla_initialize(NULL, NULL, NULL, NULL));
    CHECK_INT(cyxla_runtime_info_device_count(info), 1);
    cyxla_options_free(options);
}

static void a_bad_device_gives_nothing(void)
{
    const cyxla_runtime_info *info = default_runtime();
    static const size_t indices[] = {1, 99, SIZE_MAX};

    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(cyxla_runtime_info_device_id(info, indices[i]), -1);
        CHECK_STR(cyxla_runtime_info_device_kind(info, indices[i]), NULL);
        CHECK_STR(cyxla_runtime_info_device_json(info, indices[i]), NULL);
    }
}

static void no_info_reads_as_nothing(void)
{
    int32_t major = 7;
    int32_t minor = 7;

    CHECK_STR(cyxla_runtime_info_platform(NULL), NULL);
    CHECK_STR(cyxla_runtime_info_platform_version(NULL), NULL);
    CHECK_STR(cyxla_runtime_info_plugin_path(NULL), NULL);
    CHECK_STR(cyxla_runtime_info_plugin_origin(NULL), NULL);
    CHECK_STR(cyxla_runtime_info_json(NULL), NULL);
    cyxla_runtime_info_api_version(NULL, &major, &minor);
    CHECK_INT(major, 7);
    CHECK_INT(minor, 7);
    CHECK(!cyxla_runtime_info_avoids_copies(NULL));
    CHECK(!cyxla_runtime_info_is_synchronous(NULL));
    CHECK_INT(cyxla_runtime_info_device_count(NULL), 0);
    CHECK_INT(cyxla_runtime_info_device_id(NULL, 0), -1);
    CHECK_STR(cyxla_runtime_info_device_kind(NULL, 0), NULL);
    CHECK_BLAMES(cyxla_runtime_info_get(NULL), "out");
}

/* --- parts that need a process of their own --- */

static void a_failed_attempt_leaves_the_process_as_it_was(void)
{
    const cyxla_runtime_info *info = NULL;
    cyxla_error *error = cyxla_initialize("/no/such/plugin.so", NULL, NULL, &info);

    if (CHECK(error != NULL))
        CHECK_STR(cyxla_error_detail(error, "plugin.path"), "/no/such/plugin.so");
    CHECK_FAILS(error, CYXLA_CODE_NOT_FOUND, "/no/such/plugin.so");
    CHECK(info == NULL);
    CHECK(!cyxla_is_initialized());
    CHECK_FAILS(cyxla_initialize("/", NULL, NULL, &info), CYXLA_CODE_INVALID_ARGUMENT, "directory");
    CHECK_FAILS(cyxla_initialize("", NULL, NULL, &info), CYXLA_CODE_INVALID_ARGUMENT, "empty");
    CHECK_FAILS(cyxla_initialize(test_program(), NULL, NULL, &info), CYXLA_CODE_FAILED_PRECONDITION, test_program(),
                "cannot dynamically load");
    CHECK_FAILS(cyxla_initialize("libm.so.6", NULL, NULL, &info), CYXLA_CODE_NOT_FOUND, "libm.so.6");
    CHECK(!cyxla_is_initialized());
    CHECK_OK(cyxla_initialize(getenv("CYXLA_PLUGIN"), "cpu", NULL, &info));
    if (CHECK(info != NULL))
        CHECK_STR(cyxla_runtime_info_platform(info), "cpu");
    CHECK(alive());
}

static void another_platform_s_name_is_refused(void)
{
    const cyxla_runtime_info *info = NULL;

    CHECK_FAILS(cyxla_initialize(getenv("CYXLA_PLUGIN"), "cuda", NULL, &info), CYXLA_CODE_FAILED_PRECONDITION, "cuda",
                "cpu");
    CHECK(info == NULL);
    CHECK(!cyxla_is_initialized());
    CHECK_FAILS(cyxla_initialize(getenv("CYXLA_PLUGIN"), "gpu", NULL, &info), CYXLA_CODE_FAILED_PRECONDITION, "gpu",
                "cpu");
    CHECK_BLAMES(cyxla_initialize(NULL, "no platform", NULL, &info), "platform");
    CHECK_BLAMES(cyxla_initialize(NULL, "", NULL, &info), "platform");
    CHECK_BLAMES(cyxla_initialize(NULL, "\xff", NULL, &info), "platform");
    CHECK_OK(cyxla_initialize(NULL, "cpu", NULL, &info));
    CHECK(alive());
}

static void without_a_plugin_the_error_says_what_to_do(void)
{
    const cyxla_runtime_info *info = NULL;
    cyxla_executable *executable = NULL;

    for (int i = 0; i < 2; i++) {
        CHECK_FAILS(cyxla_runtime_info_get(&info), CYXLA_CODE_NOT_FOUND, "CYXLA_PLUGIN", getenv("XDG_DATA_HOME"),
                    "cyxla install cpu");
        CHECK_FAILS(compile_text(DOUBLE_F32_4, &executable), CYXLA_CODE_NOT_FOUND, "cyxla install cpu");
    }
    CHECK(info == NULL && executable == NULL);
    CHECK_FAILS(cyxla_initialize(NULL, "tpu", NULL, &info), CYXLA_CODE_NOT_FOUND, "tpu");
}

static void more_devices_can_be_asked_for(void)
{
    const cyxla_runtime_info *info = NULL;
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_set_int(options, "cpu_device_count", 3));
    CHECK_OK(cyxla_initialize(NULL, "cpu", options, &info));
    if (CHECK(info != NULL) && CHECK_INT(cyxla_runtime_info_device_count(info), 3)) {
        for (size_t i = 0; i < 3; i++)
            CHECK_INT(cyxla_runtime_info_device_id(info, i), i);
    }
    CHECK(alive());
    cyxla_options_free(options);
}

static void asynchronous_is_what_was_asked_for(void)
{
    const cyxla_runtime_info *info = NULL;
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_set_bool(options, "asynchronous", true));
    CHECK_OK(cyxla_initialize(NULL, "cpu", options, &info));
    if (info)
        CHECK(!cyxla_runtime_info_is_synchronous(info));
    CHECK(alive());
    cyxla_options_free(options);
}

static void the_environment_s_options_are_used(void)
{
    const cyxla_runtime_info *info = default_runtime();

    if (info)
        CHECK_INT(cyxla_runtime_info_device_count(info), 2);
}

static void the_environment_s_bad_options_are_refused(void)
{
    const cyxla_runtime_info *info = NULL;
    cyxla_options *none = cyxla_options_new();

    CHECK_FAILS(cyxla_runtime_info_get(&info), CYXLA_CODE_INVALID_ARGUMENT, "CYXLA_OPTIONS", "cpu_device_count");
    CHECK_FAILS(cyxla_runtime_info_get(&info), CYXLA_CODE_INVALID_ARGUMENT, "CYXLA_OPTIONS");
    /* Options that the caller gives, if only an empty set, take the variable's place. */
    CHECK_OK(cyxla_initialize(NULL, NULL, none, &info));
    CHECK(alive());
    cyxla_options_free(none);
}

static void children(void)
{
    char setting[4096];
    char *empty = temporary("empty");

    snprintf(setting, sizeof setting, "XDG_DATA_HOME=%s", empty);
    CHECK_CHILD("failed-then-good", setting);
    CHECK_CHILD("other-platform", setting);
    CHECK_CHILD("no-plugin", "CYXLA_PLUGIN", setting);
    CHECK_CHILD("devices", setting);
    CHECK_CHILD("asynchronous", setting);
    CHECK_CHILD("variable", "CYXLA_OPTIONS=cpu_device_count=2");
    CHECK_CHILD("bad-variable", "CYXLA_OPTIONS=cpu_device_count=two");
    free(empty);
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"failed-then-good", a_failed_attempt_leaves_the_process_as_it_was},
        {"other-platform", another_platform_s_name_is_refused},
        {"no-plugin", without_a_plugin_the_error_says_what_to_do},
        {"devices", more_devices_can_be_asked_for},
        {"asynchronous", asynchronous_is_what_was_asked_for},
        {"variable", the_environment_s_options_are_used},
        {"bad-variable", the_environment_s_bad_options_are_refused},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(nothing_is_loaded_before_it_is_needed);
    RUN(the_default_runtime_tells_what_it_is);
    RUN(the_cpu_s_defaults_are_in_force);
    RUN(json_tells_it_all);
    RUN(later_calls_change_nothing);
    RUN(a_bad_device_gives_nothing);
    RUN(no_info_reads_as_nothing);
    RUN(children);
    return test_end();
}
