//! Buffers: arrays in the memory of a device.
//!
//! A buffer's contents do not change, except that a program to which it is donated
//! takes them. Any number of threads may use a buffer at once. `device` is always a
//! position among the runtime's devices, from 0.
//!
//! For languages that collect garbage: every object of this library may be freed by a
//! finalizer, from any thread, in any order, several at once, also while other threads use
//! what was made from it, but not inside a function that the library calls back. A call keeps its executable and its buffers alive; a result and a
//! copy need nothing of what they were made from; lent memory is kept by all that still
//! reads it, and `release` comes once, after the last of them, from any thread. Two things
//! are the wrapper's to keep: an object may not be freed while a function runs on the very
//! object, and what a getter returned (cyxla_buffer_data, cyxla_buffer_dims) ends with the
//! object that it was asked of.

use std::ffi::c_void;
use std::sync::Arc;

use super::dtype::{CYXLA_DTYPE_INVALID, cyxla_dtype};
use super::error::cyxla_error;
use super::guard::{guard, value};
use super::pointer::{self, Out};
use crate::dtype::DType;
use crate::error::Result;
use crate::pjrt::{HostStrided, HostView};
use crate::runtime::Buffer;

/// An array in the memory of a device. Any number of threads may use it at once.
pub struct cyxla_buffer {
    pub(super) buffer: Arc<Buffer>,
}

/// The dims of an array, and its size in host memory.
///
/// # Safety
/// NULL or `rank` numbers.
unsafe fn array_type<'a>(
    dtype: cyxla_dtype,
    dims: *const i64,
    rank: usize,
) -> Result<(DType, &'a [i64], usize)> {
    let dtype = DType(dtype.0);
    Buffer::check_rank(rank)?;
    // SAFETY: the caller's promise.
    let dims = unsafe { pointer::slice(dims, rank, "dims") }?;
    Ok((dtype, dims, Buffer::check_type(dtype, dims)?))
}

/// Makes a buffer of host memory, by one of two ways.
///
/// # Safety
/// NULL or numbers; `data` is what `view` lends, of the size that it is given; NULL or writable.
unsafe fn view_host(
    make: fn(usize, DType, &[i64], HostView) -> Result<Buffer>,
    device: usize,
    (dtype, dims, rank): (cyxla_dtype, *const i64, usize),
    data: *const c_void,
    view: &dyn Fn(usize) -> HostView,
    out: *mut *mut cyxla_buffer,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let out = Out::new(out, "out")?;
        let (dtype, dims, size) = array_type(dtype, dims, rank)?;
        pointer::host_input(data, size, || "data".into())?;
        let buffer = Arc::new(make(device, dtype, dims, view(size))?);
        out.set_handle(cyxla_buffer { buffer });
    }
    Ok(())
}

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_from_host(
    device: usize,
    dtype: cyxla_dtype,
    dims: *const i64,
    rank: usize,
    byte_strides: *const i64,
    data: *const c_void,
    out: *mut *mut cyxla_buffer,
) -> *mut cyxla_error {
    guard("cyxla_buffer_from_host", || {
        // SAFETY: NULL or arrays of `rank` numbers; `data` as the contract says; NULL or writable.
        unsafe {
            let out = Out::new(out, "out")?;
            let (dtype, dims, size) = array_type(dtype, dims, rank)?;
            let dense = pointer::host_input(data, size, || "data".into())?;
            let buffer = if byte_strides.is_null() {
                Buffer::from_host(device, dtype, dims, dense)?
            } else {
                let strides = pointer::slice(byte_strides, rank, "byte_strides")?;
                Buffer::check_strides(dtype, dims, strides)?;
                Buffer::from_strided(
                    device,
                    dtype,
                    dims,
                    &HostStrided::from_raw(data, dims, strides, dtype.host_size()),
                )?
            };
            out.set_handle(cyxla_buffer { buffer: Arc::new(buffer) });
        }
        Ok(())
    })
}

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_view_host(
    device: usize,
    dtype: cyxla_dtype,
    dims: *const i64,
    rank: usize,
    data: *mut c_void,
    writable: bool,
    release: Option<unsafe extern "C" fn(user_data: *mut c_void)>,
    user_data: *mut c_void,
    out: *mut *mut cyxla_buffer,
) -> *mut cyxla_error {
    guard("cyxla_buffer_view_host", || {
        // SAFETY: NULL or `rank` numbers; `data` as the contract says; NULL or writable.
        unsafe {
            let view = |size| HostView::from_raw(data, size, writable, release, user_data);
            view_host(Buffer::view_host, device, (dtype, dims, rank), data, &view, out)
        }
    })
}

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_view_host_strict(
    device: usize,
    dtype: cyxla_dtype,
    dims: *const i64,
    rank: usize,
    data: *mut c_void,
    writable: bool,
    release: Option<unsafe extern "C" fn(user_data: *mut c_void)>,
    user_data: *mut c_void,
    out: *mut *mut cyxla_buffer,
) -> *mut cyxla_error {
    guard("cyxla_buffer_view_host_strict", || {
        // SAFETY: NULL or `rank` numbers; `data` as the contract says; NULL or writable.
        unsafe {
            let view = |size| HostView::from_raw(data, size, writable, release, user_data);
            view_host(Buffer::view_host_strict, device, (dtype, dims, rank), data, &view, out)
        }
    })
}

/// Copies a buffer to host memory, row-major whatever the device's own order is.
///
/// @param buffer   a buffer.
/// @param data     receives the array; may be NULL only if `size` is 0.
/// @param size     in bytes: exactly cyxla_buffer_size.
/// @return NULL, or an owned error: INVALID_ARGUMENT (size, NULL), FAILED_PRECONDITION (donated, a forked child), or the error of the program that should have made the buffer.
/// @threads safe.   @blocks until the contents are there and copied.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_to_host(
    buffer: *const cyxla_buffer,
    data: *mut c_void,
    size: usize,
) -> *mut cyxla_error {
    guard("cyxla_buffer_to_host", || {
        // SAFETY: NULL or a living buffer; NULL or `size` writable bytes.
        unsafe {
            let buffer = &pointer::reference(buffer, "buffer")?.buffer;
            buffer.to_host(pointer::host_output(data, size, || "data".into())?)
        }
    })
}

/// Frees a buffer.
///
/// @param buffer   a buffer, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_free(buffer: *mut cyxla_buffer) {
    // SAFETY: NULL or a buffer that was not freed before.
    value((), || unsafe { pointer::free(buffer) });
}

/// Waits until a buffer's contents are there.
///
/// @param buffer   a buffer.
/// @return NULL, or an owned error: FAILED_PRECONDITION (donated, a forked child), or the error of the program that should have made the buffer.
/// @threads safe.   @blocks until the contents are there.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_wait(buffer: *const cyxla_buffer) -> *mut cyxla_error {
    guard("cyxla_buffer_wait", || {
        // SAFETY: NULL or a living buffer.
        unsafe { pointer::reference(buffer, "buffer") }?.buffer.wait()
    })
}

/// Returns the element type of a buffer.
///
/// @param buffer   a buffer, or NULL.
/// @return the type; CYXLA_DTYPE_INVALID for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_dtype(buffer: *const cyxla_buffer) -> cyxla_dtype {
    // SAFETY: NULL or a living buffer.
    let buffer = unsafe { pointer::optional(buffer) };
    value(CYXLA_DTYPE_INVALID, || {
        buffer.map_or(CYXLA_DTYPE_INVALID, |handle| cyxla_dtype(handle.buffer.dtype().0))
    })
}

/// Returns how many elements a buffer has in each dimension.
///
/// @param buffer   a buffer, or NULL.
/// @param rank     receives how many dimensions; may be NULL.
/// @return the dims, which live as long as the buffer; NULL for a scalar and for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_dims(buffer: *const cyxla_buffer, rank: *mut usize) -> *const i64 {
    // SAFETY: NULL or a living buffer.
    let buffer = unsafe { pointer::optional(buffer) };
    let dims = value(&[][..], || buffer.map_or(&[][..], |handle| handle.buffer.dims()));
    // SAFETY: NULL or writable.
    unsafe { pointer::list(dims, rank) }
}

/// Returns how many bytes a buffer takes in host memory, row-major.
///
/// @param buffer   a buffer, or NULL.
/// @return bytes; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_size(buffer: *const cyxla_buffer) -> usize {
    // SAFETY: NULL or a living buffer.
    let buffer = unsafe { pointer::optional(buffer) };
    value(0, || buffer.map_or(0, |handle| handle.buffer.host_size()))
}

/// Returns the position of a buffer's device.
///
/// @param buffer   a buffer, or NULL.
/// @return the position, from 0; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_device(buffer: *const cyxla_buffer) -> usize {
    // SAFETY: NULL or a living buffer.
    let buffer = unsafe { pointer::optional(buffer) };
    value(0, || buffer.map_or(0, |handle| handle.buffer.device()))
}

/// Returns where a buffer's contents are in host memory, row-major.
///
/// @param buffer   a buffer, or NULL.
/// @return the first element, readable until the buffer is freed or donated; NULL if the contents are not in host memory, not row-major, of a type narrower than a byte, empty, donated, or could not be computed.
/// @threads safe.   @blocks until the contents are there.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_data(buffer: *const cyxla_buffer) -> *const c_void {
    // SAFETY: NULL or a living buffer.
    let buffer = unsafe { pointer::optional(buffer) };
    value(std::ptr::null(), || buffer.and_then(|handle| handle.buffer.data()).unwrap_or(std::ptr::null()))
}

/// Tells whether a buffer uses memory of the host in place.
///
/// @param buffer   a buffer, or NULL.
/// @return true if it was made of the host's memory (cyxla_buffer_view_host and _view_host_strict, cyxla_buffer_from_dlpack and _from_dlpack_legacy) without a copy.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_is_view(buffer: *const cyxla_buffer) -> bool {
    // SAFETY: NULL or a living buffer.
    let buffer = unsafe { pointer::optional(buffer) };
    value(false, || buffer.is_some_and(|handle| handle.buffer.is_view()))
}

/// Tells whether a program has taken a buffer's contents.
///
/// @param buffer   a buffer, or NULL.
/// @return true if it was donated; it can then only be freed.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_is_donated(buffer: *const cyxla_buffer) -> bool {
    // SAFETY: NULL or a living buffer.
    let buffer = unsafe { pointer::optional(buffer) };
    value(false, || buffer.is_some_and(|handle| handle.buffer.is_donated()))
}
