/* Plugins run arguments of a wrong type or shape as long as their size is right, and
 * give garbage. */
#include <stdint.h>

#include "support.h"
#include "test.h"

static const float FLOATS[] = {1, 2, 3, 4};
static const float TWICE[] = {2, 4, 6, 8};
static const int32_t INTS[] = {1, 2, 3, 4};

static cyxla_error *run_on(cyxla_dtype dtype, const int64_t *dims, size_t rank, const void *data, float *back)
{
    cyxla_buffer *in = NULL;
    cyxla_buffer *out = NULL;
    cyxla_executable *e = compiled(DOUBLE_F32_4);
    cyxla_error *error = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, dtype, dims, rank, NULL, data, &in));
    const cyxla_buffer *inputs[] = {in};
    error = cyxla_execute(e, inputs, 1, &out, 1);
    if (!error)
        error = cyxla_buffer_to_host(out, back, sizeof TWICE);
    cyxla_buffer_free(in);
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
    return error;
}

static void the_right_type_runs(void)
{
    static const int64_t dims[] = {4};
    float back[4] = {0};

    CHECK_OK(run_on(CYXLA_DTYPE_F32, dims, 1, FLOATS, back));
    CHECK_FLOATS(back, TWICE, 4);
}

static void a_wrong_dtype_of_the_same_size_does_not(void)
{
    static const int64_t dims[] = {4};
    static const int64_t dims_2[] = {2};
    static const int64_t dims_16[] = {16};
    float back[4] = {0};

    CHECK_FAILS(run_on(CYXLA_DTYPE_S32, dims, 1, INTS, back), CYXLA_CODE_INVALID_ARGUMENT, "argument 0", "f32[4]",
                "s32[4]");
    CHECK_FAILS(run_on(CYXLA_DTYPE_U32, dims, 1, INTS, back), CYXLA_CODE_INVALID_ARGUMENT, "u32[4]");
    CHECK_FAILS(run_on(CYXLA_DTYPE_F64, dims_2, 1, INTS, back), CYXLA_CODE_INVALID_ARGUMENT, "f64[2]");
    CHECK_FAILS(run_on(CYXLA_DTYPE_U8, dims_16, 1, INTS, back), CYXLA_CODE_INVALID_ARGUMENT, "u8[16]");
    CHECK(alive());
}

static void wrong_dims_of_the_same_size_do_not(void)
{
    static const int64_t square[] = {2, 2};
    static const int64_t row[] = {1, 4};
    static const int64_t column[] = {4, 1};
    static const int64_t three[] = {3};
    float back[4] = {0};

    CHECK_FAILS(run_on(CYXLA_DTYPE_F32, square, 2, FLOATS, back), CYXLA_CODE_INVALID_ARGUMENT, "argument 0", "f32[4]",
                "f32[2,2]");
    CHECK_FAILS(run_on(CYXLA_DTYPE_F32, row, 2, FLOATS, back), CYXLA_CODE_INVALID_ARGUMENT, "f32[1,4]");
    CHECK_FAILS(run_on(CYXLA_DTYPE_F32, column, 2, FLOATS, back), CYXLA_CODE_INVALID_ARGUMENT, "f32[4,1]");
    CHECK_FAILS(run_on(CYXLA_DTYPE_F32, three, 1, FLOATS, back), CYXLA_CODE_INVALID_ARGUMENT, "f32[3]");
    CHECK_FAILS(run_on(CYXLA_DTYPE_F32, NULL, 0, FLOATS, back), CYXLA_CODE_INVALID_ARGUMENT, "f32[]");
    CHECK(alive());
}

static void no_argument_at_all_does_not(void)
{
    cyxla_buffer *out = NULL;
    cyxla_executable *e = compiled(DOUBLE_F32_4);

    CHECK_FAILS(cyxla_execute(e, NULL, 0, &out, 1), CYXLA_CODE_INVALID_ARGUMENT, "expects 1 argument", "got 0");
    CHECK(out == NULL);
    cyxla_executable_free(e);
    CHECK(alive());
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(the_right_type_runs);
    RUN(a_wrong_dtype_of_the_same_size_does_not);
    RUN(wrong_dims_of_the_same_size_do_not);
    RUN(no_argument_at_all_does_not);
    return test_end();
}
