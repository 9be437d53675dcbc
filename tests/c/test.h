/* Checks that print what went wrong and go on, and the count at the end.
 *
 *     static void adds(void) { CHECK_INT(1 + 1, 2); }
 *     int main(int argc, char **argv)
 *     {
 *         test_start(argc, argv, NULL);
 *         RUN(adds);
 *         return test_end();
 *     }
 *
 * Checks may be made from any thread. A failed check prints file, line and both
 * values. The last line of a test program is `N passed, N failed`, where a test is
 * one function given to RUN.
 */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <stddef.h>

#include <cyxla.h>

/* A part of a test that needs a process of its own: `program name` runs it. */
struct test_mode {
    const char *name;
    void (*function)(void);
};

/* `modes` ends with an entry without a name; NULL when the test has none. When the
 * command line names one, it is run instead of the test and the process ends. */
void test_start(int argc, char **argv, const struct test_mode *modes);
void test_run(const char *name, void (*function)(void));
int test_end(void);

/* 1 if a check of the running test failed, else 0: for one that ends its process
 * itself. */
int test_status(void);

/* How the program was started, to start it again in another mode. */
const char *test_program(void);

#define RUN(function) test_run(#function, function)

/* All return whether the check held, so that a test can stop where going on makes
 * no sense. Errors given to a check are freed by it. */
bool test_true(const char *file, int line, const char *text, bool holds);
bool test_int(const char *file, int line, const char *text, long long got, long long want);
bool test_string(const char *file, int line, const char *text, const char *got, const char *want);
bool test_has(const char *file, int line, const char *text, const char *got, const char *part);
bool test_bytes(const char *file, int line, const char *text, const void *got, const void *want, size_t size);
bool test_floats(const char *file, int line, const char *text, const float *got, const float *want, size_t count);
bool test_ok(const char *file, int line, const char *text, cyxla_error *error);
bool test_fails(const char *file, int line, const char *text, cyxla_error *error, cyxla_code code,
                const char *const *parts);
bool test_blames(const char *file, int line, const char *text, cyxla_error *error, const char *parameter);

#define CHECK(condition) test_true(__FILE__, __LINE__, #condition, (condition))
#define CHECK_INT(got, want) test_int(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))
#define CHECK_STR(got, want) test_string(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_HAS(got, part) test_has(__FILE__, __LINE__, #got, (got), (part))
#define CHECK_BYTES(got, want, size) test_bytes(__FILE__, __LINE__, #got, (got), (want), (size))
#define CHECK_FLOATS(got, want, count) test_floats(__FILE__, __LINE__, #got, (got), (want), (count))

/* A call that must succeed. */
#define CHECK_OK(call) test_ok(__FILE__, __LINE__, #call, (call))

/* A call that must fail with this code; its message or its hint must have each of
 * the texts that follow. */
#define CHECK_FAILS(call, code, ...) \
    test_fails(__FILE__, __LINE__, #call, (call), (code), (const char *const[]){__VA_ARGS__, NULL})

/* A call that must be refused for the value of one parameter: INVALID_ARGUMENT,
 * and the error's details name the function called and the parameter. */
#define CHECK_BLAMES(call, parameter) test_blames(__FILE__, __LINE__, #call, (call), (parameter))

#endif
