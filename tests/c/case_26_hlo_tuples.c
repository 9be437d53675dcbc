/* HLO protos: parameters that are tuples are taken apart, so is a result; tuples in the
 * tuple of a result cannot be, and HLO text is no proto. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

static void no_results_at_all(void)
{
    static const float x[2] = {1, 2};
    const void *const inputs[] = {x};
    const size_t sizes[] = {sizeof x};
    cyxla_executable *e = fixture_compiled("hlo/empty_result.pb");

    CHECK_INT(cyxla_executable_output_count(e), 0);
    CHECK_OK(cyxla_run(e, inputs, sizes, 1, NULL, NULL, 0));
    CHECK_FAILS(cyxla_run(e, inputs, sizes, 0, NULL, NULL, 0), CYXLA_CODE_INVALID_ARGUMENT, "expects 1 argument");
    cyxla_executable_free(e);
}

/* The result's own order is column-major; what comes out is row-major all the same. */
static void a_column_major_result(void)
{
    static const float x[2][3] = {{0, 1, 2}, {3, 4, 5}};
    static const float want[6] = {-0.0f, -1, -2, -3, -4, -5};
    static const int64_t dims[] = {2, 3};
    float out[6] = {0};
    cyxla_buffer *in = NULL;
    cyxla_buffer *result = NULL;
    cyxla_executable *e = fixture_compiled("hlo/column_major_result.pb");

    if (e && CHECK_OK(run_1_1(e, x, sizeof x, out, sizeof out)))
        CHECK_FLOATS(out, want, 6);
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 2, NULL, x, &in));
    const cyxla_buffer *inputs[] = {in};
    memset(out, 0, sizeof out);
    if (e && CHECK_OK(cyxla_execute(e, inputs, 1, &result, 1)) &&
        CHECK_OK(cyxla_buffer_to_host(result, out, sizeof out)))
        CHECK_FLOATS(out, want, 6);
    cyxla_buffer_free(in);
    cyxla_buffer_free(result);
    cyxla_executable_free(e);
}

/* One parameter, a pair of f32[2,3], of which the second is donated: the difference. */
static void a_tuple_parameter_is_its_parts(void)
{
    static const float a[6] = {0, 10, 20, 30, 40, 50};
    static const float b[6] = {1, 2, 3, 4, 5, 6};
    static const float want[6] = {-1, 8, 17, 26, 35, 44};
    const void *const inputs[] = {a, b};
    const size_t sizes[] = {sizeof a, sizeof b};
    float out[6] = {0};
    void *outputs[] = {out};
    cyxla_executable *e = fixture_compiled("hlo/tuple.pb");

    CHECK_INT(cyxla_executable_input_count(e), 2);
    CHECK(!cyxla_executable_input_is_donated(e, 0) && cyxla_executable_input_is_donated(e, 1));
    if (e && CHECK_OK(cyxla_run(e, inputs, sizes, 2, outputs, sizes, 1)))
        CHECK_FLOATS(out, want, 6);
    cyxla_executable_free(e);
}

/* r = (pair[0] - pair[1]) * x, and r = all[0][0] * all[1], where all[0][1] is not used. */
static void tuples_stand_anywhere_among_parameters(void)
{
    static const float one[4] = {1, 2, 3, 4};
    static const float two[4] = {10, 20, 30, 40};
    static const float three[4] = {4, 4, 4, 4};
    static const float mixed[4] = {6, 32, 78, 144};
    static const float nested[4] = {4, 8, 12, 16};
    const void *const inputs[] = {one, two, three};
    static const size_t sizes[] = {sizeof one, sizeof two, sizeof three};
    float out[4] = {0};
    void *outputs[] = {out};
    cyxla_executable *e = fixture_compiled("hlo/mixed.pb");

    CHECK_STR(cyxla_executable_input_name(e, 0), "x");
    CHECK_STR(cyxla_executable_input_name(e, 2), "pair[1]");
    if (e && CHECK_OK(cyxla_run(e, inputs, sizes, 3, outputs, sizes, 1)))
        CHECK_FLOATS(out, mixed, 4);
    cyxla_executable_free(e);
    e = fixture_compiled("hlo/nested_parameter.pb");
    CHECK_STR(cyxla_executable_input_name(e, 1), "all[0][1]");
    if (e && CHECK_OK(cyxla_run(e, inputs, sizes, 3, outputs, sizes, 1)))
        CHECK_FLOATS(out, nested, 4);
    cyxla_executable_free(e);
}

static void refuse(const char *name, const char *word)
{
    cyxla_executable *e = NULL;
    cyxla_program *program = NULL;
    size_t size = 0;
    void *data = fixture(name, &size);
    cyxla_error *error = cyxla_program_from_bytes(data, size, CYXLA_FORMAT_DETECT, NULL, &program);

    if (!error)
        error = cyxla_compile_program(program, NULL, &e);
    if (!CHECK_FAILS(error, CYXLA_CODE_UNIMPLEMENTED, word))
        printf("that was %s\n", name);
    CHECK(e == NULL);
    cyxla_program_free(program);
    free(data);
    CHECK(alive_and_compiles());
}

static void what_cannot_be_taken_apart_is_refused(void)
{
    refuse("hlo/nested_result.pb", "tuple");
    refuse("hlo/token.pb", "token");
}

static void text_is_no_proto(void)
{
    static const char text[] = "HloModule none\n\nENTRY e {\n  p = f32[2]{0} parameter(0)\n  ROOT r = () tuple()\n}\n";
    static const cyxla_format formats[] = {CYXLA_FORMAT_DETECT, CYXLA_FORMAT_HLO};
    cyxla_program *program = NULL;

    for (size_t i = 0; i < 2; i++)
        CHECK_FAILS(cyxla_program_from_bytes(text, sizeof text - 1, formats[i], NULL, &program),
                    CYXLA_CODE_INVALID_ARGUMENT, "HLO text");
    CHECK(program == NULL);
}

/* Half a proto is none; what is left of one may still be a whole smaller one, and is
 * then checked before a plugin sees it. */
static void no_part_of_one_ends_the_process(void)
{
    size_t size = 0;
    char *data = fixture("hlo/steps.pb", &size);

    for (size_t length = 0; data && length < size; length += 1 + length / 16) {
        cyxla_executable *e = NULL;
        cyxla_program *program = NULL;
        cyxla_error *error = cyxla_program_from_bytes(data, length, CYXLA_FORMAT_HLO, NULL, &program);
        if (!error)
            error = cyxla_compile_program(program, NULL, &e);
        CHECK(error != NULL || e != NULL);
        cyxla_error_free(error);
        cyxla_executable_free(e);
        cyxla_program_free(program);
    }
    free(data);
    CHECK(alive_and_compiles());
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(no_results_at_all);
    RUN(a_column_major_result);
    RUN(a_tuple_parameter_is_its_parts);
    RUN(tuples_stand_anywhere_among_parameters);
    RUN(what_cannot_be_taken_apart_is_refused);
    RUN(text_is_no_proto);
    RUN(no_part_of_one_ends_the_process);
    return test_end();
}
