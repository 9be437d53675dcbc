/* Arguments that a function does not use are dropped from the program inside an
 * export. The caller passes them all the same, and they are checked like the others. */
#include <stdint.h>
#include <string.h>

#include "corpus.h"
#include "support.h"
#include "test.h"

/* unused(a: f32[2,3], b: f32[4], c: s32[5], d: f32[2,2]) = b * sum(d) */
static const float A[6] = {0};
static const float B[4] = {1, -2, 3, 0.5f};
static const int32_t C[5] = {0};
static const float D[4] = {1, 2, 3, 4};
static const float WANT[4] = {10, -20, 30, 5};

static const void *const INPUTS[4] = {A, B, C, D};
static const size_t SIZES[4] = {sizeof A, sizeof B, sizeof C, sizeof D};

static cyxla_error *run(const cyxla_executable *e, const void *const *inputs, const size_t *sizes, size_t count,
                        float *out)
{
    void *outputs[] = {out};
    const size_t output_sizes[] = {sizeof WANT};

    return cyxla_run(e, inputs, sizes, count, outputs, output_sizes, 1);
}

static void all_arguments_are_passed(void)
{
    for (size_t i = 0; i < CORPUS_VERSION_COUNT; i++) {
        float out[4] = {0};
        cyxla_executable *e = corpus_compiled(CORPUS_VERSIONS[i], "unused");
        if (!e)
            continue;
        CHECK_INT(cyxla_executable_input_count(e), 4);
        if (CHECK_OK(run(e, INPUTS, SIZES, 4, out)))
            CHECK_FLOATS(out, WANT, 4);
        cyxla_executable_free(e);
    }
}

static void the_dropped_ones_have_names_and_types(void)
{
    static const char *const names[] = {"args[0]", "args[1]", "args[2]", "args[3]"};
    static const cyxla_dtype dtypes[] = {CYXLA_DTYPE_F32, CYXLA_DTYPE_F32, CYXLA_DTYPE_S32, CYXLA_DTYPE_F32};
    static const size_t ranks[] = {2, 1, 1, 2};
    cyxla_program *program = NULL;
    cyxla_executable *e = corpus_compiled("0.10.2", "unused");

    CHECK_OK(corpus_read("0.10.2", "unused", NULL, &program));
    CHECK(cyxla_program_has_signature(program));
    for (size_t i = 0; i < 4; i++) {
        size_t rank = 0;
        CHECK_STR(cyxla_program_input_name(program, i), names[i]);
        CHECK_STR(cyxla_executable_input_name(e, i), names[i]);
        CHECK_INT(cyxla_program_input_dtype(program, i), dtypes[i]);
        CHECK_INT(cyxla_executable_input_dtype(e, i), dtypes[i]);
        cyxla_program_input_dims(program, i, &rank);
        CHECK_INT(rank, ranks[i]);
        CHECK_INT(cyxla_executable_input_size(e, i), SIZES[i]);
    }
    cyxla_executable_free(e);
    cyxla_program_free(program);
}

static void fewer_are_refused(void)
{
    float out[4] = {7, 7, 7, 7};
    static const float untouched[4] = {7, 7, 7, 7};
    const void *const kept[] = {B, D};
    const size_t kept_sizes[] = {sizeof B, sizeof D};
    cyxla_executable *e = corpus_compiled("0.10.2", "unused");

    if (!e)
        return;
    CHECK_FAILS(run(e, kept, kept_sizes, 2, out), CYXLA_CODE_INVALID_ARGUMENT, "expects 4 arguments", "got 2");
    CHECK_FAILS(run(e, INPUTS, SIZES, 0, out), CYXLA_CODE_INVALID_ARGUMENT, "expects 4 arguments", "got 0");
    CHECK_FLOATS(out, untouched, 4);
    cyxla_executable_free(e);
}

static void the_dropped_ones_are_checked(void)
{
    float out[4] = {0};
    size_t sizes[4];
    const void *inputs[4];
    cyxla_executable *e = corpus_compiled("0.10.2", "unused");

    if (!e)
        return;
    memcpy(sizes, SIZES, sizeof sizes);
    memcpy(inputs, INPUTS, sizeof inputs);
    sizes[2] = 16;
    CHECK_FAILS(run(e, inputs, sizes, 4, out), CYXLA_CODE_INVALID_ARGUMENT, "argument 2", "s32[5]", "20", "16");
    sizes[2] = SIZES[2];
    inputs[0] = NULL;
    CHECK_BLAMES(cyxla_run(e, inputs, sizes, 4, (void *[]){out}, (size_t[]){sizeof out}, 1), "inputs[0]");
    cyxla_executable_free(e);
    CHECK(alive());
}

static cyxla_buffer *made(cyxla_dtype dtype, size_t rank, const int64_t *dims, const void *data)
{
    cyxla_buffer *buffer = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, dtype, dims, rank, NULL, data, &buffer));
    return buffer;
}

/* A buffer that a program has taken. */
static cyxla_buffer *donated_s32_5(void)
{
    static const int64_t dims[] = {5};
    cyxla_executable *e = compiled("module { func.func public @main(%a: tensor<5xi32> {tf.aliasing_output = 0 : i32})\n"
                                   "    -> tensor<5xi32> {\n"
                                   "  %0 = stablehlo.negate %a : tensor<5xi32>\n"
                                   "  return %0 : tensor<5xi32> } }\n");
    cyxla_buffer *buffer = made(CYXLA_DTYPE_S32, 1, dims, C);
    const cyxla_buffer *inputs[] = {buffer};
    cyxla_buffer *result = NULL;

    CHECK_OK(cyxla_execute(e, inputs, 1, &result, 1));
    CHECK(cyxla_buffer_is_donated(buffer));
    cyxla_buffer_free(result);
    cyxla_executable_free(e);
    return buffer;
}

static void buffers_too(void)
{
    static const int64_t dims[4][2] = {{2, 3}, {4, 0}, {5, 0}, {2, 2}};
    float out[4] = {0};
    cyxla_executable *e = corpus_compiled("0.10.2", "unused");
    cyxla_buffer *a = made(CYXLA_DTYPE_F32, 2, dims[0], A);
    cyxla_buffer *b = made(CYXLA_DTYPE_F32, 1, dims[1], B);
    cyxla_buffer *c = made(CYXLA_DTYPE_S32, 1, dims[2], C);
    cyxla_buffer *d = made(CYXLA_DTYPE_F32, 2, dims[3], D);
    cyxla_buffer *wrong = made(CYXLA_DTYPE_F32, 1, dims[2], A);
    const cyxla_buffer *all[] = {a, b, c, d};
    const cyxla_buffer *with_wrong[] = {a, b, wrong, d};
    const cyxla_buffer *with_null[] = {NULL, b, c, d};
    cyxla_buffer *gone = donated_s32_5();
    const cyxla_buffer *with_gone[] = {a, b, gone, d};
    cyxla_buffer *result = NULL;

    if (!e)
        return;
    CHECK_FAILS(cyxla_execute(e, with_wrong, 4, &result, 1), CYXLA_CODE_INVALID_ARGUMENT, "argument 2", "s32[5]",
                "f32[5]");
    CHECK_BLAMES(cyxla_execute(e, with_null, 4, &result, 1), "inputs[0]");
    CHECK_FAILS(cyxla_execute(e, with_gone, 4, &result, 1), CYXLA_CODE_FAILED_PRECONDITION, "donated", "argument 2");
    CHECK(result == NULL);
    if (CHECK_OK(cyxla_execute(e, all, 4, &result, 1)) && CHECK_OK(cyxla_buffer_to_host(result, out, sizeof out)))
        CHECK_FLOATS(out, WANT, 4);
    cyxla_buffer_free(result);
    cyxla_buffer_free(a);
    cyxla_buffer_free(b);
    cyxla_buffer_free(c);
    cyxla_buffer_free(d);
    cyxla_buffer_free(wrong);
    cyxla_buffer_free(gone);
    cyxla_executable_free(e);
    CHECK(alive());
}

/* donated_tree(state = {"a": f32[3], "b": s32[2]}, dropped: s32[5], x: f32[3], y: s32[5]), where
 * JAX was told to donate all but x, gives {"a": a - x, "b": b + y[:2]}. */
static void a_donated_one_that_was_dropped_is_left_alone(void)
{
    static const int64_t two[] = {2};
    static const int64_t three[] = {3};
    static const int64_t five[] = {5};
    static const float a_data[] = {1, 2, 3};
    static const float want[] = {1, 1, 1};
    static const float x_data[] = {0, 1, 2};
    static const int32_t numbers[] = {1, 2, 3, 4, 5};
    int32_t back[5] = {0};
    float a_minus_x[3] = {0};
    cyxla_executable *e = corpus_compiled("0.10.2", "donated_tree");
    cyxla_buffer *a = made(CYXLA_DTYPE_F32, 1, three, a_data);
    cyxla_buffer *b = made(CYXLA_DTYPE_S32, 1, two, numbers);
    cyxla_buffer *dropped = made(CYXLA_DTYPE_S32, 1, five, numbers);
    cyxla_buffer *x = made(CYXLA_DTYPE_F32, 1, three, x_data);
    cyxla_buffer *y = made(CYXLA_DTYPE_S32, 1, five, numbers);
    const cyxla_buffer *all[] = {a, b, dropped, x, y};
    cyxla_buffer *results[2] = {NULL, NULL};

    if (!e)
        return;
    CHECK(cyxla_executable_input_is_donated(e, 0) && cyxla_executable_input_is_donated(e, 1));
    CHECK(!cyxla_executable_input_is_donated(e, 2) && !cyxla_executable_input_is_donated(e, 3));
    if (CHECK_OK(cyxla_execute(e, all, 5, results, 2))) {
        CHECK_OK(cyxla_buffer_to_host(results[0], a_minus_x, sizeof a_minus_x));
        CHECK_FLOATS(a_minus_x, want, 3);
        CHECK(cyxla_buffer_is_donated(a) && cyxla_buffer_is_donated(b));
        CHECK(!cyxla_buffer_is_donated(dropped) && !cyxla_buffer_is_donated(x));
        CHECK_OK(cyxla_buffer_to_host(dropped, back, sizeof back));
        CHECK_BYTES(back, numbers, sizeof back);
    }
    for (size_t i = 0; i < 2; i++)
        cyxla_buffer_free(results[i]);
    for (size_t i = 0; i < 5; i++)
        cyxla_buffer_free((cyxla_buffer *)(uintptr_t)all[i]);
    cyxla_executable_free(e);
    CHECK(alive());
}

/* all_dropped(x: f32[3], count: s32) = 3 */
static void all_may_be_dropped(void)
{
    static const float x[3] = {1, 2, 3};
    static const int32_t count = 7;
    static const float want = 3;
    const void *const inputs[] = {x, &count};
    size_t sizes[] = {sizeof x, sizeof count};
    float out = 0;
    void *outputs[] = {&out};
    const size_t output_sizes[] = {sizeof out};
    cyxla_executable *e = corpus_compiled("0.4.30", "all_dropped");

    if (!e)
        return;
    if (CHECK_OK(cyxla_run(e, inputs, sizes, 2, outputs, output_sizes, 1)))
        CHECK_FLOATS(&out, &want, 1);
    sizes[1] = 8;
    CHECK_FAILS(cyxla_run(e, inputs, sizes, 2, outputs, output_sizes, 1), CYXLA_CODE_INVALID_ARGUMENT, "argument 1",
                "s32[]");
    CHECK_FAILS(cyxla_run(e, NULL, NULL, 0, outputs, output_sizes, 1), CYXLA_CODE_INVALID_ARGUMENT,
                "expects 2 arguments");
    cyxla_executable_free(e);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(all_arguments_are_passed);
    RUN(the_dropped_ones_have_names_and_types);
    RUN(fewer_are_refused);
    RUN(the_dropped_ones_are_checked);
    RUN(buffers_too);
    RUN(a_donated_one_that_was_dropped_is_left_alone);
    RUN(all_may_be_dropped);
    return test_end();
}
