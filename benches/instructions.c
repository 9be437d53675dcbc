/* Steps whose instructions are to be counted, under valgrind's callgrind:
 *
 *     valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=COUNTS instructions STEPS
 *
 * For each program and each way to run it, callgrind writes one file, COUNTS.1 and so on,
 * with WAY PROGRAM ARGUMENTS in its line `desc: Trigger: Client Request: `. It has what
 * STEPS steps took, after others that were not counted. The plugin is that of the environment variable
 * CYXLA_PLUGIN.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cyxla.h>
#include <valgrind/callgrind.h>

#include "programs.h"

#define WARM_UP 50

/* What the limits speak of. */
static const char *const counted[] = {"mlp", "tanh", "arguments", "outputs"};

static void check(cyxla_error *error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "%s: %s\n", what, cyxla_error_message(error));
    exit(1);
}

static cyxla_executable *compile(const struct program *program)
{
    cyxla_program *code = NULL;
    cyxla_executable *executable = NULL;

    check(cyxla_program_from_bytes(program->text, strlen(program->text), CYXLA_FORMAT_STABLEHLO, NULL, &code),
          "cyxla_program_from_bytes");
    check(cyxla_compile_program(code, NULL, &executable), "cyxla_compile_program");
    cyxla_program_free(code);
    return executable;
}

/* Ends the counting, and writes what was counted. */
static void dump(const char *way, const struct program *program)
{
    char name[64];

    CALLGRIND_STOP_INSTRUMENTATION;
    snprintf(name, sizeof name, "%s %s %zu %zu", way, program->id, program->input_count,
             program->output_count);
    CALLGRIND_DUMP_STATS_AT(name);
}

/* What is counted: a step, and the reading of one output. */
static void run_bound(cyxla_call *call, int steps)
{
    for (int i = 0; i < steps; i++) {
        check(cyxla_call_run(call), "cyxla_call_run");
        if (!cyxla_call_output(call, 0, 0, NULL))
            abort();
    }
}

static void count_bound(const struct program *program, cyxla_executable *executable, int steps)
{
    cyxla_call *call = NULL;

    check(cyxla_call_new(executable, NULL, &call), "cyxla_call_new");
    for (size_t i = 0; i < program->input_count; i++)
        memcpy(cyxla_call_input(call, 0, i, NULL), program->inputs[i].data, program->inputs[i].size);
    run_bound(call, WARM_UP);
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    run_bound(call, steps);
    dump("cyxla_call_run", program);
    cyxla_call_free(call);
}

static void run_simply(const struct program *program, const cyxla_executable *executable, int steps)
{
    const void *inputs[16];
    void *outputs[16];
    size_t input_sizes[16];
    size_t output_sizes[16];

    for (size_t i = 0; i < program->input_count; i++) {
        inputs[i] = program->inputs[i].data;
        input_sizes[i] = program->inputs[i].size;
    }
    for (size_t i = 0; i < program->output_count; i++) {
        outputs[i] = program->outputs[i].data;
        output_sizes[i] = program->outputs[i].size;
    }
    for (int i = 0; i < steps; i++)
        check(cyxla_run(executable, inputs, input_sizes, program->input_count, outputs, output_sizes,
                        program->output_count),
              "cyxla_run");
}

static void count_simply(const struct program *program, const cyxla_executable *executable, int steps)
{
    run_simply(program, executable, WARM_UP);
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    run_simply(program, executable, steps);
    dump("cyxla_run", program);
}

static int is_counted(const char *id)
{
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        if (strcmp(counted[i], id) == 0)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct program programs[PROGRAM_COUNT];
    const char *plugin = getenv("CYXLA_PLUGIN");
    int steps = argc == 2 ? atoi(argv[1]) : 0;

    if (!plugin || steps <= 0) {
        fprintf(stderr, "usage: CYXLA_PLUGIN=PATH %s STEPS\n", argv[0]);
        return 2;
    }
    make_programs(programs);
    check(cyxla_initialize(plugin, "cpu", NULL, NULL), "cyxla_initialize");
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        if (!is_counted(programs[i].id))
            continue;
        cyxla_executable *executable = compile(&programs[i]);
        count_bound(&programs[i], executable, steps);
        count_simply(&programs[i], executable, steps);
        cyxla_executable_free(executable);
    }
    return 0;
}
