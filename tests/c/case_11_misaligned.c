/* Plugins use memory in place only where it is aligned to 64 bytes, and copy it
 * without a word elsewhere. The result is right either way, and the caller is told, or
 * refused if it wants no copy. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "support.h"
#include "test.h"

#define COUNT 1000

static const char PROGRAM[] =
    "module { func.func public @main(%a: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>) {\n"
    "  %0 = stablehlo.add %a, %a : tensor<1000xf32>\n"
    "  return %0, %0 : tensor<1000xf32>, tensor<1000xf32> } }\n";

static const size_t OFFSETS[] = {0, 1, 4, 16, 32, 60, 64};
#define OFFSET_COUNT (sizeof OFFSETS / sizeof *OFFSETS)

static float values[COUNT];
static float doubled[COUNT];

static void run_takes_memory_as_it_is(void)
{
    cyxla_executable *e = compiled(PROGRAM);

    for (size_t i = 0; e && i < OFFSET_COUNT; i++) {
        void *in = aligned_bytes(sizeof values, OFFSETS[i]);
        void *first = aligned_bytes(sizeof values, OFFSETS[OFFSET_COUNT - 1 - i]);
        void *second = aligned_bytes(sizeof values, 3);
        memcpy(in, values, sizeof values);
        const void *inputs[] = {in};
        void *outputs[] = {first, second};
        const size_t sizes[] = {sizeof values, sizeof values};
        CHECK_OK(cyxla_run(e, inputs, sizes, 1, outputs, sizes, 2));
        CHECK_BYTES(first, doubled, sizeof doubled);
        CHECK_BYTES(second, doubled, sizeof doubled);
        free_aligned(in, OFFSETS[i]);
        free_aligned(first, OFFSETS[OFFSET_COUNT - 1 - i]);
        free_aligned(second, 3);
    }
    cyxla_executable_free(e);
}

static void a_view_tells_whether_it_is_one(void)
{
    static const int64_t dims[] = {COUNT};
    cyxla_executable *e = compiled(PROGRAM);

    for (size_t i = 0; e && i < OFFSET_COUNT; i++) {
        int released = 0;
        bool aligned = OFFSETS[i] % 64 == 0;
        char *memory = aligned_bytes(sizeof values, OFFSETS[i]);
        cyxla_buffer *view = NULL;
        cyxla_buffer *results[2] = {NULL, NULL};
        float *back = malloc(sizeof values);
        memcpy(memory, values, sizeof values);
        CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, dims, 1, memory, false, count_release, &released, &view));
        CHECK_INT(cyxla_buffer_is_view(view), aligned);
        CHECK((cyxla_buffer_data(view) == memory) == aligned);
        if (aligned)
            CHECK_INT(released, 0);
        const cyxla_buffer *inputs[] = {view};
        if (CHECK_OK(cyxla_execute(e, inputs, 1, results, 2))) {
            CHECK_OK(cyxla_buffer_to_host(results[1], back, sizeof values));
            CHECK_BYTES(back, doubled, sizeof doubled);
        }
        cyxla_buffer_free(results[0]);
        cyxla_buffer_free(results[1]);
        cyxla_buffer_free(view);
        CHECK(released_once(&released));
        free(back);
        free_aligned(memory, OFFSETS[i]);
    }
    cyxla_executable_free(e);
}

/* What the case gives: the array itself and its sum, from wherever it lies. */
static void the_case_is_exact(void)
{
    float sum = 0;
    float *same = malloc(sizeof values);
    cyxla_executable *e =
        compiled("module { func.func public @main(%a: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<f32>) {\n"
                 "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
                 "  %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0]\n"
                 "      : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>\n"
                 "  return %a, %s : tensor<1000xf32>, tensor<f32> } }\n");

    for (size_t i = 0; e && i < OFFSET_COUNT; i++) {
        float want = 0;
        void *in = aligned_bytes(sizeof values, OFFSETS[i]);
        memcpy(in, values, sizeof values);
        for (size_t j = 0; j < COUNT; j++)
            want += values[j];
        const void *inputs[] = {in};
        const size_t input_size = sizeof values;
        void *outputs[] = {same, &sum};
        const size_t output_sizes[] = {sizeof values, sizeof sum};
        CHECK_OK(cyxla_run(e, inputs, &input_size, 1, outputs, output_sizes, 2));
        CHECK_BYTES(same, values, sizeof values);
        CHECK_FLOATS(&sum, &want, 1);
        free_aligned(in, OFFSETS[i]);
    }
    free(same);
    cyxla_executable_free(e);
}

/* --- no copy, or an error --- */

static cyxla_error *view_strictly(cyxla_dtype dtype, const int64_t *dims, size_t rank, void *memory, int *released,
                                  cyxla_buffer **out)
{
    return cyxla_buffer_view_host_strict(0, dtype, dims, rank, memory, true, count_release, released, out);
}

static void a_strict_view_is_one_or_an_error(void)
{
    static const int64_t dims[] = {COUNT};
    cyxla_executable *e = compiled(PROGRAM);

    for (size_t i = 0; e && i < OFFSET_COUNT; i++) {
        char past[40];
        int released = 0;
        char *memory = aligned_bytes(sizeof values, OFFSETS[i]);
        cyxla_buffer *view = NULL;
        cyxla_buffer *results[2] = {NULL, NULL};
        memcpy(memory, values, sizeof values);
        cyxla_error *error = view_strictly(CYXLA_DTYPE_F32, dims, 1, memory, &released, &view);
        if (OFFSETS[i] % 64 != 0) {
            snprintf(past, sizeof past, " is %zu bytes past", OFFSETS[i] % 64);
            CHECK_FAILS(error, CYXLA_CODE_INVALID_ARGUMENT, "needs 64-byte alignment", past, "aligned_alloc");
            CHECK(view == NULL);
            CHECK_INT(released, 0);
            free_aligned(memory, OFFSETS[i]);
            continue;
        }
        if (CHECK_OK(error)) {
            const cyxla_buffer *inputs[] = {view};
            CHECK(cyxla_buffer_is_view(view));
            CHECK(cyxla_buffer_data(view) == memory);
            CHECK_OK(cyxla_execute(e, inputs, 1, results, 2));
            CHECK_BYTES(cyxla_buffer_data(results[0]), doubled, sizeof doubled);
            CHECK_INT(released, 0);
        }
        cyxla_buffer_free(results[0]);
        cyxla_buffer_free(results[1]);
        cyxla_buffer_free(view);
        CHECK(released_once(&released));
        free_aligned(memory, OFFSETS[i]);
    }
    cyxla_executable_free(e);
}

static void all_that_is_no_view_is_refused(void)
{
    static const int64_t dims[] = {8};
    static const int64_t none[] = {4, 0};
    static const cyxla_dtype packed[] = {CYXLA_DTYPE_S4, CYXLA_DTYPE_U4, CYXLA_DTYPE_S2, CYXLA_DTYPE_U2};
    int released = 0;
    char *memory = aligned_bytes(64, 0);
    cyxla_buffer *view = NULL;

    memset(memory, 0, 64);
    CHECK_FAILS(view_strictly(CYXLA_DTYPE_PRED, dims, 1, memory, &released, &view), CYXLA_CODE_INVALID_ARGUMENT, "pred",
                "cannot be used in place");
    for (size_t i = 0; i < 4; i++) {
        CHECK_FAILS(view_strictly(packed[i], dims, 1, memory, &released, &view), CYXLA_CODE_INVALID_ARGUMENT,
                    cyxla_dtype_name(packed[i]), "cannot be used in place");
    }
    CHECK_FAILS(view_strictly(CYXLA_DTYPE_F32, none, 2, NULL, &released, &view), CYXLA_CODE_INVALID_ARGUMENT,
                "f32[4,0]", "no elements");
    CHECK_BLAMES(cyxla_buffer_view_host_strict(0, CYXLA_DTYPE_F32, dims, 1, memory + 4, false, NULL, NULL, &view),
                 "data");
    CHECK_BLAMES(cyxla_buffer_view_host_strict(0, CYXLA_DTYPE_F32, dims, 1, NULL, false, NULL, NULL, &view),
                 "data");
    CHECK_BLAMES(cyxla_buffer_view_host_strict(0, CYXLA_DTYPE_F32, NULL, 1, memory, false, NULL, NULL, &view),
                 "dims");
    CHECK_BLAMES(cyxla_buffer_view_host_strict(0, 99, dims, 1, memory, false, NULL, NULL, &view),
                 "dtype");
    CHECK_BLAMES(cyxla_buffer_view_host_strict(0, CYXLA_DTYPE_F32, dims, 1, memory, false, NULL, NULL, NULL),
                 "out");
    CHECK_BLAMES(cyxla_buffer_view_host_strict(7, CYXLA_DTYPE_F32, dims, 1, memory, false, NULL, NULL, &view),
                 "device");
    CHECK(view == NULL);
    CHECK_INT(released, 0);
    CHECK_OK(cyxla_buffer_view_host_strict(0, CYXLA_DTYPE_F32, NULL, 0, memory, false, NULL, NULL, &view));
    CHECK(cyxla_buffer_is_view(view));
    cyxla_buffer_free(view);
    free_aligned(memory, 0);
}

static void a_plugin_that_copies_is_refused(void)
{
    static const int64_t dims[] = {8};
    int released = 0;
    char *memory = aligned_bytes(64, 0);
    cyxla_buffer *view = NULL;

    memset(memory, 0, 64);
    CHECK_FAILS(view_strictly(CYXLA_DTYPE_F32, dims, 1, memory, &released, &view), CYXLA_CODE_UNIMPLEMENTED,
                "the plugin copied the memory");
    CHECK(view == NULL);
    CHECK_INT(released, 0);
    CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, dims, 1, memory, true, count_release, &released, &view));
    CHECK(!cyxla_buffer_is_view(view));
    CHECK(released_once(&released));
    cyxla_buffer_free(view);
    free_aligned(memory, 0);
}

static void memory_that_is_not_the_host_s_is_refused(void)
{
    static const int64_t dims[] = {8};
    int released = 0;
    char *memory = aligned_bytes(64, 0);
    cyxla_buffer *view = NULL;

    memset(memory, 0, 64);
    CHECK_FAILS(view_strictly(CYXLA_DTYPE_F32, dims, 1, memory, &released, &view), CYXLA_CODE_INVALID_ARGUMENT,
                "a device of cuda is not the host's");
    CHECK(view == NULL);
    CHECK_INT(released, 0);
    free_aligned(memory, 0);
}

static void other_plugins_are_no_exception(void)
{
    CHECK_CHILD("copying", "CYXLA_FAKE_PLUGIN=works,copy_views");
    CHECK_CHILD("elsewhere", "CYXLA_FAKE_PLUGIN=works,platform=cuda,lenient");
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"copying", a_plugin_that_copies_is_refused},
        {"elsewhere", memory_that_is_not_the_host_s_is_refused},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)i / 8;
        doubled[i] = (float)i / 4;
    }
    RUN(run_takes_memory_as_it_is);
    RUN(a_view_tells_whether_it_is_one);
    RUN(a_strict_view_is_one_or_an_error);
    RUN(all_that_is_no_view_is_refused);
    if (on_fake_plugin())
        RUN(other_plugins_are_no_exception);
    else
        RUN(the_case_is_exact); /* the fake plugin cannot sum */
    return test_end();
}
