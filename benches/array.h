/* An array of f32, and where its elements are in host memory. */
#ifndef ARRAY_H
#define ARRAY_H

#include <stddef.h>
#include <stdint.h>

struct array {
    size_t rank;
    int64_t dims[4];
    size_t size; /* in bytes */
    void *data;
};

#endif
