/* Programs that are none, and what else a caller can get wrong across functions.
 * After each, the process still compiles and runs a good program. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "support.h"
#include "test.h"

/* Fails to compile, with any of the codes that a bad program can have. */
static bool refused(const void *code, size_t size)
{
    cyxla_executable *e = NULL;
    cyxla_error *error = compile_bytes(code, size, &e);
    cyxla_code got = cyxla_error_code(error);
    bool holds = CHECK(error != NULL) && CHECK(cyxla_error_message(error)[0] != '\0');

    holds = holds && CHECK(got == CYXLA_CODE_INVALID_ARGUMENT || got == CYXLA_CODE_UNKNOWN ||
                           got == CYXLA_CODE_UNIMPLEMENTED || got == CYXLA_CODE_INTERNAL);
    cyxla_error_free(error);
    cyxla_executable_free(e);
    return holds;
}

static void garbage_is_refused(void)
{
    /* The fake plugin reads no bodies: what is wrong only there stands behind. */
    static const char *const texts[] = {
        "this is no program",
        "module",
        "module {",
        "module {}",
        "module { func.func private @main() { return } }",
        "module { func.func public @other() { return } }",
        "module \xff\xfe { }",
        "\"module\"",
        "// only a comment: module\n",
        "ML\xefR",
        "ML\xefR\x0dStableHLO_v1.0.0",
        "module { func.func public @main(%a: tensor<4xwhat>) -> tensor<4xwhat> { return %a : tensor<4xwhat> } }",
        "module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %b : tensor<4xf32> } }",
        "module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xi32> { return %a : tensor<4xf32> } }",
        "module { func.func public @main(%a: tensor<-4xf32>) { return } }",
        "module { func.func public @main(%a: tensor<99999999999999999999xf32>) { return } }",
    };
    size_t count = on_fake_plugin() ? 12 : sizeof texts / sizeof *texts;
    unsigned char noise[4096];
    unsigned state = 1;

    for (size_t i = 0; i < count; i++) {
        if (!refused(texts[i], strlen(texts[i])))
            printf("that was: %s\n", texts[i]);
        CHECK(alive());
    }
    for (size_t i = 0; i < sizeof noise; i++) {
        state = state * 1103515245U + 12345U;
        noise[i] = (unsigned char)(state >> 16);
    }
    CHECK(refused(noise, sizeof noise));
    memcpy(noise, "ML\xefR\x0dStableHLO_v1.0.0", 22);
    CHECK(refused(noise, sizeof noise));
    CHECK(alive_and_compiles());
}

/* The plugin must not see what lies behind the end of the caller's memory. */
static bool refused_cut_to(const char *code, size_t size)
{
    char *exact = malloc(size ? size : 1);
    bool holds = false;

    if (!exact)
        abort();
    memcpy(exact, code, size);
    holds = refused(exact, size);
    free(exact);
    return holds;
}

static void truncated_text_is_refused(void)
{
    size_t size = strlen(ADD_F32_4);
    size_t end = size;

    while (ADD_F32_4[end - 1] != '}')
        end--;
    for (size_t cut = 0; cut < end; cut += on_fake_plugin() ? 40 : 1) {
        if (on_fake_plugin() && cut > 60)
            break; /* it reads no further than the signature */
        if (!refused_cut_to(ADD_F32_4, cut))
            printf("that was text cut to %zu bytes\n", cut);
    }
    CHECK(alive_and_compiles());
}

static void truncated_bytecode_is_refused(void)
{
    static const char *const names[] = {"names.mlirbc", "topk.mlirbc", "dtypes.mlirbc"};

    for (size_t i = 0; i < 3; i++) {
        size_t size = 0;
        char *code = fixture(names[i], &size);
        for (size_t cut = 0; code && cut < size; cut += i ? 7 : 1) {
            if (!refused_cut_to(code, cut))
                printf("that was %s cut to %zu bytes\n", names[i], cut);
        }
        free(code);
    }
    CHECK(alive_and_compiles());
}

/* The counts of a bytecode's attributes are trusted by plugins, which write behind
 * the end of their tables when they are wrong. */
static void bytecode_with_wrong_counts_is_refused(void)
{
    size_t size = 0;
    char *code = fixture("names.mlirbc", &size);
    size_t at = 0;

    if (!code)
        return;
    /* The section of offsets: identifier 3 and then its length. It follows the names
     * of the dialects, which end with the last of their groups. */
    while (at + 1 < size && memcmp(code + at, "\x00", 1) != 0)
        at++;
    for (size_t i = at + 1; i < at + 120 && i < size; i++) {
        char saved = code[i];
        code[i] = (char)(saved ^ 0x1d);
        cyxla_executable *e = NULL;
        cyxla_error_free(compile_bytes(code, size, &e)); /* either way, but no crash */
        cyxla_executable_free(e);
        code[i] = saved;
    }
    free(code);
    CHECK(alive_and_compiles());
}

static void deep_nesting_is_refused(void)
{
    static const char *const opening[] = {"module attributes {x.a = ", "module { ", "module { func.func @main(%a: "};
    static const char *const brackets[] = {"[", "{", "tuple<"};
    size_t depth = 100000;
    char *text = malloc(depth * 8 + 200);

    if (!text)
        abort();
    for (size_t i = 0; i < 3; i++) {
        size_t used = strlen(opening[i]);
        memcpy(text, opening[i], used);
        for (size_t j = 0; j < depth; j++) {
            memcpy(text + used, brackets[i], strlen(brackets[i]));
            used += strlen(brackets[i]);
        }
        CHECK(refused(text, used));
        CHECK(alive());
    }
    free(text);
}

/* Plugins end the process where a size in bytes overflows; what is only more than the
 * machine has is an error when it is run. */
static void huge_types_are_refused(void)
{
    static const char *const types[] = {
        "4611686018427387904xf32", "4294967296x4294967296xf32", "3037000500x3037000500xi8",
        "9223372036854775807x0xf32", "9223372036854775807xi8",    "1099511627776x1024xf32",
    };
    char text[512];

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        snprintf(text, sizeof text,
                 "module { func.func public @main(%%a: tensor<%s>) -> tensor<%s> { return %%a : tensor<%s> } }\n",
                 types[i], types[i], types[i]);
        float small[4] = {0};
        cyxla_executable *e = NULL;
        cyxla_error *error = compile_text(text, &e);
        if (!error)
            error = run_1_1(e, small, sizeof small, small, sizeof small);
        if (!CHECK(error != NULL) || !CHECK(i >= 5 || e == NULL))
            printf("that was %s\n", types[i]);
        cyxla_error_free(error);
        cyxla_executable_free(e);
        CHECK(alive());
    }
}

/* The same types, written so that a search for the usual spelling would miss them. */
static void huge_types_are_refused_however_written(void)
{
#define HUGE_DIM "4611686018427387904"
    static const char *const texts[] = {
        "func.func @main(%a: tensor <" HUGE_DIM "xf32>) { return }",
        "func.func @main(%a: tensor<\n// c\n" HUGE_DIM "xf32>) { return }",
        "func.func @main(%a: tensor<" HUGE_DIM " // c\n xf32>) { return }",
        "func.func @main(%a: tensor<" HUGE_DIM "xcomplex<f32>>) { return }",
        "func.func @main(%a: tensor<576460752303423488xcomplex<f64>>) { return }",
        "!t = tensor <" HUGE_DIM "xf32>\nfunc.func @main(%a: !t) { return }",
        "!e = f32\nfunc.func @main(%a: tensor<" HUGE_DIM "x!e>) { return }",
        "func.func @main(%a: tuple<tensor <" HUGE_DIM "xf32>>) { return }",
        "func.func @main(%a: vector<" HUGE_DIM "xf32>) { return }",
        "func.func @main(%a: vector<[" HUGE_DIM "]xf32>) { return }",
        "func.func @main(%a: tensor<?x" HUGE_DIM "xf32>) { return }",
        "func.func @main(%a: tensor<?xf32, #stablehlo.bounds<" HUGE_DIM ">>) { return }",
        "#b = #stablehlo<bounds<?, 4294967296>>\n"
        "func.func @main(%a: tensor<4294967296x?xf32, #b>) { return }",
        "func.func @main(%a: tensor<?x?xf32, #mhlo.type_extensions<bounds = [4294967296, 4294967296]>>) { return }",
        "\"builtin.module\"() ({ \"vhlo.func_v1\"() <{function_type = "
        "#vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<" HUGE_DIM "x!vhlo.f32_v1>) -> ()>>}> ({}) : () -> () }) "
        ": () -> ()",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!refused(texts[i], strlen(texts[i])))
            printf("that was: %s\n", texts[i]);
        CHECK(alive());
    }
#undef HUGE_DIM
}

/* Plugins follow calls by recursion, to nowhere and for ever. */
static void calls_without_an_end_are_refused(void)
{
#define T "tensor<4xf32>"
#define MAIN "func.func @main(%a: " T ") -> " T " { "
#define END " : (" T ") -> " T " return %0 : " T " } "
    static const char *const texts[] = {
        MAIN "%0 = call @main(%a)" END,
        MAIN "%0 = func.call @\"ma\\69n\"(%a)" END,
        MAIN "%0 = \"func.call\"(%a) {callee = @main}" END,
        "#f = @main\n" MAIN "%0 = \"func.call\"(%a) {callee = #f}" END,
        MAIN "%0 = call @b(%a)" END "func.func private @b(%a: " T ") -> " T " { %0 = call @c(%a)" END
             "func.func private @c(%a: " T ") -> " T " { %0 = call @b(%a)" END,
        MAIN "%0 = stablehlo.composite \"x.y\" %a {decomposition = @main}" END,
        MAIN "%0 = stablehlo.custom_call @f(%a) {called_computations = [@main]}" END,
        MAIN "%0 = stablehlo.custom_call @f(%a) {called_computations = [@missing]}" END,
        MAIN "%f = func.constant @main : (" T ") -> " T " %0 = func.call_indirect %f(%a)" END,
        "\"builtin.module\"() ({ \"func\\2Efunc\"() ({ ^bb0(%a: " T "): %0 = \"func.call\"(%a) "
        "{\"callee\" = @main} : (" T ") -> " T " \"func.return\"(%0) : (" T ") -> () }) "
        "{\"sym_name\" = \"main\", function_type = (" T ") -> " T "} : () -> () }) : () -> ()",
        MAIN "%0 = call @g(%a)" END "func.func private @g(%a: " T ") -> " T,
        "func.func private @main(%a: " T ") -> " T,
    };
    char *chain = malloc(1000 * 160 + 300);
    size_t used = 0;

    if (!chain)
        abort();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!refused(texts[i], strlen(texts[i])))
            printf("that was: %s\n", texts[i]);
        CHECK(alive());
    }
    used += (size_t)sprintf(chain, "%s", MAIN "%0 = call @f0(%a)" END);
    for (int i = 0; i < 999; i++)
        used += (size_t)sprintf(chain + used, "func.func private @f%d(%%a: " T ") -> " T " { %%0 = call @f%d(%%a) : (" T ") -> " T
                                " return %%0 : " T " }\n",
                                i, i + 1);
    used += (size_t)sprintf(chain + used, "func.func private @f999(%%a: " T ") -> " T " { return %%a : " T " }");
    CHECK(refused(chain, used));
    CHECK(alive());
    free(chain);
#undef T
#undef MAIN
#undef END
}

/* 128 GiB, which a limit makes too much on the largest machine too. */
static void a_result_that_does_not_fit_is_an_error(void)
{
    cyxla_executable *e = compiled("module { func.func public @main() -> tensor<1073741824x32xf32> {\n"
                                   "  %0 = stablehlo.constant dense<1.0> : tensor<1073741824x32xf32>\n"
                                   "  return %0 : tensor<1073741824x32xf32> } }\n");
    cyxla_buffer *out = NULL;
    struct rlimit before, limited;
    cyxla_error *error;

    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    limited = before;
    limited.rlim_cur = (rlim_t)100 << 30;
    CHECK(setrlimit(RLIMIT_AS, &limited) == 0);
    error = cyxla_execute(e, NULL, 0, &out, 1);
    if (!error)
        error = cyxla_buffer_wait(out);
    CHECK_FAILS(error, CYXLA_CODE_RESOURCE_EXHAUSTED, "memory");
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
    CHECK(alive());
}

/* A result too big for the machine: the plugin's refusal comes back. */
static void running_out_of_memory_is_an_error(void)
{
    static const int64_t dims[] = {1LL << 20, 1LL << 20, 1LL << 8};
    const float number = 1;
    cyxla_buffer *b = NULL;
    static const int64_t no_strides[] = {0, 0, 0};

    CHECK_FAILS(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 3, no_strides, &number, &b),
                CYXLA_CODE_RESOURCE_EXHAUSTED, "");
    CHECK(b == NULL);
    CHECK(alive());
}

/* Dims of an empty array whose other dims overflow. */
static void huge_empty_arrays(void)
{
    static const int64_t dims[][3] = {{0, INT64_MAX, 1}, {INT64_MAX, 0, INT64_MAX}, {1LL << 62, 4, 0}};

    for (size_t i = 0; i < 3; i++) {
        cyxla_buffer *b = NULL;
        cyxla_error_free(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims[i], 3, NULL, NULL, &b));
        if (b)
            CHECK_INT(cyxla_buffer_size(b), 0);
        cyxla_buffer_free(b);
        CHECK(alive());
    }
}

static void a_thousand_arguments_too_many(void)
{
    static const void *inputs[1000];
    static size_t sizes[1000];
    static const cyxla_buffer *buffers[1000];
    static const int64_t dims[] = {4};
    float out[4] = {0};
    void *outputs[] = {out};
    float data[4] = {0};
    cyxla_buffer *b = NULL;
    cyxla_buffer *result = NULL;
    cyxla_executable *e = compiled(DOUBLE_F32_4);

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, data, &b));
    for (size_t i = 0; i < 1000; i++) {
        inputs[i] = data;
        sizes[i] = sizeof data;
        buffers[i] = b;
    }
    CHECK_FAILS(cyxla_run(e, inputs, sizes, 1000, outputs, sizes, 1), CYXLA_CODE_INVALID_ARGUMENT,
                "expects 1 argument", "got 1000");
    CHECK_FAILS(cyxla_execute(e, buffers, 1000, &result, 1), CYXLA_CODE_INVALID_ARGUMENT, "expects 1 argument",
                "got 1000");
    CHECK(result == NULL);
    CHECK(alive());
    cyxla_buffer_free(b);
    cyxla_executable_free(e);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(garbage_is_refused);
    RUN(truncated_text_is_refused);
    RUN(deep_nesting_is_refused);
    RUN(a_thousand_arguments_too_many);
    if (!on_fake_plugin()) {
        RUN(truncated_bytecode_is_refused);
        RUN(bytecode_with_wrong_counts_is_refused);
        RUN(huge_types_are_refused);
        RUN(huge_types_are_refused_however_written);
        RUN(calls_without_an_end_are_refused);
        RUN(a_result_that_does_not_fit_is_an_error);
        RUN(running_out_of_memory_is_an_error);
        RUN(huge_empty_arrays);
    }
    return test_end();
}
