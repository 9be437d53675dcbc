#include "lend.h"

#include <stddef.h>
#include <string.h>

#include "support.h"
#include "test.h"

static void end_versioned(struct DLManagedTensorVersioned *self)
{
    count_release(self->manager_ctx);
}

static void end_legacy(struct DLManagedTensor *self)
{
    count_release(self->manager_ctx);
}

void lend(struct lent *lent, uint8_t code, uint8_t bits, const int64_t *shape, int32_t rank, const int64_t *strides,
          void *data)
{
    struct DLTensor *tensor = &lent->legacy.dl_tensor;

    memset(lent, 0, sizeof *lent);
    for (int32_t i = 0; i < rank && i < 8; i++) {
        lent->shape[i] = shape[i];
        if (strides)
            lent->strides[i] = strides[i];
    }
    tensor->data = data;
    tensor->device_type = CPU;
    tensor->ndim = rank;
    tensor->code = code;
    tensor->bits = bits;
    tensor->lanes = 1;
    tensor->shape = rank ? lent->shape : NULL;
    tensor->strides = strides ? lent->strides : NULL;
    lent->legacy.manager_ctx = &lent->ended;
    lent->legacy.deleter = end_legacy;
    lent->versioned.major = 1;
    lent->versioned.minor = 1;
    lent->versioned.manager_ctx = &lent->ended;
    lent->versioned.deleter = end_versioned;
    lent->versioned.dl_tensor = *tensor;
}

void lend_f32(struct lent *lent, const int64_t *shape, int32_t rank, const int64_t *strides, float *data)
{
    lend(lent, FLOAT, 32, shape, rank, strides, data);
}

cyxla_buffer *borrowed(struct lent *lent)
{
    cyxla_buffer *buffer = NULL;

    CHECK_OK(cyxla_buffer_from_dlpack(&lent->versioned, &buffer));
    return buffer;
}

cyxla_buffer *borrowed_legacy(struct lent *lent)
{
    cyxla_buffer *buffer = NULL;

    CHECK_OK(cyxla_buffer_from_dlpack_legacy(&lent->legacy, &buffer));
    return buffer;
}

struct DLManagedTensorVersioned *lent_by(const cyxla_buffer *buffer)
{
    struct DLManagedTensorVersioned *tensor = NULL;

    CHECK_OK(cyxla_buffer_to_dlpack(buffer, &tensor));
    return tensor;
}

struct DLManagedTensor *lent_by_legacy(const cyxla_buffer *buffer)
{
    struct DLManagedTensor *tensor = NULL;

    CHECK_OK(cyxla_buffer_to_dlpack_legacy(buffer, &tensor));
    return tensor;
}
