/* Times cyxla_run against the same steps in plain PJRT C, on one plugin in one
 * process, in turns.
 *
 *     run_vs_raw [--calls N] [--json FILE] [--check]
 *
 * The plugin is that of the environment variable CYXLA_PLUGIN. A call is a round trip:
 * change an input element, run, read an output element. Programs that take long get
 * fewer calls than N, as many as fit into a few seconds. --check fails when the median
 * of cyxla_run on the MLP is more than 1.5 times that of the raw steps.
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cyxla.h>

#include "programs.h"
#include "raw_pjrt.h"

#define BLOCK 200                /* calls before it is the other's turn */
#define SECONDS_FOR_EACH 4.0     /* at most, per program and side */
#define MLP_LIMIT 1.5

static void check(cyxla_error *error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, cyxla_code_name(cyxla_error_code(error)), cyxla_error_message(error));
    exit(1);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A program, ready to be called in both ways. */
struct contest {
    struct program *program;
    struct raw_program *raw;
    cyxla_executable *executable;
    const void *inputs[16];
    void *outputs[16];
    size_t input_sizes[16];
    size_t output_sizes[16];
};

static void run_raw(struct contest *contest)
{
    raw_run(contest->raw);
}

static void run_cyxla(struct contest *contest)
{
    struct program *program = contest->program;

    check(cyxla_run(contest->executable, contest->inputs, contest->input_sizes, program->input_count,
                    contest->outputs, contest->output_sizes, program->output_count),
          "cyxla_run");
}

static struct contest prepare(struct program *program)
{
    struct contest contest = {.program = program};
    cyxla_program *code = NULL;

    contest.raw = raw_compile(program->text, program->inputs, program->input_count, program->outputs,
                              program->output_count);
    check(cyxla_program_from_bytes(program->text, strlen(program->text), CYXLA_FORMAT_STABLEHLO, NULL, &code),
          "cyxla_program_from_bytes");
    check(cyxla_compile_program(code, NULL, &contest.executable), "cyxla_compile_program");
    cyxla_program_free(code);
    for (size_t i = 0; i < program->input_count; i++) {
        contest.inputs[i] = program->inputs[i].data;
        contest.input_sizes[i] = program->inputs[i].size;
    }
    for (size_t i = 0; i < program->output_count; i++) {
        contest.outputs[i] = program->outputs[i].data;
        contest.output_sizes[i] = program->outputs[i].size;
    }
    return contest;
}

/* Both ways give the same results, or there is nothing to compare. */
static void check_agreement(struct contest *contest)
{
    for (size_t i = 0; i < contest->program->output_count; i++) {
        const struct array *output = &contest->program->outputs[i];
        float *raw = malloc(output->size);
        if (!raw)
            abort();
        memset(output->data, 0, output->size);
        run_raw(contest);
        memcpy(raw, output->data, output->size);
        memset(output->data, 0, output->size);
        run_cyxla(contest);
        for (size_t j = 0; j < output->size / sizeof(float); j++) {
            float got = ((const float *)output->data)[j];
            if (!(fabsf(got - raw[j]) <= 1e-5F * (1 + fabsf(raw[j])))) {
                fprintf(stderr, "%s: output %zu, element %zu is %g by cyxla_run and %g by raw PJRT\n",
                        contest->program->name, i, j, (double)got, (double)raw[j]);
                exit(1);
            }
        }
        free(raw);
    }
}

/* Times one side's turn: `count` round trips into `times`, in microseconds. */
static void turn(struct contest *contest, void (*run)(struct contest *), double *times, size_t count)
{
    volatile float *input = contest->program->inputs[0].data;
    volatile const float *output = contest->program->outputs[0].data;
    float sink = 0;

    for (size_t i = 0; i < count; i++) {
        double start = now();
        *input = (float)i * 0.001F;
        run(contest);
        sink += *output;
        times[i] = 1e6 * (now() - start);
    }
    if (isnan(sink))
        fprintf(stderr, "%s gives NaN\n", contest->program->name);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

struct figures {
    size_t calls;
    double raw_p50, raw_p99;
    double cyxla_p50, cyxla_p99;
};

static struct figures time_both(struct contest *contest, size_t calls)
{
    double warm[2 * BLOCK];
    double start = now();

    turn(contest, run_raw, warm, 20);
    turn(contest, run_cyxla, warm, 20);
    double each = (now() - start) / 40;
    if ((double)calls * each > SECONDS_FOR_EACH)
        calls = (size_t)(SECONDS_FOR_EACH / each);
    size_t block = calls < 10 * BLOCK ? 1 + calls / 10 : BLOCK;
    size_t blocks = (calls + block - 1) / block;
    double *raw = calloc(blocks * block, sizeof *raw);
    double *cyxla = calloc(blocks * block, sizeof *cyxla);
    if (!raw || !cyxla)
        abort();
    for (size_t i = 0; i < blocks; i++) {
        turn(contest, run_raw, raw + i * block, block);
        turn(contest, run_cyxla, cyxla + i * block, block);
    }
    calls = blocks * block;
    qsort(raw, calls, sizeof *raw, compare);
    qsort(cyxla, calls, sizeof *cyxla, compare);
    struct figures figures = {calls, raw[calls / 2], raw[calls * 99 / 100], cyxla[calls / 2], cyxla[calls * 99 / 100]};
    free(raw);
    free(cyxla);
    return figures;
}

static void write_json(const char *path, const struct program *programs, const struct figures *figures)
{
    const cyxla_runtime_info *info = NULL;
    FILE *file = fopen(path, "w");

    check(cyxla_runtime_info_get(&info), "cyxla_runtime_info_get");
    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "{\n  \"cyxla_version\": \"%s\",\n  \"runtime\": %s,\n  \"programs\": [\n", cyxla_version(),
            cyxla_runtime_info_json(info));
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        const struct figures *f = &figures[i];
        fprintf(file,
                "    {\"name\": \"%s\", \"calls\": %zu, \"raw_p50_us\": %.3f, \"raw_p99_us\": %.3f, "
                "\"cyxla_p50_us\": %.3f, \"cyxla_p99_us\": %.3f, \"ratio_p50\": %.4f, \"ratio_p99\": %.4f}%s\n",
                programs[i].name, f->calls, f->raw_p50, f->raw_p99, f->cyxla_p50, f->cyxla_p99,
                f->cyxla_p50 / f->raw_p50, f->cyxla_p99 / f->raw_p99, i + 1 < PROGRAM_COUNT ? "," : "");
    }
    fprintf(file, "  ]\n}\n");
    if (fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static struct program programs[PROGRAM_COUNT];
    struct figures figures[PROGRAM_COUNT];
    const char *plugin = getenv("CYXLA_PLUGIN");
    const char *json = NULL;
    size_t calls = 20000;
    int checks = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0) {
            checks = 1;
        } else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--calls") == 0 && i + 1 < argc && atol(argv[i + 1]) > 0) {
            calls = (size_t)atol(argv[++i]);
        } else {
            fprintf(stderr, "usage: %s [--calls N] [--json FILE] [--check]\n", argv[0]);
            return 2;
        }
    }
    if (!plugin) {
        fprintf(stderr, "CYXLA_PLUGIN is not set; run `cargo xtask bench`\n");
        return 2;
    }
    raw_open(plugin);
    check(cyxla_initialize(plugin, "cpu", NULL, NULL), "cyxla_initialize");
    make_programs(programs);

    printf("%-22s %7s | %9s %9s | %9s %9s | %6s %6s\n", "round trip, us", "calls", "raw p50", "p99", "cyxla p50", "p99",
           "ratio", "p99");
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        struct contest contest = prepare(&programs[i]);
        check_agreement(&contest);
        struct figures *f = &figures[i];
        *f = time_both(&contest, calls);
        printf("%-22s %7zu | %9.2f %9.2f | %9.2f %9.2f | %6.2f %6.2f\n", programs[i].name, f->calls, f->raw_p50,
               f->raw_p99, f->cyxla_p50, f->cyxla_p99, f->cyxla_p50 / f->raw_p50, f->cyxla_p99 / f->raw_p99);
        fflush(stdout);
        cyxla_executable_free(contest.executable);
    }
    if (json)
        write_json(json, programs, figures);
    double ratio = figures[MLP].cyxla_p50 / figures[MLP].raw_p50;
    if (checks && ratio > MLP_LIMIT) {
        fprintf(stderr, "cyxla_run takes %.2f times the raw steps on the MLP; at most %.1f is allowed\n", ratio, MLP_LIMIT);
        return 1;
    }
    return 0;
}
