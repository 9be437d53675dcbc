/* The floor of a start: raw PJRT C, with an executable that was saved before.
 *
 *     start_raw save MODEL FILE
 *     start_raw load FILE IMAGES
 *
 * As start_cyxla.c; the plugin is that of the environment variable CYXLA_PLUGIN.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../raw_pjrt.h"
#include "digit.h"

int main(int argc, char **argv)
{
    float pixels[PIXELS];
    float digits[DIGITS];
    struct array input = {.rank = 2, .dims = {1, PIXELS}, .size = sizeof pixels, .data = pixels};
    struct array output = {.rank = 2, .dims = {1, DIGITS}, .size = sizeof digits, .data = digits};
    const char *plugin = getenv("CYXLA_PLUGIN");
    int saves = argc == 4 && strcmp(argv[1], "save") == 0;
    int loads = argc == 4 && strcmp(argv[1], "load") == 0;

    if (!plugin || (!saves && !loads)) {
        fprintf(stderr, "usage: CYXLA_PLUGIN=PATH %s save MODEL FILE | load FILE IMAGES\n", argv[0]);
        return 2;
    }
    raw_open(plugin);
    if (saves) {
        size_t size = 0;
        char *model = raw_read_file(argv[2], &size);
        raw_save(raw_compile(model, size, &input, 1, &output, 1), argv[3]);
        return 0;
    }
    read_image(argv[3], pixels);
    raw_run(raw_load(argv[2], &input, 1, &output, 1));
    print_digit(digits);
    return 0;
}
