//! Programs: what a file or memory holds, before it is compiled.
//!
//! A program is immutable and may be shared by threads. It needs no plugin. Its form is
//! told by its content, never by the name of its file.

use std::ffi::{CString, c_char, c_void};
use std::sync::OnceLock;

use super::error::{c_text, cyxla_error};
use super::guard::{guard, value};
use super::pointer::{self, Out, optional_c_text};
use super::tensors::Names;
use crate::error::{Error, Result};
use crate::program::{Format, Program};

/// The encoding of a program.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct cyxla_format(pub i32);

/// Find out from the content.
pub const CYXLA_FORMAT_DETECT: cyxla_format = cyxla_format(0);
/// StableHLO: text, MLIR bytecode or portable artifact.
pub const CYXLA_FORMAT_STABLEHLO: cyxla_format = cyxla_format(1);
/// A file of jax.export (Exported.serialize).
pub const CYXLA_FORMAT_JAX_EXPORT: cyxla_format = cyxla_format(2);
/// A serialized HloModuleProto.
pub const CYXLA_FORMAT_HLO: cyxla_format = cyxla_format(3);

/// A program that is not compiled. Immutable; any thread may use it.
pub struct cyxla_program {
    pub(super) program: Program,
    pub(super) names: Names,
    name: Option<CString>,
    platforms: Vec<CString>,
    custom_calls: Vec<CString>,
    /// Made when it is first asked for.
    json: OnceLock<CString>,
}

impl cyxla_program {
    fn new(program: Program) -> cyxla_program {
        let texts = |texts: &[String]| texts.iter().map(|text| c_text(text)).collect();
        cyxla_program {
            names: program.signature().map(Names::of).unwrap_or_default(),
            name: program.contents().name.as_deref().map(c_text),
            platforms: texts(program.platforms()),
            custom_calls: texts(&program.contents().custom_calls),
            json: OnceLock::new(),
            program,
        }
    }
}

fn format_of(format: cyxla_format) -> Result<Format> {
    Ok(match format {
        CYXLA_FORMAT_DETECT => Format::Detect,
        CYXLA_FORMAT_STABLEHLO => Format::StableHlo,
        CYXLA_FORMAT_JAX_EXPORT => Format::JaxExport,
        CYXLA_FORMAT_HLO => Format::Hlo,
        cyxla_format(other) => {
            let message = format!("format is {other}, which is none of CYXLA_FORMAT_*");
            return Err(Error::invalid_argument(message).parameter("format"));
        }
    })
}

/// Reads a program from a file.
///
/// @param path     a regular file; NUL-terminated, in the bytes of the file system.
/// @param format   CYXLA_FORMAT_DETECT, or what the file is.
/// @param platform the platform that the program was lowered for, or NULL for what it records (StableHLO and HLO record none, and compile for any); one of them for a file of jax.export that has several.
/// @param out      receives a program to free with cyxla_program_free.
/// @return NULL, or an owned error: NOT_FOUND or PERMISSION_DENIED (the file), INVALID_ARGUMENT (not a program, damaged, or not for `platform`), FAILED_PRECONDITION (a saved executable), UNIMPLEMENTED (a program that cannot run: no fixed shapes, host callbacks, a newer calling convention; or one for a newer libcyxla).
/// @threads safe.   @blocks while the file is read.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_from_file(
    path: *const c_char,
    format: cyxla_format,
    platform: *const c_char,
    out: *mut *mut cyxla_program,
) -> *mut cyxla_error {
    guard("cyxla_program_from_file", || {
        // SAFETY: NULL or NUL-terminated texts; NULL or writable.
        let (path, platform, out) = unsafe {
            (
                pointer::path(path, "path")?,
                pointer::optional_text(platform, "platform")?,
                Out::new(out, "out")?,
            )
        };
        out.set_handle(cyxla_program::new(Program::from_file(path, format_of(format)?, platform)?));
        Ok(())
    })
}

/// Reads a program from memory.
///
/// @param data     program bytes; copied. May be NULL only if `size` is 0.
/// @param size     in bytes; without the NUL at the end of a text.
/// @param format   CYXLA_FORMAT_DETECT, or what the bytes are.
/// @param platform the platform that the program was lowered for, or NULL for what it records (StableHLO and HLO record none, and compile for any); one of them for a file of jax.export that has several.
/// @param out      receives a program to free with cyxla_program_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (not a program, damaged, or not for `platform`), FAILED_PRECONDITION (a saved executable), UNIMPLEMENTED (a program that cannot run: no fixed shapes, host callbacks, a newer calling convention; or one for a newer libcyxla).
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_from_bytes(
    data: *const c_void,
    size: usize,
    format: cyxla_format,
    platform: *const c_char,
    out: *mut *mut cyxla_program,
) -> *mut cyxla_error {
    guard("cyxla_program_from_bytes", || {
        // SAFETY: NULL or `size` bytes; NULL or NUL-terminated text; NULL or writable.
        let (bytes, platform, out) = unsafe {
            (
                pointer::slice(data.cast::<u8>(), size, "data")?,
                pointer::optional_text(platform, "platform")?,
                Out::new(out, "out")?,
            )
        };
        out.set_handle(cyxla_program::new(Program::from_bytes(bytes, format_of(format)?, platform)?));
        Ok(())
    })
}

/// Frees a program. Executables that were compiled from it live on.
///
/// @param program  a program, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_free(program: *mut cyxla_program) {
    // SAFETY: NULL or a program that was not freed before.
    value((), || unsafe { pointer::free(program) });
}

/// Returns how many platforms a program was lowered for.
///
/// @param program  a program, or NULL.
/// @return the count; 0 if it records none, and for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_platform_count(program: *const cyxla_program) -> usize {
    // SAFETY: NULL or a living program.
    let program = unsafe { pointer::optional(program) };
    value(0, || program.map_or(0, |program| program.platforms.len()))
}

/// Returns a platform that a program was lowered for.
///
/// @param program  a program, or NULL.
/// @param index    from 0.
/// @return text that lives as long as the program; NULL if there is no such platform.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_platform(
    program: *const cyxla_program,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living program.
    let program = unsafe { pointer::optional(program) };
    value(std::ptr::null(), || optional_c_text(program.and_then(|program| program.platforms.get(index))))
}

/// Returns the encoding of a program.
///
/// @param program  a program, or NULL.
/// @return the encoding that was found; CYXLA_FORMAT_DETECT for NULL only.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_format(program: *const cyxla_program) -> cyxla_format {
    // SAFETY: NULL or a living program.
    let program = unsafe { pointer::optional(program) };
    value(CYXLA_FORMAT_DETECT, || match program.map(|program| program.program.format()) {
        Some(Format::StableHlo) => CYXLA_FORMAT_STABLEHLO,
        Some(Format::JaxExport) => CYXLA_FORMAT_JAX_EXPORT,
        Some(Format::Hlo) => CYXLA_FORMAT_HLO,
        Some(Format::Detect) | None => CYXLA_FORMAT_DETECT,
    })
}

/// Returns the name of a program: of the function that jax.export wrote, or of the module.
///
/// @param program  a program, or NULL.
/// @return text that lives as long as the program; NULL if it has none, and for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_name(program: *const cyxla_program) -> *const c_char {
    // SAFETY: NULL or a living program.
    let program = unsafe { pointer::optional(program) };
    value(std::ptr::null(), || optional_c_text(program.and_then(|program| program.name.as_ref())))
}

/// Returns how many kinds of custom calls a program makes. The plugin has to know each.
///
/// @param program  a program, or NULL.
/// @return the count of different targets; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_custom_call_count(program: *const cyxla_program) -> usize {
    // SAFETY: NULL or a living program.
    let program = unsafe { pointer::optional(program) };
    value(0, || program.map_or(0, |program| program.custom_calls.len()))
}

/// Returns the target of a custom call that a program makes.
///
/// @param program  a program, or NULL.
/// @param index    from 0; targets are sorted.
/// @return text that lives as long as the program; NULL if there is no such target.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_custom_call(
    program: *const cyxla_program,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living program.
    let program = unsafe { pointer::optional(program) };
    value(std::ptr::null(), || optional_c_text(program.and_then(|program| program.custom_calls.get(index))))
}

/// Returns all that is known of a program before it is compiled, as a JSON object.
///
/// It is what `cyxla inspect --json` prints.
///
/// @param program  a program, or NULL.
/// @return text that lives as long as the program; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_json(program: *const cyxla_program) -> *const c_char {
    // SAFETY: NULL or a living program.
    let program = unsafe { pointer::optional(program) };
    value(std::ptr::null(), || {
        let json = |program: &cyxla_program| c_text(&program.program.to_json().to_string());
        optional_c_text(program.map(|program| program.json.get_or_init(|| json(program))))
    })
}

/// Gives the program of the gradients that a file of jax.export holds.
///
/// It takes the inputs of `program` and then a cotangent for each of its outputs, and
/// gives a cotangent for each input: JAX's VJP.
///
/// @param program  a program.
/// @param out      receives a program of its own, to free with cyxla_program_free.
/// @return NULL, or an owned error: NOT_FOUND (there is none; write it with `serialize(vjp_order=1)`), UNIMPLEMENTED (it cannot run).
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_program_vjp(
    program: *const cyxla_program,
    out: *mut *mut cyxla_program,
) -> *mut cyxla_error {
    guard("cyxla_program_vjp", || {
        // SAFETY: NULL or a living program; NULL or writable.
        let (program, out) = unsafe { (pointer::reference(program, "program")?, Out::new(out, "out")?) };
        out.set_handle(cyxla_program::new(program.program.vjp()?));
        Ok(())
    })
}
