/* Reads handwritten digits with a model that was trained in JAX.
 *
 *     digits [MODEL IMAGES LABELS]
 *
 * Without arguments it takes the files in models/digits, so run it from the
 * repository's root. models/digits/README.md says what they hold.
 */
#define _POSIX_C_SOURCE 200112L /* clock_gettime, posix_memalign, setenv */

#include <cyxla.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WIDTH = 8, PIXELS = WIDTH * WIDTH, DIGITS = 10, INK = 16, SHOWN = 4 };

struct answer {
    int digit;
    float probability;
    double microseconds;
};

/* The one place that looks into an error: prints it and frees it. True if there was one. */
static bool failed(cyxla_error *error)
{
    const char *hint = cyxla_error_detail(error, "hint");

    if (error == NULL)
        return false;
    fprintf(stderr, "digits: %s: %s\n", cyxla_code_name(cyxla_error_code(error)), cyxla_error_message(error));
    if (hint != NULL)
        fprintf(stderr, "hint: %s\n", hint);
    cyxla_error_free(error);
    return true;
}

/* The whole file, to be freed; NULL after saying what went wrong. */
static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    long length = 0;

    if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0)
        bytes = malloc((size_t)length);
    if (bytes != NULL) {
        rewind(file);
        if (fread(bytes, 1, (size_t)length, file) == (size_t)length) {
            *size = (size_t)length;
        } else {
            free(bytes);
            bytes = NULL;
        }
    }
    if (file != NULL)
        fclose(file);
    if (bytes == NULL)
        fprintf(stderr, "digits: cannot read %s\nhint: run from the repository's root, or name the files: "
                        "digits MODEL IMAGES LABELS\n", path);
    return bytes;
}

static double now_in_microseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* Asks the model about one image. `pixels` is the model's input, PIXELS floats. */
static cyxla_error *ask(const cyxla_executable *model, const unsigned char *image, float *pixels, struct answer *answer)
{
    float probabilities[DIGITS];
    const void *inputs[] = {pixels};
    void *outputs[] = {probabilities};
    const size_t input_size = PIXELS * sizeof *pixels, output_size = sizeof probabilities;
    cyxla_error *error;
    double start;
    int i;

    for (i = 0; i < PIXELS; i++)
        pixels[i] = image[i];
    start = now_in_microseconds();
    error = cyxla_run(model, inputs, &input_size, 1, outputs, &output_size, 1);
    if (error != NULL)
        return error;
    answer->microseconds = now_in_microseconds() - start;
    answer->digit = 0;
    for (i = 1; i < DIGITS; i++)
        if (probabilities[i] > probabilities[answer->digit])
            answer->digit = i;
    answer->probability = probabilities[answer->digit];
    return NULL;
}

static void print_runtime(const cyxla_runtime_info *info)
{
    int32_t major = 0, minor = 0;

    cyxla_runtime_info_api_version(info, &major, &minor);
    printf("\n  plugin    %s\n  platform  %s, PJRT %d.%d, %s\n\n", cyxla_runtime_info_plugin_path(info),
           cyxla_runtime_info_platform(info), (int)major, (int)minor,
           cyxla_runtime_info_is_synchronous(info) ? "synchronous" : "asynchronous");
}

/* Images side by side, each pixel two characters wide to be square, with the answer under each. */
static void print_digits(const unsigned char *images, const unsigned char *labels, const struct answer *answers,
                         const size_t *shown)
{
    static const char *const shades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
    size_t row, column, i;
    char text[32];

    for (row = 0; row < WIDTH; row++) {
        for (i = 0; i < SHOWN; i++) {
            printf("  ");
            for (column = 0; column < WIDTH; column++) {
                size_t ink = images[shown[i] * PIXELS + row * WIDTH + column];
                printf("%s", shades[(ink < INK ? ink : INK) * 4 / INK]);
            }
        }
        printf("\n");
    }
    printf("\n");
    for (i = 0; i < SHOWN; i++) {
        snprintf(text, sizeof text, "%d (%.0f %%)", answers[shown[i]].digit, 100.0 * (double)answers[shown[i]].probability);
        printf("      %-12s", text);
    }
    printf("\n");
    for (i = 0; i < SHOWN; i++) {
        if (answers[shown[i]].digit == labels[shown[i]])
            snprintf(text, sizeof text, "right");
        else
            snprintf(text, sizeof text, "WRONG: a %d", labels[shown[i]]);
        printf("      %-12s", text);
    }
    printf("\n\n");
}

static int by_time(const void *left, const void *right)
{
    double a = ((const struct answer *)left)->microseconds, b = ((const struct answer *)right)->microseconds;

    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    const char *model_path = argc == 4 ? argv[1] : "models/digits/digits.mlirbc";
    const char *images_path = argc == 4 ? argv[2] : "models/digits/images.u8";
    const char *labels_path = argc == 4 ? argv[3] : "models/digits/labels.u8";
    unsigned char *images = NULL, *labels = NULL;
    struct answer *answers = NULL;
    void *pixels = NULL;
    const cyxla_runtime_info *info = NULL;
    cyxla_program *program = NULL;
    cyxla_executable *model = NULL;
    size_t images_size = 0, count = 0, right = 0, shown[SHOWN] = {1, 3, 4, 5}, i;
    int status = EXIT_FAILURE;

    if (argc != 1 && argc != 4) {
        fprintf(stderr, "usage: digits [MODEL IMAGES LABELS]\n");
        return 2;
    }
    images = read_file(images_path, &images_size);
    labels = images != NULL ? read_file(labels_path, &count) : NULL;
    if (images == NULL || labels == NULL)
        goto done;
    if (count < 6 || images_size != count * PIXELS) {
        fprintf(stderr, "digits: %s holds %zu labels (wanted: 6 or more) and %s %zu bytes (wanted: %d for each label)\n",
                labels_path, count, images_path, images_size, PIXELS);
        goto done;
    }
    answers = calloc(count, sizeof *answers);
    /* The plugin reads an input in place when it is aligned to 64 bytes, else a copy of it. */
    if (answers == NULL || posix_memalign(&pixels, 64, PIXELS * sizeof(float)) != 0) {
        fprintf(stderr, "digits: out of memory\n");
        goto done;
    }

    /* XLA notes every option that it is given on stderr; it reads this when it is loaded. */
    setenv("TF_CPP_MIN_LOG_LEVEL", "1", 0);
    if (failed(cyxla_initialize(NULL, NULL, NULL, &info)))
        goto done;
    print_runtime(info);
    if (failed(cyxla_program_from_file(model_path, CYXLA_FORMAT_DETECT, NULL, &program)) ||
        failed(cyxla_compile_program(program, NULL, &model)))
        goto done;
    for (i = 0; i < count; i++) {
        if (failed(ask(model, images + i * PIXELS, pixels, &answers[i])))
            goto done;
        if (answers[i].digit == labels[i])
            right++;
        else if (right == i) /* all before it were right: the first wrong one, worth a look */
            shown[SHOWN - 1] = i;
    }

    print_digits(images, labels, answers, shown);
    qsort(answers, count, sizeof *answers, by_time);
    printf("  %zu of %zu digits right (%.1f %%), %.1f microseconds each (median)\n\n", right, count,
           100.0 * (double)right / (double)count, answers[count / 2].microseconds);
    status = right * 100 >= count * 95 ? EXIT_SUCCESS : EXIT_FAILURE;
    if (status != EXIT_SUCCESS)
        fprintf(stderr, "digits: fewer than 95 %% right, so something is wrong\n");

done:
    cyxla_executable_free(model);
    cyxla_program_free(program);
    free(pixels);
    free(answers);
    free(labels);
    free(images);
    return status;
}
