#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

static void host_memory_goes_in_and_comes_out(void)
{
    const float a[] = {1, 2, 3, 4};
    const float b[] = {10, -20, 30, 0.5F};
    const float want[] = {11, -18, 33, 4.5F};
    const void *inputs[] = {a, b};
    const size_t input_sizes[] = {sizeof a, sizeof b};
    float sum[4] = {0};
    void *outputs[] = {sum};
    const size_t output_sizes[] = {sizeof sum};
    cyxla_executable *e = compiled(ADD_F32_4);

    if (!e)
        return;
    CHECK_OK(cyxla_run(e, inputs, input_sizes, 2, outputs, output_sizes, 1));
    CHECK_FLOATS(sum, want, 4);
    cyxla_executable_free(e);
}

static void every_call_reads_its_own_inputs(void)
{
    float *in = aligned_bytes(16, 0);
    float out[4];
    cyxla_executable *e = compiled(DOUBLE_F32_4);

    for (int i = 0; e && i < 200; i++) {
        float want[4];
        for (int j = 0; j < 4; j++) {
            in[j] = (float)(i * 4 + j);
            want[j] = 2 * in[j];
        }
        if (!CHECK_OK(run_1_1(e, in, 16, out, 16)) || !CHECK_FLOATS(out, want, 4))
            break;
    }
    cyxla_executable_free(e);
    free_aligned(in, 0);
}

static void scalars_have_no_dims(void)
{
    float in = 1.25F;
    float out = 0;
    float want = 2.5F;
    cyxla_executable *e = compiled(DOUBLE_F32);

    if (!e)
        return;
    CHECK_OK(run_1_1(e, &in, sizeof in, &out, sizeof out));
    CHECK_FLOATS(&out, &want, 1);
    cyxla_executable_free(e);
}

static void an_output_may_be_an_input_s_memory(void)
{
    static const float want[] = {2, 4, 6, 8};
    float *both = aligned_bytes(16, 0);
    cyxla_executable *e = compiled(DOUBLE_F32_4);

    for (int i = 0; i < 4; i++)
        both[i] = (float)(i + 1);
    if (e && CHECK_OK(run_1_1(e, both, 16, both, 16)))
        CHECK_FLOATS(both, want, 4);
    cyxla_executable_free(e);
    free_aligned(both, 0);
}

static void inputs_are_left_as_they_are(void)
{
    static const float before[] = {1, 2, 3, 4};
    static const float want[] = {2, 4, 6, 8};
    float *a = aligned_bytes(16, 0);
    float *b = aligned_bytes(16, 0);
    const void *inputs[] = {a, b};
    const size_t sizes[] = {16, 16};
    float out[4] = {0};
    void *outputs[] = {out};
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);

    memcpy(a, before, sizeof before);
    memcpy(b, before, sizeof before);
    /* A program that consumes its argument gets a copy: the memory is const here. */
    for (int i = 0; e && i < 3; i++) {
        CHECK_OK(cyxla_run(e, inputs, sizes, 2, outputs, sizes, 1));
        CHECK_FLOATS(out, want, 4);
        CHECK_FLOATS(a, before, 4);
        CHECK_FLOATS(b, before, 4);
    }
    cyxla_executable_free(e);
    free_aligned(a, 0);
    free_aligned(b, 0);
}

static void no_alignment_is_asked_for(void)
{
    static const float in[] = {1, 2, 3, 4};
    static const float want[] = {2, 4, 6, 8};
    cyxla_executable *e = compiled(DOUBLE_F32_4);

    for (size_t offset = 0; e && offset < 16; offset++) {
        char *from = aligned_bytes(16, offset);
        char *to = aligned_bytes(16, 15 - offset);
        memcpy(from, in, 16);
        CHECK_OK(run_1_1(e, from, 16, to, 16));
        CHECK_BYTES(to, want, 16);
        free_aligned(from, offset);
        free_aligned(to, 15 - offset);
    }
    cyxla_executable_free(e);
}

static void wrong_counts_say_what_is_expected(void)
{
    const float in[4] = {0};
    float out[4] = {7, 7, 7, 7};
    const float untouched[4] = {7, 7, 7, 7};
    const void *inputs[] = {in, in};
    const size_t sizes[] = {16, 16};
    void *outputs[] = {out, out};
    cyxla_executable *e = compiled(DOUBLE_F32_4);

    if (!e)
        return;
    CHECK_FAILS(cyxla_run(e, inputs, sizes, 2, outputs, sizes, 1), CYXLA_CODE_INVALID_ARGUMENT, "expects 1 argument",
                "got 2");
    CHECK_FAILS(cyxla_run(e, NULL, NULL, 0, outputs, sizes, 1), CYXLA_CODE_INVALID_ARGUMENT, "expects 1 argument",
                "got 0");
    CHECK_FAILS(cyxla_run(e, inputs, sizes, 1, outputs, sizes, 2), CYXLA_CODE_INVALID_ARGUMENT, "1 result", "got 2");
    CHECK_FAILS(cyxla_run(e, inputs, sizes, 1, NULL, NULL, 0), CYXLA_CODE_INVALID_ARGUMENT, "1 result", "got 0");
    CHECK_FAILS(cyxla_run(e, inputs, sizes, SIZE_MAX, outputs, sizes, 1), CYXLA_CODE_INVALID_ARGUMENT, "expects 1");
    CHECK_FLOATS(out, untouched, 4);
    CHECK(alive());
    cyxla_executable_free(e);
}

static void wrong_sizes_are_named_in_bytes(void)
{
    static const size_t wrong[] = {0, 1, 15, 17, 32, SIZE_MAX};
    const float in[8] = {0};
    float out[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    const float untouched[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    cyxla_executable *e = compiled(DOUBLE_F32_4);

    for (size_t i = 0; e && i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_FAILS(run_1_1(e, in, wrong[i], out, 16), CYXLA_CODE_INVALID_ARGUMENT, "argument 0", "16", "f32[4]");
        CHECK_FAILS(run_1_1(e, in, 16, out, wrong[i]), CYXLA_CODE_INVALID_ARGUMENT, "result 0", "16", "f32[4]");
        CHECK(alive());
    }
    CHECK_FLOATS(out, untouched, 8);
    cyxla_executable_free(e);
}

static void null_pointers_are_named(void)
{
    const float in[4] = {0};
    float out[4] = {0};
    const void *inputs[] = {in};
    const void *no_input[] = {NULL};
    const size_t sizes[] = {16};
    void *outputs[] = {out};
    void *no_output[] = {NULL};
    cyxla_executable *e = compiled(DOUBLE_F32_4);

    if (!e)
        return;
    CHECK_BLAMES(cyxla_run(NULL, inputs, sizes, 1, outputs, sizes, 1), "executable");
    CHECK_BLAMES(cyxla_run(e, NULL, sizes, 1, outputs, sizes, 1), "inputs");
    CHECK_BLAMES(cyxla_run(e, inputs, NULL, 1, outputs, sizes, 1), "input_sizes");
    CHECK_BLAMES(cyxla_run(e, inputs, sizes, 1, NULL, sizes, 1), "outputs");
    CHECK_BLAMES(cyxla_run(e, inputs, sizes, 1, outputs, NULL, 1), "output_sizes");
    CHECK_FAILS(cyxla_run(e, no_input, sizes, 1, outputs, sizes, 1), CYXLA_CODE_INVALID_ARGUMENT, "inputs[0]", "NULL", "16");
    CHECK_FAILS(cyxla_run(e, inputs, sizes, 1, no_output, sizes, 1), CYXLA_CODE_INVALID_ARGUMENT, "outputs[0]", "NULL", "16");
    CHECK(alive());
    cyxla_executable_free(e);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(host_memory_goes_in_and_comes_out);
    RUN(every_call_reads_its_own_inputs);
    RUN(scalars_have_no_dims);
    RUN(an_output_may_be_an_input_s_memory);
    RUN(inputs_are_left_as_they_are);
    RUN(no_alignment_is_asked_for);
    RUN(wrong_counts_say_what_is_expected);
    RUN(wrong_sizes_are_named_in_bytes);
    RUN(null_pointers_are_named);
    return test_end();
}
