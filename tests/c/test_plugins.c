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
        CHECK(cyxla_plugin_list_options(list, 0) != NULL);
        for (size_t i = 1; i < cyxla_plugin_list_count(list); i++)
            CHECK(!cyxla_plugin_list_is_default(list, i));
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
    free(data);
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"missing", a_missing_plugin_is_listed_with_its_reason},
        {"installed", installed_plugins_are_listed_newest_first},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(the_variable_s_plugin_comes_first_and_is_the_default);
    RUN(listing_loads_nothing);
    RUN(a_bad_index_gives_nothing);
    RUN(no_list_reads_as_empty);
    RUN(children);
    return test_end();
}
