/* Square roots by Newton's method: a call that is bound once and then run in a loop.
 *
 * Each step's output is the next step's input and stays where the plugin put it; the
 * numbers to take the root of are rewritten in place between the two rounds. */
#include <cyxla.h>
#include <stdio.h>
#include <string.h>

static const char step[] =
    "module @newton { func.func public @main(%x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {"
    "  %half = stablehlo.constant dense<0.5> : tensor<4xf32>"
    "  %quotient = stablehlo.divide %a, %x : tensor<4xf32>"
    "  %sum = stablehlo.add %x, %quotient : tensor<4xf32>"
    "  %next = stablehlo.multiply %half, %sum : tensor<4xf32>"
    "  return %next : tensor<4xf32> } }";

/* Runs as many steps as float needs, and prints the roots. */
static cyxla_error *roots(cyxla_call *call) {
    for (int i = 0; i < 10; i++) {
        cyxla_error *error = cyxla_call_run(call);
        if (error) return error;
    }
    const float *x = cyxla_call_output(call, 0, 0, NULL); /* good until the next step */
    printf("%g %g %g %g\n", x[0], x[1], x[2], x[3]);
    return NULL;
}

int main(void) {
    cyxla_program *program = NULL;
    cyxla_executable *newton = NULL;
    cyxla_call *call = NULL;

    cyxla_error *error = cyxla_program_from_bytes(step, strlen(step), CYXLA_FORMAT_STABLEHLO, NULL, &program);
    if (!error) error = cyxla_compile_program(program, NULL, &newton);
    if (!error) error = cyxla_call_new(newton, NULL, &call);
    if (!error) {
        float *x = cyxla_call_input(call, 0, 0, NULL), *a = cyxla_call_input(call, 0, 1, NULL);
        for (int i = 0; i < 4; i++) {
            x[i] = 1;
            a[i] = (float)(i + 1);
        }
        error = cyxla_call_feed(call, 0, 0, 0); /* output 0 becomes input 0 */
        if (!error) error = roots(call);
        for (int i = 0; i < 4; i++) a[i] *= 100;
        if (!error) error = cyxla_call_feed(call, 0, 0, 0); /* starts over from x */
        if (!error) error = roots(call);
    }
    if (error) fprintf(stderr, "%s\n", cyxla_error_message(error));

    int status = error != NULL;
    cyxla_error_free(error);
    cyxla_call_free(call);
    cyxla_executable_free(newton);
    cyxla_program_free(program);
    return status;
}
