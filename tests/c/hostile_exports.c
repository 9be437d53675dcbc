/* Files of jax.export that are cut, changed, or something else: each is read as what it
 * still is, or refused with an error. Nothing is compiled: what a plugin makes of a
 * module that only looks whole is the plugin's own affair. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "corpus.h"
#include "support.h"
#include "test.h"

/* Asks a program for all that it knows, the gradients in it too. */
static void ask(const cyxla_program *program)
{
    cyxla_program *vjp = NULL;
    size_t rank = 0;

    CHECK(cyxla_program_json(program) != NULL);
    for (size_t i = 0; i < cyxla_program_platform_count(program); i++)
        CHECK(cyxla_program_platform(program, i) != NULL);
    for (size_t i = 0; i < cyxla_program_custom_call_count(program); i++)
        CHECK(cyxla_program_custom_call(program, i) != NULL);
    for (size_t i = 0; i < cyxla_program_input_count(program); i++) {
        cyxla_program_input_name(program, i);
        cyxla_program_input_dims(program, i, &rank);
        CHECK(rank <= 64);
    }
    for (size_t i = 0; i < cyxla_program_output_count(program); i++) {
        cyxla_program_output_name(program, i);
        cyxla_program_output_dims(program, i, &rank);
        CHECK(rank <= 64);
    }
    cyxla_error_free(cyxla_program_vjp(program, &vjp));
    cyxla_program_free(vjp);
}

/* Reads bytes, from memory that ends where they end; says whether they are a program. */
static bool is_read(const char *data, size_t size, cyxla_format format)
{
    cyxla_program *program = NULL;
    char *exact = malloc(size ? size : 1);

    if (!exact)
        abort();
    memcpy(exact, data, size);
    cyxla_error *error = cyxla_program_from_bytes(exact, size, format, NULL, &program);
    cyxla_code code = cyxla_error_code(error);
    CHECK((error == NULL) == (program != NULL));
    CHECK(code == CYXLA_CODE_OK || code == CYXLA_CODE_INVALID_ARGUMENT || code == CYXLA_CODE_UNIMPLEMENTED ||
          code == CYXLA_CODE_FAILED_PRECONDITION);
    CHECK(error == NULL || cyxla_error_message(error)[0] != '\0');
    cyxla_error_free(error);
    free(exact);
    if (program)
        ask(program);
    cyxla_program_free(program);
    return code == CYXLA_CODE_OK;
}

/* One with a gradient and one with trees, as the oldest and the newest JAX write them. */
static const struct {
    const char *version;
    const char *program;
} FILES[] = {{"0.4.30", "vjp"}, {"0.10.2", "vjp_dropped"}, {"0.4.30", "trees"}, {"0.10.2", "named_tuple"}};

#define FILE_COUNT (sizeof FILES / sizeof *FILES)

/* With the fake plugin this runs under valgrind too, where each reading takes long. */
static size_t step(void)
{
    return on_fake_plugin() ? 7 : 1;
}

static void for_each_file(void (*function)(char *data, size_t size))
{
    for (size_t i = 0; i < FILE_COUNT; i++) {
        size_t size = 0;
        char *data = corpus_file(FILES[i].version, FILES[i].program, &size);
        if (CHECK(data != NULL && is_read(data, size, CYXLA_FORMAT_DETECT)))
            function(data, size);
        free(data);
    }
}

static void cut(char *data, size_t size)
{
    for (size_t length = 0; length < size; length += step()) {
        /* What JAX writes last is the vtable of the root, which nothing works without,
         * or the padding behind a text. */
        if (is_read(data, length, CYXLA_FORMAT_JAX_EXPORT))
            CHECK(size - length < 16);
        if (length % 16 == 0)
            is_read(data, length, CYXLA_FORMAT_DETECT);
    }
}

static void cut_at_every_length(void)
{
    for_each_file(cut);
}

static void large_ones_cut(void)
{
    static const char *const programs[] = {"many_inputs", "many_outputs", "constants"};

    for (size_t i = 0; i < 3; i++) {
        size_t size = 0;
        char *data = corpus_file("0.10.2", programs[i], &size);
        for (size_t length = 1; data && length < size - 16; length += 1 + size / 50)
            CHECK(!is_read(data, length, CYXLA_FORMAT_JAX_EXPORT));
        free(data);
    }
}

static void flip(char *data, size_t size)
{
    for (size_t i = 0; i < size; i += step()) {
        const char was = data[i];
        data[i] = (char)~was;
        is_read(data, size, CYXLA_FORMAT_JAX_EXPORT);
        data[i] = (char)(was ^ (1 << i % 8));
        is_read(data, size, CYXLA_FORMAT_DETECT);
        data[i] = was;
    }
}

static void each_byte_changed(void)
{
    for_each_file(flip);
}

/* Offsets and counts are words of four bytes: makes each of them huge, negative, nothing,
 * or one that leads back to itself, to the root or to the end. */
static void point_elsewhere(char *data, size_t size)
{
    for (size_t i = 0; i + 4 <= size; i += 4 * step()) {
        const uint32_t to_root = (uint32_t)0 - (uint32_t)i;
        const uint32_t words[] = {UINT32_MAX, INT32_MAX, 0x80000000U, 0, to_root, (uint32_t)(size - i), 4};
        char was[4];
        memcpy(was, data + i, 4);
        for (size_t j = 0; j < sizeof words / sizeof *words; j++) {
            memcpy(data + i, &words[j], 4);
            is_read(data, size, CYXLA_FORMAT_JAX_EXPORT);
        }
        memcpy(data + i, was, 4);
    }
}

static void offsets_and_counts_that_lie(void)
{
    for_each_file(point_elsewhere);
}

/* Several bytes at once, which get past checks that look at one. */
static void shuffle(char *data, size_t size)
{
    static unsigned state = 7;
    char *changed = malloc(size);

    if (!changed)
        abort();
    for (size_t i = 0; i < 500 / step(); i++) {
        memcpy(changed, data, size);
        for (size_t j = 0; j < 1 + i % 9; j++) {
            state = state * 1103515245U + 12345U;
            size_t to = (state >> 8) % size;
            state = state * 1103515245U + 12345U;
            changed[to] = i % 2 ? (char)(state >> 16) : data[(state >> 8) % size];
        }
        is_read(changed, size, CYXLA_FORMAT_JAX_EXPORT);
    }
    free(changed);
}

static void many_bytes_changed(void)
{
    for_each_file(shuffle);
}

/* A table of one string, and the same with a file identifier; a root that is its own
 * vtable; offsets that go in a circle; vectors of four billion. */
static void other_flatbuffers(void)
{
    static const struct {
        size_t size;
        const char *bytes;
    } others[] = {
        {28, "\x0c\0\0\0" "\0\0\x06\0\x08\0\x04\0" "\x08\0\0\0" "\x04\0\0\0" "\x02\0\0\0" "hi\0"},
        {32, "\x10\0\0\0" "TFL3" "\0\0\x06\0\x08\0\x04\0" "\x08\0\0\0" "\x04\0\0\0" "\x02\0\0\0" "hi\0"},
        {8, "\x04\0\0\0" "\0\0\0\0"},
        {12, "\x04\0\0\0" "\xfc\xff\xff\xff" "\0\0\0\0"},
        {8, "\xff\xff\xff\x7f" "\xff\xff\xff\x7f"},
        {8, "\0\0\0\0" "\0\0\0\0"},
        {24, "\x0c\0\0\0" "\xff\xff\xff\xff\xff\xff\xff\xff" "\x08\0\0\0" "\xff\xff\xff\xff" "\0\0\0"},
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CHECK(!is_read(others[i].bytes, others[i].size, CYXLA_FORMAT_JAX_EXPORT));
        CHECK(!is_read(others[i].bytes, others[i].size, CYXLA_FORMAT_DETECT));
    }
    CHECK(!is_read("", 0, CYXLA_FORMAT_JAX_EXPORT));
}

/* --- files --- */

static cyxla_error *from_file(const char *path)
{
    cyxla_program *program = NULL;
    cyxla_error *error = cyxla_program_from_file(path, CYXLA_FORMAT_DETECT, NULL, &program);

    CHECK((error == NULL) == (program != NULL));
    cyxla_program_free(program);
    return error;
}

static void what_is_no_file(void)
{
    char *empty = own_path("empty.jaxexport");
    char *fifo = own_path("fifo.jaxexport");
    char *circle = own_path("circle.jaxexport");
    char *nothing = own_path("nothing.jaxexport");

    write_file(empty, "", 0);
    remove_all(fifo);
    remove_all(circle);
    CHECK_INT(mkfifo(fifo, 0600), 0);
    CHECK_INT(symlink(strrchr(circle, '/') + 1, circle), 0);
    CHECK_FAILS(from_file(empty), CYXLA_CODE_INVALID_ARGUMENT, "empty", empty);
    CHECK_FAILS(from_file(fifo), CYXLA_CODE_INVALID_ARGUMENT, "regular", fifo);
    CHECK_FAILS(from_file(circle), CYXLA_CODE_FAILED_PRECONDITION, circle);
    CHECK_FAILS(from_file(nothing), CYXLA_CODE_NOT_FOUND, nothing);
    remove_all(empty);
    remove_all(fifo);
    remove_all(circle);
    free(empty);
    free(fifo);
    free(circle);
    free(nothing);
}

/* Somebody else cuts a file off and writes it again, all the time. */
struct writer {
    const char *path;
    const char *data;
    size_t size;
    int done;
};

static void *write_and_cut(void *argument)
{
    struct writer *writer = argument;
    FILE *file = fopen(writer->path, "r+b");

    for (unsigned i = 1; file && !__atomic_load_n(&writer->done, __ATOMIC_SEQ_CST); i++) {
        if (ftruncate(fileno(file), (off_t)(writer->size * (i % 4) / 4)) != 0)
            break;
        rewind(file);
        if (fwrite(writer->data, 1, writer->size, file) != writer->size || fflush(file) != 0)
            break;
    }
    if (file)
        fclose(file);
    return NULL;
}

static void a_file_that_shrinks_while_it_is_read(void)
{
    char *path = own_path("shrinks.jaxexport");
    pthread_t thread;
    struct writer writer = {path, NULL, 0, 0};
    char *data = corpus_file("0.10.2", "many_inputs", &writer.size);
    int read = 0;
    int refused = 0;

    writer.data = data;
    write_file(path, data, writer.size);
    if (CHECK_INT(pthread_create(&thread, NULL, write_and_cut, &writer), 0)) {
        for (int i = 0; i < 300; i++) {
            cyxla_error *error = from_file(path);
            CHECK(error == NULL || cyxla_error_code(error) == CYXLA_CODE_INVALID_ARGUMENT);
            *(error ? &refused : &read) += 1;
            cyxla_error_free(error);
        }
        __atomic_store_n(&writer.done, 1, __ATOMIC_SEQ_CST);
        pthread_join(thread, NULL);
    }
    printf("%d times read, %d times refused\n", read, refused);
    CHECK_OK(from_file(path));
    remove_all(path);
    free(path);
    free(data);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(cut_at_every_length);
    RUN(large_ones_cut);
    RUN(each_byte_changed);
    RUN(offsets_and_counts_that_lie);
    RUN(many_bytes_changed);
    RUN(other_flatbuffers);
    RUN(what_is_no_file);
    RUN(a_file_that_shrinks_while_it_is_read);
    return test_end();
}
