/* An export for several platforms has a branch for each, and takes the number of the
 * platform that it runs on as a first argument: of 32 bits, or of 64 if it was exported
 * with jax_enable_x64. The library passes it; the caller never sees it. */
#include <stdint.h>
#include <string.h>

#include "corpus.h"
#include "support.h"
#include "test.h"

/* On tpu x + 300, on cpu x + 100, on cuda x + 200. */
static const char *const BOTH[] = {"multi_platform", "multi_platform_x64"};

static const int32_t X[4] = {1, -2, 3, 1000};
static const int32_t WANT[4] = {101, 98, 103, 1100};

static void check_run(const cyxla_executable *e)
{
    int32_t out[4] = {0};

    if (CHECK_OK(run_1_1(e, X, sizeof X, out, sizeof out)))
        CHECK_BYTES(out, WANT, sizeof out);
}

static void its_own_branch_runs(void)
{
    for (size_t i = 0; i < CORPUS_VERSION_COUNT; i++) {
        for (size_t j = 0; j < 2; j++) {
            cyxla_executable *e = corpus_compiled(CORPUS_VERSIONS[i], BOTH[j]);
            if (!e)
                continue;
            CHECK_INT(cyxla_executable_input_count(e), 1);
            CHECK_STR(cyxla_executable_input_name(e, 0), "args[0]");
            CHECK_INT(cyxla_executable_input_dtype(e, 0), CYXLA_DTYPE_S32);
            check_run(e);
            cyxla_executable_free(e);
        }
    }
}

static void in_buffers(void)
{
    static const int64_t dims[] = {4};

    for (size_t j = 0; j < 2; j++) {
        int32_t out[4] = {0};
        cyxla_buffer *x = NULL;
        cyxla_buffer *result = NULL;
        cyxla_executable *e = corpus_compiled("0.10.2", BOTH[j]);
        CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_S32, dims, 1, NULL, X, &x));
        const cyxla_buffer *inputs[] = {x};
        /* The index is there for each of several runs. */
        for (int again = 0; e && again < 3; again++) {
            if (CHECK_OK(cyxla_execute(e, inputs, 1, &result, 1)) &&
                CHECK_OK(cyxla_buffer_to_host(result, out, sizeof out)))
                CHECK_BYTES(out, WANT, sizeof out);
            cyxla_buffer_free(result);
            result = NULL;
        }
        cyxla_buffer_free(x);
        cyxla_executable_free(e);
    }
}

static void the_index_is_no_argument(void)
{
    const int64_t index = 2;
    int32_t out[4] = {0};
    const void *const inputs[] = {&index, X};
    const size_t sizes[] = {sizeof index, sizeof X};
    void *outputs[] = {out};
    const size_t output_sizes[] = {sizeof out};
    cyxla_executable *e = corpus_compiled("0.10.2", "multi_platform_x64");

    CHECK_FAILS(cyxla_run(e, inputs, sizes, 2, outputs, output_sizes, 1), CYXLA_CODE_INVALID_ARGUMENT,
                "expects 1 argument", "got 2");
    cyxla_executable_free(e);
}

static void a_platform_can_be_asked_for(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;

    CHECK_OK(corpus_read("0.10.2", "multi_platform", "cpu", &program));
    CHECK_INT(cyxla_program_platform_count(program), 1);
    CHECK_STR(cyxla_program_platform(program, 0), "cpu");
    if (CHECK_OK(cyxla_compile_program(program, NULL, &e)))
        check_run(e);
    cyxla_executable_free(e);
    cyxla_program_free(program);
}

static void all_platforms_are_told(void)
{
    static const char *const platforms[] = {"tpu", "cpu", "cuda"};
    cyxla_program *program = NULL;

    CHECK_OK(corpus_read("0.4.30", "multi_platform", NULL, &program));
    if (CHECK_INT(cyxla_program_platform_count(program), 3)) {
        for (size_t i = 0; i < 3; i++)
            CHECK_STR(cyxla_program_platform(program, i), platforms[i]);
    }
    cyxla_program_free(program);
}

static void other_platforms_are_refused(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;

    CHECK_FAILS(corpus_read("0.10.2", "multi_platform", "rocm", &program), CYXLA_CODE_INVALID_ARGUMENT,
                "tpu, cpu, cuda", "rocm");
    CHECK(program == NULL);
    /* Its branch for CUDA must not run on what is loaded. */
    CHECK_OK(corpus_read("0.10.2", "multi_platform", "cuda", &program));
    CHECK_FAILS(cyxla_compile_program(program, NULL, &e), CYXLA_CODE_FAILED_PRECONDITION, "cuda", "cpu");
    CHECK(e == NULL);
    cyxla_program_free(program);
    CHECK(alive());
}

/* multi_platform_dropped(dropped: s32[3], x: f32[5], state: s32[4]) gives state + 101 on
 * a CPU, in the memory of state, and x backwards. */
static void behind_it_come_those_that_were_kept(void)
{
    static const int32_t dropped[3] = {0};
    static const float x[5] = {1, 2, 3, 4, 5};
    static const float backwards[5] = {5, 4, 3, 2, 1};
    static const int32_t want[4] = {102, 99, 104, 1101};

    for (size_t i = 0; i < CORPUS_VERSION_COUNT; i++) {
        int32_t sum[4] = {0};
        float reversed[5] = {0};
        const void *const inputs[] = {dropped, x, X};
        const size_t sizes[] = {sizeof dropped, sizeof x, sizeof X};
        void *outputs[] = {sum, reversed};
        const size_t output_sizes[] = {sizeof sum, sizeof reversed};
        cyxla_executable *e = corpus_compiled(CORPUS_VERSIONS[i], "multi_platform_dropped");
        if (!e)
            continue;
        CHECK(!cyxla_executable_input_is_donated(e, 0) && !cyxla_executable_input_is_donated(e, 1));
        CHECK(cyxla_executable_input_is_donated(e, 2));
        if (CHECK_OK(cyxla_run(e, inputs, sizes, 3, outputs, output_sizes, 2))) {
            CHECK_BYTES(sum, want, sizeof sum);
            CHECK_FLOATS(reversed, backwards, 5);
        }
        cyxla_executable_free(e);
    }
}

static void a_saved_executable_keeps_it(void)
{
    for (size_t j = 0; j < 2; j++) {
        cyxla_bytes *bytes = NULL;
        cyxla_executable *again = NULL;
        cyxla_executable *e = corpus_compiled("0.10.2", BOTH[j]);
        if (e && CHECK_OK(cyxla_executable_to_bytes(e, &bytes)) &&
            CHECK_OK(cyxla_executable_from_bytes(cyxla_bytes_data(bytes), cyxla_bytes_size(bytes), &again))) {
            CHECK_INT(cyxla_executable_input_count(again), 1);
            check_run(again);
        }
        cyxla_bytes_free(bytes);
        cyxla_executable_free(again);
        cyxla_executable_free(e);
    }
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(its_own_branch_runs);
    RUN(in_buffers);
    RUN(the_index_is_no_argument);
    RUN(a_platform_can_be_asked_for);
    RUN(all_platforms_are_told);
    RUN(other_platforms_are_refused);
    RUN(behind_it_come_those_that_were_kept);
    RUN(a_saved_executable_keeps_it);
    return test_end();
}
