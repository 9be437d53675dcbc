/* Many threads at once. */
#ifndef CROWD_H
#define CROWD_H

#include <stddef.h>

#define THREADS ((size_t)16)

/* Runs `function` in THREADS threads, each with its number from 0, and waits for all. */
void together(void *(*function)(void *number));

/* The same with fewer threads, `count`. */
void together_in(size_t count, void *(*function)(void *number));

/* Waits until each thread of the crowd has come here. */
void line_up(void);

#endif
