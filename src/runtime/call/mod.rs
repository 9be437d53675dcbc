//! Calls: a program with its arguments in place, for hosts that run it again and again.
//!
//! A step crosses into the plugin once for the program and once for each result of the
//! step before. Nothing is allocated, looked up or locked on the way.

mod input;
mod output;
mod step;

use std::sync::Arc;

use self::input::Input;
use self::output::Output;
use super::Executable;
use super::buffer::Buffer;
use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{Bound, Event, presence};
use crate::program::TensorSpec;

/// A prepared call. One thread at a time.
pub struct Call {
    executable: Executable,
    /// Goes before what its arguments are made of.
    bound: Bound,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    feeds: Vec<Feed>,
    /// The parameter of each input; `None` for those that the compiler dropped.
    parameters: Vec<Option<usize>>,
    state: State,
    /// Inputs that have to be looked at before and after each step.
    busy_inputs: Vec<usize>,
    /// Why no step can be run; `None` if one can.
    obstacle: Option<Error>,
    /// How many steps were started.
    steps: u64,
}

/// An output that is an input of the next step.
#[derive(Clone, Copy)]
struct Feed {
    output: usize,
    input: usize,
    /// The input has what the next step takes: what it had by itself before the first
    /// step, then the output.
    is_placed: bool,
}

enum State {
    /// Never run, or its results were lost with an error.
    Empty,
    /// A step may still be running.
    InFlight(Option<Event>),
    /// The results of the last step can be read.
    Done,
}

impl Call {
    /// Prepares an executable.
    pub fn new(executable: &Executable) -> Result<Call> {
        presence::check()?;
        let inner = &*executable.0;
        inner.check_runs_alone()?;
        let specs = executable.inputs();
        let leading = usize::from(inner.arguments.platform_index().is_some());
        let mut parameters = vec![None; specs.len()];
        let mut parameter_count = leading;
        for (input, _) in inner.arguments.select(specs) {
            parameters[input] = Some(parameter_count);
            parameter_count += 1;
        }
        let mut bound = Bound::new(&inner.loaded, 1, parameter_count);
        if let Some(index) = inner.arguments.platform_index() {
            bound.set_argument(0, 0, index.as_argument());
        }
        let mut call = Call {
            bound,
            inputs: specs.iter().map(|_| Input::Nothing).collect(),
            outputs: executable.outputs().iter().map(|_| Output::default()).collect(),
            feeds: Vec::new(),
            parameters,
            state: State::Empty,
            busy_inputs: Vec::new(),
            obstacle: None,
            steps: 0,
            executable: executable.clone(),
        };
        call.obstacle = call.missing_input();
        Ok(call)
    }

    /// The memory of an input: its address, which never changes, and its size. `None`
    /// while a step may be running, since the plugin reads it then.
    pub fn input(&mut self, device: usize, index: usize) -> Result<(*mut u8, usize)> {
        self.check_idle()?;
        let spec = check_place(self.executable.inputs(), device, index, "input")?;
        let has_memory = matches!(self.inputs[index], Input::Memory { .. });
        if !has_memory {
            let made = Input::memory(&self.executable.0, spec)?;
            self.replace_input(index, made);
        }
        let Input::Memory { memory, .. } = &mut self.inputs[index] else {
            return Err(Error::internal("an input without its memory"));
        };
        Ok((memory.address(), memory.size()))
    }

    /// Uses a buffer for an input from now on.
    pub fn bind(&mut self, device: usize, index: usize, buffer: &Arc<Buffer>) -> Result<()> {
        self.check_idle()?;
        let spec = check_place(self.executable.inputs(), device, index, "input")?;
        let bound = Input::bound(&self.executable.0, spec, index, buffer)?;
        self.replace_input(index, bound);
        Ok(())
    }

    /// Makes an output of each step an input of the next. The first step takes what the
    /// input has now; calling this again starts over.
    pub fn feed(&mut self, device: usize, output: usize, input: usize) -> Result<()> {
        self.check_idle()?;
        let gives = check_place(self.executable.outputs(), device, output, "output")?;
        let takes = check_place(self.executable.inputs(), device, input, "input")?;
        if !gives.same_type(takes) {
            let (gives, takes) = (gives.array_type(), takes.array_type());
            let message = format!("output {output} is {gives}, and input {input} takes {takes}");
            return Err(Error::invalid_argument(message).parameter("output"));
        }
        let clash = self.feeds.iter().find(|feed| (feed.output == output) != (feed.input == input));
        if let Some(clash) = clash {
            let message = format!("output {} is fed to input {} already", clash.output, clash.input);
            return Err(Error::invalid_argument(message).parameter("input"));
        }
        self.inputs[input].start_over();
        match self.feeds.iter_mut().find(|feed| feed.input == input) {
            Some(feed) => feed.is_placed = true,
            None => self.feeds.push(Feed { output, input, is_placed: true }),
        }
        self.place(input);
        self.obstacle = self.missing_input();
        Ok(())
    }

    /// An output of the last step, in place where that can be: its address, which is
    /// good until the next step, and its size.
    pub fn output(&mut self, device: usize, index: usize) -> Result<(*const u8, usize)> {
        self.check_idle()?;
        let spec = check_place(self.executable.outputs(), device, index, "output")?;
        self.check_has_results()?;
        let size = spec.host_size();
        let address = self.outputs[index].read(&self.executable.0, &self.bound, index, self.steps)?;
        Ok((address, size))
    }

    /// An output of the last step, to keep; it is not there for reading any more.
    pub fn take(&mut self, device: usize, index: usize) -> Result<Buffer> {
        self.check_idle()?;
        let spec = check_place(self.executable.outputs(), device, index, "output")?;
        self.check_has_results()?;
        if self.feeds.iter().any(|feed| feed.output == index) {
            let message = format!("output {index} is an input of the next step, so it cannot be taken");
            return Err(Error::new(Code::FailedPrecondition, Origin::Caller, message));
        }
        let inner = &*self.executable.0;
        let taken = self.bound.take_result(0, index).ok_or_else(|| output::taken(index))?;
        self.outputs[index].forget();
        let layout = taken.layout(spec.dims.len())?;
        Ok(Buffer::new(inner.runtime, taken, layout, spec.array_type(), inner.device(), false))
    }

    /// The memory of the call and the plugin's are the host's, and the plugin is there.
    fn check_idle(&self) -> Result<()> {
        presence::check()?;
        match self.state {
            State::InFlight(_) => {
                Err(Error::new(Code::FailedPrecondition, Origin::Caller, "a step of this call is in flight")
                    .hint("wait for it first: cyxla_call_wait"))
            }
            _ => Ok(()),
        }
    }

    fn check_has_results(&self) -> Result<()> {
        match self.state {
            State::Done => Ok(()),
            _ => Err(Error::new(
                Code::FailedPrecondition,
                Origin::Caller,
                "this call has no results: it was not run, or its last step failed",
            )),
        }
    }

    fn replace_input(&mut self, index: usize, input: Input) {
        // The new one takes its place before the old one is destroyed.
        let old = std::mem::replace(&mut self.inputs[index], input);
        self.place(index);
        drop(old);
        self.feeds.retain(|feed| feed.input != index);
        let donated = |index: &usize| self.executable.inputs()[*index].is_donated;
        let busy = |index: &usize| self.inputs[*index].needs_a_look(donated(index));
        self.busy_inputs = (0..self.inputs.len()).filter(busy).collect();
        self.obstacle = self.missing_input();
    }

    /// Puts what an input is now into the plugin's list.
    fn place(&mut self, index: usize) {
        let Some(parameter) = self.parameters[index] else { return };
        if let Some(argument) = self.inputs[index].argument() {
            self.bound.set_argument(0, parameter, argument);
        }
        let keep = self.inputs[index].keeps_its_memory() && self.executable.inputs()[index].is_donated;
        self.bound.set_kept(parameter, keep);
    }

    /// Says which input was not set, if there is one that the program takes.
    fn missing_input(&self) -> Option<Error> {
        let specs = self.executable.inputs();
        let is_missing = |index: &usize| {
            self.parameters[*index].is_some() && matches!(self.inputs[*index], Input::Nothing)
        };
        (0..specs.len()).find(is_missing).map(|index| input::not_set(index, &specs[index]))
    }
}

/// An input or output that there is.
fn check_place<'a>(
    specs: &'a [TensorSpec],
    device: usize,
    index: usize,
    what: &str,
) -> Result<&'a TensorSpec> {
    if device > 0 {
        let message = format!("device {device} does not exist; the call runs on 1, counted from 0");
        return Err(Error::invalid_argument(message).parameter("device"));
    }
    specs.get(index).ok_or_else(|| {
        let message = format!("{what} {index} does not exist; the program has {}", specs.len());
        Error::invalid_argument(message).parameter(if what == "input" { "index" } else { "output" })
    })
}
