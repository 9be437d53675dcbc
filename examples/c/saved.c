/* Compiles a program once, and loads what was compiled from then on.
 *
 *     saved models/digits/digits.mlirbc /tmp/digits.cyxla
 *
 * Run it twice: the first run compiles and writes the second file, the second run loads
 * that, which takes a few milliseconds.
 *
 * Where a folder will do, CYXLA_CACHE_DIR=FOLDER in the environment has all this done
 * by itself, inside cyxla_compile_program.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include <cyxla.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Prints an error and frees it. True if there was one. */
static bool failed(cyxla_error *error)
{
    const char *hint = cyxla_error_detail(error, "hint");

    if (error == NULL)
        return false;
    fprintf(stderr, "saved: %s: %s\n", cyxla_code_name(cyxla_error_code(error)), cyxla_error_message(error));
    if (hint != NULL)
        fprintf(stderr, "hint: %s\n", hint);
    cyxla_error_free(error);
    return true;
}

/* The whole file, to be freed; NULL if there is none. */
static void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    void *bytes = NULL;
    long length;

    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0 && (bytes = malloc((size_t)length)) != NULL) {
        rewind(file);
        *size = fread(bytes, 1, (size_t)length, file);
    }
    fclose(file);
    return bytes;
}

/* Loads what an earlier run saved; NULL if it has to be compiled. What does not fit, since
 * the plugin or the processor is another one, or the file is damaged, is no disaster. */
static cyxla_executable *load(const char *path)
{
    size_t size = 0;
    void *bytes = read_file(path, &size);
    cyxla_executable *executable = NULL;
    cyxla_error *error;

    if (bytes == NULL)
        return NULL;
    error = cyxla_executable_from_bytes(bytes, size, &executable);
    free(bytes);
    if (error != NULL)
        printf("  %s is not used: %s\n", path, cyxla_error_message(error));
    cyxla_error_free(error);
    return executable;
}

static cyxla_executable *compile(const char *path)
{
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;

    if (!failed(cyxla_program_from_file(path, CYXLA_FORMAT_DETECT, NULL, &program)))
        failed(cyxla_compile_program(program, NULL, &executable));
    cyxla_program_free(program);
    return executable;
}

static void save(const cyxla_executable *executable, const char *path)
{
    cyxla_bytes *bytes = NULL;
    FILE *file;

    if (failed(cyxla_executable_to_bytes(executable, &bytes)))
        return;
    file = fopen(path, "wb");
    if (file == NULL || fwrite(cyxla_bytes_data(bytes), 1, cyxla_bytes_size(bytes), file) != cyxla_bytes_size(bytes))
        fprintf(stderr, "saved: cannot write %s\n", path);
    else
        printf("  saved to %s, %zu bytes\n", path, cyxla_bytes_size(bytes));
    if (file != NULL)
        fclose(file);
    cyxla_bytes_free(bytes);
}

static double now_in_milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int main(int argc, char **argv)
{
    cyxla_executable *executable;
    bool was_saved;
    double start;

    if (argc != 3) {
        fprintf(stderr, "usage: saved PROGRAM SAVED\n");
        return 2;
    }
    /* Loading the plugin takes its time either way. */
    if (failed(cyxla_initialize(NULL, NULL, NULL, NULL)))
        return EXIT_FAILURE;
    start = now_in_milliseconds();
    executable = load(argv[2]);
    was_saved = executable != NULL;
    if (!was_saved)
        executable = compile(argv[1]);
    if (executable == NULL)
        return EXIT_FAILURE;
    printf("  %s in %.1f ms: %s, %zu inputs, %zu outputs\n", was_saved ? "loaded" : "compiled",
           now_in_milliseconds() - start, cyxla_executable_name(executable), cyxla_executable_input_count(executable),
           cyxla_executable_output_count(executable));
    if (!was_saved)
        save(executable, argv[2]);
    cyxla_executable_free(executable);
    return EXIT_SUCCESS;
}
