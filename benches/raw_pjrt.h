/* The floor: the steps of cyxla_run in plain PJRT C, with as little around them as
 * possible. Argument structs are filled once; a call changes only pointers. */
#ifndef RAW_PJRT_H
#define RAW_PJRT_H

#include <stddef.h>
#include <stdint.h>

/* An array of f32, and where its elements are in host memory. */
struct array {
    size_t rank;
    int64_t dims[4];
    size_t size; /* in bytes */
    void *data;
};

struct raw_program;

/* Loads the plugin and makes a client of one synchronous device. These end the
 * process with a sentence when something fails: a benchmark has nothing to go on to. */
void raw_open(const char *plugin_path);

/* Compiles StableHLO text for calls with these arrays, which it keeps pointing to. */
struct raw_program *raw_compile(const char *text, const struct array *inputs, size_t input_count,
                                const struct array *outputs, size_t output_count);

/* Inputs as zero-copy buffers, execute, outputs copied from where they are, all
 * destroyed. */
void raw_run(struct raw_program *program);

#endif
