//! Plugins found on this machine.
//!
//! A list is made by looking at variables and small files: no library is opened and
//! no client created. A program is started in two cases only: a Python package
//! declares a plugin without a manifest, or `python3` is a script that hides where
//! Python is. A list is immutable, and may be read by any thread.

use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt;

use super::error::{c_text, cyxla_error};
use super::guard::{guard, value};
use super::options::cyxla_options;
use super::pointer::{self, Out, optional_c_text};
use crate::discover::{self, Found};
use crate::runtime::known_options;

/// The plugins that were found, the best first. Immutable; any thread may read it.
pub struct cyxla_plugin_list {
    plugins: Vec<Entry>,
    failures: Vec<(CString, CString)>,
}

struct Entry {
    platform: CString,
    path: CString,
    origin: CString,
    version: Option<CString>,
    problem: Option<CString>,
    why_not_default: Option<CString>,
    options: cyxla_options,
    is_default: bool,
}

impl Entry {
    fn new(found: Found) -> Entry {
        Entry {
            platform: c_text(&found.platform),
            // A path of the file system has no NUL in it.
            path: CString::new(found.path.as_os_str().as_bytes()).unwrap_or_default(),
            origin: c_text(&found.origin),
            version: found.version.as_deref().map(c_text),
            problem: found.problem.as_deref().map(c_text),
            why_not_default: found.why_not_default.as_deref().map(c_text),
            options: cyxla_options::new(known_options::defaults_of(&found.platform, &found.options)),
            is_default: found.is_default,
        }
    }
}

/// # Safety
/// NULL or a living list.
unsafe fn entry<'a>(list: *const cyxla_plugin_list, index: usize) -> Option<&'a Entry> {
    // SAFETY: the caller's promise.
    unsafe { pointer::optional(list) }.and_then(|list| list.plugins.get(index))
}

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_find(out: *mut *mut cyxla_plugin_list) -> *mut cyxla_error {
    guard("cyxla_plugin_list_find", || {
        // SAFETY: NULL or writable.
        let out = unsafe { Out::new(out, "out") }?;
        let found = discover::find();
        let failures =
            found.failures.iter().map(|failure| (c_text(&failure.subject), c_text(&failure.problem)));
        out.set_handle(cyxla_plugin_list {
            failures: failures.collect(),
            plugins: found.plugins.into_iter().map(Entry::new).collect(),
        });
        Ok(())
    })
}

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_register(
    platform: *const c_char,
    path: *const c_char,
    options: *const cyxla_options,
    origin: *const c_char,
) -> *mut cyxla_error {
    guard("cyxla_plugin_register", || {
        // SAFETY: NULL or NUL-terminated.
        let platform = unsafe { pointer::text(platform, "platform") }?;
        // SAFETY: NULL or NUL-terminated.
        let path = unsafe { pointer::path(path, "path") }?;
        // SAFETY: NULL or a living set.
        let options = unsafe { pointer::optional(options) };
        // SAFETY: NULL or NUL-terminated.
        let origin = unsafe { pointer::optional_text(origin, "origin") }?;
        discover::registered::register(platform, path, options.map(|options| &options.options), origin)
    })
}

/// Frees a list of plugins.
///
/// @param list     a list, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_free(list: *mut cyxla_plugin_list) {
    // SAFETY: NULL or a list that was not freed before.
    value((), || unsafe { pointer::free(list) });
}

/// Returns how many plugins were found, usable or not.
///
/// @param list     a list, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_count(list: *const cyxla_plugin_list) -> usize {
    // SAFETY: NULL or a living list.
    let list = unsafe { pointer::optional(list) };
    value(0, || list.map_or(0, |list| list.plugins.len()))
}

/// Returns the platform that a plugin is for, such as "cpu".
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; "" if nothing declares it; NULL if there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_platform(
    list: *const cyxla_plugin_list,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living list.
    let entry = unsafe { entry(list, index) };
    value(std::ptr::null(), || optional_c_text(entry.map(|entry| &entry.platform)))
}

/// Returns the path of a plugin's library, in the bytes of the file system.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL if there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_path(
    list: *const cyxla_plugin_list,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living list.
    let entry = unsafe { entry(list, index) };
    value(std::ptr::null(), || optional_c_text(entry.map(|entry| &entry.path)))
}

/// Returns what led to a plugin: the variable or file that names it.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL if there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_origin(
    list: *const cyxla_plugin_list,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living list.
    let entry = unsafe { entry(list, index) };
    value(std::ptr::null(), || optional_c_text(entry.map(|entry| &entry.origin)))
}

/// Returns the version of a plugin, as its package declares it.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL if it is unknown or there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_version(
    list: *const cyxla_plugin_list,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living list.
    let entry = unsafe { entry(list, index) };
    value(std::ptr::null(), || optional_c_text(entry.and_then(|entry| entry.version.as_ref())))
}

/// Returns why a plugin cannot be used.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL if nothing speaks against the plugin or there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_problem(
    list: *const cyxla_plugin_list,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living list.
    let entry = unsafe { entry(list, index) };
    value(std::ptr::null(), || optional_c_text(entry.and_then(|entry| entry.problem.as_ref())))
}

/// Returns the create options that a plugin gets when the caller sets none.
///
/// They are the library's defaults for the platform, and over them what the plugin's
/// package asks for.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return a set that lives as long as the list and is not to be freed; NULL if there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_options(
    list: *const cyxla_plugin_list,
    index: usize,
) -> *const cyxla_options {
    // SAFETY: NULL or a living list.
    let entry = unsafe { entry(list, index) };
    value(std::ptr::null(), || entry.map_or(std::ptr::null(), |entry| &raw const entry.options))
}

/// Tells whether a plugin is the one that is loaded when nobody chooses.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return true for at most one plugin of a list.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_is_default(list: *const cyxla_plugin_list, index: usize) -> bool {
    // SAFETY: NULL or a living list.
    let entry = unsafe { entry(list, index) };
    value(false, || entry.is_some_and(|entry| entry.is_default))
}

/// Returns why a plugin is not the one that is loaded when nobody chooses.
///
/// One whose device is visibly absent says so here; it is loaded all the same when
/// its platform is asked for by name (other than a TPU's).
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL for the default one, or if there is no such plugin.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_why_not_default(
    list: *const cyxla_plugin_list,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living list.
    let entry = unsafe { entry(list, index) };
    value(std::ptr::null(), || optional_c_text(entry.and_then(|entry| entry.why_not_default.as_ref())))
}

/// Returns how many things went wrong that are no plugin, such as an unreadable description.
///
/// @param list     a list, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_failure_count(list: *const cyxla_plugin_list) -> usize {
    // SAFETY: NULL or a living list.
    let list = unsafe { pointer::optional(list) };
    value(0, || list.map_or(0, |list| list.failures.len()))
}

/// Returns the file or variable that went wrong.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL if there is no such failure.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_failure_subject(
    list: *const cyxla_plugin_list,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living list.
    let list = unsafe { pointer::optional(list) };
    value(std::ptr::null(), || {
        optional_c_text(list.and_then(|list| list.failures.get(index)).map(|(subject, _)| subject))
    })
}

/// Returns what is wrong with it.
///
/// @param list     a list, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the list; NULL if there is no such failure.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_plugin_list_failure_problem(
    list: *const cyxla_plugin_list,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living list.
    let list = unsafe { pointer::optional(list) };
    value(std::ptr::null(), || {
        optional_c_text(list.and_then(|list| list.failures.get(index)).map(|(_, problem)| problem))
    })
}
