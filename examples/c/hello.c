/* Adds two arrays: the program of the README. hello_explained.c is the same, step by step. */
#include <cyxla.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    const char *text = "func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {"
                       "  %sum = stablehlo.add %a, %b : tensor<4xf32>  return %sum : tensor<4xf32> }";
    float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40}, sum[4];
    const void *inputs[] = {a, b};
    void *outputs[] = {sum};
    const size_t sizes[] = {sizeof a, sizeof b}, sum_size = sizeof sum;
    cyxla_program *program = NULL;
    cyxla_executable *adder = NULL;

    cyxla_error *error = cyxla_program_from_bytes(text, strlen(text), CYXLA_FORMAT_STABLEHLO, NULL, &program);
    if (!error) error = cyxla_compile_program(program, NULL, &adder);
    if (!error) error = cyxla_run(adder, inputs, sizes, 2, outputs, &sum_size, 1);
    if (error) fprintf(stderr, "%s\n", cyxla_error_message(error));
    else printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);

    int status = error != NULL;
    cyxla_error_free(error);
    cyxla_executable_free(adder);
    cyxla_program_free(program);
    return status;
}
