/* Arrays that other libraries lend, and buffers lent to them. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "lend.h"
#include "support.h"
#include "test.h"

static const float FOUR[] = {1, 2, 3, 4};
static const float TWICE[] = {2, 4, 6, 8};
static const int64_t DIMS_4[] = {4};
static const int64_t DIMS_2_3[] = {2, 3};

/* Reads a buffer of f32 and compares; frees it. */
static void check_and_free(cyxla_buffer *b, const float *want, size_t count)
{
    float back[64] = {0};

    if (b && CHECK_OK(cyxla_buffer_to_host(b, back, count * sizeof *back)))
        CHECK_FLOATS(back, want, count);
    cyxla_buffer_free(b);
}

static cyxla_buffer *made(const float *data)
{
    cyxla_buffer *buffer = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, data, &buffer));
    return buffer;
}

static cyxla_error *add(const cyxla_executable *e, const cyxla_buffer *a, const cyxla_buffer *b, cyxla_buffer **out)
{
    const cyxla_buffer *inputs[] = {a, b};

    return cyxla_execute(e, inputs, 2, out, 1);
}

/* --- in --- */

static void an_aligned_array_is_used_in_place(void)
{
    struct lent lent;
    float *memory = aligned_bytes(sizeof FOUR, 0);
    size_t rank = 0;

    memcpy(memory, FOUR, sizeof FOUR);
    for (int form = 0; form < 4; form++) {
        lend_f32(&lent, DIMS_4, 1, NULL, memory);
        if (form == 1)
            lent.versioned.minor = 99; /* newer in ways that change nothing here */
        if (form == 2)
            lent.versioned.dl_tensor.device_type = CUDA_HOST;
        cyxla_buffer *b = form == 3 ? borrowed_legacy(&lent) : borrowed(&lent);
        if (!b)
            continue;
        CHECK(cyxla_buffer_is_view(b));
        CHECK(cyxla_buffer_data(b) == memory);
        CHECK_INT(cyxla_buffer_dtype(b), CYXLA_DTYPE_F32);
        CHECK(cyxla_buffer_dims(b, &rank)[0] == 4 && rank == 1);
        CHECK_INT(cyxla_buffer_device(b), 0);
        CHECK_INT(lent.ended, 0);
        check_and_free(b, FOUR, 4);
        CHECK(released_once(&lent.ended));
    }
    free_aligned(memory, 0);
}

static void a_program_reads_it_wherever_it_lies(void)
{
    static const size_t offsets[] = {0, 1, 4, 16, 32, 60, 64};
    cyxla_executable *e = compiled(DOUBLE_F32_4);

    for (size_t i = 0; e && i < 2 * sizeof offsets / sizeof *offsets; i++) {
        struct lent lent;
        size_t offset = offsets[i / 2];
        bool as_byte_offset = i % 2;
        char *memory = aligned_bytes(sizeof FOUR, offset);
        cyxla_buffer *out = NULL;
        memcpy(memory, FOUR, sizeof FOUR);
        lend(&lent, FLOAT, 32, DIMS_4, 1, NULL, as_byte_offset ? memory - offset : memory);
        lent.versioned.dl_tensor.byte_offset = as_byte_offset ? offset : 0;
        cyxla_buffer *b = borrowed(&lent);
        CHECK_INT(cyxla_buffer_is_view(b), offset % 64 == 0);
        CHECK_INT(lent.ended, offset % 64 != 0);
        const cyxla_buffer *inputs[] = {b};
        CHECK_OK(cyxla_execute(e, inputs, 1, &out, 1));
        check_and_free(out, TWICE, 4);
        check_and_free(b, FOUR, 4);
        CHECK(released_once(&lent.ended));
        free_aligned(memory, offset);
    }
    cyxla_executable_free(e);
}

static void strides_say_where_the_elements_lie(void)
{
    static const struct {
        int64_t strides[2];
        float data[8];
        size_t start;
        bool in_place;
    } cases[] = {
        {{3, 1}, {0, 1, 2, 3, 4, 5}, 0, true},     {{1, 2}, {0, 3, 1, 4, 2, 5}, 0, false},
        {{4, 1}, {0, 1, 2, 9, 3, 4, 5}, 0, false}, {{-3, -1}, {5, 4, 3, 2, 1, 0}, 5, false},
        {{-3, 1}, {3, 4, 5, 0, 1, 2}, 3, false},
    };
    static const float want[] = {0, 1, 2, 3, 4, 5};
    static const float repeated[] = {0, 1, 2, 0, 1, 2};
    static const float overlapping[] = {0, 1, 2, 1, 2, 3};
    static const int64_t zero[] = {0, 1};
    static const int64_t overlap[] = {1, 1};
    float *memory = aligned_bytes(64, 0);
    struct lent lent;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(memory, cases[i].data, sizeof cases[i].data);
        lend_f32(&lent, DIMS_2_3, 2, cases[i].strides, memory + cases[i].start);
        cyxla_buffer *b = borrowed(&lent);
        CHECK_INT(cyxla_buffer_is_view(b), cases[i].in_place);
        CHECK_INT(lent.ended, !cases[i].in_place);
        check_and_free(b, want, 6);
        CHECK(released_once(&lent.ended));
    }
    for (size_t i = 0; i < 6; i++)
        memory[i] = (float)i;
    lend_f32(&lent, DIMS_2_3, 2, zero, memory);
    check_and_free(borrowed(&lent), repeated, 6);
    lend_f32(&lent, DIMS_2_3, 2, overlap, memory);
    check_and_free(borrowed_legacy(&lent), overlapping, 6);
    CHECK(released_once(&lent.ended));
    free_aligned(memory, 0);
}

static void strides_of_single_elements_do_not_matter(void)
{
    static const int64_t dims[] = {1, 2, 1, 2};
    static const int64_t strides[] = {-77, 2, INT64_MIN, 1};
    float *memory = aligned_bytes(sizeof FOUR, 0);
    struct lent lent;

    memcpy(memory, FOUR, sizeof FOUR);
    lend_f32(&lent, dims, 4, strides, memory);
    cyxla_buffer *b = borrowed(&lent);
    CHECK(cyxla_buffer_is_view(b));
    check_and_free(b, FOUR, 4);
    CHECK(released_once(&lent.ended));
    /* The same, where the elements have to be gathered. */
    lend_f32(&lent, dims, 4, (const int64_t[]){INT64_MAX, -2, INT64_MIN, -1}, memory + 3);
    check_and_free(borrowed(&lent), (const float[]){4, 3, 2, 1}, 4);
    CHECK(released_once(&lent.ended));
    free_aligned(memory, 0);
}

static void scalars_and_empty_arrays(void)
{
    static const int64_t none[] = {3, 0, INT64_MAX};
    float *memory = aligned_bytes(4, 0);
    struct lent lent;
    size_t rank = 99;

    *memory = 7;
    lend_f32(&lent, NULL, 0, NULL, memory);
    lent.versioned.dl_tensor.shape = (void *)1; /* a list without items is anywhere */
    cyxla_buffer *b = borrowed(&lent);
    CHECK(cyxla_buffer_dims(b, &rank) == NULL && rank == 0);
    check_and_free(b, (const float[]){7}, 1);
    CHECK(released_once(&lent.ended));
    lend_f32(&lent, none, 3, none, NULL);
    b = borrowed(&lent);
    CHECK(cyxla_buffer_dims(b, &rank) && rank == 3);
    CHECK_INT(cyxla_buffer_size(b), 0);
    CHECK(!cyxla_buffer_is_view(b));
    cyxla_buffer_free(b);
    CHECK(released_once(&lent.ended));
    free_aligned(memory, 0);
}

static void a_deleter_is_optional(void)
{
    float *memory = aligned_bytes(sizeof FOUR, 0);
    struct lent lent;

    memcpy(memory, FOUR, sizeof FOUR);
    lend_f32(&lent, DIMS_4, 1, NULL, memory);
    lent.versioned.deleter = NULL;
    lent.legacy.deleter = NULL;
    check_and_free(borrowed(&lent), FOUR, 4);
    check_and_free(borrowed_legacy(&lent), FOUR, 4);
    CHECK_INT(lent.ended, 0);
    free_aligned(memory, 0);
}

static void only_writable_memory_takes_a_result(void)
{
    enum { WRITABLE, FLAGGED, LEGACY, FORMS };
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);
    cyxla_buffer *other = made(FOUR);

    for (int form = 0; e && form < FORMS; form++) {
        struct lent lent;
        float *memory = aligned_bytes(sizeof FOUR, 0);
        cyxla_buffer *out = NULL;
        memcpy(memory, FOUR, sizeof FOUR);
        lend_f32(&lent, DIMS_4, 1, NULL, memory);
        lent.versioned.flags = form == FLAGGED ? READ_ONLY : 0;
        cyxla_buffer *b = form == LEGACY ? borrowed_legacy(&lent) : borrowed(&lent);
        CHECK(cyxla_buffer_is_view(b));
        if (CHECK_OK(add(e, b, other, &out))) {
            CHECK_OK(cyxla_buffer_wait(out));
            CHECK_FLOATS(memory, form == WRITABLE ? TWICE : FOUR, 4);
            CHECK_INT(cyxla_buffer_data(out) == memory, form == WRITABLE);
        }
        CHECK(cyxla_buffer_is_donated(b));
        cyxla_buffer_free(b);
        check_and_free(out, TWICE, 4);
        CHECK(released_once(&lent.ended));
        free_aligned(memory, 0);
    }
    cyxla_buffer_free(other);
    cyxla_executable_free(e);
}

static void bools_are_checked_and_copied(void)
{
    unsigned char *memory = aligned_bytes(4, 0);
    unsigned char back[4] = {9, 9, 9, 9};
    struct lent lent;
    cyxla_buffer *b = NULL;

    memory[1] = 1;
    lend(&lent, BOOL, 8, DIMS_4, 1, NULL, memory);
    b = borrowed(&lent);
    CHECK_INT(lent.ended, 1);
    CHECK(!cyxla_buffer_is_view(b));
    CHECK_OK(cyxla_buffer_to_host(b, back, 4));
    CHECK_BYTES(back, memory, 4);
    cyxla_buffer_free(b);
    b = NULL;
    for (int i = 0; i < 2; i++) {
        memory[2] = 2;
        lend(&lent, BOOL, 8, DIMS_4, 1, i ? (const int64_t[]){-1} : NULL, memory + 3 * i);
        CHECK_FAILS(cyxla_buffer_from_dlpack(&lent.versioned, &b), CYXLA_CODE_INVALID_ARGUMENT, "neither 0 nor 1");
        CHECK_BLAMES(cyxla_buffer_from_dlpack_legacy(&lent.legacy, &b), "tensor");
        CHECK(b == NULL);
        CHECK_INT(lent.ended, 0);
    }
    free_aligned(memory, 0);
}

/* Elements narrower than a byte, packed with the first one lowest. */
static void narrow_types_are_packed_or_padded(void)
{
    static const int64_t six[] = {6};
    static const int64_t reversed[] = {-1};
    static const struct {
        uint8_t code, bits;
        cyxla_dtype dtype;
        const char *packed;
        size_t packed_size;
        const char *elements;
    } cases[] = {
        {INT, 4, CYXLA_DTYPE_S4, "\x21\xf8\x07", 3, "\x01\x02\x08\x0f\x07\x00"},
        {UINT, 4, CYXLA_DTYPE_U4, "\x21\xf8\x07", 3, "\x01\x02\x08\x0f\x07\x00"},
        {INT, 2, CYXLA_DTYPE_S2, "\xe4\x06", 2, "\x00\x01\x02\x03\x02\x01"},
        {UINT, 2, CYXLA_DTYPE_U2, "\xe4\x06", 2, "\x00\x01\x02\x03\x02\x01"},
        {INT, 1, CYXLA_DTYPE_S1, "\x2d", 1, "\x01\x00\x01\x01\x00\x01"},
        {UINT, 1, CYXLA_DTYPE_U1, "\x2d", 1, "\x01\x00\x01\x01\x00\x01"},
        {17, 4, CYXLA_DTYPE_F4E2M1FN, "\x21\xf8\x07", 3, "\x01\x02\x08\x0f\x07\x00"},
        {15, 6, CYXLA_DTYPE_F6E2M3FN, "\x81\xf0\xff\xd5\x08", 5, "\x01\x02\x3f\x3f\x15\x23"},
        {16, 6, CYXLA_DTYPE_F6E3M2FN, "\x81\xf0\xff\xd5\x08", 5, "\x01\x02\x3f\x3f\x15\x23"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lent lent;
        char back[6] = {0};
        cyxla_buffer *b = NULL;
        char *memory = aligned_bytes(8, 0);
        memcpy(memory, cases[i].packed, cases[i].packed_size);
        lend(&lent, cases[i].code, cases[i].bits, six, 1, NULL, memory);
        cyxla_error *error = cyxla_buffer_from_dlpack(&lent.versioned, &b);
        if (error) { /* the plugin is too old for the type */
            CHECK_INT(lent.ended, 0);
            CHECK(plugin_minor() < 115);
            CHECK_FAILS(error, CYXLA_CODE_UNIMPLEMENTED, "has no element type", cyxla_dtype_name(cases[i].dtype));
            free_aligned(memory, 0);
            continue;
        }
        CHECK_INT(lent.ended, 1);
        CHECK_INT(cyxla_buffer_dtype(b), cases[i].dtype);
        CHECK_OK(cyxla_buffer_to_host(b, back, 6));
        CHECK_BYTES(back, cases[i].elements, 6);
        struct DLManagedTensorVersioned *out = lent_by(b);
        if (out) {
            CHECK_INT(out->flags, IS_COPIED);
            CHECK_BYTES(out->dl_tensor.data, cases[i].packed, cases[i].packed_size);
            CHECK(out->dl_tensor.code == cases[i].code && out->dl_tensor.bits == cases[i].bits);
            CHECK_INT(out->dl_tensor.strides[0], 1);
            out->deleter(out);
        }
        cyxla_buffer_free(b);
        lend(&lent, cases[i].code, cases[i].bits, DIMS_2_3, 2, (const int64_t[]){0, 2}, memory);
        b = borrowed_legacy(&lent);
        CHECK_OK(cyxla_buffer_to_host(b, back, 6));
        for (size_t j = 0; j < 6; j++)
            CHECK_INT(back[j], cases[i].elements[j % 3 * 2]);
        cyxla_buffer_free(b);
        memcpy(memory, cases[i].elements, 6);
        lend(&lent, cases[i].code, cases[i].bits, six, 1, reversed, memory + 5);
        lent.versioned.flags = PADDED;
        b = borrowed(&lent);
        CHECK_OK(cyxla_buffer_to_host(b, back, 6));
        for (size_t j = 0; j < 6; j++)
            CHECK_INT(back[j], cases[i].elements[5 - j]);
        cyxla_buffer_free(b);
        CHECK_INT(lent.ended, 1);
        free_aligned(memory, 0);
    }
}

/* --- out --- */

static void a_lent_buffer_is_where_it_is(void)
{
    cyxla_buffer *b = made(FOUR);
    const void *data = cyxla_buffer_data(b);
    struct DLManagedTensorVersioned *one = lent_by(b);
    struct DLManagedTensor *other = lent_by_legacy(b);

    if (!one || !other)
        return;
    CHECK_INT(one->major, 1);
    CHECK_INT(one->flags, READ_ONLY);
    const struct DLTensor *tensors[] = {&one->dl_tensor, &other->dl_tensor};
    for (size_t i = 0; i < 2; i++) {
        CHECK(tensors[i]->data == data);
        CHECK(tensors[i]->device_type == CPU && tensors[i]->device_id == 0);
        CHECK(tensors[i]->code == FLOAT && tensors[i]->bits == 32 && tensors[i]->lanes == 1);
        CHECK_INT(tensors[i]->ndim, 1);
        CHECK_INT(tensors[i]->shape[0], 4);
        CHECK_INT(tensors[i]->strides[0], 1);
        CHECK_INT(tensors[i]->byte_offset, 0);
    }
    cyxla_buffer_free(b);
    CHECK_FLOATS((const float *)one->dl_tensor.data, FOUR, 4);
    one->deleter(one);
    CHECK_FLOATS((const float *)other->dl_tensor.data, FOUR, 4);
    other->deleter(other);
    CHECK(alive());
}

static void scalars_and_empty_arrays_are_lent(void)
{
    static const int64_t none[] = {3, 0, 2};
    const float seven = 7;
    cyxla_buffer *scalar = NULL;
    cyxla_buffer *empty = NULL;

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, NULL, 0, NULL, &seven, &scalar));
    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, none, 3, NULL, NULL, &empty));
    struct DLManagedTensorVersioned *one = lent_by(scalar);
    struct DLManagedTensorVersioned *other = lent_by(empty);
    if (one && other) {
        CHECK_INT(one->dl_tensor.ndim, 0);
        CHECK_FLOATS((const float *)one->dl_tensor.data, &seven, 1);
        CHECK_INT(other->dl_tensor.ndim, 3);
        CHECK_BYTES(other->dl_tensor.shape, none, sizeof none);
        CHECK(other->dl_tensor.data == NULL);
        one->deleter(one);
        other->deleter(other);
    }
    cyxla_buffer_free(scalar);
    cyxla_buffer_free(empty);
}

static void an_array_goes_out_and_in_again(void)
{
    /* Each of the three may be freed first, second or third. */
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (size_t i = 0; i < 6; i++) {
        float *memory = aligned_bytes(sizeof FOUR, 0);
        struct lent lent;
        cyxla_buffer *buffers[3] = {NULL, NULL, NULL};
        memcpy(memory, FOUR, sizeof FOUR);
        lend_f32(&lent, DIMS_4, 1, NULL, memory);
        buffers[0] = borrowed(&lent);
        CHECK_OK(cyxla_buffer_from_dlpack(lent_by(buffers[0]), &buffers[1]));
        CHECK_OK(cyxla_buffer_from_dlpack_legacy(lent_by_legacy(buffers[1]), &buffers[2]));
        CHECK(cyxla_buffer_data(buffers[2]) == memory);
        for (size_t j = 0; j < 3; j++) {
            CHECK_INT(lent.ended, 0);
            check_and_free(buffers[orders[i][j]], FOUR, 4);
        }
        CHECK(released_once(&lent.ended));
        free_aligned(memory, 0);
    }
}

static void all_types_go_out_and_in_again(void)
{
    unsigned char bytes[64];
    unsigned char back[64];

    for (cyxla_dtype dtype = CYXLA_DTYPE_PRED; dtype <= CYXLA_DTYPE_F6E3M2FN; dtype++) {
        size_t size = 4 * cyxla_dtype_size(dtype);
        struct DLManagedTensorVersioned *tensor = NULL;
        cyxla_buffer *b = NULL;
        cyxla_buffer *again = NULL;
        if (dtype == CYXLA_DTYPE_TOKEN)
            continue;
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(i % 2); /* a value of every type */
        cyxla_error *error = cyxla_buffer_from_host(0, dtype, DIMS_4, 1, NULL, bytes, &b);
        if (error) {
            CHECK_FAILS(error, CYXLA_CODE_UNIMPLEMENTED, cyxla_dtype_name(dtype));
            CHECK(plugin_minor() < 115);
            continue;
        }
        tensor = lent_by(b);
        if (tensor && CHECK_OK(cyxla_buffer_from_dlpack(tensor, &again))) {
            CHECK_INT(cyxla_buffer_dtype(again), dtype);
            CHECK_OK(cyxla_buffer_to_host(again, back, size));
            CHECK_BYTES(back, bytes, size);
        }
        cyxla_buffer_free(b);
        cyxla_buffer_free(again);
    }
}

static void a_donated_buffer_is_not_lent(void)
{
    struct DLManagedTensorVersioned *tensor = NULL;
    struct DLManagedTensor *legacy = NULL;
    cyxla_buffer *out = NULL;
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);
    cyxla_buffer *a = made(FOUR);
    cyxla_buffer *b = made(FOUR);

    if (e && CHECK_OK(add(e, a, b, &out))) {
        CHECK_FAILS(cyxla_buffer_to_dlpack(a, &tensor), CYXLA_CODE_FAILED_PRECONDITION, "donated");
        CHECK_FAILS(cyxla_buffer_to_dlpack_legacy(a, &legacy), CYXLA_CODE_FAILED_PRECONDITION, "donated");
        CHECK(!tensor && !legacy);
    }
    cyxla_buffer_free(a);
    cyxla_buffer_free(b);
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
}

/* Whoever borrowed the contents reads on, whatever a program would do to them. */
static void a_lent_buffer_is_not_taken(void)
{
    cyxla_buffer *out = NULL;
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);
    cyxla_buffer *a = made(FOUR);
    cyxla_buffer *b = made(FOUR);
    struct DLManagedTensorVersioned *tensor = lent_by(a);
    struct DLManagedTensor *other = lent_by_legacy(a);

    if (!e || !tensor || !other)
        return;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(add(e, a, b, &out));
        check_and_free(out, TWICE, 4);
        out = NULL;
        CHECK(!cyxla_buffer_is_donated(a));
        CHECK_FLOATS((const float *)tensor->dl_tensor.data, FOUR, 4);
        if (i == 0)
            other->deleter(other);
    }
    tensor->deleter(tensor);
    CHECK_OK(add(e, a, b, &out));
    CHECK(cyxla_buffer_is_donated(a));
    check_and_free(out, TWICE, 4);
    cyxla_buffer_free(a);
    cyxla_buffer_free(b);
    cyxla_executable_free(e);
}

static void a_lent_buffer_is_not_taken_by_a_call(void)
{
    cyxla_call *call = NULL;
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);
    cyxla_buffer *a = made(FOUR);
    cyxla_buffer *b = made(FOUR);
    struct DLManagedTensorVersioned *tensor = lent_by(a);
    size_t size = 0;

    if (!e || !tensor)
        return;
    CHECK_OK(cyxla_call_new(e, NULL, &call));
    CHECK_OK(cyxla_call_bind(call, 0, 0, a));
    CHECK_OK(cyxla_call_bind(call, 0, 1, b));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(cyxla_call_run(call));
        const float *result = cyxla_call_output(call, 0, 0, &size);
        if (CHECK(result != NULL))
            CHECK_FLOATS(result, TWICE, 4);
        CHECK(!cyxla_buffer_is_donated(a));
        CHECK_FLOATS((const float *)tensor->dl_tensor.data, FOUR, 4);
    }
    tensor->deleter(tensor);
    CHECK_OK(cyxla_call_run(call));
    CHECK(cyxla_buffer_is_donated(a));
    CHECK_FAILS(cyxla_buffer_to_dlpack(a, &tensor), CYXLA_CODE_FAILED_PRECONDITION, "donated");
    CHECK_FAILS(cyxla_call_run(call), CYXLA_CODE_FAILED_PRECONDITION, "donated");
    cyxla_call_free(call);
    cyxla_buffer_free(a);
    cyxla_buffer_free(b);
    cyxla_executable_free(e);
}

struct race {
    cyxla_buffer *buffer;
    int lent;
};

/* Lends the buffer unless a program was first, and looks at it for a while. */
static void *lend_and_look(void *race)
{
    struct race *both = race;
    struct DLManagedTensorVersioned *tensor = NULL;
    cyxla_error *error = cyxla_buffer_to_dlpack(both->buffer, &tensor);

    if (error) {
        CHECK_FAILS(error, CYXLA_CODE_FAILED_PRECONDITION, "donated");
        return NULL;
    }
    for (int i = 0; i < 100; i++)
        CHECK_FLOATS((const float *)tensor->dl_tensor.data, FOUR, 4);
    both->lent = 1;
    tensor->deleter(tensor);
    return NULL;
}

static void *lend_again_and_again(void *buffer)
{
    for (int i = 0; i < 5000; i++) {
        struct DLManagedTensorVersioned *tensor = NULL;
        if (!CHECK_OK(cyxla_buffer_to_dlpack(buffer, &tensor)))
            break;
        tensor->deleter(tensor);
    }
    return NULL;
}

/* Plugins count the uses of a buffer without a lock. */
static void two_threads_lend_one_buffer(void)
{
    cyxla_buffer *buffer = made(FOUR);
    pthread_t threads[3];

    for (size_t i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, lend_again_and_again, buffer) == 0);
    for (size_t i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    cyxla_buffer_free(buffer);
    CHECK(alive());
}

static void lending_and_donating_at_once(void)
{
    cyxla_executable *e = compiled(DONATED_ADD_F32_4);
    cyxla_buffer *b = made(FOUR);

    for (int i = 0; e && i < 400; i++) {
        struct race race = {made(FOUR), 0};
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, lend_and_look, &race) == 0);
        if (i % 2) {
            cyxla_buffer *out = NULL;
            CHECK_OK(add(e, race.buffer, b, &out));
            check_and_free(out, TWICE, 4);
        } else {
            cyxla_call *call = NULL;
            size_t size = 0;
            CHECK_OK(cyxla_call_new(e, NULL, &call));
            CHECK_OK(cyxla_call_bind(call, 0, 0, race.buffer));
            CHECK_OK(cyxla_call_bind(call, 0, 1, b));
            CHECK_OK(cyxla_call_run(call));
            CHECK_FLOATS((const float *)cyxla_call_output(call, 0, 0, &size), TWICE, 4);
            cyxla_call_free(call);
        }
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK(race.lent || cyxla_buffer_is_donated(race.buffer));
        cyxla_buffer_free(race.buffer);
    }
    cyxla_buffer_free(b);
    cyxla_executable_free(e);
}

/* A result may still be computed when it is lent, and go before what borrowed it. */
static void a_result_is_waited_for(void)
{
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_buffer *a = made(FOUR);
    cyxla_buffer *out = NULL;

    if (!e || !CHECK_OK(add(e, a, a, &out)))
        return;
    struct DLManagedTensorVersioned *tensor = lent_by(out);
    cyxla_buffer_free(out);
    cyxla_buffer_free(a);
    cyxla_executable_free(e);
    if (tensor) {
        CHECK_FLOATS((const float *)tensor->dl_tensor.data, TWICE, 4);
        tensor->deleter(tensor);
    }
}

/* --- other threads, other processes --- */

static void *end_tensor(void *tensor)
{
    struct DLManagedTensorVersioned *managed = tensor;

    managed->deleter(managed);
    return NULL;
}

static void *free_buffer(void *buffer)
{
    cyxla_buffer_free(buffer);
    return NULL;
}

static void another_thread_may_end_either(void)
{
    float *memory = aligned_bytes(sizeof FOUR, 0);
    struct lent lent;
    pthread_t thread;

    for (int i = 0; i < 20; i++) {
        memcpy(memory, FOUR, sizeof FOUR);
        lend_f32(&lent, DIMS_4, 1, NULL, memory);
        cyxla_buffer *b = borrowed(&lent);
        struct DLManagedTensorVersioned *tensor = lent_by(b);
        if (!tensor)
            return;
        CHECK(pthread_create(&thread, NULL, end_tensor, tensor) == 0);
        if (i % 2)
            cyxla_buffer_free(b);
        CHECK(pthread_join(thread, NULL) == 0);
        if (i % 2 == 0) {
            CHECK(pthread_create(&thread, NULL, free_buffer, b) == 0);
            CHECK(pthread_join(thread, NULL) == 0);
        }
        CHECK(released_once(&lent.ended));
    }
    free_aligned(memory, 0);
}

static void a_forked_child_may_end_it(void)
{
    int status = 0;
    float *memory = aligned_bytes(sizeof FOUR, 0);
    struct lent lent;
    cyxla_buffer *b = made(FOUR);
    struct DLManagedTensorVersioned *tensor = lent_by(b);
    struct DLManagedTensor *legacy = lent_by_legacy(b);

    lend_f32(&lent, DIMS_4, 1, NULL, memory);
    cyxla_buffer *view = borrowed(&lent);
    if (!tensor || !legacy)
        return;
    pid_t child = fork();
    if (child == 0) {
        struct DLManagedTensorVersioned *refused = NULL;
        cyxla_buffer *none = NULL;
        CHECK_FAILS(cyxla_buffer_to_dlpack(b, &refused), CYXLA_CODE_FAILED_PRECONDITION, "forked");
        CHECK_FAILS(cyxla_buffer_from_dlpack(&lent.versioned, &none), CYXLA_CODE_FAILED_PRECONDITION, "forked");
        tensor->deleter(tensor);
        cyxla_buffer_free(b);
        cyxla_buffer_free(view);
        legacy->deleter(legacy);
        CHECK_INT(lent.ended, 0);
        _exit(test_status());
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_FLOATS((const float *)tensor->dl_tensor.data, FOUR, 4);
    tensor->deleter(tensor);
    legacy->deleter(legacy);
    cyxla_buffer_free(b);
    cyxla_buffer_free(view);
    CHECK(released_once(&lent.ended));
    free_aligned(memory, 0);
}

static struct DLManagedTensorVersioned *left_tensor;

static void end_left_tensor(void)
{
    left_tensor->deleter(left_tensor);
}

/* Runs when the plugin's globals are gone: it was registered before there were any. */
static void end_after_the_plugin(void)
{
    atexit(end_left_tensor);
    cyxla_buffer *b = made(FOUR);
    left_tensor = lent_by(b);
    cyxla_buffer_free(b);
}

/* Runs before the plugin's globals go. */
static void end_before_the_plugin(void)
{
    cyxla_buffer *b = made(FOUR);
    left_tensor = lent_by(b);
    cyxla_buffer_free(b);
    atexit(end_left_tensor);
}

static void the_process_may_end_first(void)
{
    CHECK_CHILD("end_after_the_plugin", "NOTHING");
    CHECK_CHILD("end_before_the_plugin", "NOTHING");
}

/* --- other devices --- */

/* The fake plugin calls itself a GPU, but its memory is the host's. */
static void use_the_memory_of_a_gpu(void)
{
    float *memory = aligned_bytes(sizeof FOUR, 0);
    struct lent lent;
    cyxla_buffer *b = NULL;
    cyxla_buffer *out = NULL;
    cyxla_executable *e = compiled(ADD_F32_4);

    memcpy(memory, FOUR, sizeof FOUR);
    lend_f32(&lent, DIMS_4, 1, NULL, memory);
    lent.versioned.dl_tensor.device_type = ROCM;
    CHECK_FAILS(cyxla_buffer_from_dlpack(&lent.versioned, &b), CYXLA_CODE_INVALID_ARGUMENT, "rocm", "cuda");
    lent.versioned.dl_tensor.device_type = CUDA;
    lent.versioned.dl_tensor.device_id = 99;
    CHECK_FAILS(cyxla_buffer_from_dlpack(&lent.versioned, &b), CYXLA_CODE_INVALID_ARGUMENT, "99", "cuda");
    lent.versioned.dl_tensor.device_id = 0;
    lent.versioned.dl_tensor.data = memory + 1; /* the plugin refuses it */
    CHECK_FAILS(cyxla_buffer_from_dlpack(&lent.versioned, &b), CYXLA_CODE_INVALID_ARGUMENT, "unaligned");
    lent.versioned.dl_tensor.data = memory;
    lent.strides[0] = 2;
    lent.versioned.dl_tensor.strides = lent.strides;
    CHECK_FAILS(cyxla_buffer_from_dlpack(&lent.versioned, &b), CYXLA_CODE_UNIMPLEMENTED, "row-major", "contiguous");
    lent.strides[0] = 1;
    CHECK_INT(lent.ended, 0);
    b = borrowed(&lent);
    CHECK(cyxla_buffer_is_view(b));
    CHECK(cyxla_buffer_data(b) == NULL);
    if (e && CHECK_OK(add(e, b, b, &out)))
        check_and_free(out, TWICE, 4);
    struct DLManagedTensorVersioned *tensor = lent_by(b);
    if (tensor) {
        CHECK(tensor->dl_tensor.device_type == CUDA && tensor->dl_tensor.device_id == 0);
        CHECK(tensor->dl_tensor.data == memory);
        CHECK_INT(tensor->flags, READ_ONLY);
    }
    check_and_free(b, FOUR, 4);
    CHECK_INT(lent.ended, 0);
    if (tensor)
        tensor->deleter(tensor);
    CHECK(released_once(&lent.ended));
    /* Host memory is copied to the device. */
    lend_f32(&lent, DIMS_4, 1, NULL, memory);
    b = borrowed(&lent);
    CHECK(!cyxla_buffer_is_view(b));
    CHECK_INT(lent.ended, 1);
    check_and_free(b, FOUR, 4);
    cyxla_executable_free(e);
    free_aligned(memory, 0);
}

static void lend_from_an_unknown_platform(void)
{
    struct DLManagedTensorVersioned *tensor = NULL;
    cyxla_buffer *b = made(FOUR);

    CHECK_FAILS(cyxla_buffer_to_dlpack(b, &tensor), CYXLA_CODE_UNIMPLEMENTED, "quantum");
    cyxla_buffer_free(b);
}

static void lend_what_failed(void)
{
    struct DLManagedTensorVersioned *tensor = NULL;
    cyxla_buffer *out = NULL;
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_buffer *a = made(FOUR);

    if (e && CHECK_OK(add(e, a, a, &out)))
        CHECK_FAILS(cyxla_buffer_to_dlpack(out, &tensor), CYXLA_CODE_INTERNAL, "synthetic failure");
    CHECK(tensor == NULL);
    cyxla_buffer_free(out);
    cyxla_buffer_free(a);
    cyxla_executable_free(e);
}

static void lend_column_major(void)
{
    static const float columns[] = {0, 6, 2, 8, 4, 10};
    static const float rows[] = {0, 2, 4, 6, 8, 10};
    const int32_t numbers[] = {0, 1, 2, 3, 4, 5};
    cyxla_buffer *in = NULL;
    cyxla_buffer *out = NULL;
    cyxla_executable *e = compiled(DOUBLE_S32_2_3);

    CHECK_OK(cyxla_buffer_from_host(0, CYXLA_DTYPE_S32, DIMS_2_3, 2, NULL, numbers, &in));
    const cyxla_buffer *inputs[] = {in};
    if (e && CHECK_OK(cyxla_execute(e, inputs, 1, &out, 1))) {
        struct DLManagedTensorVersioned *tensor = lent_by(out);
        if (tensor) {
            CHECK(tensor->dl_tensor.strides[0] == 1 && tensor->dl_tensor.strides[1] == 2);
            for (size_t i = 0; i < 6; i++)
                CHECK_INT(((const int32_t *)tensor->dl_tensor.data)[i], columns[i]);
            cyxla_buffer *again = NULL;
            int32_t back[6] = {0};
            CHECK_OK(cyxla_buffer_from_dlpack(tensor, &again));
            CHECK_OK(cyxla_buffer_to_host(again, back, sizeof back));
            for (size_t i = 0; i < 6; i++)
                CHECK_INT(back[i], rows[i]);
            cyxla_buffer_free(again);
        }
    }
    cyxla_buffer_free(in);
    cyxla_buffer_free(out);
    cyxla_executable_free(e);
}

static void other_devices_and_failures(void)
{
    CHECK_CHILD("use_the_memory_of_a_gpu", "CYXLA_FAKE_PLUGIN=platform=cuda");
    CHECK_CHILD("lend_from_an_unknown_platform", "CYXLA_FAKE_PLUGIN=platform=quantum");
    CHECK_CHILD("lend_what_failed", "CYXLA_FAKE_PLUGIN=await_error");
    CHECK_CHILD("lend_column_major", "CYXLA_FAKE_PLUGIN=column_major");
}

static const struct test_mode MODES[] = {
    {"end_after_the_plugin", end_after_the_plugin},
    {"end_before_the_plugin", end_before_the_plugin},
    {"use_the_memory_of_a_gpu", use_the_memory_of_a_gpu},
    {"lend_from_an_unknown_platform", lend_from_an_unknown_platform},
    {"lend_what_failed", lend_what_failed},
    {"lend_column_major", lend_column_major},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    test_start(argc, argv, MODES);
    RUN(an_aligned_array_is_used_in_place);
    RUN(a_program_reads_it_wherever_it_lies);
    RUN(strides_say_where_the_elements_lie);
    RUN(strides_of_single_elements_do_not_matter);
    RUN(scalars_and_empty_arrays);
    RUN(a_deleter_is_optional);
    RUN(only_writable_memory_takes_a_result);
    RUN(bools_are_checked_and_copied);
    RUN(a_lent_buffer_is_where_it_is);
    RUN(scalars_and_empty_arrays_are_lent);
    RUN(an_array_goes_out_and_in_again);
    RUN(a_donated_buffer_is_not_lent);
    RUN(a_lent_buffer_is_not_taken);
    RUN(a_lent_buffer_is_not_taken_by_a_call);
    RUN(lending_and_donating_at_once);
    RUN(two_threads_lend_one_buffer);
    RUN(a_result_is_waited_for);
    RUN(another_thread_may_end_either);
    RUN(a_forked_child_may_end_it);
    RUN(the_process_may_end_first);
    if (on_fake_plugin()) {
        RUN(other_devices_and_failures);
    } else { /* the fake plugin has a few types only */
        RUN(narrow_types_are_packed_or_padded);
        RUN(all_types_go_out_and_in_again);
    }
    return test_end();
}
