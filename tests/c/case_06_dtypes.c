/* Every element type of PJRT goes in and comes out bit for bit. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "support.h"
#include "test.h"

/* A type, its name in StableHLO, and bytes of elements worth trying: NaNs with a
 * payload, -0.0, infinities, denormals, the largest and the smallest. */
struct type {
    cyxla_dtype dtype;
    const char *name;
    size_t count;
    const char *bytes;
    int since_minor; /* plugins older than that do not have it */
};

static const struct type types[] = {
    {CYXLA_DTYPE_PRED, "i1", 3, "\1\0\1", 0},
    {CYXLA_DTYPE_S8, "i8", 3, "\x80\x7f\xff", 0},
    {CYXLA_DTYPE_S16, "i16", 2, "\x00\x80\xff\x7f", 0},
    {CYXLA_DTYPE_S32, "i32", 2, "\x00\x00\x00\x80\xff\xff\xff\x7f", 0},
    {CYXLA_DTYPE_S64, "i64", 1, "\x00\x00\x00\x00\x00\x00\x00\x80", 0},
    {CYXLA_DTYPE_U8, "ui8", 3, "\x80\x00\xff", 0},
    {CYXLA_DTYPE_U16, "ui16", 2, "\x01\x80\xff\xff", 0},
    {CYXLA_DTYPE_U32, "ui32", 2, "\x01\x00\x00\x80\xff\xff\xff\xff", 0},
    {CYXLA_DTYPE_U64, "ui64", 2, "\x01\x00\x00\x00\x00\x00\x00\x80\xff\xff\xff\xff\xff\xff\xff\xff", 0},
    {CYXLA_DTYPE_F16, "f16", 4, "\x00\x80\x01\x00\x00\xfc\x55\x7e", 0},
    {CYXLA_DTYPE_F32, "f32", 4, "\x00\x00\x00\x80\x01\x00\x00\x00\x00\x00\x80\x7f\x55\x55\xd5\x7f", 0},
    {CYXLA_DTYPE_F64, "f64", 2, "\x00\x00\x00\x00\x00\x00\x00\x80\x55\x55\x55\x55\x55\x55\xfd\x7f", 0},
    {CYXLA_DTYPE_BF16, "bf16", 4, "\x00\x80\x01\x00\x80\xff\xd5\x7f", 0},
    {CYXLA_DTYPE_C64, "complex<f32>", 1, "\x00\x00\x00\x80\x00\x00\x80\xff", 0},
    {CYXLA_DTYPE_C128, "complex<f64>", 1, "\x00\x00\x00\x00\x00\x00\x00\x80\x00\x00\x00\x00\x00\x00\xf0\x7f", 0},
    {CYXLA_DTYPE_F8E5M2, "f8E5M2", 4, "\x80\x01\x7c\xff", 0},
    {CYXLA_DTYPE_F8E4M3FN, "f8E4M3FN", 4, "\x80\x01\x7e\xff", 0},
    {CYXLA_DTYPE_F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 4, "\x80\x01\x7f\xff", 0},
    {CYXLA_DTYPE_F8E5M2FNUZ, "f8E5M2FNUZ", 4, "\x80\x01\x7f\xff", 0},
    {CYXLA_DTYPE_F8E4M3FNUZ, "f8E4M3FNUZ", 4, "\x80\x01\x7f\xff", 0},
    {CYXLA_DTYPE_F8E4M3, "f8E4M3", 4, "\x80\x01\x78\xff", 0},
    {CYXLA_DTYPE_F8E3M4, "f8E3M4", 4, "\x80\x01\x70\xff", 0},
    {CYXLA_DTYPE_F8E8M0FNU, "f8E8M0FNU", 4, "\x00\x01\x7f\xff", 0},
    {CYXLA_DTYPE_S4, "i4", 5, "\x00\x07\x08\x0f\x01", 0},
    {CYXLA_DTYPE_U4, "ui4", 5, "\x00\x07\x08\x0f\x01", 0},
    {CYXLA_DTYPE_F4E2M1FN, "f4E2M1FN", 5, "\x00\x07\x08\x0f\x01", 0},
    {CYXLA_DTYPE_S2, "i2", 5, "\x00\x01\x02\x03\x01", 0},
    {CYXLA_DTYPE_U2, "ui2", 5, "\x00\x01\x02\x03\x01", 0},
    {CYXLA_DTYPE_F6E2M3FN, "f6E2M3FN", 4, "\x00\x1f\x20\x3f", 115},
    {CYXLA_DTYPE_F6E3M2FN, "f6E3M2FN", 4, "\x00\x1f\x20\x3f", 115},
};

#define TYPES (sizeof types / sizeof *types)

static cyxla_executable *copier(const struct type *type)
{
    char text[512];

    snprintf(text, sizeof text,
             "module { func.func public @main(%%a: tensor<%zux%s>) -> (tensor<%zux%s>, tensor<1x%zux%s>) {\n"
             "  %%0 = stablehlo.reshape %%a : (tensor<%zux%s>) -> tensor<1x%zux%s>\n"
             "  return %%a, %%0 : tensor<%zux%s>, tensor<1x%zux%s> } }\n",
             type->count, type->name, type->count, type->name, type->count, type->name, type->count, type->name,
             type->count, type->name, type->count, type->name, type->count, type->name);
    return compiled(text);
}

static bool plugin_has(const struct type *type)
{
    return plugin_minor() >= type->since_minor;
}

static void through_a_program(void)
{
    for (size_t i = 0; i < TYPES; i++) {
        const struct type *type = &types[i];
        size_t size = type->count * cyxla_dtype_size(type->dtype);
        char first[64];
        char second[64];
        const void *inputs[] = {type->bytes};
        void *outputs[] = {first, second};
        const size_t sizes[] = {size, size};
        if (!plugin_has(type))
            continue;
        cyxla_executable *e = copier(type);
        if (!e)
            continue;
        memset(first, 0xaa, sizeof first);
        memset(second, 0xaa, sizeof second);
        CHECK_INT(cyxla_executable_input_dtype(e, 0), type->dtype);
        CHECK_INT(cyxla_executable_output_dtype(e, 1), type->dtype);
        CHECK_INT(cyxla_executable_input_size(e, 0), size);
        bool exact = CHECK_OK(cyxla_run(e, inputs, sizes, 1, outputs, sizes, 2));
        exact = exact && CHECK_BYTES(first, type->bytes, size) && CHECK_BYTES(second, type->bytes, size);
        /* Not one byte more is written. */
        exact = CHECK_INT((unsigned char)first[size], 0xaa) && exact;
        if (!exact)
            printf("that was %s\n", type->name);
        cyxla_executable_free(e);
    }
}

static void through_a_buffer(void)
{
    for (size_t i = 0; i < TYPES; i++) {
        const struct type *type = &types[i];
        const int64_t dims[] = {(int64_t)type->count};
        size_t size = type->count * cyxla_dtype_size(type->dtype);
        char back[64] = {0};
        cyxla_buffer *b = NULL;
        cyxla_error *error = cyxla_buffer_from_host(0, type->dtype, dims, 1, NULL, type->bytes, &b);
        if (!plugin_has(type)) {
            /* Such plugins crash when they are asked. */
            CHECK_FAILS(error, CYXLA_CODE_UNIMPLEMENTED, cyxla_dtype_name(type->dtype), "PJRT");
            CHECK(alive());
            continue;
        }
        if (CHECK_OK(error)) {
            CHECK_INT(cyxla_buffer_size(b), size);
            CHECK_OK(cyxla_buffer_to_host(b, back, size));
            if (!CHECK_BYTES(back, type->bytes, size))
                printf("that was %s\n", type->name);
        }
        cyxla_buffer_free(b);
    }
}

/* 1-bit types have no name in StableHLO; a buffer of them can be made. */
static void one_bit_types(void)
{
    static const cyxla_dtype ones[] = {CYXLA_DTYPE_S1, CYXLA_DTYPE_U1};
    static const int64_t dims[] = {9};
    static const char bytes[] = "\1\0\1\1\0\0\0\1\1";

    for (size_t i = 0; i < 2; i++) {
        char back[9] = {0};
        cyxla_buffer *b = NULL;
        cyxla_error *error = cyxla_buffer_from_host(0, ones[i], dims, 1, NULL, bytes, &b);
        if (plugin_minor() < 106) {
            CHECK_FAILS(error, CYXLA_CODE_UNIMPLEMENTED, cyxla_dtype_name(ones[i]), "PJRT");
        } else if (CHECK_OK(error)) {
            CHECK_OK(cyxla_buffer_to_host(b, back, sizeof back));
            CHECK_BYTES(back, bytes, sizeof back);
        }
        cyxla_buffer_free(b);
        CHECK(alive());
    }
}

/* One byte an element, the value in the low bits; the high bits do not count. */
static void the_high_bits_of_narrow_types_are_ignored(void)
{
    static const struct type narrow[] = {
        {CYXLA_DTYPE_S4, "i4", 5, "\xf0\x77\xa8\xff\x11", 0},
        {CYXLA_DTYPE_U4, "ui4", 5, "\xf0\x77\xa8\xff\x11", 0},
    };
    static const char want[] = "\x00\x07\x08\x0f\x01";

    for (size_t i = 0; i < 2; i++) {
        char first[5] = {0};
        char second[5] = {0};
        const void *inputs[] = {narrow[i].bytes};
        void *outputs[] = {first, second};
        const size_t sizes[] = {5, 5};
        cyxla_executable *e = copier(&narrow[i]);
        if (e && CHECK_OK(cyxla_run(e, inputs, sizes, 1, outputs, sizes, 2))) {
            CHECK_BYTES(first, want, 5);
            CHECK_BYTES(second, want, 5);
        }
        cyxla_executable_free(e);
    }
}

/* Plugins disagree on what other bytes mean, and abort where one decides a branch. */
static void bools_are_zero_or_one(void)
{
    static const char branch[] =
        "module { func.func public @main(%p: tensor<i1>, %a: tensor<f32>) -> tensor<f32> {\n"
        "  %r = \"stablehlo.if\"(%p) ({\n"
        "    %x = stablehlo.constant dense<10.0> : tensor<f32>\n"
        "    stablehlo.return %x : tensor<f32>\n"
        "  }, { stablehlo.return %a : tensor<f32> }) : (tensor<i1>) -> tensor<f32>\n"
        "  return %r : tensor<f32> } }\n";
    static const unsigned char bad[] = {2, 255};
    const float a = -1;
    unsigned char p = 1;
    float result = 0;
    const void *inputs[] = {&p, &a};
    const size_t input_sizes[] = {1, 4};
    void *outputs[] = {&result};
    const size_t output_sizes[] = {4};
    cyxla_executable *e = compiled(branch);

    if (!e)
        return;
    CHECK_OK(cyxla_run(e, inputs, input_sizes, 2, outputs, output_sizes, 1));
    CHECK(result >= 10);
    for (size_t i = 0; i < 2; i++) {
        cyxla_buffer *b = NULL;
        p = bad[i];
        CHECK_FAILS(cyxla_run(e, inputs, input_sizes, 2, outputs, output_sizes, 1), CYXLA_CODE_INVALID_ARGUMENT,
                    "argument 0", "pred", "0 nor 1");
        CHECK_BLAMES(cyxla_buffer_from_host(0, CYXLA_DTYPE_PRED, NULL, 0, NULL, &p, &b), "data");
        CHECK_BLAMES(cyxla_buffer_view_host(0, CYXLA_DTYPE_PRED, NULL, 0, &p, false, NULL, NULL, &b), "data");
        CHECK(alive());
    }
    cyxla_executable_free(e);
}

static bool is_narrow(cyxla_dtype dtype)
{
    return dtype == CYXLA_DTYPE_S4 || dtype == CYXLA_DTYPE_U4 || dtype == CYXLA_DTYPE_F4E2M1FN;
}

/* Result i of the program has to be argument i, bit for bit; what comes after them is
 * left in `rest`. */
static void gives_back_its_arguments(const cyxla_executable *e, size_t count, void *rest, size_t rest_size)
{
    static unsigned char in[32][128];
    static unsigned char out[32][128];
    const void *inputs[32];
    void *outputs[33];
    size_t input_sizes[32];
    size_t output_sizes[33];

    if (!CHECK_INT(cyxla_executable_input_count(e), count) ||
        !CHECK_INT(cyxla_executable_output_count(e), count + (rest_size > 0)))
        return;
    for (size_t i = 0; i < count; i++) {
        cyxla_dtype dtype = cyxla_executable_input_dtype(e, i);
        input_sizes[i] = cyxla_executable_input_size(e, i);
        output_sizes[i] = cyxla_executable_output_size(e, i);
        for (size_t j = 0; j < input_sizes[i]; j++) {
            unsigned char byte = (unsigned char)(0x80 + 37 * i + 11 * j);
            in[i][j] = dtype == CYXLA_DTYPE_PRED ? (unsigned char)(j & 1) : is_narrow(dtype) ? byte & 15 : byte;
        }
        inputs[i] = in[i];
        outputs[i] = out[i];
    }
    outputs[count] = rest;
    output_sizes[count] = rest_size;
    size_t output_count = count + (rest_size > 0);
    if (!CHECK_OK(cyxla_run(e, inputs, input_sizes, count, outputs, output_sizes, output_count)))
        return;
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(cyxla_executable_output_dtype(e, i), cyxla_executable_input_dtype(e, i));
        if (!CHECK_BYTES(out[i], in[i], input_sizes[i]))
            printf("that was argument %zu, %s\n", i, cyxla_dtype_name(cyxla_executable_input_dtype(e, i)));
    }
}

/* Bytecode by JAX with an argument of each type that NumPy or ml_dtypes has: result
 * i is argument i, the last is the negation of argument 1. */
static void a_whole_jax_program(void)
{
    static const unsigned char negated[3] = {1, 0, 1};
    unsigned char last[3] = {7, 7, 7};
    cyxla_executable *e = fixture_compiled("dtypes.mlirbc");

    gives_back_its_arguments(e, 23, last, sizeof last);
    CHECK_BYTES(last, negated, sizeof last);
    cyxla_executable_free(e);
}

/* All types of all exports: a scalar and a matrix of each. */
static void exports_of_all_types(void)
{
    static const struct {
        const char *program;
        size_t types;
        size_t since; /* the first of CORPUS_VERSIONS that can export it */
    } programs[] = {
        {"wide_dtypes", 15, 0}, {"float8_dtypes", 2, 0},       {"float8_fnuz_dtypes", 3, 1},
        {"int4_dtypes", 2, 1},  {"newer_float8_dtypes", 3, 2}, {"float4_dtypes", 1, 2},
    };

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        for (size_t j = programs[i].since; j < CORPUS_VERSION_COUNT; j++) {
            cyxla_executable *e = corpus_compiled(CORPUS_VERSIONS[j], programs[i].program);
            if (e)
                gives_back_its_arguments(e, 2 * programs[i].types, NULL, 0);
            cyxla_executable_free(e);
        }
    }
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(through_a_program);
    RUN(through_a_buffer);
    RUN(one_bit_types);
    RUN(the_high_bits_of_narrow_types_are_ignored);
    RUN(bools_are_zero_or_one);
    RUN(a_whole_jax_program);
    RUN(exports_of_all_types);
    return test_end();
}
