/* A program may mark an argument as donated: it takes the argument's contents, and
 * its result may live in the same memory. */
#include <stdint.h>
#include <string.h>

#include "corpus.h"
#include "support.h"
#include "test.h"

static const float FOUR[] = {1, 2, 3, 4};
static const int64_t DIMS_4[] = {4};

static cyxla_buffer *made(const float *data)
{
    cyxla_buffer *buffer = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, data, &buffer));
    return buffer;
}

static cyxla_error *add(const cyxla_executable *e, const cyxla_buffer *a, const cyxla_buffer *b, cyxla_buffer **out)
{
    const cyxla_buffer *inputs[] = {a, b};

    return cyxla_execute(e, inputs, 2, out, 1);
}

static void a_donated_buffer_is_gone(void)
{
    static const float want[] = {2, 4, 6, 8};
    float back[4] = {0};
    cyxla_buffer *out = NULL;
    cyxla_buffer *again = NULL;
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);
    cyxla_buffer *a = made(FOUR);
    cyxla_buffer *b = made(FOUR);

    if (!e)
        return;
    CHECK_FAILS(add(e, b, b, &out), CYXLA_CODE_INVALID_ARGUMENT, "donated", "argument 0");
    CHECK(!cyxla_buffer_is_donated(b));
    CHECK_OK(add(e, a, b, &out));
    CHECK(cyxla_buffer_is_donated(a));
    CHECK(!cyxla_buffer_is_donated(b));
    CHECK_OK(cyxla_buffer_to_host(out, back, sizeof back));
    CHECK_FLOATS(back, want, 4);
    CHECK_FAILS(cyxla_buffer_to_host(a, back, sizeof back), CYXLA_CODE_FAILED_PRECONDITION, "donated");
    CHECK_FAILS(cyxla_buffer_wait(a), CYXLA_CODE_FAILED_PRECONDITION, "donated");
    CHECK(cyxla_buffer_data(a) == NULL);
    CHECK_FAILS(add(e, a, b, &again), CYXLA_CODE_FAILED_PRECONDITION, "donated", "argument 0");
    CHECK_FAILS(add(e, b, a, &again), CYXLA_CODE_FAILED_PRECONDITION, "donated", "argument 1");
    CHECK(!cyxla_buffer_is_donated(b));
    CHECK(again == NULL);
    CHECK_INT(cyxla_buffer_size(a), 16);
    CHECK_OK(cyxla_buffer_to_host(b, back, sizeof back));
    CHECK_FLOATS(back, FOUR, 4);
    cyxla_buffer_free(a);
    cyxla_buffer_free(b);
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
    CHECK(alive());
}

/* A call may be told to leave a buffer alone; the answer is the same. */
static void a_buffer_may_be_kept(void)
{
    static const float want[] = {2, 4, 6, 8};
    float back[4] = {0};
    cyxla_call *call = NULL;
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);
    cyxla_buffer *a = made(FOUR);
    cyxla_buffer *b = made(FOUR);

    if (!e || !CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    CHECK_FAILS(cyxla_call_keep(call, 0, 0, true), CYXLA_CODE_FAILED_PRECONDITION, "input 0", "no buffer");
    CHECK_FAILS(cyxla_call_keep(call, 0, 2, true), CYXLA_CODE_INVALID_ARGUMENT, "input 2");
    CHECK_FAILS(cyxla_call_keep(NULL, 0, 0, true), CYXLA_CODE_INVALID_ARGUMENT, "call is NULL");
    CHECK_OK(cyxla_call_bind(call, 0, 0, a));
    CHECK_OK(cyxla_call_bind(call, 0, 1, b));
    CHECK_OK(cyxla_call_keep(call, 0, 0, true));
    for (int step = 0; step < 3; step++) {
        const float *sum;
        CHECK_OK(cyxla_call_run(call));
        sum = cyxla_call_output(call, 0, 0, NULL);
        if (CHECK(sum != NULL))
            CHECK_FLOATS(sum, want, 4);
        CHECK(!cyxla_buffer_is_donated(a));
        CHECK_OK(cyxla_buffer_to_host(a, back, sizeof back));
        CHECK_FLOATS(back, FOUR, 4);
    }
    CHECK_OK(cyxla_call_keep(call, 0, 0, false));
    CHECK_OK(cyxla_call_run(call));
    CHECK(cyxla_buffer_is_donated(a));
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "donated");
    cyxla_call_free(call);
    cyxla_buffer_free(a);
    cyxla_buffer_free(b);
    cyxla_executable_free(e);
}

static void a_donated_writable_view_holds_the_result(void)
{
    static const float want[] = {2, 4, 6, 8};
    int released = 0;
    float *memory = aligned_bytes(16, 0);
    cyxla_buffer *a = NULL;
    cyxla_buffer *out = NULL;
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);
    cyxla_buffer *b = made(FOUR);

    memcpy(memory, FOUR, sizeof FOUR);
    CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, memory, true, count_release, &released, &a));
    if (e && CHECK_OK(add(e, a, b, &out))) {
        CHECK_OK(cyxla_buffer_wait(out));
        CHECK(cyxla_buffer_is_donated(a));
        CHECK_FLOATS(memory, want, 4);
        CHECK(cyxla_buffer_data(out) == memory);
        cyxla_buffer_free(a);
        a = NULL;
        CHECK_INT(released, 0); /* the result lives in it */
        cyxla_buffer_free(out);
        out = NULL;
        CHECK(released_once(&released));
    }
    cyxla_buffer_free(a);
    cyxla_buffer_free(b);
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
    free_aligned(memory, 0);
}

/* The program would write over what it reads. */
static void donated_memory_may_not_be_another_argument_too(void)
{
    float *memory = aligned_bytes(32, 0);
    cyxla_buffer *a = NULL;
    cyxla_buffer *b = NULL;
    cyxla_buffer *out = NULL;
    cyxla_call *call = NULL;
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);

    memcpy(memory, FOUR, sizeof FOUR);
    CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, memory, true, NULL, NULL, &a));
    CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, memory, false, NULL, NULL, &b));
    CHECK_FAILS(add(e, a, b, &out), CYXLA_CODE_INVALID_ARGUMENT, "argument 0 is donated", "shares memory", "argument 1");
    CHECK(out == NULL && !cyxla_buffer_is_donated(a));
    CHECK_OK(cyxla_call_new(e, NULL, &call));
    CHECK_OK(cyxla_call_bind(call, 0, 0, a));
    CHECK_OK(cyxla_call_bind(call, 0, 1, b));
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_INVALID_ARGUMENT, "input 0 is donated", "input 1", "shares memory");
    CHECK_OK(cyxla_call_bind(call, 0, 1, a));
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_INVALID_ARGUMENT, "input 0 is donated", "same buffer", "input 1");
    CHECK_OK(cyxla_call_keep(call, 0, 0, true));
    CHECK_OK(cyxla_call_run(call));
    cyxla_call_free(call);
    cyxla_buffer_free(a);
    cyxla_buffer_free(b);
    cyxla_executable_free(e);
    free_aligned(memory, 0);
}

static void a_donated_read_only_view_is_left_as_it_is(void)
{
    static const float want[] = {2, 4, 6, 8};
    float back[4] = {0};
    int released = 0;
    float *memory = aligned_bytes(16, 0);
    cyxla_buffer *a = NULL;
    cyxla_buffer *out = NULL;
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);
    cyxla_buffer *b = made(FOUR);

    memcpy(memory, FOUR, sizeof FOUR);
    CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, memory, false, count_release, &released, &a));
    if (e && CHECK_OK(add(e, a, b, &out))) {
        CHECK_OK(cyxla_buffer_to_host(out, back, sizeof back));
        CHECK_FLOATS(back, want, 4);
        CHECK_FLOATS(memory, FOUR, 4);
    }
    cyxla_buffer_free(out);
    cyxla_buffer_free(a);
    cyxla_buffer_free(b);
    cyxla_executable_free(e);
    CHECK(released_once(&released));
    free_aligned(memory, 0);
}

/* What a release function may look at while it runs. */
struct watched {
    cyxla_buffer *lent;
    cyxla_buffer *other;
    int released;
};

static void look_around(void *user_data)
{
    struct watched *watched = user_data;
    float back[4] = {0};

    CHECK(cyxla_buffer_is_donated(watched->lent));
    CHECK(!cyxla_buffer_is_donated(watched->other));
    CHECK_OK(cyxla_buffer_to_host(watched->other, back, sizeof back));
    CHECK_FLOATS(back, FOUR, 4);
    count_release(&watched->released);
}

/* The plugin may be done with lent memory in the middle of cyxla_execute. */
static void a_release_function_may_call_the_library(void)
{
    struct watched watched = {NULL, made(FOUR), 0};
    float *memory = aligned_bytes(16, 0);
    cyxla_buffer *out = NULL;
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);

    memcpy(memory, FOUR, sizeof FOUR);
    CHECK_OK(
        cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, memory, false, look_around, &watched, &watched.lent));
    if (e && watched.lent && CHECK_OK(add(e, watched.lent, watched.other, &out)))
        CHECK_OK(cyxla_buffer_wait(out));
    cyxla_buffer_free(out);
    CHECK(released_once(&watched.released));
    cyxla_buffer_free(watched.lent);
    cyxla_buffer_free(watched.other);
    cyxla_executable_free(e);
    free_aligned(memory, 0);
}

/* donated(state: f32[4,4], x: f32[4,4]) of JAX gives state + x in the memory of state,
 * sum(x) and state * 0. */
static void an_export_tells_what_it_takes(void)
{
    static const int64_t dims[] = {4, 4};

    for (size_t i = 0; i < CORPUS_VERSION_COUNT; i++) {
        float ones[16];
        float back[16] = {0};
        cyxla_program *program = NULL;
        cyxla_executable *e = NULL;
        cyxla_buffer *state = NULL;
        cyxla_buffer *x = NULL;
        cyxla_buffer *results[3] = {NULL, NULL, NULL};
        for (size_t j = 0; j < 16; j++)
            ones[j] = 1;
        CHECK_OK(corpus_read(CORPUS_VERSIONS[i], "donated", NULL, &program));
        CHECK(cyxla_program_input_is_donated(program, 0) && !cyxla_program_input_is_donated(program, 1));
        if (CHECK_OK(cyxla_compile_program(program, NULL, &e)))
            CHECK(cyxla_executable_input_is_donated(e, 0) && !cyxla_executable_input_is_donated(e, 1));
        CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 2, NULL, ones, &state));
        CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 2, NULL, ones, &x));
        const cyxla_buffer *twice[] = {x, x};
        const cyxla_buffer *inputs[] = {state, x};
        CHECK_FAILS(cyxla_execute(e, twice, 2, results, 3), CYXLA_CODE_INVALID_ARGUMENT, "donated", "argument 0");
        if (CHECK_OK(cyxla_execute(e, inputs, 2, results, 3))) {
            CHECK(cyxla_buffer_is_donated(state) && !cyxla_buffer_is_donated(x));
            CHECK_OK(cyxla_buffer_to_host(results[0], back, sizeof back));
            CHECK(back[0] >= 2 && back[15] <= 2);
            CHECK_FAILS(cyxla_execute(e, inputs, 2, results, 3), CYXLA_CODE_FAILED_PRECONDITION, "donated",
                        "argument 0");
            CHECK_FAILS(cyxla_buffer_to_host(state, back, sizeof back), CYXLA_CODE_FAILED_PRECONDITION, "donated");
        }
        for (size_t j = 0; j < 3; j++)
            cyxla_buffer_free(results[j]);
        cyxla_buffer_free(state);
        cyxla_buffer_free(x);
        cyxla_executable_free(e);
        cyxla_program_free(program);
    }
    CHECK(alive());
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(a_donated_buffer_is_gone);
    RUN(a_buffer_may_be_kept);
    RUN(a_donated_writable_view_holds_the_result);
    RUN(donated_memory_may_not_be_another_argument_too);
    RUN(a_donated_read_only_view_is_left_as_it_is);
    RUN(a_release_function_may_call_the_library);
    /* The fake plugin cannot read what JAX writes. */
    if (!on_fake_plugin())
        RUN(an_export_tells_what_it_takes);
    return test_end();
}
