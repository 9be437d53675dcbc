#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

typedef const int64_t *dims_of(const cyxla_executable *executable, size_t index, size_t *rank);

static void check_dims(dims_of *function, const cyxla_executable *e, size_t index, const int64_t *want, size_t want_rank)
{
    size_t rank = 99;
    const int64_t *dims = function(e, index, &rank);

    if (CHECK_INT(rank, want_rank) && rank > 0 && CHECK(dims != NULL))
        CHECK_BYTES(dims, want, rank * sizeof *dims);
    CHECK(function(e, index, NULL) == dims);
}

static void the_signature_is_the_program_s(void)
{
    static const char text[] =
        "module @signature { func.func public @main(%a: tensor<2x3xf32>, %b: tensor<f64>, %c: tensor<4x0xi8>)\n"
        "    -> (tensor<2x3xf32>, tensor<f64>, tensor<4x0xi8>) {\n"
        "  return %a, %b, %c : tensor<2x3xf32>, tensor<f64>, tensor<4x0xi8> } }\n";
    static const int64_t matrix[] = {2, 3};
    static const int64_t empty[] = {4, 0};
    cyxla_executable *e = compiled(text);

    if (!e)
        return;
    CHECK_STR(cyxla_executable_name(e), "signature");
    CHECK_INT(cyxla_executable_input_count(e), 3);
    CHECK_INT(cyxla_executable_output_count(e), 3);
    CHECK_INT(cyxla_executable_input_dtype(e, 0), CYXLA_DTYPE_F32);
    CHECK_INT(cyxla_executable_input_dtype(e, 1), CYXLA_DTYPE_F64);
    CHECK_INT(cyxla_executable_input_dtype(e, 2), CYXLA_DTYPE_S8);
    CHECK_INT(cyxla_executable_input_size(e, 0), 24);
    CHECK_INT(cyxla_executable_input_size(e, 1), 8);
    CHECK_INT(cyxla_executable_input_size(e, 2), 0);
    check_dims(cyxla_executable_input_dims, e, 0, matrix, 2);
    check_dims(cyxla_executable_input_dims, e, 1, NULL, 0);
    check_dims(cyxla_executable_input_dims, e, 2, empty, 2);
    CHECK_INT(cyxla_executable_output_dtype(e, 0), CYXLA_DTYPE_F32);
    CHECK_INT(cyxla_executable_output_dtype(e, 1), CYXLA_DTYPE_F64);
    CHECK_INT(cyxla_executable_output_dtype(e, 2), CYXLA_DTYPE_S8);
    CHECK_INT(cyxla_executable_output_size(e, 0), 24);
    check_dims(cyxla_executable_output_dims, e, 0, matrix, 2);
    check_dims(cyxla_executable_output_dims, e, 1, NULL, 0);
    check_dims(cyxla_executable_output_dims, e, 2, empty, 2);
    CHECK(!cyxla_executable_input_is_donated(e, 0));
    cyxla_executable_free(e);
}

static void a_program_may_have_no_inputs_or_outputs(void)
{
    cyxla_executable *e = compiled("module @nothing { func.func public @main() { return } }");

    if (!e)
        return;
    CHECK_INT(cyxla_executable_input_count(e), 0);
    CHECK_INT(cyxla_executable_output_count(e), 0);
    CHECK_OK(cyxla_run(e, NULL, NULL, 0, NULL, NULL, 0));
    CHECK_OK(cyxla_execute(e, NULL, 0, NULL, 0));
    cyxla_executable_free(e);
}

static void unused_inputs_are_still_inputs(void)
{
    cyxla_executable *e = compiled(
        "module { func.func public @main(%a: tensor<2xf32>, %b: tensor<3xi32>, %c: tensor<f64>) -> tensor<2xf32> {\n"
        "  return %a : tensor<2xf32> } }\n");

    if (!e)
        return;
    CHECK_INT(cyxla_executable_input_count(e), 3);
    CHECK_INT(cyxla_executable_input_dtype(e, 1), CYXLA_DTYPE_S32);
    CHECK_INT(cyxla_executable_input_size(e, 1), 12);
    cyxla_executable_free(e);
}

static void donated_inputs_are_told(void)
{
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);

    if (!e)
        return;
    CHECK(cyxla_executable_input_is_donated(e, 0));
    CHECK(!cyxla_executable_input_is_donated(e, 1));
    cyxla_executable_free(e);
}

static void a_bad_index_gives_nothing(void)
{
    static const size_t indices[] = {1, 2, SIZE_MAX};
    cyxla_executable *e = compiled(DOUBLE_F32_4);

    if (!e)
        return;
    for (size_t i = 0; i < 3; i++) {
        size_t index = indices[i];
        size_t rank = 99;
        CHECK_STR(cyxla_executable_input_name(e, index), NULL);
        CHECK_INT(cyxla_executable_input_dtype(e, index), CYXLA_DTYPE_INVALID);
        CHECK(cyxla_executable_input_dims(e, index, &rank) == NULL);
        CHECK_INT(rank, 0);
        CHECK_INT(cyxla_executable_input_size(e, index), 0);
        CHECK(!cyxla_executable_input_is_donated(e, index));
        rank = 99;
        CHECK_STR(cyxla_executable_output_name(e, index), NULL);
        CHECK_INT(cyxla_executable_output_dtype(e, index), CYXLA_DTYPE_INVALID);
        CHECK(cyxla_executable_output_dims(e, index, &rank) == NULL);
        CHECK_INT(rank, 0);
        CHECK_INT(cyxla_executable_output_size(e, index), 0);
        CHECK(cyxla_executable_output_dims(e, index, NULL) == NULL);
    }
    cyxla_executable_free(e);
}

static void no_executable_reads_as_nothing(void)
{
    size_t rank = 99;

    CHECK_STR(cyxla_executable_name(NULL), NULL);
    CHECK_INT(cyxla_executable_input_count(NULL), 0);
    CHECK_INT(cyxla_executable_output_count(NULL), 0);
    CHECK_STR(cyxla_executable_input_name(NULL, 0), NULL);
    CHECK_INT(cyxla_executable_input_dtype(NULL, 0), CYXLA_DTYPE_INVALID);
    CHECK(cyxla_executable_input_dims(NULL, 0, &rank) == NULL);
    CHECK_INT(rank, 0);
    CHECK_INT(cyxla_executable_output_size(NULL, 0), 0);
    cyxla_executable_free(NULL);
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

/* --- real plugins only: the fake one reads no bytecode and no tuples --- */

static void names_are_those_of_the_function_s_arguments(void)
{
    static const char *const names[] = {"params['b']", "params['w']", "x", "unused"};
    size_t size = 0;
    cyxla_executable *e = NULL;
    void *code = fixture("names.mlirbc", &size);

    CHECK_OK(compile_bytes(code, size, &e));
    free(code);
    if (!e)
        return;
    CHECK_STR(cyxla_executable_name(e), "jit_dense");
    CHECK_INT(cyxla_executable_input_count(e), 4);
    for (size_t i = 0; i < 4; i++)
        CHECK_STR(cyxla_executable_input_name(e, i), names[i]);
    CHECK_INT(cyxla_executable_output_count(e), 2);
    cyxla_executable_free(e);
    /* Text without locations has no names. */
    e = compiled(DOUBLE_F32_4);
    CHECK_STR(cyxla_executable_input_name(e, 0), NULL);
    cyxla_executable_free(e);
}

static void a_tuple_result_is_flattened(void)
{
    static const char text[] =
        "module { func.func public @main(%a: tensor<2xf32>, %b: tensor<i32>)\n"
        "    -> tuple<tensor<i32>, tensor<2xf32>> {\n"
        "  %0 = stablehlo.tuple %b, %a : tuple<tensor<i32>, tensor<2xf32>>\n"
        "  return %0 : tuple<tensor<i32>, tensor<2xf32>> } }\n";
    const float a[] = {1.5F, -2};
    const int32_t b = 7;
    const void *inputs[] = {a, &b};
    const size_t input_sizes[] = {sizeof a, sizeof b};
    int32_t first = 0;
    float second[2] = {0};
    void *outputs[] = {&first, second};
    const size_t output_sizes[] = {sizeof first, sizeof second};
    cyxla_executable *e = compiled(text);

    if (!e)
        return;
    if (CHECK_INT(cyxla_executable_output_count(e), 2)) {
        CHECK_INT(cyxla_executable_output_dtype(e, 0), CYXLA_DTYPE_S32);
        CHECK_INT(cyxla_executable_output_dtype(e, 1), CYXLA_DTYPE_F32);
        CHECK_OK(cyxla_run(e, inputs, input_sizes, 2, outputs, output_sizes, 2));
        CHECK_INT(first, 7);
        CHECK_FLOATS(second, a, 2);
    }
    cyxla_executable_free(e);
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

    CHECK_FAILS(compile_text("module { func.func public @main(%a: tensor<?xf32>) -> tensor<?xf32> {\n"
                             "  return %a : tensor<?xf32> } }",
                             &e),
                CYXLA_CODE_INVALID_ARGUMENT, "dynami");
    CHECK_FAILS(compile_text("module { func.func public @main() -> tensor<4xf32> {\n"
                             "  %0 = stablehlo.custom_call @nobody() {api_version = 4 : i32} : () -> tensor<4xf32>\n"
                             "  return %0 : tensor<4xf32> } }",
                             &e),
                CYXLA_CODE_NOT_FOUND, "nobody");
    CHECK(e == NULL);
    CHECK(alive_and_compiles());
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(the_signature_is_the_program_s);
    RUN(a_program_may_have_no_inputs_or_outputs);
    RUN(unused_inputs_are_still_inputs);
    RUN(donated_inputs_are_told);
    RUN(a_bad_index_gives_nothing);
    RUN(no_executable_reads_as_nothing);
    RUN(bad_compile_options_are_refused);
    if (!on_fake_plugin()) {
        RUN(names_are_those_of_the_function_s_arguments);
        RUN(a_tuple_result_is_flattened);
        RUN(tuple_and_token_arguments_are_refused);
        RUN(the_plugin_s_own_refusals_come_through);
    }
    return test_end();
}
