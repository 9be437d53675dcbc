#define _POSIX_C_SOURCE 200809L

#include "raw_pjrt.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pjrt_c_api.h>

#define MOST 16

static const PJRT_Api *api;
static PJRT_Client *client;
static PJRT_Device *device;

struct raw_program {
    const struct array *inputs;
    const struct array *outputs;
    size_t input_count;
    size_t output_count;
    PJRT_Client_BufferFromHostBuffer_Args from_host[MOST];
    PJRT_LoadedExecutable_Execute_Args execute;
    PJRT_ExecuteOptions options;
    PJRT_Buffer *arguments[MOST];
    PJRT_Buffer *results[MOST];
    bool is_bound; /* arguments and results are kept */
    bool is_fed;   /* a result becomes an argument */
    size_t fed_output;
    size_t fed_input;
    PJRT_Buffer *const *argument_lists[1];
    PJRT_Buffer **output_lists[1];
};

/* Ends the process if `error` is one. */
static void check(PJRT_Error *error, const char *what)
{
    if (!error)
        return;
    PJRT_Error_Message_Args message = {.struct_size = sizeof message, .error = error};
    api->PJRT_Error_Message(&message);
    fprintf(stderr, "%s: %.*s\n", what, (int)message.message_size, message.message);
    exit(1);
}

static void set_option(PJRT_NamedValue *option, const char *name, PJRT_NamedValue_Type type)
{
    memset(option, 0, sizeof *option);
    option->struct_size = sizeof *option;
    option->name = name;
    option->name_size = strlen(name);
    option->type = type;
    option->value_size = 1;
}

void raw_open(const char *plugin_path)
{
    void *library = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    union {
        void *address;
        const PJRT_Api *(*function)(void);
    } entry = {dlsym(library, "GetPjrtApi")};
    if (!entry.address) {
        fprintf(stderr, "%s is no PJRT plugin\n", plugin_path);
        exit(1);
    }
    api = entry.function();

    PJRT_Plugin_Initialize_Args initialize = {.struct_size = sizeof initialize};
    check(api->PJRT_Plugin_Initialize(&initialize), "PJRT_Plugin_Initialize");
    raw_new_client();
}

void raw_new_client(void)
{
    PJRT_NamedValue options[2];
    set_option(&options[0], "cpu_device_count", PJRT_NamedValue_kInt64);
    options[0].int64_value = 1;
    set_option(&options[1], "asynchronous", PJRT_NamedValue_kBool);
    options[1].bool_value = false;
    PJRT_Client_Create_Args create = {
        .struct_size = sizeof create, .create_options = options, .num_options = 2};
    check(api->PJRT_Client_Create(&create), "PJRT_Client_Create");
    client = create.client;
    PJRT_Client_AddressableDevices_Args devices = {.struct_size = sizeof devices, .client = client};
    check(api->PJRT_Client_AddressableDevices(&devices), "PJRT_Client_AddressableDevices");
    device = devices.addressable_devices[0];
}

static PJRT_LoadedExecutable *compile(const void *code, size_t size)
{
    /* CompileOptionsProto: executable_build_options {num_replicas: 1 num_partitions: 1}. */
    static const char options[] = {0x1a, 0x04, 0x20, 0x01, 0x28, 0x01};
    static const char format[] = "mlir";
    char *copy = calloc(1, size + 1); /* PJRT's field is not const, and a zero byte must follow */
    if (!copy)
        abort();
    memcpy(copy, code, size);
    PJRT_Program program = {.struct_size = sizeof program,
                            .code = copy,
                            .code_size = size,
                            .format = format,
                            .format_size = strlen(format)};
    PJRT_Client_Compile_Args args = {.struct_size = sizeof args,
                                     .client = client,
                                     .program = &program,
                                     .compile_options = options,
                                     .compile_options_size = sizeof options};
    check(api->PJRT_Client_Compile(&args), "PJRT_Client_Compile");
    free(copy);
    return args.executable;
}

static struct raw_program *prepare(PJRT_LoadedExecutable *executable, const struct array *inputs, size_t input_count,
                                   const struct array *outputs, size_t output_count)
{
    struct raw_program *program = calloc(1, sizeof *program);
    if (!program || input_count > MOST || output_count > MOST) {
        fprintf(stderr, "out of memory, or too many arrays\n");
        exit(1);
    }
    program->inputs = inputs;
    program->input_count = input_count;
    program->outputs = outputs;
    program->output_count = output_count;
    for (size_t i = 0; i < input_count; i++) {
        PJRT_Client_BufferFromHostBuffer_Args *args = &program->from_host[i];
        args->struct_size = sizeof *args;
        args->client = client;
        args->data = inputs[i].data;
        args->type = PJRT_Buffer_Type_F32;
        args->dims = inputs[i].dims;
        args->num_dims = inputs[i].rank;
        args->host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableZeroCopy;
        args->device = device;
    }
    program->options.struct_size = sizeof program->options;
    program->argument_lists[0] = program->arguments;
    program->output_lists[0] = program->results;
    program->execute.struct_size = sizeof program->execute;
    program->execute.executable = executable;
    program->execute.options = &program->options;
    program->execute.argument_lists = program->argument_lists;
    program->execute.num_devices = 1;
    program->execute.num_args = input_count;
    program->execute.output_lists = program->output_lists;
    return program;
}

struct raw_program *raw_compile(const void *code, size_t size, const struct array *inputs, size_t input_count,
                                const struct array *outputs, size_t output_count)
{
    return prepare(compile(code, size), inputs, input_count, outputs, output_count);
}

__attribute__((noreturn)) static void fail(const char *path)
{
    perror(path);
    exit(1);
}

void raw_save(const struct raw_program *program, const char *path)
{
    PJRT_LoadedExecutable_GetExecutable_Args get = {.struct_size = sizeof get,
                                                    .loaded_executable = program->execute.executable};
    check(api->PJRT_LoadedExecutable_GetExecutable(&get), "PJRT_LoadedExecutable_GetExecutable");
    PJRT_Executable_Serialize_Args args = {.struct_size = sizeof args, .executable = get.executable};
    check(api->PJRT_Executable_Serialize(&args), "PJRT_Executable_Serialize");
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(args.serialized_bytes, 1, args.serialized_bytes_size, file) != args.serialized_bytes_size ||
        fclose(file) != 0)
        fail(path);
    args.serialized_executable_deleter(args.serialized_executable);
}

char *raw_read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail(path);
    long end = ftell(file);
    rewind(file);
    char *content = end < 0 ? NULL : calloc(1, (size_t)end + 1);
    if (!content || fread(content, 1, (size_t)end, file) != (size_t)end)
        fail(path);
    fclose(file);
    *size = (size_t)end;
    return content;
}

struct raw_program *raw_load(const char *path, const struct array *inputs, size_t input_count,
                             const struct array *outputs, size_t output_count)
{
    size_t size = 0;
    char *content = raw_read_file(path, &size);
    PJRT_Executable_DeserializeAndLoad_Args args = {.struct_size = sizeof args,
                                                    .client = client,
                                                    .serialized_executable = content,
                                                    .serialized_executable_size = size};
    check(api->PJRT_Executable_DeserializeAndLoad(&args), "PJRT_Executable_DeserializeAndLoad");
    free(content);
    return prepare(args.loaded_executable, inputs, input_count, outputs, output_count);
}

static void destroy(PJRT_Buffer *buffer)
{
    PJRT_Buffer_Destroy_Args args = {.struct_size = sizeof args, .buffer = buffer};
    check(api->PJRT_Buffer_Destroy(&args), "PJRT_Buffer_Destroy");
}

static void make_arguments(struct raw_program *program)
{
    for (size_t i = 0; i < program->input_count; i++) {
        PJRT_Client_BufferFromHostBuffer_Args *args = &program->from_host[i];
        check(api->PJRT_Client_BufferFromHostBuffer(args), "PJRT_Client_BufferFromHostBuffer");
        program->arguments[i] = args->buffer;
        PJRT_Event_Destroy_Args event = {.struct_size = sizeof event, .event = args->done_with_host_buffer};
        check(api->PJRT_Event_Destroy(&event), "PJRT_Event_Destroy");
    }
}

/* The client is synchronous: the results are there. */
static const void *result(struct raw_program *program, size_t index)
{
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args args = {.struct_size = sizeof args,
                                                           .buffer = program->results[index]};
    check(api->PJRT_Buffer_OpaqueDeviceMemoryDataPointer(&args), "PJRT_Buffer_OpaqueDeviceMemoryDataPointer");
    return args.device_memory_ptr;
}

void raw_run(struct raw_program *program)
{
    make_arguments(program);
    check(api->PJRT_LoadedExecutable_Execute(&program->execute), "PJRT_LoadedExecutable_Execute");
    for (size_t i = 0; i < program->output_count; i++) {
        memcpy(program->outputs[i].data, result(program, i), program->outputs[i].size);
        destroy(program->results[i]);
    }
    for (size_t i = 0; i < program->input_count; i++)
        destroy(program->arguments[i]);
}

void raw_feed(struct raw_program *program, size_t output, size_t input)
{
    program->is_fed = true;
    program->fed_output = output;
    program->fed_input = input;
}

void raw_run_bound(struct raw_program *program, const float **outputs)
{
    if (program->is_bound) {
        if (program->is_fed) {
            PJRT_Buffer *taken = program->arguments[program->fed_input];
            program->arguments[program->fed_input] = program->results[program->fed_output];
            program->results[program->fed_output] = taken;
        }
        for (size_t i = 0; i < program->output_count; i++)
            destroy(program->results[i]);
    } else {
        make_arguments(program);
        program->is_bound = true;
    }
    check(api->PJRT_LoadedExecutable_Execute(&program->execute), "PJRT_LoadedExecutable_Execute");
    for (size_t i = 0; i < program->output_count; i++)
        outputs[i] = result(program, i);
}
