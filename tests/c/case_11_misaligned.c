/* Plugins use memory in place only where it is aligned to 64 bytes, and copy it
 * without a word elsewhere. The result is right either way, and the caller is told. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)i / 8;
        doubled[i] = (float)i / 4;
    }
    RUN(run_takes_memory_as_it_is);
    RUN(a_view_tells_whether_it_is_one);
    return test_end();
}
