//! Running a program.
//!
//! cyxla_run goes from host memory to host memory in one call; cyxla_execute goes
//! from buffers to buffers and leaves the data on the device.

use std::ffi::c_void;
use std::sync::Arc;

use smallvec::SmallVec;

use super::buffer::cyxla_buffer;
use super::error::cyxla_error;
use super::executable::cyxla_executable;
use super::guard::{guard, guard_step};
use super::pointer;
use crate::error::Result;
use crate::pjrt::{HostInput, HostOutput, INLINE};
use crate::runtime::Buffer;

type Inputs<'a> = SmallVec<[HostInput<'a>; INLINE]>;
type Outputs<'a> = SmallVec<[HostOutput<'a>; INLINE]>;

/// # Safety
/// `inputs` and `sizes` have `count` items; each input is NULL or readable so far.
unsafe fn host_inputs<'a>(
    inputs: *const *const c_void,
    sizes: *const usize,
    count: usize,
    all: &mut Inputs<'a>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let (inputs, sizes) =
        unsafe { (pointer::slice(inputs, count, "inputs")?, pointer::slice(sizes, count, "input_sizes")?) };
    for (index, (&address, &size)) in inputs.iter().zip(sizes).enumerate() {
        // SAFETY: the caller's promise.
        all.push(unsafe { pointer::host_input(address, size, || format!("inputs[{index}]")) }?);
    }
    Ok(())
}

/// # Safety
/// `outputs` and `sizes` have `count` items; each output is NULL or writable so far.
unsafe fn host_outputs<'a>(
    outputs: *const *mut c_void,
    sizes: *const usize,
    count: usize,
    all: &mut Outputs<'a>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let (outputs, sizes) = unsafe {
        (pointer::slice(outputs, count, "outputs")?, pointer::slice(sizes, count, "output_sizes")?)
    };
    for (index, (&address, &size)) in outputs.iter().zip(sizes).enumerate() {
        // SAFETY: the caller's promise.
        all.push(unsafe { pointer::host_output(address, size, || format!("outputs[{index}]")) }?);
    }
    Ok(())
}

/// Runs a program on host memory and waits for the results.
///
/// For an executable for several devices the lists hold all that belongs to its first
/// device, then all that belongs to the next.
///
/// Inputs and outputs are dense and row-major. On a CPU plugin an input whose address
/// is a multiple of 64 is used in place; others are copied. Outputs are written
/// only after the program has ended, so they may be the memory of inputs. After an
/// error the contents of the outputs are unspecified only if the plugin failed while
/// they were copied; otherwise they are untouched. All this but for a program that was
/// compiled with results_in_place=true: it writes large results while it runs where nothing
/// else of the call lies, and leaves anything there after an error.
///
/// @param executable   an executable.
/// @param inputs       one address an input; each may be NULL only if its size is 0. Nobody may change the memory during the call.
/// @param input_sizes  bytes at each address: exactly cyxla_executable_input_size.
/// @param input_count  how many inputs: exactly cyxla_executable_input_count for each device.
/// @param outputs      one address an output; each may be NULL only if its size is 0.
/// @param output_sizes bytes at each address: exactly cyxla_executable_output_size.
/// @param output_count how many outputs: exactly cyxla_executable_output_count for each device.
/// @return NULL, or an owned error: INVALID_ARGUMENT (counts, sizes, NULL, a PRED byte other than 0 and 1), FAILED_PRECONDITION (a forked child), or the plugin's own.
/// @threads safe.   @blocks until the program has ended.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_run(
    executable: *const cyxla_executable,
    inputs: *const *const c_void,
    input_sizes: *const usize,
    input_count: usize,
    outputs: *const *mut c_void,
    output_sizes: *const usize,
    output_count: usize,
) -> *mut cyxla_error {
    guard_step("cyxla_run", || {
        // SAFETY: NULL or a living executable; arrays and memory as the contract says.
        unsafe {
            let executable = &pointer::reference(executable, "executable")?.executable;
            executable.check_counts(input_count, output_count)?;
            let (mut all_inputs, mut all_outputs) = (Inputs::new(), Outputs::new());
            host_inputs(inputs, input_sizes, input_count, &mut all_inputs)?;
            host_outputs(outputs, output_sizes, output_count, &mut all_outputs)?;
            executable.run_on_host(&all_inputs, &mut all_outputs)
        }
    })
}

/// Runs a program on buffers; the results are buffers.
///
/// May return before the program has ended; the results can be used at once all the
/// same, and an error of the program then comes from whatever uses them. Inputs that
/// the program may overwrite (cyxla_executable_input_is_donated) may be gone
/// afterwards; cyxla_buffer_is_donated tells. For an executable for several devices the
/// lists hold all that belongs to its first device, then all that belongs to the next;
/// one that was compiled with portable=true runs on the device of its inputs.
///
/// @param executable   an executable.
/// @param inputs       one buffer an input, of the input's type, on the device that it belongs to.
/// @param input_count  how many inputs: exactly cyxla_executable_input_count for each device.
/// @param outputs      receives one buffer an output, to be freed with cyxla_buffer_free; untouched after an error.
/// @param output_count how many outputs: exactly cyxla_executable_output_count for each device.
/// @return NULL, or an owned error: INVALID_ARGUMENT (counts, types, NULL, a device, a donated buffer passed twice), FAILED_PRECONDITION (a buffer that was donated before, a forked child), or the plugin's own.
/// @threads safe.   @blocks on a synchronous runtime, until the program has ended.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_execute(
    executable: *const cyxla_executable,
    inputs: *const *const cyxla_buffer,
    input_count: usize,
    outputs: *mut *mut cyxla_buffer,
    output_count: usize,
) -> *mut cyxla_error {
    guard("cyxla_execute", || {
        // SAFETY: NULL or living handles; arrays as the contract says.
        unsafe {
            let executable = &pointer::reference(executable, "executable")?.executable;
            executable.check_counts(input_count, output_count)?;
            let handles = pointer::slice(inputs, input_count, "inputs")?;
            let buffers: SmallVec<[&Buffer; INLINE]> = (handles.iter().enumerate())
                .map(|(index, &handle)| {
                    pointer::reference(handle, &format!("inputs[{index}]")).map(|handle| &*handle.buffer)
                })
                .collect::<Result<_>>()?;
            // Checks that there is somewhere to write before anything runs.
            pointer::check_array(outputs, output_count, "outputs")?;
            let results = executable.execute(&buffers)?;
            for (index, buffer) in results.into_iter().enumerate() {
                outputs.add(index).write(Box::into_raw(Box::new(cyxla_buffer { buffer: Arc::new(buffer) })));
            }
            Ok(())
        }
    })
}
