#include <limits.h>

#include "test.h"

static const struct {
    cyxla_dtype dtype;
    int number;
    const char *name;
    size_t size;
} types[] = {
    {CYXLA_DTYPE_INVALID, 0, "invalid", 0},
    {CYXLA_DTYPE_PRED, 1, "pred", 1},
    {CYXLA_DTYPE_S8, 2, "s8", 1},
    {CYXLA_DTYPE_S16, 3, "s16", 2},
    {CYXLA_DTYPE_S32, 4, "s32", 4},
    {CYXLA_DTYPE_S64, 5, "s64", 8},
    {CYXLA_DTYPE_U8, 6, "u8", 1},
    {CYXLA_DTYPE_U16, 7, "u16", 2},
    {CYXLA_DTYPE_U32, 8, "u32", 4},
    {CYXLA_DTYPE_U64, 9, "u64", 8},
    {CYXLA_DTYPE_F16, 10, "f16", 2},
    {CYXLA_DTYPE_F32, 11, "f32", 4},
    {CYXLA_DTYPE_F64, 12, "f64", 8},
    {CYXLA_DTYPE_BF16, 13, "bf16", 2},
    {CYXLA_DTYPE_C64, 14, "c64", 8},
    {CYXLA_DTYPE_C128, 15, "c128", 16},
    {CYXLA_DTYPE_F8E5M2, 16, "f8e5m2", 1},
    {CYXLA_DTYPE_F8E4M3FN, 17, "f8e4m3fn", 1},
    {CYXLA_DTYPE_F8E4M3B11FNUZ, 18, "f8e4m3b11fnuz", 1},
    {CYXLA_DTYPE_F8E5M2FNUZ, 19, "f8e5m2fnuz", 1},
    {CYXLA_DTYPE_F8E4M3FNUZ, 20, "f8e4m3fnuz", 1},
    {CYXLA_DTYPE_S4, 21, "s4", 1},
    {CYXLA_DTYPE_U4, 22, "u4", 1},
    {CYXLA_DTYPE_TOKEN, 23, "token", 0},
    {CYXLA_DTYPE_S2, 24, "s2", 1},
    {CYXLA_DTYPE_U2, 25, "u2", 1},
    {CYXLA_DTYPE_F8E4M3, 26, "f8e4m3", 1},
    {CYXLA_DTYPE_F8E3M4, 27, "f8e3m4", 1},
    {CYXLA_DTYPE_F8E8M0FNU, 28, "f8e8m0fnu", 1},
    {CYXLA_DTYPE_F4E2M1FN, 29, "f4e2m1fn", 1},
    {CYXLA_DTYPE_S1, 30, "s1", 1},
    {CYXLA_DTYPE_U1, 31, "u1", 1},
    {CYXLA_DTYPE_F6E2M3FN, 32, "f6e2m3fn", 1},
    {CYXLA_DTYPE_F6E3M2FN, 33, "f6e3m2fn", 1},
};

static void numbers_are_those_of_pjrt(void)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        CHECK_INT(types[i].dtype, types[i].number);
}

static void names(void)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        CHECK_STR(cyxla_dtype_name(types[i].dtype), types[i].name);
}

static void sizes_are_bytes_in_host_memory(void)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        CHECK_INT(cyxla_dtype_size(types[i].dtype), types[i].size);
}

static void unknown_numbers(void)
{
    static const cyxla_dtype strangers[] = {-1, 34, 99, 255, 256, INT_MAX, INT_MIN};

    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        CHECK_STR(cyxla_dtype_name(strangers[i]), "invalid");
        CHECK_INT(cyxla_dtype_size(strangers[i]), 0);
    }
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(numbers_are_those_of_pjrt);
    RUN(names);
    RUN(sizes_are_bytes_in_host_memory);
    RUN(unknown_numbers);
    return test_end();
}
