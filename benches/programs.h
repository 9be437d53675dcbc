/* The programs that are timed, all of f32, from one generator and one seed. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "array.h"

struct program {
    const char *id;   /* a word */
    const char *name; /* for tables */
    char *text;       /* StableHLO */
    size_t input_count;
    size_t output_count;
    size_t weight_count;
    struct array inputs[16]; /* with memory at 64-byte boundaries, filled */
    struct array outputs[16];
    struct array weights[6]; /* what the text has as constants, in the order of use */
};

#define PROGRAM_COUNT 6

/* Makes all programs. */
void make_programs(struct program programs[PROGRAM_COUNT]);

/* For peers that are not written in C: programs.json, and for each program ID.mlir, its
 * text, and ID.f32, the elements of its inputs, weights and outputs, one after another.
 * Its outputs must hold what it computes. */
void write_programs(const char *folder, const struct program programs[PROGRAM_COUNT]);

#endif
