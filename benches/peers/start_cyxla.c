/* From nothing to the first result through libcyxla: reads a model file, compiles it, or
 * finds it in the cache that CYXLA_CACHE_DIR names, and runs it once.
 *
 *     start_cyxla MODEL IMAGES
 *
 * MODEL takes f32[1,64] and gives f32[1,10]; IMAGES starts with 64 bytes of pixels. Prints
 * what digit.h says, then in a line of its own `from the cache` or `compiled`.
 */
#include <stdio.h>
#include <stdlib.h>

#include <cyxla.h>

#include "digit.h"

static void check(cyxla_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "%s\n", cyxla_error_message(error));
    exit(1);
}

int main(int argc, char **argv)
{
    float pixels[PIXELS];
    float digits[DIGITS];
    const void *inputs[] = {pixels};
    void *outputs[] = {digits};
    const size_t input_sizes[] = {sizeof pixels};
    const size_t output_sizes[] = {sizeof digits};
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;

    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL IMAGES\n", argv[0]);
        return 2;
    }
    read_image(argv[2], pixels);
    check(cyxla_program_from_file(argv[1], CYXLA_FORMAT_DETECT, NULL, &program));
    check(cyxla_compile_program(program, NULL, &executable));
    check(cyxla_run(executable, inputs, input_sizes, 1, outputs, output_sizes, 1));
    print_digit(digits);
    puts(cyxla_executable_is_from_cache(executable) ? "from the cache" : "compiled");
    return 0;
}
