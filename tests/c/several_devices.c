/* Programs for several devices: replicas, partitions of GSPMD and of Shardy, sharded
 * exports, and executables that any device can run. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

#define DEVICES 4

/* The sum over all replicas, and the number of the replica. */
static const char REPLICAS[] =
    "module attributes {mhlo.num_replicas = 4 : i32} {\n"
    "  func.func public @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>) {\n"
    "    %s = \"stablehlo.all_reduce\"(%a) ({\n"
    "    ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
    "      %z = stablehlo.add %x, %y : tensor<f32>\n"
    "      stablehlo.return %z : tensor<f32>\n"
    "    }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<2xf32>) -> tensor<2xf32>\n"
    "    %i = stablehlo.replica_id : tensor<ui32>\n"
    "    return %s, %i : tensor<2xf32>, tensor<ui32> } }\n";

/* Rows of a divided among the devices: a + b, and the sum of all elements of it. */
static const char GSPMD[] =
    "module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  func.func public @main(%a: tensor<4x2xf32> {mhlo.sharding = \"{devices=[4,1]<=[4]}\"},\n"
    "                         %b: tensor<2xf32> {mhlo.sharding = \"{replicated}\"})\n"
    "      -> (tensor<4x2xf32> {mhlo.sharding = \"{devices=[4,1]<=[4]}\"},\n"
    "          tensor<f32> {mhlo.sharding = \"{replicated}\"}) {\n"
    "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %c = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>\n"
    "    %d = stablehlo.add %a, %c : tensor<4x2xf32>\n"
    "    %s = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [0, 1]\n"
    "        : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>\n"
    "    return %d, %s : tensor<4x2xf32>, tensor<f32> } }\n";

static const char SHARDY[] =
    "module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @mesh = <[\"x\"=4]>\n"
    "  func.func public @main(%a: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>},\n"
    "                         %b: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})\n"
    "      -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>},\n"
    "          tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {\n"
    "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %c = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>\n"
    "    %d = stablehlo.add %a, %c : tensor<4x2xf32>\n"
    "    %s = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [0, 1]\n"
    "        : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>\n"
    "    return %d, %s : tensor<4x2xf32>, tensor<f32> } }\n";

/* a + b on each replica, into the memory of a. */
static const char DONATED[] =
    "module attributes {mhlo.num_replicas = 4 : i32} {\n"
    "  func.func public @main(%a: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<2xf32>)\n"
    "      -> tensor<2xf32> {\n"
    "    %0 = stablehlo.add %a, %b : tensor<2xf32>\n"
    "    return %0 : tensor<2xf32> } }\n";

static const int64_t TWO[] = {2};

/* Compiles with options, which are freed with the program. */
static cyxla_executable *compiled_with(const char *text, const char *options)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;

    CHECK_OK(cyxla_program_from_bytes(text, strlen(text), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_OK(compile_with(program, options, &e));
    cyxla_program_free(program);
    return e;
}

static cyxla_buffer *made(size_t device, float value)
{
    const float data[] = {value, value + 0.5F};
    cyxla_buffer *buffer = NULL;

    CHECK_OK(cyxla_buffer_from_host(device, CYXLA_DTYPE_F32, TWO, 1, NULL, data, &buffer));
    return buffer;
}

static void free_all(cyxla_buffer **buffers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cyxla_buffer_free(buffers[i]);
        buffers[i] = NULL;
    }
}

static int first(const cyxla_buffer *buffer)
{
    float data[4] = {-1.0F, -1.0F, -1.0F, -1.0F};

    CHECK_OK(cyxla_buffer_to_host(buffer, data, cyxla_buffer_size(buffer)));
    return (int)data[0];
}

/* --- cyxla_run: the lists hold what belongs to one device after the other --- */

static void replicas_have_data_of_their_own(void)
{
    static const float in[DEVICES][2] = {{1, 10}, {2, 20}, {3, 30}, {4, 40}};
    static const float want[] = {10, 100};
    float sums[DEVICES][2] = {{0, 0}};
    uint32_t numbers[DEVICES] = {9, 9, 9, 9};
    const void *inputs[DEVICES];
    size_t input_sizes[DEVICES];
    void *outputs[2 * DEVICES];
    size_t output_sizes[2 * DEVICES];
    cyxla_executable *e = compiled(REPLICAS);

    if (!e)
        return;
    CHECK_INT(cyxla_executable_device_count(e), DEVICES);
    for (size_t d = 0; d < DEVICES; d++) {
        CHECK_INT(cyxla_executable_device(e, d), d);
        inputs[d] = in[d];
        input_sizes[d] = sizeof in[d];
        outputs[2 * d] = sums[d];
        output_sizes[2 * d] = sizeof sums[d];
        outputs[2 * d + 1] = &numbers[d];
        output_sizes[2 * d + 1] = sizeof numbers[d];
    }
    CHECK_OK(cyxla_run(e, inputs, input_sizes, DEVICES, outputs, output_sizes, 2 * DEVICES));
    for (size_t d = 0; d < DEVICES; d++) {
        CHECK_FLOATS(sums[d], want, 2);
        CHECK_INT(numbers[d], d);
    }
    /* One device's lists are not enough, and no device may have a wrong size. */
    CHECK_FAILS(cyxla_run(e, inputs, input_sizes, 1, outputs, output_sizes, 2), CYXLA_CODE_INVALID_ARGUMENT,
                "expects 4 arguments", "1 for each of 4 devices", "got 1");
    input_sizes[2] = 4;
    CHECK_FAILS(cyxla_run(e, inputs, input_sizes, DEVICES, outputs, output_sizes, 2 * DEVICES),
                CYXLA_CODE_INVALID_ARGUMENT, "argument 0 of device 2", "takes 8 bytes, got 4");
    input_sizes[2] = sizeof in[2];
    output_sizes[7] = 8;
    CHECK_FAILS(cyxla_run(e, inputs, input_sizes, DEVICES, outputs, output_sizes, 2 * DEVICES),
                CYXLA_CODE_INVALID_ARGUMENT, "result 1 of device 3", "takes 4 bytes, got 8");
    cyxla_executable_free(e);
    CHECK(alive());
}

/* --- calls --- */

static void check_shards(cyxla_call *call, float base)
{
    for (size_t d = 0; d < DEVICES; d++) {
        const float want[] = {base + 10.0F * (float)d, base + 10.0F * (float)d + 2.0F};
        size_t size = 0;
        const float *shard = cyxla_call_output(call, d, 0, &size);
        const float *sum = cyxla_call_output(call, d, 1, NULL);
        CHECK_INT(size, sizeof want);
        if (CHECK(shard && sum)) {
            CHECK_FLOATS(shard, want, 2);
            CHECK_INT((int)*sum, (int)(8.0F * base + 128.0F));
        }
    }
}

static void steps(const char *text, const char *options)
{
    cyxla_executable *e = options ? compiled_with(text, options) : compiled(text);
    cyxla_call *call = NULL;
    size_t rank = 0;
    const int64_t *dims;

    if (!e)
        return;
    dims = cyxla_executable_input_dims(e, 0, &rank);
    CHECK_INT(rank, 2);
    CHECK(dims && dims[0] == 1 && dims[1] == 2); /* each device's part */
    if (!CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    for (size_t d = 0; d < DEVICES; d++) {
        float *a = cyxla_call_input(call, d, 0, NULL);
        a[0] = 10.0F * (float)d;
        a[1] = 10.0F * (float)d + 1.0F;
        if (d == 2) {
            CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "input 1 of device 0", "not set");
        }
    }
    for (size_t d = 0; d < DEVICES; d++)
        memset(cyxla_call_input(call, d, 1, NULL), 0, 8);
    CHECK(cyxla_call_input(call, DEVICES, 0, NULL) == NULL);
    CHECK(cyxla_call_input(call, 0, 2, NULL) == NULL);
    for (int step = 0; step < 50; step++) {
        for (size_t d = 0; d < DEVICES; d++) {
            float *b = cyxla_call_input(call, d, 1, NULL);
            b[0] = (float)step;
            b[1] = (float)step + 1.0F;
        }
        CHECK_OK(cyxla_call_run(call));
        check_shards(call, (float)step);
    }
    CHECK(cyxla_call_output(call, DEVICES, 0, NULL) == NULL);
    for (size_t d = 0; d < DEVICES; d++) {
        cyxla_buffer *taken = NULL;
        CHECK_OK(cyxla_call_take(call, d, 0, &taken));
        CHECK_INT(cyxla_buffer_device(taken), cyxla_executable_device(e, d));
        CHECK_INT(first(taken), 49 + 10 * (int)d);
        cyxla_buffer_free(taken);
    }
    cyxla_call_free(call);
    cyxla_executable_free(e);
}

static void partitions_of_gspmd(void)
{
    steps(GSPMD, NULL);
    steps(GSPMD, "partitions=4;device_ids=2,0,3,1");
}

static void partitions_of_shardy(void)
{
    steps(SHARDY, NULL);
    steps(SHARDY, "partitions=4;device_ids=3,1,0,2");
}

/* It keeps its devices and their order. */
static void a_saved_program_runs_again(void)
{
    cyxla_executable *e = compiled_with(GSPMD, "partitions=4;device_ids=2,0,3,1");
    cyxla_executable *loaded = NULL;
    cyxla_bytes *bytes = NULL;
    cyxla_call *call = NULL;

    if (!e || !CHECK_OK(cyxla_executable_to_bytes(e, &bytes)))
        return;
    if (CHECK_OK(cyxla_executable_from_bytes(cyxla_bytes_data(bytes), cyxla_bytes_size(bytes), &loaded))) {
        CHECK_INT(cyxla_executable_device_count(loaded), DEVICES);
        CHECK_INT(cyxla_executable_device(loaded, 0), 2);
        CHECK_INT(cyxla_executable_device(loaded, 3), 1);
        CHECK_OK(cyxla_call_new(loaded, NULL, &call));
        for (size_t d = 0; d < DEVICES; d++) {
            float *a = cyxla_call_input(call, d, 0, NULL);
            float *b = cyxla_call_input(call, d, 1, NULL);
            a[0] = 10.0F * (float)d;
            a[1] = 10.0F * (float)d + 1.0F;
            b[0] = 3.0F;
            b[1] = 4.0F;
        }
        CHECK_OK(cyxla_call_run(call));
        check_shards(call, 3.0F);
    }
    cyxla_call_free(call);
    cyxla_executable_free(loaded);
    cyxla_bytes_free(bytes);
    cyxla_executable_free(e);
}

/* Each device's sum goes back to it, and stays there. */
static void outputs_are_fed_on_every_device(void)
{
    cyxla_executable *e = compiled(DONATED);
    cyxla_call *call = NULL;

    if (!e || !CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    for (size_t d = 0; d < DEVICES; d++) {
        float *a = cyxla_call_input(call, d, 0, NULL);
        float *b = cyxla_call_input(call, d, 1, NULL);
        a[0] = 100.0F * (float)d;
        b[0] = 1.0F;
        CHECK_OK(cyxla_call_feed(call, d, 0, 0));
    }
    CHECK_FAILS(cyxla_call_feed(call, 0, 0, 1), CYXLA_CODE_INVALID_ARGUMENT, "output 0 of device 0",
                "input 0 of device 0");
    for (int step = 1; step <= 20; step++) {
        CHECK_OK(cyxla_call_run(call));
        for (size_t d = 0; d < DEVICES; d++) {
            const float *sum = cyxla_call_output(call, d, 0, NULL);
            CHECK(sum && (int)*sum == step + 100 * (int)d);
        }
    }
    cyxla_call_free(call);
    cyxla_executable_free(e);
}

/* --- cyxla_execute, and what it refuses before any device starts --- */

static void buffers_go_to_their_devices(void)
{
    cyxla_executable *e = compiled_with(REPLICAS, "device_ids=1,3,0,2");
    cyxla_buffer *in[DEVICES];
    cyxla_buffer *out[2 * DEVICES] = {NULL};

    if (!e)
        return;
    for (size_t d = 0; d < DEVICES; d++)
        in[d] = made(cyxla_executable_device(e, d), (float)d + 1.0F);
    if (CHECK_OK(cyxla_execute(e, (const cyxla_buffer *const *)in, DEVICES, out, 2 * DEVICES))) {
        for (size_t d = 0; d < DEVICES; d++) {
            uint32_t number = 9;
            CHECK_INT(cyxla_buffer_device(out[2 * d]), cyxla_executable_device(e, d));
            CHECK_INT(first(out[2 * d]), 10);
            CHECK_OK(cyxla_buffer_to_host(out[2 * d + 1], &number, sizeof number));
            CHECK_INT(number, d);
        }
    }
    free_all(out, 2 * DEVICES);
    free_all(in, DEVICES);
    cyxla_executable_free(e);
}

static void execute_refuses(const cyxla_executable *e, cyxla_buffer **in, cyxla_code code, const char *what,
                            const char *why)
{
    cyxla_buffer *out[2 * DEVICES] = {NULL};

    CHECK_FAILS(cyxla_execute(e, (const cyxla_buffer *const *)in, DEVICES, out, 2 * DEVICES), code, what, why);
    for (size_t i = 0; i < 2 * DEVICES; i++)
        CHECK(out[i] == NULL);
}

/* With a collective in the program, plugins leave the other devices waiting for one
 * whose argument is bad, or die. */
static void one_bad_argument_stops_all_before_they_start(void)
{
    static const int64_t four[] = {4};
    static const float data[] = {1, 2, 3, 4};
    cyxla_executable *e = compiled(REPLICAS);
    cyxla_buffer *in[DEVICES];
    cyxla_buffer *bad[3] = {NULL, NULL, NULL};
    cyxla_buffer *out[2 * DEVICES] = {NULL};

    if (!e)
        return;
    for (size_t d = 0; d < DEVICES; d++)
        in[d] = made(d, 1.0F);
    CHECK_OK(cyxla_buffer_from_host(3, CYXLA_DTYPE_F32, four, 1, NULL, data, &bad[0]));
    CHECK_OK(cyxla_buffer_from_host(3, CYXLA_DTYPE_S32, TWO, 1, NULL, data, &bad[1]));
    bad[2] = made(1, 1.0F);
    cyxla_buffer *const good = in[3];
    in[3] = bad[0];
    execute_refuses(e, in, CYXLA_CODE_INVALID_ARGUMENT, "argument 0 of device 3", "got f32[4]");
    in[3] = bad[1];
    execute_refuses(e, in, CYXLA_CODE_INVALID_ARGUMENT, "argument 0 of device 3", "got s32[2]");
    in[3] = bad[2];
    execute_refuses(e, in, CYXLA_CODE_INVALID_ARGUMENT, "on device 1", "runs on device 3");
    in[3] = NULL;
    execute_refuses(e, in, CYXLA_CODE_INVALID_ARGUMENT, "inputs[3]", "NULL");
    in[3] = good;
    CHECK_FAILS(cyxla_execute(e, (const cyxla_buffer *const *)in, 1, out, 2), CYXLA_CODE_INVALID_ARGUMENT, "4 devices");
    if (CHECK_OK(cyxla_execute(e, (const cyxla_buffer *const *)in, DEVICES, out, 2 * DEVICES)))
        CHECK_INT(first(out[0]), 4);
    free_all(out, 2 * DEVICES);
    free_all(in, DEVICES);
    free_all(bad, 3);
    cyxla_executable_free(e);
    CHECK(alive_and_compiles());
}

static void a_donated_argument_is_gone_on_every_device(void)
{
    cyxla_executable *e = compiled(DONATED);
    cyxla_buffer *in[2 * DEVICES];
    cyxla_buffer *out[DEVICES] = {NULL};

    if (!e)
        return;
    for (size_t d = 0; d < DEVICES; d++) {
        in[2 * d] = made(d, (float)d);
        in[2 * d + 1] = made(d, 10.0F);
    }
    cyxla_buffer *const other = in[5];
    in[5] = in[4]; /* both arguments of device 2 */
    CHECK_FAILS(cyxla_execute(e, (const cyxla_buffer *const *)in, 2 * DEVICES, out, DEVICES),
                CYXLA_CODE_INVALID_ARGUMENT, "argument 0 of device 2", "argument 1 of device 2", "donated");
    in[5] = other;
    if (CHECK_OK(cyxla_execute(e, (const cyxla_buffer *const *)in, 2 * DEVICES, out, DEVICES))) {
        for (size_t d = 0; d < DEVICES; d++) {
            CHECK_INT(first(out[d]), 10 + (int)d);
            CHECK(cyxla_buffer_is_donated(in[2 * d]) && !cyxla_buffer_is_donated(in[2 * d + 1]));
        }
        free_all(out, DEVICES);
        CHECK_FAILS(cyxla_execute(e, (const cyxla_buffer *const *)in, 2 * DEVICES, out, DEVICES),
                    CYXLA_CODE_FAILED_PRECONDITION, "argument 0 of device 0", "donated");
    }
    free_all(in, 2 * DEVICES);
    cyxla_executable_free(e);
}

/* The same of a call: what is bound may be taken by somebody else before a step. */
static void a_call_checks_what_is_bound_on_every_device(void)
{
    cyxla_executable *e = compiled(REPLICAS);
    cyxla_executable *donated = compiled(DONATED);
    cyxla_executable *taker = compiled_with(DONATED_ADD_F32_4, "portable=true");
    static const int64_t four[] = {4};
    static const float data[] = {1, 2, 3, 4};
    cyxla_buffer *bound[DEVICES];
    cyxla_buffer *both = made(2, 1.0F);
    cyxla_buffer *gone[2] = {NULL, NULL};
    cyxla_buffer *out = NULL;
    cyxla_call *call = NULL;

    if (!e || !donated || !CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    for (size_t d = 0; d < DEVICES; d++) {
        bound[d] = made(d, 1.0F);
        CHECK_OK(cyxla_call_bind(call, d, 0, bound[d]));
    }
    CHECK_OK(cyxla_call_run(call));
    CHECK_INT((int)*(const float *)cyxla_call_output(call, 3, 0, NULL), 4);
    cyxla_call_free(call);
    call = NULL;
    /* One buffer for both inputs of device 2, of which the program takes one. */
    CHECK_OK(cyxla_call_new(donated, NULL, &call));
    for (size_t d = 0; d < DEVICES; d++) {
        CHECK_OK(cyxla_call_bind(call, d, 0, d == 2 ? both : bound[d]));
        if (d == 2)
            CHECK_OK(cyxla_call_bind(call, d, 1, both));
        else
            CHECK(cyxla_call_input(call, d, 1, NULL) != NULL);
    }
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_INVALID_ARGUMENT, "input 0 of device 2", "input 1 of device 2");
    CHECK(cyxla_call_input(call, 2, 1, NULL) != NULL);
    CHECK_OK(cyxla_call_run(call));
    CHECK(cyxla_buffer_is_donated(bound[0]) && cyxla_buffer_is_donated(both));
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "input 0 of device 0", "donated");
    cyxla_call_free(call);
    call = NULL;
    /* A buffer that another program has taken. */
    free_all(bound, DEVICES);
    CHECK_OK(cyxla_call_new(e, NULL, &call));
    for (size_t d = 0; d < DEVICES; d++) {
        bound[d] = made(d, 1.0F);
        CHECK_OK(cyxla_call_bind(call, d, 0, bound[d]));
    }
    CHECK_OK(cyxla_buffer_from_host(3, CYXLA_DTYPE_F32, four, 1, NULL, data, &gone[0]));
    CHECK_OK(cyxla_buffer_from_host(3, CYXLA_DTYPE_F32, four, 1, NULL, data, &gone[1]));
    CHECK_OK(cyxla_execute(taker, (const cyxla_buffer *const *)gone, 2, &out, 1));
    CHECK_FAILS(cyxla_call_bind(call, 3, 0, gone[0]), CYXLA_CODE_INVALID_ARGUMENT, "f32[4]");
    CHECK_OK(cyxla_call_run(call));
    cyxla_call_free(call);
    free_all(bound, DEVICES);
    free_all(gone, 2);
    cyxla_buffer_free(both);
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
    cyxla_executable_free(donated);
    cyxla_executable_free(taker);
    CHECK(alive_and_compiles());
}

/* A buffer of one call is taken by another one before the step. */
static void a_shard_that_was_taken_stops_all(void)
{
    cyxla_executable *e = compiled(REPLICAS);
    cyxla_executable *donated = compiled(DONATED);
    cyxla_buffer *in[2 * DEVICES];
    cyxla_buffer *out[DEVICES] = {NULL};
    cyxla_call *call = NULL;

    if (!e || !donated || !CHECK_OK(cyxla_call_new(e, NULL, &call)))
        return;
    for (size_t d = 0; d < DEVICES; d++) {
        in[2 * d] = made(d, 1.0F);
        in[2 * d + 1] = made(d, 2.0F);
        /* Of device 2 what will be taken, of the others what stays. */
        CHECK_OK(cyxla_call_bind(call, d, 0, in[d == 2 ? 2 * d : 2 * d + 1]));
    }
    CHECK_OK(cyxla_call_run(call));
    CHECK_OK(cyxla_execute(donated, (const cyxla_buffer *const *)in, 2 * DEVICES, out, DEVICES));
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "input 0 of device 2", "donated");
    CHECK_OK(cyxla_call_bind(call, 2, 0, in[5]));
    CHECK_OK(cyxla_call_run(call));
    CHECK_INT((int)*(const float *)cyxla_call_output(call, 0, 0, NULL), 8);
    cyxla_call_free(call);
    free_all(in, 2 * DEVICES);
    free_all(out, DEVICES);
    cyxla_executable_free(e);
    cyxla_executable_free(donated);
}

/* --- an executable for any device --- */

static void a_portable_program_runs_where_it_is_told(void)
{
    cyxla_executable *e = compiled_with(ADD_F32_4, "portable=true");
    cyxla_options *options = cyxla_options_new();
    static const int64_t four[] = {4};
    static const float data[] = {1, 2, 3, 4};

    for (size_t d = 0; e && d < DEVICES; d++) {
        cyxla_call *call = NULL;
        cyxla_buffer *in[2] = {NULL, NULL};
        cyxla_buffer *out = NULL;
        cyxla_buffer *taken = NULL;
        CHECK_OK(cyxla_options_set_int(options, "device", (int64_t)d));
        CHECK_OK(cyxla_buffer_from_host(d, CYXLA_DTYPE_F32, four, 1, NULL, data, &in[0]));
        CHECK_OK(cyxla_buffer_from_host(d, CYXLA_DTYPE_F32, four, 1, NULL, data, &in[1]));
        if (CHECK_OK(cyxla_execute(e, (const cyxla_buffer *const *)in, 2, &out, 1))) {
            CHECK_INT(cyxla_buffer_device(out), d);
            CHECK_INT(first(in[0]), 1);
        }
        if (CHECK_OK(cyxla_call_new(e, options, &call))) {
            CHECK_OK(cyxla_call_bind(call, 0, 0, in[0]));
            ((float *)cyxla_call_input(call, 0, 1, NULL))[3] = 38.0F;
            CHECK_OK(cyxla_call_run(call));
            CHECK_INT((int)((const float *)cyxla_call_output(call, 0, 0, NULL))[3], 42);
            CHECK_OK(cyxla_call_take(call, 0, 0, &taken));
            CHECK_INT(cyxla_buffer_device(taken), d);
        }
        cyxla_buffer_free(taken);
        cyxla_buffer_free(out);
        free_all(in, 2);
        cyxla_call_free(call);
    }
    cyxla_options_free(options);
    cyxla_executable_free(e);
}

static void arguments_of_one_run_are_on_one_device(void)
{
    cyxla_executable *e = compiled_with(DONATED_ADD_F32_4, "portable=true");
    static const int64_t four[] = {4};
    static const float data[] = {1, 2, 3, 4};
    cyxla_buffer *in[2] = {NULL, NULL};
    cyxla_buffer *out = NULL;

    CHECK_OK(cyxla_buffer_from_host(1, CYXLA_DTYPE_F32, four, 1, NULL, data, &in[0]));
    CHECK_OK(cyxla_buffer_from_host(2, CYXLA_DTYPE_F32, four, 1, NULL, data, &in[1]));
    CHECK_FAILS(cyxla_execute(e, (const cyxla_buffer *const *)in, 2, &out, 1), CYXLA_CODE_INVALID_ARGUMENT,
                "argument 1", "on device 2", "runs on device 1");
    CHECK(out == NULL && !cyxla_buffer_is_donated(in[0]));
    free_all(in, 2);
    cyxla_executable_free(e);
}

static void call_options(void)
{
    static const char *const texts[] = {"device=4", "device=-1", "device=true", "devise=1", "device=0.5"};
    cyxla_executable *portable = compiled_with(ADD_F32_4, "portable=true");
    cyxla_executable *fixed = compiled_with(ADD_F32_4, "device=2");
    cyxla_executable *all = compiled(REPLICAS);
    cyxla_options *options = cyxla_options_new();
    cyxla_call *call = NULL;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cyxla_options *bad = cyxla_options_new();
        CHECK_OK(cyxla_options_parse(bad, texts[i]));
        CHECK_FAILS(cyxla_call_new(portable, bad, &call), CYXLA_CODE_INVALID_ARGUMENT, "device");
        cyxla_options_free(bad);
    }
    CHECK_OK(cyxla_options_parse(options, "device=1"));
    CHECK_FAILS(cyxla_call_new(fixed, options, &call), CYXLA_CODE_INVALID_ARGUMENT, "for device 2", "portable");
    CHECK_FAILS(cyxla_call_new(all, options, &call), CYXLA_CODE_INVALID_ARGUMENT, "for device 0, 1, 2, 3");
    CHECK(call == NULL);
    cyxla_options_free(options);
    options = cyxla_options_new();
    CHECK_OK(cyxla_options_parse(options, "device=2"));
    CHECK_OK(cyxla_call_new(fixed, options, &call));
    cyxla_call_free(call);
    cyxla_options_free(options);
    cyxla_executable_free(portable);
    cyxla_executable_free(fixed);
    cyxla_executable_free(all);
}

/* --- device counts --- */

static void counts_that_do_not_fit(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;
    static const char eight[] = "module attributes {mhlo.num_partitions = 8 : i32} {\n"
                                "  func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
                                "    return %a : tensor<8xf32> } }\n";

    CHECK_OK(cyxla_program_from_bytes(eight, strlen(eight), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_FAILS(cyxla_compile_program(program, NULL, &e), CYXLA_CODE_FAILED_PRECONDITION, "written for several",
                "8 partitions need 8 devices, but there are 4", "cpu_device_count=8");
    CHECK_FAILS(compile_with(program, "partitions=5", &e), CYXLA_CODE_INVALID_ARGUMENT, "need 5 devices");
    CHECK_OK(compile_with(program, "partitions=1", &e));
    CHECK_INT(cyxla_executable_device_count(e), 1);
    CHECK_INT(cyxla_executable_device(e, 7), 0);
    cyxla_executable_free(e);
    cyxla_program_free(program);
    program = NULL;
    e = NULL;
    CHECK_OK(cyxla_program_from_bytes(REPLICAS, strlen(REPLICAS), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_FAILS(compile_with(program, "replicas=1", &e), CYXLA_CODE_FAILED_PRECONDITION, "4 replicas",
                "compiled for 1");
    CHECK(e == NULL);
    cyxla_program_free(program);
    CHECK(alive());
}

/* Copies a device's part of a row-major matrix, or back. */
static void copy_part(float *part, float *whole, size_t columns, const int64_t *offsets, const int64_t *dims, bool in)
{
    for (size_t i = 0; i < (size_t)dims[0]; i++) {
        float *row = &whole[((size_t)offsets[0] + i) * columns + (size_t)offsets[1]];
        memcpy(in ? part + i * (size_t)dims[1] : row, in ? row : part + i * (size_t)dims[1],
               (size_t)dims[1] * sizeof(float));
    }
}

static void fill_parts(cyxla_call *call, const cyxla_executable *e, size_t index, float *whole, size_t columns)
{
    for (size_t d = 0; d < DEVICES; d++) {
        size_t rank = 0;
        const int64_t *dims = cyxla_executable_input_dims(e, index, NULL);
        const int64_t *offsets = cyxla_executable_input_offsets(e, d, index, &rank);
        CHECK_INT(rank, 2);
        if (CHECK(offsets != NULL))
            copy_part(cyxla_call_input(call, d, index, NULL), whole, columns, offsets, dims, true);
    }
}

/* f(a, b, c) = (a @ b, c) of JAX, on a mesh of 2 x 2: a f32[4,4] and the product are
 * divided both ways, b f32[4,8] by columns, c f32[2] as the compiler likes it. */
static void a_sharded_export_runs_on_its_devices(void)
{
    float a[4][4], b[4][8], product[4][8] = {{0}};
    cyxla_executable *e = fixture_compiled("exports/sharding4.jaxexport");
    cyxla_call *call = NULL;

    if (!e)
        return;
    CHECK_INT(cyxla_executable_device_count(e), DEVICES);
    for (size_t i = 0; i < 16; i++)
        a[i / 4][i % 4] = (float)i;
    for (size_t i = 0; i < 32; i++)
        b[i / 8][i % 8] = (float)(i % 5);
    if (plugin_minor() < 106) {
        CHECK(cyxla_executable_input_offsets(e, 0, 0, NULL) == NULL); /* it does not tell */
    } else if (CHECK_OK(cyxla_call_new(e, NULL, &call))) {
        fill_parts(call, e, 0, &a[0][0], 4);
        fill_parts(call, e, 1, &b[0][0], 8);
        for (size_t d = 0; d < DEVICES; d++)
            CHECK(cyxla_call_input(call, d, 2, NULL) != NULL);
        CHECK_OK(cyxla_call_run(call));
        for (size_t d = 0; d < DEVICES; d++) {
            size_t size = 0;
            float part[16];
            const int64_t *offsets = cyxla_executable_output_offsets(e, d, 0, NULL);
            const void *data = cyxla_call_output(call, d, 0, &size);
            if (CHECK(offsets && data && size <= sizeof part)) {
                memcpy(part, data, size);
                copy_part(part, &product[0][0], 8, offsets, cyxla_executable_output_dims(e, 0, NULL), false);
            }
        }
        for (size_t i = 0; i < 4; i++) {
            for (size_t j = 0; j < 8; j++) {
                float want = 0.0F;
                for (size_t k = 0; k < 4; k++)
                    want += a[i][k] * b[k][j];
                CHECK_FLOATS(&product[i][j], &want, 1);
            }
        }
    }
    CHECK(cyxla_executable_input_offsets(e, DEVICES, 0, NULL) == NULL);
    CHECK(cyxla_executable_input_offsets(e, 0, 3, NULL) == NULL);
    CHECK(cyxla_executable_output_offsets(e, SIZE_MAX, 0, NULL) == NULL);
    CHECK(cyxla_executable_output_offsets(NULL, 0, 0, NULL) == NULL);
    cyxla_call_free(call);
    cyxla_executable_free(e);
}

/* --- threads --- */

static void *sum_again_and_again(void *executable)
{
    cyxla_call *call = NULL;

    if (!CHECK_OK(cyxla_call_new(executable, NULL, &call)))
        return NULL;
    for (int step = 0; step < 300; step++) {
        for (size_t d = 0; d < DEVICES; d++)
            ((float *)cyxla_call_input(call, d, 0, NULL))[0] = (float)(step % 7) + (float)d;
        if (!CHECK_OK(cyxla_call_run(call)))
            break;
        for (size_t d = 0; d < DEVICES; d++) {
            const float *sum = cyxla_call_output(call, d, 0, NULL);
            if (!CHECK(sum && (int)*sum == 4 * (step % 7) + 6))
                step = 300;
        }
    }
    cyxla_call_free(call);
    return NULL;
}

/* Devices of one run wait for each other, and must not wait for those of another. */
static void threads_run_collectives_at_once(void)
{
    pthread_t threads[3];
    cyxla_executable *e = compiled(REPLICAS);

    if (!e)
        return;
    for (size_t i = 0; i < 3; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, sum_again_and_again, e), 0);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    cyxla_executable_free(e);
}

int main(int argc, char **argv)
{
    cyxla_options *options = cyxla_options_new();

    test_start(argc, argv, NULL);
    CHECK_OK(cyxla_options_set_int(options, "cpu_device_count", DEVICES));
    if (!CHECK_OK(cyxla_initialize(NULL, NULL, options, NULL)))
        return 1;
    cyxla_options_free(options);
    RUN(replicas_have_data_of_their_own);
    RUN(partitions_of_gspmd);
    RUN(partitions_of_shardy);
    RUN(a_saved_program_runs_again);
    RUN(outputs_are_fed_on_every_device);
    RUN(buffers_go_to_their_devices);
    RUN(one_bad_argument_stops_all_before_they_start);
    RUN(a_donated_argument_is_gone_on_every_device);
    RUN(a_call_checks_what_is_bound_on_every_device);
    RUN(a_shard_that_was_taken_stops_all);
    RUN(a_portable_program_runs_where_it_is_told);
    RUN(arguments_of_one_run_are_on_one_device);
    RUN(call_options);
    RUN(counts_that_do_not_fit);
    RUN(a_sharded_export_runs_on_its_devices);
    RUN(threads_run_collectives_at_once);
    return test_end();
}
