/* Programs and shortcuts that several tests use. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdbool.h>
#include <stddef.h>

#include <cyxla.h>

/* y = a + a, f32[4]. */
extern const char DOUBLE_F32_4[];
/* y = a + b, f32[4]. */
extern const char ADD_F32_4[];
/* y = a + a, s32[2,3]. */
extern const char DOUBLE_S32_2_3[];
/* y = a + a, f32[]. */
extern const char DOUBLE_F32[];
/* y = a, u8[16]. */
extern const char COPY_U8_16[];
/* y = a + b, f32[4], into a's memory: a is donated. */
extern const char DONATED_ADD_F32_4[];

/* A program with one input and one output, of the same type, that takes a tenth of a
 * second and more. The fake plugin runs any other, and has to be told to wait. */
const char *long_program(void);
/* Frees it, compiled, just before the process ends. PJRT 0.106 would destroy it in a
 * thread of its own and abort if its globals are gone by then (docs/errors.md): there
 * it is left alone. */
void free_at_the_end(cyxla_executable *executable);

/* The PJRT minor version of the plugin under test. */
int plugin_minor(void);
/* Whether it is the fake plugin, which only adds and copies. */
bool on_fake_plugin(void);

/* Reads and compiles a program. */
cyxla_error *compile_bytes(const void *code, size_t size, cyxla_executable **out);
cyxla_error *compile_text(const char *text, cyxla_executable **out);
/* Compiles with options as cyxla_options_parse takes them. */
cyxla_error *compile_with(const cyxla_program *program, const char *text, cyxla_executable **out);
/* Compiles what has to compile; NULL and a failed check if it does not. */
cyxla_executable *compiled(const char *text);

/* Runs a program with one input and one output. */
cyxla_error *run_1_1(const cyxla_executable *executable, const void *input, size_t input_size, void *output,
                     size_t output_size);

/* Whether the process still runs a good program, compiled once. A test says so
 * after each bad thing it did: CHECK(alive()). */
bool alive(void);
/* The same with a program compiled just now. */
bool alive_and_compiles(void);

/* A file of tests/fixtures, to be freed; NULL and a failed check if unreadable. */
void *fixture(const char *name, size_t *size);
/* Reads the program in a file of tests/fixtures; NULL and a failed check if it is none. */
cyxla_program *fixture_program(const char *name);
/* The same, compiled. */
cyxla_executable *fixture_compiled(const char *name);

/* Whether two executables tell the same of themselves. */
bool same_executables(const cyxla_executable *one, const cyxla_executable *other);
/* Whether they give the same results for inputs made up here. */
bool same_results(const cyxla_executable *one, const cyxla_executable *other);

/* A path below the folder for temporary files of this run of the test; the same
 * name gives the same path. The text is to be freed. */
char *temporary(const char *name);
/* A path below it that no other process has: for what is changed while other runs of
 * the test go on. */
char *own_path(const char *name);
/* Writes a file at a path, making its parent folder. */
void write_file(const char *path, const void *data, size_t size);
/* A whole file, to be freed; NULL and a failed check if unreadable. */
void *read_file(const char *path, size_t *size);
/* Removes a file, or a folder with all that is in it. */
void remove_all(const char *path);

/* A release function that counts its calls in the int that is its user data. */
void count_release(void *count);
/* Whether there was one call, now or within seconds: a plugin may be done with
 * memory a while after its buffer was freed, and calls from a thread of its own. */
bool released_once(const int *count);

/* `count` bytes at a 64-byte boundary plus `offset`; freed with free_aligned. */
void *aligned_bytes(size_t count, size_t offset);
void free_aligned(void *bytes, size_t offset);

#endif
