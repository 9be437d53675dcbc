/* What is immutable may be read and used by any number of threads at once. */
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "crowd.h"
#include "support.h"
#include "test.h"

/* --- what all threads share --- */
static cyxla_error *error;
static cyxla_options *options;
static cyxla_plugin_list *list;
static cyxla_program *program;
static cyxla_executable *executable;
static cyxla_bytes *saved;

static void *read_error(void *number)
{
    (void)number;
    line_up();
    CHECK_INT(cyxla_error_code(error), CYXLA_CODE_INVALID_ARGUMENT);
    CHECK_HAS(cyxla_error_message(error), "options");
    CHECK_STR(cyxla_error_detail(error, "parameter"), "options");
    CHECK_STR(cyxla_error_detail(error, "function"), "cyxla_options_set_int");
    CHECK(cyxla_error_detail(error, "nothing") == NULL);
    return NULL;
}

static void one_error(void)
{
    error = cyxla_options_set_int(NULL, "a", 1);
    together(read_error);
    cyxla_error_free(error);
}

static void *read_options(void *number)
{
    size_t count = 0;

    (void)number;
    line_up();
    CHECK_INT(cyxla_options_count(options), 4);
    CHECK_STR(cyxla_options_key(options, 0), "int");
    CHECK_INT(cyxla_options_get_int(options, 0), 7);
    CHECK_STR(cyxla_options_get_string(options, 1), "some text");
    CHECK_INT(cyxla_options_kind(options, 2), CYXLA_OPTION_KIND_BOOL);
    CHECK(cyxla_options_get_ints(options, 3, &count) != NULL);
    CHECK_INT(count, 2);
    return NULL;
}

static void one_set_of_options(void)
{
    options = cyxla_options_new();
    CHECK_OK(cyxla_options_parse(options, "int=7;text=some text;bool=true;ints=1,2"));
    together(read_options);
    cyxla_options_free(options);
}

static void *read_list(void *number)
{
    (void)number;
    line_up();
    CHECK(cyxla_plugin_list_count(list) > 0);
    CHECK_STR(cyxla_plugin_list_path(list, 0), getenv("CYXLA_PLUGIN"));
    CHECK_HAS(cyxla_plugin_list_origin(list, 0), "CYXLA_PLUGIN");
    CHECK(cyxla_options_count(cyxla_plugin_list_options(list, 0)) <= 2);
    return NULL;
}

static void *find_plugins(void *number)
{
    cyxla_plugin_list *own = NULL;

    (void)number;
    line_up();
    CHECK_OK(cyxla_plugin_list_find(&own));
    CHECK_INT(cyxla_plugin_list_count(own), cyxla_plugin_list_count(list));
    cyxla_plugin_list_free(own);
    return NULL;
}

static void one_list_of_plugins(void)
{
    CHECK_OK(cyxla_plugin_list_find(&list));
    together(read_list);
    together(find_plugins);
    cyxla_plugin_list_free(list);
}

static void *read_info(void *number)
{
    const cyxla_runtime_info *info = NULL;
    int32_t major = -1;
    int32_t minor = -1;

    (void)number;
    line_up();
    CHECK_OK(cyxla_runtime_info_get(&info));
    CHECK_STR(cyxla_runtime_info_platform(info), "cpu");
    CHECK_HAS(cyxla_runtime_info_json(info), "\"platform\":\"cpu\"");
    cyxla_runtime_info_api_version(info, &major, &minor);
    CHECK_INT(minor, plugin_minor());
    CHECK_HAS(cyxla_runtime_info_device_json(info, 0), "id");
    return NULL;
}

static void one_runtime(void)
{
    together(read_info);
}

static void *use_program(void *number)
{
    static const float in[4] = {1, 2, 3, 4};
    static const float want[4] = {2, 4, 6, 8};
    cyxla_executable *own = NULL;
    float out[4] = {0};
    size_t rank = 0;

    (void)number;
    line_up();
    CHECK_STR(cyxla_program_name(program), "double_f32");
    CHECK_INT(cyxla_program_format(program), CYXLA_FORMAT_STABLEHLO);
    CHECK_HAS(cyxla_program_json(program), "double_f32");
    if (cyxla_program_has_signature(program))
        CHECK(cyxla_program_input_dims(program, 0, &rank) != NULL);
    if (CHECK_OK(cyxla_compile_program(program, options, &own)) &&
        CHECK_OK(run_1_1(own, in, sizeof in, out, sizeof out)))
        CHECK_FLOATS(out, want, 4);
    cyxla_executable_free(own);
    return NULL;
}

/* One program, with one set of options. */
static void one_program(void)
{
    options = cyxla_options_new();
    CHECK_OK(cyxla_options_set_int(options, "device", 0));
    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    together(use_program);
    cyxla_options_free(options);
    cyxla_program_free(program);
}

static void *ask_executable(void *number)
{
    cyxla_bytes *bytes = NULL;
    size_t rank = 0;

    (void)number;
    line_up();
    /* Some of these are found out when they are first asked for. */
    CHECK(strlen(cyxla_executable_fingerprint(executable)) > 0);
    CHECK(cyxla_executable_memory_json(executable) != NULL);
    CHECK(cyxla_executable_generated_code_size(executable) < 1000000000);
    CHECK_INT(cyxla_executable_input_count(executable), 1);
    CHECK_INT(cyxla_executable_input_size(executable, 0), 16);
    CHECK_INT(cyxla_executable_output_dtype(executable, 0), CYXLA_DTYPE_F32);
    CHECK(cyxla_executable_output_dims(executable, 0, &rank) != NULL);
    CHECK_INT(rank, 1);
    CHECK_OK(cyxla_executable_optimized_program(executable, &bytes));
    CHECK(cyxla_bytes_size(bytes) > 0);
    cyxla_bytes_free(bytes);
    bytes = NULL;
    CHECK_OK(cyxla_executable_to_bytes(executable, &bytes));
    CHECK(cyxla_bytes_size(bytes) > 0);
    cyxla_bytes_free(bytes);
    return NULL;
}

static void *load(void *number)
{
    cyxla_executable *own = NULL;

    (void)number;
    line_up();
    CHECK_OK(cyxla_executable_from_bytes(cyxla_bytes_data(saved), cyxla_bytes_size(saved), &own));
    CHECK_STR(cyxla_executable_name(own), "double_f32");
    cyxla_executable_free(own);
    return NULL;
}

static void one_executable(void)
{
    executable = compiled(DOUBLE_F32_4);
    if (!executable)
        return;
    together(ask_executable);
    CHECK_OK(cyxla_executable_to_bytes(executable, &saved));
    if (saved)
        together_in(4, load);
    cyxla_bytes_free(saved);
    cyxla_executable_free(executable);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(one_error);
    RUN(one_set_of_options);
    RUN(one_list_of_plugins);
    RUN(one_runtime);
    RUN(one_program);
    RUN(one_executable);
    return test_end();
}
