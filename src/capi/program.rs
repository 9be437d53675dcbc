//! Programs: what a file or memory holds, before it is compiled.
//!
//! A program is immutable and may be shared by threads. It needs no plugin.

use std::ffi::{CString, c_char, c_void};

use super::error::{c_text, cyxla_error};
use super::guard::{guard, value};
use super::pointer::{self, Out, optional_c_text};
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
/// A file of jax.export; not readable in this version.
pub const CYXLA_FORMAT_JAX_EXPORT: cyxla_format = cyxla_format(2);
/// A serialized HloModuleProto; not readable in this version.
pub const CYXLA_FORMAT_HLO: cyxla_format = cyxla_format(3);

/// A program that is not compiled. Immutable; any thread may use it.
pub struct cyxla_program {
    pub(super) program: Program,
    platforms: Vec<CString>,
}

impl cyxla_program {
    fn new(program: Program) -> cyxla_program {
        let platforms = program.platforms().iter().map(|platform| c_text(platform)).collect();
        cyxla_program { program, platforms }
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
/// @param platform the platform that the program was lowered for, or NULL for what it records (StableHLO records none, and compiles for any).
/// @param out      receives a program to free with cyxla_program_free.
/// @return NULL, or an owned error: NOT_FOUND or PERMISSION_DENIED (the file), INVALID_ARGUMENT (not a program), UNIMPLEMENTED (a format that this version cannot read).
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
/// @param platform the platform that the program was lowered for, or NULL for what it records (StableHLO records none, and compiles for any).
/// @param out      receives a program to free with cyxla_program_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (not a program), UNIMPLEMENTED (a format that this version cannot read).
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
