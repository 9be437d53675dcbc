/* Programs newer than the plugin: an error that says which versions the plugin reads
 * and what to do. */
#include <stdint.h>
#include <stdlib.h>

#include "corpus.h"
#include "support.h"
#include "test.h"

/* top_k of JAX 0.10.2 needs a composite operation that StableHLO 1.13.3, the newest of
 * PJRT 0.81, does not have. */
static void a_newer_artifact(void)
{
    static const float in[3][3] = {{3, 1, 2}, {-1, -3, -2}, {5, 5, 9}};
    static const float want[3][2] = {{3, 2}, {-1, -2}, {9, 5}};
    float out[3][2] = {{0}};
    size_t size = 0;
    cyxla_executable *e = NULL;
    void *code = fixture("topk.mlirbc", &size);

    if (plugin_minor() < 106) {
        CHECK_FAILS(compile_bytes(code, size, &e), CYXLA_CODE_UNKNOWN, "vhlo.composite_v2", "0.9.0", "1.13.3",
                    "StableHLO_v", "export");
        CHECK(e == NULL);
    } else if (CHECK_OK(compile_bytes(code, size, &e))) {
        CHECK_OK(run_1_1(e, in, sizeof in, out, sizeof out));
        CHECK_FLOATS(&out[0][0], &want[0][0], 6);
    }
    cyxla_executable_free(e);
    free(code);
    CHECK(alive_and_compiles());
}

/* The same inside an export: top_k(f32[3,9], 4). What older JAX writes, all plugins read. */
static void newer_and_older_exports(void)
{
    static const float in[3][9] = {
        {1, 2, 3, 4, 5, 6, 7, 8, 9}, {9, 8, 7, 6, 5, 4, 3, 2, 1}, {0, 1, 0, 2, 0, 3, 0, 4, 0}};
    static const float want[12] = {9, 8, 7, 6, 9, 8, 7, 6, 4, 3, 2, 1};
    static const int32_t want_places[12] = {8, 7, 6, 5, 0, 1, 2, 3, 7, 5, 3, 1};

    for (size_t i = 0; i < CORPUS_VERSION_COUNT; i++) {
        float values[12] = {0};
        int32_t places[12] = {0};
        const void *const inputs[] = {in};
        const size_t sizes[] = {sizeof in};
        void *outputs[] = {values, places};
        const size_t output_sizes[] = {sizeof values, sizeof places};
        cyxla_program *program = NULL;
        cyxla_executable *e = NULL;
        CHECK_OK(corpus_read(CORPUS_VERSIONS[i], "top_k", NULL, &program));
        /* Its signature is known all the same. */
        CHECK_INT(cyxla_program_input_size(program, 0), sizeof in);
        CHECK_INT(cyxla_program_output_count(program), 2);
        if (plugin_minor() < 106 && i == CORPUS_VERSION_COUNT - 1) {
            CHECK_FAILS(cyxla_compile_program(program, NULL, &e), CYXLA_CODE_UNKNOWN, "vhlo.composite_v2",
                        "0.9.0 to 1.13.3", "StableHLO_v1.15.0", "export it again for StableHLO 1.13.3 or older");
            CHECK(e == NULL);
        } else if (CHECK_OK(cyxla_compile_program(program, NULL, &e)) &&
                   CHECK_OK(cyxla_run(e, inputs, sizes, 1, outputs, output_sizes, 2))) {
            CHECK_FLOATS(values, want, 12);
            CHECK_BYTES(places, want_places, sizeof places);
        }
        cyxla_executable_free(e);
        cyxla_program_free(program);
    }
    CHECK(alive_and_compiles());
}

static const char *newest_stablehlo(void)
{
    return plugin_minor() >= 115 ? "1.20.0" : plugin_minor() >= 106 ? "1.16.1" : "1.13.3";
}

static void an_operation_from_the_future(void)
{
    cyxla_executable *e = NULL;

    CHECK_FAILS(compile_text("module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                             "  %0 = stablehlo.from_the_future %a : tensor<4xf32>\n"
                             "  return %0 : tensor<4xf32> } }",
                             &e),
                CYXLA_CODE_UNKNOWN, "from_the_future", "0.9.0", newest_stablehlo(), "export");
    CHECK(e == NULL);
    CHECK(alive_and_compiles());
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(a_newer_artifact);
    RUN(newer_and_older_exports);
    RUN(an_operation_from_the_future);
    return test_end();
}
