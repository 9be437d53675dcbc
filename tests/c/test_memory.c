#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "support.h"
#include "test.h"

static const float FOUR[] = {1, 2, 3, 4};
static const float TWICE[] = {2, 4, 6, 8};
static const int64_t DIMS_4[] = {4};
static const char *const KINDS[] = {"device", "pinned_host", "unpinned_host"};

/* Makes the runtime, with two devices. */
static const cyxla_runtime_info *two_devices(void)
{
    const cyxla_runtime_info *info = NULL;
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_set_int(options, "cpu_device_count", 2));
    CHECK_OK(cyxla_initialize(NULL, NULL, options, &info));
    cyxla_options_free(options);
    return info;
}

static cyxla_buffer *four(void)
{
    cyxla_buffer *buffer = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, FOUR, &buffer));
    return buffer;
}

static cyxla_buffer *copy_of(const cyxla_buffer *buffer, size_t device, const char *kind)
{
    cyxla_buffer *copy = NULL;

    CHECK_OK(cyxla_buffer_copy_to(buffer, device, kind, &copy));
    return copy;
}

/* Reads a buffer of f32[4] and compares. */
static bool holds(const cyxla_buffer *buffer, const float *want)
{
    float back[4] = {0};

    return buffer && CHECK_OK(cyxla_buffer_to_host(buffer, back, sizeof back)) && CHECK_FLOATS(back, want, 4);
}

static void devices_tell_of_their_memories(void)
{
    const cyxla_runtime_info *info = two_devices();

    CHECK_INT(cyxla_runtime_info_device_count(info), 2);
    for (size_t device = 0; device < 2; device++) {
        CHECK_INT(cyxla_runtime_info_memory_count(info, device), 3);
        for (size_t i = 0; i < 3; i++)
            CHECK_STR(cyxla_runtime_info_memory_kind(info, device, i), KINDS[i]);
        CHECK(cyxla_runtime_info_memory_kind(info, device, 3) == NULL);
        CHECK(cyxla_runtime_info_memory_kind(info, device, SIZE_MAX) == NULL);
        CHECK_HAS(cyxla_runtime_info_device_json(info, device),
                  "\"memory_kinds\":[\"device\",\"pinned_host\",\"unpinned_host\"]");
    }
    CHECK_HAS(cyxla_runtime_info_json(info), "\"memory_kinds\"");
    CHECK_INT(cyxla_runtime_info_memory_count(info, 2), 0);
    CHECK_INT(cyxla_runtime_info_memory_count(NULL, 0), 0);
    CHECK(cyxla_runtime_info_memory_kind(info, 2, 0) == NULL);
    CHECK(cyxla_runtime_info_memory_kind(NULL, 0, 0) == NULL);
    CHECK(cyxla_buffer_memory_kind(NULL) == NULL);
}

static void copies_go_everywhere(void)
{
    for (size_t device = 0; device < 2; device++) {
        for (size_t i = 0; i < 4; i++) {
            cyxla_buffer *original = four();
            const char *kind = i < 3 ? KINDS[i] : NULL;
            cyxla_buffer *copy = copy_of(original, device, kind);
            cyxla_buffer *back = NULL;
            size_t rank = 0;
            if (!copy)
                return;
            CHECK_STR(cyxla_buffer_memory_kind(original), "device");
            CHECK_STR(cyxla_buffer_memory_kind(copy), kind ? kind : "device");
            CHECK_INT(cyxla_buffer_device(copy), device);
            CHECK_INT(cyxla_buffer_dtype(copy), CYXLA_DTYPE_F32);
            CHECK_INT(cyxla_buffer_size(copy), 16);
            CHECK(cyxla_buffer_dims(copy, &rank)[0] == 4 && rank == 1);
            CHECK(!cyxla_buffer_is_view(copy) && !cyxla_buffer_is_donated(copy));
            CHECK_OK(cyxla_buffer_wait(copy));
            CHECK(cyxla_buffer_data(copy) != NULL && cyxla_buffer_data(copy) != cyxla_buffer_data(original));
            holds(original, FOUR);
            cyxla_buffer_free(original);
            holds(copy, FOUR);
            back = copy_of(copy, 0, NULL);
            cyxla_buffer_free(copy);
            holds(back, FOUR);
            cyxla_buffer_free(back);
        }
    }
}

/* Each type that a plugin of any age takes, one byte an element in host memory or more. */
static void every_type_is_copied(void)
{
    /* The fake plugin has the first four. */
    static const cyxla_dtype types[] = {CYXLA_DTYPE_PRED, CYXLA_DTYPE_S8, CYXLA_DTYPE_S32, CYXLA_DTYPE_F64,
                                        CYXLA_DTYPE_BF16, CYXLA_DTYPE_S4, CYXLA_DTYPE_U4,  CYXLA_DTYPE_C128};
    static const int64_t dims[][2] = {{1, 1}, {3, 5}, {0, 7}};

    for (size_t t = 0; t < (on_fake_plugin() ? 4 : 8); t++) {
        for (size_t d = 0; d < 3; d++) {
            unsigned char data[16 * 15];
            unsigned char want[sizeof data] = {0};
            unsigned char got[sizeof data] = {0};
            cyxla_buffer *original = NULL;
            for (size_t i = 0; i < sizeof data; i++)
                data[i] = i % 3 == 0;
            CHECK_OK(cyxla_buffer_from_host(0, types[t], dims[d], 2, NULL, data, &original));
            size_t size = cyxla_buffer_size(original);
            cyxla_buffer *copy = copy_of(original, 1, KINDS[t % 3]);
            CHECK_OK(cyxla_buffer_to_host(original, want, size));
            cyxla_buffer_free(original);
            CHECK_OK(cyxla_buffer_to_host(copy, got, size));
            CHECK_BYTES(got, want, size);
            CHECK_STR(cyxla_buffer_memory_kind(copy), KINDS[t % 3]);
            cyxla_buffer_free(copy);
        }
    }
    CHECK(alive());
}

static const char COLUMN_MAJOR_RESULT[] =
    "module @result { func.func public @main(%a: tensor<2x3xf32>)\n"
    "    -> (tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}) {\n"
    "  %0 = stablehlo.add %a, %a : tensor<2x3xf32>\n"
    "  return %0 : tensor<2x3xf32> } }\n";

/* Plugins of PJRT 0.81 copy such a buffer as it is and call it row-major. */
static void another_order_is_copied_right(void)
{
    static const int64_t dims[] = {2, 3};
    static const float in[] = {0, 1, 2, 3, 4, 5};
    static const float want[] = {0, 2, 4, 6, 8, 10};
    cyxla_buffer *a = NULL;
    cyxla_buffer *result = NULL;
    cyxla_executable *e = compiled(COLUMN_MAJOR_RESULT);

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 2, NULL, in, &a));
    const cyxla_buffer *inputs[] = {a};
    if (e && CHECK_OK(cyxla_execute(e, inputs, 1, &result, 1))) {
        CHECK(cyxla_buffer_data(result) == NULL); /* it is in another order */
        for (size_t i = 0; i < 6; i++) {
            float back[6] = {0};
            cyxla_buffer *copy = copy_of(result, i / 3, KINDS[i % 3]);
            cyxla_buffer *again = copy_of(copy, 0, NULL);
            CHECK_OK(cyxla_buffer_to_host(copy, back, sizeof back));
            CHECK_FLOATS(back, want, 6);
            CHECK_OK(cyxla_buffer_to_host(again, back, sizeof back));
            CHECK_FLOATS(back, want, 6);
            cyxla_buffer_free(copy);
            cyxla_buffer_free(again);
        }
    }
    cyxla_buffer_free(a);
    cyxla_buffer_free(result);
    cyxla_executable_free(e);
}

/* --- a copy lives apart from its original --- */

#define MANY (1 << 20)

static const int64_t DIMS_MANY[] = {MANY};

static const char DONATED_ADD_MANY[] =
    "module @donated_add { func.func public @main(%a: tensor<1048576xf32> {tf.aliasing_output = 0 : i32},\n"
    "    %b: tensor<1048576xf32>) -> tensor<1048576xf32> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<1048576xf32>\n"
    "  return %0 : tensor<1048576xf32> } }\n";

static bool all_are(const cyxla_buffer *buffer, float want)
{
    size_t wrong = 0;
    float *back = malloc(MANY * sizeof *back);

    CHECK_OK(cyxla_buffer_to_host(buffer, back, MANY * sizeof *back));
    for (size_t i = 0; i < MANY; i++)
        wrong += back[i] < want || back[i] > want;
    free(back);
    return CHECK_INT(wrong, 0);
}

static void fill(float *memory, float value)
{
    for (size_t i = 0; i < MANY; i++)
        memory[i] = value;
}

/* A program overwrites the original at once, while the copy may be under way. */
static void a_copy_is_not_changed_by_donating_the_original(void)
{
    float *memory = aligned_bytes(MANY * sizeof *memory, 0);
    cyxla_executable *e = compiled(DONATED_ADD_MANY);

    for (size_t i = 0; e && i < (on_fake_plugin() ? 1 : 20); i++) {
        int released = 0;
        cyxla_buffer *a = NULL;
        cyxla_buffer *out = NULL;
        fill(memory, 1);
        if (i % 2)
            CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_MANY, 1, NULL, memory, &a));
        else
            CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_MANY, 1, memory, true, count_release, &released,
                                            &a));
        cyxla_buffer *other = copy_of(a, 0, NULL);
        cyxla_buffer *copy = copy_of(a, i / 2 % 2, KINDS[i % 3]);
        const cyxla_buffer *inputs[] = {a, other};
        CHECK_OK(cyxla_execute(e, inputs, 2, &out, 1));
        CHECK(cyxla_buffer_is_donated(a));
        CHECK(cyxla_buffer_memory_kind(a) == NULL);
        cyxla_buffer_free(a);
        bool right = all_are(copy, 1) && all_are(out, 2);
        cyxla_buffer_free(other);
        cyxla_buffer_free(copy);
        cyxla_buffer_free(out);
        if (i % 2 == 0)
            CHECK(released_once(&released));
        if (!right)
            break;
    }
    cyxla_executable_free(e);
    free_aligned(memory, 0);
}

struct lent {
    float *memory;
    int released;
};

/* What the host does with its memory once it has it back. */
static void overwrite(void *user_data)
{
    struct lent *lent = user_data;

    fill(lent->memory, 9);
    count_release(&lent->released);
}

static void a_copy_keeps_lent_memory_until_it_is_made(void)
{
    struct lent lent = {aligned_bytes(MANY * sizeof(float), 0), 0};

    for (size_t i = 0; i < (on_fake_plugin() ? 1 : 20); i++) {
        cyxla_buffer *view = NULL;
        fill(lent.memory, 1);
        lent.released = 0;
        CHECK_OK(cyxla_buffer_view_host(0, CYXLA_DTYPE_F32, DIMS_MANY, 1, lent.memory, false, overwrite, &lent, &view));
        CHECK(cyxla_buffer_is_view(view));
        cyxla_buffer *copy = copy_of(view, i % 2, KINDS[i % 3]);
        CHECK(!cyxla_buffer_is_view(copy));
        cyxla_buffer_free(view);
        CHECK(cyxla_buffer_data(copy) != lent.memory);
        all_are(copy, 1);
        CHECK(released_once(&lent.released)); /* the copy does not hold it */
        all_are(copy, 1);
        cyxla_buffer_free(copy);
    }
    free_aligned(lent.memory, 0);
}

static void what_cannot_be_copied_is_refused(void)
{
    cyxla_buffer *out = NULL;
    cyxla_buffer *original = four();
    cyxla_buffer *other = four();
    const cyxla_buffer *inputs[] = {original, other};
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);

    CHECK_BLAMES(cyxla_buffer_copy_to(NULL, 0, NULL, &out), "buffer");
    CHECK_BLAMES(cyxla_buffer_copy_to(original, 0, NULL, NULL), "out");
    CHECK_BLAMES(cyxla_buffer_copy_to(original, 2, NULL, &out), "device");
    CHECK_BLAMES(cyxla_buffer_copy_to(original, SIZE_MAX, NULL, &out), "device");
    CHECK_BLAMES(cyxla_buffer_copy_to(original, 0, "\xff", &out), "memory_kind");
    CHECK_BLAMES(cyxla_buffer_copy_to(original, 0, "", &out), "memory_kind");
    CHECK_FAILS(cyxla_buffer_copy_to(original, 1, "hbm", &out), CYXLA_CODE_INVALID_ARGUMENT, "device 1", "'hbm'",
                "device, pinned_host, unpinned_host");
    CHECK_FAILS(cyxla_buffer_copy_to(original, 2, "hbm", &out), CYXLA_CODE_INVALID_ARGUMENT, "device 2");
    CHECK(out == NULL);
    if (e && CHECK_OK(cyxla_execute(e, inputs, 2, &out, 1))) {
        cyxla_buffer *none = NULL;
        CHECK_FAILS(cyxla_buffer_copy_to(original, 1, NULL, &none), CYXLA_CODE_FAILED_PRECONDITION, "donated");
        CHECK_FAILS(cyxla_buffer_copy_to(original, 0, "device", &none), CYXLA_CODE_FAILED_PRECONDITION, "donated");
        CHECK(none == NULL);
        CHECK(cyxla_buffer_memory_kind(original) == NULL);
    }
    cyxla_buffer_free(original);
    cyxla_buffer_free(other);
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
    CHECK(alive());
}

/* --- programs on copies --- */

static cyxla_error *execute_on(const cyxla_executable *e, const cyxla_buffer *a, cyxla_buffer **out)
{
    const cyxla_buffer *inputs[] = {a};

    return cyxla_execute(e, inputs, 1, out, 1);
}

static cyxla_executable *compiled_for(size_t device)
{
    char option[32];
    cyxla_program *program = NULL;
    cyxla_executable *e = NULL;

    snprintf(option, sizeof option, "device=%zu", device);
    CHECK_OK(cyxla_program_from_bytes(DOUBLE_F32_4, strlen(DOUBLE_F32_4), CYXLA_FORMAT_DETECT, NULL, &program));
    CHECK_OK(compile_with(program, option, &e));
    cyxla_program_free(program);
    return e;
}

/* Measured on all CPU plugins: they compute right on buffers of every kind. */
static void programs_take_every_memory_of_a_cpu(void)
{
    for (size_t i = 0; i < 6; i++) {
        cyxla_executable *e = compiled_for(i / 3);
        cyxla_buffer *original = four();
        cyxla_buffer *copy = copy_of(original, i / 3, KINDS[i % 3]);
        cyxla_buffer *out = NULL;
        cyxla_call *call = NULL;
        CHECK_OK(execute_on(e, copy, &out));
        CHECK_STR(cyxla_buffer_memory_kind(out), "device");
        CHECK_INT(cyxla_buffer_device(out), i / 3);
        holds(out, TWICE);
        if (CHECK_OK(cyxla_call_new(e, NULL, &call)) && CHECK_OK(cyxla_call_bind(call, 0, 0, copy)) &&
            CHECK_OK(cyxla_call_run(call))) {
            size_t size = 0;
            const float *result = cyxla_call_output(call, 0, 0, &size);
            CHECK_INT(size, sizeof TWICE);
            CHECK_FLOATS(result, TWICE, 4);
        }
        cyxla_call_free(call);
        cyxla_buffer_free(original);
        cyxla_buffer_free(copy);
        cyxla_buffer_free(out);
        cyxla_executable_free(e);
    }
}

static const char PINNED[] =
    "module @pinned { func.func public @main(%a: tensor<4xf32> {mhlo.memory_kind = \"pinned_host\"})\n"
    "    -> (tensor<4xf32> {mhlo.memory_kind = \"pinned_host\"}) {\n"
    "  %0 = stablehlo.add %a, %a : tensor<4xf32>\n"
    "  return %0 : tensor<4xf32> } }\n";

/* A program may ask for a memory by name; plugins before PJRT 0.115 do not heed it. */
static void a_program_may_name_a_memory(void)
{
    cyxla_executable *e = compiled(PINNED);

    for (size_t i = 0; e && i < 3; i++) {
        cyxla_buffer *original = four();
        cyxla_buffer *copy = copy_of(original, 0, KINDS[i]);
        cyxla_buffer *out = NULL;
        CHECK_OK(execute_on(e, copy, &out));
        CHECK_STR(cyxla_buffer_memory_kind(out), plugin_minor() < 115 ? "device" : "pinned_host");
        holds(out, TWICE);
        cyxla_buffer_free(original);
        cyxla_buffer_free(copy);
        cyxla_buffer_free(out);
    }
    cyxla_executable_free(e);
}

static void a_buffer_of_another_device_needs_a_copy(void)
{
    cyxla_executable *e = compiled_for(1);
    cyxla_buffer *original = four();
    cyxla_buffer *copy = copy_of(original, 1, NULL);
    cyxla_buffer *out = NULL;

    CHECK_FAILS(execute_on(e, original, &out), CYXLA_CODE_INVALID_ARGUMENT, "argument 0", "is on device 0", "runs on device 1");
    CHECK(out == NULL);
    CHECK_OK(execute_on(e, copy, &out));
    holds(out, TWICE);
    cyxla_buffer_free(original);
    cyxla_buffer_free(copy);
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
}

/* --- plugins that lack something, and ones that are no CPU --- */

static void copies_are_made(void)
{
    two_devices();
    copies_go_everywhere();
    every_type_is_copied();
    a_copy_keeps_lent_memory_until_it_is_made();
}

static void other_orders_are_copied(void)
{
    two_devices();
    another_order_is_copied_right();
}

/* No memory is known by name then; devices are copied to all the same. */
static void no_memories_are_told(void)
{
    const cyxla_runtime_info *info = two_devices();
    cyxla_buffer *original = four();
    cyxla_buffer *copy = copy_of(original, 1, NULL);
    cyxla_buffer *none = NULL;

    CHECK_INT(cyxla_runtime_info_memory_count(info, 0), 0);
    CHECK_HAS(cyxla_runtime_info_device_json(info, 0), "\"memory_kinds\":[]");
    CHECK(cyxla_buffer_memory_kind(original) == NULL);
    CHECK_FAILS(cyxla_buffer_copy_to(original, 0, "device", &none), CYXLA_CODE_INVALID_ARGUMENT, "'device'",
                "does not tell");
    CHECK(none == NULL);
    CHECK_INT(cyxla_buffer_device(copy), 1);
    cyxla_buffer_free(original);
    holds(copy, FOUR);
    cyxla_buffer_free(copy);
}

static void the_default_memory_is_the_first(void)
{
    const cyxla_runtime_info *info = two_devices();
    cyxla_buffer *b = four();

    CHECK_INT(cyxla_runtime_info_memory_count(info, 1), 3);
    CHECK_STR(cyxla_runtime_info_memory_kind(info, 1, 0), "c");
    CHECK_STR(cyxla_runtime_info_memory_kind(info, 1, 1), "b");
    CHECK_STR(cyxla_runtime_info_memory_kind(info, 1, 2), "a");
    CHECK_STR(cyxla_buffer_memory_kind(b), "c");
    cyxla_buffer_free(b);
}

static void a_failed_copy_is_an_error(void)
{
    two_devices();
    cyxla_buffer *original = four();
    cyxla_buffer *none = NULL;

    CHECK_FAILS(cyxla_buffer_copy_to(original, 1, "pinned_host", &none), CYXLA_CODE_INTERNAL, "synthetic");
    CHECK(none == NULL);
    /* To its own device it can go by way of the host. */
    cyxla_buffer *copy = copy_of(original, 0, "pinned_host");
    CHECK_STR(cyxla_buffer_memory_kind(copy), "pinned_host");
    cyxla_buffer_free(original);
    holds(copy, FOUR);
    cyxla_buffer_free(copy);
}

static void the_error_of_a_program_goes_along(void)
{
    float back[4];
    cyxla_executable *e = compiled(DOUBLE_F32_4);
    cyxla_buffer *original = four();
    cyxla_buffer *result = NULL;
    cyxla_buffer *copy = NULL;

    CHECK_OK(execute_on(e, original, &result));
    cyxla_error *error = cyxla_buffer_copy_to(result, 0, NULL, &copy);
    if (!error)
        error = cyxla_buffer_to_host(copy, back, sizeof back);
    CHECK_FAILS(error, CYXLA_CODE_INTERNAL, "synthetic failure while running");
    cyxla_buffer_free(original);
    cyxla_buffer_free(result);
    cyxla_buffer_free(copy);
    cyxla_executable_free(e);
}

/* What a program would do with memory that it does not expect is the plugin's secret. */
static void elsewhere_programs_take_the_default_memory(void)
{
    cyxla_executable *e = compiled(DOUBLE_F32_4);
    cyxla_buffer *original = four();
    cyxla_buffer *pinned = copy_of(original, 0, "pinned_host");
    cyxla_buffer *back = copy_of(pinned, 0, "device");
    cyxla_buffer *out = NULL;
    cyxla_call *call = NULL;

    CHECK_FAILS(execute_on(e, pinned, &out), CYXLA_CODE_INVALID_ARGUMENT, "argument 0", "pinned_host", "take device",
                "cyxla_buffer_copy_to");
    CHECK(out == NULL);
    if (CHECK_OK(cyxla_call_new(e, NULL, &call))) {
        CHECK_FAILS(cyxla_call_bind(call, 0, 0, pinned), CYXLA_CODE_INVALID_ARGUMENT, "input 0", "pinned_host",
                    "take device");
        CHECK_OK(cyxla_call_bind(call, 0, 0, back));
    }
    CHECK_OK(execute_on(e, back, &out));
    holds(out, TWICE);
    holds(pinned, FOUR);
    cyxla_call_free(call);
    cyxla_buffer_free(original);
    cyxla_buffer_free(pinned);
    cyxla_buffer_free(back);
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
}

static void other_plugins(void)
{
#define FAKE(words) "CYXLA_FAKE_PLUGIN=works," words
    CHECK_CHILD("copies", FAKE("lack=PJRT_Buffer_CopyToMemory"));
    CHECK_CHILD("copies", FAKE("lack=PJRT_Buffer_CopyToMemory,lack=PJRT_Buffer_CopyToDevice"));
    CHECK_CHILD("copies", FAKE("fail=PJRT_Buffer_CopyToMemory,fail=PJRT_Buffer_CopyToDevice,fail_code=12"));
    CHECK_CHILD("copies", FAKE("alias_copies"));
    CHECK_CHILD("column-major", FAKE("column_major"));
    CHECK_CHILD("column-major", FAKE("column_major,alias_copies"));
    CHECK_CHILD("untold", FAKE("lack=PJRT_Device_AddressableMemories"));
    CHECK_CHILD("untold", FAKE("fail=PJRT_Memory_Kind"));
    CHECK_CHILD("untold", FAKE("lack=PJRT_Device_AddressableMemories,lack=PJRT_Buffer_CopyToDevice"));
    CHECK_CHILD("default", FAKE("memory=a,memory=b,memory=c,default_memory=2"));
    CHECK_CHILD("failed", FAKE("fail=PJRT_Buffer_CopyToMemory"));
    CHECK_CHILD("poisoned", FAKE("always_async,await_error,delay_ms=20"));
    CHECK_CHILD("elsewhere", FAKE("platform=cuda,lenient"));
#undef FAKE
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"copies", copies_are_made},
        {"column-major", other_orders_are_copied},
        {"untold", no_memories_are_told},
        {"default", the_default_memory_is_the_first},
        {"failed", a_failed_copy_is_an_error},
        {"poisoned", the_error_of_a_program_goes_along},
        {"elsewhere", elsewhere_programs_take_the_default_memory},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(devices_tell_of_their_memories);
    RUN(copies_go_everywhere);
    RUN(every_type_is_copied);
    RUN(a_copy_is_not_changed_by_donating_the_original);
    RUN(a_copy_keeps_lent_memory_until_it_is_made);
    RUN(what_cannot_be_copied_is_refused);
    RUN(programs_take_every_memory_of_a_cpu);
    RUN(a_buffer_of_another_device_needs_a_copy);
    /* The fake plugin ignores the order that a program asks for, and shows its own. */
    if (on_fake_plugin()) {
        RUN(other_plugins);
    } else {
        RUN(another_order_is_copied_right);
        RUN(a_program_may_name_a_memory);
    }
    return test_end();
}
