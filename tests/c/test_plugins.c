#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "support.h"
#include "test.h"

static cyxla_plugin_list *found(void)
{
    cyxla_plugin_list *list = NULL;

    CHECK_OK(cyxla_plugin_list_find(&list));
    return list;
}

static void the_variable_s_plugin_comes_first_and_is_the_default(void)
{
    cyxla_plugin_list *list = found();

    if (CHECK(cyxla_plugin_list_count(list) >= 1)) {
        CHECK_STR(cyxla_plugin_list_path(list, 0), getenv("CYXLA_PLUGIN"));
        CHECK_HAS(cyxla_plugin_list_origin(list, 0), "CYXLA_PLUGIN");
        CHECK_STR(cyxla_plugin_list_problem(list, 0), NULL);
        CHECK(cyxla_plugin_list_is_default(list, 0));
        CHECK_STR(cyxla_plugin_list_why_not_default(list, 0), NULL);
        CHECK(cyxla_plugin_list_options(list, 0) != NULL);
        for (size_t i = 1; i < cyxla_plugin_list_count(list); i++) {
            CHECK(!cyxla_plugin_list_is_default(list, i));
            CHECK(cyxla_plugin_list_why_not_default(list, i) != NULL);
        }
    }
    cyxla_plugin_list_free(list);
}

static void listing_loads_nothing(void)
{
    char line[4096];
    cyxla_plugin_list_free(found());
    FILE *maps = fopen("/proc/self/maps", "r");

    CHECK(!cyxla_is_initialized());
    if (!CHECK(maps != NULL))
        return;
    while (fgets(line, sizeof line, maps))
        CHECK(strstr(line, getenv("CYXLA_PLUGIN")) == NULL);
    fclose(maps);
}

static void a_bad_index_gives_nothing(void)
{
    cyxla_plugin_list *list = found();
    size_t indices[] = {cyxla_plugin_list_count(list), SIZE_MAX};

    for (size_t i = 0; i < 2; i++) {
        CHECK_STR(cyxla_plugin_list_platform(list, indices[i]), NULL);
        CHECK_STR(cyxla_plugin_list_path(list, indices[i]), NULL);
        CHECK_STR(cyxla_plugin_list_origin(list, indices[i]), NULL);
        CHECK_STR(cyxla_plugin_list_problem(list, indices[i]), NULL);
        CHECK_STR(cyxla_plugin_list_version(list, indices[i]), NULL);
        CHECK(cyxla_plugin_list_options(list, indices[i]) == NULL);
        CHECK(!cyxla_plugin_list_is_default(list, indices[i]));
        CHECK_STR(cyxla_plugin_list_why_not_default(list, indices[i]), NULL);
        CHECK_STR(cyxla_plugin_list_failure_subject(list, SIZE_MAX), NULL);
        CHECK_STR(cyxla_plugin_list_failure_problem(list, SIZE_MAX), NULL);
    }
    cyxla_plugin_list_free(list);
}

static void no_list_reads_as_empty(void)
{
    CHECK_BLAMES(cyxla_plugin_list_find(NULL), "out");
    CHECK_INT(cyxla_plugin_list_count(NULL), 0);
    CHECK_INT(cyxla_plugin_list_failure_count(NULL), 0);
    CHECK_STR(cyxla_plugin_list_path(NULL, 0), NULL);
    CHECK_STR(cyxla_plugin_list_failure_problem(NULL, 0), NULL);
    CHECK(!cyxla_plugin_list_is_default(NULL, 0));
    CHECK_STR(cyxla_plugin_list_why_not_default(NULL, 0), NULL);
    cyxla_plugin_list_free(NULL);
}

/* In a child whose CYXLA_PLUGIN names no file. */
static void a_missing_plugin_is_listed_with_its_reason(void)
{
    cyxla_plugin_list *list = found();

    if (CHECK_INT(cyxla_plugin_list_count(list), 1)) {
        CHECK_STR(cyxla_plugin_list_path(list, 0), "/no/such/plugin.so");
        CHECK_HAS(cyxla_plugin_list_problem(list, 0), "no such file");
        CHECK(!cyxla_plugin_list_is_default(list, 0));
        CHECK_HAS(cyxla_plugin_list_why_not_default(list, 0), "no such file");
    }
    cyxla_plugin_list_free(list);
}

static void what_is_no_plugin_is_not_registered(void)
{
    static const char *const bad[] = {"", "CPU", "c p u", "cpu,cuda"};

    CHECK_BLAMES(cyxla_plugin_register(NULL, "/p.so", NULL, NULL), "platform");
    CHECK_BLAMES(cyxla_plugin_register("\xff", "/p.so", NULL, NULL), "platform");
    CHECK_BLAMES(cyxla_plugin_register("npu", NULL, NULL, NULL), "path");
    CHECK_BLAMES(cyxla_plugin_register("npu", "", NULL, NULL), "path");
    CHECK_BLAMES(cyxla_plugin_register("npu", "/p.so", NULL, "\xff"), "origin");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_FAILS(cyxla_plugin_register(bad[i], "/p.so", NULL, NULL), CYXLA_CODE_INVALID_ARGUMENT,
                    "is no platform name");
    cyxla_plugin_list *list = found();
    for (size_t i = 0; i < cyxla_plugin_list_count(list); i++)
        CHECK(strcmp(cyxla_plugin_list_path(list, i), "/p.so") != 0);
    cyxla_plugin_list_free(list);
}

/* The value of an option; -1 if it is not in the set. */
static long long int_option(const cyxla_options *options, const char *key)
{
    for (size_t i = 0; i < cyxla_options_count(options); i++)
        if (strcmp(cyxla_options_key(options, i), key) == 0)
            return cyxla_options_get_int(options, i);
    return -1;
}

/* In a child without CYXLA_PLUGIN; TEST_REGISTERED is the path of the plugin. */
static void a_registered_plugin_is_listed_and_chosen(void)
{
    const char *path = getenv("TEST_REGISTERED");
    cyxla_options *options = cyxla_options_new();
    const cyxla_runtime_info *info = NULL;

    /* Registering it again replaces what was said of it. */
    CHECK_OK(cyxla_plugin_register("cpu", path, NULL, "first"));
    CHECK_OK(cyxla_plugin_register("npu", "/no/such/npu.so", NULL, NULL));
    CHECK_OK(cyxla_options_set_int(options, "cpu_device_count", 2));
    CHECK_OK(cyxla_plugin_register("cpu", path, options, "test_plugins.c"));
    cyxla_options_free(options);

    cyxla_plugin_list *list = found();
    if (CHECK_INT(cyxla_plugin_list_count(list), 2)) {
        CHECK_STR(cyxla_plugin_list_platform(list, 0), "cpu");
        CHECK_STR(cyxla_plugin_list_path(list, 0), path);
        CHECK_STR(cyxla_plugin_list_origin(list, 0), "test_plugins.c");
        CHECK_STR(cyxla_plugin_list_problem(list, 0), NULL);
        CHECK(cyxla_plugin_list_is_default(list, 0));
        CHECK_STR(cyxla_plugin_list_why_not_default(list, 0), NULL);
        CHECK_INT(int_option(cyxla_plugin_list_options(list, 0), "cpu_device_count"), 2);
        CHECK_STR(cyxla_plugin_list_platform(list, 1), "npu");
        CHECK_STR(cyxla_plugin_list_origin(list, 1), "the host program");
        CHECK_HAS(cyxla_plugin_list_problem(list, 1), "no such file");
        CHECK_HAS(cyxla_plugin_list_why_not_default(list, 1), "no such file");
    }
    cyxla_plugin_list_free(list);

    CHECK_FAILS(cyxla_initialize(NULL, "npu", NULL, &info), CYXLA_CODE_NOT_FOUND, "/no/such/npu.so");
    if (CHECK_OK(cyxla_initialize(NULL, "cpu", NULL, &info))) {
        CHECK_STR(cyxla_runtime_info_plugin_path(info), path);
        CHECK_STR(cyxla_runtime_info_plugin_origin(info), "test_plugins.c");
        CHECK_INT(cyxla_runtime_info_device_count(info), 2);
    }
}

/* In a child whose CYXLA_PLUGIN is set: it comes before what is registered. */
static void the_variable_comes_before_what_is_registered(void)
{
    CHECK_OK(cyxla_plugin_register("cpu", getenv("TEST_REGISTERED"), NULL, "test_plugins.c"));
    cyxla_plugin_list *list = found();

    if (CHECK_INT(cyxla_plugin_list_count(list), 2)) {
        CHECK(cyxla_plugin_list_is_default(list, 0));
        CHECK_STR(cyxla_plugin_list_origin(list, 1), "test_plugins.c");
        CHECK_HAS(cyxla_plugin_list_why_not_default(list, 1), "CYXLA_PLUGIN");
    }
    cyxla_plugin_list_free(list);
}

/* Puts a plugin into the user's data folder as `cyxla install` does. */
static void install(const char *folder, const char *version, const char *library)
{
    char path[4096];
    char text[1024];

    snprintf(path, sizeof path, "%s/cyxla/plugins/%s/plugin.so", getenv("XDG_DATA_HOME"), folder);
    write_file(path, "x", 1);
    snprintf(path, sizeof path, "%s/cyxla/plugins/%s/plugin.json", getenv("XDG_DATA_HOME"), folder);
    snprintf(text, sizeof text,
             "{\"format\": 1, \"platform\": \"cpu\", \"library\": \"%s\", \"version\": \"%s\", \"package\": \"p\", "
             "\"package_version\": \"1\", \"sha256\": \"0\"}",
             library, version);
    write_file(path, text, strlen(text));
}

/* In a child with a data folder of its own and no CYXLA_PLUGIN. */
static void installed_plugins_are_listed_newest_first(void)
{
    static const char *const versions[] = {"0.115", "0.106", "0.81"};
    install("cpu-0.106", "0.106", "plugin.so");
    install("cpu-0.115", "0.115", "plugin.so");
    install("cpu-0.81", "0.81", "plugin.so");
    install(".tmp-9", "9.9", "plugin.so");
    install("escapes", "9.8", "../cpu-0.81/plugin.so");
    cyxla_plugin_list *list = found();

    if (CHECK_INT(cyxla_plugin_list_count(list), 3)) {
        for (size_t i = 0; i < 3; i++) {
            CHECK_STR(cyxla_plugin_list_platform(list, i), "cpu");
            CHECK_STR(cyxla_plugin_list_version(list, i), versions[i]);
            CHECK_HAS(cyxla_plugin_list_path(list, i), versions[i]);
            CHECK_HAS(cyxla_plugin_list_origin(list, i), "plugin.json");
            CHECK_INT(cyxla_plugin_list_is_default(list, i), i == 0);
            CHECK_INT(cyxla_plugin_list_why_not_default(list, i) == NULL, i == 0);
        }
    }
    if (CHECK_INT(cyxla_plugin_list_failure_count(list), 1)) {
        CHECK_HAS(cyxla_plugin_list_failure_subject(list, 0), "escapes");
        CHECK_HAS(cyxla_plugin_list_failure_problem(list, 0), "leaves the folder");
    }
    cyxla_plugin_list_free(list);
}

static void children(void)
{
    char setting[4096];
    char *data = temporary("data");

    snprintf(setting, sizeof setting, "XDG_DATA_HOME=%s", data);
    CHECK_CHILD("missing", "CYXLA_PLUGIN=/no/such/plugin.so");
    CHECK_CHILD("installed", "CYXLA_PLUGIN", setting);
    snprintf(setting, sizeof setting, "TEST_REGISTERED=%s", getenv("CYXLA_PLUGIN"));
    CHECK_CHILD("registered", "CYXLA_PLUGIN", setting);
    CHECK_CHILD("beside", setting);
    free(data);
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"missing", a_missing_plugin_is_listed_with_its_reason},
        {"installed", installed_plugins_are_listed_newest_first},
        {"registered", a_registered_plugin_is_listed_and_chosen},
        {"beside", the_variable_comes_before_what_is_registered},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(the_variable_s_plugin_comes_first_and_is_the_default);
    RUN(listing_loads_nothing);
    RUN(a_bad_index_gives_nothing);
    RUN(no_list_reads_as_empty);
    RUN(what_is_no_plugin_is_not_registered);
    RUN(children);
    return test_end();
}
