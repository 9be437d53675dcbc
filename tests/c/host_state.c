/* Threads whose settings plugins do not stand: floating-point traps, cancellation, and
 * little stack. */
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "support.h"
#include "test.h"

/* y = a / b, f32[4]. */
static const char DIVIDE[] = "func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"
                             "  %0 = stablehlo.divide %a, %b : tensor<4xf32>\n"
                             "  return %0 : tensor<4xf32> }\n";

static void floating_point_traps_do_not_reach_a_program(void)
{
    const float a[4] = {1, 0, 6, -1}, b[4] = {0, 0, 2, 0};
    const float three = 3;
    float out[4] = {0};
    const void *inputs[] = {a, b};
    void *outputs[] = {out};
    const size_t sizes[] = {sizeof a, sizeof b}, out_size = sizeof out;
    const int traps = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;
    cyxla_executable *e = NULL;

    CHECK(feenableexcept(traps) >= 0);
    CHECK_OK(compile_text(DIVIDE, &e));
    CHECK_OK(cyxla_run(e, inputs, sizes, 2, outputs, &out_size, 1));
    CHECK((fegetexcept() & traps) == traps);
    fedisableexcept(traps);
    CHECK(out[0] > 1e38f);
    CHECK(isnan(out[1]));
    CHECK_FLOATS(&out[2], &three, 1);
    CHECK(out[3] < -1e38f);
    cyxla_executable_free(e);
}

static void *compile_often(void *unused)
{
    int i;

    (void)unused;
    for (i = 0; i < 10000; i++) {
        cyxla_executable *e = NULL;

        cyxla_error_free(compile_text(DIVIDE, &e));
        cyxla_executable_free(e);
        pthread_testcancel();
    }
    return NULL;
}

static void a_thread_may_be_cancelled(void)
{
    int i;

    for (i = 0; i < 5; i++) {
        pthread_t thread;
        void *result = NULL;

        CHECK(pthread_create(&thread, NULL, compile_often, NULL) == 0);
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        CHECK(result == PTHREAD_CANCELED);
    }
    CHECK(alive_and_compiles());
}

static void *compile_once(void *good)
{
    cyxla_executable *e = NULL;
    cyxla_error *error = compile_text(DIVIDE, &e);

    *(int *)good = error == NULL;
    cyxla_error_free(error);
    cyxla_executable_free(e);
    return NULL;
}

static void a_small_stack_is_enough_to_compile(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int good = 0;

    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 64 * 1024) == 0);
    CHECK(pthread_create(&thread, &attributes, compile_once, &good) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(good);
    pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(floating_point_traps_do_not_reach_a_program);
    RUN(a_thread_may_be_cancelled);
    RUN(a_small_stack_is_enough_to_compile);
    return test_end();
}
