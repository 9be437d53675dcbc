/* One program on four devices: the rows of a matrix are divided among them, and the sum
 * of its columns is everybody's.
 *
 * A CPU has as many devices as the runtime is asked for, so this runs anywhere. */
#include <cyxla.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES = 4, ROWS = 8, COLUMNS = 3 };

/* Written for the whole matrix; the shardings say who has which part of it. */
static const char sums[] =
    "module @sums attributes {mhlo.num_partitions = 4 : i32} {"
    "  func.func public @main(%a: tensor<8x3xf32> {mhlo.sharding = \"{devices=[4,1]<=[4]}\"})"
    "      -> (tensor<3xf32> {mhlo.sharding = \"{replicated}\"}) {"
    "    %zero = stablehlo.constant dense<0.0> : tensor<f32>"
    "    %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]"
    "        : (tensor<8x3xf32>, tensor<f32>) -> tensor<3xf32>"
    "    return %sum : tensor<3xf32> } }";

/* Gives each device its rows. */
static void fill(cyxla_call *call, const cyxla_executable *executable, const float (*matrix)[COLUMNS]) {
    const int64_t *part = cyxla_executable_input_dims(executable, 0, NULL); /* of one device: 2 x 3 */
    for (size_t device = 0; device < cyxla_executable_device_count(executable); device++) {
        size_t size = 0;
        float *memory = cyxla_call_input(call, device, 0, &size);
        /* Where a device's part begins; plugins before about PJRT 0.100 do not tell, and
         * have rows in the order of the devices. */
        const int64_t *offsets = cyxla_executable_input_offsets(executable, device, 0, NULL);
        int64_t row = offsets ? offsets[0] : (int64_t)device * part[0];
        if (memory) memcpy(memory, matrix[row], size);
    }
}

int main(void) {
    float matrix[ROWS][COLUMNS];
    cyxla_options *options = cyxla_options_new();
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;
    cyxla_call *call = NULL;

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) matrix[i][j] = (float)(i + 100 * j);

    cyxla_error *error = cyxla_options_set_int(options, "cpu_device_count", DEVICES);
    if (!error) error = cyxla_initialize(NULL, "cpu", options, NULL);
    if (!error) error = cyxla_program_from_bytes(sums, strlen(sums), CYXLA_FORMAT_STABLEHLO, NULL, &program);
    if (!error) error = cyxla_compile_program(program, NULL, &executable);
    if (!error) error = cyxla_call_new(executable, NULL, &call);
    if (!error) {
        fill(call, executable, (const float (*)[COLUMNS])matrix);
        error = cyxla_call_run(call); /* all devices at once */
    }
    for (size_t device = 0; !error && device < DEVICES; device++) {
        const float *sum = cyxla_call_output(call, device, 0, NULL);
        printf("device %zu: %g %g %g\n", cyxla_executable_device(executable, device), sum[0], sum[1], sum[2]);
    }
    if (error) fprintf(stderr, "%s\n", cyxla_error_message(error));

    int status = error != NULL;
    cyxla_error_free(error);
    cyxla_call_free(call);
    cyxla_executable_free(executable);
    cyxla_program_free(program);
    cyxla_options_free(options);
    return status;
}
