#include <stdint.h>
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

    CHECK_INT(cyxla_executable_input_count(NULL), 0);
    CHECK_INT(cyxla_executable_output_count(NULL), 0);
    CHECK_STR(cyxla_executable_input_name(NULL, 0), NULL);
    CHECK_INT(cyxla_executable_input_dtype(NULL, 0), CYXLA_DTYPE_INVALID);
    CHECK(cyxla_executable_input_dims(NULL, 0, &rank) == NULL);
    CHECK_INT(rank, 0);
    CHECK_INT(cyxla_executable_input_size(NULL, 0), 0);
    CHECK(!cyxla_executable_input_is_donated(NULL, 0));
    rank = 99;
    CHECK_STR(cyxla_executable_output_name(NULL, 0), NULL);
    CHECK_INT(cyxla_executable_output_dtype(NULL, 0), CYXLA_DTYPE_INVALID);
    CHECK(cyxla_executable_output_dims(NULL, 0, &rank) == NULL);
    CHECK_INT(rank, 0);
    CHECK_INT(cyxla_executable_output_size(NULL, 0), 0);
}

/* --- real plugins only: the fake one reads no bytecode and no tuples --- */

static void names_are_those_of_the_function_s_arguments(void)
{
    static const char *const names[] = {"params['b']", "params['w']", "x", "unused"};
    cyxla_executable *e = fixture_compiled("names.mlirbc");

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

static cyxla_buffer *buffer_for(const cyxla_executable *e, size_t index, const void *data)
{
    size_t rank = 0;
    const int64_t *dims = cyxla_executable_input_dims(e, index, &rank);
    cyxla_buffer *buffer = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, cyxla_executable_input_dtype(e, index), dims, rank, NULL, data, &buffer));
    return buffer;
}

/* r = pair[0] - pair[1], in the memory of pair[1]. */
static void a_tuple_parameter_is_passed_in_parts(void)
{
    static const float a[] = {11, 12, 13, 14, 15, 16};
    static const float b[] = {1, 2, 3, 4, 5, 6};
    static const float want[] = {10, 10, 10, 10, 10, 10};
    static const size_t sizes[] = {sizeof a, sizeof b};
    const void *inputs[] = {a, b};
    float out[6] = {0};
    void *outputs[] = {out};
    cyxla_buffer *result = NULL;
    cyxla_executable *e = fixture_compiled("hlo/tuple.pb");

    if (!e)
        return;
    CHECK_STR(cyxla_executable_name(e), "tuple");
    CHECK_INT(cyxla_executable_input_count(e), 2);
    CHECK_STR(cyxla_executable_input_name(e, 1), "pair[1]");
    CHECK(!cyxla_executable_input_is_donated(e, 0));
    CHECK(cyxla_executable_input_is_donated(e, 1));
    CHECK_OK(cyxla_run(e, inputs, sizes, 2, outputs, sizes, 1));
    CHECK_FLOATS(out, want, 6);
    CHECK_FAILS(cyxla_run(e, inputs, sizes, 1, outputs, sizes, 1), CYXLA_CODE_INVALID_ARGUMENT, "2 arguments, got 1");
    cyxla_buffer *first = buffer_for(e, 0, a);
    cyxla_buffer *second = buffer_for(e, 1, b);
    const cyxla_buffer *buffers[] = {first, second};
    memset(out, 0, sizeof out);
    if (CHECK_OK(cyxla_execute(e, buffers, 2, &result, 1))) {
        CHECK_OK(cyxla_buffer_to_host(result, out, sizeof out));
        CHECK_FLOATS(out, want, 6);
        CHECK(!cyxla_buffer_is_donated(first));
        CHECK(cyxla_buffer_is_donated(second));
    }
    cyxla_buffer_free(first);
    cyxla_buffer_free(second);
    cyxla_buffer_free(result);
    cyxla_executable_free(e);
}

/* --- files of jax.export: what the user's own function takes and gives --- */

/* Everything that exports/trees.jaxexport takes and gives; the module inside takes six
 * of the inputs. */
struct trees {
    int32_t unused;
    float w1[2][2];
    float x[1];
    float y[1]; /* has no elements */
    int32_t unused_list[5];
    unsigned char b[3];
    float unused_scalar;
    float scale[2];
};

static const struct trees TREES = {1, {{1, 2}, {10, 20}}, {7}, {0}, {1, 2, 3, 4, 5}, {1, 0, 1}, 3, {2, 3}};

enum { TREES_INPUTS = 9, TREES_OUTPUTS = 7 };

static void inputs_of_trees(const void **inputs, size_t *sizes)
{
    const void *const addresses[] = {&TREES.unused,     TREES.w1[0], TREES.w1[1],          TREES.x,    TREES.y,
                                     TREES.unused_list, TREES.b,     &TREES.unused_scalar, TREES.scale};
    static const size_t all[] = {4, 8, 8, 4, 0, 20, 3, 4, 8};

    memcpy(inputs, addresses, sizeof addresses);
    memcpy(sizes, all, sizeof all);
}

static void check_trees(const unsigned char *its, const float *z, const unsigned char *a, float pair[2][2],
                        const float *y)
{
    static const float total[] = {21, 62};
    static const float twice[] = {42, 124};

    CHECK_BYTES(its, TREES.b, 3);
    CHECK_FLOATS(z, TREES.x, 1);
    CHECK_BYTES(a, TREES.b, 3);
    CHECK_FLOATS(pair[0], total, 2);
    CHECK_FLOATS(pair[1], twice, 2);
    CHECK_FLOATS(y, total, 2);
}

static void an_executable_keeps_the_signature_of_its_program(void)
{
    static const char *const names[] = {"exports/trees.jaxexport",         "exports/platforms_x32.jaxexport",
                                        "exports/platforms_x64.jaxexport", "exports/donation.jaxexport",
                                        "exports/dtypes.jaxexport",        "exports/keys.jaxexport",
                                        "exports/effects.jaxexport",       "hlo/tuple.pb",
                                        "hlo/steps.pb",                    "hlo/mixed.pb"};

    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        cyxla_program *p = fixture_program(names[n]);
        cyxla_executable *e = fixture_compiled(names[n]);
        CHECK_INT(cyxla_executable_input_count(e), cyxla_program_input_count(p));
        CHECK_INT(cyxla_executable_output_count(e), cyxla_program_output_count(p));
        for (size_t i = 0; i < cyxla_program_input_count(p); i++) {
            size_t rank = 0;
            const int64_t *dims = cyxla_program_input_dims(p, i, &rank);
            CHECK_STR(cyxla_executable_input_name(e, i), cyxla_program_input_name(p, i));
            CHECK_INT(cyxla_executable_input_dtype(e, i), cyxla_program_input_dtype(p, i));
            CHECK_INT(cyxla_executable_input_size(e, i), cyxla_program_input_size(p, i));
            CHECK_INT(cyxla_executable_input_is_donated(e, i), cyxla_program_input_is_donated(p, i));
            check_dims(cyxla_executable_input_dims, e, i, dims, rank);
        }
        for (size_t i = 0; i < cyxla_program_output_count(p); i++) {
            size_t rank = 0;
            const int64_t *dims = cyxla_program_output_dims(p, i, &rank);
            CHECK_STR(cyxla_executable_output_name(e, i), cyxla_program_output_name(p, i));
            CHECK_INT(cyxla_executable_output_dtype(e, i), cyxla_program_output_dtype(p, i));
            CHECK_INT(cyxla_executable_output_size(e, i), cyxla_program_output_size(p, i));
            check_dims(cyxla_executable_output_dims, e, i, dims, rank);
        }
        cyxla_program_free(p);
        cyxla_executable_free(e);
    }
}

static void dropped_inputs_are_passed_and_ignored(void)
{
    cyxla_executable *e = fixture_compiled("exports/trees.jaxexport");
    const void *inputs[TREES_INPUTS];
    size_t sizes[TREES_INPUTS];
    unsigned char its[3] = {0};
    unsigned char a[3] = {0};
    float z[1] = {0};
    float pair[2][2] = {{0}};
    float y[2] = {0};
    void *outputs[] = {its, z, a, pair[0], pair[1], y, NULL};
    static const size_t output_sizes[] = {3, 4, 3, 8, 8, 8, 0};

    if (!e)
        return;
    inputs_of_trees(inputs, sizes);
    CHECK_OK(cyxla_run(e, inputs, sizes, TREES_INPUTS, outputs, output_sizes, TREES_OUTPUTS));
    check_trees(its, z, a, pair, y);
    /* They are checked like all others, and counts are the user's. */
    CHECK_FAILS(cyxla_run(e, inputs, sizes, 6, outputs, output_sizes, TREES_OUTPUTS), CYXLA_CODE_INVALID_ARGUMENT,
                "9 arguments, got 6");
    CHECK_FAILS(cyxla_run(e, inputs, sizes, TREES_INPUTS, outputs, output_sizes, 6), CYXLA_CODE_INVALID_ARGUMENT,
                "7 results, got 6");
    sizes[5] = 16;
    CHECK_FAILS(cyxla_run(e, inputs, sizes, TREES_INPUTS, outputs, output_sizes, TREES_OUTPUTS),
                CYXLA_CODE_INVALID_ARGUMENT, "argument 5", "s32[5]", "20 bytes, got 16");
    sizes[5] = 20;
    inputs[5] = NULL;
    CHECK_FAILS(cyxla_run(e, inputs, sizes, TREES_INPUTS, outputs, output_sizes, TREES_OUTPUTS),
                CYXLA_CODE_INVALID_ARGUMENT, "inputs[5]", "NULL");
    cyxla_executable_free(e);
    CHECK(alive());
}

static void dropped_inputs_may_be_buffers(void)
{
    cyxla_executable *e = fixture_compiled("exports/trees.jaxexport");
    const void *data[TREES_INPUTS];
    size_t sizes[TREES_INPUTS];
    cyxla_buffer *made[TREES_INPUTS] = {NULL};
    const cyxla_buffer *inputs[TREES_INPUTS] = {NULL};
    cyxla_buffer *outputs[TREES_OUTPUTS] = {NULL};
    float pair[2][2] = {{0}};
    int32_t back[5] = {0};

    if (!e)
        return;
    inputs_of_trees(data, sizes);
    for (size_t i = 0; i < TREES_INPUTS; i++)
        inputs[i] = made[i] = buffer_for(e, i, data[i]);
    if (CHECK_OK(cyxla_execute(e, inputs, TREES_INPUTS, outputs, TREES_OUTPUTS))) {
        CHECK_OK(cyxla_buffer_to_host(outputs[3], pair[0], 8));
        CHECK_OK(cyxla_buffer_to_host(outputs[4], pair[1], 8));
        check_trees(TREES.b, TREES.x, TREES.b, pair, pair[0]);
        CHECK_INT(cyxla_buffer_size(outputs[6]), 0);
        CHECK_OK(cyxla_buffer_to_host(made[5], back, sizeof back));
        CHECK_BYTES(back, TREES.unused_list, sizeof back);
    }
    for (size_t i = 0; i < TREES_OUTPUTS; i++) {
        cyxla_buffer_free(outputs[i]);
        outputs[i] = NULL;
    }
    CHECK_FAILS(cyxla_execute(e, inputs, 6, outputs, TREES_OUTPUTS), CYXLA_CODE_INVALID_ARGUMENT, "9 arguments, got 6");
    inputs[0] = made[5]; /* of another type */
    CHECK_FAILS(cyxla_execute(e, inputs, TREES_INPUTS, outputs, TREES_OUTPUTS), CYXLA_CODE_INVALID_ARGUMENT,
                "argument 0", "s32[]", "s32[5]");
    CHECK(outputs[0] == NULL);
    for (size_t i = 0; i < TREES_INPUTS; i++)
        cyxla_buffer_free(made[i]);
    cyxla_executable_free(e);
    CHECK(alive());
}

/* On a CPU it adds 1, on anything else it takes 1. */
static void the_platform_index_is_supplied(void)
{
    static const char *const names[] = {"exports/platforms_x32.jaxexport", "exports/platforms_x64.jaxexport"};
    static const float in[] = {1, 2, 3, -4};
    static const float want[] = {2, 3, 4, -3};

    for (size_t i = 0; i < 2; i++) {
        float out[4] = {0};
        cyxla_executable *e = fixture_compiled(names[i]);
        if (!e)
            continue;
        CHECK_OK(run_1_1(e, in, sizeof in, out, sizeof out));
        CHECK_FLOATS(out, want, 4);
        cyxla_buffer *input = buffer_for(e, 0, in);
        const cyxla_buffer *inputs[] = {input, input};
        cyxla_buffer *outputs[] = {NULL};
        memset(out, 0, sizeof out);
        if (CHECK_OK(cyxla_execute(e, inputs, 1, outputs, 1)))
            CHECK_OK(cyxla_buffer_to_host(outputs[0], out, sizeof out));
        CHECK_FLOATS(out, want, 4);
        cyxla_buffer_free(outputs[0]);
        CHECK_FAILS(cyxla_execute(e, inputs, 2, outputs, 1), CYXLA_CODE_INVALID_ARGUMENT, "1 argument, got 2");
        cyxla_buffer_free(input);
        cyxla_executable_free(e);
    }
}

/* x + 1, and effects that only Python knows of, one of them ordered. */
static void tokens_are_supplied_and_dropped(void)
{
    static const float in[] = {1, -2};
    static const float want[] = {2, -1};
    float out[2] = {0};
    cyxla_executable *e = fixture_compiled("exports/effects.jaxexport");

    CHECK_INT(cyxla_executable_input_count(e), 1);
    CHECK_STR(cyxla_executable_input_name(e, 0), "args[0]");
    CHECK_INT(cyxla_executable_output_count(e), 1);
    if (e && CHECK_OK(run_1_1(e, in, sizeof in, out, sizeof out)))
        CHECK_FLOATS(out, want, 2);
    cyxla_executable_free(e);
}

static void donation_of_an_export_takes_the_buffer(void)
{
    static const float a[] = {1, 2, 3};
    static const float b[] = {10, 20, 30};
    static const float want[] = {11, 22, 33};
    float sum[3] = {0};
    cyxla_executable *e = fixture_compiled("exports/donation.jaxexport");

    if (!e)
        return;
    cyxla_buffer *given = buffer_for(e, 0, a);
    cyxla_buffer *kept = buffer_for(e, 1, b);
    const cyxla_buffer *inputs[] = {given, kept};
    cyxla_buffer *outputs[] = {NULL, NULL};
    if (CHECK_OK(cyxla_execute(e, inputs, 2, outputs, 2))) {
        CHECK(cyxla_buffer_is_donated(given));
        CHECK(!cyxla_buffer_is_donated(kept));
        CHECK_OK(cyxla_buffer_to_host(outputs[0], sum, sizeof sum));
        CHECK_FLOATS(sum, want, 3);
    }
    cyxla_buffer_free(given);
    cyxla_buffer_free(kept);
    cyxla_buffer_free(outputs[0]);
    cyxla_buffer_free(outputs[1]);
    cyxla_executable_free(e);
}

static cyxla_executable *compiled_gradients(const cyxla_program *program)
{
    cyxla_executable *e = NULL;
    cyxla_program *gradients = NULL;

    CHECK_OK(cyxla_program_vjp(program, &gradients));
    CHECK_OK(cyxla_compile_program(gradients, NULL, &e));
    cyxla_program_free(gradients);
    return e;
}

/* z = x^3 n, where n is an integer, whose cotangent holds nothing. */
static void gradients_are_right(void)
{
    static const float x[] = {1, 2, -3};
    static const int32_t n = 2;
    static const float cotangent[] = {1, 10, 1};
    static const float want[] = {6, 240, 54}; /* 3 x^2 n c */
    float got[3] = {0};
    unsigned char nothing = 99;
    const void *inputs[] = {x, &n, cotangent};
    static const size_t sizes[] = {sizeof x, sizeof n, sizeof cotangent};
    void *outputs[] = {got, &nothing};
    static const size_t output_sizes[] = {sizeof got, 1};
    cyxla_program *cube = fixture_program("exports/vjp1.jaxexport");
    cyxla_executable *e = compiled_gradients(cube);

    if (e && CHECK_OK(cyxla_run(e, inputs, sizes, 3, outputs, output_sizes, 2))) {
        CHECK_FLOATS(got, want, 3);
        CHECK_INT(nothing, 0);
        CHECK_FAILS(cyxla_run(e, inputs, sizes, 2, outputs, output_sizes, 2), CYXLA_CODE_INVALID_ARGUMENT,
                    "3 arguments, got 2");
    }
    cyxla_executable_free(e);
    cyxla_program_free(cube);
}

/* z = x^3 n, both floats: first (3 x^2 n c, x^3 c), and of that again. */
static void gradients_of_gradients_are_right(void)
{
    static const float x[] = {1, 2, 3};
    static const float n[] = {2, 1, 1};
    static const float c[] = {1, 1, 2};
    static const float u[] = {1, 0, 1};
    static const float v[] = {0, 1, 1};
    static const float want_x[] = {12, 12, 90};  /* 6 x n c u + 3 x^2 c v */
    static const float want_n[] = {3, 0, 54};    /* 3 x^2 c u */
    static const float want_c[] = {6, 8, 54};    /* 3 x^2 n u + x^3 v */
    float got[3][3] = {{0}};
    const void *inputs[] = {x, n, c, u, v};
    static const size_t sizes[] = {12, 12, 12, 12, 12};
    void *outputs[] = {got[0], got[1], got[2]};
    cyxla_program *cube = fixture_program("exports/vjp2.jaxexport");
    cyxla_program *first = NULL;

    CHECK_OK(cyxla_program_vjp(cube, &first));
    cyxla_executable *e = compiled_gradients(first);
    if (e && CHECK_OK(cyxla_run(e, inputs, sizes, 5, outputs, sizes, 3))) {
        CHECK_FLOATS(got[0], want_x, 3);
        CHECK_FLOATS(got[1], want_n, 3);
        CHECK_FLOATS(got[2], want_c, 3);
    }
    cyxla_executable_free(e);
    cyxla_program_free(first);
    cyxla_program_free(cube);
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
    if (!on_fake_plugin()) {
        RUN(names_are_those_of_the_function_s_arguments);
        RUN(a_tuple_result_is_flattened);
        RUN(a_tuple_parameter_is_passed_in_parts);
        RUN(an_executable_keeps_the_signature_of_its_program);
        RUN(dropped_inputs_are_passed_and_ignored);
        RUN(dropped_inputs_may_be_buffers);
        RUN(the_platform_index_is_supplied);
        RUN(tokens_are_supplied_and_dropped);
        RUN(donation_of_an_export_takes_the_buffer);
        RUN(gradients_are_right);
        RUN(gradients_of_gradients_are_right);
    }
    return test_end();
}
