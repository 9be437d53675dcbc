/* Threads that race: one runtime for all, and no wrong number. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crowd.h"
#include "support.h"
#include "test.h"

static const cyxla_runtime_info *infos[THREADS];

static void *initialize(void *number)
{
    uintptr_t i = (uintptr_t)number;
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_set_int(options, "cpu_device_count", i % 2 ? 2 : 1));
    line_up();
    if (i % 3 == 0)
        CHECK_OK(cyxla_runtime_info_get(&infos[i]));
    else
        CHECK_OK(cyxla_initialize(NULL, "cpu", options, &infos[i]));
    cyxla_options_free(options);
    return NULL;
}

static void racing_initializers_get_one_runtime(void)
{
    together(initialize);
    CHECK(infos[0] != NULL);
    for (size_t i = 1; i < THREADS; i++)
        CHECK(infos[i] == infos[0]);
    CHECK(cyxla_is_initialized());
}

static int rounds(void)
{
    return on_fake_plugin() ? 20 : 300;
}

static cyxla_executable *shared;

static void *run_shared(void *number)
{
    float base = (float)(uintptr_t)number;

    for (int i = 0; i < rounds(); i++) {
        const float in[4] = {base, base + 1, (float)i, -base};
        const float want[4] = {2 * base, 2 * base + 2, 2 * (float)i, -2 * base};
        float out[4] = {0};
        if (!CHECK_OK(run_1_1(shared, in, sizeof in, out, sizeof out)) || !CHECK_FLOATS(out, want, 4))
            break;
    }
    return NULL;
}

static void one_executable_runs_on_many_threads(void)
{
    shared = compiled(DOUBLE_F32_4);
    if (shared)
        together(run_shared);
    cyxla_executable_free(shared);
}

static void *compile_own(void *number)
{
    float base = (float)(uintptr_t)number;

    for (int i = 0; i < 5; i++) {
        const float in[4] = {base, 1, 2, 3};
        const float want[4] = {2 * base, 2, 4, 6};
        float out[4] = {0};
        cyxla_executable *e = compiled(DOUBLE_F32_4);
        if (e && CHECK_OK(run_1_1(e, in, sizeof in, out, sizeof out)))
            CHECK_FLOATS(out, want, 4);
        cyxla_executable_free(e);
    }
    return NULL;
}

static void many_threads_compile(void)
{
    together(compile_own);
}

static cyxla_buffer *shared_buffer;

static void *use_buffer(void *number)
{
    static const float want[] = {2, 4, 6, 8};
    const cyxla_buffer *inputs[] = {shared_buffer};

    (void)number;
    for (int i = 0; i < rounds(); i++) {
        float back[4] = {0};
        cyxla_buffer *out = NULL;
        if (!CHECK_OK(cyxla_execute(shared, inputs, 1, &out, 1)))
            break;
        CHECK_OK(cyxla_buffer_to_host(out, back, sizeof back));
        CHECK_FLOATS(back, want, 4);
        cyxla_buffer_free(out);
    }
    return NULL;
}

static void one_buffer_is_an_argument_of_many_threads(void)
{
    static const float data[] = {1, 2, 3, 4};
    static const int64_t dims[] = {4};

    shared = compiled(DOUBLE_F32_4);
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, data, &shared_buffer));
    if (shared && shared_buffer)
        together(use_buffer);
    cyxla_buffer_free(shared_buffer);
    cyxla_executable_free(shared);
}

/* Of many threads that donate one buffer, one gets the result. */
static int donations;

static void *donate(void *number)
{
    const cyxla_buffer *inputs[2];
    static const float data[] = {1, 1, 1, 1};
    static const int64_t dims[] = {4};
    cyxla_buffer *other = NULL;
    cyxla_buffer *out = NULL;

    (void)number;
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, data, &other));
    inputs[0] = shared_buffer;
    inputs[1] = other;
    line_up();
    cyxla_error *error = cyxla_execute(shared, inputs, 2, &out, 1);
    if (error)
        CHECK_FAILS(error, CYXLA_CODE_FAILED_PRECONDITION, "donated");
    else
        __atomic_fetch_add(&donations, 1, __ATOMIC_SEQ_CST);
    cyxla_buffer_free(other);
    cyxla_buffer_free(out);
    return NULL;
}

static void one_thread_gets_a_donated_buffer(void)
{
    static const float data[] = {1, 2, 3, 4};
    static const int64_t dims[] = {4};

    shared = compiled(DONATED_ADD_F32_4);
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, data, &shared_buffer));
    if (shared && shared_buffer)
        together(donate);
    CHECK_INT(donations, 1);
    CHECK(cyxla_buffer_is_donated(shared_buffer));
    cyxla_buffer_free(shared_buffer);
    cyxla_executable_free(shared);
}

/* What one thread made, another frees, parents before children or after. */
static struct made {
    cyxla_program *program;
    cyxla_executable *executable;
    cyxla_buffer *in;
    cyxla_buffer *out;
    cyxla_error *error;
} made[THREADS];

static void *make(void *number)
{
    static const float data[] = {1, 2, 3, 4};
    static const int64_t dims[] = {4};
    struct made *m = &made[(uintptr_t)number];

    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &m->program));
    CHECK_OK(cyxla_compile_program(m->program, NULL, &m->executable));
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, data, &m->in));
    const cyxla_buffer *inputs[] = {m->in};
    CHECK_OK(cyxla_execute(m->executable, inputs, 1, &m->out, 1));
    m->error = cyxla_options_set_int(NULL, "a", 1);
    return NULL;
}

static void *drop_another_s(void *number)
{
    uintptr_t i = (uintptr_t)number;
    struct made *m = &made[(i + 1) % THREADS];

    switch (i % 3) {
    case 0:
        cyxla_program_free(m->program);
        cyxla_executable_free(m->executable);
        cyxla_buffer_free(m->in);
        cyxla_buffer_free(m->out);
        break;
    case 1:
        cyxla_buffer_free(m->out);
        cyxla_buffer_free(m->in);
        cyxla_executable_free(m->executable);
        cyxla_program_free(m->program);
        break;
    default:
        cyxla_executable_free(m->executable);
        cyxla_buffer_free(m->out);
        cyxla_program_free(m->program);
        cyxla_buffer_free(m->in);
        break;
    }
    cyxla_error_free(m->error);
    return NULL;
}

static void other_threads_may_free(void)
{
    together(make);
    together(drop_another_s);
    CHECK(alive_and_compiles());
}

static void *run_and_finish(void *unused)
{
    (void)unused;
    CHECK(alive());
    return NULL;
}

/* Hosts run code on small stacks: coroutines, embedded threads. */
static void a_small_stack_is_enough_to_run(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    CHECK(alive());
    pthread_attr_init(&attributes);
    CHECK_INT(pthread_attr_setstacksize(&attributes, 64 * 1024), 0);
    CHECK_INT(pthread_create(&thread, &attributes, run_and_finish, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(racing_initializers_get_one_runtime);
    RUN(one_executable_runs_on_many_threads);
    RUN(many_threads_compile);
    RUN(one_buffer_is_an_argument_of_many_threads);
    RUN(one_thread_gets_a_donated_buffer);
    RUN(other_threads_may_free);
    RUN(a_small_stack_is_enough_to_run);
    return test_end();
}
