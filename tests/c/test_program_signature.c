#include <stdint.h>
#include <string.h>

#include "support.h"
#include "test.h"

typedef const int64_t *dims_of(const cyxla_program *program, size_t index, size_t *rank);

static void check_dims(dims_of *function, const cyxla_program *p, size_t index, const int64_t *want, size_t want_rank)
{
    size_t rank = 99;
    const int64_t *dims = function(p, index, &rank);

    if (CHECK_INT(rank, want_rank) && rank > 0 && CHECK(dims != NULL))
        CHECK_BYTES(dims, want, rank * sizeof *dims);
    CHECK(function(p, index, NULL) == dims);
}

static cyxla_program *read_text(const char *text)
{
    cyxla_program *program = NULL;

    CHECK_OK(cyxla_program_from_bytes(text, strlen(text), CYXLA_FORMAT_DETECT, NULL, &program));
    return program;
}

/* An input or output as a test expects it. */
struct expected {
    const char *name;
    cyxla_dtype dtype;
    size_t rank;
    int64_t dims[2];
    size_t size;
};

static void check_input(const cyxla_program *p, size_t i, const struct expected *want)
{
    CHECK_STR(cyxla_program_input_name(p, i), want->name);
    CHECK_INT(cyxla_program_input_dtype(p, i), want->dtype);
    CHECK_INT(cyxla_program_input_size(p, i), want->size);
    check_dims(cyxla_program_input_dims, p, i, want->dims, want->rank);
}

static void check_output(const cyxla_program *p, size_t i, const struct expected *want)
{
    CHECK_STR(cyxla_program_output_name(p, i), want->name);
    CHECK_INT(cyxla_program_output_dtype(p, i), want->dtype);
    CHECK_INT(cyxla_program_output_size(p, i), want->size);
    check_dims(cyxla_program_output_dims, p, i, want->dims, want->rank);
}

/* The names are the key paths that JAX prints; three inputs are not in the module,
 * since nothing in the function uses them. */
static void names_are_key_paths(void)
{
    static const struct expected inputs[] = {
        {"args[0]['gr\xc3\xb6\xc3\x9f" "e\\n'][0]", CYXLA_DTYPE_S32, 0, {0}, 4},
        {"args[0]['w1'][0]", CYXLA_DTYPE_F32, 1, {2}, 8},
        {"args[0]['w1'][1]", CYXLA_DTYPE_F32, 1, {2}, 8},
        {"args[1].x", CYXLA_DTYPE_F32, 1, {1}, 4},
        {"args[1].y", CYXLA_DTYPE_F32, 2, {2, 0}, 0},
        {"args[2][0]", CYXLA_DTYPE_S32, 1, {5}, 20},
        {"kwargs['more']['b']", CYXLA_DTYPE_PRED, 1, {3}, 3},
        {"kwargs['more']['a'][<flat index 0>]", CYXLA_DTYPE_F32, 0, {0}, 4},
        {"kwargs['scale']", CYXLA_DTYPE_F32, 1, {2}, 8},
    };
    static const struct expected outputs[] = {
        {"result[\"it's\"][0]", CYXLA_DTYPE_PRED, 1, {3}, 3},
        {"result['order']['z']", CYXLA_DTYPE_F32, 1, {1}, 4},
        {"result['order']['a']", CYXLA_DTYPE_PRED, 1, {3}, 3},
        {"result['pair'][<flat index 0>]", CYXLA_DTYPE_F32, 1, {2}, 8},
        {"result['pair'][<flat index 1>]", CYXLA_DTYPE_F32, 1, {2}, 8},
        {"result['y'][0]", CYXLA_DTYPE_F32, 1, {2}, 8},
        {"result['y'][1]", CYXLA_DTYPE_F32, 2, {2, 0}, 0},
    };
    cyxla_program *p = fixture_program("exports/trees.jaxexport");

    CHECK(cyxla_program_has_signature(p));
    CHECK_INT(cyxla_program_input_count(p), 9);
    CHECK_INT(cyxla_program_output_count(p), 7);
    for (size_t i = 0; i < 9; i++)
        check_input(p, i, &inputs[i]);
    for (size_t i = 0; i < 7; i++)
        check_output(p, i, &outputs[i]);
    cyxla_program_free(p);
}

/* Its module takes one more. */
static void the_platform_index_is_no_input(void)
{
    static const char *const names[] = {"exports/platforms_x32.jaxexport", "exports/platforms_x64.jaxexport"};
    static const struct expected input = {"args[0]", CYXLA_DTYPE_F32, 1, {4}, 16};
    static const struct expected output = {"result", CYXLA_DTYPE_F32, 1, {4}, 16};

    for (size_t i = 0; i < 2; i++) {
        cyxla_program *p = fixture_program(names[i]);
        CHECK_INT(cyxla_program_input_count(p), 1);
        check_input(p, 0, &input);
        CHECK_INT(cyxla_program_output_count(p), 1);
        check_output(p, 0, &output);
        cyxla_program_free(p);
    }
}

static void donated_inputs_are_told(void)
{
    cyxla_program *export = fixture_program("exports/donation.jaxexport");
    cyxla_program *text = read_text(DONATED_ADD_F32_4);

    CHECK(cyxla_program_input_is_donated(export, 0));
    CHECK(!cyxla_program_input_is_donated(export, 1));
    CHECK(!cyxla_program_input_is_donated(export, 2));
    CHECK(cyxla_program_input_is_donated(text, 0));
    CHECK(!cyxla_program_input_is_donated(text, 1));
    cyxla_program_free(export);
    cyxla_program_free(text);
}

static void random_keys_are_the_numbers_they_are_made_of(void)
{
    static const int64_t keys[] = {2, 3, 2};
    static const struct expected rbg = {"args[1]", CYXLA_DTYPE_U32, 1, {4}, 16};
    cyxla_program *p = fixture_program("exports/keys.jaxexport");

    CHECK_INT(cyxla_program_input_dtype(p, 0), CYXLA_DTYPE_U32);
    CHECK_INT(cyxla_program_input_size(p, 0), 48);
    check_dims(cyxla_program_input_dims, p, 0, keys, 3);
    check_input(p, 1, &rbg);
    cyxla_program_free(p);
}

static void every_element_type_is_told(void)
{
    static const cyxla_dtype dtypes[] = {
        CYXLA_DTYPE_PRED,       CYXLA_DTYPE_S8,         CYXLA_DTYPE_S16,        CYXLA_DTYPE_S32,
        CYXLA_DTYPE_S64,        CYXLA_DTYPE_U8,         CYXLA_DTYPE_U16,        CYXLA_DTYPE_U32,
        CYXLA_DTYPE_U64,        CYXLA_DTYPE_F16,        CYXLA_DTYPE_F32,        CYXLA_DTYPE_F64,
        CYXLA_DTYPE_C64,        CYXLA_DTYPE_C128,       CYXLA_DTYPE_BF16,       CYXLA_DTYPE_S4,
        CYXLA_DTYPE_U4,         CYXLA_DTYPE_F8E4M3B11FNUZ, CYXLA_DTYPE_F8E4M3FN, CYXLA_DTYPE_F8E4M3FNUZ,
        CYXLA_DTYPE_F8E5M2,     CYXLA_DTYPE_F8E5M2FNUZ, CYXLA_DTYPE_F8E4M3,     CYXLA_DTYPE_F8E3M4,
        CYXLA_DTYPE_F8E8M0FNU,  CYXLA_DTYPE_F4E2M1FN,
    };
    enum { COUNT = sizeof dtypes / sizeof *dtypes };
    static const int64_t dims[] = {2};
    cyxla_program *p = fixture_program("exports/dtypes.jaxexport");

    CHECK_INT(cyxla_program_input_count(p), COUNT);
    CHECK_INT(cyxla_program_output_count(p), COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK_INT(cyxla_program_input_dtype(p, i), dtypes[i]);
        CHECK_INT(cyxla_program_output_dtype(p, i), dtypes[i]);
        CHECK_INT(cyxla_program_input_size(p, i), 2 * cyxla_dtype_size(dtypes[i]));
        check_dims(cyxla_program_output_dims, p, i, dims, 1);
    }
    cyxla_program_free(p);
}

static void bytecode_tells_what_its_entry_function_takes(void)
{
    static const struct expected inputs[] = {
        {"params['b']", CYXLA_DTYPE_F32, 1, {3}, 12},
        {"params['w']", CYXLA_DTYPE_F32, 2, {4, 3}, 48},
        {"x", CYXLA_DTYPE_F32, 2, {2, 4}, 32},
        {"unused", CYXLA_DTYPE_S32, 1, {5}, 20},
    };
    static const struct expected output = {"result[1]", CYXLA_DTYPE_F32, 0, {0}, 4};
    cyxla_program *p = fixture_program("names.mlirbc");

    CHECK(cyxla_program_has_signature(p));
    CHECK_INT(cyxla_program_input_count(p), 4);
    for (size_t i = 0; i < 4; i++)
        check_input(p, i, &inputs[i]);
    CHECK_INT(cyxla_program_output_count(p), 2);
    check_output(p, 1, &output);
    cyxla_program_free(p);
}

static void the_parts_of_a_tuple_stand_on_their_own(void)
{
    static const struct expected first = {"pair[0]", CYXLA_DTYPE_F32, 2, {2, 3}, 24};
    static const struct expected second = {"pair[1]", CYXLA_DTYPE_F32, 2, {2, 3}, 24};
    static const struct expected scalar = {NULL, CYXLA_DTYPE_F32, 0, {0}, 4};
    cyxla_program *p = fixture_program("hlo/tuple.pb");

    CHECK(cyxla_program_has_signature(p));
    CHECK_INT(cyxla_program_input_count(p), 2);
    check_input(p, 0, &first);
    check_input(p, 1, &second);
    CHECK(!cyxla_program_input_is_donated(p, 0));
    CHECK(cyxla_program_input_is_donated(p, 1));
    CHECK_INT(cyxla_program_output_count(p), 1);
    cyxla_program_free(p);
    p = fixture_program("hlo/nested_parameter.pb");
    CHECK_INT(cyxla_program_input_count(p), 3);
    CHECK_STR(cyxla_program_input_name(p, 0), "all[0][0]");
    CHECK_STR(cyxla_program_input_name(p, 1), "all[0][1]");
    CHECK_STR(cyxla_program_input_name(p, 2), "all[1]");
    cyxla_program_free(p);
    p = fixture_program("hlo/steps.pb");
    CHECK_STR(cyxla_program_input_name(p, 0), "params['scale']");
    CHECK_STR(cyxla_program_input_name(p, 1), "x");
    CHECK_INT(cyxla_program_output_count(p), 2);
    check_output(p, 1, &scalar);
    cyxla_program_free(p);
    p = fixture_program("hlo/empty_tuple_parameter.pb");
    CHECK(cyxla_program_has_signature(p));
    CHECK_INT(cyxla_program_input_count(p), 0);
    cyxla_program_free(p);
}

static void text_tells_the_types_that_it_writes_out(void)
{
    static const struct expected matrix = {NULL, CYXLA_DTYPE_S32, 2, {2, 3}, 24};
    static const struct expected scalar = {NULL, CYXLA_DTYPE_F32, 0, {0}, 4};
    cyxla_program *p = read_text(DOUBLE_S32_2_3);

    CHECK(cyxla_program_has_signature(p));
    CHECK_INT(cyxla_program_input_count(p), 1);
    check_input(p, 0, &matrix);
    check_output(p, 0, &matrix);
    cyxla_program_free(p);
    p = read_text(DOUBLE_F32);
    check_input(p, 0, &scalar);
    check_output(p, 0, &scalar);
    cyxla_program_free(p);
}

static void a_program_may_take_and_give_nothing(void)
{
    cyxla_program *p = fixture_program("exports/nothing.jaxexport");

    CHECK(cyxla_program_has_signature(p));
    CHECK_INT(cyxla_program_input_count(p), 0);
    CHECK_INT(cyxla_program_output_count(p), 0);
    cyxla_program_free(p);
}

/* Everything is unknown, which is no error: a plugin knows how to read it. */
static void check_tells_nothing(const cyxla_program *p, size_t index)
{
    size_t rank = 99;

    CHECK_STR(cyxla_program_input_name(p, index), NULL);
    CHECK_INT(cyxla_program_input_dtype(p, index), CYXLA_DTYPE_INVALID);
    CHECK(cyxla_program_input_dims(p, index, &rank) == NULL);
    CHECK_INT(rank, 0);
    CHECK(cyxla_program_input_dims(p, index, NULL) == NULL);
    CHECK_INT(cyxla_program_input_size(p, index), 0);
    CHECK(!cyxla_program_input_is_donated(p, index));
    rank = 99;
    CHECK_STR(cyxla_program_output_name(p, index), NULL);
    CHECK_INT(cyxla_program_output_dtype(p, index), CYXLA_DTYPE_INVALID);
    CHECK(cyxla_program_output_dims(p, index, &rank) == NULL);
    CHECK_INT(rank, 0);
    CHECK(cyxla_program_output_dims(p, index, NULL) == NULL);
    CHECK_INT(cyxla_program_output_size(p, index), 0);
}

static void a_signature_may_be_unknown(void)
{
    /* Types behind an alias, MLIR's generic form, and no entry function at all. */
    static const char *const texts[] = {
        "!t = tensor<4xf32>\nmodule { func.func public @main(%a: !t) -> !t { return %a : !t } }",
        "\"builtin.module\"() ({ \"func.func\"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, "
        "sym_name = \"main\"}> ({ ^bb0(%a: tensor<4xf32>): "
        "\"func.return\"(%a) : (tensor<4xf32>) -> () }) : () -> () }) : () -> ()",
        "module {}",
    };

    for (size_t i = 0; i < 3; i++) {
        cyxla_program *p = read_text(texts[i]);
        CHECK(!cyxla_program_has_signature(p));
        CHECK_INT(cyxla_program_input_count(p), 0);
        CHECK_INT(cyxla_program_output_count(p), 0);
        check_tells_nothing(p, 0);
        CHECK_HAS(cyxla_program_json(p), "\"inputs\":null");
        cyxla_program_free(p);
    }
}

static void a_bad_index_gives_nothing(void)
{
    static const size_t indices[] = {9, 10, SIZE_MAX};
    cyxla_program *p = fixture_program("exports/trees.jaxexport");

    for (size_t i = 0; i < 3; i++)
        check_tells_nothing(p, indices[i]);
    CHECK_INT(cyxla_program_output_dtype(p, 6), CYXLA_DTYPE_F32);
    CHECK_INT(cyxla_program_output_dtype(p, 7), CYXLA_DTYPE_INVALID);
    cyxla_program_free(p);
}

static void no_program_reads_as_nothing(void)
{
    CHECK(!cyxla_program_has_signature(NULL));
    CHECK_INT(cyxla_program_input_count(NULL), 0);
    CHECK_INT(cyxla_program_output_count(NULL), 0);
    check_tells_nothing(NULL, 0);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(names_are_key_paths);
    RUN(the_platform_index_is_no_input);
    RUN(donated_inputs_are_told);
    RUN(random_keys_are_the_numbers_they_are_made_of);
    RUN(every_element_type_is_told);
    RUN(bytecode_tells_what_its_entry_function_takes);
    RUN(the_parts_of_a_tuple_stand_on_their_own);
    RUN(text_tells_the_types_that_it_writes_out);
    RUN(a_program_may_take_and_give_nothing);
    RUN(a_signature_may_be_unknown);
    RUN(a_bad_index_gives_nothing);
    RUN(no_program_reads_as_nothing);
    return test_end();
}
