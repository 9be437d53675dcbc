//! Bytes that the library made, such as a saved executable.

use std::ffi::c_void;

use super::guard::value;
use super::pointer;

/// Bytes that the library made. Immutable; any thread may use them.
pub struct cyxla_bytes(pub(super) Vec<u8>);

/// Returns where the bytes are.
///
/// @param bytes bytes, or NULL.
/// @return memory that lives as long as `bytes`; NULL if there are none.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_bytes_data(bytes: *const cyxla_bytes) -> *const c_void {
    // SAFETY: NULL or living bytes.
    let bytes = unsafe { pointer::optional(bytes) };
    value(std::ptr::null(), || match bytes {
        Some(bytes) if !bytes.0.is_empty() => bytes.0.as_ptr().cast(),
        _ => std::ptr::null(),
    })
}

/// Returns how many bytes there are.
///
/// @param bytes bytes, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_bytes_size(bytes: *const cyxla_bytes) -> usize {
    // SAFETY: NULL or living bytes.
    let bytes = unsafe { pointer::optional(bytes) };
    value(0, || bytes.map_or(0, |bytes| bytes.0.len()))
}

/// Frees bytes.
///
/// @param bytes bytes, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_bytes_free(bytes: *mut cyxla_bytes) {
    // SAFETY: NULL or bytes that were not freed before.
    value((), || unsafe { pointer::free(bytes) });
}
