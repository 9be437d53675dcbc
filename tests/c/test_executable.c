#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "support.h"
#include "test.h"

/* --- what an executable tells of itself --- */

static bool has_text(const cyxla_bytes *bytes, const char *text)
{
    const char *data = cyxla_bytes_data(bytes);
    size_t length = strlen(text);

    for (size_t i = 0; i + length <= cyxla_bytes_size(bytes); i++) {
        if (memcmp(data + i, text, length) == 0)
            return true;
    }
    return false;
}

static void an_executable_tells_of_itself(void)
{
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_bytes *optimized = NULL;

    if (!e)
        return;
    CHECK_STR(cyxla_executable_name(e), "add_f32");
    CHECK_INT(cyxla_executable_device_count(e), 1);
    CHECK_INT(cyxla_executable_generated_code_size(e), 0); /* no CPU plugin tells */
    CHECK(!cyxla_executable_is_from_cache(e));
    const char *memory = cyxla_executable_memory_json(e);
    CHECK_HAS(memory, "\"arguments\":32");
    CHECK_HAS(memory, "\"outputs\":16");
    CHECK_HAS(memory, "\"aliased\":0");
    CHECK_HAS(memory, "\"temporary\":");
    CHECK_HAS(memory, "\"generated_code\":");
    CHECK_HAS(memory, "\"peak\":");
    CHECK(cyxla_executable_memory_json(e) == memory);
    const char *fingerprint = cyxla_executable_fingerprint(e);
    CHECK(fingerprint && fingerprint[0] != '\0');
    CHECK(cyxla_executable_fingerprint(e) == fingerprint);
    CHECK_OK(cyxla_executable_optimized_program(e, &optimized));
    CHECK(cyxla_bytes_size(optimized) > 0);
    CHECK(on_fake_plugin() || has_text(optimized, "add_f32"));
    cyxla_bytes_free(optimized);
    cyxla_executable_free(e);
}

static void donation_shows_in_the_memory(void)
{
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);

    CHECK_HAS(cyxla_executable_memory_json(e), "\"aliased\":16");
    cyxla_executable_free(e);
}

static void no_executable_reads_as_nothing(void)
{
    cyxla_bytes *bytes = NULL;

    CHECK_STR(cyxla_executable_name(NULL), NULL);
    CHECK_STR(cyxla_executable_fingerprint(NULL), NULL);
    CHECK_STR(cyxla_executable_memory_json(NULL), NULL);
    CHECK_INT(cyxla_executable_device_count(NULL), 0);
    CHECK_INT(cyxla_executable_generated_code_size(NULL), 0);
    cyxla_executable_free(NULL);
    CHECK_BLAMES(cyxla_executable_optimized_program(NULL, &bytes), "executable");
    cyxla_executable *e = compiled(ADD_F32_4);
    CHECK_BLAMES(cyxla_executable_optimized_program(e, NULL), "out");
    CHECK(bytes == NULL);
    cyxla_executable_free(e);
}

/* --- plugins that cannot tell; only the fake one can be made to --- */

static void check_tells_little(void)
{
    cyxla_executable *e = compiled(ADD_F32_4);

    CHECK_STR(cyxla_executable_name(e), "add_f32");
    CHECK_STR(cyxla_executable_fingerprint(e), "");
    CHECK_STR(cyxla_executable_memory_json(e), "null");
    CHECK_INT(cyxla_executable_generated_code_size(e), 0);
    CHECK_INT(cyxla_executable_device_count(e), 1);
    cyxla_executable_free(e);
    CHECK(alive());
}

static void what_a_plugin_does_not_tell_is_left_out(void)
{
    CHECK_CHILD("tells-little", "CYXLA_FAKE_PLUGIN=lack=PJRT_Executable_Fingerprint,"
                                "lack=PJRT_Executable_GetCompiledMemoryStats,"
                                "lack=PJRT_Executable_SizeOfGeneratedCodeInBytes");
    CHECK_CHILD("tells-little", "CYXLA_FAKE_PLUGIN=fail=PJRT_Executable_Fingerprint,"
                                "fail=PJRT_Executable_GetCompiledMemoryStats,"
                                "fail=PJRT_Executable_SizeOfGeneratedCodeInBytes");
}

static void bad_compile_options_are_refused(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_BLAMES(cyxla_compile_program(NULL, NULL, &e), "program");
    CHECK_BLAMES(cyxla_compile_program(program, NULL, NULL), "out");
    CHECK_OK(cyxla_options_set_int(options, "devise", 0));
    CHECK_FAILS(cyxla_compile_program(program, options, &e), CYXLA_CODE_INVALID_ARGUMENT, "devise", "'device'");
    cyxla_options_free(options);
    options = cyxla_options_new();
    CHECK_OK(cyxla_options_set_string(options, "device", "0"));
    CHECK_FAILS(cyxla_compile_program(program, options, &e), CYXLA_CODE_INVALID_ARGUMENT, "device", "integer");
    static const int64_t devices[] = {1, 99, -1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < 5; i++) {
        CHECK_OK(cyxla_options_set_int(options, "device", devices[i]));
        CHECK_FAILS(cyxla_compile_program(program, options, &e), CYXLA_CODE_INVALID_ARGUMENT, "device");
    }
    CHECK(e == NULL);
    CHECK_OK(cyxla_options_set_int(options, "device", 0));
    CHECK_OK(cyxla_compile_program(program, options, &e));
    cyxla_executable_free(e);
    cyxla_options_free(options);
    cyxla_program_free(program);
    CHECK(alive_and_compiles());
}

static void options_of_wrong_kinds_and_ranges_are_refused(void)
{
    static const struct {
        const char *options;
        const char *part;
    } bad[] = {
        {"replicas=0", "replicas"},
        {"replicas=-1", "replicas"},
        {"partitions=1.5", "partitions"},
        {"partitions=99999999999", "partitions"},
        {"replicas=65536;partitions=65536", "devices"},
        {"device_ids=99", "99"},
        {"device_ids=0,0", "names 2 devices"},
        {"device_ids=0;device=0", "exclude each other"},
        {"portable=1", "portable"},
        {"cache_dir=1", "cache_dir"},
        {"cache_size=-1", "cache_size"},
        {"check_platform=yes", "check_platform"},
        {"xla_cpu_enable_fast_math=true", "xla.xla_cpu_enable_fast_math"},
        {"xla.xla_cpu_enable_fast_math=7", "xla_cpu_enable_fast_math"},
        {"cache_dri=/tmp", "'cache_dir'"},
    };
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;

    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_FAILS(compile_with(program, bad[i].options, &e), CYXLA_CODE_INVALID_ARGUMENT, bad[i].part);
    CHECK(e == NULL);
    CHECK_OK(compile_with(program, "replicas=1;partitions=1;device_ids=0;portable=false;check_platform=false", &e));
    cyxla_executable_free(e);
    cyxla_program_free(program);
    CHECK(alive_and_compiles());
}

/* In a child with two devices. */
static void a_program_runs_on_the_device_it_was_compiled_for(void)
{
    static const int64_t dims[] = {4};
    static const float in[] = {1, 2, 3, 4};
    static const float want[] = {2, 4, 6, 8};
    float out[4] = {0};
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;
    cyxla_buffer *here = NULL;
    cyxla_buffer *there = NULL;
    cyxla_buffer *result = NULL;
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_OK(cyxla_options_set_int(options, "device", 1));
    CHECK_OK(cyxla_compile_program(program, options, &e));
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, in, &there));
    CHECK_OK(cyxla_buffer_from_host(1, CYXLA_DTYPE_F32, dims, 1, NULL, in, &here));
    if (e && here && there) {
        const cyxla_buffer *inputs[] = {there};
        CHECK_INT(cyxla_buffer_device(here), 1);
        CHECK_OK(run_1_1(e, in, sizeof in, out, sizeof out));
        CHECK_FLOATS(out, want, 4);
        CHECK_FAILS(cyxla_execute(e, inputs, 1, &result, 1), CYXLA_CODE_INVALID_ARGUMENT, "argument 0", "device 0",
                    "device 1");
        CHECK(result == NULL);
        inputs[0] = here;
        CHECK_OK(cyxla_execute(e, inputs, 1, &result, 1));
        CHECK_INT(cyxla_buffer_device(result), 1);
        CHECK_OK(cyxla_buffer_to_host(result, out, sizeof out));
        CHECK_FLOATS(out, want, 4);
    }
    cyxla_buffer_free(here);
    cyxla_buffer_free(there);
    cyxla_buffer_free(result);
    cyxla_executable_free(e);
    cyxla_options_free(options);
    cyxla_program_free(program);
    CHECK(alive());
}

/* In a child with two devices. */
static void a_program_may_be_compiled_for_several_devices(void)
{
    static const float in[4] = {0};
    float out[4] = {0};
    static const char *const options[] = {"partitions=2", "replicas=2", "replicas=2;device_ids=1,0"};
    cyxla_program *program = NULL;

    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    for (size_t i = 0; i < 3; i++) {
        cyxla_executable *e = NULL;
        cyxla_options *set = cyxla_options_new();
        CHECK_OK(cyxla_options_parse(set, options[i]));
        if (CHECK_OK(cyxla_compile_program(program, set, &e))) {
            CHECK_INT(cyxla_executable_device_count(e), 2);
            CHECK_INT(cyxla_executable_input_count(e), 1);
            CHECK_FAILS(run_1_1(e, in, sizeof in, out, sizeof out), CYXLA_CODE_INVALID_ARGUMENT, "2 arguments",
                        "of 2 devices");
        }
        cyxla_executable_free(e);
        cyxla_options_free(set);
    }
    cyxla_program_free(program);
    CHECK(alive());
}

/* In a child with two devices. */
static void a_portable_program_runs_on_the_device_that_is_named(void)
{
    static const float in[] = {1, 2, 3, 4};
    static const float want[] = {2, 4, 6, 8};
    static const char *const options[] = {"portable=true", "portable=true;device=1"};
    cyxla_program *program = NULL;

    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    for (size_t i = 0; i < 2; i++) {
        static const int64_t dims[] = {4};
        float out[4] = {0};
        cyxla_executable *e = NULL;
        cyxla_buffer *input = NULL;
        cyxla_buffer *output = NULL;
        CHECK_OK(compile_with(program, options[i], &e));
        CHECK_OK(run_1_1(e, in, sizeof in, out, sizeof out));
        CHECK_FLOATS(out, want, 4);
        CHECK_OK(cyxla_buffer_from_host(i, CYXLA_DTYPE_F32, dims, 1, NULL, in, &input));
        const cyxla_buffer *inputs[] = {input};
        if (CHECK_OK(cyxla_execute(e, inputs, 1, &output, 1))) {
            CHECK_INT(cyxla_buffer_device(output), i);
            CHECK_OK(cyxla_buffer_to_host(output, out, sizeof out));
            CHECK_FLOATS(out, want, 4);
        }
        cyxla_buffer_free(input);
        cyxla_buffer_free(output);
        cyxla_executable_free(e);
    }
    cyxla_program_free(program);
    CHECK(alive());
}

static void children(void)
{
    CHECK_CHILD("portable", "CYXLA_OPTIONS=cpu_device_count=2");
    CHECK_CHILD("two-devices", "CYXLA_OPTIONS=cpu_device_count=2");
    if (!on_fake_plugin())
        CHECK_CHILD("several-devices", "CYXLA_OPTIONS=cpu_device_count=2");
}

/* --- real plugins only: the fake one reads no bytecode, no tuples and no options --- */

static void fingerprints_name_programs(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *one = compiled(ADD_F32_4);
    cyxla_executable *same = NULL;
    cyxla_executable *other = compiled(DOUBLE_F32_4);

    CHECK_OK(cyxla_program_from_bytes(ADD_F32_4, strlen(ADD_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_OK(compile_with(program, "xla.cpu_enable_fast_math=true", &same));
    if (one && same && other) {
        CHECK_STR(cyxla_executable_fingerprint(one), cyxla_executable_fingerprint(same));
        CHECK(strcmp(cyxla_executable_fingerprint(one), cyxla_executable_fingerprint(other)) != 0);
    }
    cyxla_executable_free(one);
    cyxla_executable_free(same);
    cyxla_executable_free(other);
    cyxla_program_free(program);
}

/* Plugins end the process on some that they have compiled themselves. */
static void an_optimized_program_is_not_compiled_again(void)
{
    cyxla_executable *e = fixture_compiled("names.mlirbc");
    cyxla_program *program = NULL;
    cyxla_bytes *optimized = NULL;

    CHECK_OK(cyxla_executable_optimized_program(e, &optimized));
    CHECK_FAILS(cyxla_program_from_bytes(cyxla_bytes_data(optimized), cyxla_bytes_size(optimized),
                                         CYXLA_FORMAT_DETECT, NULL, &program),
                CYXLA_CODE_UNIMPLEMENTED, "compiled before", "as it was before");
    CHECK(program == NULL);
    cyxla_bytes_free(optimized);
    cyxla_executable_free(e);
}

static void debug_options_of_xla_are_passed_on(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;

    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_OK(compile_with(program, "xla.xla_cpu_enable_fast_math=true", &e));
    cyxla_executable_free(e);
    e = NULL;
    CHECK_OK(compile_with(program, "xla.cpu_enable_fast_math=true", &e));
    cyxla_executable_free(e);
    e = NULL;
    CHECK_FAILS(compile_with(program, "xla.cpu_enable_fats_math=true", &e), CYXLA_CODE_INVALID_ARGUMENT,
                "xla_cpu_enable_fats_math", "did you mean 'xla.xla_cpu_enable_fast_math'");
    CHECK(e == NULL);
    cyxla_program_free(program);
    CHECK(alive_and_compiles());
}

static void an_export_for_several_devices_says_how_to_compile_it(void)
{
    cyxla_program *program = fixture_program("exports/sharding4.jaxexport");
    cyxla_executable *e = NULL;

    CHECK_FAILS(cyxla_compile_program(program, NULL, &e), CYXLA_CODE_FAILED_PRECONDITION, "need 4 devices",
                "cpu_device_count=4");
    CHECK_FAILS(compile_with(program, "partitions=1", &e), CYXLA_CODE_FAILED_PRECONDITION, "4 devices", "partitions=4");
    CHECK_FAILS(compile_with(program, "partitions=4", &e), CYXLA_CODE_INVALID_ARGUMENT, "there are 1",
                "cpu_device_count");
    CHECK(e == NULL);
    cyxla_program_free(program);
}

/* Plugins compile these and then abort or fail when they are run. */
static void tuple_and_token_arguments_are_refused(void)
{
    static const char tuple[] =
        "module { func.func public @main(%t: tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<2xf32> {\n"
        "  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<2xf32>\n"
        "  return %0 : tensor<2xf32> } }\n";
    static const char token[] =
        "module { func.func public @main(%t: !stablehlo.token, %a: tensor<2xf32>)\n"
        "    -> (!stablehlo.token, tensor<2xf32>) {\n"
        "  return %t, %a : !stablehlo.token, tensor<2xf32> } }\n";
    static const char token_result[] =
        "module { func.func public @main() -> !stablehlo.token {\n"
        "  %0 = stablehlo.create_token : !stablehlo.token\n"
        "  return %0 : !stablehlo.token } }\n";
    cyxla_executable *e = NULL;

    CHECK_FAILS(compile_text(tuple, &e), CYXLA_CODE_UNIMPLEMENTED, "tuple");
    CHECK_FAILS(compile_text(token, &e), CYXLA_CODE_UNIMPLEMENTED, "token");
    CHECK_FAILS(compile_text(token_result, &e), CYXLA_CODE_UNIMPLEMENTED, "token");
    CHECK(e == NULL);
    CHECK(alive_and_compiles());
}

static void the_plugin_s_own_refusals_come_through(void)
{
    cyxla_executable *e = NULL;

    CHECK_FAILS(compile_text("module { func.func public @main() -> tensor<4xf32> {\n"
                             "  %0 = stablehlo.custom_call @nobody() {api_version = 4 : i32} : () -> tensor<4xf32>\n"
                             "  return %0 : tensor<4xf32> } }",
                             &e),
                CYXLA_CODE_NOT_FOUND, "custom calls nobody", "avoid them");
    CHECK(e == NULL);
    CHECK(alive_and_compiles());
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"two-devices", a_program_runs_on_the_device_it_was_compiled_for},
        {"several-devices", a_program_may_be_compiled_for_several_devices},
        {"portable", a_portable_program_runs_on_the_device_that_is_named},
        {"tells-little", check_tells_little},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(an_executable_tells_of_itself);
    RUN(no_executable_reads_as_nothing);
    RUN(bad_compile_options_are_refused);
    RUN(options_of_wrong_kinds_and_ranges_are_refused);
    RUN(children);
    if (on_fake_plugin()) {
        RUN(what_a_plugin_does_not_tell_is_left_out);
    } else {
        RUN(donation_shows_in_the_memory);
        RUN(fingerprints_name_programs);
        RUN(an_optimized_program_is_not_compiled_again);
        RUN(debug_options_of_xla_are_passed_on);
        RUN(an_export_for_several_devices_says_how_to_compile_it);
        RUN(tuple_and_token_arguments_are_refused);
        RUN(the_plugin_s_own_refusals_come_through);
    }
    return test_end();
}
