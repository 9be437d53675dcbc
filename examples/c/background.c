/* A step in the background: it is started, tells when it has ended, and writes its result
 * straight into memory of this program.
 *
 * With asynchronous=true the CPU plugin of PJRT 0.115 runs steps on threads of its own, as
 * GPU plugins and older CPU plugins do in any case. */
#include <cyxla.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 256 };

static const char square[] =
    "module @square { func.func public @main(%a: tensor<256x256xf32>) -> tensor<256x256xf32> {"
    "  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]"
    "      : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>"
    "  return %0 : tensor<256x256xf32> } }";

/* What the thread that runs the step and this one share. */
struct bell {
    pthread_mutex_t lock;
    pthread_cond_t rung;
    int rings;
};

/* Runs on a thread of the plugin: it only wakes the one that waits. */
static void ring(void *user_data) {
    struct bell *bell = user_data;
    pthread_mutex_lock(&bell->lock);
    bell->rings++;
    pthread_cond_signal(&bell->rung);
    pthread_mutex_unlock(&bell->lock);
}

static void wait_for_bell(struct bell *bell) {
    pthread_mutex_lock(&bell->lock);
    while (bell->rings == 0) pthread_cond_wait(&bell->rung, &bell->lock);
    pthread_mutex_unlock(&bell->lock);
}

int main(void) {
    static struct bell bell = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    const size_t size = SIDE * SIDE * sizeof(float);
    char *block = malloc(size + 64);
    if (!block) return 1;
    float *result = (float *)(block + 64 - (uintptr_t)block % 64); /* at a multiple of 64 nothing is copied */
    cyxla_options *options = cyxla_options_new();
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;
    cyxla_call *call = NULL;

    cyxla_error *error = cyxla_options_parse(options, "asynchronous=true");
    if (!error) error = cyxla_initialize(NULL, "cpu", options, NULL);
    cyxla_options_free(options);
    options = cyxla_options_new();
    if (!error) error = cyxla_options_set_bool(options, "results_in_place", true);
    if (!error) error = cyxla_program_from_bytes(square, strlen(square), CYXLA_FORMAT_STABLEHLO, NULL, &program);
    if (!error) error = cyxla_compile_program(program, options, &executable);
    if (!error) error = cyxla_call_new(executable, NULL, &call);
    if (!error) error = cyxla_call_bind_output(call, 0, 0, result, size);
    if (!error) error = cyxla_call_set_done(call, ring, &bell, NULL);
    if (!error) {
        float *a = cyxla_call_input(call, 0, 0, NULL);
        for (int i = 0; i < SIDE; i++) a[i * SIDE + i] = 3; /* all else is 0 */
        error = cyxla_call_start(call);
    }
    if (!error) {
        /* Anything else may be done here, but for what uses the call. */
        wait_for_bell(&bell);
        error = cyxla_call_wait(call, -1); /* does not block any more, and tells whether it went well */
    }
    if (!error) printf("%g %g ... %g\n", result[0], result[1], result[SIDE * SIDE - 1]);
    else fprintf(stderr, "%s\n", cyxla_error_message(error));

    int status = error != NULL;
    cyxla_error_free(error);
    cyxla_call_free(call);
    cyxla_executable_free(executable);
    cyxla_program_free(program);
    cyxla_options_free(options);
    free(block);
    return status;
}
