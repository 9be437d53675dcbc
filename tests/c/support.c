#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

const char DOUBLE_F32_4[] =
    "module @double_f32 { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %0 = stablehlo.add %a, %a : tensor<4xf32>\n"
    "  return %0 : tensor<4xf32> } }\n";

const char ADD_F32_4[] =
    "module @add_f32 { func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<4xf32>\n"
    "  return %0 : tensor<4xf32> } }\n";

const char DOUBLE_S32_2_3[] =
    "module @double_s32 { func.func public @main(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {\n"
    "  %0 = stablehlo.add %a, %a : tensor<2x3xi32>\n"
    "  return %0 : tensor<2x3xi32> } }\n";

const char DOUBLE_F32[] =
    "module @double_scalar { func.func public @main(%a: tensor<f32>) -> tensor<f32> {\n"
    "  %0 = stablehlo.add %a, %a : tensor<f32>\n"
    "  return %0 : tensor<f32> } }\n";

const char COPY_U8_16[] =
    "module @copy_u8 { func.func public @main(%a: tensor<16xui8>) -> tensor<16xui8> {\n"
    "  return %a : tensor<16xui8> } }\n";

const char DONATED_ADD_F32_4[] =
    "module @donated_add { func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32},\n"
    "    %b: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<4xf32>\n"
    "  return %0 : tensor<4xf32> } }\n";

/* Many small steps, which no plugin divides among the processors of a large machine. No
 * matrix product: those of PJRT 0.81 do not stand signals, with or without the library
 * (docs/errors.md). */
static const char LONG_F32_4096[] =
    "module @long_f32 { func.func public @main(%a: tensor<4096xf32>) -> tensor<4096xf32> {\n"
    "  %begin = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %end = stablehlo.constant dense<120000> : tensor<i32>\n"
    "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "  %0:2 = stablehlo.while(%i = %begin, %x = %a) : tensor<i32>, tensor<4096xf32>\n"
    "  cond {\n"
    "    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %1 : tensor<i1>\n"
    "  } do {\n"
    "    %1 = stablehlo.add %i, %one : tensor<i32>\n"
    "    %2 = stablehlo.tanh %x : tensor<4096xf32>\n"
    "    %3 = stablehlo.add %2, %a : tensor<4096xf32>\n"
    "    stablehlo.return %1, %3 : tensor<i32>, tensor<4096xf32>\n"
    "  }\n"
    "  return %0#1 : tensor<4096xf32> } }\n";

const char *long_program(void)
{
    return on_fake_plugin() ? DOUBLE_F32_4 : LONG_F32_4096;
}

void free_at_the_end(cyxla_executable *executable)
{
    if (plugin_minor() != 106)
        cyxla_executable_free(executable);
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);

    if (!value) {
        fprintf(stderr, "%s is not set; run the tests with `cargo xtask test`\n", name);
        exit(2);
    }
    return value;
}

int plugin_minor(void)
{
    const char *version = environment("CYXLA_TEST_PLUGIN_API");
    int minor = 0;

    if (on_fake_plugin())
        return 115;
    if (sscanf(version, "0.%d", &minor) != 1) {
        fprintf(stderr, "CYXLA_TEST_PLUGIN_API is '%s', expected 0.MINOR or fake\n", version);
        exit(2);
    }
    return minor;
}

bool on_fake_plugin(void)
{
    return strcmp(environment("CYXLA_TEST_PLUGIN_API"), "fake") == 0;
}

cyxla_error *compile_bytes(const void *code, size_t size, cyxla_executable **out)
{
    cyxla_program *program = NULL;
    cyxla_error *error = cyxla_program_from_bytes(code, size, CYXLA_FORMAT_DETECT, NULL, &program);

    if (!error)
        error = cyxla_compile_program(program, NULL, out);
    cyxla_program_free(program);
    return error;
}

cyxla_error *compile_text(const char *text, cyxla_executable **out)
{
    return compile_bytes(text, strlen(text), out);
}

cyxla_error *compile_with(const cyxla_program *program, const char *text, cyxla_executable **out)
{
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_parse(options, text));
    cyxla_error *error = cyxla_compile_program(program, options, out);
    cyxla_options_free(options);
    return error;
}

cyxla_executable *compiled(const char *text)
{
    cyxla_executable *executable = NULL;

    if (!CHECK_OK(compile_text(text, &executable)))
        printf("the program was:\n%.400s\n", text);
    return executable;
}

cyxla_error *run_1_1(const cyxla_executable *executable, const void *input, size_t input_size, void *output,
                     size_t output_size)
{
    return cyxla_run(executable, &input, &input_size, 1, &output, &output_size, 1);
}

static bool doubles(const cyxla_executable *executable)
{
    const float input[4] = {1, 2, 3, -4};
    const float want[4] = {2, 4, 6, -8};
    float output[4] = {0};

    return CHECK_OK(run_1_1(executable, input, sizeof input, output, sizeof output)) && CHECK_FLOATS(output, want, 4);
}

bool alive(void)
{
    static cyxla_executable *once;

    if (!once)
        once = compiled(DOUBLE_F32_4);
    return once && doubles(once);
}

bool alive_and_compiles(void)
{
    cyxla_executable *fresh = compiled(DOUBLE_F32_4);
    bool holds = fresh && doubles(fresh);

    cyxla_executable_free(fresh);
    return holds && alive();
}

void *fixture(const char *name, size_t *size)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", TEST_FIXTURES, name);
    return read_file(path, size);
}

cyxla_program *fixture_program(const char *name)
{
    size_t size = 0;
    cyxla_program *program = NULL;
    void *data = fixture(name, &size);

    if (data && !CHECK_OK(cyxla_program_from_bytes(data, size, CYXLA_FORMAT_DETECT, NULL, &program)))
        printf("that was %s\n", name);
    free(data);
    return program;
}

cyxla_executable *fixture_compiled(const char *name)
{
    cyxla_executable *executable = NULL;
    cyxla_program *program = fixture_program(name);

    if (program && !CHECK_OK(cyxla_compile_program(program, NULL, &executable)))
        printf("that was %s\n", name);
    cyxla_program_free(program);
    return executable;
}

typedef const int64_t *dims_of(const cyxla_executable *executable, size_t index, size_t *rank);

static bool same_dims(dims_of *dims, const cyxla_executable *one, const cyxla_executable *other, size_t index)
{
    size_t rank = 0;
    size_t other_rank = 0;
    const int64_t *mine = dims(one, index, &rank);
    const int64_t *theirs = dims(other, index, &other_rank);

    return CHECK_INT(rank, other_rank) && (rank == 0 || CHECK_BYTES(mine, theirs, rank * sizeof *mine));
}

static bool same_input(const cyxla_executable *one, const cyxla_executable *other, size_t i)
{
    return CHECK_STR(cyxla_executable_input_name(one, i), cyxla_executable_input_name(other, i)) &&
           CHECK_INT(cyxla_executable_input_dtype(one, i), cyxla_executable_input_dtype(other, i)) &&
           CHECK_INT(cyxla_executable_input_size(one, i), cyxla_executable_input_size(other, i)) &&
           CHECK_INT(cyxla_executable_input_is_donated(one, i), cyxla_executable_input_is_donated(other, i)) &&
           same_dims(cyxla_executable_input_dims, one, other, i);
}

static bool same_output(const cyxla_executable *one, const cyxla_executable *other, size_t i)
{
    return CHECK_STR(cyxla_executable_output_name(one, i), cyxla_executable_output_name(other, i)) &&
           CHECK_INT(cyxla_executable_output_dtype(one, i), cyxla_executable_output_dtype(other, i)) &&
           CHECK_INT(cyxla_executable_output_size(one, i), cyxla_executable_output_size(other, i)) &&
           same_dims(cyxla_executable_output_dims, one, other, i);
}

bool same_executables(const cyxla_executable *one, const cyxla_executable *other)
{
    size_t inputs = cyxla_executable_input_count(one);
    size_t outputs = cyxla_executable_output_count(one);
    bool same = CHECK_STR(cyxla_executable_name(one), cyxla_executable_name(other)) &&
                CHECK_STR(cyxla_executable_fingerprint(one), cyxla_executable_fingerprint(other)) &&
                CHECK_STR(cyxla_executable_memory_json(one), cyxla_executable_memory_json(other)) &&
                CHECK_INT(cyxla_executable_device_count(one), cyxla_executable_device_count(other)) &&
                CHECK_INT(cyxla_executable_generated_code_size(one), cyxla_executable_generated_code_size(other)) &&
                CHECK_INT(inputs, cyxla_executable_input_count(other)) &&
                CHECK_INT(outputs, cyxla_executable_output_count(other));

    for (size_t i = 0; same && i < inputs; i++)
        same = same_input(one, other, i);
    for (size_t i = 0; same && i < outputs; i++)
        same = same_output(one, other, i);
    return same;
}

/* Numbers between 0 and 1, where floats are meant, and any for integers. */
static void *made_up(const cyxla_executable *executable, size_t index)
{
    cyxla_dtype dtype = cyxla_executable_input_dtype(executable, index);
    size_t size = cyxla_executable_input_size(executable, index);
    size_t element = cyxla_dtype_size(dtype);
    unsigned char *bytes = malloc(size + 1);

    if (!bytes)
        abort();
    for (size_t i = 0; i < size; i++)
        bytes[i] = dtype == CYXLA_DTYPE_PRED ? i % 2 : i % element == element - 1 ? 0x3f : (unsigned char)(i * 7);
    return bytes;
}

enum { MOST_ARRAYS = 64 };

struct results {
    void *data[MOST_ARRAYS];
    size_t sizes[MOST_ARRAYS];
    size_t count;
};

static bool results_of(const cyxla_executable *executable, struct results *results)
{
    const void *inputs[MOST_ARRAYS] = {NULL};
    void *made[MOST_ARRAYS] = {NULL};
    size_t sizes[MOST_ARRAYS] = {0};
    size_t input_count = cyxla_executable_input_count(executable);

    memset(results, 0, sizeof *results);
    if (!CHECK(input_count <= MOST_ARRAYS && cyxla_executable_output_count(executable) <= MOST_ARRAYS))
        return false;
    results->count = cyxla_executable_output_count(executable);
    for (size_t i = 0; i < input_count; i++) {
        inputs[i] = made[i] = made_up(executable, i);
        sizes[i] = cyxla_executable_input_size(executable, i);
    }
    for (size_t i = 0; i < results->count; i++) {
        results->sizes[i] = cyxla_executable_output_size(executable, i);
        results->data[i] = calloc(1, results->sizes[i] + 1);
    }
    bool ran = CHECK_OK(
        cyxla_run(executable, inputs, sizes, input_count, results->data, results->sizes, results->count));
    for (size_t i = 0; i < input_count; i++)
        free(made[i]);
    return ran;
}

bool same_results(const cyxla_executable *one, const cyxla_executable *other)
{
    struct results mine;
    struct results theirs;
    bool same = results_of(one, &mine);

    same = results_of(other, &theirs) && same && CHECK_INT(mine.count, theirs.count);
    for (size_t i = 0; same && i < mine.count; i++)
        same = CHECK_BYTES(mine.data[i], theirs.data[i], mine.sizes[i]);
    for (size_t i = 0; i < MOST_ARRAYS; i++) {
        free(mine.data[i]);
        free(theirs.data[i]);
    }
    return same;
}

char *temporary(const char *name)
{
    char *path = malloc(4096);

    if (!path)
        abort();
    snprintf(path, 4096, "%s.%s.tmp", test_program(), environment("CYXLA_TEST_PLUGIN_API"));
    mkdir(path, 0777);
    size_t length = strlen(path);
    snprintf(path + length, 4096 - length, "/%s", name);
    return path;
}

char *own_path(const char *name)
{
    char whole[256];

    snprintf(whole, sizeof whole, "%s-%ld", name, (long)getpid());
    return temporary(whole);
}

void write_file(const char *path, const void *data, size_t size)
{
    char folder[4096];

    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(folder, 0777);
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
        exit(2);
    }
}

void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");

    *size = 0;
    if (!CHECK(file != NULL)) {
        printf("cannot read %s: %s\n", path, strerror(errno));
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    void *data = malloc((size_t)length + 1);
    if (!data)
        abort();
    *size = fread(data, 1, (size_t)length, file);
    fclose(file);
    CHECK_INT(*size, length);
    return data;
}

void remove_all(const char *path)
{
    char inner[4096];

    if (remove(path) == 0) /* a link goes alone */
        return;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        remove_all(inner);
    }
    if (folder)
        closedir(folder);
    remove(path);
}

void count_release(void *count)
{
    __atomic_fetch_add((int *)count, 1, __ATOMIC_SEQ_CST);
}

bool released_once(const int *count)
{
    static const struct timespec a_moment = {0, 1000000};

    for (int i = 0; i < 10000 && __atomic_load_n(count, __ATOMIC_SEQ_CST) == 0; i++)
        nanosleep(&a_moment, NULL);
    return __atomic_load_n(count, __ATOMIC_SEQ_CST) == 1;
}

void *aligned_bytes(size_t count, size_t offset)
{
    void *start = NULL;

    if (posix_memalign(&start, 64, count + offset + 64) != 0)
        abort();
    memset(start, 0, count + offset + 64);
    return (char *)start + offset;
}

void free_aligned(void *bytes, size_t offset)
{
    free((char *)bytes - offset);
}
