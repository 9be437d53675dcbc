//! What executables take and give.
//!
//! Never unknown. For a file of jax.export these are the inputs of the user's own
//! function, in flat order: pass those that the compiler dropped as well.

use std::ffi::c_char;

use super::dtype::{CYXLA_DTYPE_INVALID, cyxla_dtype};
use super::executable::cyxla_executable;
use super::guard::value;
use super::pointer;
use super::tensors::{Getters, Tensor};
use crate::program::Signature;

fn signature(executable: &cyxla_executable) -> Option<&Signature> {
    Some(executable.executable.signature())
}

/// # Safety
/// NULL or a living executable.
unsafe fn input<'a>(executable: *const cyxla_executable, index: usize) -> Option<Tensor<'a>> {
    // SAFETY: the caller's promise.
    let executable = unsafe { pointer::optional(executable) }?;
    executable.names.input(signature(executable)?, index)
}

/// # Safety
/// NULL or a living executable.
unsafe fn output<'a>(executable: *const cyxla_executable, index: usize) -> Option<Tensor<'a>> {
    // SAFETY: the caller's promise.
    let executable = unsafe { pointer::optional(executable) }?;
    executable.names.output(signature(executable)?, index)
}

/// Returns how many inputs the program takes.
///
/// @param executable an executable, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_input_count(executable: *const cyxla_executable) -> usize {
    // SAFETY: NULL or a living executable.
    let executable = unsafe { pointer::optional(executable) };
    value(0, || executable.and_then(signature).map_or(0, |signature| signature.inputs.len()))
}

/// Returns the name of an input in the user's program.
///
/// For a file of jax.export it is a key path, such as `args[0]['w1'][3]`.
///
/// @param executable an executable, or NULL.
/// @param index the input's position, from 0.
/// @return text that lives as long as the executable; NULL if it is unknown or there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_input_name(
    executable: *const cyxla_executable,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { input(executable, index) };
    value(std::ptr::null(), || tensor.name())
}

/// Returns the element type of an input.
///
/// @param executable an executable, or NULL.
/// @param index the input's position, from 0.
/// @return the type; CYXLA_DTYPE_INVALID if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_input_dtype(
    executable: *const cyxla_executable,
    index: usize,
) -> cyxla_dtype {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { input(executable, index) };
    value(CYXLA_DTYPE_INVALID, || tensor.dtype())
}

/// Returns how many elements an input has in each dimension.
///
/// @param executable an executable, or NULL.
/// @param index the input's position, from 0.
/// @param rank  receives how many dimensions; may be NULL.
/// @return the dims, which live as long as the executable; NULL for a scalar and if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_input_dims(
    executable: *const cyxla_executable,
    index: usize,
    rank: *mut usize,
) -> *const i64 {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { input(executable, index) };
    let dims = value(&[][..], || tensor.dims());
    // SAFETY: NULL or writable.
    unsafe { pointer::list(dims, rank) }
}

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_input_offsets(
    executable: *const cyxla_executable,
    device: usize,
    index: usize,
    rank: *mut usize,
) -> *const i64 {
    // SAFETY: NULL or a living executable.
    let (tensor, executable) = unsafe { (input(executable, index), pointer::optional(executable)) };
    let offsets = value(None, || executable?.executable.input_offsets(device, index));
    let dims = value(0, || tensor.dims().len());
    // SAFETY: NULL or writable.
    unsafe {
        let first = pointer::list(offsets.unwrap_or_default(), rank);
        pointer::set(rank, dims); // also where the offsets are not known
        first
    }
}

/// Returns how many bytes an input takes in host memory, row-major.
///
/// @param executable an executable, or NULL.
/// @param index the input's position, from 0.
/// @return bytes; 0 if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_input_size(
    executable: *const cyxla_executable,
    index: usize,
) -> usize {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { input(executable, index) };
    value(0, || tensor.size())
}

/// Tells whether the program may overwrite an input.
///
/// @param executable an executable, or NULL.
/// @param index the input's position, from 0.
/// @return true if it may: a buffer passed to cyxla_execute for it may be gone afterwards.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_input_is_donated(
    executable: *const cyxla_executable,
    index: usize,
) -> bool {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { input(executable, index) };
    value(false, || tensor.is_donated())
}

/// Returns how many outputs the program gives.
///
/// @param executable an executable, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_output_count(executable: *const cyxla_executable) -> usize {
    // SAFETY: NULL or a living executable.
    let executable = unsafe { pointer::optional(executable) };
    value(0, || executable.and_then(signature).map_or(0, |signature| signature.outputs.len()))
}

/// Returns the name of an output in the user's program.
///
/// For a file of jax.export it is a key path, such as `result['loss']`.
///
/// @param executable an executable, or NULL.
/// @param index the output's position, from 0.
/// @return text that lives as long as the executable; NULL if it is unknown or there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_output_name(
    executable: *const cyxla_executable,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { output(executable, index) };
    value(std::ptr::null(), || tensor.name())
}

/// Returns the element type of an output.
///
/// @param executable an executable, or NULL.
/// @param index the output's position, from 0.
/// @return the type; CYXLA_DTYPE_INVALID if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_output_dtype(
    executable: *const cyxla_executable,
    index: usize,
) -> cyxla_dtype {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { output(executable, index) };
    value(CYXLA_DTYPE_INVALID, || tensor.dtype())
}

/// Returns how many elements an output has in each dimension.
///
/// @param executable an executable, or NULL.
/// @param index the output's position, from 0.
/// @param rank  receives how many dimensions; may be NULL.
/// @return the dims, which live as long as the executable; NULL for a scalar and if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_output_dims(
    executable: *const cyxla_executable,
    index: usize,
    rank: *mut usize,
) -> *const i64 {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { output(executable, index) };
    let dims = value(&[][..], || tensor.dims());
    // SAFETY: NULL or writable.
    unsafe { pointer::list(dims, rank) }
}

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_output_offsets(
    executable: *const cyxla_executable,
    device: usize,
    index: usize,
    rank: *mut usize,
) -> *const i64 {
    // SAFETY: NULL or a living executable.
    let (tensor, executable) = unsafe { (output(executable, index), pointer::optional(executable)) };
    let offsets = value(None, || executable?.executable.output_offsets(device, index));
    let dims = value(0, || tensor.dims().len());
    // SAFETY: NULL or writable.
    unsafe {
        let first = pointer::list(offsets.unwrap_or_default(), rank);
        pointer::set(rank, dims); // also where the offsets are not known
        first
    }
}

/// Returns how many bytes an output takes in host memory, row-major.
///
/// @param executable an executable, or NULL.
/// @param index the output's position, from 0.
/// @return bytes; 0 if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_output_size(
    executable: *const cyxla_executable,
    index: usize,
) -> usize {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { output(executable, index) };
    value(0, || tensor.size())
}
