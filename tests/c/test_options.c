#include <math.h>
#include <stdint.h>

#include "test.h"

static void each_kind_is_kept(void)
{
    const int64_t numbers[] = {1, -2, INT64_MAX, INT64_MIN};
    size_t count = 0;
    cyxla_options *o = cyxla_options_new();

    CHECK_INT(cyxla_options_count(o), 0);
    CHECK_OK(cyxla_options_set_string(o, "text", "h\xc3\xa9llo"));
    CHECK_OK(cyxla_options_set_int(o, "int", INT64_MIN));
    CHECK_OK(cyxla_options_set_ints(o, "ints", numbers, 4));
    CHECK_OK(cyxla_options_set_float(o, "float", -0.5));
    CHECK_OK(cyxla_options_set_bool(o, "bool", true));
    CHECK_OK(cyxla_options_set_ints(o, "none", NULL, 0));
    if (!CHECK_INT(cyxla_options_count(o), 6))
        goto end;
    CHECK_STR(cyxla_options_key(o, 0), "text");
    CHECK_INT(cyxla_options_kind(o, 0), CYXLA_OPTION_KIND_STRING);
    CHECK_STR(cyxla_options_get_string(o, 0), "h\xc3\xa9llo");
    CHECK_STR(cyxla_options_key(o, 1), "int");
    CHECK_INT(cyxla_options_kind(o, 1), CYXLA_OPTION_KIND_INT);
    CHECK_INT(cyxla_options_get_int(o, 1), INT64_MIN);
    CHECK_STR(cyxla_options_key(o, 2), "ints");
    CHECK_INT(cyxla_options_kind(o, 2), CYXLA_OPTION_KIND_INTS);
    const int64_t *got = cyxla_options_get_ints(o, 2, &count);
    if (CHECK(got != NULL) && CHECK_INT(count, 4))
        CHECK_BYTES(got, numbers, sizeof numbers);
    CHECK_INT(cyxla_options_kind(o, 3), CYXLA_OPTION_KIND_FLOAT);
    CHECK(cyxla_options_get_float(o, 3) + 0.5 <= 0.0);
    CHECK_INT(cyxla_options_kind(o, 4), CYXLA_OPTION_KIND_BOOL);
    CHECK(cyxla_options_get_bool(o, 4));
    CHECK_INT(cyxla_options_kind(o, 5), CYXLA_OPTION_KIND_INTS);
    count = 99;
    cyxla_options_get_ints(o, 5, &count);
    CHECK_INT(count, 0);
end:
    cyxla_options_free(o);
}

static void the_caller_s_values_are_copied(void)
{
    char text[] = "before";
    int64_t numbers[] = {1, 2};
    size_t count = 0;
    cyxla_options *o = cyxla_options_new();

    CHECK_OK(cyxla_options_set_string(o, "text", text));
    CHECK_OK(cyxla_options_set_ints(o, "ints", numbers, 2));
    text[0] = 'X';
    numbers[0] = 99;
    CHECK_STR(cyxla_options_get_string(o, 0), "before");
    const int64_t *got = cyxla_options_get_ints(o, 1, &count);
    if (CHECK(got && count == 2))
        CHECK_INT(got[0], 1);
    cyxla_options_free(o);
}

static void setting_again_replaces(void)
{
    cyxla_options *o = cyxla_options_new();

    CHECK_OK(cyxla_options_set_int(o, "a", 1));
    CHECK_OK(cyxla_options_set_int(o, "b", 2));
    CHECK_OK(cyxla_options_set_string(o, "a", "three"));
    CHECK_INT(cyxla_options_count(o), 2);
    CHECK_STR(cyxla_options_key(o, 0), "a");
    CHECK_STR(cyxla_options_get_string(o, 0), "three");
    cyxla_options_free(o);
}

/* But for text, which every value has. */
static void getters_of_another_kind_give_nothing(void)
{
    size_t count = 99;
    cyxla_options *o = cyxla_options_new();

    CHECK_OK(cyxla_options_set_int(o, "int", 7));
    CHECK_OK(cyxla_options_set_string(o, "text", "7"));
    CHECK(cyxla_options_get_ints(o, 0, &count) == NULL);
    CHECK_INT(count, 0);
    CHECK(!cyxla_options_get_bool(o, 0));
    CHECK_INT(cyxla_options_get_int(o, 1), 0);
    CHECK_STR(cyxla_options_get_string(o, 0), "7");
    cyxla_options_free(o);
}

static void a_bad_index_gives_nothing(void)
{
    static const size_t indices[] = {1, 2, SIZE_MAX};
    cyxla_options *o = cyxla_options_new();

    CHECK_OK(cyxla_options_set_int(o, "int", 7));
    for (size_t i = 0; i < 3; i++) {
        size_t index = indices[i];
        size_t count = 99;
        CHECK_STR(cyxla_options_key(o, index), NULL);
        CHECK_INT(cyxla_options_kind(o, index), CYXLA_OPTION_KIND_NONE);
        CHECK_STR(cyxla_options_get_string(o, index), NULL);
        CHECK_INT(cyxla_options_get_int(o, index), 0);
        CHECK(cyxla_options_get_ints(o, index, &count) == NULL);
        CHECK_INT(count, 0);
        CHECK(fabs(cyxla_options_get_float(o, index)) <= 0.0);
        CHECK(!cyxla_options_get_bool(o, index));
    }
    cyxla_options_free(o);
}

static void no_options_read_as_empty(void)
{
    size_t count = 99;

    CHECK_INT(cyxla_options_count(NULL), 0);
    CHECK_STR(cyxla_options_key(NULL, 0), NULL);
    CHECK_INT(cyxla_options_kind(NULL, 0), CYXLA_OPTION_KIND_NONE);
    CHECK_STR(cyxla_options_get_string(NULL, 0), NULL);
    CHECK_INT(cyxla_options_get_int(NULL, 0), 0);
    CHECK(cyxla_options_get_ints(NULL, 0, &count) == NULL);
    CHECK(cyxla_options_get_ints(NULL, 0, NULL) == NULL);
    CHECK(!cyxla_options_get_bool(NULL, 0));
    cyxla_options_free(NULL);
}

static void bad_keys_and_values_are_refused(void)
{
    const int64_t number = 1;
    cyxla_options *o = cyxla_options_new();

    CHECK_BLAMES(cyxla_options_set_string(NULL, "a", "b"), "options");
    CHECK_BLAMES(cyxla_options_set_int(NULL, "a", 1), "options");
    CHECK_BLAMES(cyxla_options_set_ints(NULL, "a", &number, 1), "options");
    CHECK_BLAMES(cyxla_options_set_float(NULL, "a", 1), "options");
    CHECK_BLAMES(cyxla_options_set_bool(NULL, "a", true), "options");
    CHECK_BLAMES(cyxla_options_parse(NULL, "a=1"), "options");
    CHECK_BLAMES(cyxla_options_set_string(o, NULL, "b"), "key");
    CHECK_BLAMES(cyxla_options_set_int(o, NULL, 1), "key");
    CHECK_BLAMES(cyxla_options_set_ints(o, NULL, &number, 1), "key");
    CHECK_BLAMES(cyxla_options_set_float(o, NULL, 1), "key");
    CHECK_BLAMES(cyxla_options_set_bool(o, NULL, true), "key");
    CHECK_BLAMES(cyxla_options_set_string(o, "a", NULL), "value");
    CHECK_BLAMES(cyxla_options_set_ints(o, "a", NULL, 1), "values");
    CHECK_BLAMES(cyxla_options_parse(o, NULL), "text");
    CHECK_FAILS(cyxla_options_set_int(o, "", 1), CYXLA_CODE_INVALID_ARGUMENT, "empty");
    CHECK_FAILS(cyxla_options_set_int(o, "\xff", 1), CYXLA_CODE_INVALID_ARGUMENT, "UTF-8");
    CHECK_FAILS(cyxla_options_set_string(o, "a", "\xc3("), CYXLA_CODE_INVALID_ARGUMENT, "UTF-8");
    CHECK_FAILS(cyxla_options_set_int(o, "a b", 1), CYXLA_CODE_INVALID_ARGUMENT, "a b");
    CHECK_FAILS(cyxla_options_set_float(o, "a", (double)NAN), CYXLA_CODE_INVALID_ARGUMENT, "finite");
    CHECK_FAILS(cyxla_options_set_float(o, "a", (double)INFINITY), CYXLA_CODE_INVALID_ARGUMENT, "finite");
    CHECK_FAILS(cyxla_options_set_ints(o, "a", &number, SIZE_MAX), CYXLA_CODE_INVALID_ARGUMENT, "values");
    CHECK_INT(cyxla_options_count(o), 0);
    cyxla_options_free(o);
}

static void text_is_parsed(void)
{
    size_t count = 0;
    cyxla_options *o = cyxla_options_new();

    CHECK_OK(cyxla_options_parse(o, "memory_fraction=0.5; preallocate=false;n=4;ids=0,1, 2;name=a=b;empty="));
    if (CHECK_INT(cyxla_options_count(o), 6)) {
        CHECK_STR(cyxla_options_key(o, 0), "memory_fraction");
        CHECK_INT(cyxla_options_kind(o, 0), CYXLA_OPTION_KIND_FLOAT);
        CHECK_INT(cyxla_options_kind(o, 1), CYXLA_OPTION_KIND_BOOL);
        CHECK(!cyxla_options_get_bool(o, 1));
        CHECK_INT(cyxla_options_kind(o, 2), CYXLA_OPTION_KIND_INT);
        CHECK_INT(cyxla_options_get_int(o, 2), 4);
        CHECK_INT(cyxla_options_kind(o, 3), CYXLA_OPTION_KIND_INTS);
        cyxla_options_get_ints(o, 3, &count);
        CHECK_INT(count, 3);
        CHECK_STR(cyxla_options_get_string(o, 4), "a=b");
        CHECK_STR(cyxla_options_get_string(o, 5), "");
    }
    CHECK_OK(cyxla_options_parse(o, ""));
    CHECK_OK(cyxla_options_parse(o, " ; ;"));
    CHECK_INT(cyxla_options_count(o), 6);
    CHECK_OK(cyxla_options_parse(o, "n=5"));
    CHECK_INT(cyxla_options_count(o), 6);
    CHECK_INT(cyxla_options_get_int(o, 2), 5);
    cyxla_options_free(o);
}

static void bad_text_changes_nothing(void)
{
    static const char *const bad[] = {"a", "a=2;a=3", "=1", "a b=1", "a=2;b", "x=1e999", "a=\xff"};
    cyxla_options *o = cyxla_options_new();

    CHECK_OK(cyxla_options_set_int(o, "a", 1));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_FAILS(cyxla_options_parse(o, bad[i]), CYXLA_CODE_INVALID_ARGUMENT, "");
        CHECK_INT(cyxla_options_count(o), 1);
        CHECK_INT(cyxla_options_get_int(o, 0), 1);
    }
    CHECK_FAILS(cyxla_options_parse(o, "dup=1;dup=2"), CYXLA_CODE_INVALID_ARGUMENT, "duplicate", "dup");
    cyxla_options_free(o);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(each_kind_is_kept);
    RUN(the_caller_s_values_are_copied);
    RUN(setting_again_replaces);
    RUN(getters_of_another_kind_give_nothing);
    RUN(a_bad_index_gives_nothing);
    RUN(no_options_read_as_empty);
    RUN(bad_keys_and_values_are_refused);
    RUN(text_is_parsed);
    RUN(bad_text_changes_nothing);
    return test_end();
}
