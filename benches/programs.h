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
    /* For one whose last output is the last input of its next call, and takes its memory:
     * what that input has at first. Else NULL. */
    void *first_state;
};

#define PROGRAM_COUNT 7

/* Makes all programs. */
void make_programs(struct program programs[PROGRAM_COUNT]);

/* For ways that leave the state to the host, after a call: what the program gave is what it
 * takes next. */
void keep_state(const struct program *program);

/* The state is what it was at first. */
void reset_state(const struct program *program);

/* For peers that are not written in C: programs.json, and for each program ID.mlir, its
 * text, and ID.f32, the elements of its inputs, weights and outputs, one after another.
 * Its outputs must hold what it computes. */
void write_programs(const char *folder, const struct program programs[PROGRAM_COUNT]);

#endif
