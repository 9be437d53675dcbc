/* Programs compiled with results_in_place write large results straight into memory of
 * the caller, where it is aligned and nothing else that the program uses lies there. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

#define COUNT 8192
#define SIZE (COUNT * sizeof(float))

/* a + b, a - b, and the sum of the first four, which is too small to be worth it. */
static const char PROGRAM[] =
    "module { func.func public @main(%a: tensor<8192xf32>, %b: tensor<8192xf32>)\n"
    "    -> (tensor<8192xf32>, tensor<8192xf32>, tensor<4xf32>) {\n"
    "  %0 = stablehlo.add %a, %b : tensor<8192xf32>\n"
    "  %1 = stablehlo.subtract %a, %b : tensor<8192xf32>\n"
    "  %2 = stablehlo.slice %0 [0:4] : (tensor<8192xf32>) -> tensor<4xf32>\n"
    "  return %0, %1, %2 : tensor<8192xf32>, tensor<8192xf32>, tensor<4xf32> } }\n";

/* Each element of the result is made of two that lie apart. */
static const char REVERSED[] = "module { func.func public @main(%a: tensor<8192xf32>) -> tensor<8192xf32> {\n"
                               "  %0 = stablehlo.reverse %a, dims = [0] : tensor<8192xf32>\n"
                               "  %1 = stablehlo.add %0, %a : tensor<8192xf32>\n"
                               "  return %1 : tensor<8192xf32> } }\n";

/* Goes round: the sum is the next a. */
static const char STEP[] = "module { func.func public @main(%a: tensor<8192xf32>, %b: tensor<8192xf32>)\n"
                           "    -> tensor<8192xf32> {\n"
                           "  %0 = stablehlo.add %a, %b : tensor<8192xf32>\n"
                           "  return %0 : tensor<8192xf32> } }\n";

static cyxla_executable *in_place(const char *text)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;

    CHECK_OK(cyxla_program_from_bytes(text, strlen(text), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_OK(compile_with(program, "results_in_place=true", &e));
    cyxla_program_free(program);
    return e;
}

static float *numbers(size_t offset, float first)
{
    float *memory = aligned_bytes(SIZE, offset);

    for (size_t i = 0; i < COUNT; i++) {
        float value = first + (float)i;
        memcpy((char *)memory + i * sizeof value, &value, sizeof value);
    }
    return memory;
}

static int element(const void *memory, size_t index)
{
    float value;

    memcpy(&value, (const char *)memory + index * sizeof value, sizeof value);
    return (int)value;
}

static bool is_line(const void *memory, int first, int step)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (element(memory, i) != first + step * (int)i)
            return false;
    }
    return true;
}

#define check_line(memory, first, step) CHECK(is_line(memory, first, step))

/* Nothing of it shows in what the program takes and gives. */
static void the_signature_is_the_program_s(void)
{
    cyxla_executable *plain = compiled(PROGRAM);
    cyxla_executable *e = in_place(PROGRAM);

    if (plain && e)
        CHECK(same_results(plain, e));
    CHECK_INT(cyxla_executable_input_count(e), 2);
    CHECK_INT(cyxla_executable_output_count(e), 3);
    cyxla_executable_free(plain);
    cyxla_executable_free(e);
}

static void run_writes_to_any_memory(void)
{
    static const size_t offsets[] = {0, 1, 4, 16, 32, 60, 64};
    cyxla_executable *e = in_place(PROGRAM);
    float *a = numbers(0, 0.0F);
    float *b = numbers(4, 1000.0F);

    for (size_t i = 0; e && i < sizeof offsets / sizeof *offsets; i++) {
        void *sum = aligned_bytes(SIZE, offsets[i]);
        void *difference = aligned_bytes(SIZE, 64 - offsets[i]);
        float four[4] = {0};
        const void *inputs[] = {a, b};
        const size_t input_sizes[] = {SIZE, SIZE};
        void *outputs[] = {sum, difference, four};
        const size_t output_sizes[] = {SIZE, SIZE, sizeof four};
        for (int again = 0; again < 3; again++) {
            memset(sum, 0xff, SIZE);
            memset(difference, 0xff, SIZE);
            CHECK_OK(cyxla_run(e, inputs, input_sizes, 2, outputs, output_sizes, 3));
            check_line(sum, 1000, 2);
            check_line(difference, -1000, 0);
            CHECK_INT((int)four[3], 1006);
        }
        free_aligned(sum, offsets[i]);
        free_aligned(difference, 64 - offsets[i]);
    }
    free_aligned(a, 0);
    free_aligned(b, 4);
    cyxla_executable_free(e);
}

/* The program reads an argument while it writes: results go there when it has ended. */
static void an_output_may_be_an_input(void)
{
    static const size_t shifts[] = {0, 64, 128, SIZE - 64};
    cyxla_executable *e = in_place(REVERSED);

    for (size_t i = 0; e && i < sizeof shifts / sizeof *shifts; i++) {
        char *memory = aligned_bytes(2 * SIZE, 0);
        float *a = numbers(0, 5.0F);
        const size_t size = SIZE;
        memcpy(memory, a, SIZE);
        const void *inputs[] = {memory};
        void *outputs[] = {memory + shifts[i]};
        CHECK_OK(cyxla_run(e, inputs, &size, 1, outputs, &size, 1));
        check_line(outputs[0], COUNT - 1 + 10, 0);
        free_aligned(a, 0);
        free_aligned(memory, 0);
    }
    cyxla_executable_free(e);
}

static void two_outputs_may_share_memory(void)
{
    cyxla_executable *e = in_place(PROGRAM);
    float *a = numbers(0, 0.0F);
    float *b = numbers(0, 1000.0F);
    void *both = aligned_bytes(SIZE, 0);
    float four[4] = {0};
    const void *inputs[] = {a, b};
    const size_t input_sizes[] = {SIZE, SIZE};
    void *outputs[] = {both, both, four};
    const size_t output_sizes[] = {SIZE, SIZE, sizeof four};

    if (e)
        CHECK_OK(cyxla_run(e, inputs, input_sizes, 2, outputs, output_sizes, 3));
    check_line(both, -1000, 0); /* the later one */
    CHECK_INT((int)four[0], 1000);
    free_aligned(a, 0);
    free_aligned(b, 0);
    free_aligned(both, 0);
    cyxla_executable_free(e);
}

static void calls_write_to_any_memory(void)
{
    static const size_t offsets[] = {0, 4, 64};
    cyxla_executable *e = in_place(PROGRAM);
    cyxla_call *call = NULL;
    float *a = numbers(0, 0.0F);

    if (!e || !CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    memcpy(cyxla_call_input(call, 0, 0, NULL), a, SIZE);
    memset(cyxla_call_input(call, 0, 1, NULL), 0, SIZE);
    for (int step = 0; step < 4; step++) { /* the call's own memory */
        CHECK_OK(cyxla_call_run(call));
        check_line(cyxla_call_output(call, 0, 0, NULL), 0, 1);
        check_line(cyxla_call_output(call, 0, 1, NULL), 0, 1);
    }
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        void *memory = aligned_bytes(SIZE, offsets[i]);
        CHECK_OK(cyxla_call_bind_output(call, 0, 0, memory, SIZE));
        for (int step = 0; step < 4; step++) {
            ((float *)cyxla_call_input(call, 0, 1, NULL))[0] = (float)step;
            memset(memory, 0xff, SIZE);
            CHECK_OK(cyxla_call_run(call));
            CHECK_INT(element(memory, 0), step);
            CHECK_INT(element(memory, COUNT - 1), COUNT - 1);
            CHECK(cyxla_call_output(call, 0, 0, NULL) == memory);
            CHECK_INT((int)((const float *)cyxla_call_output(call, 0, 2, NULL))[1], 1);
        }
        if (i == 1)
            CHECK_OK(cyxla_call_bind_output(call, 0, 0, NULL, 0)); /* and the memory is the caller's again */
        else
            CHECK_OK(cyxla_call_bind_output(call, 0, 0, a, SIZE));
        free_aligned(memory, offsets[i]);
    }
    ((float *)cyxla_call_input(call, 0, 1, NULL))[0] = 0.0F;
    CHECK_OK(cyxla_call_run(call));
    check_line(a, 0, 1);
    cyxla_call_free(call);
    free_aligned(a, 0);
    cyxla_executable_free(e);
}

/* In-place update: the output is written to the memory that the input is read from. */
static void a_call_may_write_to_its_input(void)
{
    cyxla_executable *e = in_place(REVERSED);
    cyxla_call *call = NULL;
    cyxla_buffer *view = NULL;
    static const int64_t dims[] = {COUNT};
    float *a = numbers(0, 5.0F);
    void *memory;

    if (!e || !CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    memory = cyxla_call_input(call, 0, 0, NULL);
    memcpy(memory, a, SIZE);
    CHECK_OK(cyxla_call_bind_output(call, 0, 0, memory, SIZE));
    CHECK_OK(cyxla_call_run(call));
    check_line(memory, COUNT - 1 + 10, 0);
    CHECK_OK(cyxla_call_run(call));
    check_line(memory, 2 * (COUNT - 1 + 10), 0);
    /* The same through a buffer over the caller's memory. */
    CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, dims, 1, a, false, NULL, NULL, &view));
    CHECK_OK(cyxla_call_bind(call, 0, 0, view));
    CHECK_OK(cyxla_call_bind_output(call, 0, 0, a, SIZE));
    CHECK_OK(cyxla_call_run(call));
    check_line(a, COUNT - 1 + 10, 0);
    cyxla_call_free(call);
    cyxla_buffer_free(view);
    free_aligned(a, 0);
    cyxla_executable_free(e);
}

static void outputs_go_round(void)
{
    cyxla_executable *e = in_place(STEP);
    cyxla_call *call = NULL;
    float *a = numbers(0, 0.0F);
    void *seen = aligned_bytes(SIZE, 0);

    if (!e || !CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    memcpy(cyxla_call_input(call, 0, 0, NULL), a, SIZE);
    for (size_t i = 0; i < COUNT; i++)
        ((float *)cyxla_call_input(call, 0, 1, NULL))[i] = 1.0F;
    CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
    for (int step = 1; step <= 7; step++) {
        CHECK_OK(cyxla_call_run(call));
        check_line(cyxla_call_output(call, 0, 0, NULL), step, 1);
        if (step == 3)
            CHECK_OK(cyxla_call_bind_output(call, 0, 0, seen, SIZE));
        if (step > 3)
            check_line(seen, step, 1);
    }
    CHECK_OK(cyxla_call_feed(call, 0, 0, 0)); /* starts over */
    CHECK_OK(cyxla_call_run(call));
    check_line(seen, 1, 1);
    cyxla_call_input(call, 0, 0, NULL); /* ends it */
    CHECK_OK(cyxla_call_run(call));
    check_line(seen, 1, 1);
    CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
    CHECK_OK(cyxla_call_bind_output(call, 0, 0, NULL, 0));
    CHECK_OK(cyxla_call_run(call));
    CHECK_OK(cyxla_call_run(call));
    check_line(cyxla_call_output(call, 0, 0, NULL), 2, 1);
    cyxla_call_free(call);
    free_aligned(a, 0);
    free_aligned(seen, 0);
    cyxla_executable_free(e);
}

/* A step that fails must not leave the next one waiting for memory that nobody gives back. */
static void a_loop_that_failed_goes_on(void)
{
    cyxla_executable *e = in_place(STEP);
    cyxla_executable *taker = NULL;
    cyxla_program *program = NULL;
    static const int64_t dims[] = {COUNT};
    static const char TAKES[] =
        "module { func.func public @main(%a: tensor<8192xf32> {tf.aliasing_output = 0 : i32}) -> tensor<8192xf32> {\n"
        "  %0 = stablehlo.add %a, %a : tensor<8192xf32>\n"
        "  return %0 : tensor<8192xf32> } }\n";
    cyxla_call *call = NULL;
    cyxla_buffer *b[2] = {NULL, NULL};
    cyxla_buffer *out = NULL;
    float *one = aligned_bytes(SIZE, 0);

    for (size_t i = 0; i < COUNT; i++)
        one[i] = 1.0F;
    CHECK_OK(cyxla_program_from_bytes(TAKES, strlen(TAKES), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_OK(cyxla_compile_program(program, NULL, &taker));
    cyxla_program_free(program);
    for (size_t i = 0; i < 2; i++)
        CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, one, &b[i]));
    if (!e || !taker || !CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    for (int round = 0; round < 3; round++) {
        CHECK(cyxla_call_input(call, 0, 0, NULL) != NULL);
        CHECK_OK(cyxla_call_bind(call, 0, 1, b[0]));
        CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
        for (int step = 0; step < 3 + round; step++)
            CHECK_OK(cyxla_call_run(call));
        check_line(cyxla_call_output(call, 0, 0, NULL), 3 + round, 0);
        const cyxla_buffer *inputs[] = {b[0]};
        CHECK_OK(cyxla_execute(taker, inputs, 1, &out, 1));
        CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "input 1", "donated");
        CHECK_OK(cyxla_call_bind(call, 0, 1, b[1]));
        CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "lost");
        CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
        CHECK_OK(cyxla_call_run(call));
        CHECK_OK(cyxla_call_run(call));
        check_line(cyxla_call_output(call, 0, 0, NULL), 2, 0);
        cyxla_buffer_free(b[0]);
        cyxla_buffer_free(out);
        b[0] = NULL;
        out = NULL;
        CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, one, &b[0]));
    }
    cyxla_call_free(call);
    cyxla_buffer_free(b[0]);
    cyxla_buffer_free(b[1]);
    cyxla_executable_free(e);
    cyxla_executable_free(taker);
    free_aligned(one, 0);
}

/* x' = x + c in the memory of c, and c' = x + b: what goes round in memory of the call is
 * fed to an input that the program may take. */
static void what_goes_round_is_not_given_away(void)
{
    static const char text[] =
        "module { func.func public @main(%x: tensor<8192xf32>, %b: tensor<8192xf32>,\n"
        "    %c: tensor<8192xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<8192xf32>, tensor<8192xf32>) {\n"
        "  %0 = stablehlo.add %x, %c : tensor<8192xf32>\n"
        "  %1 = stablehlo.add %x, %b : tensor<8192xf32>\n"
        "  return %0, %1 : tensor<8192xf32>, tensor<8192xf32> } }\n";
    cyxla_executable *e = in_place(text);

    for (int both = 0; e && both < 2; both++) {
        cyxla_call *call = NULL;
        cyxla_buffer *taken = NULL;
        int x = 1, c = 0;
        CHECK_OK(cyxla_call_new(e, NULL, &call));
        for (size_t i = 0; i < COUNT; i++) {
            ((float *)cyxla_call_input(call, 0, 0, NULL))[i] = 1.0F;
            ((float *)cyxla_call_input(call, 0, 1, NULL))[i] = 1.0F;
        }
        CHECK(cyxla_call_input(call, 0, 2, NULL) != NULL);
        CHECK_OK(cyxla_call_feed(call, 0, 1, 2));
        if (both)
            CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
        for (int step = 0; step < 6; step++) {
            int sum = x + c;
            c = x + 1;
            if (both)
                x = sum;
            CHECK_OK(cyxla_call_run(call));
            check_line(cyxla_call_output(call, 0, 0, NULL), sum, 0);
            check_line(cyxla_call_output(call, 0, 1, NULL), c, 0);
        }
        if (!both)
            CHECK_OK(cyxla_call_take(call, 0, 0, &taken));
        cyxla_call_free(call);
        cyxla_buffer_free(taken);
    }
    cyxla_executable_free(e);
}

/* Straight to the caller's memory, then round, then neither. */
static void an_output_changes_its_ways(void)
{
    cyxla_executable *e = in_place(STEP);
    cyxla_call *call = NULL;
    void *memory = aligned_bytes(SIZE, 0);

    if (!e || !CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    CHECK(cyxla_call_input(call, 0, 0, NULL) != NULL);
    for (size_t i = 0; i < COUNT; i++)
        ((float *)cyxla_call_input(call, 0, 1, NULL))[i] = 1.0F;
    for (int round = 0; round < 3; round++) {
        CHECK_OK(cyxla_call_bind_output(call, 0, 0, memory, SIZE));
        CHECK_OK(cyxla_call_run(call));
        check_line(memory, 1, 0);
        CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
        CHECK_OK(cyxla_call_run(call));
        CHECK_OK(cyxla_call_run(call));
        check_line(memory, 2, 0);
        CHECK_OK(cyxla_call_bind_output(call, 0, 0, NULL, 0));
        CHECK_OK(cyxla_call_run(call));
        check_line(cyxla_call_output(call, 0, 0, NULL), 3, 0);
        CHECK(cyxla_call_input(call, 0, 0, NULL) != NULL); /* ends the feeding */
        CHECK_OK(cyxla_call_run(call));
        check_line(cyxla_call_output(call, 0, 0, NULL), 1, 0);
    }
    cyxla_call_free(call);
    free_aligned(memory, 0);
    cyxla_executable_free(e);
}

/* What was taken keeps its contents while the steps go on. */
static void outputs_are_taken(void)
{
    cyxla_executable *e = in_place(STEP);
    cyxla_call *call = NULL;
    cyxla_buffer *taken[3] = {NULL, NULL, NULL};
    float *a = numbers(0, 0.0F);
    void *memory = aligned_bytes(SIZE, 0);

    if (!e || !CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    memcpy(cyxla_call_input(call, 0, 0, NULL), a, SIZE);
    CHECK(cyxla_call_input(call, 0, 1, NULL) != NULL);
    for (int step = 0; step < 3; step++) {
        if (step == 1)
            CHECK_OK(cyxla_call_bind_output(call, 0, 0, memory, SIZE));
        for (size_t i = 0; i < COUNT; i++)
            ((float *)cyxla_call_input(call, 0, 1, NULL))[i] = (float)step;
        CHECK_OK(cyxla_call_run(call));
        CHECK_OK(cyxla_call_take(call, 0, 0, &taken[step]));
        CHECK(cyxla_call_output(call, 0, 0, NULL) == NULL);
    }
    cyxla_call_free(call);
    free_aligned(memory, 0);
    for (int step = 0; step < 3; step++) {
        CHECK_OK(cyxla_buffer_to_host(taken[step], a, SIZE));
        check_line(a, step, 1);
        cyxla_buffer_free(taken[step]);
    }
    free_aligned(a, 0);
    cyxla_executable_free(e);
}

static void buffers_have_memory_of_their_own(void)
{
    cyxla_executable *e = in_place(STEP);
    static const int64_t dims[] = {COUNT};
    float *a = numbers(0, 1.0F);
    cyxla_buffer *in = NULL;
    cyxla_buffer *out[3] = {NULL, NULL, NULL};

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, a, &in));
    for (size_t i = 0; e && i < 3; i++) {
        const cyxla_buffer *inputs[] = {i == 0 ? in : out[i - 1], in};
        CHECK_OK(cyxla_execute(e, inputs, 2, &out[i], 1));
    }
    cyxla_buffer_free(in);
    cyxla_executable_free(e);
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(cyxla_buffer_to_host(out[i], a, SIZE));
        check_line(a, (int)i + 2, (int)i + 2);
        cyxla_buffer_free(out[i]);
    }
    free_aligned(a, 0);
}

static void a_saved_one_writes_in_place_too(void)
{
    cyxla_executable *e = in_place(STEP);
    cyxla_executable *loaded = NULL;
    cyxla_bytes *bytes = NULL;
    cyxla_call *call = NULL;
    float *memory = aligned_bytes(SIZE, 0);

    if (!e || !CHECK_OK(cyxla_executable_to_bytes(e, &bytes)))
        return;
    CHECK_OK(cyxla_executable_from_bytes(cyxla_bytes_data(bytes), cyxla_bytes_size(bytes), &loaded));
    if (loaded && CHECK_OK(cyxla_call_new(loaded, NULL, &call))) {
        CHECK_INT(cyxla_executable_input_count(loaded), 2);
        ((float *)cyxla_call_input(call, 0, 0, NULL))[7] = 3.0F;
        ((float *)cyxla_call_input(call, 0, 1, NULL))[7] = 4.0F;
        CHECK_OK(cyxla_call_bind_output(call, 0, 0, memory, SIZE));
        CHECK_OK(cyxla_call_run(call));
        CHECK_INT((int)memory[7], 7);
        CHECK(cyxla_call_output(call, 0, 0, NULL) == memory);
    }
    cyxla_call_free(call);
    cyxla_executable_free(loaded);
    cyxla_bytes_free(bytes);
    free_aligned(memory, 0);
    cyxla_executable_free(e);
}

static void a_call_is_freed_in_the_middle(void)
{
    cyxla_executable *e = in_place(PROGRAM);

    for (int round = 0; e && round < 20; round++) {
        cyxla_call *call = NULL;
        void *memory = aligned_bytes(SIZE, 0);
        CHECK_OK(cyxla_call_new(e, NULL, &call));
        CHECK_OK(cyxla_call_bind_output(call, 0, 0, memory, SIZE));
        CHECK(cyxla_call_input(call, 0, 0, NULL) && cyxla_call_input(call, 0, 1, NULL));
        CHECK_OK(cyxla_call_start(call));
        cyxla_call_free(call);
        free_aligned(memory, 0); /* the plugin is done with it */
    }
    cyxla_executable_free(e);
    CHECK(alive());
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(the_signature_is_the_program_s);
    RUN(run_writes_to_any_memory);
    RUN(an_output_may_be_an_input);
    RUN(two_outputs_may_share_memory);
    RUN(calls_write_to_any_memory);
    RUN(a_call_may_write_to_its_input);
    RUN(outputs_go_round);
    RUN(what_goes_round_is_not_given_away);
    RUN(a_loop_that_failed_goes_on);
    RUN(an_output_changes_its_ways);
    RUN(outputs_are_taken);
    RUN(buffers_have_memory_of_their_own);
    RUN(a_saved_one_writes_in_place_too);
    RUN(a_call_is_freed_in_the_middle);
    return test_end();
}
