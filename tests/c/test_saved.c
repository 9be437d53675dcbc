#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "support.h"
#include "test.h"

static cyxla_bytes *saved(const cyxla_executable *e)
{
    cyxla_bytes *bytes = NULL;

    CHECK_OK(cyxla_executable_to_bytes(e, &bytes));
    return bytes;
}

static cyxla_executable *loaded(const cyxla_bytes *bytes)
{
    cyxla_executable *e = NULL;

    CHECK_OK(cyxla_executable_from_bytes(cyxla_bytes_data(bytes), cyxla_bytes_size(bytes), &e));
    return e;
}

/* Plugins of 0.106 say a page of text of each program that they load. */
#define QUIET "TF_CPP_MIN_LOG_LEVEL=3"

static void check_round_trip(cyxla_executable *e)
{
    cyxla_bytes *bytes = saved(e);
    cyxla_executable *again = loaded(bytes);

    if (again) {
        CHECK(same_executables(e, again));
        CHECK(same_results(e, again));
        CHECK(!cyxla_executable_is_from_cache(again));
        /* Plugins cannot serialize what they have loaded. */
        cyxla_bytes *bytes_again = saved(again);
        cyxla_executable *third = loaded(bytes_again);
        CHECK(same_executables(e, third));
        CHECK(same_results(e, third));
        if (CHECK_INT(cyxla_bytes_size(bytes_again), cyxla_bytes_size(bytes)))
            CHECK_BYTES(cyxla_bytes_data(bytes_again), cyxla_bytes_data(bytes), cyxla_bytes_size(bytes));
        cyxla_executable_free(third);
        cyxla_bytes_free(bytes_again);
    }
    cyxla_executable_free(again);
    cyxla_bytes_free(bytes);
    cyxla_executable_free(e);
}

static void what_is_saved_comes_back(void)
{
    static const char *const texts[] = {DOUBLE_F32_4, ADD_F32_4, DOUBLE_S32_2_3, DOUBLE_F32, COPY_U8_16,
                                        DONATED_ADD_F32_4, "module @nothing { func.func public @main() { return } }"};
    static const char *const files[] = {"exports/trees.jaxexport",         "exports/platforms_x32.jaxexport",
                                        "exports/platforms_x64.jaxexport", "exports/donation.jaxexport",
                                        "exports/dtypes.jaxexport",        "exports/keys.jaxexport",
                                        "exports/nothing.jaxexport",       "exports/vjp1.jaxexport",
                                        "exports/newest.jaxexport",        "exports/old_0_4_30.jaxexport",
                                        "hlo/tuple.pb",                    "hlo/steps.pb",
                                        "hlo/column_major_result.pb",      "hlo/mixed.pb",
                                        "exports/effects.jaxexport",       "names.mlirbc"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_round_trip(compiled(texts[i]));
    for (size_t i = 0; !on_fake_plugin() && i < sizeof files / sizeof *files; i++)
        check_round_trip(fixture_compiled(files[i]));
}

static void a_loaded_executable_takes_what_is_donated(void)
{
    static const int64_t dims[] = {4};
    static const float four[] = {1, 2, 3, 4};
    static const float want[] = {2, 4, 6, 8};
    float sum[4] = {0};
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);
    cyxla_bytes *bytes = saved(e);
    cyxla_executable *again = loaded(bytes);
    cyxla_buffer *a = NULL;
    cyxla_buffer *b = NULL;
    cyxla_buffer *out = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, four, &a));
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, NULL, four, &b));
    const cyxla_buffer *inputs[] = {a, b};
    if (again && CHECK_OK(cyxla_execute(again, inputs, 2, &out, 1))) {
        CHECK(cyxla_buffer_is_donated(a));
        CHECK(!cyxla_buffer_is_donated(b));
        CHECK_OK(cyxla_buffer_to_host(out, sum, sizeof sum));
        CHECK_FLOATS(sum, want, 4);
    }
    cyxla_buffer_free(a);
    cyxla_buffer_free(b);
    cyxla_buffer_free(out);
    cyxla_executable_free(again);
    cyxla_bytes_free(bytes);
    cyxla_executable_free(e);
}

/* --- in other processes --- */

/* Saves the program that other processes load to a file; the path is to be freed. */
static char *saved_file(const char *name)
{
    cyxla_executable *e = on_fake_plugin() ? compiled(ADD_F32_4) : fixture_compiled("exports/trees.jaxexport");
    cyxla_bytes *bytes = saved(e);
    char *path = own_path(name);

    if (bytes)
        write_file(path, cyxla_bytes_data(bytes), cyxla_bytes_size(bytes));
    cyxla_bytes_free(bytes);
    cyxla_executable_free(e);
    return path;
}

static cyxla_error *load_file(cyxla_executable **out)
{
    size_t size = 0;
    void *data = read_file(getenv("TEST_SAVED"), &size);
    cyxla_error *error = cyxla_executable_from_bytes(data, size, out);

    free(data);
    return error;
}

static void the_first_call_loads(void)
{
    cyxla_executable *e = NULL;
    cyxla_executable *fresh = NULL;

    CHECK(!cyxla_is_initialized());
    if (!CHECK_OK(load_file(&e)))
        return;
    CHECK(cyxla_is_initialized());
    fresh = on_fake_plugin() ? compiled(ADD_F32_4) : fixture_compiled("exports/trees.jaxexport");
    CHECK(same_executables(e, fresh));
    CHECK(same_results(e, fresh));
    cyxla_executable_free(e);
    cyxla_executable_free(fresh);
    CHECK(alive());
}

static void a_new_process_loads_it(void)
{
    char setting[4096];
    char *path = saved_file("for-others");

    snprintf(setting, sizeof setting, "TEST_SAVED=%s", path);
    CHECK_CHILD("loads-first", setting, QUIET);
    remove_all(path);
    free(path);
}

/* The file name in a path. */
static const char *file_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : "";
}

/* In a child with another plugin; the one that saved is in TEST_SAVED_BY. */
static void another_plugin_refuses(void)
{
    cyxla_executable *e = NULL;

    CHECK_FAILS(load_file(&e), CYXLA_CODE_FAILED_PRECONDITION, file_name(getenv("TEST_SAVED_BY")),
                file_name(getenv("CYXLA_PLUGIN")), "compile the program again here");
    CHECK(e == NULL);
    CHECK(alive());
}

/* A plugin with the same code in a file that differs: the path is to be freed. */
static char *other_build_of_plugin(void)
{
    size_t size = 0;
    char *path = own_path("libother_build.so");
    char *library = read_file(getenv("CYXLA_PLUGIN"), &size);

    if (library) {
        library[size] = '\n'; /* there is room for one more */
        write_file(path, library, size + 1);
    }
    free(library);
    return path;
}

static void what_another_plugin_saved_is_refused(void)
{
    char file[4096];
    char saved_by[4096];
    char plugin[4096];
    char *path = saved_file("for-another-plugin");
    char *other = on_fake_plugin() ? other_build_of_plugin() : NULL;

    snprintf(file, sizeof file, "TEST_SAVED=%s", path);
    snprintf(saved_by, sizeof saved_by, "TEST_SAVED_BY=%s", getenv("CYXLA_PLUGIN"));
    snprintf(plugin, sizeof plugin, "CYXLA_PLUGIN=%s", other ? other : getenv("CYXLA_TEST_OTHER_PLUGIN"));
    CHECK_CHILD("refuses", file, saved_by, plugin, QUIET);
    if (other)
        remove_all(other);
    remove_all(path);
    free(other);
    free(path);
}

/* In a child whose plugin says that it is another than the one that saved. */
static void a_plugin_that_differs_refuses(void)
{
    cyxla_executable *e = NULL;

    CHECK_OK(cyxla_initialize(NULL, NULL, NULL, NULL));
    CHECK_FAILS(load_file(&e), CYXLA_CODE_FAILED_PRECONDITION, getenv("TEST_PART"), "compile the program again here");
    CHECK(e == NULL);
    CHECK(alive());
}

static void another_platform_or_version_is_refused(void)
{
    char file[4096];
    char *path = saved_file("for-another-version");

    snprintf(file, sizeof file, "TEST_SAVED=%s", path);
    CHECK_CHILD("differs", file, "CYXLA_FAKE_PLUGIN=platform=abacus",
                "TEST_PART=it is for cpu, and the loaded plugin is for abacus");
    CHECK_CHILD("differs", file, "CYXLA_FAKE_PLUGIN=api_minor=114",
                "TEST_PART=through PJRT 0.115, and this is PJRT 0.114");
    remove_all(path);
    free(path);
}

/* In a child with two devices. */
static void save_for_the_second_device(void)
{
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_program_from_bytes(ADD_F32_4, strlen(ADD_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_OK(cyxla_options_set_int(options, "device", 1));
    CHECK_OK(cyxla_compile_program(program, options, &e));
    cyxla_bytes *bytes = saved(e);
    cyxla_executable *again = loaded(bytes);
    CHECK(same_results(e, again));
    write_file(getenv("TEST_SAVED"), cyxla_bytes_data(bytes), cyxla_bytes_size(bytes));
    cyxla_bytes_free(bytes);
    cyxla_executable_free(again);
    cyxla_executable_free(e);
    cyxla_options_free(options);
    cyxla_program_free(program);
}

static void a_device_that_is_not_there_is_named(void)
{
    char file[4096];
    size_t size = 0;
    char *path = own_path("for-device-1");
    cyxla_executable *e = NULL;

    CHECK(alive());
    snprintf(file, sizeof file, "TEST_SAVED=%s", path);
    CHECK_CHILD("saves-for-second", file, "CYXLA_OPTIONS=cpu_device_count=2", QUIET);
    void *data = read_file(path, &size);
    CHECK_FAILS(cyxla_executable_from_bytes(data, size, &e), CYXLA_CODE_FAILED_PRECONDITION, "device 1", "there are 1");
    CHECK(e == NULL);
    free(data);
    remove_all(path);
    free(path);
}

/* --- what is no saved executable, or no longer --- */

static void other_bytes_are_refused(void)
{
    size_t export_size = 0;
    size_t code_size = 0;
    void *export = fixture("exports/one.jaxexport", &export_size);
    void *code = fixture("names.mlirbc", &code_size);
    cyxla_executable *e = NULL;

    CHECK_FAILS(cyxla_executable_from_bytes(NULL, 0, &e), CYXLA_CODE_INVALID_ARGUMENT, "no saved executable");
    CHECK_FAILS(cyxla_executable_from_bytes("", 0, &e), CYXLA_CODE_INVALID_ARGUMENT, "no saved executable");
    CHECK_FAILS(cyxla_executable_from_bytes(ADD_F32_4, strlen(ADD_F32_4), &e), CYXLA_CODE_INVALID_ARGUMENT,
                "no saved executable", "programs have to be compiled");
    CHECK_FAILS(cyxla_executable_from_bytes(export, export_size, &e), CYXLA_CODE_INVALID_ARGUMENT,
                "no saved executable");
    CHECK_FAILS(cyxla_executable_from_bytes(code, code_size, &e), CYXLA_CODE_INVALID_ARGUMENT, "no saved executable");
    CHECK_FAILS(cyxla_executable_from_bytes("\x80\x05\x95 jax UnloadedMeshExecutable", 30, &e),
                CYXLA_CODE_INVALID_ARGUMENT, "serialize_executable", "jax.export");
    CHECK_FAILS(cyxla_executable_from_bytes("\x28\xb5\x2f\xfd\x60", 5, &e), CYXLA_CODE_INVALID_ARGUMENT, "zstd");
    CHECK_BLAMES(cyxla_executable_from_bytes(NULL, 1, &e), "data");
    CHECK_BLAMES(cyxla_executable_from_bytes("x", SIZE_MAX, &e), "data");
    CHECK_BLAMES(cyxla_executable_from_bytes("x", 1, NULL), "out");
    CHECK(e == NULL);
    free(export);
    free(code);
    CHECK(alive());
}

/* Copies of a saved executable, to be damaged. */
struct damage {
    const unsigned char *good;
    size_t size;
    unsigned char *bad;
    unsigned state;
};

static size_t random_below(struct damage *damage, size_t limit)
{
    damage->state = damage->state * 1103515245U + 12345U;
    return (damage->state >> 8) % limit;
}

/* From memory of exactly its size. */
static bool is_refused(const unsigned char *data, size_t size)
{
    unsigned char *exact = malloc(size ? size : 1);
    cyxla_executable *e = NULL;

    if (!exact)
        abort();
    memcpy(exact, data, size);
    cyxla_error *error = cyxla_executable_from_bytes(exact, size, &e);
    free(exact);
    cyxla_code code = cyxla_error_code(error);
    bool holds = CHECK(code == CYXLA_CODE_DATA_LOSS || code == CYXLA_CODE_INVALID_ARGUMENT) && CHECK(e == NULL);
    holds = holds && CHECK(cyxla_error_detail(error, "hint") != NULL);
    cyxla_error_free(error);
    cyxla_executable_free(e);
    return holds;
}

static void any_length_but_its_own_is_refused(struct damage *damage)
{
    for (size_t cut = 0; cut < damage->size; cut++) {
        if (!is_refused(damage->good, cut))
            printf("that was cut to %zu bytes\n", cut);
    }
    for (size_t more = 1; more < 100; more++) {
        memset(damage->bad + damage->size, (int)more, more);
        if (!is_refused(damage->bad, damage->size + more))
            printf("that had %zu bytes more\n", more);
    }
}

static void any_change_is_refused(struct damage *damage)
{
    for (int round = 0; round < 600; round++) {
        size_t size = damage->size;
        size_t at = random_below(damage, size);
        size_t from = random_below(damage, size);
        size_t length = 1 + random_below(damage, 64);
        length = length < size - at ? length : size - at;
        length = length < size - from ? length : size - from;
        memcpy(damage->bad, damage->good, size);
        switch (round % 6) {
        case 0: /* the header, most of the time by one bit */
            damage->bad[at % 64] ^= (unsigned char)(1U << round / 6 % 8);
            break;
        case 1:
            damage->bad[at] ^= (unsigned char)(1 + random_below(damage, 255));
            break;
        case 2: /* a part is lost */
            memmove(damage->bad + at, damage->bad + at + length, size - at - length);
            size -= length;
            break;
        case 3: /* a part is there twice */
            memmove(damage->bad + at + length, damage->bad + at, size - at);
            size += length;
            break;
        case 4:
            memset(damage->bad + at, round / 6 % 2 ? 0 : 0xff, length);
            break;
        default:
            memmove(damage->bad + at, damage->bad + from, length);
        }
        if (size == damage->size && memcmp(damage->bad, damage->good, size) == 0)
            continue;
        if (!is_refused(damage->bad, size))
            printf("that was round %d\n", round);
    }
}

/* Replaces each `old` by `new`, as transfers in text mode do; 0 stands for nothing. */
static size_t replaced(struct damage *damage, unsigned char old, unsigned char before, unsigned char new)
{
    size_t size = 0;

    for (size_t i = 0; i < damage->size && size < 2 * damage->size; i++) {
        unsigned char byte = damage->good[i];
        if (byte == old && before)
            damage->bad[size++] = before;
        if (byte != old || new)
            damage->bad[size++] = byte == old ? new : byte;
    }
    return size;
}

static void check_text_mode(struct damage *damage, size_t size)
{
    cyxla_executable *e = NULL;

    CHECK_FAILS(cyxla_executable_from_bytes(damage->bad, size, &e), CYXLA_CODE_DATA_LOSS, "damaged", "text mode",
                "binary mode");
    CHECK(e == NULL);
}

static void text_mode_is_told(struct damage *damage)
{
    check_text_mode(damage, replaced(damage, '\r', 0, 0));           /* CR LF becomes LF */
    check_text_mode(damage, replaced(damage, '\n', '\r', '\n'));     /* LF becomes CR LF */
    check_text_mode(damage, replaced(damage, '\n', 0, '\r'));        /* LF becomes CR */
    check_text_mode(damage, replaced(damage, 0x89, 0, 0x09));        /* seven bits */
    check_text_mode(damage, replaced(damage, 0x89, 0xc2, 0x89));     /* Latin-1 becomes UTF-8 */
    check_text_mode(damage, replaced(damage, 0x1a, 0, 0));           /* the end of a text on DOS */
}

static void damage_is_noticed(void)
{
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_bytes *bytes = saved(e);
    struct damage damage = {cyxla_bytes_data(bytes), cyxla_bytes_size(bytes), NULL, 99};
    cyxla_executable *good = NULL;

    cyxla_executable_free(e);
    if (!bytes)
        return;
    damage.bad = malloc(2 * damage.size + 200);
    if (!damage.bad)
        abort();
    memcpy(damage.bad, damage.good, damage.size);
    any_length_but_its_own_is_refused(&damage);
    any_change_is_refused(&damage);
    text_mode_is_told(&damage);
    free(damage.bad);
    CHECK_OK(cyxla_executable_from_bytes(damage.good, damage.size, &good));
    cyxla_executable_free(good);
    cyxla_bytes_free(bytes);
    CHECK(alive());
}

/* Given to a reader of programs, it says where it belongs. */
static void a_saved_executable_is_no_program(void)
{
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_bytes *bytes = saved(e);
    cyxla_program *program = NULL;

    CHECK_FAILS(cyxla_program_from_bytes(cyxla_bytes_data(bytes), cyxla_bytes_size(bytes), CYXLA_FORMAT_DETECT, NULL,
                                         &program),
                CYXLA_CODE_FAILED_PRECONDITION, "saved executable", "cyxla_executable_from_bytes");
    CHECK(program == NULL);
    cyxla_bytes_free(bytes);
    cyxla_executable_free(e);
}

/* --- threads --- */

static const cyxla_bytes *shared;

static void *load_and_run(void *good)
{
    for (int i = 0; i < (on_fake_plugin() ? 3 : 10); i++) {
        cyxla_executable *e = loaded(shared);
        CHECK(same_results(good, e));
        cyxla_executable_free(e);
        cyxla_bytes *again = saved(good);
        CHECK(cyxla_bytes_size(again) > 0);
        cyxla_bytes_free(again);
    }
    return NULL;
}

static void threads_save_and_load_at_once(void)
{
    pthread_t threads[8];
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_bytes *bytes = saved(e);

    shared = bytes;
    for (size_t i = 0; e && bytes && i < 8; i++)
        pthread_create(&threads[i], NULL, load_and_run, e);
    for (size_t i = 0; e && bytes && i < 8; i++)
        pthread_join(threads[i], NULL);
    cyxla_bytes_free(bytes);
    cyxla_executable_free(e);
}

/* --- what goes wrong in a plugin; only the fake one can be made to --- */

static void check_cannot_save(void)
{
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_bytes *bytes = NULL;

    CHECK_FAILS(cyxla_executable_to_bytes(e, &bytes), CYXLA_CODE_UNIMPLEMENTED, "PJRT_Executable_Serialize");
    CHECK(bytes == NULL);
    cyxla_executable_free(e);
    CHECK(alive());
}

static void check_saving_fails(void)
{
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_bytes *bytes = NULL;

    CHECK_FAILS(cyxla_executable_to_bytes(e, &bytes), CYXLA_CODE_RESOURCE_EXHAUSTED, "");
    CHECK(bytes == NULL);
    cyxla_executable_free(e);
    CHECK(alive());
}

static void check_loading_fails(void)
{
    cyxla_executable *e = NULL;

    CHECK_FAILS(load_file(&e), CYXLA_CODE_RESOURCE_EXHAUSTED, "");
    CHECK(e == NULL);
    CHECK(alive());
}

static void check_cannot_load(void)
{
    cyxla_executable *e = NULL;

    CHECK_FAILS(load_file(&e), CYXLA_CODE_UNIMPLEMENTED, "PJRT_Executable_DeserializeAndLoad");
    CHECK(e == NULL);
    CHECK(alive());
}

static void a_plugin_s_faults_are_errors(void)
{
    char file[4096];
    char *path = saved_file("for-bad-plugins");

    snprintf(file, sizeof file, "TEST_SAVED=%s", path);
    CHECK_CHILD("cannot-save", "CYXLA_FAKE_PLUGIN=lack=PJRT_Executable_Serialize");
    CHECK_CHILD("saving-fails", "CYXLA_FAKE_PLUGIN=fail=PJRT_Executable_Serialize,fail_code=8");
    CHECK_CHILD("cannot-load", file, "CYXLA_FAKE_PLUGIN=lack=PJRT_Executable_DeserializeAndLoad");
    CHECK_CHILD("loading-fails", file, "CYXLA_FAKE_PLUGIN=fail=PJRT_Executable_DeserializeAndLoad,fail_code=8");
    remove_all(path);
    free(path);
}

static void nothing_is_saved(void)
{
    cyxla_bytes *bytes = NULL;
    cyxla_executable *e = compiled(ADD_F32_4);

    CHECK_BLAMES(cyxla_executable_to_bytes(NULL, &bytes), "executable");
    CHECK_BLAMES(cyxla_executable_to_bytes(e, NULL), "out");
    CHECK(bytes == NULL);
    CHECK(!cyxla_executable_is_from_cache(NULL));
    CHECK(!cyxla_executable_is_from_cache(e));
    cyxla_executable_free(e);
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"loads-first", the_first_call_loads},
        {"refuses", another_plugin_refuses},
        {"differs", a_plugin_that_differs_refuses},
        {"saves-for-second", save_for_the_second_device},
        {"cannot-save", check_cannot_save},
        {"saving-fails", check_saving_fails},
        {"cannot-load", check_cannot_load},
        {"loading-fails", check_loading_fails},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(what_is_saved_comes_back);
    RUN(a_loaded_executable_takes_what_is_donated);
    RUN(a_new_process_loads_it);
    RUN(what_another_plugin_saved_is_refused);
    RUN(a_device_that_is_not_there_is_named);
    RUN(other_bytes_are_refused);
    RUN(damage_is_noticed);
    RUN(a_saved_executable_is_no_program);
    RUN(threads_save_and_load_at_once);
    RUN(nothing_is_saved);
    if (on_fake_plugin()) {
        RUN(another_platform_or_version_is_refused);
        RUN(a_plugin_s_faults_are_errors);
    }
    return test_end();
}
