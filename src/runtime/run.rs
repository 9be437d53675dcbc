//! Runs a program on host memory: in, out, one call.

use smallvec::SmallVec;

use super::executable::Inner;
use super::relayout::to_row_major;
use super::{Executable, destinations};
use crate::dtype::{ArrayType, DType};
use crate::error::{Error, Result};
use crate::memory;
use crate::pjrt::{
    ArraySpec, BorrowedBuffer, Buffer, BufferRef, Event, Events, HostInput, HostOutput, INLINE, Layout,
    Results, presence,
};
use crate::program::TensorSpec;

impl Executable {
    /// Runs the program on host memory and waits for the results. The lists hold what
    /// belongs to the first device, then what belongs to the next.
    pub fn run_on_host(&self, inputs: &[HostInput<'_>], outputs: &mut [HostOutput<'_>]) -> Result<()> {
        let executable = &*self.0;
        presence::check()?;
        self.check_counts(inputs.len(), outputs.len())?;
        check_inputs(executable, inputs)?;
        check_outputs(executable, outputs)?;

        let mut stand_ins = destinations::stand_ins(executable, inputs, outputs)?;
        let mut arguments = Borrowed::new();
        borrow_all(executable, inputs, &mut arguments)?;
        destinations::lend_all(executable, outputs, &mut stand_ins, &mut arguments)?;
        let mut list = SmallVec::new();
        list_arguments(executable, &arguments, &mut list);
        // Results go before the arguments whose memory they may have taken over.
        let mut results = Results::new();
        let (devices, target) = (executable.devices.len(), executable.target());
        if executable.is_synchronous() {
            executable.loaded.execute(&list, devices, target, &mut results, None)?;
        } else {
            let mut ended = Events::new();
            executable.loaded.execute(&list, devices, target, &mut results, Some(&mut ended))?;
            let had_ended = all_ready(&ended);
            wait_for_all(&ended)?;
            executable.note_timing(had_ended?);
        }
        copy_all(executable, &results, outputs)
    }

    /// The same on slices.
    pub fn run(&self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<()> {
        let inputs: Vec<HostInput<'_>> = inputs.iter().map(|bytes| HostInput::new(bytes)).collect();
        let mut outputs: Vec<HostOutput<'_>> =
            outputs.iter_mut().map(|bytes| HostOutput::new(bytes)).collect();
        self.run_on_host(&inputs, &mut outputs)
    }
}

/// Whether every device has ended. A plugin that gives nothing to wait for has nothing left
/// to do.
pub(super) fn all_ready(events: &[Event]) -> Result<bool> {
    events.iter().try_fold(true, |all, event| Ok(all && event.is_ready()?))
}

/// Waits for every device, also when one has failed: the others use the same memory.
pub(super) fn wait_for_all(events: &[Event]) -> Result<()> {
    events.iter().map(Event::wait).fold(Ok(()), Result::and)
}

/// Arguments over memory of the host.
pub(super) type Borrowed<'a> = SmallVec<[BorrowedBuffer<'a>; INLINE]>;

/// Adds the arguments over the inputs, whose sizes are checked.
pub(super) fn borrow_all<'a>(
    executable: &Inner,
    inputs: &[HostInput<'a>],
    borrowed: &mut Borrowed<'a>,
) -> Result<()> {
    let (runtime, specs) = (executable.runtime, &executable.signature.inputs);
    for (place, &device) in executable.devices.iter().enumerate() {
        let device = runtime.device(device)?;
        for (index, input) in executable.arguments.select(&inputs[place * specs.len()..][..specs.len()]) {
            let spec = &specs[index];
            let array = ArraySpec { dtype: spec.dtype, dims: &spec.dims };
            borrowed.push(runtime.client.borrow_sized(*input, array, spec.host_size(), device)?);
        }
    }
    Ok(())
}

/// Adds what the plugin is given: for each device the arguments, and before them what the
/// program takes besides.
pub(super) fn list_arguments<'a>(
    executable: &'a Inner,
    arguments: &'a [BorrowedBuffer<'_>],
    list: &mut SmallVec<[BufferRef<'a>; INLINE]>,
) {
    let each = arguments.len() / executable.devices.len();
    for (place, &device) in executable.devices.iter().enumerate() {
        if let Some(index) = executable.arguments.platform_index(device) {
            list.push(index.as_argument());
        }
        for argument in &arguments[place * each..][..each] {
            list.push(argument.as_argument());
        }
    }
}

/// Copies the results to the host, row-major. They are there already.
fn copy_all(executable: &Inner, results: &Results, outputs: &mut [HostOutput<'_>]) -> Result<()> {
    let forms = executable.result_forms(results)?;
    let specs = &executable.signature.outputs;
    let mut index = 0;
    for (result, output) in results.iter().zip(outputs) {
        let form = &forms[index];
        if form.is_readable && executable.is_synchronous() {
            result.copy_in_place_now(output)?;
        } else {
            copy_row_major(result, specs[index].array_type(), &form.layout, output)?;
        }
        index += 1;
        if index == specs.len() {
            index = 0; // the next device's
        }
    }
    Ok(())
}

pub(super) fn check_inputs(executable: &Inner, inputs: &[HostInput<'_>]) -> Result<()> {
    let specs = &executable.signature.inputs;
    for (position, (input, spec)) in inputs.iter().zip(specs.iter().cycle()).enumerate() {
        if input.size() != spec.host_size() {
            let name = executable.name_of("argument", position, specs.len());
            return Err(wrong_size(name, spec, input.size()).parameter("input_sizes"));
        }
        if spec.dtype == DType::PRED {
            check_bools(input).map_err(|error| {
                let name = executable.name_of("argument", position, specs.len());
                error
                    .map_message(|message| format!("{name}, {}: {message}", spec.array_type()))
                    .parameter("inputs")
            })?;
        }
    }
    Ok(())
}

fn check_outputs(executable: &Inner, outputs: &[HostOutput<'_>]) -> Result<()> {
    let specs = &executable.signature.outputs;
    for (position, (output, spec)) in outputs.iter().zip(specs.iter().cycle()).enumerate() {
        if output.size() != spec.host_size() {
            let name = executable.name_of("result", position, specs.len());
            return Err(wrong_size(name, spec, output.size()).parameter("output_sizes"));
        }
    }
    Ok(())
}

#[cold]
fn wrong_size(name: String, spec: &TensorSpec, got: usize) -> Error {
    let (array_type, expected) = (spec.array_type(), spec.host_size());
    Error::invalid_argument(format!("{name} is {array_type} and takes {expected} bytes, got {got}"))
        .hint("sizes are in bytes; check the number of elements and the element type")
}

/// An error unless every byte is 0 or 1: plugins disagree on what other values
/// mean, and abort where one decides a branch.
pub(super) fn check_bools(input: &HostInput<'_>) -> Result<()> {
    match input.first_non_bool() {
        None => Ok(()),
        Some(position) => {
            let message = format!("element {position} of a pred array is neither 0 nor 1");
            Err(Error::invalid_argument(message).hint("store booleans as bytes of value 0 and 1"))
        }
    }
}

/// Copies an array to host memory in row-major order, whatever its own order is.
/// `output` has the array's size.
pub(super) fn copy_row_major(
    buffer: &Buffer,
    array: ArrayType<'_>,
    layout: &Layout,
    output: &mut HostOutput<'_>,
) -> Result<()> {
    let ArrayType(dtype, dims) = array;
    if output.size() == 0 {
        return Ok(());
    }
    let row_major = layout.is_row_major(dims);
    // Types narrower than a byte are packed in a way that only the plugin knows.
    if !dtype.is_sub_byte() && !layout.is_tiled {
        if row_major {
            if buffer.copy_in_place(output)? {
                return Ok(());
            }
        } else if let Some(bytes) = buffer.bytes(output.size())? {
            // By way of memory of ours: the output may be what `bytes` is a view of.
            output.write(&to_row_major(bytes, dims, layout, dtype.host_size())?);
            return Ok(());
        }
    }
    if row_major {
        return buffer.copy_to_host(output, None);
    }
    if layout.is_tiled {
        return buffer.copy_to_host(output, Some(dims.len()));
    }
    // Some plugins ignore the order that is asked for; in their own they agree.
    let mut bytes = memory::zeroed(output.size())?;
    buffer.copy_to_host(&mut HostOutput::new(&mut bytes), None)?;
    output.write(&to_row_major(&bytes, dims, layout, dtype.host_size())?);
    Ok(())
}
