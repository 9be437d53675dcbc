#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "support.h"
#include "test.h"

static cyxla_call *call_of(const char *text)
{
    cyxla_executable *e = compiled(text);
    cyxla_call *call = NULL;

    if (!e)
        return NULL;
    CHECK_OK(cyxla_call_new(e, NULL, &call));
    cyxla_executable_free(e); /* the call keeps it alive */
    return call;
}

static float *input(cyxla_call *call, size_t index)
{
    return cyxla_call_input(call, 0, index, NULL);
}

static int first_of(cyxla_call *call, size_t index)
{
    const float *data = cyxla_call_output(call, 0, index, NULL);

    return CHECK(data != NULL) ? (int)data[0] : -1;
}

static void inputs_are_rewritten_between_steps(void)
{
    static const float zeros[4] = {0.0F};
    cyxla_call *call = call_of(ADD_F32_4);
    size_t size = 0;
    float *a, *b;
    int step;

    if (!call)
        return;
    a = cyxla_call_input(call, 0, 0, &size);
    b = input(call, 1);
    if (CHECK(a && b)) {
        CHECK_INT(size, 16);
        CHECK_INT((uintptr_t)a % 64, 0);
        CHECK_INT((uintptr_t)b % 64, 0);
        CHECK_FLOATS(a, zeros, 4);
        b[0] = 1.0F;
        for (step = 0; step < 3; step++) {
            const float *sum;
            const float want[4] = {(float)step + 1.0F, 0.0F, 0.0F, 0.0F};

            a[0] = (float)step;
            CHECK_OK(cyxla_call_run(call));
            size = 0;
            sum = cyxla_call_output(call, 0, 0, &size);
            CHECK_INT(size, 16);
            if (CHECK(sum != NULL))
                CHECK_FLOATS(sum, want, 4);
            CHECK(cyxla_call_output(call, 0, 0, NULL) == (const void *)sum);
        }
        CHECK(input(call, 0) == a);
    }
    cyxla_call_free(call);
}

static void an_input_that_was_forgotten_is_named(void)
{
    cyxla_call *call = call_of(ADD_F32_4);

    if (!call)
        return;
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "input 0", "f32[4]", "was not set", "cyxla_call_input");
    CHECK(input(call, 0) != NULL);
    CHECK_FAILS(cyxla_call_start(call), CYXLA_CODE_FAILED_PRECONDITION, "input 1");
    CHECK(cyxla_call_output(call, 0, 0, NULL) == NULL);
    CHECK_FAILS(cyxla_call_take(call, 0, 0, &(cyxla_buffer *){NULL}), CYXLA_CODE_FAILED_PRECONDITION, "no results");
    CHECK(input(call, 1) != NULL);
    CHECK_OK(cyxla_call_run(call));
    cyxla_call_free(call);
}

static void what_does_not_exist_is_refused(void)
{
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_options *options = cyxla_options_new();
    cyxla_call *call = NULL;
    cyxla_buffer *buffer = NULL;
    size_t size = 99;

    if (!e)
        return;
    CHECK_BLAMES(cyxla_call_new(NULL, NULL, &call), "executable");
    CHECK_BLAMES(cyxla_call_new(e, NULL, NULL), "out");
    CHECK_OK(cyxla_options_set_int(options, "fast", 1));
    CHECK_BLAMES(cyxla_call_new(e, options, &call), "options");
    CHECK(call == NULL);
    CHECK_OK(cyxla_call_new(e, NULL, &call));
    CHECK(cyxla_call_input(call, 1, 0, &size) == NULL);
    CHECK(cyxla_call_input(call, 0, 2, &size) == NULL);
    CHECK(cyxla_call_output(call, 0, 1, &size) == NULL);
    CHECK_INT(size, 99);
    CHECK_BLAMES(cyxla_call_bind(call, 0, 0, NULL), "buffer");
    CHECK_BLAMES(cyxla_call_feed(call, 0, 1, 0), "output");
    CHECK_BLAMES(cyxla_call_feed(call, 0, 0, 2), "index");
    CHECK_BLAMES(cyxla_call_feed(call, 1, 0, 0), "device");
    CHECK_BLAMES(cyxla_call_take(call, 0, 0, NULL), "out");
    CHECK_BLAMES(cyxla_call_run(NULL), "call");
    CHECK_BLAMES(cyxla_call_start(NULL), "call");
    CHECK_BLAMES(cyxla_call_wait(NULL, 0), "call");
    CHECK_BLAMES(cyxla_call_bind(NULL, 0, 0, NULL), "call");
    CHECK_BLAMES(cyxla_call_feed(NULL, 0, 0, 0), "call");
    CHECK_BLAMES(cyxla_call_take(NULL, 0, 0, &buffer), "call");
    CHECK(cyxla_call_input(NULL, 0, 0, &size) == NULL);
    CHECK(cyxla_call_output(NULL, 0, 0, &size) == NULL);
    CHECK(cyxla_call_is_done(NULL));
    cyxla_call_free(NULL);
    cyxla_call_free(call);
    cyxla_options_free(options);
    cyxla_executable_free(e);
}

static void buffers_can_be_inputs(void)
{
    static const int64_t dims[] = {4};
    static const int64_t other[] = {2, 2};
    static const float values[4] = {1.0F, 2.0F, 3.0F, 4.0F};
    cyxla_buffer *a = NULL, *wrong = NULL, *result = NULL;
    cyxla_call *call = call_of(ADD_F32_4);
    float sum[4];

    if (!call)
        return;
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, values, &a));
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, other, 2, NULL, values, &wrong));
    CHECK_FAILS(cyxla_call_bind(call, 0, 0, wrong), CYXLA_CODE_INVALID_ARGUMENT, "input 0", "f32[4]", "f32[2,2]");
    CHECK_OK(cyxla_call_bind(call, 0, 0, a));
    CHECK_OK(cyxla_call_bind(call, 0, 1, a));
    cyxla_buffer_free(a); /* the call keeps it alive */
    cyxla_buffer_free(wrong);
    CHECK_OK(cyxla_call_run(call));
    CHECK_FLOATS((const float *)cyxla_call_output(call, 0, 0, NULL), ((const float[]){2.0F, 4.0F, 6.0F, 8.0F}), 4);
    CHECK_OK(cyxla_call_take(call, 0, 0, &result));
    CHECK(cyxla_call_output(call, 0, 0, NULL) == NULL);
    CHECK_FAILS(cyxla_call_take(call, 0, 0, &wrong), CYXLA_CODE_FAILED_PRECONDITION, "was taken");
    CHECK_OK(cyxla_call_run(call));
    cyxla_call_free(call);
    if (result) {
        CHECK_OK(cyxla_buffer_to_host(result, sum, sizeof sum));
        CHECK_FLOATS(sum, ((const float[]){2.0F, 4.0F, 6.0F, 8.0F}), 4);
    }
    cyxla_buffer_free(result);
}

static void an_output_can_be_the_next_input(void)
{
    cyxla_call *call = call_of(ADD_F32_4);
    cyxla_buffer *taken = NULL;
    int step;

    if (!call || !input(call, 0) || !input(call, 1))
        return;
    input(call, 1)[0] = 1.0F;
    input(call, 0)[0] = 10.0F;
    CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
    for (step = 1; step <= 5; step++) {
        CHECK_OK(cyxla_call_run(call));
        CHECK_INT(first_of(call, 0), 10 + step);
    }
    CHECK_FAILS(cyxla_call_take(call, 0, 0, &taken), CYXLA_CODE_FAILED_PRECONDITION, "input of the next step");
    CHECK_FAILS(cyxla_call_feed(call, 0, 0, 1), CYXLA_CODE_INVALID_ARGUMENT, "fed to input 0");
    CHECK_OK(cyxla_call_feed(call, 0, 0, 0)); /* starts over */
    CHECK_OK(cyxla_call_run(call));
    CHECK_INT(first_of(call, 0), 11);
    CHECK_OK(cyxla_call_run(call));
    CHECK_INT(first_of(call, 0), 12);
    CHECK(input(call, 0) != NULL); /* ends it */
    cyxla_call_free(call);
}

static void donated_inputs(void)
{
    static const int64_t dims[] = {4};
    static const float values[4] = {1.0F, 2.0F, 3.0F, 4.0F};
    cyxla_call *call = call_of(DONATED_ADD_F32_4);
    cyxla_buffer *a = NULL;
    int step;

    if (!call || !input(call, 0) || !input(call, 1))
        return;
    /* The call's own memory is not given away. */
    input(call, 1)[0] = 1.0F;
    for (step = 0; step < 3; step++) {
        CHECK_OK(cyxla_call_run(call));
        CHECK_INT(first_of(call, 0), 1);
        CHECK_INT((int)input(call, 0)[0], 0);
    }
    /* A buffer is, once. */
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, values, &a));
    CHECK_OK(cyxla_call_bind(call, 0, 0, a));
    CHECK_OK(cyxla_call_run(call));
    CHECK_INT(first_of(call, 0), 2);
    CHECK(cyxla_buffer_is_donated(a));
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "input 0", "donated");
    CHECK_FAILS(cyxla_call_bind(call, 0, 0, a), CYXLA_CODE_FAILED_PRECONDITION, "donated");
    cyxla_buffer_free(a);
    /* A loop lives on what it gives itself. */
    a = NULL;
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, values, &a));
    CHECK_OK(cyxla_call_bind(call, 0, 0, a));
    CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
    for (step = 1; step <= 4; step++) {
        CHECK_OK(cyxla_call_run(call));
        CHECK_INT(first_of(call, 0), 1 + step);
    }
    CHECK(cyxla_buffer_is_donated(a));
    cyxla_buffer_free(a);
    cyxla_call_free(call);
}

static void start_wait_and_poll(void)
{
    cyxla_call *call = call_of(ADD_F32_4);
    int i;

    if (!call || !input(call, 0) || !input(call, 1))
        return;
    CHECK(cyxla_call_is_done(call));
    CHECK_OK(cyxla_call_wait(call, -1));
    for (i = 0; i < 20; i++) {
        CHECK_OK(cyxla_call_start(call));
        CHECK(input(call, 0) == NULL);
        CHECK(cyxla_call_output(call, 0, 0, NULL) == NULL);
        CHECK_FAILS(cyxla_call_start(call), CYXLA_CODE_FAILED_PRECONDITION, "in flight", "cyxla_call_wait");
        CHECK_OK(cyxla_call_wait(call, i % 2 ? 60000 : -1));
        CHECK(cyxla_call_is_done(call));
        CHECK(input(call, 0) != NULL);
        CHECK(cyxla_call_output(call, 0, 0, NULL) != NULL);
    }
    CHECK_OK(cyxla_call_start(call));
    cyxla_call_free(call); /* in flight */
}

static void programs_without_inputs_or_outputs(void)
{
    cyxla_call *call = call_of("module @nothing { func.func public @main() { return } }");

    if (!call)
        return;
    CHECK_OK(cyxla_call_run(call));
    CHECK_OK(cyxla_call_run(call));
    cyxla_call_free(call);
}

struct counting {
    const cyxla_executable *executable;
    int wrong;
};

static void *count_up(void *user_data)
{
    struct counting *counting = user_data;
    cyxla_call *call = NULL;
    float *a, *b;
    int i;

    if (!CHECK_OK(cyxla_call_new(counting->executable, NULL, &call)))
        return NULL;
    a = input(call, 0);
    b = input(call, 1);
    for (i = 0; a && b && i < 2000; i++) {
        const float *sum;

        a[3] = (float)i;
        b[3] = 1.0F;
        if (!CHECK_OK(cyxla_call_run(call)))
            break;
        sum = cyxla_call_output(call, 0, 0, NULL);
        if (!sum || (int)sum[3] != i + 1)
            counting->wrong++;
    }
    cyxla_call_free(call);
    return NULL;
}

static void threads_have_a_call_each(void)
{
    enum { COUNT = 4 };
    cyxla_executable *e = compiled(ADD_F32_4);
    struct counting counting[COUNT];
    pthread_t threads[COUNT];
    int i;

    if (!e)
        return;
    for (i = 0; i < COUNT; i++) {
        counting[i] = (struct counting){.executable = e};
        CHECK_INT(pthread_create(&threads[i], NULL, count_up, &counting[i]), 0);
    }
    for (i = 0; i < COUNT; i++) {
        CHECK_INT(pthread_join(threads[i], NULL), 0);
        CHECK_INT(counting[i].wrong, 0);
    }
    cyxla_executable_free(e);
}

/* --- outputs into the caller's memory --- */

static void outputs_go_where_the_caller_wants(void)
{
    static const size_t offsets[] = {0, 1, 4, 32, 64};
    cyxla_call *call = call_of(ADD_F32_4);

    if (!call)
        return;
    input(call, 0)[0] = 1.0F;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        float *memory = aligned_bytes(16, offsets[i]);
        const float want[4] = {(float)i + 1.0F, 0.0F, 0.0F, 0.0F};
        memset(memory, 0xff, 16);
        CHECK_OK(cyxla_call_bind_output(call, 0, 0, memory, 16));
        input(call, 1)[0] = (float)i;
        CHECK_OK(cyxla_call_run(call));
        CHECK_BYTES(memory, want, sizeof want);
        CHECK(cyxla_call_output(call, 0, 0, NULL) == memory);
        memset(memory, 0xff, 16);
        CHECK_OK(cyxla_call_start(call));
        CHECK_OK(cyxla_call_wait(call, -1));
        CHECK_BYTES(memory, want, sizeof want);
        CHECK_OK(cyxla_call_bind_output(call, 0, 0, NULL, 0));
        memset(memory, 0xff, 16);
        CHECK_OK(cyxla_call_run(call));
        CHECK(cyxla_call_output(call, 0, 0, NULL) != memory);
        CHECK_INT(((const unsigned char *)memory)[0], 0xff);
        free_aligned(memory, offsets[i]);
    }
    cyxla_call_free(call);
}

/* The host looks at each step's output while it goes round. */
static void a_fed_output_can_be_written_too(void)
{
    float seen[4] = {0};
    cyxla_call *call = call_of(ADD_F32_4);

    if (!call)
        return;
    input(call, 0)[0] = 100.0F;
    input(call, 1)[0] = 1.0F;
    CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
    CHECK_OK(cyxla_call_bind_output(call, 0, 0, seen, sizeof seen));
    for (int step = 1; step < 6; step++) {
        CHECK_OK(cyxla_call_run(call));
        CHECK_INT((int)seen[0], 100 + step);
    }
    cyxla_call_free(call);
}

static void asking_for_the_memory_ends_feeding(void)
{
    cyxla_call *call = call_of(ADD_F32_4);

    if (!call)
        return;
    input(call, 0)[0] = 10.0F;
    input(call, 1)[0] = 1.0F;
    CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
    CHECK_OK(cyxla_call_run(call));
    CHECK_OK(cyxla_call_run(call));
    CHECK_INT(first_of(call, 0), 12);
    CHECK(input(call, 0) != NULL);
    CHECK_OK(cyxla_call_run(call));
    CHECK_OK(cyxla_call_run(call));
    CHECK_INT(first_of(call, 0), 11);
    cyxla_call_free(call);
}

/* A step may be refused when what it was fed has been moved already: nothing of the step
 * before can be read then. */
static void a_refused_step_leaves_no_results(void)
{
    static const char text[] =
        "module { func.func public @main(%a: tensor<4xf32>, %p: tensor<4xi1>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.add %a, %a : tensor<4xf32>\n"
        "  %1 = stablehlo.select %p, %0, %a : tensor<4xi1>, tensor<4xf32>\n"
        "  return %1 : tensor<4xf32> } }\n";
    cyxla_call *call = call_of(text);
    unsigned char *truth;

    if (!call)
        return;
    input(call, 0)[0] = 1.0F;
    truth = cyxla_call_input(call, 0, 1, NULL);
    truth[0] = 1;
    CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
    CHECK_OK(cyxla_call_run(call));
    CHECK_INT(first_of(call, 0), 2);
    truth[0] = 2;
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_INVALID_ARGUMENT, "neither 0 nor 1");
    CHECK(cyxla_call_output(call, 0, 0, NULL) == NULL);
    truth[0] = 1; /* the loop goes on where it was */
    CHECK_OK(cyxla_call_run(call));
    CHECK_INT(first_of(call, 0), 4);
    truth[0] = 2;
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_INVALID_ARGUMENT, "neither 0 nor 1");
    CHECK(cyxla_call_input(call, 0, 0, NULL) != NULL); /* ends the feeding */
    CHECK(cyxla_call_output(call, 0, 0, NULL) == NULL);
    cyxla_call_free(call);
}

static void bad_places_for_outputs(void)
{
    float memory[8] = {0};
    cyxla_call *call = call_of(ADD_F32_4);

    if (!call)
        return;
    CHECK_FAILS(cyxla_call_bind_output(NULL, 0, 0, memory, 16), CYXLA_CODE_INVALID_ARGUMENT, "call is NULL");
    CHECK_FAILS(cyxla_call_bind_output(call, 0, 0, memory, 15), CYXLA_CODE_INVALID_ARGUMENT, "takes 16 bytes, got 15");
    CHECK_FAILS(cyxla_call_bind_output(call, 0, 0, memory, 32), CYXLA_CODE_INVALID_ARGUMENT, "got 32");
    CHECK_FAILS(cyxla_call_bind_output(call, 0, 0, NULL, 16), CYXLA_CODE_INVALID_ARGUMENT, "NULL");
    CHECK_FAILS(cyxla_call_bind_output(call, 0, 1, memory, 16), CYXLA_CODE_INVALID_ARGUMENT, "output 1");
    CHECK_FAILS(cyxla_call_bind_output(call, 1, 0, memory, 16), CYXLA_CODE_INVALID_ARGUMENT, "device 1");
    CHECK_OK(cyxla_call_bind_output(call, 0, 0, NULL, 0));
    input(call, 0)[0] = 1.0F;
    input(call, 1);
    CHECK_OK(cyxla_call_run(call));
    CHECK_INT((int)memory[0], 0);
    cyxla_call_free(call);
}

/* --- the end of a step --- */

struct ended {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int done;
    int freed;
    cyxla_call *call;
    bool uses_call;
};

static void step_ended(void *user_data)
{
    struct ended *ended = user_data;

    if (ended->uses_call) {
        /* Inside of cyxla_call_start the call is taken; on another thread it may be. */
        cyxla_error_free(cyxla_call_wait(ended->call, 0));
        (void)cyxla_call_is_done(ended->call);
    }
    pthread_mutex_lock(&ended->lock);
    ended->done++;
    pthread_cond_signal(&ended->changed);
    pthread_mutex_unlock(&ended->lock);
}

static void nobody_listens(void *user_data)
{
    struct ended *ended = user_data;

    count_release(&ended->freed);
}

static void wait_until(struct ended *ended, int done)
{
    pthread_mutex_lock(&ended->lock);
    while (ended->done < done)
        pthread_cond_wait(&ended->changed, &ended->lock);
    pthread_mutex_unlock(&ended->lock);
}

static void the_end_of_a_step_is_told_once(void)
{
    struct ended ended = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, NULL, false};
    cyxla_call *call = call_of(ADD_F32_4);

    if (!call)
        return;
    input(call, 0)[0] = 1.0F;
    input(call, 1);
    CHECK_OK(cyxla_call_set_done(call, step_ended, &ended, nobody_listens));
    for (int step = 1; step <= 100; step++) {
        CHECK_OK(cyxla_call_start(call));
        wait_until(&ended, step);
        CHECK(cyxla_call_is_done(call));
        CHECK_OK(cyxla_call_wait(call, 0));
        CHECK_INT(first_of(call, 0), 1);
    }
    CHECK_OK(cyxla_call_run(call)); /* which waits itself */
    CHECK_INT(ended.done, 100);
    CHECK_INT(ended.freed, 0);
    CHECK_OK(cyxla_call_set_done(call, NULL, NULL, NULL));
    CHECK(released_once(&ended.freed));
    CHECK_OK(cyxla_call_start(call));
    CHECK_OK(cyxla_call_wait(call, -1));
    CHECK_INT(ended.done, 100);
    cyxla_call_free(call);
}

/* A plugin may tell the end of a step when the host has waited for it already and has
 * started the next one. */
static void every_end_is_told_however_fast_the_host_is(void)
{
    struct ended ended = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, NULL, false};
    cyxla_call *call = call_of(ADD_F32_4);
    int steps = on_fake_plugin() ? 200 : 5000;

    if (!call)
        return;
    input(call, 0);
    input(call, 1);
    CHECK_OK(cyxla_call_set_done(call, step_ended, &ended, nobody_listens));
    for (int step = 0; step < steps; step++) {
        CHECK_OK(cyxla_call_start(call));
        CHECK_OK(cyxla_call_wait(call, -1));
    }
    cyxla_call_free(call);
    CHECK(released_once(&ended.freed)); /* after the last of them */
    CHECK_INT(ended.done, steps);
}

/* With nothing to call, what was given is given back at once. */
static void without_a_function_nothing_is_kept(void)
{
    int freed = 0;
    cyxla_call *call = call_of(ADD_F32_4);

    CHECK_OK(cyxla_call_set_done(call, NULL, &freed, count_release));
    CHECK_INT(freed, 1);
    cyxla_call_free(call);
    CHECK_INT(freed, 1);
}

static cyxla_buffer *ones(void)
{
    static const float data[] = {1, 1, 1, 1};
    static const int64_t dims[] = {4};
    cyxla_buffer *buffer = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, data, &buffer));
    return buffer;
}

/* Gives the buffer to another program, so that a step that takes it fails. */
static void spoil(cyxla_buffer *buffer)
{
    cyxla_executable *taker = compiled(DONATED_ADD_F32_4);
    cyxla_buffer *other = ones();
    cyxla_buffer *out = NULL;
    const cyxla_buffer *inputs[] = {buffer, other};

    CHECK_OK(cyxla_execute(taker, inputs, 2, &out, 1));
    CHECK(cyxla_buffer_is_donated(buffer));
    cyxla_buffer_free(out);
    cyxla_buffer_free(other);
    cyxla_executable_free(taker);
}

/* What was to be fed is lost with a step that failed, and stays lost until the host
 * starts over: else the loop would go on with states of different steps. */
static void a_loop_that_failed_starts_over(void)
{
    cyxla_call *call = call_of(ADD_F32_4);
    cyxla_buffer *first = ones();
    cyxla_buffer *second = ones();

    if (!call)
        return;
    input(call, 0)[0] = 10.0F;
    CHECK_OK(cyxla_call_bind(call, 0, 1, first));
    CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
    for (int step = 0; step < 3; step++)
        CHECK_OK(cyxla_call_run(call));
    CHECK_INT(first_of(call, 0), 13);
    spoil(first);
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "input 1", "donated");
    CHECK(cyxla_call_output(call, 0, 0, NULL) == NULL);
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "lost", "input 0");
    CHECK_OK(cyxla_call_bind(call, 0, 1, second));
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "lost", "input 0");
    CHECK_OK(cyxla_call_feed(call, 0, 0, 0));
    CHECK_OK(cyxla_call_run(call));
    CHECK_INT(first_of(call, 0), 11);
    CHECK_OK(cyxla_call_run(call));
    CHECK_INT(first_of(call, 0), 12);
    cyxla_call_free(call);
    cyxla_buffer_free(first);
    cyxla_buffer_free(second);
}

static void the_function_is_given_up_with_the_call(void)
{
    struct ended ended = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, NULL, false};
    cyxla_call *call = call_of(ADD_F32_4);

    if (!call)
        return;
    input(call, 0);
    input(call, 1);
    CHECK_OK(cyxla_call_set_done(call, step_ended, &ended, nobody_listens));
    CHECK_OK(cyxla_call_start(call));
    CHECK_FAILS(cyxla_call_set_done(call, NULL, NULL, NULL), CYXLA_CODE_FAILED_PRECONDITION, "in flight");
    cyxla_call_free(call); /* with a step in flight */
    wait_until(&ended, 1);
    CHECK(released_once(&ended.freed));
    CHECK_FAILS(cyxla_call_set_done(NULL, step_ended, &ended, nobody_listens), CYXLA_CODE_INVALID_ARGUMENT,
                "call is NULL");
    CHECK_INT(ended.freed, 1);
}

static void the_function_may_not_use_the_call(void)
{
    struct ended ended = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, NULL, true};
    cyxla_call *call = call_of(ADD_F32_4);

    if (!call)
        return;
    ended.call = call;
    input(call, 0)[0] = 5.0F;
    input(call, 1);
    CHECK_OK(cyxla_call_set_done(call, step_ended, &ended, nobody_listens));
    CHECK_OK(cyxla_call_start(call));
    wait_until(&ended, 1);
    CHECK_OK(cyxla_call_wait(call, -1));
    CHECK_INT(first_of(call, 0), 5);
    cyxla_call_free(call);
    CHECK(released_once(&ended.freed));
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(inputs_are_rewritten_between_steps);
    RUN(an_input_that_was_forgotten_is_named);
    RUN(what_does_not_exist_is_refused);
    RUN(buffers_can_be_inputs);
    RUN(an_output_can_be_the_next_input);
    RUN(donated_inputs);
    RUN(start_wait_and_poll);
    RUN(programs_without_inputs_or_outputs);
    RUN(threads_have_a_call_each);
    RUN(outputs_go_where_the_caller_wants);
    RUN(a_fed_output_can_be_written_too);
    RUN(asking_for_the_memory_ends_feeding);
    /* The fake plugin knows no booleans. */
    if (!on_fake_plugin())
        RUN(a_refused_step_leaves_no_results);
    RUN(bad_places_for_outputs);
    RUN(the_end_of_a_step_is_told_once);
    RUN(every_end_is_told_however_fast_the_host_is);
    RUN(without_a_function_nothing_is_kept);
    RUN(a_loop_that_failed_starts_over);
    RUN(the_function_is_given_up_with_the_call);
    RUN(the_function_may_not_use_the_call);
    return test_end();
}
