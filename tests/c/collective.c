/* Programs that talk to other devices or to the host while they run. Plugins compile
 * them for one device without a word; then they return their own input as if it were
 * everybody's sum, abort, or wait for ever. */
#include <stdint.h>
#include <string.h>

#include "support.h"
#include "test.h"

#define ALL_REDUCE(groups, type)                                                                          \
    "module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"                             \
    "  %0 = \"stablehlo.all_reduce\"(%a) ({\n"                                                            \
    "  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"                                                         \
    "    %s = stablehlo.add %x, %y : tensor<f32>\n"                                                       \
    "    stablehlo.return %s : tensor<f32>\n"                                                             \
    "  }) {replica_groups = dense<" groups "> : tensor<" type ">} : (tensor<4xf32>) -> tensor<4xf32>\n"   \
    "  return %0 : tensor<4xf32> } }\n"

static void refused(const char *text, const char *part)
{
    cyxla_executable *e = NULL;

    CHECK_FAILS(compile_text(text, &e), CYXLA_CODE_UNIMPLEMENTED, part);
    CHECK(e == NULL);
    CHECK(alive());
}

static void collectives_of_four_devices_are_refused(void)
{
    refused(ALL_REDUCE("[[0, 1, 2, 3]]", "1x4xi64"), "all-reduce");
    refused(ALL_REDUCE("[[0, 1], [2, 3]]", "2x2xi64"), "all-reduce");
    refused("module { func.func public @main(%a: tensor<4xf32>) -> tensor<16xf32> {\n"
            "  %0 = \"stablehlo.all_gather\"(%a) {all_gather_dim = 0 : i64,\n"
            "      replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4xf32>) -> tensor<16xf32>\n"
            "  return %0 : tensor<16xf32> } }\n",
            "all-gather");
    refused("module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = \"stablehlo.collective_permute\"(%a) {\n"
            "      source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  return %0 : tensor<4xf32> } }\n",
            "collective-permute");
    CHECK(alive_and_compiles());
}

/* Without groups all devices join. Alone, a plugin leaves what the others would have
 * given as it was in memory. */
static void collectives_without_groups_are_refused(void)
{
    refused("module { func.func public @main(%a: tensor<4xf32>) -> tensor<8xf32> {\n"
            "  %0 = \"stablehlo.all_gather\"(%a) {all_gather_dim = 0 : i64,\n"
            "      replica_groups = dense<> : tensor<0x0xi64>} : (tensor<4xf32>) -> tensor<8xf32>\n"
            "  return %0 : tensor<8xf32> } }\n",
            "all-gather");
    cyxla_executable *e = NULL;
    CHECK_FAILS(
        compile_text("module attributes {mhlo.num_replicas = 8 : i32} {\n"
                     "func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> } }\n",
                     &e),
        CYXLA_CODE_FAILED_PRECONDITION, "8 replicas", "there are 1");
}

static void collectives_inside_other_code_are_found(void)
{
    refused("module { func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = \"stablehlo.collective_permute\"(%a) {\n"
            "      source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  return %0 : tensor<4xf32> }\n"
            "func.func public @main(%p: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = \"stablehlo.if\"(%p) ({\n"
            "    %1 = func.call @inner(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
            "    stablehlo.return %1 : tensor<4xf32>\n"
            "  }, { stablehlo.return %a : tensor<4xf32> }) : (tensor<i1>) -> tensor<4xf32>\n"
            "  return %0 : tensor<4xf32> } }\n",
            "collective-permute");
}

static void host_transfers_are_refused(void)
{
    refused("module { func.func public @main() -> tensor<4xf32> {\n"
            "  %t = stablehlo.create_token : !stablehlo.token\n"
            "  %0:2 = \"stablehlo.infeed\"(%t) {infeed_config = \"\", layout = [[0]]}\n"
            "      : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)\n"
            "  return %0#0 : tensor<4xf32> } }\n",
            "infeed");
    refused("module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %t = stablehlo.create_token : !stablehlo.token\n"
            "  %0 = \"stablehlo.outfeed\"(%a, %t) {outfeed_config = \"\"}\n"
            "      : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token\n"
            "  return %a : tensor<4xf32> } }\n",
            "outfeed");
    refused("module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %t = stablehlo.create_token : !stablehlo.token\n"
            "  %0 = \"stablehlo.send\"(%a, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>,\n"
            "      is_host_transfer = true} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token\n"
            "  return %a : tensor<4xf32> } }\n",
            "send");
    CHECK(alive_and_compiles());
}

static void runs(const char *text)
{
    static const float in[] = {1, 2, 3, 4};
    float out[4] = {0};
    cyxla_executable *e = compiled(text);

    if (e && CHECK_OK(run_1_1(e, in, sizeof in, out, sizeof out)))
        CHECK_FLOATS(out, in, 4);
    cyxla_executable_free(e);
}

/* A sum over one device is the device's own value. */
static void collectives_of_one_device_run(void)
{
    runs(ALL_REDUCE("[[0]]", "1x1xi64"));
    runs("module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
         "  %0 = \"stablehlo.collective_permute\"(%a) {\n"
         "      source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>\n"
         "  return %0 : tensor<4xf32> } }\n");
}

/* The module says four partitions, the compile options say one: the whole program
 * runs on one device, and rightly so. */
static void a_partitioned_module_runs_whole(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;
    static const char text[] =
        "module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {\n"
        "func.func public @main(%a: tensor<8xf32> {mhlo.sharding = \"{devices=[4]<=[4]}\"})\n"
        "    -> (tensor<8xf32> {mhlo.sharding = \"{devices=[4]<=[4]}\"}) {\n"
        "  %0 = stablehlo.add %a, %a : tensor<8xf32>\n"
        "  return %0 : tensor<8xf32> } }\n";
    static const float in[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const float want[8] = {0, 2, 4, 6, 8, 10, 12, 14};
    float out[8] = {0};

    CHECK_OK(cyxla_program_from_bytes(text, sizeof text - 1, CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_FAILS(cyxla_compile_program(program, NULL, &e), CYXLA_CODE_FAILED_PRECONDITION, "4 partitions need 4 devices",
                "cpu_device_count=4");
    CHECK_OK(compile_with(program, "partitions=1", &e));
    cyxla_program_free(program);
    if (e && CHECK_OK(run_1_1(e, in, sizeof in, out, sizeof out)))
        CHECK_FLOATS(out, want, 8);
    cyxla_executable_free(e);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(collectives_of_four_devices_are_refused);
    RUN(collectives_without_groups_are_refused);
    RUN(collectives_inside_other_code_are_found);
    RUN(host_transfers_are_refused);
    RUN(collectives_of_one_device_run);
    RUN(a_partitioned_module_runs_whole);
    return test_end();
}
