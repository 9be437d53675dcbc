/* A program of 1,500 arguments and 1,501 results. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "corpus.h"
#include "support.h"
#include "test.h"

#define MANY 1500

/* main(a0, a1, ..., an-1) -> (a0 + a0, a1 + a1, ..., a0 + an-1), all f32[2]. */
static char *program_of(size_t count)
{
    size_t room = 300 * (count + 2);
    char *text = malloc(room);
    size_t used = 0;

    if (!text)
        abort();
#define ADD(...) used += (size_t)snprintf(text + used, room - used, __VA_ARGS__)
    ADD("module @many { func.func public @main(");
    for (size_t i = 0; i < count; i++)
        ADD("%s%%a%zu: tensor<2xf32>", i ? ", " : "", i);
    ADD(") -> (");
    for (size_t i = 0; i < count + 1; i++)
        ADD("%stensor<2xf32>", i ? ", " : "");
    ADD(") {\n");
    for (size_t i = 0; i < count; i++)
        ADD("  %%r%zu = stablehlo.add %%a%zu, %%a%zu : tensor<2xf32>\n", i, i, i);
    ADD("  %%r%zu = stablehlo.add %%a0, %%a%zu : tensor<2xf32>\n  return ", count, count - 1);
    for (size_t i = 0; i < count + 1; i++)
        ADD("%s%%r%zu", i ? ", " : "", i);
    ADD(" : ");
    for (size_t i = 0; i < count + 1; i++)
        ADD("%stensor<2xf32>", i ? ", " : "");
    ADD(" } }\n");
#undef ADD
    return text;
}

static cyxla_executable *many(size_t count)
{
    char *text = program_of(count);
    cyxla_executable *e = compiled(text);

    free(text);
    return e;
}

static float in[MANY][2];
static float out[MANY + 1][2];
static const void *inputs[MANY];
static void *outputs[MANY + 1];
static size_t sizes[MANY + 1];

static void fill(void)
{
    for (size_t i = 0; i < MANY + 1; i++) {
        outputs[i] = out[i];
        sizes[i] = sizeof out[i];
    }
    for (size_t i = 0; i < MANY; i++) {
        in[i][0] = (float)i;
        in[i][1] = -(float)i / 2;
        inputs[i] = in[i];
    }
}

static void every_result_is_right(void)
{
    cyxla_executable *e = many(MANY);

    if (!e)
        return;
    CHECK_INT(cyxla_executable_input_count(e), MANY);
    CHECK_INT(cyxla_executable_output_count(e), MANY + 1);
    if (CHECK_OK(cyxla_run(e, inputs, sizes, MANY, outputs, sizes, MANY + 1))) {
        for (size_t i = 0; i < MANY + 1; i++) {
            const float *a = i < MANY ? in[i] : in[0];
            const float *b = i < MANY ? in[i] : in[MANY - 1];
            const float want[2] = {a[0] + b[0], a[1] + b[1]};
            if (!CHECK_FLOATS(out[i], want, 2))
                break;
        }
    }
    cyxla_executable_free(e);
}

static void the_last_argument_is_checked_too(void)
{
    static const int64_t dims[] = {2};
    const int32_t numbers[2] = {0};
    cyxla_executable *e = many(MANY);
    cyxla_buffer *good = NULL;
    cyxla_buffer *bad = NULL;
    static const cyxla_buffer *arguments[MANY];
    static cyxla_buffer *results[MANY + 1];

    if (!e)
        return;
    sizes[MANY - 1] = 4;
    CHECK_FAILS(cyxla_run(e, inputs, sizes, MANY, outputs, sizes, MANY + 1), CYXLA_CODE_INVALID_ARGUMENT,
                "argument 1499", "f32[2]", "8", "4");
    sizes[MANY - 1] = 8;
    sizes[MANY] = 9;
    CHECK_FAILS(cyxla_run(e, inputs, sizes, MANY, outputs, sizes, MANY + 1), CYXLA_CODE_INVALID_ARGUMENT,
                "result 1500", "f32[2]", "8", "9");
    sizes[MANY] = 8;
    CHECK_FAILS(cyxla_run(e, inputs, sizes, MANY - 1, outputs, sizes, MANY + 1), CYXLA_CODE_INVALID_ARGUMENT,
                "expects 1500 arguments", "got 1499");
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, in[0], &good));
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_S32, dims, 1, NULL, numbers, &bad));
    for (size_t i = 0; i < MANY; i++)
        arguments[i] = i == MANY - 1 ? bad : good;
    CHECK_FAILS(cyxla_execute(e, arguments, MANY, results, MANY + 1), CYXLA_CODE_INVALID_ARGUMENT, "argument 1499",
                "f32[2]", "s32[2]");
    arguments[MANY - 1] = good;
    if (CHECK_OK(cyxla_execute(e, arguments, MANY, results, MANY + 1))) {
        for (size_t i = 0; i < MANY + 1; i++)
            cyxla_buffer_free(results[i]);
    }
    CHECK(alive());
    cyxla_buffer_free(good);
    cyxla_buffer_free(bad);
    cyxla_executable_free(e);
}

/* In processor time of all threads, which a busy machine does not stretch. */
static double fastest_call(cyxla_executable *e, size_t count)
{
    double fastest = 1e9;

    for (int i = 0; i < 50; i++) {
        struct timespec start;
        struct timespec end;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
        cyxla_error *error = cyxla_run(e, inputs, sizes, count, outputs, sizes, count + 1);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        double seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
        fastest = seconds < fastest ? seconds : fastest;
        if (!CHECK_OK(error))
            break;
    }
    return fastest;
}

/* Ten times the arguments cost ten times as much, or somewhat more on a busy machine,
 * but not a hundred times. */
static void time_is_not_quadratic(void)
{
    cyxla_executable *few = many(MANY / 10);
    cyxla_executable *all = many(MANY);

    if (few && all) {
        double a = fastest_call(few, MANY / 10);
        double b = fastest_call(all, MANY);
        printf("%d arguments: %.0f us, %d arguments: %.0f us\n", MANY / 10, a * 1e6, MANY, b * 1e6);
        CHECK(b < 40 * a);
    }
    cyxla_executable_free(few);
    cyxla_executable_free(all);
}

#define EXPORTED 700

/* many_inputs(a0, ..., a699), all s32[2], gives the sum of i * ai over those i that 7 does
 * not divide, and the last of these; JAX drops the others. */
static void exported_with_dropped_ones(void)
{
    static int32_t in_numbers[EXPORTED][2];
    static const void *exported[EXPORTED];
    static size_t exported_sizes[EXPORTED];
    int32_t total[2] = {0};
    int32_t last[2] = {0};
    int32_t want[2] = {0};
    void *results[] = {total, last};
    size_t result_sizes[] = {sizeof total, sizeof last};
    cyxla_executable *e = corpus_compiled("0.10.2", "many_inputs");

    for (int32_t i = 0; i < EXPORTED; i++) {
        in_numbers[i][0] = i;
        in_numbers[i][1] = 3 - i;
        exported[i] = in_numbers[i];
        exported_sizes[i] = sizeof in_numbers[i];
        if (i % 7 != 0) {
            want[0] += i * in_numbers[i][0];
            want[1] += i * in_numbers[i][1];
        }
    }
    if (!e || !CHECK_INT(cyxla_executable_input_count(e), EXPORTED))
        return;
    CHECK_STR(cyxla_executable_input_name(e, EXPORTED - 1), "args[699]");
    if (CHECK_OK(cyxla_run(e, exported, exported_sizes, EXPORTED, results, result_sizes, 2))) {
        CHECK_BYTES(total, want, sizeof total);
        CHECK_BYTES(last, in_numbers[EXPORTED - 1], sizeof last);
    }
    exported_sizes[693] = 4; /* a dropped one */
    CHECK_FAILS(cyxla_run(e, exported, exported_sizes, EXPORTED, results, result_sizes, 2),
                CYXLA_CODE_INVALID_ARGUMENT, "argument 693", "s32[2]");
    cyxla_executable_free(e);
}

static void exported_with_many_results(void)
{
    static const int32_t x[2] = {5, -7};
    static int32_t got[300][2];
    static void *results[300];
    static size_t result_sizes[300];
    const void *const inputs_x[] = {x};
    const size_t sizes_x[] = {sizeof x};
    cyxla_executable *e = corpus_compiled("0.10.2", "many_outputs");

    for (size_t i = 0; i < 300; i++) {
        results[i] = got[i];
        result_sizes[i] = sizeof got[i];
    }
    if (e && CHECK_OK(cyxla_run(e, inputs_x, sizes_x, 1, results, result_sizes, 300))) {
        for (int32_t i = 0; i < 300; i++)
            CHECK(got[i][0] == 5 + i && got[i][1] == i - 7);
    }
    cyxla_executable_free(e);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    fill();
    RUN(every_result_is_right);
    RUN(the_last_argument_is_checked_too);
    RUN(time_is_not_quadratic);
    RUN(exported_with_dropped_ones);
    RUN(exported_with_many_results);
    return test_end();
}
