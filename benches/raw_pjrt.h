/* The floor: a call in raw PJRT C, with as little around it as possible. Argument
 * structs are filled once; a call changes only pointers. */
#ifndef RAW_PJRT_H
#define RAW_PJRT_H

#include "array.h"

struct raw_program;

/* Loads the plugin and makes a client of one synchronous device. These end the
 * process with a sentence when something fails: a benchmark has nothing to go on to. */
void raw_open(const char *plugin_path);

/* Makes another such client; programs belong to the newest. */
void raw_new_client(void);

/* Compiles StableHLO for calls with these arrays, which it keeps pointing to. */
struct raw_program *raw_compile(const void *code, size_t size, const struct array *inputs, size_t input_count,
                                const struct array *outputs, size_t output_count);

/* Writes the executable into a file. */
void raw_save(const struct raw_program *program, const char *path);

/* As raw_compile, of a file that raw_save has written. */
struct raw_program *raw_load(const char *path, const struct array *inputs, size_t input_count,
                             const struct array *outputs, size_t output_count);

/* The content of a file, with one zero byte behind it. */
char *raw_read_file(const char *path, size_t *size);

/* The steps of cyxla_run: inputs as zero-copy buffers, execute, outputs copied from
 * where they are, all destroyed. */
void raw_run(struct raw_program *program);

/* For raw_run_bound: makes an output of each call an input of the next, which the
 * program may take. The first call takes the input's array. */
void raw_feed(struct raw_program *program, size_t output, size_t input);

/* The fewest steps: the inputs' buffers stay, the outputs are read where they are.
 * They are valid until the next call with the program. */
void raw_run_bound(struct raw_program *program, const float **outputs);

#endif
