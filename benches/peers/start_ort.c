/* From nothing to the first result through ONNX Runtime's C API.
 *
 *     start_ort ONNXRUNTIME MODEL IMAGES
 *
 * As start_cyxla.c, with an ONNX model.
 */
#include <stdio.h>

#include "digit.h"
#include "ort.h"

int main(int argc, char **argv)
{
    float pixels[PIXELS];
    float digits[DIGITS];
    struct array input = {.rank = 2, .dims = {1, PIXELS}, .size = sizeof pixels, .data = pixels};
    struct array output = {.rank = 2, .dims = {1, DIGITS}, .size = sizeof digits, .data = digits};

    if (argc != 4) {
        fprintf(stderr, "usage: %s ONNXRUNTIME MODEL IMAGES\n", argv[0]);
        return 2;
    }
    read_image(argv[3], pixels);
    ort_open(argv[1]);
    ort_run(ort_load(argv[2], &input, 1, &output, 1));
    print_digit(digits);
    return 0;
}
