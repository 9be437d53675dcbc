/* The floor: a call in plain PJRT C, with as little around it as possible. Argument
 * structs are filled once; a call changes only pointers. */
#ifndef RAW_PJRT_H
#define RAW_PJRT_H

#include "array.h"

struct raw_program;

/* Loads the plugin and makes a client of one synchronous device. These end the
 * process with a sentence when something fails: a benchmark has nothing to go on to. */
void raw_open(const char *plugin_path);

/* Compiles StableHLO text for calls with these arrays, which it keeps pointing to. */
struct raw_program *raw_compile(const char *text, const struct array *inputs, size_t input_count,
                                const struct array *outputs, size_t output_count);

/* The steps of cyxla_run: inputs as zero-copy buffers, execute, outputs copied from
 * where they are, all destroyed. */
void raw_run(struct raw_program *program);

/* The fewest steps: the inputs' buffers stay, the outputs are read where they are.
 * They are valid until the next call with the program. */
void raw_run_bound(struct raw_program *program, const float **outputs);

#endif
