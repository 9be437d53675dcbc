/* Many steps of bound calls, whose results stay right and whose memory does not grow.
 *
 *     soak STEPS
 *
 * Four kinds of step in turn: the MLP from memory that is rewritten, a program with a
 * PRED input, a state that is fed from step to step and donated, started and waited for,
 * and now and then an output that is taken, and cyxla_run. Prints the kilobytes by which
 * resident memory grew at most after the first steps, and the seconds that all took. Ends
 * with a failure if a result is wrong. The plugin is that of the environment variable
 * CYXLA_PLUGIN.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cyxla.h>

#include "programs.h"

enum { WARM_UP = 100000, LOOK = 50000, TAKE = 1000, SAMPLES = 16, LENGTH = 8, DIGITS = 10 };

static const char select_text[] =
    "module @select { func.func public @main(%m: tensor<8xi1>, %a: tensor<8xf32>) -> tensor<8xf32> {\n"
    "  %0 = stablehlo.negate %a : tensor<8xf32>\n"
    "  %1 = stablehlo.select %m, %a, %0 : tensor<8xi1>, tensor<8xf32>\n"
    "  return %1 : tensor<8xf32> } }\n";

static const char count_text[] =
    "module @count { func.func public @main(%x: tensor<8xf32>, %s: tensor<8xf32> {tf.aliasing_output = 0 : i32})\n"
    "    -> tensor<8xf32> {\n"
    "  %0 = stablehlo.add %s, %x : tensor<8xf32>\n"
    "  return %0 : tensor<8xf32> } }\n";

static unsigned long step; /* for messages */

static void check(cyxla_error *error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "step %lu: %s: %s\n", step, what, cyxla_error_message(error));
    exit(1);
}

static void expect(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "step %lu: %s\n", step, what);
    exit(1);
}

static cyxla_executable *compile(const char *text)
{
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;

    check(cyxla_program_from_bytes(text, strlen(text), CYXLA_FORMAT_STABLEHLO, NULL, &program),
          "cyxla_program_from_bytes");
    check(cyxla_compile_program(program, NULL, &executable), "cyxla_compile_program");
    cyxla_program_free(program);
    return executable;
}

static cyxla_call *bind(const char *text)
{
    cyxla_executable *executable = compile(text);
    cyxla_call *call = NULL;

    check(cyxla_call_new(executable, NULL, &call), "cyxla_call_new");
    cyxla_executable_free(executable); /* the call keeps it alive */
    return call;
}

static void *input(cyxla_call *call, size_t index)
{
    void *memory = cyxla_call_input(call, 0, index, NULL);

    expect(memory != NULL, "an input without memory");
    return memory;
}

/* The MLP, whose results for a few inputs are known from cyxla_run. */
struct mlp {
    const struct program *program;
    cyxla_executable *executable;
    cyxla_call *call;
    float *input;
    float expected[SAMPLES][DIGITS];
};

static void run_mlp_simply(struct mlp *mlp, size_t sample, float output[DIGITS])
{
    const void *inputs[] = {mlp->program->inputs[0].data};
    void *outputs[] = {output};
    const size_t input_sizes[] = {mlp->program->inputs[0].size};
    const size_t output_sizes[] = {DIGITS * sizeof(float)};

    *(float *)mlp->program->inputs[0].data = (float)sample;
    check(cyxla_run(mlp->executable, inputs, input_sizes, 1, outputs, output_sizes, 1), "cyxla_run");
}

static void prepare_mlp(struct mlp *mlp, const struct program *program)
{
    mlp->program = program;
    mlp->executable = compile(program->text);
    for (size_t sample = 0; sample < SAMPLES; sample++)
        run_mlp_simply(mlp, sample, mlp->expected[sample]);
    expect(memcmp(mlp->expected[0], mlp->expected[1], sizeof mlp->expected[0]) != 0, "the MLP ignores its input");
    check(cyxla_call_new(mlp->executable, NULL, &mlp->call), "cyxla_call_new");
    mlp->input = input(mlp->call, 0);
    memcpy(mlp->input, program->inputs[0].data, program->inputs[0].size);
}

static void expect_mlp(const struct mlp *mlp, size_t sample, const void *output)
{
    expect(output && memcmp(output, mlp->expected[sample], sizeof mlp->expected[sample]) == 0,
           "the MLP gives a wrong result");
}

static void run_mlp(struct mlp *mlp)
{
    size_t sample = step % SAMPLES;

    mlp->input[0] = (float)sample;
    check(cyxla_call_run(mlp->call), "cyxla_call_run");
    if (step % TAKE != 0) {
        expect_mlp(mlp, sample, cyxla_call_output(mlp->call, 0, 0, NULL));
        return;
    }
    float output[DIGITS];
    cyxla_buffer *taken = NULL;
    check(cyxla_call_take(mlp->call, 0, 0, &taken), "cyxla_call_take");
    check(cyxla_buffer_to_host(taken, output, sizeof output), "cyxla_buffer_to_host");
    cyxla_buffer_free(taken);
    expect_mlp(mlp, sample, output);
    run_mlp_simply(mlp, sample, output);
    expect_mlp(mlp, sample, output);
}

/* One element at a time changes its sign. */
static void run_select(cyxla_call *call, unsigned char *mask, float *values)
{
    size_t place = step % LENGTH;

    mask[place] ^= 1;
    values[place] = (float)place + 1;
    check(cyxla_call_run(call), "cyxla_call_run with a PRED input");
    const float *output = cyxla_call_output(call, 0, 0, NULL);
    expect(output && (output[place] > 0) == (mask[place] == 1), "a selection is wrong");
}

/* Counts up and down between 0 and 1000; each step takes the state of the one before. */
static void run_count(cyxla_call *call, float *addend, float *state)
{
    float change = step % 8000 < 4000 ? 1 : -1;

    for (size_t i = 0; i < LENGTH; i++)
        addend[i] = change;
    *state += change;
    check(cyxla_call_start(call), "cyxla_call_start");
    check(cyxla_call_wait(call, -1), "cyxla_call_wait");
    const float *output = cyxla_call_output(call, 0, 0, NULL);
    expect(output && memcmp(output, state, sizeof *state) == 0, "a state is wrong");
}

/* In kilobytes. */
static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        abort();
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static double seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    static struct program programs[PROGRAM_COUNT];
    static struct mlp mlp;
    const char *plugin = getenv("CYXLA_PLUGIN");
    unsigned long steps = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;

    if (!plugin || steps <= WARM_UP) {
        fprintf(stderr, "usage: CYXLA_PLUGIN=PATH %s STEPS (more than %d)\n", argv[0], WARM_UP);
        return 2;
    }
    make_programs(programs);
    check(cyxla_initialize(plugin, "cpu", NULL, NULL), "cyxla_initialize");
    prepare_mlp(&mlp, &programs[0]);
    cyxla_call *select = bind(select_text);
    unsigned char *mask = input(select, 0);
    float *values = input(select, 1);
    cyxla_call *count = bind(count_text);
    float *addend = input(count, 0);
    float state = 0;
    input(count, 1); /* zeros */
    check(cyxla_call_feed(count, 0, 0, 1), "cyxla_call_feed");

    double start = seconds();
    long before = 0;
    long most = 0;
    for (step = 0; step < steps; step++) {
        if (step == WARM_UP)
            before = most = resident();
        if (step > WARM_UP && (step % LOOK == 0 || step == steps - 1))
            most = resident() > most ? resident() : most;
        if (step % 4 < 2)
            run_mlp(&mlp);
        else if (step % 4 == 2)
            run_select(select, mask, values);
        else
            run_count(count, addend, &state);
    }
    printf("%ld %.1f\n", most - before, seconds() - start);
    cyxla_call_free(mlp.call);
    cyxla_call_free(select);
    cyxla_call_free(count);
    cyxla_executable_free(mlp.executable);
    return 0;
}
