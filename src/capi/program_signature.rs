//! What programs take and give, before they are compiled.
//!
//! Files of jax.export and HLO protos always tell; StableHLO tells where its entry
//! function's types are written out (cyxla_program_has_signature). These are the inputs
//! of the user's own function, in flat order: those that the compiler dropped are among
//! them, while the platform index that jax.export adds is not.

use std::ffi::c_char;

use super::dtype::{CYXLA_DTYPE_INVALID, cyxla_dtype};
use super::guard::value;
use super::pointer;
use super::program::cyxla_program;
use super::tensors::{Getters, Tensor};
use crate::program::Signature;

fn signature(program: &cyxla_program) -> Option<&Signature> {
    program.program.signature()
}

/// # Safety
/// NULL or a living program.
unsafe fn input<'a>(program: *const cyxla_program, index: usize) -> Option<Tensor<'a>> {
    // SAFETY: the caller's promise.
    let program = unsafe { pointer::optional(program) }?;
    program.names.input(signature(program)?, index)
}

/// # Safety
/// NULL or a living program.
unsafe fn output<'a>(program: *const cyxla_program, index: usize) -> Option<Tensor<'a>> {
    // SAFETY: the caller's promise.
    let program = unsafe { pointer::optional(program) }?;
    program.names.output(signature(program)?, index)
}

/// Tells whether the inputs and outputs of a program are known before it is compiled.
///
/// @param program a program, or NULL.
/// @return true if the getters of this section tell them; false for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_has_signature(program: *const cyxla_program) -> bool {
    // SAFETY: NULL or a living program.
    let program = unsafe { pointer::optional(program) };
    value(false, || program.and_then(signature).is_some())
}

/// Returns how many inputs the program takes.
///
/// @param program a program, or NULL.
/// @return the count; 0 for NULL and where it is unknown.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_input_count(program: *const cyxla_program) -> usize {
    // SAFETY: NULL or a living program.
    let program = unsafe { pointer::optional(program) };
    value(0, || program.and_then(signature).map_or(0, |signature| signature.inputs.len()))
}

/// Returns the name of an input in the user's program.
///
/// For a file of jax.export it is a key path, such as `args[0]['w1'][3]`.
///
/// @param program a program, or NULL.
/// @param index the input's position, from 0.
/// @return text that lives as long as the program; NULL if it is unknown or there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_input_name(
    program: *const cyxla_program,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living program.
    let tensor = unsafe { input(program, index) };
    value(std::ptr::null(), || tensor.name())
}

/// Returns the element type of an input.
///
/// @param program a program, or NULL.
/// @param index the input's position, from 0.
/// @return the type; CYXLA_DTYPE_INVALID if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_input_dtype(
    program: *const cyxla_program,
    index: usize,
) -> cyxla_dtype {
    // SAFETY: NULL or a living program.
    let tensor = unsafe { input(program, index) };
    value(CYXLA_DTYPE_INVALID, || tensor.dtype())
}

/// Returns how many elements an input has in each dimension.
///
/// @param program a program, or NULL.
/// @param index the input's position, from 0.
/// @param rank  receives how many dimensions; may be NULL.
/// @return the dims, which live as long as the program; NULL for a scalar and if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_input_dims(
    program: *const cyxla_program,
    index: usize,
    rank: *mut usize,
) -> *const i64 {
    // SAFETY: NULL or a living program.
    let tensor = unsafe { input(program, index) };
    let dims = value(&[][..], || tensor.dims());
    // SAFETY: NULL or writable.
    unsafe { pointer::list(dims, rank) }
}

/// Returns how many bytes an input takes in host memory, row-major.
///
/// @param program a program, or NULL.
/// @param index the input's position, from 0.
/// @return bytes; 0 if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_input_size(program: *const cyxla_program, index: usize) -> usize {
    // SAFETY: NULL or a living program.
    let tensor = unsafe { input(program, index) };
    value(0, || tensor.size())
}

/// Tells whether the program may overwrite an input.
///
/// @param program a program, or NULL.
/// @param index the input's position, from 0.
/// @return true if it may: a buffer passed to cyxla_execute for it may be gone afterwards.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_input_is_donated(program: *const cyxla_program, index: usize) -> bool {
    // SAFETY: NULL or a living program.
    let tensor = unsafe { input(program, index) };
    value(false, || tensor.is_donated())
}

/// Returns how many outputs the program gives.
///
/// @param program a program, or NULL.
/// @return the count; 0 for NULL and where it is unknown.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_output_count(program: *const cyxla_program) -> usize {
    // SAFETY: NULL or a living program.
    let program = unsafe { pointer::optional(program) };
    value(0, || program.and_then(signature).map_or(0, |signature| signature.outputs.len()))
}

/// Returns the name of an output in the user's program.
///
/// For a file of jax.export it is a key path, such as `result['loss']`.
///
/// @param program a program, or NULL.
/// @param index the output's position, from 0.
/// @return text that lives as long as the program; NULL if it is unknown or there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_output_name(
    program: *const cyxla_program,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living program.
    let tensor = unsafe { output(program, index) };
    value(std::ptr::null(), || tensor.name())
}

/// Returns the element type of an output.
///
/// @param program a program, or NULL.
/// @param index the output's position, from 0.
/// @return the type; CYXLA_DTYPE_INVALID if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_output_dtype(
    program: *const cyxla_program,
    index: usize,
) -> cyxla_dtype {
    // SAFETY: NULL or a living program.
    let tensor = unsafe { output(program, index) };
    value(CYXLA_DTYPE_INVALID, || tensor.dtype())
}

/// Returns how many elements an output has in each dimension.
///
/// @param program a program, or NULL.
/// @param index the output's position, from 0.
/// @param rank  receives how many dimensions; may be NULL.
/// @return the dims, which live as long as the program; NULL for a scalar and if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_output_dims(
    program: *const cyxla_program,
    index: usize,
    rank: *mut usize,
) -> *const i64 {
    // SAFETY: NULL or a living program.
    let tensor = unsafe { output(program, index) };
    let dims = value(&[][..], || tensor.dims());
    // SAFETY: NULL or writable.
    unsafe { pointer::list(dims, rank) }
}

/// Returns how many bytes an output takes in host memory, row-major.
///
/// @param program a program, or NULL.
/// @param index the output's position, from 0.
/// @return bytes; 0 if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_output_size(program: *const cyxla_program, index: usize) -> usize {
    // SAFETY: NULL or a living program.
    let tensor = unsafe { output(program, index) };
    value(0, || tensor.size())
}
