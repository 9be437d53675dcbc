//! Saved executables: compile once, load in milliseconds.
//!
//! A saved executable is for the plugin, its version and the kind of CPU that it was
//! compiled with; loading it under anything else is refused, since plugins would load it
//! and compute wrong numbers. To have that done by itself, turn on the executable cache:
//! the environment variable CYXLA_CACHE_DIR, or the compile option "cache_dir".

use std::ffi::c_void;

use super::bytes::cyxla_bytes;
use super::error::cyxla_error;
use super::executable::cyxla_executable;
use super::guard::{guard, value};
use super::pointer::{self, Out};
use crate::runtime::Executable;

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_to_bytes(
    executable: *const cyxla_executable,
    out: *mut *mut cyxla_bytes,
) -> *mut cyxla_error {
    guard("cyxla_executable_to_bytes", || {
        // SAFETY: NULL or a living executable; NULL or writable.
        let (executable, out) =
            unsafe { (pointer::reference(executable, "executable")?, Out::new(out, "out")?) };
        out.set_handle(cyxla_bytes(executable.executable.to_bytes()?));
        Ok(())
    })
}

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_from_bytes(
    data: *const c_void,
    size: usize,
    out: *mut *mut cyxla_executable,
) -> *mut cyxla_error {
    guard("cyxla_executable_from_bytes", || {
        // SAFETY: NULL or `size` bytes; NULL or writable.
        let (bytes, out) =
            unsafe { (pointer::slice(data.cast::<u8>(), size, "data")?, Out::new(out, "out")?) };
        out.set_handle(cyxla_executable::new(Executable::from_bytes(bytes)?));
        Ok(())
    })
}

/// Tells whether an executable came from the executable cache.
///
/// @param executable an executable, or NULL.
/// @return true if nothing had to be compiled; false for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_is_from_cache(executable: *const cyxla_executable) -> bool {
    // SAFETY: NULL or a living executable.
    let executable = unsafe { pointer::optional(executable) };
    value(false, || executable.is_some_and(|executable| executable.executable.is_from_cache()))
}
