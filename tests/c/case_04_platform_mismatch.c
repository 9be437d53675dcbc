/* Nothing in a module keeps a plugin from running what was lowered for another
 * platform, with other results. The library refuses it, unless it is told not to. */
#include <stdint.h>
#include <string.h>

#include "corpus.h"
#include "support.h"
#include "test.h"

/* The first in the process: it asks for a plugin that is not there, and gets no other. */
static void no_plugin_of_another_platform_is_loaded(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;

    CHECK_OK(corpus_read("0.10.2", "cuda_only", NULL, &program));
    cyxla_error *error = cyxla_compile_program(program, NULL, &e);
    CHECK(error != NULL && e == NULL);
    CHECK_HAS(cyxla_error_message(error), "cuda");
    CHECK_HAS(cyxla_error_message(error), "cpu");
    CHECK_INT(cyxla_error_code(error), CYXLA_CODE_FAILED_PRECONDITION);
    cyxla_error_free(error);
    cyxla_program_free(program);
}

static void a_mismatch_names_both(void)
{
    CHECK(alive());
    for (size_t i = 0; i < CORPUS_VERSION_COUNT; i++) {
        cyxla_program *program = NULL;
        cyxla_executable *e = NULL;
        CHECK_OK(corpus_read(CORPUS_VERSIONS[i], "cuda_only", NULL, &program));
        CHECK_INT(cyxla_program_platform_count(program), 1);
        CHECK_STR(cyxla_program_platform(program, 0), "cuda");
        CHECK_FAILS(cyxla_compile_program(program, NULL, &e), CYXLA_CODE_FAILED_PRECONDITION, "for cuda", "for cpu",
                    "check_platform=false");
        CHECK_FAILS(compile_with(program, "check_platform=true", &e), CYXLA_CODE_FAILED_PRECONDITION, "cuda", "cpu");
        CHECK(e == NULL);
        cyxla_program_free(program);
    }
    CHECK(alive_and_compiles());
}

static void a_caller_who_insists_gets_it(void)
{
    static const int32_t x[4] = {1, -2, 3, 1000};
    static const int32_t want[4] = {3, -6, 9, 3000};
    int32_t out[4] = {0};
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;

    CHECK_OK(corpus_read("0.10.2", "cuda_only", NULL, &program));
    if (CHECK_OK(compile_with(program, "check_platform=false", &e)) &&
        CHECK_OK(run_1_1(e, x, sizeof x, out, sizeof out)))
        CHECK_BYTES(out, want, sizeof out);
    cyxla_executable_free(e);
    cyxla_program_free(program);
}

/* Insisting cannot make a branch for a platform that the program has none for. */
static void a_branch_that_is_not_there_cannot_run(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;

    CHECK_OK(corpus_read("0.10.2", "tpu_or_rocm_only", NULL, &program));
    CHECK_FAILS(cyxla_compile_program(program, NULL, &e), CYXLA_CODE_FAILED_PRECONDITION, "tpu", "rocm", "cpu");
    CHECK_FAILS(compile_with(program, "check_platform=false", &e), CYXLA_CODE_FAILED_PRECONDITION, "tpu", "rocm",
                "cpu", "export");
    CHECK(e == NULL);
    cyxla_program_free(program);
    CHECK(alive());
}

static void another_platform_cannot_be_claimed(void)
{
    cyxla_program *program = NULL;

    CHECK_FAILS(corpus_read("0.10.2", "cuda_only", "cpu", &program), CYXLA_CODE_INVALID_ARGUMENT, "for cuda",
                "not for cpu");
    CHECK(program == NULL);
    CHECK_OK(corpus_read("0.10.2", "cuda_only", "gpu", &program));
    CHECK_STR(cyxla_program_platform(program, 0), "cuda");
    cyxla_program_free(program);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(no_plugin_of_another_platform_is_loaded);
    RUN(a_mismatch_names_both);
    RUN(a_caller_who_insists_gets_it);
    RUN(a_branch_that_is_not_there_cannot_run);
    RUN(another_platform_cannot_be_claimed);
    return test_end();
}
