//! Errors: every failure is an owned object.
//!
//! A function that can fail returns NULL for success, or an error that the caller
//! frees. An error is immutable, may be read by any thread, and outlives whatever
//! caused it. After a failure the outputs of the function are untouched and there
//! is nothing else to clean up.

use std::ffi::{CStr, CString, c_char};

use super::guard::value;
use super::pointer;
use crate::error::{Code, Error};

/// A canonical status code, the same as PJRT's, gRPC's and Abseil's.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct cyxla_code(pub i32);

/// Not an error.
pub const CYXLA_CODE_OK: cyxla_code = cyxla_code(0);
/// The operation was cancelled.
pub const CYXLA_CODE_CANCELLED: cyxla_code = cyxla_code(1);
/// The plugin gave no better code.
pub const CYXLA_CODE_UNKNOWN: cyxla_code = cyxla_code(2);
/// An argument can never be right.
pub const CYXLA_CODE_INVALID_ARGUMENT: cyxla_code = cyxla_code(3);
/// It took longer than allowed.
pub const CYXLA_CODE_DEADLINE_EXCEEDED: cyxla_code = cyxla_code(4);
/// A file, plugin or function does not exist.
pub const CYXLA_CODE_NOT_FOUND: cyxla_code = cyxla_code(5);
/// It exists already.
pub const CYXLA_CODE_ALREADY_EXISTS: cyxla_code = cyxla_code(6);
/// The system does not allow it.
pub const CYXLA_CODE_PERMISSION_DENIED: cyxla_code = cyxla_code(7);
/// Memory or another resource ran out.
pub const CYXLA_CODE_RESOURCE_EXHAUSTED: cyxla_code = cyxla_code(8);
/// The state of the process or an object does not allow it.
pub const CYXLA_CODE_FAILED_PRECONDITION: cyxla_code = cyxla_code(9);
/// It was given up for a concurrent operation.
pub const CYXLA_CODE_ABORTED: cyxla_code = cyxla_code(10);
/// A value is outside of its range.
pub const CYXLA_CODE_OUT_OF_RANGE: cyxla_code = cyxla_code(11);
/// This library or the plugin cannot do it.
pub const CYXLA_CODE_UNIMPLEMENTED: cyxla_code = cyxla_code(12);
/// A fault of this library or the plugin.
pub const CYXLA_CODE_INTERNAL: cyxla_code = cyxla_code(13);
/// It may work when tried again.
pub const CYXLA_CODE_UNAVAILABLE: cyxla_code = cyxla_code(14);
/// Data is damaged.
pub const CYXLA_CODE_DATA_LOSS: cyxla_code = cyxla_code(15);
/// Credentials are missing or wrong.
pub const CYXLA_CODE_UNAUTHENTICATED: cyxla_code = cyxla_code(16);

/// An error: code, message, details. Immutable; any thread may read it.
pub struct cyxla_error {
    pub(super) code: Code,
    pub(super) message: CString,
    details: Vec<(&'static str, CString)>,
}

/// Text for C: a NUL inside, which would end it early, shows as a replacement.
pub(super) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

impl cyxla_error {
    pub(super) fn into_raw(error: Error) -> *mut cyxla_error {
        let details = error.details().map(|(key, value)| (key, c_text(value))).collect();
        Box::into_raw(Box::new(cyxla_error { code: error.code(), message: c_text(error.message()), details }))
    }
}

/// Returns the name of a code, such as "INVALID_ARGUMENT".
///
/// @param code     a code; any number.
/// @return text that lives as long as the process; "UNKNOWN" for a number that is no code.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub extern "C" fn cyxla_code_name(code: cyxla_code) -> *const c_char {
    const NAMES: [&CStr; 17] = [
        c"OK",
        c"CANCELLED",
        c"UNKNOWN",
        c"INVALID_ARGUMENT",
        c"DEADLINE_EXCEEDED",
        c"NOT_FOUND",
        c"ALREADY_EXISTS",
        c"PERMISSION_DENIED",
        c"RESOURCE_EXHAUSTED",
        c"FAILED_PRECONDITION",
        c"ABORTED",
        c"OUT_OF_RANGE",
        c"UNIMPLEMENTED",
        c"INTERNAL",
        c"UNAVAILABLE",
        c"DATA_LOSS",
        c"UNAUTHENTICATED",
    ];
    let index = Code::from_number(code.0).unwrap_or(Code::Unknown) as usize;
    NAMES[index].as_ptr()
}

/// Returns the code of an error.
///
/// @param error    an error, or NULL.
/// @return the code; CYXLA_CODE_OK for NULL, never for an error.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_error_code(error: *const cyxla_error) -> cyxla_code {
    // SAFETY: NULL or a living error.
    let error = unsafe { pointer::optional(error) };
    value(CYXLA_CODE_OK, || error.map_or(CYXLA_CODE_OK, |error| cyxla_code(error.code as i32)))
}

/// Returns the message of an error: what is wrong, with which value, in one sentence.
///
/// @param error    an error, or NULL.
/// @return text that lives as long as the error; "" for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_error_message(error: *const cyxla_error) -> *const c_char {
    // SAFETY: NULL or a living error.
    let error = unsafe { pointer::optional(error) };
    value(c"".as_ptr(), || error.map_or(c"".as_ptr(), |error| error.message.as_ptr()))
}

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_error_detail(error: *const cyxla_error, key: *const c_char) -> *const c_char {
    // SAFETY: NULL or a living error; NULL or NUL-terminated text.
    let (error, key) = unsafe { (pointer::optional(error), pointer::text(key, "key")) };
    value(std::ptr::null(), || {
        let (Some(error), Ok(key)) = (error, key) else { return std::ptr::null() };
        let detail = error.details.iter().find(|(existing, _)| *existing == key);
        detail.map_or(std::ptr::null(), |(_, text)| text.as_ptr())
    })
}

/// Frees an error.
///
/// @param error    an error, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_error_free(error: *mut cyxla_error) {
    // SAFETY: NULL or an error that was not freed before.
    value((), || unsafe { pointer::free(error) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_codes() {
        for number in 0..17 {
            // SAFETY: the names are static texts.
            let name = unsafe { CStr::from_ptr(cyxla_code_name(cyxla_code(number))) };
            assert_eq!(name.to_str().unwrap(), Code::from_number(number).unwrap().name());
        }
    }
}
