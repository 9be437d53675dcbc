/* Tensors that cannot be, or not here. Each is an error, and stays its owner's. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lend.h"
#include "support.h"
#include "test.h"

static const int64_t DIMS_2_3[] = {2, 3};

static float memory[16];

/* Both forms have to be refused. */
static void refused_in_both(struct lent *lent, cyxla_code code, const char *part)
{
    cyxla_buffer *b = NULL;

    lent->legacy.dl_tensor = lent->versioned.dl_tensor;
    CHECK_FAILS(cyxla_buffer_from_dlpack(&lent->versioned, &b), code, part);
    CHECK_FAILS(cyxla_buffer_from_dlpack_legacy(&lent->legacy, &b), code, part);
    CHECK(b == NULL);
    CHECK_INT(lent->ended, 0);
}

static void null_is_named(void)
{
    struct lent lent;
    cyxla_buffer *b = NULL;
    struct DLManagedTensorVersioned *tensor = NULL;
    struct DLManagedTensor *legacy = NULL;

    lend_f32(&lent, DIMS_2_3, 2, NULL, memory);
    CHECK_BLAMES(cyxla_buffer_from_dlpack(NULL, &b), "tensor");
    CHECK_BLAMES(cyxla_buffer_from_dlpack(&lent.versioned, NULL), "out");
    CHECK_BLAMES(cyxla_buffer_from_dlpack_legacy(NULL, &b), "tensor");
    CHECK_BLAMES(cyxla_buffer_from_dlpack_legacy(&lent.legacy, NULL), "out");
    CHECK_BLAMES(cyxla_buffer_to_dlpack(NULL, &tensor), "buffer");
    CHECK_BLAMES(cyxla_buffer_to_dlpack_legacy(NULL, &legacy), "buffer");
    CHECK_OK(cyxla_buffer_from_dlpack(&lent.versioned, &b));
    CHECK_BLAMES(cyxla_buffer_to_dlpack(b, NULL), "out");
    CHECK_BLAMES(cyxla_buffer_to_dlpack_legacy(b, NULL), "out");
    cyxla_buffer_free(b);
    CHECK(released_once(&lent.ended));
    lend_f32(&lent, DIMS_2_3, 2, NULL, memory);
    lent.versioned.dl_tensor.shape = NULL;
    refused_in_both(&lent, CYXLA_CODE_INVALID_ARGUMENT, "shape");
    lend_f32(&lent, DIMS_2_3, 2, NULL, NULL);
    refused_in_both(&lent, CYXLA_CODE_INVALID_ARGUMENT, "data is NULL");
    CHECK(alive());
}

static void bad_dims_are_refused(void)
{
    static const int32_t ranks[] = {-1, INT32_MIN, 65, INT32_MAX};
    static const int64_t dims[][2] = {{-1, 3},        {2, -3},           {INT64_MIN, 1},   {INT64_MAX, 2},
                                      {1LL << 62, 4}, {1LL << 32, 1LL << 32}, {0, INT64_MIN}};
    struct lent lent;

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        lend_f32(&lent, DIMS_2_3, 2, NULL, memory);
        lent.versioned.dl_tensor.ndim = ranks[i];
        refused_in_both(&lent, CYXLA_CODE_INVALID_ARGUMENT, "dimensions; expected 0 to 64");
    }
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        lend_f32(&lent, dims[i], 2, NULL, memory);
        refused_in_both(&lent, CYXLA_CODE_INVALID_ARGUMENT, "f32[");
    }
    CHECK(alive());
}

static void bad_element_types_are_refused(void)
{
    static const uint8_t types[][2] = {{FLOAT, 8},   {FLOAT, 31},  {FLOAT, 128}, {INT, 0},     {INT, 3},
                                       {INT, 128},   {UINT, 255},  {OPAQUE, 64}, {BFLOAT, 32}, {COMPLEX, 32},
                                       {BOOL, 1},    {BOOL, 32},   {7, 16},      {14, 4},      {15, 8},
                                       {17, 8},      {18, 4},      {255, 255}};
    static const uint16_t lanes[] = {0, 2, 4, UINT16_MAX};
    struct lent lent;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        lend(&lent, types[i][0], types[i][1], DIMS_2_3, 2, NULL, memory);
        refused_in_both(&lent, CYXLA_CODE_UNIMPLEMENTED, "type code");
    }
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        lend_f32(&lent, DIMS_2_3, 2, NULL, memory);
        lent.versioned.dl_tensor.lanes = lanes[i];
        refused_in_both(&lent, CYXLA_CODE_INVALID_ARGUMENT, "lanes");
    }
    CHECK(alive());
}

static void memory_elsewhere_is_refused(void)
{
    static const int32_t unknown[] = {0, -1, METAL, CUDA_MANAGED, 99, INT32_MIN, INT32_MAX};
    struct lent lent;

    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        lend_f32(&lent, DIMS_2_3, 2, NULL, memory);
        lent.versioned.dl_tensor.device_type = unknown[i];
        refused_in_both(&lent, CYXLA_CODE_UNIMPLEMENTED, "device type");
    }
    lend_f32(&lent, DIMS_2_3, 2, NULL, memory);
    lent.versioned.dl_tensor.device_type = CUDA;
    refused_in_both(&lent, CYXLA_CODE_INVALID_ARGUMENT, "of cuda, and the runtime's platform is cpu");
    lent.versioned.dl_tensor.device_type = ROCM;
    refused_in_both(&lent, CYXLA_CODE_INVALID_ARGUMENT, "of rocm, and the runtime's platform is cpu");
    CHECK(alive());
}

static void other_versions_and_flags_are_refused(void)
{
    static const uint32_t majors[] = {0, 2, UINT32_MAX};
    struct lent lent;
    cyxla_buffer *b = NULL;

    for (size_t i = 0; i < sizeof majors / sizeof *majors; i++) {
        lend_f32(&lent, DIMS_2_3, 2, NULL, memory);
        lent.versioned.major = majors[i];
        memset(&lent.versioned.dl_tensor, 0xff, sizeof lent.versioned.dl_tensor); /* not to be looked at */
        CHECK_FAILS(cyxla_buffer_from_dlpack(&lent.versioned, &b), CYXLA_CODE_UNIMPLEMENTED, "reads DLPack 1");
        CHECK_INT(lent.ended, 0);
    }
    for (int bit = 3; bit < 64; bit++) {
        lend_f32(&lent, DIMS_2_3, 2, NULL, memory);
        lent.versioned.flags = (uint64_t)1 << bit;
        CHECK_FAILS(cyxla_buffer_from_dlpack(&lent.versioned, &b), CYXLA_CODE_UNIMPLEMENTED, "flags");
        CHECK_INT(lent.ended, 0);
    }
    CHECK(b == NULL);
}

static void what_leads_out_of_memory_is_refused(void)
{
    static const int64_t strides[][2] = {{INT64_MAX, 1},      {INT64_MIN, 1},      {1, INT64_MAX},
                                         {1, INT64_MIN},      {1LL << 61, 1},      {-(1LL << 61), 1},
                                         {-(1LL << 60), 1},   {1LL << 62, 1LL << 61}};
    static const uint64_t offsets[] = {UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63, INT64_MAX};
    struct lent lent;

    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        lend_f32(&lent, DIMS_2_3, 2, strides[i], memory);
        refused_in_both(&lent, CYXLA_CODE_INVALID_ARGUMENT, "out of memory");
        lend(&lent, INT, 2, DIMS_2_3, 2, strides[i], memory);
        cyxla_buffer *b = NULL;
        if (strides[i][0] == INT64_MAX || strides[i][0] == INT64_MIN)
            CHECK_FAILS(cyxla_buffer_from_dlpack(&lent.versioned, &b), CYXLA_CODE_INVALID_ARGUMENT, "out of memory");
    }
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        lend_f32(&lent, DIMS_2_3, 2, NULL, memory);
        lent.versioned.dl_tensor.byte_offset = offsets[i];
        refused_in_both(&lent, CYXLA_CODE_INVALID_ARGUMENT, "byte offset");
    }
    CHECK(alive());
}

static void misaligned_lists_are_refused(void)
{
    struct lent lent;
    cyxla_buffer *b = NULL;
    char *bytes = aligned_bytes(256, 1);

    lend_f32(&lent, DIMS_2_3, 2, NULL, memory);
    lent.versioned.dl_tensor.shape = (void *)bytes;
    refused_in_both(&lent, CYXLA_CODE_INVALID_ARGUMENT, "shape");
    lend_f32(&lent, DIMS_2_3, 2, NULL, memory);
    lent.versioned.dl_tensor.strides = (void *)bytes;
    refused_in_both(&lent, CYXLA_CODE_INVALID_ARGUMENT, "strides");
    CHECK_BLAMES(cyxla_buffer_from_dlpack((void *)bytes, &b), "tensor");
    CHECK_BLAMES(cyxla_buffer_from_dlpack_legacy((void *)bytes, &b), "tensor");
    CHECK(b == NULL);
    free_aligned(bytes, 1);
}

/* Strides of zero: a few bytes that stand for more than there is memory. */
static void more_than_there_is_memory_is_refused(void)
{
    static const int64_t dims[] = {1LL << 30, 1LL << 28};
    static const int64_t zero[] = {0, 0};
    struct lent lent;

    lend_f32(&lent, dims, 2, zero, memory);
    refused_in_both(&lent, CYXLA_CODE_RESOURCE_EXHAUSTED, "out of memory");
    CHECK(alive());
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(null_is_named);
    RUN(bad_dims_are_refused);
    RUN(bad_element_types_are_refused);
    RUN(memory_elsewhere_is_refused);
    RUN(other_versions_and_flags_are_refused);
    RUN(what_leads_out_of_memory_is_refused);
    RUN(misaligned_lists_are_refused);
    RUN(more_than_there_is_memory_is_refused);
    return test_end();
}
