/* Tensors of DLPack as another library would lend them. The structs are DLPack's own. */
#ifndef LEND_H
#define LEND_H

#include <stdint.h>

#include <cyxla.h>

enum { CPU = 1, CUDA = 2, CUDA_HOST = 3, METAL = 8, ROCM = 10, ROCM_HOST = 11, CUDA_MANAGED = 13 };
enum { INT = 0, UINT = 1, FLOAT = 2, OPAQUE = 3, BFLOAT = 4, COMPLEX = 5, BOOL = 6 };
enum { READ_ONLY = 1, IS_COPIED = 2, PADDED = 4 };

struct DLTensor {
    void *data;
    int32_t device_type;
    int32_t device_id;
    int32_t ndim;
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
};

struct DLManagedTensor {
    struct DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};

struct DLManagedTensorVersioned {
    uint32_t major;
    uint32_t minor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    struct DLTensor dl_tensor;
};

/* An array of a test in both forms, which count how often their deleters are called. */
struct lent {
    struct DLManagedTensorVersioned versioned;
    struct DLManagedTensor legacy;
    int64_t shape[8];
    int64_t strides[8];
    int ended;
};

/* Fills in a tensor of version 1.1 in host memory; `strides` in elements, or NULL. */
void lend(struct lent *lent, uint8_t code, uint8_t bits, const int64_t *shape, int32_t rank, const int64_t *strides,
          void *data);
/* The same for f32. */
void lend_f32(struct lent *lent, const int64_t *shape, int32_t rank, const int64_t *strides, float *data);

/* A buffer of the versioned or the legacy form; NULL and a failed check if there is none. */
cyxla_buffer *borrowed(struct lent *lent);
cyxla_buffer *borrowed_legacy(struct lent *lent);

/* Exports a buffer; NULL and a failed check if that fails. */
struct DLManagedTensorVersioned *lent_by(const cyxla_buffer *buffer);
struct DLManagedTensor *lent_by_legacy(const cyxla_buffer *buffer);

#endif
