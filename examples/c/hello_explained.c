/* The program of hello.c, step by step: it adds two arrays of four numbers.
 *
 * With the library installed in PREFIX:
 *
 *     cc hello_explained.c $(PKG_CONFIG_PATH=PREFIX/lib/pkgconfig pkg-config --cflags --libs cyxla) -o hello
 *     LD_LIBRARY_PATH=PREFIX/lib ./hello
 *
 * It needs one more thing at run time: a PJRT plugin, the library that holds
 * the compiler and knows the hardware. `cyxla install cpu` fetches one.
 */
#include <cyxla.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program in StableHLO, the language that JAX and its relatives are lowered
 * to. It takes two arrays of four 32-bit floats and returns a third. Sizes and
 * types are part of it: the compiler knows them all before it starts.
 *
 * Real programs come from a file. In JAX, with `f` your function:
 *
 *     text = jax.jit(f).lower(*example_arguments).as_text()
 *
 * and in C, cyxla_program_from_file in the place of cyxla_program_from_bytes.
 */
static const char text[] = "func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {"
                           "  %sum = stablehlo.add %a, %b : tensor<4xf32>  return %sum : tensor<4xf32> }";

/* Every function that can fail returns an error, or NULL when all went well.
 * The error is ours to free. It has a code for programs to act on, a message for
 * people, and details by key, such as a hint about what to do. The functions
 * that read an error take NULL as well.
 */
static void stop_if_failed(cyxla_error *error)
{
    if (error == NULL)
        return;
    fprintf(stderr, "%s: %s\n", cyxla_code_name(cyxla_error_code(error)), cyxla_error_message(error));
    if (cyxla_error_detail(error, "hint") != NULL)
        fprintf(stderr, "hint: %s\n", cyxla_error_detail(error, "hint"));
    cyxla_error_free(error);
    exit(EXIT_FAILURE);
}

int main(void)
{
    /* 1. Load a plugin. A process does this once. Three times NULL means: the
     *    best plugin on this machine, with its default options. The first
     *    argument would name a library file, the second a platform such as
     *    "cpu", the third a set of options made by cyxla_options_new.
     *
     *    The call may be left out, as in hello.c: the first function that needs
     *    a plugin then loads it in the same way. Made early, it tells us what
     *    we run on. `info` belongs to the library and lives as long as the
     *    process.
     */
    const cyxla_runtime_info *info = NULL;
    stop_if_failed(cyxla_initialize(NULL, NULL, NULL, &info));
    printf("running on %s (%s)\n", cyxla_runtime_info_platform(info), cyxla_runtime_info_plugin_path(info));

    /* 2. Read the program. Nothing is compiled yet. With CYXLA_FORMAT_DETECT the
     *    library finds out by itself what the bytes are. The platform is NULL
     *    because text like this suits any.
     */
    cyxla_program *program = NULL;
    stop_if_failed(cyxla_program_from_bytes(text, strlen(text), CYXLA_FORMAT_STABLEHLO, NULL, &program));

    /* 3. Compile it. This takes milliseconds to minutes, depending on the
     *    program, and is done once. The executable never changes afterwards, so
     *    any number of threads may run it at the same time. It needs the
     *    program no longer.
     */
    cyxla_executable *adder = NULL;
    stop_if_failed(cyxla_compile_program(program, NULL, &adder));
    cyxla_program_free(program);

    /* 4. Ask the executable what it wants. A program that reads models from
     *    files would allocate its arrays from these answers. Here we know them.
     */
    size_t rank = 0;
    const int64_t *dims = cyxla_executable_input_dims(adder, 0, &rank);
    printf("input 0 is %s[%lld]: %zu bytes\n", cyxla_dtype_name(cyxla_executable_input_dtype(adder, 0)),
           rank == 1 ? (long long)dims[0] : 0LL, cyxla_executable_input_size(adder, 0));

    /* 5. Run it. Inputs and outputs are plain memory of ours, given as lists of
     *    pointers and lists of sizes in bytes. Every size is checked against
     *    the program first. When the call returns, the results are in place and
     *    the library has kept none of the pointers.
     */
    float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40}, sum[4];
    const void *inputs[] = {a, b};
    const size_t input_sizes[] = {sizeof a, sizeof b};
    void *outputs[] = {sum};
    const size_t output_sizes[] = {sizeof sum};
    stop_if_failed(cyxla_run(adder, inputs, input_sizes, 2, outputs, output_sizes, 1));
    printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);

    /* 6. Provoke an error, to see one: the second array is half as long as the
     *    program wants. The library notices before the plugin sees it. Nothing
     *    is broken by this, and the next call would work.
     */
    const size_t wrong_sizes[] = {sizeof a, sizeof b / 2};
    cyxla_error *error = cyxla_run(adder, inputs, wrong_sizes, 2, outputs, output_sizes, 1);
    printf("as expected, %s: %s\n", cyxla_code_name(cyxla_error_code(error)), cyxla_error_message(error));
    cyxla_error_free(error);

    /* 7. Free what is ours. Each type has one such function; it takes NULL, and
     *    the order does not matter. The runtime stays until the process ends.
     */
    cyxla_executable_free(adder);
    return EXIT_SUCCESS;
}
