/* The programs that are timed, all of f32, from one generator and one seed. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "raw_pjrt.h"

struct program {
    const char *name;
    char *text; /* StableHLO */
    size_t input_count;
    size_t output_count;
    struct array inputs[16]; /* with memory at 64-byte boundaries, filled */
    struct array outputs[16];
};

#define PROGRAM_COUNT 6

/* Position of the one that the limit is for. */
#define MLP 0

/* Makes all programs. */
void make_programs(struct program programs[PROGRAM_COUNT]);

#endif
