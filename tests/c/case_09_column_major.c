/* A device may store a result in column-major order; the host gets row-major. */
#include <stdint.h>

#include "lend.h"
#include "support.h"
#include "test.h"

static const char COLUMN_MAJOR_RESULT[] =
    "module @result { func.func public @main(%a: tensor<2x3xf32>)\n"
    "    -> (tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}, tensor<2x3xf32>) {\n"
    "  %0 = stablehlo.add %a, %a : tensor<2x3xf32>\n"
    "  return %0, %a : tensor<2x3xf32>, tensor<2x3xf32> } }\n";

static const char COLUMN_MAJOR_ARGUMENT[] =
    "module @argument { func.func public @main(%a: tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"})\n"
    "    -> tensor<2x3xf32> {\n"
    "  %0 = stablehlo.add %a, %a : tensor<2x3xf32>\n"
    "  return %0 : tensor<2x3xf32> } }\n";

static const char ROW_MAJOR[] =
    "module @row_major { func.func public @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
    "  %0 = stablehlo.add %a, %a : tensor<2x3xf32>\n"
    "  return %0 : tensor<2x3xf32> } }\n";

static const int64_t DIMS[] = {2, 3};
static const float IN[] = {0, 1, 2, 3, 4, 5};
static const float TWICE[] = {0, 2, 4, 6, 8, 10};
static const float FOUR_TIMES[] = {0, 4, 8, 12, 16, 20};

static void run_gives_row_major(void)
{
    float first[6] = {0};
    float second[6] = {0};
    const void *inputs[] = {IN};
    const size_t sizes[] = {sizeof IN, sizeof IN};
    void *outputs[] = {first, second};
    cyxla_executable *e = compiled(COLUMN_MAJOR_RESULT);

    if (!e)
        return;
    CHECK_OK(cyxla_run(e, inputs, sizes, 1, outputs, sizes, 2));
    CHECK_FLOATS(first, TWICE, 6);
    CHECK_FLOATS(second, IN, 6);
    cyxla_executable_free(e);
}

/* The buffer that COLUMN_MAJOR_RESULT computes. */
static cyxla_buffer *column_major(void)
{
    cyxla_buffer *in = NULL;
    cyxla_buffer *out[2] = {NULL, NULL};
    cyxla_executable *e = compiled(COLUMN_MAJOR_RESULT);

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS, 2, NULL, IN, &in));
    const cyxla_buffer *inputs[] = {in};
    if (e)
        CHECK_OK(cyxla_execute(e, inputs, 1, out, 2));
    cyxla_buffer_free(in);
    cyxla_buffer_free(out[1]);
    cyxla_executable_free(e);
    return out[0];
}

static void a_buffer_is_read_row_major(void)
{
    float back[6] = {0};
    cyxla_buffer *b = column_major();

    if (!b)
        return;
    CHECK_OK(cyxla_buffer_to_host(b, back, sizeof back));
    CHECK_FLOATS(back, TWICE, 6);
    /* There is no row-major memory to show. */
    CHECK(cyxla_buffer_data(b) == NULL);
    CHECK_INT(cyxla_buffer_size(b), sizeof back);
    cyxla_buffer_free(b);
}

static void check_fed(cyxla_buffer *b)
{
    float back[6] = {0};
    const cyxla_buffer *inputs[] = {b};
    cyxla_buffer *out = NULL;
    cyxla_executable *e = compiled(ROW_MAJOR);

    if (e && CHECK_OK(cyxla_execute(e, inputs, 1, &out, 1))) {
        CHECK_OK(cyxla_buffer_to_host(out, back, sizeof back));
        CHECK_FLOATS(back, FOUR_TIMES, 6);
    }
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
}

/* Plugins take it without a word and compute as if it were row-major. */
static void it_can_be_fed_to_another_program(void)
{
    cyxla_buffer *b = column_major();

    if (!b)
        return;
    check_fed(b);
    check_fed(b);
    cyxla_buffer_free(b);
}

/* Another library gets the order with the array. */
static void it_is_lent_as_it_is(void)
{
    static const float columns[] = {0, 6, 2, 8, 4, 10};
    float back[6] = {0};
    cyxla_buffer *b = column_major();
    cyxla_buffer *again = NULL;

    if (!b)
        return;
    struct DLManagedTensorVersioned *tensor = lent_by(b);
    cyxla_buffer_free(b);
    if (!tensor)
        return;
    CHECK(tensor->dl_tensor.shape[0] == 2 && tensor->dl_tensor.shape[1] == 3);
    CHECK(tensor->dl_tensor.strides[0] == 1 && tensor->dl_tensor.strides[1] == 2);
    CHECK_INT(tensor->flags, READ_ONLY);
    CHECK_FLOATS((const float *)tensor->dl_tensor.data, columns, 6);
    if (CHECK_OK(cyxla_buffer_from_dlpack(tensor, &again))) {
        CHECK(!cyxla_buffer_is_view(again));
        CHECK_OK(cyxla_buffer_to_host(again, back, sizeof back));
        CHECK_FLOATS(back, TWICE, 6);
    }
    cyxla_buffer_free(again);
}

static void an_argument_in_column_major_order_is_refused(void)
{
    cyxla_executable *e = NULL;

    CHECK_FAILS(compile_text(COLUMN_MAJOR_ARGUMENT, &e), CYXLA_CODE_UNIMPLEMENTED, "argument 0", "memory order",
                "layout_mode");
    CHECK(e == NULL);
    CHECK(alive_and_compiles());
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(run_gives_row_major);
    RUN(a_buffer_is_read_row_major);
    RUN(it_can_be_fed_to_another_program);
    RUN(it_is_lent_as_it_is);
    RUN(an_argument_in_column_major_order_is_refused);
    return test_end();
}
