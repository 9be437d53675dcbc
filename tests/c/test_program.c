#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

static cyxla_error *from_text(const char *text, cyxla_format format, const char *platform, cyxla_program **out)
{
    return cyxla_program_from_bytes(text, strlen(text), format, platform, out);
}

static void text_and_bytecode_are_read(void)
{
    size_t size = 0;
    cyxla_program *text = NULL;
    cyxla_program *bytecode = NULL;
    void *code = fixture("names.mlirbc", &size);

    CHECK_OK(from_text(DOUBLE_F32_4, CYXLA_FORMAT_DETECT, NULL, &text));
    CHECK_INT(cyxla_program_format(text), CYXLA_FORMAT_STABLEHLO);
    CHECK_INT(cyxla_program_platform_count(text), 0);
    CHECK_STR(cyxla_program_platform(text, 0), NULL);
    CHECK_OK(cyxla_program_from_bytes(code, size, CYXLA_FORMAT_STABLEHLO, NULL, &bytecode));
    CHECK_INT(cyxla_program_format(bytecode), CYXLA_FORMAT_STABLEHLO);
    cyxla_program_free(text);
    cyxla_program_free(bytecode);
    free(code);
}

static void the_caller_s_bytes_are_copied(void)
{
    char text[400];
    size_t size = strlen(DOUBLE_F32_4) + 1;
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;

    if (!CHECK(size <= sizeof text))
        return;
    memcpy(text, DOUBLE_F32_4, size);
    /* Counting the NUL does no harm. */
    CHECK_OK(cyxla_program_from_bytes(text, size, CYXLA_FORMAT_DETECT, NULL, &program));
    memset(text, 'x', sizeof text);
    CHECK_OK(cyxla_compile_program(program, NULL, &executable));
    cyxla_executable_free(executable);
    cyxla_program_free(program);
}

static void a_platform_is_recorded_when_the_caller_says_it(void)
{
    cyxla_program *program = NULL;

    CHECK_OK(from_text(DOUBLE_F32_4, CYXLA_FORMAT_DETECT, "cpu", &program));
    CHECK_INT(cyxla_program_platform_count(program), 1);
    CHECK_STR(cyxla_program_platform(program, 0), "cpu");
    CHECK_STR(cyxla_program_platform(program, 1), NULL);
    CHECK_STR(cyxla_program_platform(program, SIZE_MAX), NULL);
    cyxla_program_free(program);
    CHECK_BLAMES(cyxla_program_from_bytes("module {}", 9, CYXLA_FORMAT_DETECT, "", &program), "platform");
    CHECK_BLAMES(cyxla_program_from_bytes("module {}", 9, CYXLA_FORMAT_DETECT, "no name", &program), "platform");
    CHECK_BLAMES(cyxla_program_from_bytes("module {}", 9, CYXLA_FORMAT_DETECT, "\xff", &program), "platform");
}

static void a_program_for_another_platform_is_not_compiled(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;

    CHECK(alive());
    CHECK_OK(from_text(DOUBLE_F32_4, CYXLA_FORMAT_DETECT, "cuda", &program));
    CHECK_FAILS(cyxla_compile_program(program, NULL, &executable), CYXLA_CODE_FAILED_PRECONDITION, "cuda", "cpu");
    CHECK(executable == NULL);
    cyxla_program_free(program);
    CHECK(alive_and_compiles());
}

static void empty_programs_are_refused(void)
{
    cyxla_program *program = NULL;

    CHECK_FAILS(cyxla_program_from_bytes(NULL, 0, CYXLA_FORMAT_DETECT, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT,
                "empty");
    CHECK_FAILS(cyxla_program_from_bytes("x", 0, CYXLA_FORMAT_STABLEHLO, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT,
                "empty");
    CHECK_FAILS(from_text(" \n\t ", CYXLA_FORMAT_DETECT, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT, "empty");
    CHECK_BLAMES(cyxla_program_from_bytes(NULL, 1, CYXLA_FORMAT_DETECT, NULL, &program), "data");
    CHECK_BLAMES(cyxla_program_from_bytes("x", SIZE_MAX, CYXLA_FORMAT_DETECT, NULL, &program), "data");
    CHECK_BLAMES(cyxla_program_from_bytes("module {}", 9, CYXLA_FORMAT_DETECT, NULL, NULL), "out");
    CHECK(program == NULL);
}

static void formats_that_are_not_read_yet_say_so(void)
{
    static const cyxla_format strangers[] = {-1, 4, 99, INT_MAX, INT_MIN};
    cyxla_program *program = NULL;

    CHECK_FAILS(from_text("module {}", CYXLA_FORMAT_JAX_EXPORT, NULL, &program), CYXLA_CODE_UNIMPLEMENTED,
                "jax.export");
    CHECK_FAILS(from_text("module {}", CYXLA_FORMAT_HLO, NULL, &program), CYXLA_CODE_UNIMPLEMENTED, "HLO");
    CHECK_FAILS(from_text("HloModule m\n", CYXLA_FORMAT_DETECT, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT,
                "HLO text");
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        CHECK_BLAMES(cyxla_program_from_bytes("module {}", 9, strangers[i], NULL, &program), "format");
    CHECK(program == NULL);
}

static void files_are_read(void)
{
    char *path = temporary("program.mlir");
    cyxla_program *program = NULL;
    cyxla_executable *executable = NULL;

    write_file(path, DOUBLE_F32_4, strlen(DOUBLE_F32_4));
    CHECK_OK(cyxla_program_from_file(path, CYXLA_FORMAT_DETECT, "cpu", &program));
    CHECK_OK(cyxla_compile_program(program, NULL, &executable));
    cyxla_executable_free(executable);
    cyxla_program_free(program);
    free(path);
}

static void files_that_cannot_be_read_are_named(void)
{
    char *empty = temporary("empty.mlir");
    char *garbage = temporary("garbage.bin");
    cyxla_program *program = NULL;

    write_file(empty, "", 0);
    write_file(garbage, "\x7f" "ELF\0\1\2\xff", 8);
    CHECK_FAILS(cyxla_program_from_file("/no/such/file", 0, NULL, &program), CYXLA_CODE_NOT_FOUND, "/no/such/file");
    CHECK_FAILS(cyxla_program_from_file("/", 0, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT, "directory");
    CHECK_FAILS(cyxla_program_from_file("/dev/zero", 0, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT, "regular");
    CHECK_FAILS(cyxla_program_from_file("", 0, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT, "empty");
    CHECK_FAILS(cyxla_program_from_file(empty, 0, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT, empty, "empty");
    CHECK_FAILS(cyxla_program_from_file(garbage, 0, NULL, &program), CYXLA_CODE_INVALID_ARGUMENT, garbage);
    CHECK_BLAMES(cyxla_program_from_file(NULL, 0, NULL, &program), "path");
    CHECK_BLAMES(cyxla_program_from_file(empty, 0, NULL, NULL), "out");
    CHECK(program == NULL);
    free(empty);
    free(garbage);
}

static void no_program_reads_as_nothing(void)
{
    CHECK_INT(cyxla_program_platform_count(NULL), 0);
    CHECK_STR(cyxla_program_platform(NULL, 0), NULL);
    CHECK_INT(cyxla_program_format(NULL), CYXLA_FORMAT_DETECT);
    cyxla_program_free(NULL);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(text_and_bytecode_are_read);
    RUN(the_caller_s_bytes_are_copied);
    RUN(a_platform_is_recorded_when_the_caller_says_it);
    RUN(a_program_for_another_platform_is_not_compiled);
    RUN(empty_programs_are_refused);
    RUN(formats_that_are_not_read_yet_say_so);
    RUN(files_are_read);
    RUN(files_that_cannot_be_read_are_named);
    RUN(no_program_reads_as_nothing);
    return test_end();
}
