//! The process's runtime: one plugin and its client.
//!
//! A process has one runtime. cyxla_initialize makes it; the first function that
//! needs one makes the default one. It lives until the process ends. In a child
//! that the process forks afterwards, and in exit handlers older than the runtime,
//! every function that needs it gives FAILED_PRECONDITION.

use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt;

use once_cell::sync::OnceCell;

use super::error::{c_text, cyxla_error};
use super::guard::{guard, value};
use super::options::cyxla_options;
use super::pointer::{self, Out, optional_c_text};
use crate::runtime::{self, DeviceInfo, RuntimeInfo};

/// Details of the process's runtime. Immutable; lives until the process ends.
pub struct cyxla_runtime_info {
    info: &'static RuntimeInfo,
    platform: CString,
    platform_version: CString,
    plugin_path: CString,
    plugin_origin: CString,
    json: CString,
    devices: Vec<Device>,
}

struct Device {
    id: i64,
    kind: CString,
    memory_kinds: Vec<CString>,
    json: CString,
}

impl cyxla_runtime_info {
    /// The one object of a process.
    fn of(info: &'static RuntimeInfo) -> *const cyxla_runtime_info {
        static INFO: OnceCell<cyxla_runtime_info> = OnceCell::new();
        let device = |device: &DeviceInfo| Device {
            id: device.id,
            kind: c_text(&device.kind),
            memory_kinds: device.memory_kinds.iter().map(|kind| c_text(kind)).collect(),
            json: c_text(&device.json),
        };
        INFO.get_or_init(|| cyxla_runtime_info {
            info,
            platform: c_text(&info.platform),
            platform_version: c_text(&info.platform_version),
            // A path of the file system has no NUL in it.
            plugin_path: CString::new(info.plugin_path.as_os_str().as_bytes()).unwrap_or_default(),
            plugin_origin: c_text(&info.plugin_origin),
            json: c_text(&info.json),
            devices: info.devices.iter().map(device).collect(),
        })
    }

    /// The kinds of memory that a device has; none for one that does not exist.
    pub(super) fn memory_kinds(&self, device: usize) -> &[CString] {
        self.devices.get(device).map_or(&[], |device| &device.memory_kinds)
    }
}

/// # Safety
/// NULL or the process's details.
unsafe fn device<'a>(info: *const cyxla_runtime_info, index: usize) -> Option<&'a Device> {
    // SAFETY: the caller's promise.
    unsafe { pointer::optional(info) }.and_then(|info| info.devices.get(index))
}

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_initialize(
    path: *const c_char,
    platform: *const c_char,
    options: *const cyxla_options,
    info: *mut *const cyxla_runtime_info,
) -> *mut cyxla_error {
    guard("cyxla_initialize", || {
        // SAFETY: NULL or NUL-terminated texts, NULL or a living set, NULL or writable.
        unsafe {
            let path = if path.is_null() { None } else { Some(pointer::path(path, "path")?) };
            let platform = pointer::optional_text(platform, "platform")?;
            let options = pointer::optional(options).map(|options| &options.options);
            let info = if info.is_null() { None } else { Some(Out::new(info, "info")?) };
            let made = cyxla_runtime_info::of(runtime::initialize(path, platform, options)?);
            if let Some(info) = info {
                info.set(made);
            }
        }
        Ok(())
    })
}

/// Tells whether the process has a runtime.
///
/// @return true from the first success on, for ever.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub extern "C" fn cyxla_is_initialized() -> bool {
    value(false, runtime::is_initialized)
}

/// Gets the details of the runtime; makes the default runtime if there is none.
///
/// @param out      receives details that live until the process ends.
/// @return NULL, or an owned error (as cyxla_initialize).
/// @threads safe.   @blocks while a plugin is loaded.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_get(out: *mut *const cyxla_runtime_info) -> *mut cyxla_error {
    guard("cyxla_runtime_info_get", || {
        // SAFETY: NULL or writable.
        let out = unsafe { Out::new(out, "out") }?;
        out.set(cyxla_runtime_info::of(runtime::get()?));
        Ok(())
    })
}

/// Returns the platform, as the plugin reports it: "cpu", "cuda", ...
///
/// @param info     details, or NULL.
/// @return text that lives until the process ends; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_platform(info: *const cyxla_runtime_info) -> *const c_char {
    // SAFETY: NULL or the process's details.
    let info = unsafe { pointer::optional(info) };
    value(std::ptr::null(), || optional_c_text(info.map(|info| &info.platform)))
}

/// Returns what the platform says of its version.
///
/// @param info     details, or NULL.
/// @return text that lives until the process ends; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_platform_version(
    info: *const cyxla_runtime_info,
) -> *const c_char {
    // SAFETY: NULL or the process's details.
    let info = unsafe { pointer::optional(info) };
    value(std::ptr::null(), || optional_c_text(info.map(|info| &info.platform_version)))
}

/// Returns the path of the plugin's library, absolute, in the bytes of the file system.
///
/// @param info     details, or NULL.
/// @return text that lives until the process ends; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_plugin_path(info: *const cyxla_runtime_info) -> *const c_char {
    // SAFETY: NULL or the process's details.
    let info = unsafe { pointer::optional(info) };
    value(std::ptr::null(), || optional_c_text(info.map(|info| &info.plugin_path)))
}

/// Returns what led to the plugin: the caller, a variable or a file.
///
/// @param info     details, or NULL.
/// @return text that lives until the process ends; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_plugin_origin(info: *const cyxla_runtime_info) -> *const c_char {
    // SAFETY: NULL or the process's details.
    let info = unsafe { pointer::optional(info) };
    value(std::ptr::null(), || optional_c_text(info.map(|info| &info.plugin_origin)))
}

/// Returns all details as a JSON object, among them the options in force.
///
/// @param info     details, or NULL.
/// @return text that lives until the process ends; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_json(info: *const cyxla_runtime_info) -> *const c_char {
    // SAFETY: NULL or the process's details.
    let info = unsafe { pointer::optional(info) };
    value(std::ptr::null(), || optional_c_text(info.map(|info| &info.json)))
}

/// Gets the version of PJRT's C ABI that the plugin implements.
///
/// @param info     details; with NULL nothing is written.
/// @param major    receives the major version; may be NULL.
/// @param minor    receives the minor version; may be NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_api_version(
    info: *const cyxla_runtime_info,
    major: *mut i32,
    minor: *mut i32,
) {
    // SAFETY: NULL or the process's details; NULL or writable.
    value((), || unsafe {
        let Some(info) = pointer::optional(info) else { return };
        for (out, number) in [(major, info.info.api_version.0), (minor, info.info.api_version.1)] {
            if !out.is_null() {
                out.write(number);
            }
        }
    });
}

/// Tells whether memory of the host can be used in place by programs.
///
/// @param info     details, or NULL.
/// @return true if device memory is host memory.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_avoids_copies(info: *const cyxla_runtime_info) -> bool {
    // SAFETY: NULL or the process's details.
    let info = unsafe { pointer::optional(info) };
    value(false, || info.is_some_and(|info| info.info.avoids_copies))
}

/// Tells whether programs have ended when the call that runs them returns.
///
/// They then run in the calling thread, with the help of the plugin's threads for large
/// operations. CPU plugins of PJRT 0.106 and older ignore the option "asynchronous" and
/// are not synchronous; one of 0.115 is.
///
/// @param info     details, or NULL.
/// @return true if they do.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_is_synchronous(info: *const cyxla_runtime_info) -> bool {
    // SAFETY: NULL or the process's details.
    let info = unsafe { pointer::optional(info) };
    value(false, || info.is_some_and(|info| info.info.is_synchronous))
}

/// Returns how many devices there are.
///
/// @param info     details, or NULL.
/// @return the count, at least 1; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_device_count(info: *const cyxla_runtime_info) -> usize {
    // SAFETY: NULL or the process's details.
    let info = unsafe { pointer::optional(info) };
    value(0, || info.map_or(0, |info| info.devices.len()))
}

/// Returns the plugin's own number of a device; other functions take its position instead.
///
/// @param info     details, or NULL.
/// @param index    the device's position, from 0.
/// @return the number; -1 if there is no such device.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_device_id(info: *const cyxla_runtime_info, index: usize) -> i64 {
    // SAFETY: NULL or the process's details.
    let device = unsafe { device(info, index) };
    value(-1, || device.map_or(-1, |device| device.id))
}

/// Returns what a device is, such as "cpu".
///
/// @param info     details, or NULL.
/// @param index    the device's position, from 0.
/// @return text that lives until the process ends; NULL if there is no such device.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_device_kind(
    info: *const cyxla_runtime_info,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or the process's details.
    let device = unsafe { device(info, index) };
    value(std::ptr::null(), || optional_c_text(device.map(|device| &device.kind)))
}

/// Returns all details of a device as a JSON object.
///
/// @param info     details, or NULL.
/// @param index    the device's position, from 0.
/// @return text that lives until the process ends; NULL if there is no such device.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_device_json(
    info: *const cyxla_runtime_info,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or the process's details.
    let device = unsafe { device(info, index) };
    value(std::ptr::null(), || optional_c_text(device.map(|device| &device.json)))
}
