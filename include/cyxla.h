/*
 * cyxla.h: run XLA programs on any hardware that has a PJRT plugin.
 * Version 0.1.0. Licence: MIT OR Apache-2.0.
 *
 * Written from src/capi by `cargo xtask header`; change it there.
 *
 * RULES that hold for every function
 *
 * Errors      What can fail returns a cyxla_error *: NULL for success, else an
 *             error that is yours to read and to free with cyxla_error_free.
 *             On failure, what `out` parameters point to is left as it was and
 *             there is nothing to clean up. Nothing here prints, exits, or keeps
 *             a "last error" for a thread.
 * NULL        A NULL, an index past the end or an unknown number is never a
 *             crash: functions that return an error say INVALID_ARGUMENT, all
 *             others return NULL, 0, false, or what their text says.
 *             Memory that you name must be there: no library can check that.
 * Ownership   What _new, _find, _from_*, compile and execute give is yours; end
 *             it with the _free function of its type, which accepts NULL. Any
 *             order will do: an object keeps alive what it was made from.
 *             What a getter returns belongs to the object that it was asked of,
 *             and lives as long; do not free it.
 *             What you pass in is copied or used before the call returns, but
 *             for cyxla_buffer_view_host, cyxla_buffer_from_dlpack and
 *             cyxla_call_bind_output, which say so.
 * Text        NUL-terminated UTF-8, in and out.
 * Numbers     Sizes are in bytes and counts in elements, both size_t; dims are
 *             int64_t. Arrays are row-major unless strides say otherwise.
 * Threads     Each function says whether it may run in several threads at once.
 *             A const parameter may be used by several threads at a time; an
 *             object may be freed by another thread than the one that made it,
 *             once nobody uses it any more.
 * Stack       Loading and compiling take up to 4 MiB of stack: that of the main thread,
 *             if it has 6 MiB left, else that of a thread of the library. A
 *             coroutine whose stack lies inside the main thread's is not noticed;
 *             call from another stack there.
 * Process     A process loads one plugin, and keeps it until it ends. A child of
 *             fork() is refused (FAILED_PRECONDITION): the plugin is not in it.
 * Growth      Functions and constants are added, never changed, within one
 *             SONAME (libcyxla.so.0). The types cyxla_code, cyxla_dtype,
 *             cyxla_format and cyxla_option_kind may get further values.
 */

#ifndef CYXLA_H
#define CYXLA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of this header; cyxla_version_number() tells that of the library. */
#define CYXLA_VERSION_MAJOR 0
#define CYXLA_VERSION_MINOR 1
#define CYXLA_VERSION_PATCH 0
/* major * 10000 + minor * 100 + patch */
#define CYXLA_VERSION 100

/* DLPack's; dlpack.h says what is in them. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

#ifdef __cplusplus
extern "C" {
#endif

/* =============================================================================
 * Handles: what each is, how long it lives, and who may share it.
 * ============================================================================= */

/// An error: code, message, details. Immutable; any thread may read it.
typedef struct cyxla_error cyxla_error;

/// A typed key/value set. One thread at a time may change it.
typedef struct cyxla_options cyxla_options;

/// The plugins that were found, the best first. Immutable; any thread may read it.
typedef struct cyxla_plugin_list cyxla_plugin_list;

/// Details of the process's runtime. Immutable; lives until the process ends.
typedef struct cyxla_runtime_info cyxla_runtime_info;

/// A program that is not compiled. Immutable; any thread may use it.
typedef struct cyxla_program cyxla_program;

/// A compiled program. Immutable; any number of threads may use it at once.
typedef struct cyxla_executable cyxla_executable;

/// Bytes that the library made. Immutable; any thread may use them.
typedef struct cyxla_bytes cyxla_bytes;

/// A prepared call of an executable. One thread at a time; keeps the executable alive.
typedef struct cyxla_call cyxla_call;

/// An array in the memory of a device. Any number of threads may use it at once.
typedef struct cyxla_buffer cyxla_buffer;

/* =============================================================================
 * Version of the library.
 *
 * The header's CYXLA_VERSION tells what a program was compiled against; these
 * functions tell what it runs with.
 * ============================================================================= */

/// Returns the version as text, such as "0.1.0".
///
/// @return NUL-terminated text that lives as long as the process.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_version(void);

/// Returns the version as a number that grows with each version.
///
/// @return major * 10000 + minor * 100 + patch.
/// @threads safe.   @blocks no.   @since 0.1
uint32_t cyxla_version_number(void);

/* =============================================================================
 * Errors: every failure is an owned object.
 *
 * A function that can fail returns NULL for success, or an error that the caller
 * frees. An error is immutable, may be read by any thread, and outlives whatever
 * caused it. After a failure the outputs of the function are untouched and there
 * is nothing else to clean up.
 * ============================================================================= */

/// A canonical status code, the same as PJRT's, gRPC's and Abseil's.
typedef int32_t cyxla_code;

#define CYXLA_CODE_OK                  0   ///< Not an error.
#define CYXLA_CODE_CANCELLED           1   ///< The operation was cancelled.
#define CYXLA_CODE_UNKNOWN             2   ///< The plugin gave no better code.
#define CYXLA_CODE_INVALID_ARGUMENT    3   ///< An argument can never be right.
#define CYXLA_CODE_DEADLINE_EXCEEDED   4   ///< It took longer than allowed.
#define CYXLA_CODE_NOT_FOUND           5   ///< A file, plugin or function does not exist.
#define CYXLA_CODE_ALREADY_EXISTS      6   ///< It exists already.
#define CYXLA_CODE_PERMISSION_DENIED   7   ///< The system does not allow it.
#define CYXLA_CODE_RESOURCE_EXHAUSTED  8   ///< Memory or another resource ran out.
#define CYXLA_CODE_FAILED_PRECONDITION 9   ///< The state of the process or an object does not allow it.
#define CYXLA_CODE_ABORTED             10  ///< It was given up for a concurrent operation.
#define CYXLA_CODE_OUT_OF_RANGE        11  ///< A value is outside of its range.
#define CYXLA_CODE_UNIMPLEMENTED       12  ///< This library or the plugin cannot do it.
#define CYXLA_CODE_INTERNAL            13  ///< A fault of this library or the plugin.
#define CYXLA_CODE_UNAVAILABLE         14  ///< It may work when tried again.
#define CYXLA_CODE_DATA_LOSS           15  ///< Data is damaged.
#define CYXLA_CODE_UNAUTHENTICATED     16  ///< Credentials are missing or wrong.

/// Returns the name of a code, such as "INVALID_ARGUMENT".
///
/// @param code     a code; any number.
/// @return text that lives as long as the process; "UNKNOWN" for a number that is no code.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_code_name(cyxla_code code);

/// Returns the code of an error.
///
/// @param error    an error, or NULL.
/// @return the code; CYXLA_CODE_OK for NULL, never for an error.
/// @threads safe.   @blocks no.   @since 0.1
cyxla_code cyxla_error_code(const cyxla_error *error);

/// Returns the message of an error: what is wrong, with which value, in one sentence.
///
/// @param error    an error, or NULL.
/// @return text that lives as long as the error; "" for NULL.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_error_message(const cyxla_error *error);

/// Returns a detail of an error.
///
/// Keys: "hint" (what to do), "origin" (who has to act: "caller", "library", "plugin",
/// "loader" or "system"), "function" and "parameter" (of this API), "plugin.path",
/// "pjrt.code" (the plugin's own number). More may come.
///
/// @param error    an error, or NULL.
/// @param key      the detail's key; NULL is no key.
/// @return text that lives as long as the error; NULL if it has no such detail.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_error_detail(const cyxla_error *error, const char *key);

/// Frees an error.
///
/// @param error    an error, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
void cyxla_error_free(cyxla_error *error);

/* =============================================================================
 * Element types.
 *
 * The numbers are those of PJRT. In host memory each element of a type narrower
 * than a byte (S4, U4, F4E2M1FN, S2, U2, S1, U1, F6E2M3FN, F6E3M2FN) takes one
 * byte: its value stands in the low bits; the high bits are ignored on the way in
 * and zero on the way out. How a device packs them does not show.
 * ============================================================================= */

/// An element type. An open set: later versions may know more.
typedef int32_t cyxla_dtype;

#define CYXLA_DTYPE_INVALID       0   ///< No type.
#define CYXLA_DTYPE_PRED          1   ///< Boolean: a byte of value 0 or 1.
#define CYXLA_DTYPE_S8            2   ///< Signed 8-bit integer.
#define CYXLA_DTYPE_S16           3   ///< Signed 16-bit integer.
#define CYXLA_DTYPE_S32           4   ///< Signed 32-bit integer.
#define CYXLA_DTYPE_S64           5   ///< Signed 64-bit integer.
#define CYXLA_DTYPE_U8            6   ///< Unsigned 8-bit integer.
#define CYXLA_DTYPE_U16           7   ///< Unsigned 16-bit integer.
#define CYXLA_DTYPE_U32           8   ///< Unsigned 32-bit integer.
#define CYXLA_DTYPE_U64           9   ///< Unsigned 64-bit integer.
#define CYXLA_DTYPE_F16           10  ///< IEEE half precision.
#define CYXLA_DTYPE_F32           11  ///< IEEE single precision.
#define CYXLA_DTYPE_F64           12  ///< IEEE double precision.
#define CYXLA_DTYPE_BF16          13  ///< The upper half of an F32.
#define CYXLA_DTYPE_C64           14  ///< Complex: two F32, real part first.
#define CYXLA_DTYPE_C128          15  ///< Complex: two F64, real part first.
#define CYXLA_DTYPE_F8E5M2        16  ///< 8-bit float, 5 exponent and 2 mantissa bits.
#define CYXLA_DTYPE_F8E4M3FN      17  ///< 8-bit float, 4 exponent and 3 mantissa bits, finite and NaN.
#define CYXLA_DTYPE_F8E4M3B11FNUZ 18  ///< 8-bit float, 4 exponent (bias 11) and 3 mantissa bits, no negative zero.
#define CYXLA_DTYPE_F8E5M2FNUZ    19  ///< 8-bit float, 5 exponent and 2 mantissa bits, no negative zero.
#define CYXLA_DTYPE_F8E4M3FNUZ    20  ///< 8-bit float, 4 exponent and 3 mantissa bits, no negative zero.
#define CYXLA_DTYPE_S4            21  ///< Signed 4-bit integer, one a byte in host memory.
#define CYXLA_DTYPE_U4            22  ///< Unsigned 4-bit integer, one a byte in host memory.
#define CYXLA_DTYPE_TOKEN         23  ///< A token orders effects; it has no elements.
#define CYXLA_DTYPE_S2            24  ///< Signed 2-bit integer, one a byte in host memory.
#define CYXLA_DTYPE_U2            25  ///< Unsigned 2-bit integer, one a byte in host memory.
#define CYXLA_DTYPE_F8E4M3        26  ///< 8-bit float, 4 exponent and 3 mantissa bits, as IEEE would have it.
#define CYXLA_DTYPE_F8E3M4        27  ///< 8-bit float, 3 exponent and 4 mantissa bits.
#define CYXLA_DTYPE_F8E8M0FNU     28  ///< 8-bit power of two, without sign: a scale of the MX formats.
#define CYXLA_DTYPE_F4E2M1FN      29  ///< 4-bit float of the MX formats, one a byte in host memory.
#define CYXLA_DTYPE_S1            30  ///< Signed 1-bit integer, one a byte in host memory.
#define CYXLA_DTYPE_U1            31  ///< Unsigned 1-bit integer, one a byte in host memory.
#define CYXLA_DTYPE_F6E2M3FN      32  ///< 6-bit float of the MX formats, one a byte in host memory.
#define CYXLA_DTYPE_F6E3M2FN      33  ///< 6-bit float of the MX formats, one a byte in host memory.

/// Returns the name of an element type, such as "f32".
///
/// @param dtype    an element type; any number.
/// @return text that lives as long as the process; "invalid" for a number that is no type.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_dtype_name(cyxla_dtype dtype);

/// Returns how many bytes an element takes in host memory.
///
/// @param dtype    an element type; any number.
/// @return bytes; 0 for CYXLA_DTYPE_TOKEN and for a number that is no type.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_dtype_size(cyxla_dtype dtype);

/* =============================================================================
 * Options: a typed key/value set, for cyxla_initialize and cyxla_compile_program.
 *
 * One thread at a time may change a set; several may read it. A function that
 * takes a set reads it during the call and keeps nothing of it.
 * ============================================================================= */

/// The kind of an option's value.
typedef int32_t cyxla_option_kind;

#define CYXLA_OPTION_KIND_NONE   (-1)  ///< There is no such option.
#define CYXLA_OPTION_KIND_STRING 0     ///< Text.
#define CYXLA_OPTION_KIND_INT    1     ///< A 64-bit signed integer.
#define CYXLA_OPTION_KIND_INTS   2     ///< A list of 64-bit signed integers.
#define CYXLA_OPTION_KIND_FLOAT  3     ///< A double; plugins get it in single precision.
#define CYXLA_OPTION_KIND_BOOL   4     ///< A bool.

/// Makes an empty set of options.
///
/// @return a set to free with cyxla_options_free; never NULL.
/// @threads safe.   @blocks no.   @since 0.1
cyxla_options *cyxla_options_new(void);

/// Frees a set of options.
///
/// @param options  a set, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
void cyxla_options_free(cyxla_options *options);

/// Sets an option to text, or replaces its value.
///
/// @param options  a set.
/// @param key      the option's name.
/// @param value    NUL-terminated UTF-8; copied.
/// @return NULL, or an owned error: INVALID_ARGUMENT (NULL, no UTF-8, a name that is empty or holds white space, '=' or ';').
/// @threads one at a time per set.   @blocks no.   @since 0.1
cyxla_error *cyxla_options_set_string(cyxla_options *options,
                                      const char *key,
                                      const char *value);

/// Sets an option to an integer, or replaces its value.
///
/// @param options  a set.
/// @param key      the option's name.
/// @param value    any integer; ranges are checked where the option is used.
/// @return NULL, or an owned error: INVALID_ARGUMENT (as cyxla_options_set_string).
/// @threads one at a time per set.   @blocks no.   @since 0.1
cyxla_error *cyxla_options_set_int(cyxla_options *options, const char *key, int64_t value);

/// Sets an option to a list of integers, or replaces its value.
///
/// @param options  a set.
/// @param key      the option's name.
/// @param values   the list; copied. May be NULL only if `count` is 0.
/// @param count    how many integers.
/// @return NULL, or an owned error: INVALID_ARGUMENT (as cyxla_options_set_string).
/// @threads one at a time per set.   @blocks no.   @since 0.1
cyxla_error *cyxla_options_set_ints(cyxla_options *options,
                                    const char *key,
                                    const int64_t *values,
                                    size_t count);

/// Sets an option to a floating-point number, or replaces its value.
///
/// @param options  a set.
/// @param key      the option's name.
/// @param value    a finite number.
/// @return NULL, or an owned error: INVALID_ARGUMENT (as cyxla_options_set_string; infinite or NaN).
/// @threads one at a time per set.   @blocks no.   @since 0.1
cyxla_error *cyxla_options_set_float(cyxla_options *options,
                                     const char *key,
                                     double value);

/// Sets an option to true or false, or replaces its value.
///
/// @param options  a set.
/// @param key      the option's name.
/// @param value    true or false.
/// @return NULL, or an owned error: INVALID_ARGUMENT (as cyxla_options_set_string).
/// @threads one at a time per set.   @blocks no.   @since 0.1
cyxla_error *cyxla_options_set_bool(cyxla_options *options, const char *key, bool value);

/// Adds the options of a text such as "memory_fraction=0.5;preallocate=false".
///
/// The kind of each value follows from how it looks: true or false, an integer, a
/// decimal number, integers divided by commas, else text. White space around names
/// and values does not count. A text with an error in it changes nothing.
///
/// @param options  a set.
/// @param text     NUL-terminated UTF-8.
/// @return NULL, or an owned error: INVALID_ARGUMENT (an item without '=', a bad name, a name twice in the text).
/// @threads one at a time per set.   @blocks no.   @since 0.1
cyxla_error *cyxla_options_parse(cyxla_options *options,
                                 const char *text);

/// Returns how many options a set has.
///
/// @param options  a set, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
size_t cyxla_options_count(const cyxla_options *options);

/// Returns the name of an option, in the order in which they were set first.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @return text that lives until the set is changed or freed; NULL if there is no such option.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
const char *cyxla_options_key(const cyxla_options *options, size_t index);

/// Returns the kind of an option's value.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @return the kind; CYXLA_OPTION_KIND_NONE if there is no such option.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
cyxla_option_kind cyxla_options_kind(const cyxla_options *options, size_t index);

/// Returns an option's value as text, whatever its kind.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @return text that lives until the set is changed or freed; NULL if there is no such option.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
const char *cyxla_options_get_string(const cyxla_options *options, size_t index);

/// Returns the value of an integer option.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @return the value; 0 if the option is of another kind or does not exist.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
int64_t cyxla_options_get_int(const cyxla_options *options, size_t index);

/// Returns the value of an option that is a list of integers.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @param count    receives how many integers; may be NULL.
/// @return the integers, which live until the set is changed or freed; NULL with a count of 0 if the list is empty, or the option is of another kind or does not exist.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
const int64_t *cyxla_options_get_ints(const cyxla_options *options,
                                      size_t index,
                                      size_t *count);

/// Returns the value of a floating-point option.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @return the value; 0 if the option is of another kind or does not exist.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
double cyxla_options_get_float(const cyxla_options *options, size_t index);

/// Returns the value of an option that is true or false.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @return the value; false if the option is of another kind or does not exist.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
bool cyxla_options_get_bool(const cyxla_options *options, size_t index);

/* =============================================================================
 * Plugins found on this machine.
 *
 * A list is made by looking at variables and small files: no library is opened and
 * no client created. A program is started in two cases only: a Python package
 * declares a plugin without a manifest, or `python3` is a script that hides where
 * Python is. A list is immutable, and may be read by any thread.
 * ============================================================================= */

/// Looks for plugins.
///
/// Looks, in this order, at the variable CYXLA_PLUGIN, the variable
/// PJRT_NAMES_AND_LIBRARY_PATHS, manifests in `cyxla/plugins.d`, the folders of
/// CYXLA_PLUGIN_DIRS, plugins that the host registered (cyxla_plugin_register),
/// Python packages, the variable TPU_LIBRARY_PATH, and what `cyxla install` put into
/// the user's data folder. A broken plugin is listed with its problem and hides no
/// other. The list is in the order of selection: by platform (cpu, cuda, rocm, tpu,
/// others), then by place.
///
/// A package that declares a plugin and ships no manifest is asked by its own Python
/// interpreter in another process, for up to 5 seconds, and all of them together for
/// up to 15; answers are kept until the package's files change.
///
/// @param out      receives a list to free with cyxla_plugin_list_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (NULL).
/// @threads safe.   @blocks for a few file reads; up to 15 seconds for packages that have to be asked.   @since 0.1
cyxla_error *cyxla_plugin_list_find(cyxla_plugin_list **out);

/// Adds a plugin that the host program found itself to what the search finds.
///
/// For hosts that know better than any search of files, such as Python, which asks its
/// packages in its own interpreter. From then on the process finds the plugin behind
/// the manifests and CYXLA_PLUGIN_DIRS and before Python packages; a library that is
/// found again there for the same platform is not listed twice. Registering a library
/// for the same platform again replaces its options and origin. It changes nothing for a
/// runtime that there is already.
///
/// @param platform what the plugin is for, such as "cpu".
/// @param path     its library; a relative path starts at the working folder of this moment.
/// @param options  create options that its package asks for; copied; NULL for none.
/// @param origin   what led the host to it, for people; NULL for "the host program".
/// @return NULL, or an owned error: INVALID_ARGUMENT (no platform name, an empty path).
/// @threads safe.   @blocks no.   @since 0.1
cyxla_error *cyxla_plugin_register(const char *platform,
                                   const char *path,
                                   const cyxla_options *options,
                                   const char *origin);

/// Frees a list of plugins.
///
/// @param list     a list, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
void cyxla_plugin_list_free(cyxla_plugin_list *list);

/// Returns how many plugins were found, usable or not.
///
/// @param list     a list, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_plugin_list_count(const cyxla_plugin_list *list);

/// Returns the platform that a plugin is for, such as "cpu".
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; "" if nothing declares it; NULL if there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_plugin_list_platform(const cyxla_plugin_list *list,
                                       size_t index);

/// Returns the path of a plugin's library, in the bytes of the file system.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL if there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_plugin_list_path(const cyxla_plugin_list *list, size_t index);

/// Returns what led to a plugin: the variable or file that names it.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL if there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_plugin_list_origin(const cyxla_plugin_list *list, size_t index);

/// Returns the version of a plugin, as its package declares it.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL if it is unknown or there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_plugin_list_version(const cyxla_plugin_list *list, size_t index);

/// Returns why a plugin cannot be used.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL if nothing speaks against the plugin or there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_plugin_list_problem(const cyxla_plugin_list *list,
                                      size_t index);

/// Returns the create options that a plugin gets when the caller sets none.
///
/// They are the library's defaults for the platform, and over them what the plugin's
/// package asks for.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return a set that lives as long as the list and is not to be freed; NULL if there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
const cyxla_options *cyxla_plugin_list_options(const cyxla_plugin_list *list,
                                               size_t index);

/// Tells whether a plugin is the one that is loaded when nobody chooses.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return true for at most one plugin of a list.
/// @threads safe.   @blocks no.   @since 0.1
bool cyxla_plugin_list_is_default(const cyxla_plugin_list *list, size_t index);

/// Returns why a plugin is not the one that is loaded when nobody chooses.
///
/// One whose device is visibly absent says so here; it is loaded all the same when
/// its platform is asked for by name (other than a TPU's).
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL for the default one, or if there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_plugin_list_why_not_default(const cyxla_plugin_list *list,
                                              size_t index);

/// Returns how many things went wrong that are no plugin, such as an unreadable description.
///
/// @param list     a list, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_plugin_list_failure_count(const cyxla_plugin_list *list);

/// Returns the file or variable that went wrong.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL if there is no such failure.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_plugin_list_failure_subject(const cyxla_plugin_list *list, size_t index);

/// Returns what is wrong with it.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL if there is no such failure.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_plugin_list_failure_problem(const cyxla_plugin_list *list, size_t index);

/* =============================================================================
 * The process's runtime: one plugin and its client.
 *
 * A process has one runtime. cyxla_initialize makes it; the first function that
 * needs one makes the default one. It lives until the process ends. In a child
 * that the process forks afterwards, and in exit handlers older than the runtime,
 * every function that needs it gives FAILED_PRECONDITION.
 * ============================================================================= */

/// Loads a plugin and creates its client, unless the process has a runtime already.
///
/// Optional: the first function that needs the runtime makes the default one. Once
/// there is one, this changes nothing, whatever the arguments, and gives the details
/// of the one that there is. Threads that call at once get the same one. A failure
/// leaves the process as it was; another call may succeed.
///
/// Without `path` the variable CYXLA_PLUGIN names the library; without `platform` too,
/// CYXLA_PLATFORM names the platform. Without all of them it is the first usable plugin
/// of cyxla_plugin_list_find. A library that was named and fails, or is for another
/// platform, is an error, never a reason to take another one. A path is used as it is
/// given (links are not resolved); a relative one starts at the working folder, also
/// when it has no slash.
///
/// Options of a CPU plugin: "cpu_device_count" (int, 1 to 1024, default 1),
/// "asynchronous" (bool, default false), "threads" (int, from 1 to the number of CPUs
/// that the process may run on, which is the default). Names and values that are known
/// are checked before the plugin sees them; other names go through to the plugin. A
/// default that the plugin does not know is left out; an option that the caller gave is
/// an error, but for "asynchronous", which old CPU plugins ignore ("options_ignored" of
/// cyxla_runtime_info_json, cyxla_runtime_info_is_synchronous).
///
/// A plugin is code of its own: one that aborts while it is loaded ends the process.
/// `cyxla info --plugin PATH` tries one in a process of its own first.
///
/// @param path     the plugin's library, or NULL to search for one.
/// @param platform "cpu", "cuda", "rocm", "tpu", "gpu" (cuda or rocm) or another; NULL for any.
/// @param options  create options, or NULL for those of the variable CYXLA_OPTIONS.
/// @param info     receives the details of the runtime; may be NULL.
/// @return NULL, or an owned error: NOT_FOUND (no plugin, no such file), INVALID_ARGUMENT (no plugin library, an option), FAILED_PRECONDITION (the loader, another platform, a variable that contradicts "threads", a forked child, a process that is ending), UNIMPLEMENTED (the plugin is too old), or the plugin's own.
/// @threads safe.   @blocks while a plugin is loaded.   @since 0.1
cyxla_error *cyxla_initialize(const char *path,
                              const char *platform,
                              const cyxla_options *options,
                              const cyxla_runtime_info **info);

/// Tells whether the process has a runtime.
///
/// @return true from the first success on, for ever.
/// @threads safe.   @blocks no.   @since 0.1
bool cyxla_is_initialized(void);

/// Gets the details of the runtime; makes the default runtime if there is none.
///
/// @param out      receives details that live until the process ends.
/// @return NULL, or an owned error (as cyxla_initialize).
/// @threads safe.   @blocks while a plugin is loaded.   @since 0.1
cyxla_error *cyxla_runtime_info_get(const cyxla_runtime_info **out);

/// Returns the platform, as the plugin reports it: "cpu", "cuda", ...
///
/// @param info     details, or NULL.
/// @return text that lives until the process ends; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_runtime_info_platform(const cyxla_runtime_info *info);

/// Returns what the platform says of its version.
///
/// @param info     details, or NULL.
/// @return text that lives until the process ends; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_runtime_info_platform_version(const cyxla_runtime_info *info);

/// Returns the path of the plugin's library, absolute, in the bytes of the file system.
///
/// @param info     details, or NULL.
/// @return text that lives until the process ends; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_runtime_info_plugin_path(const cyxla_runtime_info *info);

/// Returns what led to the plugin: the caller, a variable or a file.
///
/// @param info     details, or NULL.
/// @return text that lives until the process ends; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_runtime_info_plugin_origin(const cyxla_runtime_info *info);

/// Returns all details as a JSON object, among them the options in force.
///
/// @param info     details, or NULL.
/// @return text that lives until the process ends; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_runtime_info_json(const cyxla_runtime_info *info);

/// Gets the version of PJRT's C ABI that the plugin implements.
///
/// @param info     details; with NULL nothing is written.
/// @param major    receives the major version; may be NULL.
/// @param minor    receives the minor version; may be NULL.
/// @threads safe.   @blocks no.   @since 0.1
void cyxla_runtime_info_api_version(const cyxla_runtime_info *info, int32_t *major, int32_t *minor);

/// Tells whether memory of the host can be used in place by programs.
///
/// @param info     details, or NULL.
/// @return true if device memory is host memory.
/// @threads safe.   @blocks no.   @since 0.1
bool cyxla_runtime_info_avoids_copies(const cyxla_runtime_info *info);

/// Tells whether programs have ended when the call that runs them returns.
///
/// They then run in the calling thread, with the help of the plugin's threads for large
/// operations. CPU plugins of PJRT 0.106 and older ignore the option "asynchronous" and
/// are not synchronous; one of 0.115 is.
///
/// @param info     details, or NULL.
/// @return true if they do.
/// @threads safe.   @blocks no.   @since 0.1
bool cyxla_runtime_info_is_synchronous(const cyxla_runtime_info *info);

/// Returns how many devices there are.
///
/// @param info     details, or NULL.
/// @return the count, at least 1; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_runtime_info_device_count(const cyxla_runtime_info *info);

/// Returns the plugin's own number of a device; other functions take its position instead.
///
/// @param info     details, or NULL.
/// @param index    the device's position, from 0.
/// @return the number; -1 if there is no such device.
/// @threads safe.   @blocks no.   @since 0.1
int64_t cyxla_runtime_info_device_id(const cyxla_runtime_info *info, size_t index);

/// Returns what a device is, such as "cpu".
///
/// @param info     details, or NULL.
/// @param index    the device's position, from 0.
/// @return text that lives until the process ends; NULL if there is no such device.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_runtime_info_device_kind(const cyxla_runtime_info *info, size_t index);

/// Returns all details of a device as a JSON object.
///
/// @param info     details, or NULL.
/// @param index    the device's position, from 0.
/// @return text that lives until the process ends; NULL if there is no such device.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_runtime_info_device_json(const cyxla_runtime_info *info, size_t index);

/* =============================================================================
 * Programs: what a file or memory holds, before it is compiled.
 *
 * A program is immutable and may be shared by threads. It needs no plugin. Its form is
 * told by its content, never by the name of its file.
 * ============================================================================= */

/// The encoding of a program.
typedef int32_t cyxla_format;

#define CYXLA_FORMAT_DETECT     0  ///< Find out from the content.
#define CYXLA_FORMAT_STABLEHLO  1  ///< StableHLO: text, MLIR bytecode or portable artifact.
#define CYXLA_FORMAT_JAX_EXPORT 2  ///< A file of jax.export (Exported.serialize).
#define CYXLA_FORMAT_HLO        3  ///< A serialized HloModuleProto.

/// Reads a program from a file.
///
/// @param path     a regular file; NUL-terminated, in the bytes of the file system.
/// @param format   CYXLA_FORMAT_DETECT, or what the file is.
/// @param platform the platform that the program was lowered for, or NULL for what it records (StableHLO and HLO record none, and compile for any); one of them for a file of jax.export that has several.
/// @param out      receives a program to free with cyxla_program_free.
/// @return NULL, or an owned error: NOT_FOUND or PERMISSION_DENIED (the file), INVALID_ARGUMENT (not a program, damaged, or not for `platform`), FAILED_PRECONDITION (a saved executable), UNIMPLEMENTED (a program that cannot run: no fixed shapes, host callbacks, a newer calling convention; or one for a newer libcyxla).
/// @threads safe.   @blocks while the file is read.   @since 0.1
cyxla_error *cyxla_program_from_file(const char *path,
                                     cyxla_format format,
                                     const char *platform,
                                     cyxla_program **out);

/// Reads a program from memory.
///
/// @param data     program bytes; copied. May be NULL only if `size` is 0.
/// @param size     in bytes; without the NUL at the end of a text.
/// @param format   CYXLA_FORMAT_DETECT, or what the bytes are.
/// @param platform the platform that the program was lowered for, or NULL for what it records (StableHLO and HLO record none, and compile for any); one of them for a file of jax.export that has several.
/// @param out      receives a program to free with cyxla_program_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (not a program, damaged, or not for `platform`), FAILED_PRECONDITION (a saved executable), UNIMPLEMENTED (a program that cannot run: no fixed shapes, host callbacks, a newer calling convention; or one for a newer libcyxla).
/// @threads safe.   @blocks no.   @since 0.1
cyxla_error *cyxla_program_from_bytes(const void *data,
                                      size_t size,
                                      cyxla_format format,
                                      const char *platform,
                                      cyxla_program **out);

/// Frees a program. Executables that were compiled from it live on.
///
/// @param program  a program, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
void cyxla_program_free(cyxla_program *program);

/// Returns how many platforms a program was lowered for.
///
/// @param program  a program, or NULL.
/// @return the count; 0 if it records none, and for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_program_platform_count(const cyxla_program *program);

/// Returns a platform that a program was lowered for.
///
/// @param program  a program, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the program; NULL if there is no such platform.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_program_platform(const cyxla_program *program, size_t index);

/// Returns the encoding of a program.
///
/// @param program  a program, or NULL.
/// @return the encoding that was found; CYXLA_FORMAT_DETECT for NULL only.
/// @threads safe.   @blocks no.   @since 0.1
cyxla_format cyxla_program_format(const cyxla_program *program);

/// Returns the name of a program: of the function that jax.export wrote, or of the module.
///
/// @param program  a program, or NULL.
/// @return text that lives as long as the program; NULL if it has none, and for NULL.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_program_name(const cyxla_program *program);

/// Returns how many kinds of custom calls a program makes. The plugin has to know each.
///
/// @param program  a program, or NULL.
/// @return the count of different targets; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_program_custom_call_count(const cyxla_program *program);

/// Returns the target of a custom call that a program makes.
///
/// @param program  a program, or NULL.
/// @param index    from 0; targets are sorted.
/// @return text that lives as long as the program; NULL if there is no such target.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_program_custom_call(const cyxla_program *program, size_t index);

/// Returns all that is known of a program before it is compiled, as a JSON object.
///
/// It is what `cyxla inspect --json` prints.
///
/// @param program  a program, or NULL.
/// @return text that lives as long as the program; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_program_json(const cyxla_program *program);

/// Gives the program of the gradients that a file of jax.export holds.
///
/// It takes the inputs of `program` and then a cotangent for each of its outputs, and
/// gives a cotangent for each input: JAX's VJP.
///
/// @param program  a program.
/// @param out      receives a program of its own, to free with cyxla_program_free.
/// @return NULL, or an owned error: NOT_FOUND (there is none; write it with `serialize(vjp_order=1)`), UNIMPLEMENTED (it cannot run).
/// @threads safe.   @blocks no.   @since 0.1
cyxla_error *cyxla_program_vjp(const cyxla_program *program,
                               cyxla_program **out);

/* =============================================================================
 * What programs take and give, before they are compiled.
 *
 * Files of jax.export and HLO protos always tell; StableHLO tells where its entry
 * function's types are written out (cyxla_program_has_signature). These are the inputs
 * of the user's own function, in flat order: those that the compiler dropped are among
 * them, while the platform index that jax.export adds is not.
 * ============================================================================= */

/// Tells whether the inputs and outputs of a program are known before it is compiled.
///
/// @param program a program, or NULL.
/// @return true if the getters of this section tell them; false for NULL.
/// @threads safe.   @blocks no.   @since 0.1
bool cyxla_program_has_signature(const cyxla_program *program);

/// Returns how many inputs the program takes.
///
/// @param program a program, or NULL.
/// @return the count; 0 for NULL and where it is unknown.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_program_input_count(const cyxla_program *program);

/// Returns the name of an input in the user's program.
///
/// For a file of jax.export it is a key path, such as `args[0]['w1'][3]`.
///
/// @param program a program, or NULL.
/// @param index the input's position, from 0.
/// @return text that lives as long as the program; NULL if it is unknown or there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_program_input_name(const cyxla_program *program, size_t index);

/// Returns the element type of an input.
///
/// @param program a program, or NULL.
/// @param index the input's position, from 0.
/// @return the type; CYXLA_DTYPE_INVALID if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
cyxla_dtype cyxla_program_input_dtype(const cyxla_program *program, size_t index);

/// Returns how many elements an input has in each dimension.
///
/// @param program a program, or NULL.
/// @param index the input's position, from 0.
/// @param rank  receives how many dimensions; may be NULL.
/// @return the dims, which live as long as the program; NULL for a scalar and if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
const int64_t *cyxla_program_input_dims(const cyxla_program *program,
                                        size_t index,
                                        size_t *rank);

/// Returns how many bytes an input takes in host memory, row-major.
///
/// @param program a program, or NULL.
/// @param index the input's position, from 0.
/// @return bytes; 0 if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_program_input_size(const cyxla_program *program, size_t index);

/// Tells whether the program may overwrite an input.
///
/// @param program a program, or NULL.
/// @param index the input's position, from 0.
/// @return true if it may: a buffer passed to cyxla_execute for it may be gone afterwards.
/// @threads safe.   @blocks no.   @since 0.1
bool cyxla_program_input_is_donated(const cyxla_program *program, size_t index);

/// Returns how many outputs the program gives.
///
/// @param program a program, or NULL.
/// @return the count; 0 for NULL and where it is unknown.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_program_output_count(const cyxla_program *program);

/// Returns the name of an output in the user's program.
///
/// For a file of jax.export it is a key path, such as `result['loss']`.
///
/// @param program a program, or NULL.
/// @param index the output's position, from 0.
/// @return text that lives as long as the program; NULL if it is unknown or there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_program_output_name(const cyxla_program *program,
                                      size_t index);

/// Returns the element type of an output.
///
/// @param program a program, or NULL.
/// @param index the output's position, from 0.
/// @return the type; CYXLA_DTYPE_INVALID if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
cyxla_dtype cyxla_program_output_dtype(const cyxla_program *program, size_t index);

/// Returns how many elements an output has in each dimension.
///
/// @param program a program, or NULL.
/// @param index the output's position, from 0.
/// @param rank  receives how many dimensions; may be NULL.
/// @return the dims, which live as long as the program; NULL for a scalar and if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
const int64_t *cyxla_program_output_dims(const cyxla_program *program,
                                         size_t index,
                                         size_t *rank);

/// Returns how many bytes an output takes in host memory, row-major.
///
/// @param program a program, or NULL.
/// @param index the output's position, from 0.
/// @return bytes; 0 if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_program_output_size(const cyxla_program *program, size_t index);

/* =============================================================================
 * Executables: compiled programs.
 *
 * An executable is immutable and may be used by any number of threads at once.
 * It tells what it takes and gives; the texts and lists it returns live as long as
 * the executable.
 * ============================================================================= */

/// Compiles a program for the process's runtime.
///
/// Makes the default runtime for the program's platform if there is none. A program
/// that was lowered for another platform than the runtime's is refused, and so is one
/// that its devices cannot run by themselves (collectives with others, infeed, tokens,
/// dynamic shapes): plugins would hang or end the process. Text, MLIR bytecode and HLO
/// protos are checked before the plugin sees them, but no check finds all that a plugin
/// cannot bear: compile programs from others in a process of their own.
///
/// Options: "device" (int, a device's position, default 0), "replicas" and "partitions"
/// (ints), "device_ids" (list of ints), "use_spmd_partitioning",
/// "use_shardy_partitioner", "portable", "check_platform" (bools), "profile_version"
/// (int), "cache_dir" (string, a folder; empty for no cache), "cache_size" (int, bytes),
/// and "xla.NAME" for a debug option of XLA; docs/compile_options.md describes them.
///
/// @param program  a program.
/// @param options  compile options, or NULL.
/// @param out      receives an executable to free with cyxla_executable_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (an option), FAILED_PRECONDITION (another platform), UNIMPLEMENTED (cannot run on one device), the plugin's own (UNKNOWN for a program that it cannot parse), or as cyxla_initialize.
/// @threads safe.   @blocks while the plugin compiles.   @since 0.1
cyxla_error *cyxla_compile_program(const cyxla_program *program,
                                   const cyxla_options *options,
                                   cyxla_executable **out);

/// Frees an executable. Buffers that it made live on.
///
/// @param executable an executable, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
void cyxla_executable_free(cyxla_executable *executable);

/// Returns the name of the program, as the program itself has it.
///
/// @param executable an executable, or NULL.
/// @return text that lives as long as the executable; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_executable_name(const cyxla_executable *executable);

/// Returns a text that names the program that was compiled.
///
/// Equal programs have the same one on every machine, whatever options they were compiled
/// with; versions of a plugin may differ.
///
/// @param executable an executable, or NULL.
/// @return text that lives as long as the executable; empty if the plugin has none; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_executable_fingerprint(const cyxla_executable *executable);

/// Returns on how many devices an executable runs at once.
///
/// They are its replicas times its partitions.
///
/// @param executable an executable, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_executable_device_count(const cyxla_executable *executable);

/// Returns one of the devices that an executable runs on.
///
/// In the order that the lists of cyxla_run and cyxla_execute and the `device` of the
/// functions of calls have: all partitions of the first replica, then those of the next.
///
/// @param executable an executable, or NULL.
/// @param index      position in the executable's list of devices, from 0.
/// @return position among the runtime's devices; 0 if there is no such device, and for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_executable_device(const cyxla_executable *executable, size_t index);

/// Returns the size of the code that was made.
///
/// @param executable an executable, or NULL.
/// @return bytes; 0 where the plugin does not tell (CPU plugins do not), and for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_executable_generated_code_size(const cyxla_executable *executable);

/// Returns how much memory an executable takes on each of its devices, as a JSON object.
///
/// It has "arguments", "outputs", "aliased" (outputs in the memory of donated arguments),
/// "temporary", "generated_code" and "peak", in bytes.
///
/// @param executable an executable, or NULL.
/// @return text that lives as long as the executable, "null" if the plugin does not tell; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_executable_memory_json(const cyxla_executable *executable);

/// Gives the program as the plugin optimized it.
///
/// From XLA's own plugins it is a serialized HloModuleProtoWithConfig. It is for people
/// to look at: it cannot be compiled again.
///
/// @param executable an executable.
/// @param out        receives bytes to free with cyxla_bytes_free.
/// @return NULL, or an owned error: the plugin's.
/// @threads safe.   @blocks while the plugin writes it.   @since 0.1
cyxla_error *cyxla_executable_optimized_program(const cyxla_executable *executable,
                                                cyxla_bytes **out);

/* =============================================================================
 * What executables take and give.
 *
 * Never unknown. For a file of jax.export these are the inputs of the user's own
 * function, in flat order: pass those that the compiler dropped as well.
 * ============================================================================= */

/// Returns how many inputs the program takes.
///
/// @param executable an executable, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_executable_input_count(const cyxla_executable *executable);

/// Returns the name of an input in the user's program.
///
/// For a file of jax.export it is a key path, such as `args[0]['w1'][3]`.
///
/// @param executable an executable, or NULL.
/// @param index the input's position, from 0.
/// @return text that lives as long as the executable; NULL if it is unknown or there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_executable_input_name(const cyxla_executable *executable,
                                        size_t index);

/// Returns the element type of an input.
///
/// @param executable an executable, or NULL.
/// @param index the input's position, from 0.
/// @return the type; CYXLA_DTYPE_INVALID if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
cyxla_dtype cyxla_executable_input_dtype(const cyxla_executable *executable, size_t index);

/// Returns how many elements an input has in each dimension.
///
/// @param executable an executable, or NULL.
/// @param index the input's position, from 0.
/// @param rank  receives how many dimensions; may be NULL.
/// @return the dims, which live as long as the executable; NULL for a scalar and if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
const int64_t *cyxla_executable_input_dims(const cyxla_executable *executable,
                                           size_t index,
                                           size_t *rank);

/// Returns which part of a whole array a device has of an input.
///
/// An executable for several partitions divides arrays among its devices:
/// cyxla_executable_input_dims tells how large each part is, and this where it begins.
/// Zeros where every device has all of it, as replicas do.
///
/// @param executable an executable, or NULL.
/// @param device position in the executable's list of devices, from 0.
/// @param index  the input's position, from 0.
/// @param rank   receives how many dimensions the array has, also where NULL is returned; may be NULL.
/// @return the index in the whole array of the first element that the device has, one number a dimension, which live as long as the executable (where an array does not divide evenly, the last parts may go past its end); NULL for a scalar, where the device has no part or the plugin does not tell (some older ones), and if there is no such device or input.
/// @threads safe.   @blocks no.   @since 0.1
const int64_t *cyxla_executable_input_offsets(const cyxla_executable *executable,
                                              size_t device,
                                              size_t index,
                                              size_t *rank);

/// Returns how many bytes an input takes in host memory, row-major.
///
/// @param executable an executable, or NULL.
/// @param index the input's position, from 0.
/// @return bytes; 0 if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_executable_input_size(const cyxla_executable *executable, size_t index);

/// Tells whether the program may overwrite an input.
///
/// @param executable an executable, or NULL.
/// @param index the input's position, from 0.
/// @return true if it may: a buffer passed to cyxla_execute for it may be gone afterwards.
/// @threads safe.   @blocks no.   @since 0.1
bool cyxla_executable_input_is_donated(const cyxla_executable *executable, size_t index);

/// Returns how many outputs the program gives.
///
/// @param executable an executable, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_executable_output_count(const cyxla_executable *executable);

/// Returns the name of an output in the user's program.
///
/// For a file of jax.export it is a key path, such as `result['loss']`.
///
/// @param executable an executable, or NULL.
/// @param index the output's position, from 0.
/// @return text that lives as long as the executable; NULL if it is unknown or there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_executable_output_name(const cyxla_executable *executable,
                                         size_t index);

/// Returns the element type of an output.
///
/// @param executable an executable, or NULL.
/// @param index the output's position, from 0.
/// @return the type; CYXLA_DTYPE_INVALID if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
cyxla_dtype cyxla_executable_output_dtype(const cyxla_executable *executable, size_t index);

/// Returns how many elements an output has in each dimension.
///
/// @param executable an executable, or NULL.
/// @param index the output's position, from 0.
/// @param rank  receives how many dimensions; may be NULL.
/// @return the dims, which live as long as the executable; NULL for a scalar and if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
const int64_t *cyxla_executable_output_dims(const cyxla_executable *executable,
                                            size_t index,
                                            size_t *rank);

/// Returns which part of a whole array a device has of an output.
///
/// An executable for several partitions divides arrays among its devices:
/// cyxla_executable_output_dims tells how large each part is, and this where it begins.
/// Zeros where every device has all of it, as replicas do.
///
/// @param executable an executable, or NULL.
/// @param device position in the executable's list of devices, from 0.
/// @param index  the output's position, from 0.
/// @param rank   receives how many dimensions the array has, also where NULL is returned; may be NULL.
/// @return the index in the whole array of the first element that the device has, one number a dimension, which live as long as the executable (where an array does not divide evenly, the last parts may go past its end); NULL for a scalar, where the device has no part or the plugin does not tell (some older ones), and if there is no such device or output.
/// @threads safe.   @blocks no.   @since 0.1
const int64_t *cyxla_executable_output_offsets(const cyxla_executable *executable,
                                               size_t device,
                                               size_t index,
                                               size_t *rank);

/// Returns how many bytes an output takes in host memory, row-major.
///
/// @param executable an executable, or NULL.
/// @param index the output's position, from 0.
/// @return bytes; 0 if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_executable_output_size(const cyxla_executable *executable, size_t index);

/* =============================================================================
 * Saved executables: compile once, load in milliseconds.
 *
 * A saved executable is for the plugin, its version and the kind of CPU that it was
 * compiled with; loading it under anything else is refused, since plugins would load it
 * and compute wrong numbers. To have that done by itself, turn on the executable cache:
 * the environment variable CYXLA_CACHE_DIR, or the compile option "cache_dir".
 * ============================================================================= */

/// Saves an executable.
///
/// The bytes hold its code, what it takes and gives, and what it was compiled with and
/// for. Save it before it runs for the first time: plugins cannot save some programs (those
/// that sort) afterwards. The plugin is asked to load what it saved, so that what is
/// returned is known to load.
///
/// @param executable an executable.
/// @param out        receives bytes to free with cyxla_bytes_free.
/// @return NULL, or an owned error: UNIMPLEMENTED (the plugin cannot), or the plugin's.
/// @threads safe.   @blocks while the plugin writes its code.   @since 0.1
cyxla_error *cyxla_executable_to_bytes(const cyxla_executable *executable, cyxla_bytes **out);

/// Loads a saved executable.
///
/// Makes the default runtime for its platform if there is none. Every byte is checked
/// before the plugin sees it, but bytes that somebody made up to do harm are as good as a
/// program: load only what you would run.
///
/// @param data     the bytes of cyxla_executable_to_bytes; used before the call returns. May be NULL only if `size` is 0.
/// @param size     in bytes.
/// @param out      receives an executable to free with cyxla_executable_free.
/// @return NULL, or an owned error: DATA_LOSS (damaged), INVALID_ARGUMENT (no saved executable), FAILED_PRECONDITION (saved with another plugin or for another machine; the message says what differs), UNIMPLEMENTED (saved by a newer libcyxla).
/// @threads safe.   @blocks while the plugin loads.   @since 0.1
cyxla_error *cyxla_executable_from_bytes(const void *data,
                                         size_t size,
                                         cyxla_executable **out);

/// Tells whether an executable came from the executable cache.
///
/// @param executable an executable, or NULL.
/// @return true if nothing had to be compiled; false for NULL.
/// @threads safe.   @blocks no.   @since 0.1
bool cyxla_executable_is_from_cache(const cyxla_executable *executable);

/* =============================================================================
 * Bytes that the library made, such as a saved executable.
 * ============================================================================= */

/// Returns where the bytes are.
///
/// @param bytes bytes, or NULL.
/// @return memory that lives as long as `bytes`; NULL if there are none.
/// @threads safe.   @blocks no.   @since 0.1
const void *cyxla_bytes_data(const cyxla_bytes *bytes);

/// Returns how many bytes there are.
///
/// @param bytes bytes, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_bytes_size(const cyxla_bytes *bytes);

/// Frees bytes.
///
/// @param bytes bytes, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
void cyxla_bytes_free(cyxla_bytes *bytes);

/* =============================================================================
 * Running a program.
 *
 * cyxla_run goes from host memory to host memory in one call; cyxla_execute goes
 * from buffers to buffers and leaves the data on the device.
 * ============================================================================= */

/// Runs a program on host memory and waits for the results.
///
/// For an executable for several devices the lists hold all that belongs to its first
/// device, then all that belongs to the next.
///
/// Inputs and outputs are dense and row-major. On a CPU plugin an input whose address
/// is a multiple of 64 is used in place; others are copied. Outputs are written
/// only after the program has ended, so they may be the memory of inputs. After an
/// error the contents of the outputs are unspecified only if the plugin failed while
/// they were copied; otherwise they are untouched. All this but for a program that was
/// compiled with results_in_place=true: it writes large results while it runs where nothing
/// else of the call lies, and leaves anything there after an error.
///
/// @param executable   an executable.
/// @param inputs       one address an input; each may be NULL only if its size is 0. Nobody may change the memory during the call.
/// @param input_sizes  bytes at each address: exactly cyxla_executable_input_size.
/// @param input_count  how many inputs: exactly cyxla_executable_input_count for each device.
/// @param outputs      one address an output; each may be NULL only if its size is 0.
/// @param output_sizes bytes at each address: exactly cyxla_executable_output_size.
/// @param output_count how many outputs: exactly cyxla_executable_output_count for each device.
/// @return NULL, or an owned error: INVALID_ARGUMENT (counts, sizes, NULL, a PRED byte other than 0 and 1), FAILED_PRECONDITION (a forked child), or the plugin's own.
/// @threads safe.   @blocks until the program has ended.   @since 0.1
cyxla_error *cyxla_run(const cyxla_executable *executable,
                       const void *const *inputs,
                       const size_t *input_sizes,
                       size_t input_count,
                       void *const *outputs,
                       const size_t *output_sizes,
                       size_t output_count);

/// Runs a program on buffers; the results are buffers.
///
/// May return before the program has ended; the results can be used at once all the
/// same, and an error of the program then comes from whatever uses them. Inputs that
/// the program may overwrite (cyxla_executable_input_is_donated) may be gone
/// afterwards; cyxla_buffer_is_donated tells. For an executable for several devices the
/// lists hold all that belongs to its first device, then all that belongs to the next;
/// one that was compiled with portable=true runs on the device of its inputs.
///
/// @param executable   an executable.
/// @param inputs       one buffer an input, of the input's type, on the device that it belongs to.
/// @param input_count  how many inputs: exactly cyxla_executable_input_count for each device.
/// @param outputs      receives one buffer an output, to be freed with cyxla_buffer_free; untouched after an error.
/// @param output_count how many outputs: exactly cyxla_executable_output_count for each device.
/// @return NULL, or an owned error: INVALID_ARGUMENT (counts, types, NULL, a device, a donated buffer passed twice), FAILED_PRECONDITION (a buffer that was donated before, a forked child), or the plugin's own.
/// @threads safe.   @blocks on a synchronous runtime, until the program has ended.   @since 0.1
cyxla_error *cyxla_execute(const cyxla_executable *executable,
                           const cyxla_buffer *const *inputs,
                           size_t input_count,
                           cyxla_buffer **outputs,
                           size_t output_count);

/* =============================================================================
 * Calls: bind a program's arguments once, then run it again and again.
 *
 * The fast way. A call owns memory for inputs, which a CPU plugin reads in place; the
 * host writes it between steps. Each step is one crossing: nothing is allocated, looked
 * up or locked (but bound buffers that the program may take, and all on several devices).
 * Outputs are read in place. On other devices the same functions copy.
 *
 * A call is for one thread at a time (FAILED_PRECONDITION otherwise); for several
 * threads make one call each, of the same executable. While a step is in flight its
 * memory is the plugin's: the functions that would give it out refuse.
 * ============================================================================= */

/// Prepares an executable for being run again and again.
///
/// An executable for several devices has inputs and outputs on each of them; a step runs
/// all at once.
///
/// @param executable an executable.
/// @param options    NULL, or options: `device` (int), where to run an executable that was compiled with portable=true.
/// @param out        receives a call to free with cyxla_call_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (an option).
/// @threads safe.   @blocks no.   @since 0.1
cyxla_error *cyxla_call_new(const cyxla_executable *executable,
                            const cyxla_options *options,
                            cyxla_call **out);

/// Frees a call, waiting for a step in flight. Buffers that were taken live on.
///
/// @param call a call, or NULL.
/// @threads safe, once nobody uses the call.   @blocks until a step in flight has ended.   @since 0.1
void cyxla_call_free(cyxla_call *call);

/// Returns the memory of an input, to be written between steps.
///
/// The same address each time, aligned to 64 bytes, with zeros in it at first; row-major.
/// The input is read from there from now on, at each step: rewrite only what changes.
/// PRED elements are bytes of 0 and 1.
///
/// @param call   a call, or NULL.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param index  the input's position, from 0.
/// @param size   receives bytes; may be NULL.
/// @return memory of the call; NULL if there is no such input, no memory, or a step is in flight.
/// @threads one at a time.   @blocks no.   @since 0.1
void *cyxla_call_input(cyxla_call *call, size_t device, size_t index, size_t *size);

/// Uses a buffer for an input, from now on.
///
/// The buffer is kept alive. One that the program may take (see
/// cyxla_executable_input_is_donated) is gone after a step: bind another, or feed.
///
/// @param call   a call.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param index  the input's position, from 0.
/// @param buffer a buffer of the input's type, on the same device.
/// @return NULL, or an owned error: INVALID_ARGUMENT (no such input, type, device), FAILED_PRECONDITION (donated, or a step is in flight).
/// @threads one at a time.   @blocks no, unless the buffer is not row-major: while it is copied.   @since 0.1
cyxla_error *cyxla_call_bind(cyxla_call *call,
                             size_t device,
                             size_t index,
                             const cyxla_buffer *buffer);

/// Says whether a bound buffer survives the steps of a program that may take it.
///
/// Such a program (see cyxla_executable_input_is_donated) then works on a copy. Holds
/// until the input is bound again; for several devices it holds on all as soon as it does
/// on one. What is fed is never kept.
///
/// @param call   a call.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param index  the input's position, from 0.
/// @param keep   whether the buffer is to stay.
/// @return NULL, or an owned error: INVALID_ARGUMENT (no such input), FAILED_PRECONDITION (no buffer is bound, or a step is in flight).
/// @threads one at a time.   @blocks no.   @since 0.1
cyxla_error *cyxla_call_keep(cyxla_call *call,
                             size_t device,
                             size_t index,
                             bool keep);

/// Makes an output of each step an input of the next, which stays on the device.
///
/// The first step takes what the input has: its memory, or the buffer that was bound.
/// Calling this again starts over from there, as is needed after a step that failed.
/// cyxla_call_input and cyxla_call_bind end it.
///
/// @param call   a call.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param output the output's position, from 0.
/// @param input  the input's position, from 0; of the same type.
/// @return NULL, or an owned error: INVALID_ARGUMENT (no such input or output, types, or one of them is fed already), FAILED_PRECONDITION (a step is in flight).
/// @threads one at a time.   @blocks no.   @since 0.1
cyxla_error *cyxla_call_feed(cyxla_call *call,
                             size_t device,
                             size_t output,
                             size_t input);

/// Makes each step write an output to memory of the caller.
///
/// The output is there when cyxla_call_run or cyxla_call_wait returns, row-major;
/// cyxla_call_output then gives the same memory. Nobody else may use the memory while a
/// step runs: a program compiled with results_in_place=true writes there from the start,
/// and what a step that failed leaves there is unspecified. Call this between steps, before
/// the next one: if the last step wrote to the old memory itself, its output is gone.
///
/// @param call   a call.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param index  the output's position, from 0.
/// @param data   memory that stays until another takes its place or the call is freed, at any address; NULL to end this.
/// @param size   in bytes: exactly cyxla_executable_output_size; 0 with NULL.
/// @return NULL, or an owned error: INVALID_ARGUMENT (no such output, size), FAILED_PRECONDITION (a step is in flight).
/// @threads one at a time.   @blocks no.   @since 0.1
cyxla_error *cyxla_call_bind_output(cyxla_call *call,
                                    size_t device,
                                    size_t index,
                                    void *data,
                                    size_t size);

/// Runs a step: cyxla_call_start and cyxla_call_wait in one.
///
/// @param call a call.
/// @return NULL, or an owned error: FAILED_PRECONDITION (an input was not set or was donated, a step is in flight, a forked child), INVALID_ARGUMENT (a PRED byte other than 0 and 1), or the plugin's own. Results of the step before are gone, also after an error.
/// @threads one at a time.   @blocks until the program has ended.   @since 0.1
cyxla_error *cyxla_call_run(cyxla_call *call);

/// Starts a step.
///
/// On a synchronous runtime (cyxla_runtime_info_is_synchronous) the program has ended
/// on return; cyxla_call_wait has to be called all the same.
///
/// @param call a call.
/// @return NULL, or an owned error, as cyxla_call_run.
/// @threads one at a time.   @blocks on a synchronous runtime, until the program has ended.   @since 0.1
cyxla_error *cyxla_call_start(cyxla_call *call);

/// Sets what is called when a step that cyxla_call_start started has ended.
///
/// Also when it has failed: cyxla_call_wait tells, and does not block any more. The
/// function may run inside cyxla_call_start or on a thread of the plugin, a little after
/// cyxla_call_wait has returned, and so after another function was set or the call freed.
/// It must not use the call, nor run, wait for or free anything: it should wake the thread
/// that does. Not called for cyxla_call_run, in a forked child or while the process ends.
///
/// @param call           a call.
/// @param done           called once for each step; NULL for nothing.
/// @param user_data      what both functions get.
/// @param free_user_data called once when `done` is not called any more, from any thread; at once if `done` is NULL; may be NULL. Not called after an error.
/// @return NULL, or an owned error: FAILED_PRECONDITION (a step is in flight).
/// @threads one at a time.   @blocks no.   @since 0.1
cyxla_error *cyxla_call_set_done(cyxla_call *call,
                                 void (*done)(void *user_data),
                                 void *user_data,
                                 void (*free_user_data)(void *user_data));

/// Waits for the step that was started. Without one it returns at once.
///
/// @param call       a call.
/// @param timeout_ms how long to wait at most, in milliseconds; negative for ever.
/// @return NULL, or an owned error: DEADLINE_EXCEEDED (it is still running; wait again), or the plugin's own.
/// @threads one at a time.   @blocks until the program has ended or the time is over.   @since 0.1
cyxla_error *cyxla_call_wait(cyxla_call *call,
                             int64_t timeout_ms);

/// Tells whether the step that was started has ended.
///
/// Its error comes from cyxla_call_wait, which does not block then.
///
/// @param call a call, or NULL.
/// @return true if no step is running; false while the call is in use by another thread.
/// @threads one at a time.   @blocks no.   @since 0.1
bool cyxla_call_is_done(cyxla_call *call);

/// Returns an output of the last step.
///
/// In place where the device's memory is the host's, else a copy of the call's. Row-major;
/// elements narrower than a byte take one byte each.
///
/// @param call   a call, or NULL.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param index  the output's position, from 0.
/// @param size   receives bytes; may be NULL.
/// @return memory that is good until the next step, cyxla_call_take or cyxla_call_free; NULL if there is no such output, it has no elements, the last step failed or is in flight.
/// @threads one at a time.   @blocks while it is copied, if it is.   @since 0.1
const void *cyxla_call_output(cyxla_call *call,
                              size_t device,
                              size_t index,
                              size_t *size);

/// Takes an output of the last step, as a buffer.
///
/// @param call   a call.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param index  the output's position, from 0.
/// @param out    receives a buffer to free with cyxla_buffer_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (no such output), FAILED_PRECONDITION (it was taken, it is fed to the next step, the last step failed or is in flight).
/// @threads one at a time.   @blocks while it is copied, if it was written in place.   @since 0.1
cyxla_error *cyxla_call_take(cyxla_call *call,
                             size_t device,
                             size_t index,
                             cyxla_buffer **out);

/* =============================================================================
 * Buffers: arrays in the memory of a device.
 *
 * A buffer's contents do not change, except that a program to which it is donated
 * takes them. Any number of threads may use a buffer at once. `device` is always a
 * position among the runtime's devices, from 0.
 *
 * For languages that collect garbage: every object of this library may be freed by a
 * finalizer, from any thread, in any order, several at once, also while other threads use
 * what was made from it, but not inside a function that the library calls back. A call keeps its executable and its buffers alive; a result and a
 * copy need nothing of what they were made from; lent memory is kept by all that still
 * reads it, and `release` comes once, after the last of them, from any thread. Two things
 * are the wrapper's to keep: an object may not be freed while a function runs on the very
 * object, and what a getter returned (cyxla_buffer_data, cyxla_buffer_dims) ends with the
 * object that it was asked of.
 * ============================================================================= */

/// Makes a buffer by copying an array from host memory.
///
/// Makes the default runtime if there is none.
///
/// @param device       position of the device.
/// @param dtype        element type.
/// @param dims         elements in each dimension; may be NULL only if `rank` is 0.
/// @param rank         how many dimensions, at most 64; 0 for a scalar.
/// @param byte_strides bytes from one element to the next in each dimension, of any sign or 0, multiples of the element's size, of no meaning in dimensions of one element; NULL for row-major.
/// @param data         the element with index 0 in every dimension; may be NULL only if the array has no elements.
/// @param out          receives a buffer to free with cyxla_buffer_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (type, dims, strides, device, NULL, a PRED byte other than 0 and 1), UNIMPLEMENTED (a type that the plugin is too old for), RESOURCE_EXHAUSTED (no memory), or as cyxla_initialize.
/// @threads safe.   @blocks while it is copied.   @since 0.1
cyxla_error *cyxla_buffer_from_host(size_t device,
                                    cyxla_dtype dtype,
                                    const int64_t *dims,
                                    size_t rank,
                                    const int64_t *byte_strides,
                                    const void *data,
                                    cyxla_buffer **out);

/// Makes a buffer of host memory, without a copy where that is possible.
///
/// It is possible on a CPU plugin if the address is a multiple of 64 and the element
/// type takes whole bytes and is not PRED; cyxla_buffer_is_view tells. Otherwise the
/// array is copied and released at once, possibly before this returns. The memory has
/// to stay, and stay unchanged, until `release` is called. After an error `release` is
/// not called, nor in a forked child or while the process ends. `release` may run
/// inside cyxla_buffer_free and cyxla_execute or on a thread of the plugin. It may free
/// and make buffers, but must not wait for a program or run one.
///
/// @param device       position of the device.
/// @param dtype        element type.
/// @param dims         elements in each dimension; may be NULL only if `rank` is 0.
/// @param rank         how many dimensions, at most 64; 0 for a scalar.
/// @param data         a row-major array; may be NULL only if it has no elements.
/// @param writable     whether a program that the buffer is donated to may write its result there.
/// @param release      called once when nothing uses the memory any more, from any thread; may be NULL.
/// @param user_data    what `release` gets.
/// @param out          receives a buffer to free with cyxla_buffer_free.
/// @return NULL, or an owned error (as cyxla_buffer_from_host).
/// @threads safe.   @blocks while it is copied, if it is.   @since 0.1
cyxla_error *cyxla_buffer_view_host(size_t device,
                                    cyxla_dtype dtype,
                                    const int64_t *dims,
                                    size_t rank,
                                    void *data,
                                    bool writable,
                                    void (*release)(void *user_data),
                                    void *user_data,
                                    cyxla_buffer **out);

/// Makes a buffer of host memory without a copy, or fails.
///
/// As cyxla_buffer_view_host, but where that would copy, this is an error that says why
/// the memory cannot be used in place; nothing is released then.
///
/// @param device       position of the device.
/// @param dtype        element type; not PRED, and none narrower than a byte.
/// @param dims         elements in each dimension, at least one; may be NULL only if `rank` is 0.
/// @param rank         how many dimensions, at most 64; 0 for a scalar.
/// @param data         a row-major array at a multiple of 64.
/// @param writable     whether a program that the buffer is donated to may write its result there.
/// @param release      called once when nothing uses the memory any more, from any thread; may be NULL.
/// @param user_data    what `release` gets.
/// @param out          receives a buffer to free with cyxla_buffer_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (also for memory that cannot be used in place), UNIMPLEMENTED (the plugin copies all the same, or is too old for the type), or as cyxla_buffer_from_host.
/// @threads safe.   @blocks no.   @since 0.1
cyxla_error *cyxla_buffer_view_host_strict(size_t device,
                                           cyxla_dtype dtype,
                                           const int64_t *dims,
                                           size_t rank,
                                           void *data,
                                           bool writable,
                                           void (*release)(void *user_data),
                                           void *user_data,
                                           cyxla_buffer **out);

/// Copies a buffer to host memory, row-major whatever the device's own order is.
///
/// @param buffer   a buffer.
/// @param data     receives the array; may be NULL only if `size` is 0.
/// @param size     in bytes: exactly cyxla_buffer_size.
/// @return NULL, or an owned error: INVALID_ARGUMENT (size, NULL), FAILED_PRECONDITION (donated, a forked child), or the error of the program that should have made the buffer.
/// @threads safe.   @blocks until the contents are there and copied.   @since 0.1
cyxla_error *cyxla_buffer_to_host(const cyxla_buffer *buffer,
                                  void *data,
                                  size_t size);

/// Frees a buffer.
///
/// @param buffer   a buffer, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
void cyxla_buffer_free(cyxla_buffer *buffer);

/// Waits until a buffer's contents are there.
///
/// @param buffer   a buffer.
/// @return NULL, or an owned error: FAILED_PRECONDITION (donated, a forked child), or the error of the program that should have made the buffer.
/// @threads safe.   @blocks until the contents are there.   @since 0.1
cyxla_error *cyxla_buffer_wait(const cyxla_buffer *buffer);

/// Returns the element type of a buffer.
///
/// @param buffer   a buffer, or NULL.
/// @return the type; CYXLA_DTYPE_INVALID for NULL.
/// @threads safe.   @blocks no.   @since 0.1
cyxla_dtype cyxla_buffer_dtype(const cyxla_buffer *buffer);

/// Returns how many elements a buffer has in each dimension.
///
/// @param buffer   a buffer, or NULL.
/// @param rank     receives how many dimensions; may be NULL.
/// @return the dims, which live as long as the buffer; NULL for a scalar and for NULL.
/// @threads safe.   @blocks no.   @since 0.1
const int64_t *cyxla_buffer_dims(const cyxla_buffer *buffer, size_t *rank);

/// Returns how many bytes a buffer takes in host memory, row-major.
///
/// @param buffer   a buffer, or NULL.
/// @return bytes; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_buffer_size(const cyxla_buffer *buffer);

/// Returns the position of a buffer's device.
///
/// @param buffer   a buffer, or NULL.
/// @return the position, from 0; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_buffer_device(const cyxla_buffer *buffer);

/// Returns where a buffer's contents are in host memory, row-major.
///
/// @param buffer   a buffer, or NULL.
/// @return the first element, readable until the buffer is freed or donated; NULL if the contents are not in host memory, not row-major, of a type narrower than a byte, empty, donated, or could not be computed.
/// @threads safe.   @blocks until the contents are there.   @since 0.1
const void *cyxla_buffer_data(const cyxla_buffer *buffer);

/// Tells whether a buffer uses memory of the host in place.
///
/// @param buffer   a buffer, or NULL.
/// @return true if it was made of the host's memory (cyxla_buffer_view_host and _view_host_strict, cyxla_buffer_from_dlpack and _from_dlpack_legacy) without a copy.
/// @threads safe.   @blocks no.   @since 0.1
bool cyxla_buffer_is_view(const cyxla_buffer *buffer);

/// Tells whether a program has taken a buffer's contents.
///
/// @param buffer   a buffer, or NULL.
/// @return true if it was donated; it can then only be freed.
/// @threads safe.   @blocks no.   @since 0.1
bool cyxla_buffer_is_donated(const cyxla_buffer *buffer);

/* =============================================================================
 * Memories: a device has one or more, each of a kind.
 *
 * Programs use the default one. A CPU plugin calls its memories "device" (the default),
 * "pinned_host" and "unpinned_host", and programs take buffers from all of them, since all
 * are the host's; elsewhere a program takes them from the default memory only.
 * ============================================================================= */

/// Returns how many memories a device has.
///
/// @param info     details, or NULL.
/// @param device   the device's position, from 0.
/// @return the count; 0 if there is no such device, or if the plugin does not tell.
/// @threads safe.   @blocks no.   @since 0.1
size_t cyxla_runtime_info_memory_count(const cyxla_runtime_info *info, size_t device);

/// Returns the kind of a memory of a device, such as "device".
///
/// @param info     details, or NULL.
/// @param device   the device's position, from 0.
/// @param index    the memory's position, from 0; the first one is the device's default.
/// @return text that lives until the process ends; NULL if there is no such memory.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_runtime_info_memory_kind(const cyxla_runtime_info *info,
                                           size_t device,
                                           size_t index);

/// Returns the kind of the memory that a buffer is in.
///
/// @param buffer   a buffer, or NULL.
/// @return text that lives until the process ends; NULL for NULL, if the buffer was donated, or if the plugin does not tell.
/// @threads safe.   @blocks no.   @since 0.1
const char *cyxla_buffer_memory_kind(const cyxla_buffer *buffer);

/// Copies a buffer to a device, or to another memory of its own device.
///
/// The copy has contents of its own, also where it goes to the place of the original, and
/// is no view of anything; the two live and are freed apart. Where the plugin can copy, it
/// does so while the program goes on; where it cannot, the copy goes by way of host memory.
///
/// @param buffer       a buffer.
/// @param device       position of the device.
/// @param memory_kind  a kind of memory that the device has (cyxla_runtime_info_memory_kind); NULL for its default.
/// @param out          receives a buffer to free with cyxla_buffer_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (device, kind, NULL), FAILED_PRECONDITION (donated, a forked child), RESOURCE_EXHAUSTED (no memory), or the plugin's own.
/// @threads safe.   @blocks until the contents are there, where it goes by way of host memory; else no.   @since 0.1
cyxla_error *cyxla_buffer_copy_to(const cyxla_buffer *buffer,
                                  size_t device,
                                  const char *memory_kind,
                                  cyxla_buffer **out);

/* =============================================================================
 * DLPack: arrays lent to and by other libraries, such as NumPy, JAX and PyTorch.
 *
 * A tensor of DLPack is an array and a function, its deleter, that is called once by
 * whoever borrowed it, when the array is not needed any more. The structs are those
 * of dlpack.h, which need not be included. docs/dlpack.md has more.
 * ============================================================================= */

/// Makes a buffer of another library's array, without a copy where that is possible.
///
/// Host memory is used in place on device 0 of a CPU plugin if the first element's
/// address is a multiple of 64, the elements lie row-major without gaps, and their
/// type takes whole bytes and is not bool; it is copied otherwise, to device 0, with
/// strides of any sign. Memory of a CUDA or ROCm device is used in place, and
/// its contents must be there already. cyxla_buffer_is_view tells.
///
/// On success the tensor is the library's, which calls its deleter once, from any
/// thread, when nothing uses the memory any more: at once if it was copied. Until then
/// the memory has to stay unchanged. A program that the buffer is donated to may
/// write its result there unless the tensor's flags say that it is read-only. After an
/// error the tensor is still the caller's. The deleter is not called in a forked
/// child or while the process ends; what it may do is as for cyxla_buffer_view_host.
///
/// @param tensor   a tensor of DLPack 1.
/// @param out      receives a buffer to free with cyxla_buffer_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (NULL, a tensor that cannot be, a bool other than 0 and 1, a device that the runtime does not use), UNIMPLEMENTED (another major version, unknown flags, an element type or a device that has no equivalent here, a type that the plugin is too old for), RESOURCE_EXHAUSTED (no memory), or as cyxla_initialize.
/// @threads safe.   @blocks while it is copied, if it is.   @since 0.1
cyxla_error *cyxla_buffer_from_dlpack(struct DLManagedTensorVersioned *tensor,
                                      cyxla_buffer **out);

/// Makes a buffer of an array that a library lends in DLPack's older form.
///
/// All is as for cyxla_buffer_from_dlpack, but that this form cannot say whether the
/// memory may be written. It is taken to be read-only: no program writes its result
/// there.
///
/// @param tensor   a tensor without a version.
/// @param out      receives a buffer to free with cyxla_buffer_free.
/// @return NULL, or an owned error (as cyxla_buffer_from_dlpack).
/// @threads safe.   @blocks while it is copied, if it is.   @since 0.1
cyxla_error *cyxla_buffer_from_dlpack_legacy(struct DLManagedTensor *tensor, cyxla_buffer **out);

/// Lends a buffer's contents to another library.
///
/// The tensor shows the contents where they are, in the order in which the device
/// stores them, and is flagged as read-only. Types narrower than a byte are copied to
/// host memory and packed. The contents stay until the tensor's deleter is called, also
/// if the buffer is freed. A program that the buffer is donated to meanwhile computes
/// from the contents and leaves them alone, so that the buffer is not donated then.
///
/// The tensor is the caller's or whoever it gives it to: its deleter has to be called
/// once, from any thread, also in a forked child or while the process ends, where it
/// does nothing to the plugin.
///
/// @param buffer   a buffer.
/// @param out      receives a tensor of DLPack 1 that ends with its deleter.
/// @return NULL, or an owned error: FAILED_PRECONDITION (donated, a forked child), UNIMPLEMENTED (an order or a platform that DLPack has no words for), RESOURCE_EXHAUSTED (no memory), INVALID_ARGUMENT (NULL), or the error of the program that should have made the buffer.
/// @threads safe.   @blocks until the contents are there.   @since 0.1
cyxla_error *cyxla_buffer_to_dlpack(const cyxla_buffer *buffer,
                                    struct DLManagedTensorVersioned **out);

/// Lends a buffer's contents to a library that knows DLPack's older form only.
///
/// All is as for cyxla_buffer_to_dlpack, but that this form cannot say that the memory
/// is read-only: it must not be written all the same.
///
/// @param buffer   a buffer.
/// @param out      receives a tensor without a version that ends with its deleter.
/// @return NULL, or an owned error (as cyxla_buffer_to_dlpack).
/// @threads safe.   @blocks until the contents are there.   @since 0.1
cyxla_error *cyxla_buffer_to_dlpack_legacy(const cyxla_buffer *buffer,
                                           struct DLManagedTensor **out);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CYXLA_H */
