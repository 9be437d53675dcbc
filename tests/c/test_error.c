#include <limits.h>
#include <string.h>

#include "test.h"

static void codes_have_names(void)
{
    static const char *const names[] = {
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    };
    static const cyxla_code strangers[] = {-1, 17, 4242, INT_MAX, INT_MIN};

    for (cyxla_code code = 0; code < 17; code++)
        CHECK_STR(cyxla_code_name(code), names[code]);
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        CHECK_STR(cyxla_code_name(strangers[i]), "UNKNOWN");
}

static void constants_are_the_canonical_numbers(void)
{
    CHECK_INT(CYXLA_CODE_OK, 0);
    CHECK_INT(CYXLA_CODE_CANCELLED, 1);
    CHECK_INT(CYXLA_CODE_UNKNOWN, 2);
    CHECK_INT(CYXLA_CODE_INVALID_ARGUMENT, 3);
    CHECK_INT(CYXLA_CODE_DEADLINE_EXCEEDED, 4);
    CHECK_INT(CYXLA_CODE_NOT_FOUND, 5);
    CHECK_INT(CYXLA_CODE_ALREADY_EXISTS, 6);
    CHECK_INT(CYXLA_CODE_PERMISSION_DENIED, 7);
    CHECK_INT(CYXLA_CODE_RESOURCE_EXHAUSTED, 8);
    CHECK_INT(CYXLA_CODE_FAILED_PRECONDITION, 9);
    CHECK_INT(CYXLA_CODE_ABORTED, 10);
    CHECK_INT(CYXLA_CODE_OUT_OF_RANGE, 11);
    CHECK_INT(CYXLA_CODE_UNIMPLEMENTED, 12);
    CHECK_INT(CYXLA_CODE_INTERNAL, 13);
    CHECK_INT(CYXLA_CODE_UNAVAILABLE, 14);
    CHECK_INT(CYXLA_CODE_DATA_LOSS, 15);
    CHECK_INT(CYXLA_CODE_UNAUTHENTICATED, 16);
}

static void no_error_reads_as_ok(void)
{
    CHECK_INT(cyxla_error_code(NULL), CYXLA_CODE_OK);
    CHECK_STR(cyxla_error_message(NULL), "");
    CHECK_STR(cyxla_error_detail(NULL, "hint"), NULL);
    CHECK_STR(cyxla_error_detail(NULL, NULL), NULL);
    cyxla_error_free(NULL);
}

static void an_error_says_what_was_wrong(void)
{
    cyxla_error *error = cyxla_options_set_int(NULL, "a", 1);

    if (!CHECK(error != NULL))
        return;
    CHECK_INT(cyxla_error_code(error), CYXLA_CODE_INVALID_ARGUMENT);
    CHECK_HAS(cyxla_error_message(error), "options");
    CHECK_STR(cyxla_error_detail(error, "origin"), "caller");
    CHECK_STR(cyxla_error_detail(error, "function"), "cyxla_options_set_int");
    CHECK_STR(cyxla_error_detail(error, "parameter"), "options");
    cyxla_error_free(error);
}

static void details_that_are_not_there_are_null(void)
{
    cyxla_error *error = cyxla_options_set_int(NULL, "a", 1);

    if (!CHECK(error != NULL))
        return;
    CHECK_STR(cyxla_error_detail(error, "no such key"), NULL);
    CHECK_STR(cyxla_error_detail(error, ""), NULL);
    CHECK_STR(cyxla_error_detail(error, "\xff\xfe"), NULL);
    CHECK_STR(cyxla_error_detail(error, NULL), NULL);
    CHECK_STR(cyxla_error_detail(error, "plugin.path"), NULL);
    cyxla_error_free(error);
}

static void text_stays_while_the_error_lives(void)
{
    cyxla_error *first = cyxla_options_set_int(NULL, "a", 1);
    cyxla_error *second = cyxla_options_set_string(NULL, "b", "c");
    if (CHECK(first && second)) {
        const char *message = cyxla_error_message(first);
        CHECK(message == cyxla_error_message(first));
        CHECK(cyxla_error_detail(first, "function") == cyxla_error_detail(first, "function"));
        cyxla_error_free(second);
        second = NULL;
        CHECK(strlen(message) > 0);
        CHECK_STR(cyxla_error_detail(first, "function"), "cyxla_options_set_int");
    }
    cyxla_error_free(first);
    cyxla_error_free(second);
}

static void the_caller_s_bad_text_comes_back_readable(void)
{
    cyxla_program *program = NULL;
    cyxla_error *error = cyxla_program_from_file("/no/such/\xff\x01\n file", CYXLA_FORMAT_DETECT, NULL, &program);

    CHECK(program == NULL);
    if (!CHECK(error != NULL))
        return;
    CHECK_HAS(cyxla_error_message(error), "/no/such/");
    CHECK(strchr(cyxla_error_message(error), '\xff') == NULL);
    cyxla_error_free(error);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(codes_have_names);
    RUN(constants_are_the_canonical_numbers);
    RUN(no_error_reads_as_ok);
    RUN(an_error_says_what_was_wrong);
    RUN(details_that_are_not_there_are_null);
    RUN(text_stays_while_the_error_lives);
    RUN(the_caller_s_bad_text_comes_back_readable);
    return test_end();
}
