/* How many round trips of the MLP threads make together, each on its own:
 *
 *     scaling THREADS TURNS
 *
 * For each turn and way, a line `WAY<tab>THREADS<tab>CALLS<tab>SHARE`: calls each second
 * of one thread and then of THREADS, and how much of a processor each of them had; less
 * than 1 says that other work took some. The plugin is that of the environment variable
 * CYXLA_PLUGIN.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cyxla.h>

#include "programs.h"
#include "raw_pjrt.h"

enum { MOST_THREADS = 64, CALLS_BETWEEN_LOOKS = 64 };

static const double turn_seconds = 0.2;

/* What one thread has. */
struct worker {
    void (*run)(struct worker *);
    pthread_barrier_t *start;
    struct raw_program *raw;
    cyxla_call *call;
    float *input;
    const float *outputs[1];
    double calls; /* each second */
    double share; /* of a processor */
};

struct way {
    const char *name;
    void (*prepare)(struct worker *, const struct program *);
    void (*run)(struct worker *);
};

static void check(cyxla_error *error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "%s: %s\n", what, cyxla_error_message(error));
    exit(1);
}

/* Each thread its own memory: neighbours in a cache line would disturb each other. */
static struct array *own_input(const struct program *program)
{
    struct array *own = malloc(sizeof *own);

    if (!own)
        abort();
    *own = program->inputs[0];
    if (posix_memalign(&own->data, 128, own->size) != 0)
        abort();
    memcpy(own->data, program->inputs[0].data, own->size);
    return own;
}

static void prepare_raw(struct worker *worker, const struct program *program)
{
    struct array *input = own_input(program);

    worker->input = input->data;
    worker->raw = raw_compile(program->text, strlen(program->text), input, 1, program->outputs, 1);
}

static void prepare_raw_with_client(struct worker *worker, const struct program *program)
{
    raw_new_client();
    prepare_raw(worker, program);
}

static void run_raw(struct worker *worker)
{
    raw_run_bound(worker->raw, worker->outputs);
}

/* All threads call one executable. */
static void prepare_cyxla(struct worker *worker, const struct program *program)
{
    static cyxla_executable *executable;

    if (!executable) {
        cyxla_program *code = NULL;
        check(cyxla_program_from_bytes(program->text, strlen(program->text), CYXLA_FORMAT_STABLEHLO, NULL, &code),
              "cyxla_program_from_bytes");
        check(cyxla_compile_program(code, NULL, &executable), "cyxla_compile_program");
        cyxla_program_free(code);
    }
    check(cyxla_call_new(executable, NULL, &worker->call), "cyxla_call_new");
    worker->input = cyxla_call_input(worker->call, 0, 0, NULL);
    if (!worker->input)
        abort();
    memcpy(worker->input, program->inputs[0].data, program->inputs[0].size);
}

static void run_cyxla(struct worker *worker)
{
    check(cyxla_call_run(worker->call), "cyxla_call_run");
    worker->outputs[0] = cyxla_call_output(worker->call, 0, 0, NULL);
}

static const struct way ways[] = {
    {"raw PJRT C, a client each", prepare_raw_with_client, run_raw},
    {"raw PJRT C, one client", prepare_raw, run_raw},
    {"cyxla_call_run", prepare_cyxla, run_cyxla},
};

#define WAYS (sizeof ways / sizeof ways[0])

static double seconds(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    volatile float *input = worker->input;
    float sum = 0;
    long calls = 0;
    double taken = 0;

    pthread_barrier_wait(worker->start);
    double start = seconds(CLOCK_MONOTONIC);
    double processor = seconds(CLOCK_THREAD_CPUTIME_ID);
    while (taken < turn_seconds) {
        for (int i = 0; i < CALLS_BETWEEN_LOOKS; i++) {
            *input = (float)i;
            worker->run(worker);
            sum += *(const volatile float *)worker->outputs[0];
        }
        calls += CALLS_BETWEEN_LOOKS;
        taken = seconds(CLOCK_MONOTONIC) - start;
    }
    worker->calls = (double)calls / taken;
    worker->share = (seconds(CLOCK_THREAD_CPUTIME_ID) - processor) / taken;
    if (!(sum > -1e30F))
        fprintf(stderr, "the results are not what they should be\n");
    return NULL;
}

static void time_threads(const struct way *way, struct worker *workers, unsigned count)
{
    pthread_barrier_t start;
    pthread_t threads[MOST_THREADS];
    double calls = 0;
    double share = 0;

    if (pthread_barrier_init(&start, NULL, count) != 0)
        abort();
    for (unsigned i = 0; i < count; i++) {
        workers[i].start = &start;
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        calls += workers[i].calls;
        share += workers[i].share / count;
    }
    pthread_barrier_destroy(&start);
    printf("%s\t%u\t%.1f\t%.3f\n", way->name, count, calls, share);
}

int main(int argc, char **argv)
{
    static struct program programs[PROGRAM_COUNT];
    static struct worker workers[WAYS][MOST_THREADS];
    const char *plugin = getenv("CYXLA_PLUGIN");
    unsigned long threads = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long turns = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

    if (!plugin || threads < 1 || threads > MOST_THREADS || turns < 1) {
        fprintf(stderr, "usage: CYXLA_PLUGIN=PATH %s THREADS (at most %d) TURNS\n", argv[0], MOST_THREADS);
        return 2;
    }
    make_programs(programs);
    raw_open(plugin);
    check(cyxla_initialize(plugin, "cpu", NULL, NULL), "cyxla_initialize");
    for (size_t way = 0; way < WAYS; way++) {
        for (size_t i = 0; i < threads; i++) {
            workers[way][i].run = ways[way].run;
            ways[way].prepare(&workers[way][i], &programs[0]);
        }
    }
    for (size_t turn = 0; turn < turns; turn++) {
        for (size_t way = 0; way < WAYS; way++) {
            time_threads(&ways[way], workers[way], 1);
            time_threads(&ways[way], workers[way], (unsigned)threads);
        }
    }
    return 0;
}
