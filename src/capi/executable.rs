//! Executables: compiled programs.
//!
//! An executable is immutable and may be used by any number of threads at once.
//! It tells what it takes and gives; the texts and lists it returns live as long as
//! the executable.

use std::ffi::{CString, c_char};
use std::sync::OnceLock;

use super::bytes::cyxla_bytes;
use super::error::{c_text, cyxla_error};
use super::guard::{guard, value};
use super::options::cyxla_options;
use super::pointer::{self, Out, optional_c_text};
use super::program::cyxla_program;
use super::tensors::Names;
use crate::runtime::Executable;

/// A compiled program. Immutable; any number of threads may use it at once.
pub struct cyxla_executable {
    pub(super) executable: Executable,
    pub(super) names: Names,
    name: CString,
    /// Made when they are first asked for.
    fingerprint: OnceLock<CString>,
    memory_json: OnceLock<CString>,
}

impl cyxla_executable {
    pub(super) fn new(executable: Executable) -> cyxla_executable {
        cyxla_executable {
            name: c_text(executable.name()),
            fingerprint: OnceLock::new(),
            memory_json: OnceLock::new(),
            names: Names::of(executable.signature()),
            executable,
        }
    }
}

/// Compiles a program for the process's runtime.
///
/// Makes the default runtime for the program's platform if there is none. A program
/// that was lowered for another platform than the runtime's is refused, and so is one
/// that its devices cannot run by themselves (collectives with others, infeed, tokens,
/// dynamic shapes): plugins would hang or end the process. Text, MLIR bytecode and HLO
/// protos are checked before the plugin sees them, but no check finds all that a plugin
/// cannot bear: compile programs from others in a process of their own.
///
/// Options: "device" (int, a device's position, default 0), "replicas" and "partitions"
/// (ints), "device_ids" (list of ints), "use_spmd_partitioning",
/// "use_shardy_partitioner", "portable", "check_platform" (bools), "profile_version"
/// (int), "cache_dir" (string, a folder; empty for no cache), "cache_size" (int, bytes),
/// and "xla.NAME" for a debug option of XLA; docs/compile_options.md describes them.
///
/// @param program  a program.
/// @param options  compile options, or NULL.
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

/// Returns a text that names the program that was compiled.
///
/// Equal programs have the same one on every machine, whatever options they were compiled
/// with; versions of a plugin may differ.
///
/// @param executable an executable, or NULL.
/// @return text that lives as long as the executable; empty if the plugin has none; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_fingerprint(executable: *const cyxla_executable) -> *const c_char {
    // SAFETY: NULL or a living executable.
    let executable = unsafe { pointer::optional(executable) };
    value(std::ptr::null(), || {
        optional_c_text(
            executable.map(|made| made.fingerprint.get_or_init(|| c_text(&made.executable.fingerprint()))),
        )
    })
}

/// Returns on how many devices an executable runs at once.
///
/// They are its replicas times its partitions.
///
/// @param executable an executable, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_device_count(executable: *const cyxla_executable) -> usize {
    // SAFETY: NULL or a living executable.
    let executable = unsafe { pointer::optional(executable) };
    value(0, || executable.map_or(0, |executable| executable.executable.device_count()))
}

/// Returns one of the devices that an executable runs on.
///
/// In the order that the lists of cyxla_run and cyxla_execute and the `device` of the
/// functions of calls have: all partitions of the first replica, then those of the next.
///
/// @param executable an executable, or NULL.
/// @param index      position in the executable's list of devices, from 0.
/// @return position among the runtime's devices; 0 if there is no such device, and for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_device(executable: *const cyxla_executable, index: usize) -> usize {
    // SAFETY: NULL or a living executable.
    let executable = unsafe { pointer::optional(executable) };
    value(0, || executable.and_then(|one| one.executable.devices().get(index)).copied().unwrap_or(0))
}

/// Returns the size of the code that was made.
///
/// @param executable an executable, or NULL.
/// @return bytes; 0 where the plugin does not tell (CPU plugins do not), and for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_generated_code_size(executable: *const cyxla_executable) -> usize {
    // SAFETY: NULL or a living executable.
    let executable = unsafe { pointer::optional(executable) };
    value(0, || executable.map_or(0, |executable| executable.executable.generated_code_size()))
}

/// Returns how much memory an executable takes on each of its devices, as a JSON object.
///
/// It has "arguments", "outputs", "aliased" (outputs in the memory of donated arguments),
/// "temporary", "generated_code" and "peak", in bytes.
///
/// @param executable an executable, or NULL.
/// @return text that lives as long as the executable, "null" if the plugin does not tell; NULL for NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_memory_json(executable: *const cyxla_executable) -> *const c_char {
    // SAFETY: NULL or a living executable.
    let executable = unsafe { pointer::optional(executable) };
    value(std::ptr::null(), || {
        let json = |made: &cyxla_executable| c_text(&made.executable.memory_json().to_string());
        optional_c_text(executable.map(|made| made.memory_json.get_or_init(|| json(made))))
    })
}

/// Gives the program as the plugin optimized it.
///
/// From XLA's own plugins it is a serialized HloModuleProtoWithConfig. It is for people
/// to look at: it cannot be compiled again.
///
/// @param executable an executable.
/// @param out        receives bytes to free with cyxla_bytes_free.
/// @return NULL, or an owned error: the plugin's.
/// @threads safe.   @blocks while the plugin writes it.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_executable_optimized_program(
    executable: *const cyxla_executable,
    out: *mut *mut cyxla_bytes,
) -> *mut cyxla_error {
    guard("cyxla_executable_optimized_program", || {
        // SAFETY: NULL or a living executable; NULL or writable.
        let (executable, out) =
            unsafe { (pointer::reference(executable, "executable")?, Out::new(out, "out")?) };
        out.set_handle(cyxla_bytes(executable.executable.optimized_program()?));
        Ok(())
    })
}
