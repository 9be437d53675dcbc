/* Round trips in C, each way to run a program in turn, in one process: change an input
 * element in host memory, run, read an output element.
 *
 *     round_trip write FOLDER                  runs each program once and writes it for the other peers
 *     round_trip serve [FOLDER ONNXRUNTIME]    times calls as it is asked to
 *
 * With serve, the first line on standard output names the ways, divided by tabs. Each
 * line `PROGRAM CALLS` on standard input is answered by one line for each way, with the
 * nanoseconds of each call. ONNX Runtime takes part when its library is given, and the
 * folder with its models. The plugin is that of the environment variable CYXLA_PLUGIN.
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cyxla.h>

#include "peers/ort.h"
#include "programs.h"
#include "raw_pjrt.h"

#define BLOCK 200   /* calls before it is the next one's turn */
#define UNCOUNTED 5 /* calls that warm the caches up after the one before */

/* A program, ready to be called in one way. */
struct call {
    const struct program *program;
    struct raw_program *raw;
    cyxla_executable *executable;
    cyxla_call *bound;
    const void *input_data[16];
    void *output_data[16];
    size_t input_sizes[16];
    size_t output_sizes[16];
    struct ort_session *session;
    float *input;             /* where the caller writes */
    const float *outputs[16]; /* where it reads after a call */
};

struct way {
    const char *name;
    void (*prepare)(struct call *);
    void (*run)(struct call *);
};

static const char *models; /* the folder of ONNX Runtime's, if it takes part */

static void check(cyxla_error *error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, cyxla_code_name(cyxla_error_code(error)), cyxla_error_message(error));
    exit(1);
}

static void prepare_raw(struct call *call)
{
    const struct program *program = call->program;

    call->raw = raw_compile(program->text, strlen(program->text), program->inputs, program->input_count,
                            program->outputs, program->output_count);
}

static void prepare_raw_bound(struct call *call)
{
    prepare_raw(call);
    if (call->program->first_state)
        raw_feed(call->raw, call->program->output_count - 1, call->program->input_count - 1);
}

static void run_raw_bound(struct call *call)
{
    raw_run_bound(call->raw, call->outputs);
}

static void run_raw(struct call *call)
{
    raw_run(call->raw);
    keep_state(call->program);
}

static void prepare_cyxla(struct call *call)
{
    const struct program *program = call->program;
    cyxla_program *code = NULL;

    check(cyxla_program_from_bytes(program->text, strlen(program->text), CYXLA_FORMAT_STABLEHLO, NULL, &code),
          "cyxla_program_from_bytes");
    check(cyxla_compile_program(code, NULL, &call->executable), "cyxla_compile_program");
    cyxla_program_free(code);
    for (size_t i = 0; i < program->input_count; i++) {
        call->input_data[i] = program->inputs[i].data;
        call->input_sizes[i] = program->inputs[i].size;
    }
    for (size_t i = 0; i < program->output_count; i++) {
        call->output_data[i] = program->outputs[i].data;
        call->output_sizes[i] = program->outputs[i].size;
    }
}

static void prepare_bound(struct call *call)
{
    const struct program *program = call->program;

    prepare_cyxla(call);
    check(cyxla_call_new(call->executable, NULL, &call->bound), "cyxla_call_new");
    for (size_t i = 0; i < program->input_count; i++) {
        float *memory = cyxla_call_input(call->bound, 0, i, NULL);

        if (!memory)
            abort();
        memcpy(memory, program->inputs[i].data, program->inputs[i].size);
        if (i == 0)
            call->input = memory;
    }
    if (program->first_state)
        check(cyxla_call_feed(call->bound, 0, program->output_count - 1, program->input_count - 1),
              "cyxla_call_feed");
}

static void run_bound(struct call *call)
{
    check(cyxla_call_run(call->bound), "cyxla_call_run");
    for (size_t i = 0; i < call->program->output_count; i++)
        call->outputs[i] = cyxla_call_output(call->bound, 0, i, NULL);
}

static void run_cyxla(struct call *call)
{
    check(cyxla_run(call->executable, call->input_data, call->input_sizes, call->program->input_count,
                    call->output_data, call->output_sizes, call->program->output_count),
          "cyxla_run");
    keep_state(call->program);
}

static void prepare_ort(struct call *call)
{
    const struct program *program = call->program;
    char path[4096];

    snprintf(path, sizeof path, "%s/%s.onnx", models, program->id);
    call->session = ort_load(path, program->inputs, program->input_count, program->outputs, program->output_count);
}

static void run_ort(struct call *call)
{
    ort_run(call->session);
    keep_state(call->program);
}

/* The floor comes first: the others' results are compared with its own. ONNX Runtime
 * comes last, since it may be absent. */
static const struct way ways[] = {
    {"raw PJRT C, bound", prepare_raw_bound, run_raw_bound},
    {"raw PJRT C", prepare_raw, run_raw},
    {"cyxla_call_run", prepare_bound, run_bound},
    {"cyxla_run", prepare_cyxla, run_cyxla},
    {"ONNX Runtime C", prepare_ort, run_ort},
};

#define WAYS (sizeof ways / sizeof ways[0])

static size_t ways_taking_part(void)
{
    return models ? WAYS : WAYS - 1;
}

static struct call prepare(const struct program *program, const struct way *way)
{
    struct call call = {.program = program, .input = program->inputs[0].data};

    for (size_t i = 0; i < program->output_count; i++)
        call.outputs[i] = program->outputs[i].data;
    way->prepare(&call);
    return call;
}

static void compare_elements(const char *program, const char *way, size_t output, const float *got,
                             const float *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fabsf(got[i] - expected[i]) <= 1e-4F * (1 + fabsf(expected[i])))
            continue;
        fprintf(stderr, "%s: element %zu of output %zu is %g by %s, and %g by %s\n", program, i, output,
                (double)got[i], way, (double)expected[i], ways[0].name);
        exit(1);
    }
}

/* All ways give the same results, or there is nothing to compare. */
static void check_agreement(const struct program *program, struct call calls[WAYS])
{
    ways[0].run(&calls[0]);
    for (size_t way = 1; way < ways_taking_part(); way++) {
        for (size_t i = 0; i < program->output_count; i++)
            memset(program->outputs[i].data, 0xff, program->outputs[i].size);
        reset_state(program);
        ways[way].run(&calls[way]);
        for (size_t i = 0; i < program->output_count; i++)
            compare_elements(program->name, ways[way].name, i, calls[way].outputs[i], calls[0].outputs[i],
                             program->outputs[i].size / sizeof(float));
    }
}

static long now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void time_calls(struct call *call, void (*run)(struct call *), long *times, size_t count)
{
    volatile float *input = call->input;
    float sum = 0;

    for (size_t i = 0; i < UNCOUNTED; i++)
        run(call);
    for (size_t i = 0; i < count; i++) {
        long start = now();
        *input = (float)i * 0.001F;
        run(call);
        sum += *(const volatile float *)call->outputs[0];
        times[i] = now() - start;
    }
    if (isnan(sum))
        fprintf(stderr, "%s gives NaN\n", call->program->name);
}

static void take_turns(struct call calls[WAYS], size_t count)
{
    long *times[WAYS];

    for (size_t way = 0; way < ways_taking_part(); way++) {
        times[way] = calloc(count, sizeof(long));
        if (!times[way])
            abort();
    }
    for (size_t done = 0; done < count; done += BLOCK) {
        for (size_t way = 0; way < ways_taking_part(); way++)
            time_calls(&calls[way], ways[way].run, times[way] + done, count - done < BLOCK ? count - done : BLOCK);
    }
    for (size_t way = 0; way < ways_taking_part(); way++) {
        for (size_t i = 0; i < count; i++)
            printf("%ld ", times[way][i]);
        puts("");
        free(times[way]);
    }
    fflush(stdout);
}

static size_t find(const struct program programs[PROGRAM_COUNT], const char *id)
{
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        if (strcmp(programs[i].id, id) == 0)
            return i;
    }
    fprintf(stderr, "there is no program called %s\n", id);
    exit(1);
}

static void serve(const struct program programs[PROGRAM_COUNT])
{
    static struct call calls[PROGRAM_COUNT][WAYS];
    char id[16];
    size_t count;

    for (size_t way = 0; way < ways_taking_part(); way++)
        printf("%s%s", way ? "\t" : "", ways[way].name);
    puts("");
    fflush(stdout);
    while (scanf("%15s %zu", id, &count) == 2) {
        size_t index = find(programs, id);
        struct call *ready = calls[index];
        if (!ready[0].program) {
            for (size_t way = 0; way < ways_taking_part(); way++)
                ready[way] = prepare(&programs[index], &ways[way]);
            check_agreement(&programs[index], ready);
        }
        take_turns(ready, count);
    }
}

int main(int argc, char **argv)
{
    static struct program programs[PROGRAM_COUNT];
    const char *plugin = getenv("CYXLA_PLUGIN");
    int writes = argc == 3 && strcmp(argv[1], "write") == 0;
    int serves = (argc == 2 || argc == 4) && strcmp(argv[1], "serve") == 0;

    if (!plugin || (!writes && !serves)) {
        fprintf(stderr, "usage: CYXLA_PLUGIN=PATH %s write FOLDER | serve [FOLDER ONNXRUNTIME]\n", argv[0]);
        return 2;
    }
    make_programs(programs);
    raw_open(plugin);
    if (writes) {
        for (size_t i = 0; i < PROGRAM_COUNT; i++) {
            struct call call = prepare(&programs[i], &ways[1]);
            raw_run(call.raw); /* and not keep_state: the state stays as it is at first */
        }
        write_programs(argv[2], programs);
        return 0;
    }
    check(cyxla_initialize(plugin, "cpu", NULL, NULL), "cyxla_initialize");
    if (argc == 4) {
        models = argv[2];
        ort_open(argv[3]);
    }
    serve(programs);
    return 0;
}
