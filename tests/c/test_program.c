#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

static cyxla_error *from_text(const char *text, cyxla_format format, const char *platform, cyxla_program **out)
{
    return cyxla_program_from_bytes(text, strlen(text), format, platform, out);
}

static void text_and_bytecode_are_read(void)
{
    size_t size = 0;
    cyxla_program *text = NULL;
    cyxla_program *bytecode = NULL;
    void *code = fixture("names.mlirbc", &size);

    CHECK_OK(from_text(DOUBLE_F32_4, CYXLA_FORMAT_DETECT, NULL, &text));
    CHECK_INT(cyxla_program_format(text), CYXLA_FORMAT_STABLEHLO);
    CHECK_INT(cyxla_program_platform_count(text), 0);
    CHECK_STR(cyxla_program_platform(text, 0), NULL);
    CHECK_OK(cyxla_program_from_bytes(code, size, CYXLA_FORMAT_STABLEHLO, NULL, &bytecode));
    CHECK_INT(cyxla_program_format(bytecode), CYXLA_FORMAT_STABLEHLO);
    cyxla_program_free(text);
    cyxla_program_free(bytecode);
    free(code);
}

static void the_caller_s_bytes_are_copied(void)
{
    char text[400];
    size_t size = strlen(DOUBLE_F32_4) + 1;
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;

    if (!CHECK(size <= sizeof text))
        return;
    memcpy(text, DOUBLE_F32_4, size);
    /* Counting the NUL does no harm. */
    CHECK_OK(cyxla_program_from_bytes(text, size, CYXLA_FORMAT_DETECT, NULL, &program));
    memset(text, 'x', sizeof text);
    CHECK_OK(cyxla_compile_program(program, NULL, &executable));
    cyxla_executable_free(executable);
    cyxla_program_free(program);
}

static void a_platform_is_recorded_when_the_caller_says_it(void)
{
    cyxla_program *program = NULL;

    CHECK_OK(from_text(DOUBLE_F32_4, CYXLA_FORMAT_DETECT, "cpu", &program));
    CHECK_INT(cyxla_program_platform_count(program), 1);
    CHECK_STR(cyxla_program_platform(program, 0), "cpu");
    CHECK_STR(cyxla_program_platform(program, 1), NULL);
    CHECK_STR(cyxla_program_platform(program, SIZE_MAX), NULL);
    cyxla_program_free(program);
    CHECK_BLAMES(cyxla_program_from_bytes("module {}", 9, CYXLA_FORMAT_DETECT, "", &program), "platform");
    CHECK_BLAMES(cyxla_program_from_bytes("module {}", 9, CYXLA_FORMAT_DETECT, "no name", &program), "platform");
    CHECK_BLAMES(cyxla_program_from_bytes("module {}", 9, CYXLA_FORMAT_DETECT, "\xff", &program), "platform");
}

static void a_program_for_another_platform_is_not_compiled(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;

    CHECK(alive());
    CHECK_OK(from_text(DOUBLE_F32_4, CYXLA_FORMAT_DETECT, "cuda", &program));
    CHECK_FAILS(cyxla_compile_program(program, NULL, &executable), CYXLA_CODE_FAILED_PRECONDITION, "cuda", "cpu");
    CHECK(executable == NULL);
    cyxla_program_free(program);
    CHECK(alive_and_compiles());
}

static void empty_programs_are_refused(void)
{
    cyxla_program *program = NULL;

    CHECK_FAILS(cyxla_program_from_bytes(NULL, 0, CYXLA_FORMAT_DETECT, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT,
                "empty");
    CHECK_FAILS(cyxla_program_from_bytes("x", 0, CYXLA_FORMAT_STABLEHLO, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT,
                "empty");
    CHECK_FAILS(from_text(" \n\t ", CYXLA_FORMAT_DETECT, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT, "empty");
    CHECK_BLAMES(cyxla_program_from_bytes(NULL, 1, CYXLA_FORMAT_DETECT, NULL, &program), "data");
    CHECK_BLAMES(cyxla_program_from_bytes("x", SIZE_MAX, CYXLA_FORMAT_DETECT, NULL, &program), "data");
    CHECK_BLAMES(cyxla_program_from_bytes("module {}", 9, CYXLA_FORMAT_DETECT, NULL, NULL), "out");
    CHECK(program == NULL);
}

static void strangers_are_no_formats(void)
{
    static const cyxla_format strangers[] = {-1, 4, 99, INT_MAX, INT_MIN};
    cyxla_program *program = NULL;

    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        CHECK_BLAMES(cyxla_program_from_bytes("module {}", 9, strangers[i], NULL, &program), "format");
    CHECK(program == NULL);
}

static void a_wrong_format_is_told_what_it_is(void)
{
    size_t size = 0;
    size_t code_size = 0;
    cyxla_program *program = NULL;
    void *export = fixture("exports/one.jaxexport", &size);
    void *code = fixture("names.mlirbc", &code_size);

    CHECK_FAILS(cyxla_program_from_bytes(export, size, CYXLA_FORMAT_STABLEHLO, NULL, &program),
                CYXLA_CODE_INVALID_ARGUMENT, "not StableHLO", "a jax.export file", "CYXLA_FORMAT_DETECT");
    CHECK_FAILS(cyxla_program_from_bytes(export, size, CYXLA_FORMAT_HLO, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT,
                "not an HLO proto", "a jax.export file");
    CHECK_FAILS(cyxla_program_from_bytes(code, code_size, CYXLA_FORMAT_JAX_EXPORT, NULL, &program),
                CYXLA_CODE_INVALID_ARGUMENT, "not a jax.export file", "MLIR bytecode");
    CHECK_FAILS(cyxla_program_from_bytes(code, code_size, CYXLA_FORMAT_HLO, NULL, &program),
                CYXLA_CODE_INVALID_ARGUMENT, "not an HLO proto", "MLIR bytecode");
    CHECK_FAILS(from_text("module {}", CYXLA_FORMAT_JAX_EXPORT, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT,
                "not a jax.export file", "StableHLO text");
    CHECK_FAILS(from_text("module {}", CYXLA_FORMAT_HLO, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT,
                "not an HLO proto", "StableHLO text");
    CHECK_BLAMES(cyxla_program_from_bytes(export, size, CYXLA_FORMAT_HLO, NULL, &program), "format");
    CHECK(program == NULL);
    free(export);
    free(code);
}

/* What is no program, and is known well enough to say what to do with it. */
static void other_files_are_recognized(void)
{
    cyxla_program *program = NULL;

    CHECK_FAILS(from_text("HloModule m\n", CYXLA_FORMAT_DETECT, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT,
                "HLO text", "StableHLO");
    CHECK_FAILS(cyxla_program_from_bytes("\x89" "CYX\r\n\x1a\n and the rest", 21, 0, NULL, &program),
                CYXLA_CODE_FAILED_PRECONDITION, "saved executable", "cyxla_executable_from_bytes");
    CHECK_FAILS(cyxla_program_from_bytes("\x80\x05\x95 jax UnloadedMeshExecutable", 30, 0, NULL, &program),
                CYXLA_CODE_INVALID_ARGUMENT, "serialize_executable", "jax.export");
    CHECK_FAILS(cyxla_program_from_bytes("\x28\xb5\x2f\xfd\x60", 5, 0, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT,
                "zstd", "jax.export");
    CHECK_FAILS(cyxla_program_from_bytes("\x7f" "ELF\2\1\1", 7, 0, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT,
                "not recognized", "jax.export");
    CHECK(program == NULL);
}

static void the_content_tells_the_format(void)
{
    static const char *const lies[] = {"export.txt", "export.mlir", "export"};
    size_t size = 0;
    void *export = fixture("exports/one.jaxexport", &size);
    cyxla_program *program = NULL;

    for (size_t i = 0; i < 3; i++) {
        char *path = temporary(lies[i]);
        write_file(path, export, size);
        CHECK_OK(cyxla_program_from_file(path, CYXLA_FORMAT_DETECT, NULL, &program));
        CHECK_INT(cyxla_program_format(program), CYXLA_FORMAT_JAX_EXPORT);
        cyxla_program_free(program);
        CHECK_OK(cyxla_program_from_file(path, CYXLA_FORMAT_JAX_EXPORT, "cpu", &program));
        cyxla_program_free(program);
        free(path);
    }
    char *text = temporary("text.jaxexport");
    write_file(text, DOUBLE_F32_4, strlen(DOUBLE_F32_4));
    CHECK_OK(cyxla_program_from_file(text, CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_INT(cyxla_program_format(program), CYXLA_FORMAT_STABLEHLO);
    cyxla_program_free(program);
    free(text);
    free(export);
}

static void an_export_tells_of_itself(void)
{
    cyxla_program *program = fixture_program("exports/trees.jaxexport");

    CHECK_INT(cyxla_program_format(program), CYXLA_FORMAT_JAX_EXPORT);
    CHECK_STR(cyxla_program_name(program), "trees");
    CHECK_INT(cyxla_program_platform_count(program), 1);
    CHECK_STR(cyxla_program_platform(program, 0), "cpu");
    CHECK_STR(cyxla_program_platform(program, 1), NULL);
    CHECK_INT(cyxla_program_custom_call_count(program), 0);
    CHECK_STR(cyxla_program_custom_call(program, 0), NULL);
    const char *json = cyxla_program_json(program);
    CHECK_HAS(json, "\"format\":\"jax_export\"");
    CHECK_HAS(json, "\"name\":\"trees\"");
    CHECK_HAS(json, "\"platforms\":[\"cpu\"]");
    CHECK_HAS(json, "\"kept_inputs\":[1,2,3,4,6,8]");
    CHECK_HAS(json, "\"stablehlo\":\"1.15.0\"");
    CHECK_HAS(json, "CustomNode(fixtures.Point, [*, *])");
    CHECK_HAS(json, "\"problem\":null");
    CHECK(cyxla_program_json(program) == json);
    cyxla_program_free(program);
}

static void text_and_bytecode_tell_of_themselves(void)
{
    cyxla_program *program = fixture_program("names.mlirbc");

    CHECK_STR(cyxla_program_name(program), "jit_dense");
    CHECK_HAS(cyxla_program_json(program), "\"written_by\":\"StableHLO_v1.15.0\"");
    CHECK_HAS(cyxla_program_json(program), "\"jax_export\":null");
    cyxla_program_free(program);
    program = NULL;
    CHECK_OK(from_text(DOUBLE_F32_4, CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_STR(cyxla_program_name(program), "double_f32");
    CHECK_HAS(cyxla_program_json(program), "\"encoding\":\"StableHLO text\"");
    cyxla_program_free(program);
    program = NULL;
    CHECK_OK(from_text("module {}", CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_STR(cyxla_program_name(program), NULL);
    cyxla_program_free(program);
}

static void an_hlo_proto_tells_of_itself(void)
{
    size_t size = 0;
    void *data = fixture("hlo/steps.pb", &size);
    cyxla_program *program = NULL;

    CHECK_OK(cyxla_program_from_bytes(data, size, CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_INT(cyxla_program_format(program), CYXLA_FORMAT_HLO);
    CHECK_STR(cyxla_program_name(program), "jit_steps");
    CHECK_INT(cyxla_program_platform_count(program), 0);
    CHECK_HAS(cyxla_program_json(program), "\"format\":\"hlo\"");
    cyxla_program_free(program);
    program = NULL;
    CHECK_OK(cyxla_program_from_bytes(data, size, CYXLA_FORMAT_HLO, "cpu", &program));
    CHECK_STR(cyxla_program_platform(program, 0), "cpu");
    cyxla_program_free(program);
    program = NULL;
    CHECK_FAILS(cyxla_program_from_bytes(data, size, CYXLA_FORMAT_STABLEHLO, NULL, &program),
                CYXLA_CODE_INVALID_ARGUMENT, "not StableHLO", "an HLO proto");
    CHECK_FAILS(cyxla_program_from_bytes(data, size, CYXLA_FORMAT_JAX_EXPORT, NULL, &program),
                CYXLA_CODE_INVALID_ARGUMENT, "not a jax.export file", "an HLO proto");
    CHECK(program == NULL);
    free(data);
}

static void custom_calls_are_listed_once_and_sorted(void)
{
    static const char text[] =
        "module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.custom_call @zeta(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  %1 = stablehlo.custom_call @alpha(%0) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  %2 = stablehlo.custom_call @zeta(%1) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  return %2 : tensor<4xf32> } }\n";
    cyxla_program *program = NULL;

    CHECK_OK(from_text(text, CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_INT(cyxla_program_custom_call_count(program), 2);
    CHECK_STR(cyxla_program_custom_call(program, 0), "alpha");
    CHECK_STR(cyxla_program_custom_call(program, 1), "zeta");
    CHECK_STR(cyxla_program_custom_call(program, 2), NULL);
    CHECK_STR(cyxla_program_custom_call(program, SIZE_MAX), NULL);
    CHECK_HAS(cyxla_program_json(program), "\"custom_calls\":[\"alpha\",\"zeta\"]");
    cyxla_program_free(program);
    program = fixture_program("exports/memory.jaxexport");
    CHECK_INT(cyxla_program_custom_call_count(program), 1);
    CHECK_STR(cyxla_program_custom_call(program, 0), "annotate_device_placement");
    cyxla_program_free(program);
    program = fixture_program("hlo/custom_call.pb");
    CHECK_INT(cyxla_program_custom_call_count(program), 2);
    CHECK_STR(cyxla_program_custom_call(program, 0), "first");
    CHECK_STR(cyxla_program_custom_call(program, 1), "second");
    cyxla_program_free(program);
}

static void a_platform_is_chosen_among_those_of_an_export(void)
{
    size_t size = 0;
    cyxla_program *program = NULL;
    void *data = fixture("exports/platforms_x32.jaxexport", &size);

    CHECK_OK(cyxla_program_from_bytes(data, size, CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_INT(cyxla_program_platform_count(program), 3);
    CHECK_STR(cyxla_program_platform(program, 0), "tpu");
    CHECK_STR(cyxla_program_platform(program, 1), "cpu");
    CHECK_STR(cyxla_program_platform(program, 2), "cuda");
    CHECK_STR(cyxla_program_platform(program, 3), NULL);
    cyxla_program_free(program);
    CHECK_OK(cyxla_program_from_bytes(data, size, CYXLA_FORMAT_DETECT, "cpu", &program));
    CHECK_INT(cyxla_program_platform_count(program), 1);
    CHECK_STR(cyxla_program_platform(program, 0), "cpu");
    cyxla_program_free(program);
    CHECK_OK(cyxla_program_from_bytes(data, size, CYXLA_FORMAT_DETECT, "gpu", &program));
    CHECK_INT(cyxla_program_platform_count(program), 1);
    CHECK_STR(cyxla_program_platform(program, 0), "cuda");
    cyxla_program_free(program);
    program = NULL;
    CHECK_FAILS(cyxla_program_from_bytes(data, size, CYXLA_FORMAT_DETECT, "rocm", &program),
                CYXLA_CODE_INVALID_ARGUMENT, "tpu, cpu, cuda", "not for rocm");
    CHECK_BLAMES(cyxla_program_from_bytes(data, size, CYXLA_FORMAT_DETECT, "rocm", &program), "platform");
    CHECK(program == NULL);
    free(data);
}

static void an_export_for_another_platform_is_not_compiled(void)
{
    size_t size = 0;
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;
    void *data = fixture("exports/platforms_x64.jaxexport", &size);

    CHECK(alive());
    CHECK_OK(cyxla_program_from_bytes(data, size, CYXLA_FORMAT_DETECT, "tpu", &program));
    CHECK_FAILS(cyxla_compile_program(program, NULL, &executable), CYXLA_CODE_FAILED_PRECONDITION, "for tpu", "for cpu",
                "check_platform");
    CHECK(executable == NULL);
    cyxla_program_free(program);
    free(data);
    CHECK(alive_and_compiles());
}

/* --- programs that can be read and cannot be run --- */

static cyxla_error *load(const char *name)
{
    size_t size = 0;
    cyxla_program *program = NULL;
    void *data = fixture(name, &size);
    cyxla_error *error = cyxla_program_from_bytes(data, size, CYXLA_FORMAT_DETECT, NULL, &program);

    CHECK(program == NULL);
    cyxla_program_free(program);
    free(data);
    return error;
}

static void what_cannot_run_is_refused_with_advice(void)
{
    static const char callback[] =
        "module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  return %0 : tensor<4xf32> } }\n";
    cyxla_program *program = NULL;

    CHECK_FAILS(load("exports/symbolic.jaxexport"), CYXLA_CODE_UNIMPLEMENTED, "input 0", "args[0]", "f32[b,4]",
                "with numbers in its shapes");
    CHECK_FAILS(load("hlo/token.pb"), CYXLA_CODE_UNIMPLEMENTED, "input 0", "token");
    CHECK_FAILS(load("hlo/nested_result.pb"), CYXLA_CODE_UNIMPLEMENTED, "result 0", "inside of tuples");
    CHECK_FAILS(from_text(callback, CYXLA_FORMAT_DETECT, NULL, &program), CYXLA_CODE_UNIMPLEMENTED,
                "calls back into Python", "xla_ffi_python_cpu_callback", "pure_callback");
    CHECK(program == NULL);
}

/* Changes a number in an export's outermost table; the schema numbers its fields. */
static bool set_field(unsigned char *data, size_t size, size_t field, uint16_t value)
{
    uint32_t table = 0;
    int32_t back = 0;
    uint16_t offset = 0;

    memcpy(&table, data, sizeof table);
    memcpy(&back, data + table, sizeof back);
    const unsigned char *fields = data + ((int64_t)table - back);
    memcpy(&offset, fields + 4 + 2 * field, sizeof offset);
    if (!CHECK(offset != 0 && table + offset + sizeof value <= size))
        return false;
    memcpy(data + table + offset, &value, sizeof value);
    return true;
}

static void other_calling_conventions_are_refused(void)
{
    enum { CALLING_CONVENTION_VERSION = 14 };
    static const uint16_t newer[] = {11, 12, 65535};
    static const uint16_t older[] = {1, 6, 8};
    size_t size = 0;
    cyxla_program *program = NULL;
    unsigned char *data = fixture("exports/one.jaxexport", &size);

    for (size_t i = 0; i < 3 && set_field(data, size, CALLING_CONVENTION_VERSION, newer[i]); i++) {
        CHECK_FAILS(cyxla_program_from_bytes(data, size, 0, NULL, &program), CYXLA_CODE_UNIMPLEMENTED,
                    "calling convention", "9 to 10", "newer libcyxla");
    }
    for (size_t i = 0; i < 3 && set_field(data, size, CALLING_CONVENTION_VERSION, older[i]); i++) {
        CHECK_FAILS(cyxla_program_from_bytes(data, size, 0, NULL, &program), CYXLA_CODE_UNIMPLEMENTED,
                    "calling convention", "JAX 0.4.30 or newer");
    }
    CHECK(program == NULL);
    if (set_field(data, size, CALLING_CONVENTION_VERSION, 9))
        CHECK_OK(cyxla_program_from_bytes(data, size, 0, NULL, &program));
    cyxla_program_free(program);
    free(data);
}

/* A type that came after this library: somewhere among the bytes is the type's number. */
static void an_unknown_element_type_is_named(void)
{
    size_t size = 0;
    int named = 0;
    unsigned char *data = fixture("exports/one.jaxexport", &size);

    for (size_t i = 0; data && i < size; i++) {
        unsigned char was = data[i];
        cyxla_program *program = NULL;
        data[i] = 100;
        cyxla_error *error = cyxla_program_from_bytes(data, size, CYXLA_FORMAT_DETECT, NULL, &program);
        data[i] = was;
        if (cyxla_error_code(error) == CYXLA_CODE_UNIMPLEMENTED &&
            strstr(cyxla_error_message(error), "has an element type that this version does not know")) {
            CHECK_HAS(cyxla_error_message(error), "100");
            CHECK_HAS(cyxla_error_detail(error, "hint"), "newer libcyxla");
            named++;
        }
        cyxla_error_free(error);
        cyxla_program_free(program);
    }
    CHECK(named >= 1);
    free(data);
}

/* --- programs that are damaged --- */

/* Reads them from memory of exactly their size; they may be taken or refused. */
static bool survives(const unsigned char *data, size_t size)
{
    unsigned char *exact = malloc(size ? size : 1);
    cyxla_program *program = NULL;
    cyxla_program *gradients = NULL;

    if (!exact)
        abort();
    memcpy(exact, data, size);
    cyxla_error *error = cyxla_program_from_bytes(exact, size, CYXLA_FORMAT_DETECT, NULL, &program);
    free(exact);
    bool taken = CHECK((error == NULL) == (program != NULL)) && !error;
    if (taken) {
        CHECK(cyxla_program_json(program) != NULL);
        cyxla_error_free(cyxla_program_vjp(program, &gradients));
    }
    cyxla_program_free(gradients);
    cyxla_program_free(program);
    cyxla_error_free(error);
    return taken;
}

static void a_cut_export_is_refused(void)
{
    size_t size = 0;
    unsigned char *data = fixture("exports/vjp1.jaxexport", &size);

    /* The last four bytes are the end of a text, and nobody reads them. */
    for (size_t cut = 0; data && cut < size - 4; cut += on_fake_plugin() ? 37 : 1) {
        if (!CHECK(!survives(data, cut)))
            printf("that was cut to %zu bytes\n", cut);
    }
    free(data);
}

static void a_damaged_program_does_no_harm(void)
{
    static const char *const names[] = {"exports/trees.jaxexport", "exports/vjp2.jaxexport",
                                        "exports/sharding4.jaxexport", "exports/newest.jaxexport", "hlo/steps.pb"};
    unsigned state = 7;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = 0;
        unsigned char *data = fixture(names[i], &size);
        for (int round = 0; data && round < (on_fake_plugin() ? 100 : 1000); round++) {
            state = state * 1103515245U + 12345U;
            size_t at = (state >> 8) % size;
            unsigned char was = data[at];
            data[at] = round % 3 ? (unsigned char)(was ^ (1U << (state >> 28) % 8)) : 0xff;
            survives(data, size);
            data[at] = was;
        }
        CHECK(!data || survives(data, size));
        free(data);
    }
}

/* --- gradients --- */

static void an_export_may_hold_its_gradients(void)
{
    cyxla_program *cube = fixture_program("exports/vjp1.jaxexport");
    cyxla_program *gradients = NULL;
    cyxla_program *none = NULL;

    CHECK_OK(cyxla_program_vjp(cube, &gradients));
    /* They are a program of their own. */
    cyxla_program_free(cube);
    CHECK_INT(cyxla_program_format(gradients), CYXLA_FORMAT_JAX_EXPORT);
    CHECK_INT(cyxla_program_platform_count(gradients), 1);
    CHECK_STR(cyxla_program_platform(gradients, 0), "cpu");
    /* The inputs of `cube` and a cotangent of its output; a cotangent of each input,
     * of which that of an integer holds nothing. */
    CHECK_INT(cyxla_program_input_count(gradients), 3);
    CHECK_INT(cyxla_program_input_dtype(gradients, 1), CYXLA_DTYPE_S32);
    CHECK_INT(cyxla_program_input_dtype(gradients, 2), CYXLA_DTYPE_F32);
    CHECK_INT(cyxla_program_output_count(gradients), 2);
    CHECK_INT(cyxla_program_output_dtype(gradients, 0), CYXLA_DTYPE_F32);
    CHECK_INT(cyxla_program_output_dtype(gradients, 1), CYXLA_DTYPE_PRED);
    CHECK_FAILS(cyxla_program_vjp(gradients, &none), CYXLA_CODE_NOT_FOUND, "no VJP", "vjp_order=1");
    cyxla_program_free(gradients);
    CHECK(none == NULL);
}

static void gradients_of_gradients_are_found(void)
{
    cyxla_program *cube = fixture_program("exports/vjp2.jaxexport");
    cyxla_program *first = NULL;
    cyxla_program *second = NULL;
    cyxla_program *none = NULL;

    CHECK_OK(cyxla_program_vjp(cube, &first));
    CHECK_OK(cyxla_program_vjp(first, &second));
    CHECK_INT(cyxla_program_input_count(first), 3);
    CHECK_INT(cyxla_program_output_count(first), 2);
    CHECK_INT(cyxla_program_input_count(second), 5);
    CHECK_INT(cyxla_program_output_count(second), 3);
    CHECK_FAILS(cyxla_program_vjp(second, &none), CYXLA_CODE_NOT_FOUND, "no VJP");
    cyxla_program_free(cube);
    cyxla_program_free(first);
    cyxla_program_free(second);
}

static void programs_without_gradients_say_so(void)
{
    cyxla_program *export = fixture_program("exports/one.jaxexport");
    cyxla_program *text = NULL;
    cyxla_program *none = NULL;

    CHECK_OK(from_text(DOUBLE_F32_4, CYXLA_FORMAT_DETECT, NULL, &text));
    CHECK_FAILS(cyxla_program_vjp(export, &none), CYXLA_CODE_NOT_FOUND, "no VJP", "vjp_order=1");
    CHECK_FAILS(cyxla_program_vjp(text, &none), CYXLA_CODE_NOT_FOUND, "jax.export");
    CHECK_BLAMES(cyxla_program_vjp(NULL, &none), "program");
    CHECK_BLAMES(cyxla_program_vjp(export, NULL), "out");
    CHECK(none == NULL);
    cyxla_program_free(export);
    cyxla_program_free(text);
}

static void files_are_read(void)
{
    char *path = temporary("program.mlir");
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;

    write_file(path, DOUBLE_F32_4, strlen(DOUBLE_F32_4));
    CHECK_OK(cyxla_program_from_file(path, CYXLA_FORMAT_DETECT, "cpu", &program));
    CHECK_OK(cyxla_compile_program(program, NULL, &executable));
    cyxla_executable_free(executable);
    cyxla_program_free(program);
    free(path);
}

static void files_that_cannot_be_read_are_named(void)
{
    char *empty = temporary("empty.mlir");
    char *garbage = temporary("garbage.bin");
    cyxla_program *program = NULL;

    write_file(empty, "", 0);
    write_file(garbage, "\x7f" "ELF\0\1\2\xff", 8);
    CHECK_FAILS(cyxla_program_from_file("/no/such/file", 0, NULL, &program), CYXLA_CODE_NOT_FOUND, "/no/such/file");
    CHECK_FAILS(cyxla_program_from_file("/", 0, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT, "directory");
    CHECK_FAILS(cyxla_program_from_file("/dev/zero", 0, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT, "regular");
    CHECK_FAILS(cyxla_program_from_file("", 0, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT, "empty");
    CHECK_FAILS(cyxla_program_from_file(empty, 0, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT, empty, "empty");
    CHECK_FAILS(cyxla_program_from_file(garbage, 0, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT, garbage);
    CHECK_BLAMES(cyxla_program_from_file(NULL, 0, NULL, &program), "path");
    CHECK_BLAMES(cyxla_program_from_file(empty, 0, NULL, NULL), "out");
    CHECK(program == NULL);
    free(empty);
    free(garbage);
}

static void no_program_reads_as_nothing(void)
{
    CHECK_INT(cyxla_program_platform_count(NULL), 0);
    CHECK_STR(cyxla_program_platform(NULL, 0), NULL);
    CHECK_INT(cyxla_program_format(NULL), CYXLA_FORMAT_DETECT);
    CHECK_STR(cyxla_program_name(NULL), NULL);
    CHECK_STR(cyxla_program_json(NULL), NULL);
    CHECK_INT(cyxla_program_custom_call_count(NULL), 0);
    CHECK_STR(cyxla_program_custom_call(NULL, 0), NULL);
    cyxla_program_free(NULL);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(text_and_bytecode_are_read);
    RUN(the_caller_s_bytes_are_copied);
    RUN(a_platform_is_recorded_when_the_caller_says_it);
    RUN(a_program_for_another_platform_is_not_compiled);
    RUN(empty_programs_are_refused);
    RUN(strangers_are_no_formats);
    RUN(a_wrong_format_is_told_what_it_is);
    RUN(other_files_are_recognized);
    RUN(the_content_tells_the_format);
    RUN(an_export_tells_of_itself);
    RUN(text_and_bytecode_tell_of_themselves);
    RUN(an_hlo_proto_tells_of_itself);
    RUN(custom_calls_are_listed_once_and_sorted);
    RUN(a_platform_is_chosen_among_those_of_an_export);
    RUN(an_export_for_another_platform_is_not_compiled);
    RUN(what_cannot_run_is_refused_with_advice);
    RUN(other_calling_conventions_are_refused);
    RUN(an_unknown_element_type_is_named);
    RUN(a_cut_export_is_refused);
    RUN(a_damaged_program_does_no_harm);
    RUN(an_export_may_hold_its_gradients);
    RUN(gradients_of_gradients_are_found);
    RUN(programs_without_gradients_say_so);
    RUN(files_are_read);
    RUN(files_that_cannot_be_read_are_named);
    RUN(no_program_reads_as_nothing);
    return test_end();
}
