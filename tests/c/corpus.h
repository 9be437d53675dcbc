/* The programs of tests/corpus, which several versions of JAX exported. */
#ifndef CORPUS_H
#define CORPUS_H

#include <stddef.h>

#include <cyxla.h>

#define CORPUS_VERSION_COUNT 5

/* The versions of JAX, the oldest first. */
extern const char *const CORPUS_VERSIONS[CORPUS_VERSION_COUNT];

/* The file of a program of one version, to be freed; NULL and a failed check if
 * unreadable. */
void *corpus_file(const char *version, const char *program, size_t *size);

/* Reads a program for a platform, or for what it records if that is NULL. */
cyxla_error *corpus_read(const char *version, const char *program, const char *platform, cyxla_program **out);

/* Reads and compiles what has to run; NULL and a failed check if it does not. */
cyxla_executable *corpus_compiled(const char *version, const char *program);

#endif
