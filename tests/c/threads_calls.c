/* Calls and buffers in many threads: a call is for one thread at a time, a buffer for
 * any number of them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "crowd.h"
#include "support.h"
#include "test.h"

static const int64_t DIMS_4[] = {4};

static cyxla_executable *executable;
static cyxla_call *call;
static cyxla_buffer *buffer;

static cyxla_call *new_call(void)
{
    cyxla_call *made = NULL;

    if (executable)
        CHECK_OK(cyxla_call_new(executable, NULL, &made));
    return made;
}

/* --- a call for each thread, of one executable --- */

static int steps(void)
{
    return on_fake_plugin() ? 100 : 50000;
}

static void *run_own_call(void *number)
{
    float base = (float)(uintptr_t)number;
    cyxla_call *own = new_call();
    float *a = cyxla_call_input(own, 0, 0, NULL);
    float *b = cyxla_call_input(own, 0, 1, NULL);
    int wrong = 0;

    if (CHECK(a && b)) {
        b[0] = 1000 * base;
        line_up();
        for (int i = 0; i < steps() && wrong == 0; i++) {
            a[0] = (float)i;
            const float want[4] = {1000 * base + (float)i, 0, 0, 0};
            const float *sum = CHECK_OK(cyxla_call_run(own)) ? cyxla_call_output(own, 0, 0, NULL) : NULL;
            wrong += !sum || !CHECK_FLOATS(sum, want, 4);
        }
    }
    cyxla_call_free(own);
    return NULL;
}

static void threads_have_calls_of_one_executable(void)
{
    executable = compiled(ADD_F32_4);
    if (executable)
        together_in(4, run_own_call);
    cyxla_executable_free(executable);
}

/* --- a call goes from thread to thread --- */

static void *make_call(void *unused)
{
    (void)unused;
    call = new_call();
    return NULL;
}

static void *write_inputs(void *unused)
{
    float *a = cyxla_call_input(call, 0, 0, NULL);
    float *b = cyxla_call_input(call, 0, 1, NULL);

    (void)unused;
    if (CHECK(a && b)) {
        a[0] = 3;
        b[0] = 4;
    }
    return NULL;
}

static void *start_step(void *unused)
{
    (void)unused;
    CHECK_OK(cyxla_call_start(call));
    return NULL;
}

static void *wait_for_step(void *unused)
{
    (void)unused;
    CHECK_OK(cyxla_call_wait(call, -1));
    return NULL;
}

static void *read_output(void *unused)
{
    const float want[4] = {7, 0, 0, 0};
    const float *sum = cyxla_call_output(call, 0, 0, NULL);

    (void)unused;
    if (CHECK(sum != NULL))
        CHECK_FLOATS(sum, want, 4);
    CHECK_OK(cyxla_call_take(call, 0, 0, &buffer));
    return NULL;
}

static void *free_call(void *unused)
{
    (void)unused;
    cyxla_call_free(call);
    cyxla_buffer_free(buffer);
    return NULL;
}

static void a_call_goes_from_thread_to_thread(void)
{
    executable = compiled(ADD_F32_4);
    together_in(1, make_call);
    if (call) {
        together_in(1, write_inputs);
        for (int i = 0; i < 5; i++) {
            buffer = NULL;
            together_in(1, start_step);
            together_in(1, wait_for_step);
            together_in(1, read_output);
            if (i < 4)
                cyxla_buffer_free(buffer);
        }
        together_in(1, free_call);
    }
    cyxla_executable_free(executable);
}

/* --- one call in two threads, which is wrong --- */

static int went_well;
static int refused;

/* What the other threads forbid is refused: the call is in use, a step in flight, an
 * output taken. Nothing else goes wrong. */
static void count(cyxla_error *error)
{
    if (error)
        CHECK_FAILS(error, CYXLA_CODE_FAILED_PRECONDITION, "");
    __atomic_fetch_add(error ? &refused : &went_well, 1, __ATOMIC_SEQ_CST);
}

static void *misuse_call(void *number)
{
    uintptr_t i = (uintptr_t)number;

    line_up();
    for (int round = 0; round < steps() / 50; round++) {
        cyxla_buffer *taken = NULL;

        switch ((i + (uintptr_t)round) % 6) {
        case 0:
            count(cyxla_call_run(call));
            break;
        case 1:
            count(cyxla_call_start(call));
            break;
        case 2:
            count(cyxla_call_bind(call, 0, 0, buffer));
            break;
        case 3:
            cyxla_call_is_done(call);
            cyxla_call_input(call, 0, 1, NULL);
            break;
        case 4:
            count(cyxla_call_take(call, 0, 0, &taken));
            cyxla_buffer_free(taken);
            break;
        default:
            cyxla_call_output(call, 0, 0, NULL);
            count(cyxla_call_wait(call, 1000));
            break;
        }
    }
    return NULL;
}

static void a_call_is_refused_to_a_second_thread(void)
{
    static const float ones[] = {1, 1, 1, 1};
    const float want[4] = {1, 1, 1, 1};

    executable = compiled(ADD_F32_4);
    call = new_call();
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, ones, &buffer));
    if (call && buffer && CHECK(cyxla_call_input(call, 0, 1, NULL) != NULL)) {
        CHECK_OK(cyxla_call_bind(call, 0, 0, buffer));
        together_in(4, misuse_call);
        CHECK(went_well > 0 && refused > 0);
        /* It is as good as before. */
        CHECK_OK(cyxla_call_wait(call, -1));
        CHECK_OK(cyxla_call_run(call));
        CHECK_FLOATS((const float *)cyxla_call_output(call, 0, 0, NULL), want, 4);
    }
    cyxla_call_free(call);
    cyxla_buffer_free(buffer);
    cyxla_executable_free(executable);
}

/* --- one buffer in many threads --- */

static int donations;

static void *use_buffer(void *number)
{
    static const float want[] = {1, 2, 3, 4};
    static const float ones[] = {1, 1, 1, 1};
    uintptr_t i = (uintptr_t)number;
    float back[4] = {0};
    size_t rank = 0;
    cyxla_buffer *other = NULL;
    cyxla_buffer *sum = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, ones, &other));
    line_up();
    CHECK_INT(cyxla_buffer_dtype(buffer), CYXLA_DTYPE_F32);
    CHECK_INT(cyxla_buffer_dims(buffer, &rank)[0], 4);
    CHECK_INT(cyxla_buffer_size(buffer), 16);
    if (i % 2) {
        /* Before it is donated, or too late. */
        cyxla_error *error = cyxla_buffer_to_host(buffer, back, sizeof back);
        if (error)
            CHECK_FAILS(error, CYXLA_CODE_FAILED_PRECONDITION, "donated");
        else
            CHECK_FLOATS(back, want, 4);
        cyxla_error_free(cyxla_buffer_wait(buffer));
    } else {
        const cyxla_buffer *inputs[] = {buffer, other};
        cyxla_error *error = cyxla_execute(executable, inputs, 2, &sum, 1);
        if (error)
            CHECK_FAILS(error, CYXLA_CODE_FAILED_PRECONDITION, "donated");
        else
            __atomic_fetch_add(&donations, 1, __ATOMIC_SEQ_CST);
    }
    cyxla_buffer_is_donated(buffer);
    cyxla_buffer_free(sum);
    cyxla_buffer_free(other);
    return NULL;
}

static void a_buffer_is_read_and_donated(void)
{
    static const float data[] = {1, 2, 3, 4};

    executable = compiled(DONATED_ADD_F32_4);
    for (int round = 0; executable && round < 20; round++) {
        donations = 0;
        buffer = NULL;
        CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, data, &buffer));
        together(use_buffer);
        CHECK_INT(donations, 1);
        CHECK(cyxla_buffer_is_donated(buffer));
        cyxla_buffer_free(buffer);
    }
    cyxla_executable_free(executable);
}

/* --- memory that the host lends, given back in any thread --- */

static struct lent {
    float *memory;
    cyxla_buffer *view;
    cyxla_buffer *sum;
    int releases;
} lent[THREADS];

static void *lend(void *number)
{
    struct lent *l = &lent[(uintptr_t)number];

    l->memory = aligned_bytes(16, 0);
    for (int i = 0; i < 4; i++)
        l->memory[i] = (float)i;
    CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, l->memory, false, count_release, &l->releases,
                                    &l->view));
    const cyxla_buffer *inputs[] = {l->view, l->view};
    CHECK_OK(cyxla_execute(executable, inputs, 2, &l->sum, 1));
    return NULL;
}

static void *give_back(void *number)
{
    static const float want[] = {0, 2, 4, 6};
    struct lent *l = &lent[((uintptr_t)number + 1) % THREADS];
    float back[4] = {0};

    cyxla_buffer_free(l->view);
    CHECK_OK(cyxla_buffer_to_host(l->sum, back, sizeof back));
    CHECK_FLOATS(back, want, 4);
    cyxla_buffer_free(l->sum);
    CHECK(released_once(&l->releases));
    free_aligned(l->memory, 0);
    return NULL;
}

static void lent_memory_is_given_back_once(void)
{
    executable = compiled(ADD_F32_4);
    if (executable) {
        together(lend);
        together(give_back);
    }
    cyxla_executable_free(executable);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(threads_have_calls_of_one_executable);
    RUN(a_call_goes_from_thread_to_thread);
    RUN(a_call_is_refused_to_a_second_thread);
    RUN(a_buffer_is_read_and_donated);
    RUN(lent_memory_is_given_back_once);
    return test_end();
}
