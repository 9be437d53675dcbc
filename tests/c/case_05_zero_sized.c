/* Arrays with no elements take no memory: NULL stands for it, going in and out. */
#include <stdint.h>

#include "corpus.h"
#include "support.h"
#include "test.h"

static const char PROGRAM[] =
    "module @zero_sized { func.func public @main(%x: tensor<3x0x4xf32>, %y: tensor<2x2xf32>)\n"
    "    -> (tensor<3x0x4xf32>, tensor<3x4xf32>, tensor<2x2xf32>, tensor<f32>) {\n"
    "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %0 = stablehlo.add %x, %x : tensor<3x0x4xf32>\n"
    "  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]\n"
    "      : (tensor<3x0x4xf32>, tensor<f32>) -> tensor<3x4xf32>\n"
    "  %2 = stablehlo.constant dense<> : tensor<0x2xf32>\n"
    "  %3 = stablehlo.concatenate %y, %2, dim = 0 : (tensor<2x2xf32>, tensor<0x2xf32>) -> tensor<2x2xf32>\n"
    "  %4 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1]\n"
    "      : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>\n"
    "  return %0, %1, %3, %4 : tensor<3x0x4xf32>, tensor<3x4xf32>, tensor<2x2xf32>, tensor<f32> } }\n";

static const float Y[] = {0, 1, 2, 3};
static const float ZEROS[12] = {0};
static const float SUM = 6;

static void run(const cyxla_executable *e, const void *nothing_in, void *nothing_out)
{
    float zeros[12];
    float same[4] = {0};
    float sum = 0;
    const void *inputs[] = {nothing_in, Y};
    const size_t input_sizes[] = {0, sizeof Y};
    void *outputs[] = {nothing_out, zeros, same, &sum};
    const size_t output_sizes[] = {0, sizeof zeros, sizeof same, sizeof sum};

    for (size_t i = 0; i < 12; i++)
        zeros[i] = 9;
    if (e && CHECK_OK(cyxla_run(e, inputs, input_sizes, 2, outputs, output_sizes, 4))) {
        CHECK_FLOATS(zeros, ZEROS, 12);
        CHECK_FLOATS(same, Y, 4);
        CHECK_FLOATS(&sum, &SUM, 1);
    }
}

static void in_host_memory(const void *nothing_in, void *nothing_out)
{
    cyxla_executable *e = compiled(PROGRAM);

    run(e, nothing_in, nothing_out);
    cyxla_executable_free(e);
}

/* The same function, as JAX exports it. */
static void in_exports(void)
{
    for (size_t i = 0; i < CORPUS_VERSION_COUNT; i++) {
        cyxla_executable *e = corpus_compiled(CORPUS_VERSIONS[i], "zero_sized");
        CHECK_INT(cyxla_executable_input_size(e, 0), 0);
        CHECK_INT(cyxla_executable_output_size(e, 0), 0);
        run(e, NULL, NULL);
        cyxla_executable_free(e);
    }
}

static void null_stands_for_no_memory(void)
{
    in_host_memory(NULL, NULL);
}

static void a_pointer_to_no_memory_is_not_touched(void)
{
    int guard = 7;

    in_host_memory(&guard, &guard);
    CHECK_INT(guard, 7);
    /* One that nothing may be read from or written to. */
    in_host_memory((const void *)(uintptr_t)64, (void *)(uintptr_t)64);
}

static void the_signature_says_zero_bytes(void)
{
    size_t rank = 0;
    cyxla_executable *e = compiled(PROGRAM);

    if (!e)
        return;
    CHECK_INT(cyxla_executable_input_size(e, 0), 0);
    const int64_t *dims = cyxla_executable_input_dims(e, 0, &rank);
    if (CHECK_INT(rank, 3)) {
        CHECK_INT(dims[0], 3);
        CHECK_INT(dims[1], 0);
        CHECK_INT(dims[2], 4);
    }
    CHECK_INT(cyxla_executable_output_size(e, 0), 0);
    cyxla_executable_free(e);
}

static void in_buffers(void)
{
    static const int64_t dims_x[] = {3, 0, 4};
    static const int64_t dims_y[] = {2, 2};
    static const int64_t strides[] = {0, 16, 4};
    cyxla_buffer *x = NULL;
    cyxla_buffer *y = NULL;
    cyxla_buffer *strided = NULL;
    cyxla_buffer *results[4] = {NULL, NULL, NULL, NULL};
    size_t rank = 0;
    float sum = 0;
    cyxla_executable *e = compiled(PROGRAM);

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims_x, 3, NULL, NULL, &x));
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims_x, 3, strides, NULL, &strided));
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims_y, 2, NULL, Y, &y));
    const cyxla_buffer *inputs[] = {x, y};
    if (e && CHECK_OK(cyxla_execute(e, inputs, 2, results, 4))) {
        CHECK_INT(cyxla_buffer_size(results[0]), 0);
        const int64_t *dims = cyxla_buffer_dims(results[0], &rank);
        if (CHECK_INT(rank, 3))
            CHECK_BYTES(dims, dims_x, sizeof dims_x);
        CHECK_OK(cyxla_buffer_to_host(results[0], NULL, 0));
        CHECK_OK(cyxla_buffer_wait(results[0]));
        CHECK_OK(cyxla_buffer_to_host(results[3], &sum, sizeof sum));
        CHECK_FLOATS(&sum, &SUM, 1);
    }
    for (size_t i = 0; i < 4; i++)
        cyxla_buffer_free(results[i]);
    cyxla_buffer_free(x);
    cyxla_buffer_free(strided);
    cyxla_buffer_free(y);
    cyxla_executable_free(e);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(null_stands_for_no_memory);
    RUN(a_pointer_to_no_memory_is_not_touched);
    RUN(the_signature_says_zero_bytes);
    RUN(in_buffers);
    RUN(in_exports);
    return test_end();
}
