/* Adds two arrays. hello_explained.c is the same program, step by step. */
#include <cyxla.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"
                           "  %sum = stablehlo.add %a, %b : tensor<4xf32>\n"
                           "  return %sum : tensor<4xf32>\n"
                           "}";

int main(void)
{
    float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40}, sum[4];
    const void *inputs[] = {a, b};
    void *outputs[] = {sum};
    const size_t sizes[] = {sizeof a, sizeof b};
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;

    cyxla_error *error = cyxla_program_from_bytes(text, strlen(text), CYXLA_FORMAT_DETECT, NULL, &program);
    if (error == NULL)
        error = cyxla_compile_program(program, NULL, &executable);
    if (error == NULL)
        error = cyxla_run(executable, inputs, sizes, 2, outputs, sizes, 1);

    int status = error != NULL;
    if (error != NULL)
        fprintf(stderr, "hello: %s\n", cyxla_error_message(error));
    else
        printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
    cyxla_error_free(error);
    cyxla_executable_free(executable);
    cyxla_program_free(program);
    return status;
}
