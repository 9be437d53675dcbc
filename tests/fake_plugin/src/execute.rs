//! Execution: checks the arguments as real plugins do, and computes something simple.

use crate::buffers::Buffer;
use crate::client::Device;
use crate::entry::check_size;
use crate::errors::Failure;
use crate::events::Work;
use crate::executables::LoadedExecutable;
use crate::layout;
use crate::ledger;
use crate::memories;
use crate::module_text::{Module, Tensor};
use crate::storage::Storage;
use crate::sys::*;
use std::mem::offset_of;
use std::sync::Arc;

/// The options' size before PJRT grew them; real plugins still accept it.
const OLDEST_OPTIONS: usize = 112;

/// One argument of an execution.
struct Argument {
    buffer: Arc<Buffer>,
    storage: Arc<Storage>,
    /// Whether the memory was given away with it.
    donated: bool,
}

fn check_argument(at: usize, buffer: &Buffer, wanted: &Tensor) -> Result<(), Failure> {
    buffer.storage()?;
    let (wanted, given) = (wanted.size(), buffer.tensor.size());
    if wanted != given {
        return Err(Failure::invalid(format!(
            "Executable expected parameter {at} of size {wanted} but got buffer with \
             incompatible size {given}"
        )));
    }
    Ok(())
}

fn find_arguments(
    args: &PJRT_LoadedExecutable_Execute_Args,
    module: &Module,
) -> Result<Vec<Arc<Buffer>>, Failure> {
    let (given, wanted) = (args.num_args, module.inputs.len());
    if given != wanted {
        return Err(Failure::invalid(format!(
            "Execution supplied {given} buffers but compiled program expected {wanted} buffers"
        )));
    }
    if given == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the caller passes one list of as many handles as it says.
    let handles = unsafe { std::slice::from_raw_parts(*args.argument_lists, given) };
    let mut buffers = Vec::with_capacity(given);
    for (at, &handle) in handles.iter().enumerate() {
        let buffer = ledger::find::<Buffer, _>(handle)?;
        check_argument(at, &buffer, &module.inputs[at])?;
        buffers.push(buffer);
    }
    Ok(buffers)
}

fn device_of(
    args: &PJRT_LoadedExecutable_Execute_Args,
    loaded: &LoadedExecutable,
) -> Result<*mut PJRT_Device, Failure> {
    match loaded.devices.first() {
        Some(device) if args.execute_device.is_null() || args.execute_device == device.0 => Ok(device.0),
        Some(_) => Err(Failure::invalid("the device is not one of the executable's")),
        None if args.execute_device.is_null() => {
            Err(Failure::invalid("a portable executable needs an execute_device"))
        }
        None => Ok(args.execute_device),
    }
}

/// Which inputs the caller does not want to give away.
fn kept_inputs(options: *const PJRT_ExecuteOptions) -> Result<Vec<i64>, Failure> {
    if options.is_null() {
        return Err(ledger::misuse("NULL as options of Execute".to_owned()));
    }
    // SAFETY: the struct begins with its size, and the two fields are read only when
    // it reaches behind them.
    unsafe {
        check_size("PJRT_ExecuteOptions", OLDEST_OPTIONS, options.cast::<usize>().read())?;
        let read = |offset| options.byte_add(offset);
        let indices: *const i64 =
            read(offset_of!(PJRT_ExecuteOptions, non_donatable_input_indices)).cast::<*const i64>().read();
        let count =
            read(offset_of!(PJRT_ExecuteOptions, num_non_donatable_input_indices)).cast::<usize>().read();
        if count == 0 {
            return Ok(Vec::new());
        }
        Ok(std::slice::from_raw_parts(indices, count).to_vec())
    }
}

/// Takes the memory of each argument; the last step that can fail.
fn take(buffers: Vec<Arc<Buffer>>, module: &Module, kept: &[i64]) -> Result<Vec<Argument>, Failure> {
    let donated: Vec<bool> =
        (0i64..).zip(&module.donated_to).map(|(at, to)| to.is_some() && !kept.contains(&at)).collect();
    for (at, buffer) in buffers.iter().enumerate().filter(|(at, _)| donated[*at]) {
        if buffers.iter().filter(|other| Arc::ptr_eq(other, buffer)).count() > 1 {
            return Err(Failure::invalid(format!(
                "Attempt to use a buffer that was previously donated in the same call to \
                 Execute() as argument {at}"
            )));
        }
    }
    buffers
        .into_iter()
        .zip(donated)
        .map(|(buffer, donated)| {
            let (storage, donated) = if donated { buffer.donate()? } else { (buffer.storage()?, false) };
            Ok(Argument { buffer, storage, donated })
        })
        .collect()
}

/// The memory of a result: that of the argument donated to it, or new memory.
fn result_storage(at: usize, module: &Module, arguments: &[Argument]) -> Arc<Storage> {
    module
        .donated_to
        .iter()
        .zip(arguments)
        .find(|(to, argument)| **to == Some(at) && argument.donated && argument.storage.reusable())
        .map(|(_, argument)| argument.storage.clone())
        .unwrap_or_else(|| Storage::new(module.outputs[at].size()))
}

/// One result: the sum of the first two arguments (or twice the only one), a copy of
/// the argument in the same place, or zeros.
fn compute(at: usize, module: &Module, values: &[Vec<u8>]) -> Vec<u8> {
    let output = &module.outputs[at];
    let mut bytes = vec![0; output.size()];
    let second = usize::from(values.len() > 1);
    let fits = |input: usize| module.inputs.get(input) == Some(output);
    if module.adds && fits(0) && fits(second) {
        output.element.add(&mut bytes, &values[0], &values[second]);
    } else if fits(at) {
        bytes.copy_from_slice(&values[at]);
    }
    bytes
}

/// Waits for the arguments, computes and stores every result.
fn run(
    module: &Module,
    arguments: &[Argument],
    results: &[Arc<Storage>],
    column_major: bool,
) -> Result<(), Failure> {
    for argument in arguments {
        argument.buffer.ready.wait()?;
    }
    // All are read before any is written, since a result may lie in an argument.
    let values: Vec<_> = arguments.iter().map(|argument| argument.storage.read()).collect();
    for (at, result) in results.iter().enumerate() {
        let mut bytes = compute(at, module, &values);
        if column_major {
            let output = &module.outputs[at];
            let rank = output.dims.len();
            let from = layout::strides(output, &layout::row_major(rank));
            let to = layout::strides(output, &layout::column_major(rank));
            bytes = layout::reorder(output, &bytes, &from, &to);
        }
        result.write(&bytes);
    }
    Ok(())
}

entry! { PJRT_LoadedExecutable_Execute(args: PJRT_LoadedExecutable_Execute_Args) {
    let loaded = ledger::find::<LoadedExecutable, _>(args.executable)?;
    let script = loaded.client.script.clone();
    let kept = kept_inputs(args.options)?;
    if args.num_devices != 1 {
        return Err(Failure::invalid(format!(
            "Attempted to execute with {} argument lists when local device count is 1",
            args.num_devices
        )));
    }
    let device = device_of(args, &loaded)?;
    let module = &loaded.compiled.module;
    let buffers = find_arguments(args, module)?;
    if let Some(at) = buffers.iter().position(|buffer| buffer.device.0 != device) {
        let given = ledger::find::<Device, _>(buffers[at].device.0)?;
        let wanted = ledger::find::<Device, _>(device)?;
        return Err(Failure::invalid(format!(
            "Buffer passed to Execute() as argument {at} to replica 0 is on device {}, but \
             replica is assigned to device {}.",
            given.name, wanted.name
        )));
    }
    if script.execute_error {
        let text = "synthetic failure of the execution";
        return Err(Failure::new(PJRT_Error_Code_FAILED_PRECONDITION, text));
    }
    let arguments = take(buffers, module, &kept)?;
    let results: Vec<_> = (0..module.outputs.len())
        .map(|at| result_storage(at, module, &arguments))
        .collect();
    let ended = Arc::new(Work::default());
    if !results.is_empty() {
        // SAFETY: the caller passes one list with room for every result.
        let slots = unsafe { std::slice::from_raw_parts_mut(*args.output_lists, results.len()) };
        let place = memories::place(device, std::ptr::null_mut())?;
        for ((slot, output), storage) in slots.iter_mut().zip(&module.outputs).zip(&results) {
            let (storage, ended) = (storage.clone(), ended.clone());
            *slot = Buffer::hand_out(output.clone(), place, storage, ended, script.column_major);
        }
    }
    if !args.device_complete_events.is_null() {
        // SAFETY: the caller passes room for one event.
        unsafe { *args.device_complete_events = ended.event() };
    }
    let compiled = loaded.compiled.clone();
    loaded.client.run(move || {
        let outcome = if script.await_error {
            Err(Failure::internal("synthetic failure while running"))
        } else {
            run(&compiled.module, &arguments, &results, script.column_major)
        };
        // The arguments' memory goes first: whoever waits for the end may expect it back.
        drop(arguments);
        drop(results);
        ended.end(outcome);
    });
    Ok(())
}}
