#include "test.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int failed_checks;
static int passed;
static int failed;
static const char *program;

const char *test_program(void)
{
    return program;
}

void test_start(int argc, char **argv, const struct test_mode *modes)
{
    program = argv[0];
    /* What a crash leaves unsaid would hide where it was. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 2)
        return;
    for (; modes && modes->name; modes++) {
        if (strcmp(modes->name, argv[1]) == 0) {
            test_run(modes->name, modes->function);
            exit(test_end());
        }
    }
    fprintf(stderr, "%s: there is no mode '%s'\n", argv[0], argv[1]);
    exit(2);
}

void test_run(const char *name, void (*function)(void))
{
    failed_checks = 0;
    function();
    if (failed_checks == 0) {
        passed++;
    } else {
        failed++;
        printf("FAILED %s\n", name);
    }
}

int test_end(void)
{
    printf("%d passed, %d failed\n", passed, failed);
    return passed == 0 || failed > 0;
}

int test_status(void)
{
    fflush(stdout);
    return failed_checks > 0;
}

/* Counts and reports a failed check; the text that `format` makes follows its place. */
__attribute__((format(printf, 4, 5))) static bool fail(const char *file, int line, const char *text, const char *format, ...)
{
    va_list values;

    pthread_mutex_lock(&lock);
    failed_checks++;
    printf("%s:%d: %s", file, line, text);
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    printf("\n");
    pthread_mutex_unlock(&lock);
    return false;
}

static const char *shown(const char *text)
{
    return text ? text : "(NULL)";
}

bool test_true(const char *file, int line, const char *text, bool holds)
{
    return holds || fail(file, line, text, " does not hold");
}

bool test_int(const char *file, int line, const char *text, long long got, long long want)
{
    return got == want || fail(file, line, text, " is %lld, want %lld", got, want);
}

bool test_string(const char *file, int line, const char *text, const char *got, const char *want)
{
    bool same = got && want ? strcmp(got, want) == 0 : got == want;

    return same || fail(file, line, text, " is \"%s\", want \"%s\"", shown(got), shown(want));
}

bool test_has(const char *file, int line, const char *text, const char *got, const char *part)
{
    bool has = got && strstr(got, part);

    return has || fail(file, line, text, " is \"%s\", want \"%s\" in it", shown(got), part);
}

bool test_bytes(const char *file, int line, const char *text, const void *got, const void *want, size_t size)
{
    const unsigned char *a = got;
    const unsigned char *b = want;

    for (size_t i = 0; i < size; i++) {
        if (a[i] != b[i])
            return fail(file, line, text, " has byte %zu = %02x, want %02x", i, a[i], b[i]);
    }
    return true;
}

bool test_floats(const char *file, int line, const char *text, const float *got, const float *want, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!(got[i] <= want[i] && got[i] >= want[i])) {
            return fail(file, line, text, "[%zu] is %.9g, want %.9g", i, (double)got[i], (double)want[i]);
        }
    }
    return true;
}

bool test_ok(const char *file, int line, const char *text, cyxla_error *error)
{
    if (!error)
        return true;
    fail(file, line, text, " failed: %s: %s", cyxla_code_name(cyxla_error_code(error)), cyxla_error_message(error));
    cyxla_error_free(error);
    return false;
}

bool test_fails(const char *file, int line, const char *text, cyxla_error *error, cyxla_code code,
                const char *const *parts)
{
    bool holds = true;

    if (!error)
        return fail(file, line, text, " succeeded, want %s", cyxla_code_name(code));
    const char *message = cyxla_error_message(error);
    const char *hint = cyxla_error_detail(error, "hint");
    if (cyxla_error_code(error) != code) {
        holds = fail(file, line, text, " failed with %s, want %s: %s", cyxla_code_name(cyxla_error_code(error)),
                     cyxla_code_name(code), message);
    }
    for (; *parts; parts++) {
        if (!strstr(message, *parts) && !(hint && strstr(hint, *parts))) {
            holds = fail(file, line, text, ": want \"%s\" in the error, got: %s (hint: %s)", *parts, message,
                         shown(hint));
        }
    }
    cyxla_error_free(error);
    return holds;
}

bool test_blames(const char *file, int line, const char *text, cyxla_error *error, const char *parameter)
{
    bool holds = true;

    if (!error)
        return fail(file, line, text, " succeeded, want INVALID_ARGUMENT for '%s'", parameter);
    const char *function = cyxla_error_detail(error, "function");
    const char *blamed = cyxla_error_detail(error, "parameter");
    const char *origin = cyxla_error_detail(error, "origin");
    size_t length = strcspn(text, "(");
    if (cyxla_error_code(error) != CYXLA_CODE_INVALID_ARGUMENT) {
        holds = fail(file, line, text, " failed with %s, want INVALID_ARGUMENT: %s",
                     cyxla_code_name(cyxla_error_code(error)), cyxla_error_message(error));
    }
    if (!function || strlen(function) != length || strncmp(function, text, length) != 0)
        holds = fail(file, line, text, ": the error's function is \"%s\"", shown(function));
    if (!blamed || strcmp(blamed, parameter) != 0)
        holds = fail(file, line, text, ": the error's parameter is \"%s\", want \"%s\"", shown(blamed), parameter);
    if (!origin || strcmp(origin, "caller") != 0)
        holds = fail(file, line, text, ": the error's origin is \"%s\", want \"caller\"", shown(origin));
    if (cyxla_error_message(error)[0] == '\0')
        holds = fail(file, line, text, ": the error's message is empty");
    cyxla_error_free(error);
    return holds;
}
