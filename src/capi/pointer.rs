//! From C's pointers to Rust's types, in one place: NULL is checked here, and the
//! error names the parameter.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::pjrt::{HostInput, HostOutput};

#[cold]
fn null(parameter: &str) -> Error {
    Error::invalid_argument(format!("{parameter} is NULL")).parameter(parameter)
}

#[cold]
fn misaligned(pointer: *const (), alignment: usize, parameter: &str) -> Error {
    let message = format!("{parameter} is {pointer:?}, which is not aligned to {alignment} bytes");
    Error::invalid_argument(message).parameter(parameter)
}

/// Checks a pointer to something that this layer does not look at itself.
#[inline]
pub(super) fn check<T>(pointer: *const T, parameter: &str) -> Result<()> {
    if pointer.is_null() {
        return Err(null(parameter));
    }
    if !pointer.is_aligned() {
        return Err(misaligned(pointer.cast(), align_of::<T>(), parameter));
    }
    Ok(())
}

/// A handle that a function reads.
///
/// # Safety
/// NULL, or alive and not freed or changed during `'a`.
#[inline]
pub(super) unsafe fn reference<'a, T>(pointer: *const T, parameter: &str) -> Result<&'a T> {
    check(pointer, parameter)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { &*pointer })
}

/// A handle that a function changes.
///
/// # Safety
/// NULL, or alive and used by nobody else during `'a`.
pub(super) unsafe fn exclusive<'a, T>(pointer: *mut T, parameter: &str) -> Result<&'a mut T> {
    check(pointer, parameter)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { &mut *pointer })
}

/// A handle that a getter reads; NULL reads as none.
///
/// # Safety
/// As for [`reference()`].
pub(super) unsafe fn optional<'a, T>(pointer: *const T) -> Option<&'a T> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }
}

/// Ends a handle; NULL is nothing to end.
///
/// # Safety
/// NULL, or made by [`Out::set_handle`] and not ended before.
pub(super) unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// An array of `count` items; NULL only when it has none.
///
/// # Safety
/// `count` items at `pointer` are readable and unchanged during `'a`.
pub(super) unsafe fn slice<'a, T>(pointer: *const T, count: usize, parameter: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    check(pointer, parameter)?;
    if count > isize::MAX as usize / size_of::<T>().max(1) {
        let message = format!("{parameter} has {count} items, more than memory holds");
        return Err(Error::invalid_argument(message).parameter(parameter));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// An array that a function fills: NULL only when it has no items. What it holds
/// before is not looked at.
pub(super) fn check_array<T>(pointer: *mut T, count: usize, parameter: &str) -> Result<()> {
    if count == 0 { Ok(()) } else { check(pointer, parameter) }
}

/// Text in UTF-8.
///
/// # Safety
/// NULL, or NUL-terminated and unchanged during `'a`.
pub(super) unsafe fn text<'a>(pointer: *const c_char, parameter: &str) -> Result<&'a str> {
    check(pointer, parameter)?;
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    bytes.to_str().map_err(|_| {
        let message = format!("{parameter} is not UTF-8: {bytes:?}");
        Error::invalid_argument(message).parameter(parameter)
    })
}

/// Text in UTF-8, or NULL for none.
///
/// # Safety
/// As for [`text`].
pub(super) unsafe fn optional_text<'a>(pointer: *const c_char, parameter: &str) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    unsafe { text(pointer, parameter) }.map(Some)
}

/// A path in the bytes of the file system.
///
/// # Safety
/// As for [`text`].
pub(super) unsafe fn path<'a>(pointer: *const c_char, parameter: &str) -> Result<&'a Path> {
    check(pointer, parameter)?;
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(pointer) }.to_bytes();
    Ok(Path::new(OsStr::from_bytes(bytes)))
}

/// Where a function writes its result, once it has one.
pub(super) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Safety
    /// NULL, or writable.
    pub(super) unsafe fn new(pointer: *mut T, parameter: &str) -> Result<Out<T>> {
        check(pointer, parameter)?;
        Ok(Out(pointer))
    }

    pub(super) fn set(self, value: T) {
        // SAFETY: `new` checked it, and its caller promised the rest.
        unsafe { self.0.write(value) }
    }
}

impl<T> Out<*mut T> {
    /// Gives the caller a handle, which it has to free.
    pub(super) fn set_handle(self, handle: T) {
        self.set(Box::into_raw(Box::new(handle)));
    }
}

/// Gives a number to C, unless it wants none.
///
/// # Safety
/// NULL or writable.
pub(super) unsafe fn set(pointer: *mut usize, number: usize) {
    if !pointer.is_null() {
        // SAFETY: the caller's promise.
        unsafe { pointer.write(number) };
    }
}

/// Gives a list to C: its first item, NULL when it has none, and its length.
///
/// # Safety
/// `count` is NULL or writable.
pub(super) unsafe fn list<T>(items: &[T], count: *mut usize) -> *const T {
    if !count.is_null() {
        // SAFETY: the caller's promise.
        unsafe { count.write(items.len()) };
    }
    if items.is_empty() { std::ptr::null() } else { items.as_ptr() }
}

/// Gives a text to C; NULL for none.
pub(super) fn optional_c_text(text: Option<&CString>) -> *const c_char {
    text.map_or(std::ptr::null(), |text| text.as_ptr())
}

/// Memory that a call reads; NULL only when its size is 0.
///
/// # Safety
/// `size` bytes at `address` are readable, and unchanged during `'a`.
pub(super) unsafe fn host_input<'a>(
    address: *const c_void,
    size: usize,
    parameter: impl Fn() -> String,
) -> Result<HostInput<'a>> {
    check_memory(address, size, parameter)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { HostInput::from_raw(address, size) })
}

/// Memory that a call writes; NULL only when its size is 0.
///
/// # Safety
/// `size` bytes at `address` are writable during `'a`.
pub(super) unsafe fn host_output<'a>(
    address: *mut c_void,
    size: usize,
    parameter: impl Fn() -> String,
) -> Result<HostOutput<'a>> {
    check_memory(address, size, parameter)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { HostOutput::from_raw(address, size) })
}

fn check_memory(address: *const c_void, size: usize, parameter: impl Fn() -> String) -> Result<()> {
    if !address.is_null() || size == 0 {
        return Ok(());
    }
    let parameter = parameter();
    Err(Error::invalid_argument(format!("{parameter} is NULL, but should hold {size} bytes"))
        .parameter(&parameter))
}
