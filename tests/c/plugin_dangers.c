/* What plugins die of or get wrong without a word, where buffers and layouts lead to it.
 * Each of these is an error here, or the right number. The names of the tests are those
 * of what a plugin does when it is asked directly. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "support.h"
#include "test.h"

static const char DOUBLE_F32_8[] =
    "module @double_8 { func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
    "  %0 = stablehlo.add %a, %a : tensor<8xf32>\n"
    "  return %0 : tensor<8xf32> } }\n";

static const float EIGHT[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const float TWICE[] = {0, 2, 4, 6, 8, 10, 12, 14};
static const int64_t DIMS_8[] = {8};
static const int64_t DIMS_2_4[] = {2, 4};

static cyxla_buffer *made(cyxla_dtype dtype, const int64_t *dims, size_t rank, const void *data)
{
    cyxla_buffer *buffer = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, dtype, dims, rank, NULL, data, &buffer));
    return buffer;
}

static bool holds_8(const cyxla_buffer *buffer, const float *want)
{
    float back[8] = {0};

    return CHECK_OK(cyxla_buffer_to_host(buffer, back, sizeof back)) && CHECK_FLOATS(back, want, 8);
}

static cyxla_error *execute_1(const cyxla_executable *e, const cyxla_buffer *a, cyxla_buffer **out)
{
    return cyxla_execute(e, &a, 1, out, 1);
}

/* --- they end the process --- */

static void element_types_that_abort(void)
{
    static const cyxla_dtype types[] = {CYXLA_DTYPE_INVALID, CYXLA_DTYPE_TOKEN, 99, -1, INT_MIN, INT_MAX};
    float *memory = aligned_bytes(sizeof EIGHT, 0);
    int released = 0;
    cyxla_buffer *b = NULL;

    memcpy(memory, EIGHT, sizeof EIGHT);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        CHECK_BLAMES(cyxla_buffer_from_host(0, types[i], DIMS_8, 1, NULL, memory, &b), "dtype");
        CHECK_BLAMES(cyxla_buffer_from_host(0, types[i], DIMS_8, 1, (const int64_t[]){4}, memory, &b), "dtype");
        CHECK_BLAMES(cyxla_buffer_view_host(0, types[i], DIMS_8, 1, memory, true, count_release, &released, &b),
                     "dtype");
        CHECK_BLAMES(cyxla_buffer_view_host_strict(0, types[i], DIMS_8, 1, memory, true, count_release, &released, &b),
                     "dtype");
    }
    CHECK(b == NULL);
    CHECK_INT(released, 0);
    free_aligned(memory, 0);
    CHECK(alive());
}

static void null_data_that_crashes(void)
{
    static const int64_t none[] = {3, 0};
    cyxla_buffer *b = NULL;

    CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_8, 1, NULL, NULL, &b), "data");
    CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, NULL, 0, NULL, NULL, &b), "data");
    CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_8, 1, (const int64_t[]){0}, NULL, &b), "data");
    CHECK_BLAMES(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_8, 1, NULL, true, NULL, NULL, &b), "data");
    CHECK(b == NULL);
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, none, 2, NULL, NULL, &b));
    cyxla_buffer_free(b);
    CHECK(alive());
}

static void null_buffers_that_crash(void)
{
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_buffer *out = NULL;
    const cyxla_buffer *inputs[] = {NULL, NULL};
    cyxla_call *call = NULL;

    CHECK_FAILS(cyxla_execute(e, inputs, 2, &out, 1), CYXLA_CODE_INVALID_ARGUMENT, "inputs[0]", "NULL");
    CHECK(out == NULL);
    CHECK_OK(cyxla_call_new(e, NULL, &call));
    CHECK_BLAMES(cyxla_call_bind(call, 0, 0, NULL), "buffer");
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "input 0", "not set");
    cyxla_call_free(call);
    cyxla_executable_free(e);
    CHECK(alive());
}

/* A view whose host wants no word when it is over. */
static void a_missing_release_function_that_aborts(void)
{
    float *memory = aligned_bytes(sizeof EIGHT, 0);

    memcpy(memory, EIGHT, sizeof EIGHT);
    for (int writable = 0; writable < 2; writable++) {
        cyxla_buffer *b = NULL;
        CHECK_OK(cyxla_buffer_view_host_strict(0, CYXLA_DTYPE_F32, DIMS_8, 1, memory, writable, NULL, NULL, &b));
        holds_8(b, EIGHT);
        cyxla_buffer_free(b);
    }
    free_aligned(memory, 0);
    CHECK(alive());
}

/* The plugin's buffer behind a donated one is destroyed once, whatever is freed first, and
 * so is that behind one that was handed to a call, copied and taken. */
static void a_second_destruction_that_crashes(void)
{
    static const float four[] = {1, 2, 3, 4};
    static const int64_t dims[] = {4};

    for (int i = 0; i < 4; i++) {
        cyxla_executable *e = compiled(DONATED_ADD_F32_4);
        cyxla_buffer *a = made(CYXLA_DTYPE_F32, dims, 1, four);
        cyxla_buffer *b = made(CYXLA_DTYPE_F32, dims, 1, four);
        const cyxla_buffer *inputs[] = {a, b};
        cyxla_buffer *out = NULL;
        cyxla_buffer *copy = NULL;
        cyxla_buffer *taken = NULL;
        cyxla_call *call = NULL;
        CHECK_OK(cyxla_buffer_copy_to(a, 0, NULL, &copy));
        CHECK_OK(cyxla_execute(e, inputs, 2, &out, 1));
        CHECK_OK(cyxla_call_new(e, NULL, &call));
        CHECK_OK(cyxla_call_bind(call, 0, 0, copy));
        CHECK_OK(cyxla_call_bind(call, 0, 1, b));
        CHECK_OK(cyxla_call_run(call));
        CHECK_OK(cyxla_call_take(call, 0, 0, &taken));
        cyxla_buffer_free(i & 1 ? a : out);
        cyxla_buffer_free(i & 2 ? copy : taken);
        cyxla_call_free(call);
        cyxla_buffer_free(i & 1 ? out : a);
        cyxla_buffer_free(i & 2 ? taken : copy);
        cyxla_buffer_free(b);
        cyxla_executable_free(e);
    }
    CHECK(alive());
}

/* --- they compute something else --- */

static void a_type_of_the_same_size_that_is_taken_for_another(void)
{
    static const cyxla_dtype types[] = {CYXLA_DTYPE_S32, CYXLA_DTYPE_U32};
    cyxla_executable *e = compiled(DOUBLE_F32_8);
    cyxla_buffer *out = NULL;
    cyxla_call *call = NULL;

    CHECK_OK(cyxla_call_new(e, NULL, &call));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        cyxla_buffer *a = made(types[i], DIMS_8, 1, EIGHT);
        CHECK_FAILS(execute_1(e, a, &out), CYXLA_CODE_INVALID_ARGUMENT, "argument 0", "f32[8]");
        CHECK_FAILS(cyxla_call_bind(call, 0, 0, a), CYXLA_CODE_INVALID_ARGUMENT, "input 0", "f32[8]");
        cyxla_buffer_free(a);
    }
    CHECK(out == NULL);
    cyxla_call_free(call);
    cyxla_executable_free(e);
    CHECK(alive());
}

static void dims_of_the_same_size_that_are_taken_for_others(void)
{
    cyxla_executable *e = compiled(DOUBLE_F32_8);
    cyxla_buffer *out = NULL;
    cyxla_call *call = NULL;
    cyxla_buffer *a = made(CYXLA_DTYPE_F32, DIMS_2_4, 2, EIGHT);

    CHECK_FAILS(execute_1(e, a, &out), CYXLA_CODE_INVALID_ARGUMENT, "argument 0", "f32[8]", "f32[2,4]");
    CHECK(out == NULL);
    CHECK_OK(cyxla_call_new(e, NULL, &call));
    CHECK_FAILS(cyxla_call_bind(call, 0, 0, a), CYXLA_CODE_INVALID_ARGUMENT, "input 0", "f32[8]", "f32[2,4]");
    cyxla_call_free(call);
    cyxla_buffer_free(a);
    cyxla_executable_free(e);
    CHECK(alive());
}

static const char COLUMN_MAJOR_2_4[] =
    "module @columns { func.func public @main(%a: tensor<2x4xf32>)\n"
    "    -> (tensor<2x4xf32> {mhlo.layout_mode = \"{0,1}\"}) {\n"
    "  %0 = stablehlo.add %a, %a : tensor<2x4xf32>\n"
    "  return %0 : tensor<2x4xf32> } }\n";

static const char DONATED_ADD_2_4[] =
    "module @donated_2_4 { func.func public @main(%a: tensor<2x4xf32> {tf.aliasing_output = 0 : i32},\n"
    "    %b: tensor<2x4xf32>) -> tensor<2x4xf32> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<2x4xf32>\n"
    "  return %0 : tensor<2x4xf32> } }\n";

static cyxla_buffer *in_columns(void)
{
    cyxla_executable *e = compiled(COLUMN_MAJOR_2_4);
    cyxla_buffer *a = made(CYXLA_DTYPE_F32, DIMS_2_4, 2, EIGHT);
    cyxla_buffer *out = NULL;

    CHECK_OK(execute_1(e, a, &out));
    CHECK(cyxla_buffer_data(out) == NULL); /* there is nothing row-major to show */
    cyxla_buffer_free(a);
    cyxla_executable_free(e);
    return out;
}

/* As an argument, donated or not, bound, copied, read. */
static void an_order_that_is_taken_for_row_major(void)
{
    static const float want[] = {0, 3, 6, 9, 12, 15, 18, 21};
    cyxla_executable *e = compiled(DONATED_ADD_2_4);
    cyxla_buffer *a = made(CYXLA_DTYPE_F32, DIMS_2_4, 2, EIGHT);

    for (int i = 0; e && i < 4; i++) {
        cyxla_buffer *columns = in_columns();
        cyxla_buffer *copy = NULL;
        cyxla_buffer *first = NULL;
        cyxla_buffer *out = NULL;
        cyxla_call *call = NULL;
        holds_8(columns, TWICE);
        CHECK_OK(cyxla_buffer_copy_to(columns, 0, i % 2 ? "pinned_host" : NULL, &copy));
        holds_8(copy, TWICE);
        CHECK_OK(cyxla_buffer_copy_to(a, 0, NULL, &first));
        const cyxla_buffer *inputs[] = {i < 2 ? first : columns, i < 2 ? columns : first};
        CHECK_OK(cyxla_execute(e, inputs, 2, &out, 1));
        CHECK(cyxla_buffer_is_donated(inputs[0]) && !cyxla_buffer_is_donated(inputs[1]));
        holds_8(out, want);
        if (i < 2 && CHECK_OK(cyxla_call_new(e, NULL, &call))) {
            memcpy(cyxla_call_input(call, 0, 0, NULL), EIGHT, sizeof EIGHT);
            CHECK_OK(cyxla_call_bind(call, 0, 1, columns));
            CHECK_OK(cyxla_call_run(call));
            CHECK_FLOATS(cyxla_call_output(call, 0, 0, NULL), want, 8);
        }
        cyxla_call_free(call);
        cyxla_buffer_free(columns);
        cyxla_buffer_free(copy);
        cyxla_buffer_free(first);
        cyxla_buffer_free(out);
    }
    cyxla_buffer_free(a);
    cyxla_executable_free(e);
}

static void contents_that_a_program_has_taken(void)
{
    static const float four[] = {1, 2, 3, 4};
    static const int64_t dims[] = {4};
    float back[4];
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);
    cyxla_buffer *a = made(CYXLA_DTYPE_F32, dims, 1, four);
    cyxla_buffer *b = made(CYXLA_DTYPE_F32, dims, 1, four);
    const cyxla_buffer *inputs[] = {a, b};
    const cyxla_buffer *swapped[] = {b, a};
    const cyxla_buffer *twice[] = {b, b};
    cyxla_buffer *out = NULL;
    cyxla_buffer *none = NULL;
    cyxla_call *call = NULL;

    CHECK_OK(cyxla_call_new(e, NULL, &call));
    CHECK_FAILS(cyxla_execute(e, twice, 2, &none, 1), CYXLA_CODE_INVALID_ARGUMENT, "argument 0", "donated");
    CHECK_OK(cyxla_execute(e, inputs, 2, &out, 1));
    CHECK(cyxla_buffer_is_donated(a));
    CHECK_FAILS(cyxla_buffer_to_host(a, back, sizeof back), CYXLA_CODE_FAILED_PRECONDITION, "donated");
    CHECK_FAILS(cyxla_buffer_wait(a), CYXLA_CODE_FAILED_PRECONDITION, "donated");
    CHECK_FAILS(cyxla_buffer_copy_to(a, 0, NULL, &none), CYXLA_CODE_FAILED_PRECONDITION, "donated");
    CHECK_FAILS(cyxla_execute(e, inputs, 2, &none, 1), CYXLA_CODE_FAILED_PRECONDITION, "argument 0", "donated");
    CHECK_FAILS(cyxla_execute(e, swapped, 2, &none, 1), CYXLA_CODE_FAILED_PRECONDITION, "argument 1", "donated");
    CHECK_FAILS(cyxla_call_bind(call, 0, 1, a), CYXLA_CODE_FAILED_PRECONDITION, "donated");
    CHECK(cyxla_buffer_data(a) == NULL && cyxla_buffer_memory_kind(a) == NULL);
    CHECK(none == NULL && !cyxla_buffer_is_donated(b));
    cyxla_call_free(call);
    cyxla_buffer_free(a);
    cyxla_buffer_free(b);
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
    CHECK(alive());
}

/* --- they do not wait --- */

#define SIDE 384

/* Ten products of matrices of ones, scaled back to ones: some tens of milliseconds. */
static const char SLOW[] =
    "module @slow { func.func public @main(%a: tensor<384x384xf32>) -> tensor<384x384xf32> {\n"
    "  %scale = stablehlo.constant dense<0.00260416674> : tensor<384x384xf32>\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "  %many = stablehlo.constant dense<40> : tensor<i32>\n"
    "  %0:2 = stablehlo.while(%x = %a, %i = %zero) : tensor<384x384xf32>, tensor<i32>\n"
    "   cond { %c = stablehlo.compare LT, %i, %many : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1> }\n"
    "   do { %p = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0]\n"
    "      : (tensor<384x384xf32>, tensor<384x384xf32>) -> tensor<384x384xf32>\n"
    "    %q = stablehlo.multiply %p, %scale : tensor<384x384xf32>\n"
    "    %j = stablehlo.add %i, %one : tensor<i32>\n"
    "    stablehlo.return %q, %j : tensor<384x384xf32>, tensor<i32> }\n"
    "  return %0#0 : tensor<384x384xf32> } }\n";

static bool near_one(const float *values, size_t count)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++)
        wrong += !(values[i] > 0.99f && values[i] < 1.01f);
    return CHECK_INT(wrong, 0);
}

/* In place, copied, copied to elsewhere, fed on: each at once, each time anew. */
static void an_address_that_comes_before_the_contents(void)
{
    static const int64_t dims[] = {SIDE, SIDE};
    static float ones[SIDE * SIDE];
    static float back[SIDE * SIDE];
    /* Left to the end of the process: a thread of the plugin may be the last to let go of it,
     * and one of PJRT 0.106 aborts if the process ends meanwhile. */
    static cyxla_executable *e;

    for (size_t i = 0; i < SIDE * SIDE; i++)
        ones[i] = 1;
    e = compiled(SLOW);
    cyxla_buffer *a = made(CYXLA_DTYPE_F32, dims, 2, ones);
    for (int i = 0; e && i < 8; i++) {
        cyxla_buffer *out = NULL;
        cyxla_buffer *other = NULL;
        CHECK_OK(execute_1(e, a, &out));
        if (i % 4 == 0) {
            near_one(cyxla_buffer_data(out), SIDE * SIDE);
        } else if (i % 4 == 1) {
            CHECK_OK(cyxla_buffer_to_host(out, back, sizeof back));
            near_one(back, SIDE * SIDE);
        } else {
            if (i % 4 == 2)
                CHECK_OK(cyxla_buffer_copy_to(out, 0, i < 4 ? "pinned_host" : NULL, &other));
            else
                CHECK_OK(execute_1(e, out, &other));
            near_one(cyxla_buffer_data(other), SIDE * SIDE);
        }
        cyxla_buffer_free(other);
        cyxla_buffer_free(out);
    }
    cyxla_buffer_free(a);
}

static void contents_that_come_late(void)
{
    for (int i = 0; i < 3; i++) {
        cyxla_executable *e = compiled(DOUBLE_F32_8);
        cyxla_buffer *a = made(CYXLA_DTYPE_F32, DIMS_8, 1, EIGHT);
        cyxla_buffer *out = NULL;
        cyxla_buffer *copy = NULL;
        CHECK_OK(execute_1(e, a, &out));
        if (i == 0)
            CHECK_FLOATS(cyxla_buffer_data(out), TWICE, 8);
        if (i == 1)
            holds_8(out, TWICE);
        CHECK_OK(cyxla_buffer_copy_to(out, 0, NULL, &copy));
        CHECK_FLOATS(cyxla_buffer_data(copy), TWICE, 8);
        cyxla_buffer_free(a);
        cyxla_buffer_free(out);
        cyxla_buffer_free(copy);
        cyxla_executable_free(e);
    }
}

/* The address of what failed leads to garbage. */
static void contents_that_never_come(void)
{
    float back[8];
    cyxla_executable *e = compiled(DOUBLE_F32_8);
    cyxla_buffer *a = made(CYXLA_DTYPE_F32, DIMS_8, 1, EIGHT);
    cyxla_buffer *out = NULL;

    CHECK_OK(execute_1(e, a, &out));
    CHECK(cyxla_buffer_data(out) == NULL);
    CHECK_FAILS(cyxla_buffer_wait(out), CYXLA_CODE_INTERNAL, "synthetic failure while running");
    CHECK_FAILS(cyxla_buffer_to_host(out, back, sizeof back), CYXLA_CODE_INTERNAL, "synthetic failure while running");
    cyxla_buffer_free(a);
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
}

static void results_that_are_read_early(void)
{
    if (on_fake_plugin()) {
        CHECK_CHILD("late", "CYXLA_FAKE_PLUGIN=works,always_async,delay_ms=50");
        CHECK_CHILD("never", "CYXLA_FAKE_PLUGIN=works,always_async,await_error,delay_ms=50");
    } else {
        CHECK_CHILD("slow", "CYXLA_OPTIONS=asynchronous=true");
    }
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"slow", an_address_that_comes_before_the_contents},
        {"late", contents_that_come_late},
        {"never", contents_that_never_come},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(element_types_that_abort);
    RUN(null_data_that_crashes);
    RUN(null_buffers_that_crash);
    RUN(a_missing_release_function_that_aborts);
    RUN(a_second_destruction_that_crashes);
    RUN(a_type_of_the_same_size_that_is_taken_for_another);
    RUN(dims_of_the_same_size_that_are_taken_for_others);
    if (!on_fake_plugin())
        RUN(an_order_that_is_taken_for_row_major);
    RUN(contents_that_a_program_has_taken);
    RUN(results_that_are_read_early);
    return test_end();
}
