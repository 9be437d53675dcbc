/* Fits a straight line to points: JAX wrote the loss and its gradients into one file,
 * and the steps downhill are taken here.
 *
 *     gradients [FILE]
 *
 * Without an argument it takes examples/programs/line.jaxexport, so run it from the
 * repository's root. line.py beside that file is all the Python there is.
 */
#include <cyxla.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 64, STEPS = 200 };

/* Prints an error and frees it. True if there was one. */
static bool failed(cyxla_error *error)
{
    const char *hint = cyxla_error_detail(error, "hint");

    if (error == NULL)
        return false;
    fprintf(stderr, "gradients: %s: %s\n", cyxla_code_name(cyxla_error_code(error)), cyxla_error_message(error));
    if (hint != NULL)
        fprintf(stderr, "hint: %s\n", hint);
    cyxla_error_free(error);
    return true;
}

/* What the loss takes: a file of jax.export knows the names that it had in Python. */
static void print_inputs(const cyxla_program *program)
{
    size_t i;

    printf("  %s takes\n", cyxla_program_name(program));
    for (i = 0; i < cyxla_program_input_count(program); i++)
        printf("    %-18s %s, %zu bytes\n", cyxla_program_input_name(program, i),
               cyxla_dtype_name(cyxla_program_input_dtype(program, i)), cyxla_program_input_size(program, i));
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "examples/programs/line.jaxexport";
    cyxla_program *loss = NULL, *gradients = NULL;
    cyxla_executable *how_bad = NULL, *downhill = NULL;
    float x[POINTS], y[POINTS], offset = 0, slope = 0, badness = 0;
    float to_offset, to_slope, to_x[POINTS], to_y[POINTS];
    const float one = 1;
    /* The gradients take what the loss takes, and then how much a change of each of its
     * results counts: there is one, and it counts as it is. */
    const void *inputs[] = {&offset, &slope, x, y, &one};
    const size_t input_sizes[] = {sizeof offset, sizeof slope, sizeof x, sizeof y, sizeof one};
    void *badnesses[] = {&badness};
    const size_t badness_sizes[] = {sizeof badness};
    /* They give one for each input, of which only the first two are wanted here. */
    void *outputs[] = {&to_offset, &to_slope, to_x, to_y};
    const size_t output_sizes[] = {sizeof to_offset, sizeof to_slope, sizeof to_x, sizeof to_y};
    int status = EXIT_FAILURE, i;

    for (i = 0; i < POINTS; i++) { /* near the line y = 3 x + 2 */
        x[i] = (float)i / POINTS;
        y[i] = 3 * x[i] + 2 + (i % 2 ? 0.1F : -0.1F);
    }
    if (failed(cyxla_program_from_file(path, CYXLA_FORMAT_DETECT, NULL, &loss)) ||
        failed(cyxla_program_vjp(loss, &gradients)) || failed(cyxla_compile_program(loss, NULL, &how_bad)) ||
        failed(cyxla_compile_program(gradients, NULL, &downhill)))
        goto done;
    print_inputs(loss);
    for (i = 0; i <= STEPS; i++) {
        if (failed(cyxla_run(downhill, inputs, input_sizes, 5, outputs, output_sizes, 4)))
            goto done;
        if (i % 50 == 0) {
            if (failed(cyxla_run(how_bad, inputs, input_sizes, 4, badnesses, badness_sizes, 1)))
                goto done;
            printf("  step %3d: y = %.3f x + %.3f, loss %.4f\n", i, (double)slope, (double)offset, (double)badness);
        }
        offset -= 0.5F * to_offset;
        slope -= 0.5F * to_slope;
    }
    status = badness < 0.02F ? EXIT_SUCCESS : EXIT_FAILURE;

done:
    cyxla_executable_free(downhill);
    cyxla_executable_free(how_bad);
    cyxla_program_free(gradients);
    cyxla_program_free(loss);
    return status;
}
