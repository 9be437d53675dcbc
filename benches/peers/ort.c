#define _POSIX_C_SOURCE 200809L

#include "ort.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library's objects, of which nothing more is known. */
struct status;
struct env;
struct options;
struct session;
struct value;
struct memory;
struct allocator;
struct binding;

typedef void (*unused)(void);

enum { INVALID_ARGUMENT = 2, LOG_ERRORS = 3, ALL_OPTIMIZATIONS = 99, DEVICE_ALLOCATOR = 0, DEFAULT_MEMORY = 0, F32 = 1 };

/* The part of the table of functions that is used here. A function's place never
 * changes; versions of the table only grow at its end. */
struct api {
    struct status *(*create_status)(int code, const char *message);
    int (*status_code)(const struct status *);
    const char *(*status_message)(const struct status *);
    struct status *(*create_env)(int log_level, const char *name, struct env **out);
    unused gap_4[3];
    struct status *(*create_session)(const struct env *, const char *path, const struct options *,
                                     struct session **out);
    unused gap_8[2];
    struct status *(*create_options)(struct options **out);
    unused gap_11[12];
    struct status *(*set_optimization_level)(struct options *, int level);
    struct status *(*set_intra_op_threads)(struct options *, int count);
    struct status *(*set_inter_op_threads)(struct options *, int count);
    unused gap_26[4];
    struct status *(*input_count)(const struct session *, size_t *out);
    struct status *(*output_count)(const struct session *, size_t *out);
    unused gap_32[4];
    struct status *(*input_name)(const struct session *, size_t index, struct allocator *, char **out);
    struct status *(*output_name)(const struct session *, size_t index, struct allocator *, char **out);
    unused gap_38[11];
    struct status *(*create_tensor)(const struct memory *, void *data, size_t size, const int64_t *dims, size_t rank,
                                    int type, struct value **out);
    unused gap_50;
    struct status *(*tensor_data)(struct value *, void **out);
    unused gap_52[17];
    struct status *(*create_cpu_memory)(int allocator_type, int memory_type, struct memory **out);
    unused gap_70[8];
    struct status *(*default_allocator)(struct allocator **out);
    unused gap_79[14];
    void (*release_status)(struct status *);
    unused gap_94[39];
    struct status *(*run_with_binding)(struct session *, const void *run_options, const struct binding *);
    struct status *(*create_binding)(struct session *, struct binding **out);
    unused gap_135;
    struct status *(*bind_input)(struct binding *, const char *name, const struct value *);
    struct status *(*bind_output)(struct binding *, const char *name, const struct value *);
};

struct api_base {
    const struct api *(*api)(uint32_t version);
    const char *(*version)(void);
};

/* The first version of the table that has all of it. */
enum { API_VERSION = 5 };

struct ort_session {
    struct session *session;
    struct binding *binding;
};

static const struct api *api;
static const char *version;
static struct env *environment;

__attribute__((noreturn)) static void fail(const char *what, const char *message)
{
    fprintf(stderr, "ONNX Runtime: %s: %s\n", what, message);
    exit(1);
}

static void check(struct status *status, const char *what)
{
    if (status)
        fail(what, api->status_message(status));
}

/* A status made of a code and a text gives both back, if the functions are in place. */
static void check_places(void)
{
    struct status *made = api->create_status(INVALID_ARGUMENT, "as expected");

    if (api->status_code(made) != INVALID_ARGUMENT || strcmp(api->status_message(made), "as expected") != 0)
        fail(version, "its functions are not where they are expected");
    api->release_status(made);
}

void ort_open(const char *library_path)
{
    void *library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail("dlopen", dlerror());
    union {
        void *address;
        const struct api_base *(*function)(void);
    } entry = {dlsym(library, "OrtGetApiBase")};
    if (!entry.address)
        fail(library_path, "it has no OrtGetApiBase");
    version = entry.function()->version();
    api = entry.function()->api(API_VERSION);
    if (!api)
        fail(version, "it does not offer version 5 of its API");
    check_places();
    check(api->create_env(LOG_ERRORS, "bench", &environment), "CreateEnv");
}

const char *ort_version(void)
{
    return version;
}

static struct session *load(const char *model_path)
{
    struct options *options = NULL;
    struct session *session = NULL;

    check(api->create_options(&options), "CreateSessionOptions");
    check(api->set_intra_op_threads(options, 1), "SetIntraOpNumThreads");
    check(api->set_inter_op_threads(options, 1), "SetInterOpNumThreads");
    check(api->set_optimization_level(options, ALL_OPTIMIZATIONS), "SetSessionGraphOptimizationLevel");
    check(api->create_session(environment, model_path, options, &session), model_path);
    return session;
}

static struct value *tensor(const struct memory *memory, const struct array *array)
{
    struct value *value = NULL;
    void *data = NULL;

    check(api->create_tensor(memory, array->data, array->size, array->dims, array->rank, F32, &value),
          "CreateTensorWithDataAsOrtValue");
    check(api->tensor_data(value, &data), "GetTensorMutableData");
    if (data != array->data)
        fail("GetTensorMutableData", "a tensor is not in the memory that it was given");
    return value;
}

struct ort_session *ort_load(const char *model_path, const struct array *inputs, size_t input_count,
                             const struct array *outputs, size_t output_count)
{
    struct ort_session *made = calloc(1, sizeof *made);
    struct memory *memory = NULL;
    struct allocator *allocator = NULL;
    size_t inputs_there = 0;
    size_t outputs_there = 0;
    char *name = NULL; /* the allocator's; they are few and stay */

    if (!made)
        fail(model_path, "out of memory");
    made->session = load(model_path);
    check(api->input_count(made->session, &inputs_there), "SessionGetInputCount");
    check(api->output_count(made->session, &outputs_there), "SessionGetOutputCount");
    if (inputs_there != input_count || outputs_there != output_count)
        fail(model_path, "it has another number of inputs or outputs");
    check(api->create_cpu_memory(DEVICE_ALLOCATOR, DEFAULT_MEMORY, &memory), "CreateCpuMemoryInfo");
    check(api->default_allocator(&allocator), "GetAllocatorWithDefaultOptions");
    check(api->create_binding(made->session, &made->binding), "CreateIoBinding");
    for (size_t i = 0; i < input_count; i++) {
        check(api->input_name(made->session, i, allocator, &name), "SessionGetInputName");
        check(api->bind_input(made->binding, name, tensor(memory, &inputs[i])), "BindInput");
    }
    for (size_t i = 0; i < output_count; i++) {
        check(api->output_name(made->session, i, allocator, &name), "SessionGetOutputName");
        check(api->bind_output(made->binding, name, tensor(memory, &outputs[i])), "BindOutput");
    }
    return made;
}

void ort_run(struct ort_session *session)
{
    check(api->run_with_binding(session->session, NULL, session->binding), "RunWithBinding");
}
