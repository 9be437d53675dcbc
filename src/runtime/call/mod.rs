//! Calls: a program with its arguments in place, for hosts that run it again and again.
//!
//! A step crosses into the plugin once for the program and once for each result of the
//! step before. Nothing is allocated, looked up or locked on the way.

mod input;
mod obstacles;
mod output;
mod places;
mod step;

use std::sync::Arc;

use self::input::Input;
use self::output::Output;
use self::places::Places;
use super::Executable;
use super::buffer::Buffer;
use super::destinations::overlap;
use crate::error::{Code, Error, Origin, Result};
use crate::options::Options;
use crate::pjrt::{self, ArraySpec, Bound, Callback, HostInput, HostTarget, Notice, presence};
use crate::program::TensorSpec;

/// A prepared call. One thread at a time.
pub struct Call {
    /// Goes before the executable, and before what its arguments are made of.
    bound: Bound,
    places: Places,
    /// The inputs of the first device, then those of the next.
    inputs: Vec<Input>,
    /// The outputs, in the same order.
    outputs: Vec<Output>,
    feeds: Vec<Feed>,
    /// The parameter of each input; `None` for those that the compiler dropped.
    parameters: Vec<Option<usize>>,
    state: State,
    /// Positions of inputs that have to be looked at before each step.
    busy_inputs: Vec<usize>,
    /// Positions of inputs whose buffers are held while a step starts, each with whether
    /// the program may take it.
    held_inputs: Vec<(usize, bool)>,
    /// Whether any input is a buffer.
    reads_buffers: bool,
    /// Positions of outputs that each step writes to memory of the host.
    stored_outputs: Vec<usize>,
    /// The position of each output that the program writes where it is told, and the
    /// parameter that tells it.
    destinations: Vec<(usize, usize)>,
    /// What is told the end of a step that was started.
    notice: Option<Notice>,
    /// Why no step can be run; `None` if one can.
    obstacle: Option<Error>,
    /// Nothing has to be done in a step but to run the program.
    is_plain: bool,
    /// How many steps were started.
    steps: u64,
    executable: Executable,
}

/// An output that is an input of the next step, by their positions among those of all
/// devices.
#[derive(Clone, Copy)]
struct Feed {
    output: usize,
    input: usize,
    /// The input has what the next step takes: what it had by itself before the first
    /// step, then the output.
    is_placed: bool,
    /// What was to be fed is lost with a step that failed.
    is_lost: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Never run, or its results were lost with an error.
    Empty,
    /// A step may still be running.
    InFlight,
    /// The results of the last step can be read.
    Done,
}

impl Call {
    /// Prepares an executable.
    pub fn new(executable: &Executable, options: Option<&Options>) -> Result<Call> {
        presence::check()?;
        let inner = &*executable.0;
        let places = Places::new(executable, options)?;
        let specs = executable.inputs();
        let leading = usize::from(inner.arguments.has_platform_index());
        let mut parameters = vec![None; specs.len()];
        for (parameter, (input, _)) in inner.arguments.select(specs).enumerate() {
            parameters[input] = Some(leading + parameter);
        }
        let (devices, each) = (places.devices(), inner.arguments.count(specs.len()));
        let outputs = inner.arguments.destinations().iter().copied();
        let first = each - outputs.len(); // behind all inputs
        let destinations = outputs.zip(first..).collect();
        let target = inner.runtime.device(devices[0])?;
        let notify = !inner.is_synchronous();
        let mut bound = Bound::new(&inner.loaded, devices.len(), each, target, notify);
        for (place, &device) in devices.iter().enumerate() {
            if let Some(index) = inner.arguments.platform_index(device) {
                bound.set_argument(place, 0, index.as_argument());
            }
        }
        let mut call = Call {
            bound,
            inputs: (0..devices.len() * specs.len()).map(|_| Input::Nothing).collect(),
            outputs: (devices.iter()).flat_map(|_| executable.outputs().iter().map(Output::new)).collect(),
            places,
            feeds: Vec::new(),
            parameters,
            state: State::Empty,
            busy_inputs: Vec::new(),
            held_inputs: Vec::new(),
            reads_buffers: false,
            stored_outputs: Vec::new(),
            destinations,
            notice: None,
            obstacle: None,
            is_plain: false,
            steps: 0,
            executable: executable.clone(),
        };
        call.review();
        Ok(call)
    }

    /// The memory of an input: its address, which never changes, and its size. An error
    /// while a step may be running, since the plugin reads it then.
    pub fn input(&mut self, device: usize, index: usize) -> Result<(*mut u8, usize)> {
        self.check_idle()?;
        let position = self.places.input(device, index)?;
        if !matches!(self.inputs[position], Input::Memory { .. }) {
            let inner = &*self.executable.0;
            let target = inner.runtime.device(self.places.device_of_input(position))?;
            let made = Input::memory(inner, &self.executable.inputs()[index], target)?;
            self.replace_input(position, made);
        } else if self.feeds.iter().any(|feed| feed.input == position) {
            self.inputs[position].start_over();
            self.feeds.retain(|feed| feed.input != position);
            self.place(position);
            self.review();
        }
        let Input::Memory { memory, .. } = &mut self.inputs[position] else {
            return Err(Error::internal("an input without its memory"));
        };
        Ok((memory.address(), memory.size()))
    }

    /// Uses a buffer for an input from now on.
    pub fn bind(&mut self, device: usize, index: usize, buffer: &Arc<Buffer>) -> Result<()> {
        self.check_idle()?;
        let position = self.places.input(device, index)?;
        let runs = self.places.device_of_input(position);
        let bound = Input::bound(&self.executable.inputs()[index], index, runs, buffer)?;
        self.replace_input(position, bound);
        Ok(())
    }

    /// Says whether a bound buffer survives the steps of a program that may take it.
    pub fn keep(&mut self, device: usize, index: usize, keep: bool) -> Result<()> {
        self.check_idle()?;
        let position = self.places.input(device, index)?;
        let places = &self.places;
        self.inputs[position].keep_buffer(keep, || places.name_input(position))?;
        self.place(position);
        self.review();
        Ok(())
    }

    /// Makes an output of each step an input of the next. The first step takes what the
    /// input has now; calling this again starts over.
    pub fn feed(&mut self, device: usize, output: usize, input: usize) -> Result<()> {
        self.check_idle()?;
        let (from, to) = (self.places.output(device, output)?, self.places.input(device, input)?);
        let (gives, takes) = (&self.executable.outputs()[output], &self.executable.inputs()[input]);
        if !gives.same_type(takes) {
            let (gives, takes) = (gives.array_type(), takes.array_type());
            let message = format!("output {output} is {gives}, and input {input} takes {takes}");
            return Err(Error::invalid_argument(message).parameter("output"));
        }
        let clash = self.feeds.iter().find(|feed| (feed.output == from) != (feed.input == to));
        if let Some(clash) = clash {
            let (from, to) = (self.places.name_output(clash.output), self.places.name_input(clash.input));
            let message = format!("{from} is fed to {to} already");
            return Err(Error::invalid_argument(message).parameter("input"));
        }
        self.inputs[to].start_over();
        match self.feeds.iter_mut().find(|feed| feed.input == to) {
            Some(feed) => (feed.is_placed, feed.is_lost) = (true, false),
            None => self.feeds.push(Feed { output: from, input: to, is_placed: true, is_lost: false }),
        }
        self.place(to);
        self.review();
        Ok(())
    }

    /// Makes each step write an output to memory of the host; `None` ends that.
    pub fn bind_output(&mut self, device: usize, index: usize, target: Option<HostTarget>) -> Result<()> {
        self.check_idle()?;
        let position = self.places.output(device, index)?;
        let spec = &self.executable.outputs()[index];
        if let Some(target) = &target
            && target.size() != spec.host_size()
        {
            let (array, due, got) = (spec.array_type(), spec.host_size(), target.size());
            let message = format!("output {index} is {array} and takes {due} bytes, got {got}");
            return Err(Error::invalid_argument(message).parameter("size"));
        }
        if self.outputs[position].is_lent() {
            // The plugin has the old memory until the result in it is gone.
            drop(self.bound.take_result(position));
        }
        self.outputs[position].store_to(target);
        let is_stored = |position: &usize| self.outputs[*position].is_stored();
        self.stored_outputs = (0..self.outputs.len()).filter(is_stored).collect();
        self.review();
        Ok(())
    }

    /// Sets what is called when a step that was started has ended; gives what was called
    /// before. `callback` is only asked for when nothing else can fail.
    pub fn set_callback(&mut self, callback: impl FnOnce() -> Option<Callback>) -> Result<Option<Notice>> {
        self.check_idle()?;
        let notice = callback().map(|callback| self.bound.notice(callback));
        Ok(std::mem::replace(&mut self.notice, notice))
    }

    /// An output of the last step, in place where that can be: its address, which is
    /// good until the next step, and its size.
    #[inline]
    pub fn output(&mut self, device: usize, index: usize) -> Result<(*const u8, usize)> {
        presence::check()?;
        let position = self.places.output(device, index)?;
        if self.state != State::Done {
            return Err(self.no_results());
        }
        let output = &mut self.outputs[position];
        let size = output.size();
        if let Some(address) = output.found(self.steps) {
            return Ok((address, size));
        }
        let address = output.read(&self.executable.0, &self.bound, position, index, self.steps)?;
        Ok((address, size))
    }

    /// An output of the last step, to keep; it is not there for reading any more.
    pub fn take(&mut self, device: usize, index: usize) -> Result<Buffer> {
        self.check_idle()?;
        presence::check()?;
        let position = self.places.output(device, index)?;
        if self.state != State::Done {
            return Err(self.no_results());
        }
        if self.feeds.iter().any(|feed| feed.output == position) {
            let message = format!("output {index} is an input of the next step, so it cannot be taken");
            return Err(Error::new(Code::FailedPrecondition, Origin::Caller, message));
        }
        let spec = &self.executable.outputs()[index];
        let device = self.places.devices()[device];
        let look = |result: &pjrt::Buffer| {
            // The next step writes over what is in memory that the program was given.
            let copy = match self.has_destination(position) {
                true => Some(self.copy(result, spec, device)?),
                false => None,
            };
            let layout = copy.as_ref().unwrap_or(result).layout(spec.dims.len())?;
            Ok((copy, layout))
        };
        // What can fail comes first: then the output is still there.
        let looked = self.bound.with_result(position, look).unwrap_or_else(|| Err(output::taken(index)));
        let (copy, layout) = looked?;
        let result = self.bound.take_result(position).ok_or_else(|| output::taken(index))?;
        self.outputs[position].forget();
        let taken = copy.unwrap_or(result);
        Ok(Buffer::new(self.executable.0.runtime, taken, layout, spec.array_type(), device, false))
    }

    fn has_destination(&self, position: usize) -> bool {
        self.destinations.iter().any(|&(output, _)| output == position)
    }

    fn copy(&self, result: &pjrt::Buffer, spec: &TensorSpec, device: usize) -> Result<pjrt::Buffer> {
        let runtime = self.executable.0.runtime;
        let array = ArraySpec { dtype: spec.dtype, dims: &spec.dims };
        let bytes = result.bytes(spec.host_size())?;
        let bytes = bytes.ok_or_else(|| Error::internal("a result in place that is not in host memory"))?;
        runtime.client.copy_from_host(HostInput::new(bytes), array, runtime.device(device)?)
    }

    /// The memory of the call and the plugin's are the host's, and the plugin is there.
    #[inline]
    fn check_idle(&self) -> Result<()> {
        presence::check()?;
        if self.state == State::InFlight { Err(in_flight()) } else { Ok(()) }
    }

    #[cold]
    fn no_results(&self) -> Error {
        if self.state == State::InFlight {
            return in_flight();
        }
        let message = "this call has no results: it was not run, or its last step failed";
        Error::new(Code::FailedPrecondition, Origin::Caller, message)
    }

    fn replace_input(&mut self, position: usize, input: Input) {
        self.feeds.retain(|feed| feed.input != position);
        // The new one takes its place before the old one is destroyed.
        let old = std::mem::replace(&mut self.inputs[position], input);
        self.place(position);
        drop(old);
        self.review();
    }

    /// Whether a step may write an output straight to the host's memory: nothing that the
    /// step reads or writes besides lies there, and the next step does not take it.
    fn goes_straight(&mut self, position: usize) -> bool {
        if self.feeds.iter().any(|feed| feed.output == position) {
            return false;
        }
        let Some(range) = self.outputs[position].target_range() else { return false };
        let others = (0..self.outputs.len()).filter(|&other| other != position);
        let mut written = others.filter_map(|other| self.outputs[other].target_range());
        !written.any(|other| overlap(range, other))
            && !self.inputs.iter_mut().any(|input| input.range().is_some_and(|read| overlap(range, read)))
    }

    /// Puts what an input is now into the plugin's list.
    fn place(&mut self, position: usize) {
        let specs = self.executable.inputs();
        let (place, index) = (position / specs.len(), position % specs.len());
        let Some(parameter) = self.parameters[index] else { return };
        if let Some(argument) = self.inputs[position].argument() {
            self.bound.set_argument(place, parameter, argument);
        }
        // The plugin is told of a parameter, which stands for that of every device.
        let of_all_devices = self.inputs.iter().skip(index).step_by(specs.len());
        // Memory of the call goes round itself, and is not to be given away.
        let goes_round = |feed: &Feed| feed.input % specs.len() == index && self.has_destination(feed.output);
        let keep = specs[index].is_donated
            && (of_all_devices.into_iter().any(Input::keeps_its_memory) || self.feeds.iter().any(goes_round));
        self.bound.set_kept(parameter, keep);
    }
}

#[cold]
fn in_flight() -> Error {
    Error::new(Code::FailedPrecondition, Origin::Caller, "a step of this call is in flight")
        .hint("wait for it first: cyxla_call_wait")
}
