/* Arrays whose elements lie apart: transposed, reversed, padded, repeated, overlapping.
 * Every element must be the one that the strides say. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

enum { MOST_DIMS = 6, ROOM = 1 << 16 };

struct array {
    cyxla_dtype dtype;
    size_t rank;
    int64_t dims[MOST_DIMS];
    int64_t strides[MOST_DIMS];
    const unsigned char *first; /* the element with index 0 everywhere */
};

/* Element types by their size in host memory; the last one is packed by devices. */
static const cyxla_dtype TYPES[] = {CYXLA_DTYPE_U8,  CYXLA_DTYPE_S16,  CYXLA_DTYPE_U32, CYXLA_DTYPE_S64,
                                    CYXLA_DTYPE_C64, CYXLA_DTYPE_C128, CYXLA_DTYPE_F16, CYXLA_DTYPE_U4};

/* The fake plugin has the first four. */
static size_t type_count(void)
{
    return on_fake_plugin() ? 4 : sizeof TYPES / sizeof *TYPES;
}

static size_t count_of(const struct array *a)
{
    size_t count = 1;

    for (size_t d = 0; d < a->rank; d++)
        count *= (size_t)a->dims[d];
    return count;
}

/* One element after the other, by the definition of strides. */
static void by_definition(const struct array *a, unsigned char *out)
{
    size_t element = cyxla_dtype_size(a->dtype);

    for (size_t n = 0; n < count_of(a); n++) {
        size_t rest = n;
        int64_t offset = 0;
        for (size_t d = a->rank; d-- > 0;) {
            if (a->dims[d] > 1)
                offset += (int64_t)(rest % (size_t)a->dims[d]) * a->strides[d];
            rest /= (size_t)a->dims[d];
        }
        memcpy(out + n * element, a->first + offset, element);
    }
}

static bool arrives(const struct array *a)
{
    size_t size = count_of(a) * cyxla_dtype_size(a->dtype);
    unsigned char *want = calloc(1, size + 1);
    unsigned char *got = calloc(1, size + 1);
    cyxla_buffer *b = NULL;

    if (!want || !got)
        abort();
    by_definition(a, want);
    bool same = CHECK_OK(cyxla_buffer_from_host(0, a->dtype, a->dims, a->rank, a->strides, a->first, &b)) &&
                CHECK_INT(cyxla_buffer_size(b), size) && CHECK_OK(cyxla_buffer_to_host(b, got, size)) &&
                CHECK_BYTES(got, want, size);
    for (size_t d = 0; !same && d < a->rank; d++)
        printf("dimension %zu: %lld elements, stride %lld\n", d, (long long)a->dims[d], (long long)a->strides[d]);
    cyxla_buffer_free(b);
    free(want);
    free(got);
    return same;
}

static unsigned char data[ROOM];

/* Values that every type has; those of four bits are below 16. */
static void fill(cyxla_dtype dtype)
{
    for (size_t i = 0; i < ROOM; i++)
        data[i] = (unsigned char)(dtype == CYXLA_DTYPE_U4 ? (i * 7 + i / 61) % 16 : i * 7 + i / 251);
}

static uint32_t random_state = 1;

static uint32_t below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 16) % limit;
}

static void swap(int64_t *a, int64_t *b)
{
    int64_t other = *a;

    *a = *b;
    *b = other;
}

/* An array inside `data`, with dimensions in any order, gaps, repetitions and reversals. */
static bool make_up(struct array *a, cyxla_dtype dtype)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 7, 8, 17};
    int64_t step = (int64_t)cyxla_dtype_size(dtype);
    int64_t start = 0;
    int64_t element = step;

    a->dtype = dtype;
    a->rank = below(MOST_DIMS);
    for (size_t d = 0; d < a->rank; d++) {
        a->dims[d] = sizes[below(sizeof sizes / sizeof *sizes)];
        a->strides[d] = below(8) == 0 ? 0 : below(8) == 0 ? element : step; /* repeated, overlapping */
        if (a->strides[d] == step)
            step *= a->dims[d] + (int64_t)below(2);
        if (step > ROOM / 2)
            return false;
    }
    for (size_t d = 1; d < a->rank; d++) {
        size_t other = below((uint32_t)d + 1);
        swap(&a->dims[d], &a->dims[other]);
        swap(&a->strides[d], &a->strides[other]);
    }
    for (size_t d = 0; d < a->rank; d++) {
        if (a->dims[d] == 1)
            a->strides[d] = below(2) ? INT64_MIN : 12345678901234567;
        else if (below(3) == 0) {
            start += a->strides[d] * (a->dims[d] - 1);
            a->strides[d] = -a->strides[d];
        }
    }
    a->first = data + start;
    return true;
}

static void all_kinds_of_every_size(void)
{
    for (size_t t = 0; t < type_count(); t++) {
        fill(TYPES[t]);
        for (int i = 0; i < (on_fake_plugin() ? 100 : 500); i++) {
            struct array a = {0};
            if (make_up(&a, TYPES[t]) && !arrives(&a))
                return;
        }
    }
}

/* Larger than the squares in which elements are taken, and no multiple of them. */
static void large_ones_transposed(void)
{
    for (size_t t = 0; t < type_count(); t++) {
        int64_t element = (int64_t)cyxla_dtype_size(TYPES[t]);
        struct array matrix = {TYPES[t], 2, {67, 61}, {element, 67 * element}, data};
        struct array rows = {TYPES[t], 2, {31, 65}, {66 * element, element}, data};
        struct array turned = {TYPES[t], 3, {3, 37, 35}, {element, 35 * 3 * element, 3 * element}, data};
        struct array inside = {TYPES[t], 4, {2, 3, 35, 19}, {1995 * element, element, 57 * element, 3 * element}, data};
        fill(TYPES[t]);
        CHECK(arrives(&matrix) && arrives(&rows) && arrives(&turned) && arrives(&inside));
    }
}

static void where_there_is_nothing_to_step_to_strides_are_ignored(void)
{
    struct array ones = {CYXLA_DTYPE_U32, 3, {1, 4, 1}, {INT64_MIN, 4, 3}, data};
    struct array scalar = {CYXLA_DTYPE_U32, 0, {0}, {0}, data};
    struct array empty = {CYXLA_DTYPE_U32, 3, {5, 0, 7}, {INT64_MAX, 1, INT64_MIN}, NULL};
    struct array all_ones = {CYXLA_DTYPE_U32, 4, {1, 1, 1, 1}, {-1, INT64_MAX, INT64_MIN, 2}, data};

    fill(CYXLA_DTYPE_U32);
    CHECK(arrives(&ones));
    CHECK(arrives(&scalar));
    CHECK(arrives(&empty));
    CHECK(arrives(&all_ones));
}

/* A few bytes stand for more elements than there is memory; dimensions do not multiply. */
static void repeated_without_end_is_an_error(void)
{
    static const int64_t dims[] = {1 << 30, 1 << 30};
    static const int64_t strides[] = {0, 0};
    int64_t many_dims[64];
    int64_t many_strides[64];
    cyxla_buffer *b = NULL;

    CHECK_FAILS(cyxla_buffer_from_host(0, CYXLA_DTYPE_U8, dims, 2, strides, data, &b), CYXLA_CODE_RESOURCE_EXHAUSTED,
                "1152921504606846976 bytes");
    for (size_t i = 0; i < 64; i++) {
        many_dims[i] = 2;
        many_strides[i] = 0;
    }
    CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_U8, many_dims, 64, many_strides, data, &b), "dims");
    CHECK(b == NULL);
    /* Sixty-four dimensions of one cost what one does. */
    for (size_t i = 0; i < 64; i++)
        many_dims[i] = 1;
    if (CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_U8, many_dims, 64, many_strides, data, &b)))
        cyxla_buffer_free(b);
    CHECK(alive());
}

static void bad_strides_are_named(void)
{
    static const int64_t dims[] = {2, 3};
    static const int64_t far[] = {INT64_MAX - 3, 4};
    static const int64_t both[] = {INT64_MAX / 2 + 1, INT64_MAX / 4 + 1};
    static const int64_t odd[] = {12, 2};
    cyxla_buffer *b = NULL;

    CHECK_FAILS(cyxla_buffer_from_host(0, CYXLA_DTYPE_U32, dims, 2, far, data, &b), CYXLA_CODE_INVALID_ARGUMENT,
                "dimension 0", "out of memory");
    CHECK_FAILS(cyxla_buffer_from_host(0, CYXLA_DTYPE_U32, dims, 2, both, data, &b), CYXLA_CODE_INVALID_ARGUMENT,
                "dimension 1", "out of memory");
    CHECK_FAILS(cyxla_buffer_from_host(0, CYXLA_DTYPE_U32, dims, 2, odd, data, &b), CYXLA_CODE_INVALID_ARGUMENT,
                "dimension 1 is 2 bytes", "4");
    CHECK(b == NULL);
}

/* Booleans are looked at where the strides say, not in between. */
static void booleans_are_checked_where_they_lie(void)
{
    static const unsigned char bytes[] = {1, 7, 0, 7, 1, 7};
    static const int64_t dims[] = {3};
    static const int64_t two[] = {2};
    static const int64_t one[] = {1};
    cyxla_buffer *b = NULL;

    CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_PRED, dims, 1, one, bytes, &b), "data");
    struct array a = {CYXLA_DTYPE_PRED, 1, {3}, {2}, bytes};
    CHECK(arrives(&a));
    CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_PRED, dims, 1, two, bytes + 1, &b), "data");
    CHECK(b == NULL);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(all_kinds_of_every_size);
    RUN(large_ones_transposed);
    RUN(where_there_is_nothing_to_step_to_strides_are_ignored);
    RUN(repeated_without_end_is_an_error);
    RUN(bad_strides_are_named);
    RUN(booleans_are_checked_where_they_lie);
    return test_end();
}
