/* Runs a part of a test in a process of its own: one process has one runtime, and
 * some inputs would kill it if the library did not refuse them. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>

/* How a child ended. */
struct child {
    int exit_code; /* -1 when it was killed */
    int signal;    /* what killed it, 0 when it exited */
    bool timed_out;
    char output[16384]; /* stdout and stderr, cut at the end if longer */
};

/* Starts this test program again in `mode` and waits for it. `settings` are changes
 * to the environment: "NAME=value" sets and "NAME" removes; NULL ends them. */
void child_run(struct child *child, const char *mode, const char *const *settings);

/* The same, and checks that the mode's checks all held. */
bool child_passes(const char *file, int line, const char *mode, const char *const *settings);

/* CHECK_CHILD("mode", "NAME=value", "NAME"): at least one setting. */
#define CHECK_CHILD(mode, ...) child_passes(__FILE__, __LINE__, mode, (const char *const[]){__VA_ARGS__, NULL})

#endif
