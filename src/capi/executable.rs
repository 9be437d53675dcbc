//! Executables: compiled programs.
//!
//! An executable is immutable and may be used by any number of threads at once.
//! It tells what it takes and gives; the texts and lists it returns live as long as
//! the executable.

use std::ffi::{CString, c_char};

use super::dtype::{CYXLA_DTYPE_INVALID, cyxla_dtype};
use super::error::{c_text, cyxla_error};
use super::guard::{guard, value};
use super::options::cyxla_options;
use super::pointer::{self, Out, optional_c_text};
use super::program::cyxla_program;
use crate::program::TensorSpec;
use crate::runtime::Executable;

/// A compiled program. Immutable; any number of threads may use it at once.
pub struct cyxla_executable {
    pub(super) executable: Executable,
    name: CString,
    input_names: Vec<Option<CString>>,
    output_names: Vec<Option<CString>>,
}

impl cyxla_executable {
    fn new(executable: Executable) -> cyxla_executable {
        let names =
            |specs: &[TensorSpec]| specs.iter().map(|spec| spec.name.as_deref().map(c_text)).collect();
        cyxla_executable {
            name: c_text(executable.name()),
            input_names: names(executable.inputs()),
            output_names: names(executable.outputs()),
            executable,
        }
    }
}

/// An input or output: its type, and its name as a C string.
struct Tensor<'a> {
    spec: &'a TensorSpec,
    name: Option<&'a CString>,
}

/// # Safety
/// NULL or a living executable.
unsafe fn input<'a>(executable: *const cyxla_executable, index: usize) -> Option<Tensor<'a>> {
    // SAFETY: the caller's promise.
    let made = unsafe { pointer::optional(executable) }?;
    let spec = made.executable.inputs().get(index)?;
    Some(Tensor { spec, name: made.input_names.get(index)?.as_ref() })
}

/// # Safety
/// NULL or a living executable.
unsafe fn output<'a>(executable: *const cyxla_executable, index: usize) -> Option<Tensor<'a>> {
    // SAFETY: the caller's promise.
    let made = unsafe { pointer::optional(executable) }?;
    let spec = made.executable.outputs().get(index)?;
    Some(Tensor { spec, name: made.output_names.get(index)?.as_ref() })
}

/// Compiles a program for the process's runtime.
///
/// Makes the default runtime for the program's platform if there is none. A program
/// that was lowered for another platform than the runtime's is refused, and so is one
/// that one device cannot run by itself (collectives, infeed, tokens, dynamic shapes):
/// plugins would hang or end the process. The sizes of types, the nesting and the calls
/// of a program in text are checked first, those of MLIR bytecode are not: a plugin can
/// end the process on a malformed program, so compile programs from others in a process
/// of their own.
///
/// @param program  a program.
/// @param options  compile options, or NULL. Known: "device" (int, a device's position, default 0).
/// @param out      receives an executable to free with cyxla_executable_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (an option), FAILED_PRECONDITION (another platform), UNIMPLEMENTED (cannot run on one device), the plugin's own (UNKNOWN for a program that it cannot parse), or as cyxla_initialize.
/// @threads safe.   @blocks while the plugin compiles.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_compile_program(
    program: *const cyxla_program,
    options: *const cyxla_options,
    out: *mut *mut cyxla_executable,
) -> *mut cyxla_error {
    guard("cyxla_compile_program", || {
        // SAFETY: NULL or living handles; NULL or writable.
        let (program, options, out) = unsafe {
            (pointer::reference(program, "program")?, pointer::optional(options), Out::new(out, "out")?)
        };
        let options = options.map(|options| &options.options);
        out.set_handle(cyxla_executable::new(Executable::compile(&program.program, options)?));
        Ok(())
    })
}

/// Frees an executable. Buffers that it made live on.
///
/// @param executable an executable, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_free(executable: *mut cyxla_executable) {
    // SAFETY: NULL or an executable that was not freed before.
    value((), || unsafe { pointer::free(executable) });
}

/// Returns the name of the program, as the program itself has it.
///
/// @param executable an executable, or NULL.
/// @return text that lives as long as the executable; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_name(executable: *const cyxla_executable) -> *const c_char {
    // SAFETY: NULL or a living executable.
    let executable = unsafe { pointer::optional(executable) };
    value(std::ptr::null(), || optional_c_text(executable.map(|executable| &executable.name)))
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
    value(0, || executable.map_or(0, |made| made.executable.inputs().len()))
}

/// Returns the name of an input in the user's program.
///
/// @param executable an executable, or NULL.
/// @param index      the input's position, from 0.
/// @return text that lives as long as the executable; NULL if it is unknown or there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_input_name(
    executable: *const cyxla_executable,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { input(executable, index) };
    value(std::ptr::null(), || optional_c_text(tensor.and_then(|tensor| tensor.name)))
}

/// Returns the element type of an input.
///
/// @param executable an executable, or NULL.
/// @param index      the input's position, from 0.
/// @return the type; CYXLA_DTYPE_INVALID if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_input_dtype(
    executable: *const cyxla_executable,
    index: usize,
) -> cyxla_dtype {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { input(executable, index) };
    value(CYXLA_DTYPE_INVALID, || {
        tensor.map_or(CYXLA_DTYPE_INVALID, |tensor| cyxla_dtype(tensor.spec.dtype.0))
    })
}

/// Returns how many elements an input has in each dimension.
///
/// @param executable an executable, or NULL.
/// @param index      the input's position, from 0.
/// @param rank       receives how many dimensions; may be NULL.
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
    let dims = value(&[][..], || tensor.map_or(&[][..], |tensor| tensor.spec.dims.as_slice()));
    // SAFETY: NULL or writable.
    unsafe { pointer::list(dims, rank) }
}

/// Returns how many bytes an input takes in host memory, row-major.
///
/// @param executable an executable, or NULL.
/// @param index      the input's position, from 0.
/// @return bytes; 0 if there is no such input.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_input_size(
    executable: *const cyxla_executable,
    index: usize,
) -> usize {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { input(executable, index) };
    value(0, || tensor.map_or(0, |tensor| tensor.spec.host_size()))
}

/// Tells whether the program may overwrite an input.
///
/// @param executable an executable, or NULL.
/// @param index      the input's position, from 0.
/// @return true if it may: a buffer passed to cyxla_execute for it may be gone afterwards.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_input_is_donated(
    executable: *const cyxla_executable,
    index: usize,
) -> bool {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { input(executable, index) };
    value(false, || tensor.is_some_and(|tensor| tensor.spec.is_donated))
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
    value(0, || executable.map_or(0, |made| made.executable.outputs().len()))
}

/// Returns the name of an output in the user's program.
///
/// @param executable an executable, or NULL.
/// @param index      the output's position, from 0.
/// @return text that lives as long as the executable; NULL if it is unknown or there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_output_name(
    executable: *const cyxla_executable,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { output(executable, index) };
    value(std::ptr::null(), || optional_c_text(tensor.and_then(|tensor| tensor.name)))
}

/// Returns the element type of an output.
///
/// @param executable an executable, or NULL.
/// @param index      the output's position, from 0.
/// @return the type; CYXLA_DTYPE_INVALID if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_output_dtype(
    executable: *const cyxla_executable,
    index: usize,
) -> cyxla_dtype {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { output(executable, index) };
    value(CYXLA_DTYPE_INVALID, || {
        tensor.map_or(CYXLA_DTYPE_INVALID, |tensor| cyxla_dtype(tensor.spec.dtype.0))
    })
}

/// Returns how many elements an output has in each dimension.
///
/// @param executable an executable, or NULL.
/// @param index      the output's position, from 0.
/// @param rank       receives how many dimensions; may be NULL.
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
    let dims = value(&[][..], || tensor.map_or(&[][..], |tensor| tensor.spec.dims.as_slice()));
    // SAFETY: NULL or writable.
    unsafe { pointer::list(dims, rank) }
}

/// Returns how many bytes an output takes in host memory, row-major.
///
/// @param executable an executable, or NULL.
/// @param index      the output's position, from 0.
/// @return bytes; 0 if there is no such output.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_output_size(
    executable: *const cyxla_executable,
    index: usize,
) -> usize {
    // SAFETY: NULL or a living executable.
    let tensor = unsafe { output(executable, index) };
    value(0, || tensor.map_or(0, |tensor| tensor.spec.host_size()))
}
