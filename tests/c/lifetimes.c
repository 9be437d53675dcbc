/* What a garbage collector does: it frees in any order, from any thread, and at once. What
 * is left must go on working, for an object keeps alive what it was made from. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

enum { THREADS = 4, OBJECTS = 5, ORDERS = 120 };

static const float FOUR[] = {1, 2, 3, 4};
static const float TWICE[] = {2, 4, 6, 8};
static const int64_t DIMS_4[] = {4};

/* An executable, a view of lent memory, a call with the view as its input, a result
 * computed from the view, and a copy of the view. */
struct family {
    float *memory;
    int released;
    cyxla_executable *executable;
    cyxla_buffer *view;
    cyxla_call *call;
    cyxla_buffer *result;
    cyxla_buffer *copy;
};

static bool make(struct family *f)
{
    memset(f, 0, sizeof *f);
    f->memory = aligned_bytes(sizeof FOUR, 0);
    memcpy(f->memory, FOUR, sizeof FOUR);
    f->executable = compiled(DOUBLE_F32_4);
    CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, f->memory, false, count_release, &f->released,
                                    &f->view));
    const cyxla_buffer *inputs[] = {f->view};
    return CHECK_OK(cyxla_call_new(f->executable, NULL, &f->call)) && CHECK_OK(cyxla_call_bind(f->call, 0, 0, f->view)) &&
           CHECK_OK(cyxla_execute(f->executable, inputs, 1, &f->result, 1)) &&
           CHECK_OK(cyxla_buffer_copy_to(f->view, 0, NULL, &f->copy));
}

static bool holds(const cyxla_buffer *buffer, const float *want)
{
    float back[4] = {0};

    return CHECK_OK(cyxla_buffer_to_host(buffer, back, sizeof back)) && CHECK_FLOATS(back, want, 4);
}

/* Uses all that there still is. */
static bool works(const struct family *f)
{
    float out[4] = {0};
    bool right = true;

    if (f->executable)
        right = CHECK_OK(run_1_1(f->executable, FOUR, sizeof FOUR, out, sizeof out)) && CHECK_FLOATS(out, TWICE, 4);
    if (f->view)
        right = holds(f->view, FOUR) && CHECK(cyxla_buffer_data(f->view) == f->memory) && right;
    if (f->call)
        right = CHECK_OK(cyxla_call_run(f->call)) && CHECK_FLOATS(cyxla_call_output(f->call, 0, 0, NULL), TWICE, 4) &&
                right;
    if (f->result)
        right = holds(f->result, TWICE) && right;
    if (f->copy)
        right = holds(f->copy, FOUR) && right;
    if (f->view || f->call)
        right = CHECK_INT(f->released, 0) && right;
    return right;
}

static void drop(struct family *f, size_t object)
{
    switch (object) {
    case 0:
        cyxla_executable_free(f->executable);
        f->executable = NULL;
        break;
    case 1:
        cyxla_buffer_free(f->view);
        f->view = NULL;
        break;
    case 2:
        cyxla_call_free(f->call);
        f->call = NULL;
        break;
    case 3:
        cyxla_buffer_free(f->result);
        f->result = NULL;
        break;
    default:
        cyxla_buffer_free(f->copy);
        f->copy = NULL;
        break;
    }
}

static bool is_given_back(struct family *f)
{
    bool once = CHECK(released_once(&f->released));

    free_aligned(f->memory, 0);
    return once;
}

/* The order of this number among all orders. */
static void order_of(size_t number, size_t *order)
{
    for (size_t i = 0; i < OBJECTS; i++)
        order[i] = i;
    for (size_t left = OBJECTS; left > 1; left--) {
        size_t other = number % left;
        size_t last = order[left - 1];
        number /= left;
        order[left - 1] = order[other];
        order[other] = last;
    }
}

static bool in_order(size_t number)
{
    size_t order[OBJECTS];
    struct family f;
    bool right = make(&f);

    order_of(number, order);
    for (size_t i = 0; i < OBJECTS; i++) {
        right = right && works(&f);
        drop(&f, order[i]);
    }
    return is_given_back(&f) && right;
}

static void *take_orders(void *number)
{
    size_t step = on_fake_plugin() ? 3 * THREADS : THREADS;

    for (size_t i = (uintptr_t)number; i < ORDERS; i += step) {
        if (!in_order(i))
            break;
    }
    return NULL;
}

static void every_order_will_do(void)
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, take_orders, (void *)i), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* One family, each of whose objects another thread frees at the same moment. */
static struct family shared;
static pthread_barrier_t start;
static pthread_barrier_t end;

static int rounds(void)
{
    return on_fake_plugin() ? 10 : 100;
}

static void *drop_one(void *object)
{
    for (int i = 0; i < rounds(); i++) {
        pthread_barrier_wait(&start);
        drop(&shared, (uintptr_t)object);
        pthread_barrier_wait(&end);
    }
    return NULL;
}

static void all_may_go_at_once(void)
{
    pthread_t threads[OBJECTS];

    pthread_barrier_init(&start, NULL, OBJECTS + 1);
    pthread_barrier_init(&end, NULL, OBJECTS + 1);
    for (uintptr_t i = 0; i < OBJECTS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, drop_one, (void *)i), 0);
    for (int i = 0; i < rounds(); i++) {
        make(&shared);
        pthread_barrier_wait(&start);
        pthread_barrier_wait(&end);
        is_given_back(&shared);
    }
    for (size_t i = 0; i < OBJECTS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    pthread_barrier_destroy(&end);
    CHECK(alive());
}

/* A finalizer may run while another thread still computes with what it frees, as long as
 * that thread holds an object of its own that was made from it. */
static void *run_on(void *call)
{
    for (int i = 0; i < rounds(); i++) {
        if (!CHECK_OK(cyxla_call_run(call)) || !CHECK_FLOATS(cyxla_call_output(call, 0, 0, NULL), TWICE, 4))
            break;
    }
    return NULL;
}

static void parents_may_go_while_children_are_used(void)
{
    for (int i = 0; i < rounds() / 5; i++) {
        struct family f;
        pthread_t thread;
        if (!make(&f))
            return;
        CHECK_INT(pthread_create(&thread, NULL, run_on, f.call), 0);
        drop(&f, 1);
        drop(&f, 0);
        drop(&f, 3);
        drop(&f, 4);
        pthread_join(thread, NULL);
        CHECK_INT(f.released, 0);
        drop(&f, 2);
        is_given_back(&f);
    }
}

/* Some collectors free from inside a release function, which runs inside another free. */
struct chain {
    cyxla_buffer *next;
    int released;
};

static void free_the_next(void *user_data)
{
    struct chain *chain = user_data;

    cyxla_buffer_free(chain->next);
    count_release(&chain->released);
}

static void a_release_function_may_free(void)
{
    enum { LENGTH = 20 };
    struct chain chain[LENGTH];
    float *memory = aligned_bytes(sizeof FOUR, 0);
    cyxla_buffer *last = NULL;

    for (size_t i = 0; i < LENGTH; i++) {
        chain[i] = (struct chain){last, 0};
        last = NULL;
        CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, memory, false, free_the_next, &chain[i], &last));
    }
    cyxla_buffer_free(last);
    for (size_t i = 0; i < LENGTH; i++)
        CHECK(released_once(&chain[i].released));
    free_aligned(memory, 0);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(every_order_will_do);
    RUN(all_may_go_at_once);
    RUN(parents_may_go_while_children_are_used);
    RUN(a_release_function_may_free);
    return test_end();
}
