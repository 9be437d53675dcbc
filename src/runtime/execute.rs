//! Runs a program on device arrays.

use smallvec::SmallVec;

use super::buffer::Buffer;
use super::destinations;
use super::executable::{Executable, Inner};
use super::locks::Locks;
use crate::error::{Error, Result};
use crate::order;
use crate::pjrt::{self, BufferRef, HoldReleases, INLINE, Results, presence};

impl Executable {
    /// Runs the program on device arrays: those for the first device, then those for the
    /// next. It may still be running on return; the results can be used at once all the
    /// same. A portable program runs where its arguments are.
    pub fn execute(&self, inputs: &[&Buffer]) -> Result<Vec<Buffer>> {
        let executable = &*self.0;
        presence::check()?;
        self.check_counts(inputs.len(), self.outputs().len() * self.device_count())?;
        let devices = devices_for(executable, inputs);
        check_arguments(executable, inputs, &devices)?;

        let releases = HoldReleases::begin(); // longer than the locks
        let specs = self.inputs().iter().cycle();
        let mut locks = Locks::of(inputs.iter().zip(specs).map(|(&input, spec)| (input, spec.is_donated)));
        let converted = convert_orders(executable, inputs, &locks)?;
        let mut places = SmallVec::new();
        destinations::make_all(executable, devices[0], &mut places)?;
        let mut arguments: SmallVec<[BufferRef<'_>; INLINE]> = SmallVec::new();
        let each = self.inputs().len();
        for (place, &device) in devices.iter().enumerate() {
            arguments.extend(executable.arguments.platform_index(device).map(pjrt::Buffer::as_argument));
            for (index, input) in executable.arguments.select(&inputs[place * each..][..each]) {
                let position = place * each + index;
                let argument = match &converted[position] {
                    Some(row_major) => row_major.as_argument(),
                    None => locks
                        .contents(input)
                        .map_err(|error| of_argument(executable, error, position))?
                        .as_argument(),
                };
                arguments.push(argument);
            }
        }
        arguments.extend(places.iter().map(pjrt::Buffer::as_argument));
        let target = executable.runtime.device(devices[0])?;
        let mut results = Results::new();
        let order = executable.runtime.start(self.inputs().iter().any(|spec| spec.is_donated));
        let outcome = executable.loaded.execute(&arguments, devices.len(), target, &mut results, None);
        drop(order);
        drop(arguments);
        let converted_of = |buffer: &Buffer| {
            let position = inputs.iter().position(|input| std::ptr::eq(*input, buffer))?;
            converted[position].as_ref()
        };
        let taken = locks.take_donated(converted_of);
        drop(locks);
        drop(taken?);
        drop(releases);

        outcome?;
        let forms = executable.result_forms(&results)?;
        let specs = self.outputs();
        let wrap = |(position, result): (usize, pjrt::Buffer)| {
            let (index, device) = (position % specs.len(), devices[position / specs.len()]);
            let (layout, array) = (forms[index].layout.clone(), specs[index].array_type());
            Buffer::new(executable.runtime, result, layout, array, device, false)
        };
        Ok(results.into_iter().enumerate().map(wrap).collect())
    }
}

/// The devices that the program runs on with these arguments.
fn devices_for(executable: &Inner, inputs: &[&Buffer]) -> SmallVec<[usize; 1]> {
    match inputs.first() {
        Some(first) if executable.loaded.is_portable() => SmallVec::from_elem(first.device(), 1),
        _ => SmallVec::from_slice(&executable.devices),
    }
}

fn of_argument(executable: &Inner, error: Error, position: usize) -> Error {
    let name = executable.name_of("argument", position, executable.signature.inputs.len());
    error.map_message(|message| format!("{name}: {message}")).parameter("inputs")
}

/// Checks the arguments of every device before any of them runs: plugins leave the others
/// waiting for one that fails, or die.
fn check_arguments(executable: &Inner, inputs: &[&Buffer], devices: &[usize]) -> Result<()> {
    let refuse = |message: String| Err(Error::invalid_argument(message).parameter("inputs"));
    let specs = &executable.signature.inputs;
    let name = |position| executable.name_of("argument", position, specs.len());
    for (position, input) in inputs.iter().enumerate() {
        let (spec, runs) = (&specs[position % specs.len()], devices[position / specs.len()]);
        if input.dtype() != spec.dtype || input.dims() != spec.dims {
            let (expected, got) = (spec.array_type(), input.array_type());
            return refuse(format!("{}: the program expects {expected}, got {got}", name(position)));
        }
        if input.device() != runs {
            let is = input.device();
            return refuse(format!(
                "{}: the buffer is on device {is}, but the program runs on device {runs}",
                name(position)
            ));
        }
        if let Some(why) = input.why_out_of_reach() {
            return refuse(format!("{}: the buffer {why}", name(position)));
        }
    }
    check_donated_once(executable, inputs)
}

/// An error if a buffer that is donated stands in the list again.
fn check_donated_once(executable: &Inner, inputs: &[&Buffer]) -> Result<()> {
    let specs = &executable.signature.inputs;
    if !specs.iter().any(|spec| spec.is_donated) {
        return Ok(());
    }
    let is_donated = |position: usize| specs[position % specs.len()].is_donated;
    let name = |position| executable.name_of("argument", position, specs.len());
    let mut order: SmallVec<[usize; INLINE]> = (0..inputs.len()).collect();
    let key = |&index: &usize| (std::ptr::from_ref::<Buffer>(inputs[index]), index);
    order::sort_by(&mut order, |one, other| key(one) < key(other));
    check_donated_alone(executable, inputs)?;
    for pair in order.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        if std::ptr::eq(inputs[first], inputs[second]) && (is_donated(first) || is_donated(second)) {
            let (donated, other) = if is_donated(first) { (first, second) } else { (second, first) };
            let message = format!("{} is donated and is the same buffer as {}", name(donated), name(other));
            return Err(Error::invalid_argument(message).parameter("inputs"));
        }
    }
    Ok(())
}

/// An error if memory of the host that is donated is that of another argument too: the
/// program would write over what it reads.
fn check_donated_alone(executable: &Inner, inputs: &[&Buffer]) -> Result<()> {
    let specs = &executable.signature.inputs;
    for (position, input) in inputs.iter().enumerate() {
        if !specs[position % specs.len()].is_donated || !input.is_view() {
            continue;
        }
        let shared = (0..inputs.len())
            .find(|&other| !std::ptr::eq(*input, inputs[other]) && input.shares_memory(inputs[other]));
        if let Some(other) = shared {
            let name = |position| executable.name_of("argument", position, specs.len());
            let message = format!("{} is donated and shares memory with {}", name(position), name(other));
            return Err(Error::invalid_argument(message).parameter("inputs"));
        }
    }
    Ok(())
}

/// Row-major copies of the arguments that have another order.
fn convert_orders(
    executable: &Inner,
    inputs: &[&Buffer],
    locks: &Locks<'_>,
) -> Result<SmallVec<[Option<pjrt::Buffer>; INLINE]>> {
    let convert = |(position, input): (usize, &&Buffer)| {
        let converted = locks.contents(input).and_then(|contents| input.in_row_major(contents));
        converted.map_err(|error| of_argument(executable, error, position))
    };
    inputs.iter().enumerate().map(convert).collect()
}
