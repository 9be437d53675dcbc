#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

static const float FOUR[] = {1, 2, 3, 4};
static const int64_t DIMS_4[] = {4};
static const int64_t DIMS_2_3[] = {2, 3};

static cyxla_buffer *made(cyxla_dtype dtype, const int64_t *dims, size_t rank, const void *data)
{
    cyxla_buffer *buffer = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, dtype, dims, rank, NULL, data, &buffer));
    return buffer;
}

static void host_memory_is_copied_in_and_out(void)
{
    float data[4];
    float back[4] = {0};
    size_t rank = 99;
    memcpy(data, FOUR, sizeof data);
    cyxla_buffer *b = made(CYXLA_DTYPE_F32, DIMS_4, 1, data);

    if (!b)
        return;
    memset(data, 0, sizeof data);
    CHECK_INT(cyxla_buffer_dtype(b), CYXLA_DTYPE_F32);
    const int64_t *dims = cyxla_buffer_dims(b, &rank);
    if (CHECK_INT(rank, 1) && CHECK(dims != NULL))
        CHECK_INT(dims[0], 4);
    CHECK(cyxla_buffer_dims(b, NULL) == dims);
    CHECK_INT(cyxla_buffer_size(b), 16);
    CHECK_INT(cyxla_buffer_device(b), 0);
    CHECK(!cyxla_buffer_is_view(b));
    CHECK(!cyxla_buffer_is_donated(b));
    CHECK_OK(cyxla_buffer_wait(b));
    CHECK_OK(cyxla_buffer_to_host(b, back, sizeof back));
    CHECK_FLOATS(back, FOUR, 4);
    const float *in_place = cyxla_buffer_data(b);
    if (CHECK(in_place != NULL))
        CHECK_FLOATS(in_place, FOUR, 4);
    cyxla_buffer_free(b);
}

static void scalars_and_empty_arrays(void)
{
    static const int64_t none[] = {3, 0, 4};
    const double pi = 3.25;
    double back = 0;
    size_t rank = 99;
    cyxla_buffer *scalar = made(CYXLA_DTYPE_F64, NULL, 0, &pi);
    cyxla_buffer *empty = made(CYXLA_DTYPE_F32, none, 3, NULL);

    cyxla_buffer_dims(scalar, &rank);
    CHECK_INT(rank, 0);
    CHECK_INT(cyxla_buffer_size(scalar), 8);
    CHECK_OK(cyxla_buffer_to_host(scalar, &back, sizeof back));
    CHECK_BYTES(&back, &pi, sizeof pi);
    cyxla_buffer_dims(empty, &rank);
    CHECK_INT(rank, 3);
    CHECK_INT(cyxla_buffer_size(empty), 0);
    CHECK_OK(cyxla_buffer_to_host(empty, NULL, 0));
    cyxla_buffer_free(scalar);
    cyxla_buffer_free(empty);
}

/* Reads a [2,3] buffer of s32 and compares. */
static void check_2_3(cyxla_buffer *b, const int32_t *want)
{
    int32_t back[6] = {0};

    if (!b)
        return;
    CHECK_OK(cyxla_buffer_to_host(b, back, sizeof back));
    CHECK_BYTES(back, want, sizeof back);
    cyxla_buffer_free(b);
}

static void strides_say_where_the_elements_lie(void)
{
    static const int32_t want[] = {0, 1, 2, 3, 4, 5};
    static const int32_t columns[] = {0, 3, 1, 4, 2, 5};
    static const int32_t padded[] = {0, 1, 2, 99, 3, 4, 5, 99};
    static const int32_t reversed[] = {5, 4, 3, 2, 1, 0};
    static const int32_t repeated[] = {7, 8, 9};
    static const int32_t want_repeated[] = {7, 8, 9, 7, 8, 9};
    cyxla_buffer *b = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_S32, DIMS_2_3, 2, (const int64_t[]){12, 4}, want, &b));
    check_2_3(b, want);
    b = NULL;
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_S32, DIMS_2_3, 2, (const int64_t[]){4, 8}, columns, &b));
    check_2_3(b, want);
    b = NULL;
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_S32, DIMS_2_3, 2, (const int64_t[]){16, 4}, padded, &b));
    check_2_3(b, want);
    b = NULL;
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_S32, DIMS_2_3, 2, (const int64_t[]){-12, -4}, reversed + 5, &b));
    check_2_3(b, want);
    b = NULL;
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_S32, DIMS_2_3, 2, (const int64_t[]){0, 4}, repeated, &b));
    check_2_3(b, want_repeated);
}

static void strides_that_fit_no_element_are_refused(void)
{
    const int32_t data[16] = {0};
    static const int64_t bad[][2] = {{12, 3}, {13, 4}, {12, 1}, {-12, -2}, {INT64_MAX, 4}, {INT64_MIN, 4}, {12, INT64_MAX}};
    cyxla_buffer *b = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_S32, DIMS_2_3, 2, bad[i], data, &b), "byte_strides");
        CHECK(alive());
    }
    CHECK(b == NULL);
}

static void bad_types_and_dims_are_refused(void)
{
    static const cyxla_dtype strangers[] = {0, CYXLA_DTYPE_TOKEN, 34, 99, -1, INT_MAX, INT_MIN};
    static const int64_t bad[][2] = {{-1, 3}, {2, -3}, {INT64_MIN, 1}, {INT64_MAX, 2}, {INT64_MAX, INT64_MAX},
                                     {1LL << 62, 4}, {1LL << 32, 1LL << 32}};
    int64_t ones[100];
    const float data[8] = {0};
    cyxla_buffer *b = NULL;

    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        CHECK_BLAMES(cyxla_buffer_from_host(0, strangers[i], DIMS_4, 1, NULL, data, &b), "dtype");
        CHECK(alive());
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, bad[i], 2, NULL, data, &b), "dims");
        CHECK(alive());
    }
    for (size_t i = 0; i < 100; i++)
        ones[i] = 1;
    CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, ones, 100, NULL, data, &b), "rank");
    CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, ones, SIZE_MAX, NULL, data, &b), "rank");
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, ones, 8, NULL, data, &b));
    cyxla_buffer_free(b);
    CHECK(alive());
}

static void null_and_missing_things_are_named(void)
{
    float data[4] = {0};
    cyxla_buffer *b = NULL;

    CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, NULL, &b), "data");
    CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, NULL, 1, NULL, data, &b), "dims");
    CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, data, NULL), "out");
    CHECK_BLAMES(cyxla_buffer_from_host(1, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, data, &b), "device");
    CHECK_BLAMES(cyxla_buffer_from_host(SIZE_MAX, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, data, &b), "device");
    CHECK_BLAMES(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, false, NULL, NULL, &b), "data");
    CHECK_BLAMES(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, NULL, 1, data, false, NULL, NULL, &b), "dims");
    CHECK_BLAMES(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, data, false, NULL, NULL, NULL), "out");
    CHECK_BLAMES(cyxla_buffer_view_host(9, CYXLA_DTYPE_F32, DIMS_4, 1, data, false, NULL, NULL, &b), "device");
    CHECK_BLAMES(cyxla_buffer_view_host(0, 99, DIMS_4, 1, data, false, NULL, NULL, &b), "dtype");
    CHECK(b == NULL);
    CHECK_BLAMES(cyxla_buffer_to_host(NULL, data, 16), "buffer");
    CHECK_BLAMES(cyxla_buffer_wait(NULL), "buffer");
    CHECK_INT(cyxla_buffer_dtype(NULL), CYXLA_DTYPE_INVALID);
    CHECK(cyxla_buffer_dims(NULL, NULL) == NULL);
    CHECK_INT(cyxla_buffer_size(NULL), 0);
    CHECK(cyxla_buffer_data(NULL) == NULL);
    CHECK(!cyxla_buffer_is_view(NULL));
    CHECK(!cyxla_buffer_is_donated(NULL));
    cyxla_buffer_free(NULL);
    CHECK(alive());
}

static void reading_needs_the_right_size(void)
{
    static const size_t wrong[] = {0, 15, 17, 1000, SIZE_MAX};
    float back[300] = {7};
    cyxla_buffer *b = made(CYXLA_DTYPE_F32, DIMS_4, 1, FOUR);

    for (size_t i = 0; b && i < 5; i++)
        CHECK_FAILS(cyxla_buffer_to_host(b, back, wrong[i]), CYXLA_CODE_INVALID_ARGUMENT, "16");
    CHECK_BLAMES(cyxla_buffer_to_host(b, back, 15), "size");
    CHECK_BLAMES(cyxla_buffer_to_host(b, NULL, 16), "data");
    CHECK(back[0] >= 7);
    CHECK(alive());
    cyxla_buffer_free(b);
}

/* --- views of the host's memory --- */

static void a_view_uses_the_memory_in_place(void)
{
    int released = 0;
    float *memory = aligned_bytes(16, 0);
    cyxla_buffer *b = NULL;

    memcpy(memory, FOUR, sizeof FOUR);
    CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, memory, false, count_release, &released, &b));
    if (b) {
        CHECK(cyxla_buffer_is_view(b));
        CHECK(cyxla_buffer_data(b) == memory);
        CHECK_INT(released, 0);
        cyxla_buffer_free(b);
    }
    CHECK(released_once(&released));
    free_aligned(memory, 0);
}

static void a_release_function_is_optional(void)
{
    float *memory = aligned_bytes(16, 0);
    cyxla_buffer *b = NULL;

    CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, memory, true, NULL, NULL, &b));
    cyxla_buffer_free(b);
    free_aligned(memory, 0);
}

static void a_failed_view_releases_nothing(void)
{
    int released = 0;
    float memory[4] = {0};
    cyxla_buffer *b = NULL;

    CHECK_FAILS(cyxla_buffer_view_host(7, CYXLA_DTYPE_F32, DIMS_4, 1, memory, false, count_release, &released, &b),
                CYXLA_CODE_INVALID_ARGUMENT, "device");
    CHECK_FAILS(cyxla_buffer_view_host(0, 99, DIMS_4, 1, memory, false, count_release, &released, &b),
                CYXLA_CODE_INVALID_ARGUMENT, "99");
    CHECK(b == NULL);
    CHECK_INT(released, 0);
}

static void an_empty_view_is_released_once(void)
{
    static const int64_t none[] = {0, 2};
    int released = 0;
    cyxla_buffer *b = NULL;

    CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, none, 2, NULL, false, count_release, &released, &b));
    cyxla_buffer_free(b);
    CHECK(released_once(&released));
}

/* --- programs on buffers --- */

static cyxla_error *add(const cyxla_executable *e, const cyxla_buffer *a, const cyxla_buffer *b, cyxla_buffer **out)
{
    const cyxla_buffer *inputs[] = {a, b};

    return cyxla_execute(e, inputs, 2, out, 1);
}

static void buffers_go_in_and_come_out(void)
{
    static const float want[] = {2, 4, 6, 8};
    static const float want_again[] = {4, 8, 12, 16};
    float back[4] = {0};
    size_t rank = 0;
    cyxla_buffer *once = NULL;
    cyxla_buffer *twice = NULL;
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_buffer *a = made(CYXLA_DTYPE_F32, DIMS_4, 1, FOUR);

    if (e && CHECK_OK(add(e, a, a, &once)) && CHECK_OK(add(e, once, once, &twice))) {
        CHECK_INT(cyxla_buffer_dtype(once), CYXLA_DTYPE_F32);
        CHECK(cyxla_buffer_dims(once, &rank)[0] == 4 && rank == 1);
        CHECK_OK(cyxla_buffer_wait(once));
        CHECK_OK(cyxla_buffer_to_host(once, back, sizeof back));
        CHECK_FLOATS(back, want, 4);
        CHECK_OK(cyxla_buffer_to_host(twice, back, sizeof back));
        CHECK_FLOATS(back, want_again, 4);
        CHECK_OK(cyxla_buffer_to_host(a, back, sizeof back));
        CHECK_FLOATS(back, FOUR, 4);
        const float *in_place = cyxla_buffer_data(twice);
        if (CHECK(in_place != NULL))
            CHECK_FLOATS(in_place, want_again, 4);
    }
    cyxla_buffer_free(a);
    cyxla_buffer_free(once);
    cyxla_buffer_free(twice);
    cyxla_executable_free(e);
}

static void wrong_arguments_are_named(void)
{
    static const int64_t dims_2_2[] = {2, 2};
    const int32_t numbers[4] = {0};
    cyxla_buffer *out = NULL;
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_buffer *good = made(CYXLA_DTYPE_F32, DIMS_4, 1, FOUR);
    cyxla_buffer *shape = made(CYXLA_DTYPE_F32, dims_2_2, 2, FOUR);
    cyxla_buffer *type = made(CYXLA_DTYPE_S32, DIMS_4, 1, numbers);
    const cyxla_buffer *three[] = {good, good, good};

    if (!e)
        return;
    CHECK_FAILS(add(e, good, shape, &out), CYXLA_CODE_INVALID_ARGUMENT, "argument 1", "f32[4]", "f32[2,2]");
    CHECK_FAILS(add(e, type, good, &out), CYXLA_CODE_INVALID_ARGUMENT, "argument 0", "f32[4]", "s32[4]");
    CHECK_FAILS(add(e, good, NULL, &out), CYXLA_CODE_INVALID_ARGUMENT, "inputs[1]", "NULL");
    CHECK_FAILS(cyxla_execute(e, three, 3, &out, 1), CYXLA_CODE_INVALID_ARGUMENT, "expects 2 arguments", "got 3");
    CHECK_FAILS(cyxla_execute(e, three, 1, &out, 1), CYXLA_CODE_INVALID_ARGUMENT, "expects 2 arguments", "got 1");
    CHECK_FAILS(cyxla_execute(e, three, 2, &out, 0), CYXLA_CODE_INVALID_ARGUMENT, "1 result", "got 0");
    CHECK_BLAMES(cyxla_execute(NULL, three, 2, &out, 1), "executable");
    CHECK_BLAMES(cyxla_execute(e, NULL, 2, &out, 1), "inputs");
    CHECK_BLAMES(cyxla_execute(e, three, 2, NULL, 1), "outputs");
    CHECK(out == NULL);
    CHECK(alive());
    cyxla_buffer_free(good);
    cyxla_buffer_free(shape);
    cyxla_buffer_free(type);
    cyxla_executable_free(e);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(host_memory_is_copied_in_and_out);
    RUN(scalars_and_empty_arrays);
    RUN(strides_say_where_the_elements_lie);
    RUN(strides_that_fit_no_element_are_refused);
    RUN(bad_types_and_dims_are_refused);
    RUN(null_and_missing_things_are_named);
    RUN(reading_needs_the_right_size);
    RUN(a_view_uses_the_memory_in_place);
    RUN(a_release_function_is_optional);
    RUN(a_failed_view_releases_nothing);
    RUN(an_empty_view_is_released_once);
    RUN(buffers_go_in_and_come_out);
    RUN(wrong_arguments_are_named);
    return test_end();
}
