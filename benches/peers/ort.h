/* ONNX Runtime's C API: a session on one thread, its arrays bound once to memory that
 * the caller owns, so that a call copies nothing and allocates nothing. */
#ifndef ORT_H
#define ORT_H

#include "../array.h"

struct ort_session;

/* Loads the library, and checks that its functions are where they are expected. As all
 * of these: ends the process with a sentence when something fails. */
void ort_open(const char *library_path);

/* The version of the library that was loaded. */
const char *ort_version(void);

/* Loads an ONNX model for calls with these arrays, which it keeps pointing to. */
struct ort_session *ort_load(const char *model_path, const struct array *inputs, size_t input_count,
                             const struct array *outputs, size_t output_count);

/* Reads the inputs and writes the outputs, where they are. */
void ort_run(struct ort_session *session);

#endif
