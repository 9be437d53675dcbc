/* Tells of a program, before and after it is compiled.
 *
 *     describe FILE [CACHE]
 *
 * Everything up to "compiled" needs no plugin. With a folder for CACHE, a second run finds
 * there what the first one compiled. `cyxla inspect` is the same with more care.
 */
#include <cyxla.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints an error and frees it. True if there was one. */
static bool failed(cyxla_error *error)
{
    const char *hint = cyxla_error_detail(error, "hint");

    if (error == NULL)
        return false;
    fprintf(stderr, "describe: %s: %s\n", cyxla_code_name(cyxla_error_code(error)), cyxla_error_message(error));
    if (hint != NULL)
        fprintf(stderr, "hint: %s\n", hint);
    cyxla_error_free(error);
    return true;
}

/* One array that a program takes or gives, such as `f32[2,3] args[0], 24 bytes`. */
static void print_array(const char *what, cyxla_dtype dtype, const int64_t *dims, size_t rank, const char *name,
                        size_t size)
{
    size_t i;

    printf("  %-8s %s[", what, cyxla_dtype_name(dtype));
    for (i = 0; i < rank; i++)
        printf("%s%lld", i > 0 ? "," : "", (long long)dims[i]);
    printf("] %s, %zu bytes\n", name != NULL ? name : "without a name", size);
}

static void print_program(const cyxla_program *program)
{
    static const char *const formats[] = {"unknown", "StableHLO", "a file of jax.export", "HLO"};
    const cyxla_format format = cyxla_program_format(program);
    const char *name = cyxla_program_name(program);
    size_t rank = 0, i;

    printf("%s: %s\n", name != NULL ? name : "a program without a name",
           formats[format <= CYXLA_FORMAT_HLO ? format : 0]); /* later versions may have more */
    for (i = 0; i < cyxla_program_platform_count(program); i++)
        printf("  for      %s\n", cyxla_program_platform(program, i));
    for (i = 0; i < cyxla_program_custom_call_count(program); i++)
        printf("  calls    %s, which the plugin has to know\n", cyxla_program_custom_call(program, i));
    if (!cyxla_program_has_signature(program)) {
        printf("  What it takes and gives is known once it is compiled.\n");
        return;
    }
    for (i = 0; i < cyxla_program_input_count(program); i++) {
        const int64_t *dims = cyxla_program_input_dims(program, i, &rank);
        print_array(cyxla_program_input_is_donated(program, i) ? "consumes" : "takes",
                    cyxla_program_input_dtype(program, i), dims, rank, cyxla_program_input_name(program, i),
                    cyxla_program_input_size(program, i));
    }
    for (i = 0; i < cyxla_program_output_count(program); i++) {
        const int64_t *dims = cyxla_program_output_dims(program, i, &rank);
        print_array("gives", cyxla_program_output_dtype(program, i), dims, rank, cyxla_program_output_name(program, i),
                    cyxla_program_output_size(program, i));
    }
}

/* What an executable takes and gives is asked in the same way, and is never unknown. */
static void print_executable(const cyxla_executable *executable)
{
    printf("compiled: %s, for %zu device%s%s\n", cyxla_executable_name(executable),
           cyxla_executable_device_count(executable), cyxla_executable_device_count(executable) == 1 ? "" : "s",
           cyxla_executable_is_from_cache(executable) ? ", from the cache" : "");
    printf("  takes    %zu inputs\n", cyxla_executable_input_count(executable));
    printf("  gives    %zu outputs\n", cyxla_executable_output_count(executable));
    printf("  is       %s\n", cyxla_executable_fingerprint(executable));
    printf("  memory   %s\n", cyxla_executable_memory_json(executable));
}

int main(int argc, char **argv)
{
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;
    cyxla_options *options = cyxla_options_new();
    int status = EXIT_FAILURE;

    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: describe FILE [CACHE]\n");
        status = 2;
    } else if (!failed(cyxla_program_from_file(argv[1], CYXLA_FORMAT_DETECT, NULL, &program))) {
        print_program(program);
        if (!(argc == 3 && failed(cyxla_options_set_string(options, "cache_dir", argv[2]))) &&
            !failed(cyxla_compile_program(program, options, &executable))) {
            print_executable(executable);
            status = EXIT_SUCCESS;
        }
    }
    cyxla_executable_free(executable);
    cyxla_program_free(program);
    cyxla_options_free(options);
    return status;
}
