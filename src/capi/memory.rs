//! Memories: a device has one or more, each of a kind.
//!
//! Programs use the default one. A CPU plugin calls its memories "device" (the default),
//! "pinned_host" and "unpinned_host", and programs take buffers from all of them, since all
//! are the host's; elsewhere a program takes them from the default memory only.

use std::ffi::c_char;
use std::sync::Arc;

use super::buffer::cyxla_buffer;
use super::error::cyxla_error;
use super::guard::{guard, value};
use super::pointer::{self, Out};
use super::runtime::cyxla_runtime_info;

/// Returns how many memories a device has.
///
/// @param info     details, or NULL.
/// @param device   the device's position, from 0.
/// @return the count; 0 if there is no such device, or if the plugin does not tell.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_memory_count(
    info: *const cyxla_runtime_info,
    device: usize,
) -> usize {
    // SAFETY: NULL or the process's details.
    let info = unsafe { pointer::optional(info) };
    value(0, || info.map_or(0, |info| info.memory_kinds(device).len()))
}

/// Returns the kind of a memory of a device, such as "device".
///
/// @param info     details, or NULL.
/// @param device   the device's position, from 0.
/// @param index    the memory's position, from 0; the first one is the device's default.
/// @return text that lives until the process ends; NULL if there is no such memory.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_runtime_info_memory_kind(
    info: *const cyxla_runtime_info,
    device: usize,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or the process's details.
    let info = unsafe { pointer::optional(info) };
    value(std::ptr::null(), || {
        pointer::optional_c_text(info.and_then(|info| info.memory_kinds(device).get(index)))
    })
}

/// Returns the kind of the memory that a buffer is in.
///
/// @param buffer   a buffer, or NULL.
/// @return text that lives until the process ends; NULL for NULL, if the buffer was donated, or if the plugin does not tell.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_memory_kind(buffer: *const cyxla_buffer) -> *const c_char {
    // SAFETY: NULL or a living buffer.
    let buffer = unsafe { pointer::optional(buffer) };
    value(std::ptr::null(), || {
        buffer.and_then(|handle| handle.buffer.memory_kind()).map_or(std::ptr::null(), |kind| kind.as_ptr())
    })
}

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_copy_to(
    buffer: *const cyxla_buffer,
    device: usize,
    memory_kind: *const c_char,
    out: *mut *mut cyxla_buffer,
) -> *mut cyxla_error {
    guard("cyxla_buffer_copy_to", || {
        // SAFETY: NULL or a living buffer; NULL or a NUL-terminated text; NULL or writable.
        unsafe {
            let buffer = &pointer::reference(buffer, "buffer")?.buffer;
            let kind = pointer::optional_text(memory_kind, "memory_kind")?;
            let out = Out::new(out, "out")?;
            let copy = Arc::new(buffer.copy_to(device, kind)?);
            out.set_handle(cyxla_buffer { buffer: copy });
        }
        Ok(())
    })
}
