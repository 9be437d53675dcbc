//! Where an input of a call comes from.

use std::sync::Arc;

use super::places::Places;
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{self, ArraySpec, BufferRef, Device, OwnMemory};
use crate::program::TensorSpec;
use crate::runtime::buffer::Buffer;
use crate::runtime::executable::Inner;
use crate::runtime::run::check_bools;

/// An input of a call.
pub enum Input {
    /// It was not set.
    Nothing,
    /// Memory of the call, which the host writes between steps.
    Memory {
        memory: OwnMemory,
        /// The plugin reads the memory itself, so that nothing needs to be copied.
        in_place: bool,
        dtype: DType,
        /// The output of the last step that is fed here instead.
        fed: Option<pjrt::Buffer>,
    },
    /// A buffer of the host.
    Bound {
        buffer: Arc<Buffer>,
        /// The buffer's contents, kept alive also when they are donated elsewhere.
        contents: Arc<pjrt::Buffer>,
        /// The program must leave it alone, though it could take it.
        keep: bool,
        /// The output of the last step that is fed here instead.
        fed: Option<pjrt::Buffer>,
    },
}

impl Input {
    /// Memory for an input on a device, with zeros in it.
    pub fn memory(executable: &Inner, spec: &TensorSpec, device: &Device) -> Result<Input> {
        let mut memory = OwnMemory::new(spec.host_size())?;
        let array = ArraySpec { dtype: spec.dtype, dims: &spec.dims };
        let in_place = memory.make_argument(&executable.runtime.client, array, device)?;
        Ok(Input::Memory { memory, in_place, dtype: spec.dtype, fed: None })
    }

    /// A buffer for an input of a device, checked against what the program takes.
    pub fn bound(spec: &TensorSpec, index: usize, device: usize, buffer: &Arc<Buffer>) -> Result<Input> {
        let refuse = |message: String| Err(Error::invalid_argument(message).parameter("buffer"));
        if buffer.dtype() != spec.dtype || buffer.dims() != spec.dims {
            let (expected, got) = (spec.array_type(), buffer.array_type());
            return refuse(format!("input {index}: the program expects {expected}, got {got}"));
        }
        if buffer.device() != device {
            let is = buffer.device();
            return refuse(format!(
                "input {index}: the buffer is on device {is}, but the program runs on device {device}"
            ));
        }
        if let Some(why) = buffer.why_out_of_reach() {
            return refuse(format!("input {index}: the buffer {why}"));
        }
        let contents = buffer.share_row_major()?;
        Ok(Input::Bound { buffer: Arc::clone(buffer), contents, keep: false, fed: None })
    }

    /// What the plugin is given.
    pub fn argument(&self) -> Option<BufferRef<'_>> {
        match self {
            Input::Nothing => None,
            Input::Memory { fed: Some(fed), .. } | Input::Bound { fed: Some(fed), .. } => {
                Some(fed.as_argument())
            }
            Input::Memory { memory, .. } => memory.argument(),
            Input::Bound { contents, .. } => Some(contents.as_argument()),
        }
    }

    /// The host memory that a step reads for it, if it does.
    pub fn range(&mut self) -> Option<(*const u8, usize)> {
        match self {
            Input::Nothing => None,
            Input::Memory { memory, .. } => Some((memory.address().cast_const(), memory.size())),
            Input::Bound { buffer, contents, .. } => Some((contents.address().ok()?, buffer.host_size())),
        }
    }

    /// Whether the program must leave the argument's memory alone, though it could take it.
    pub fn keeps_its_memory(&self) -> bool {
        matches!(self, Input::Memory { fed: None, .. } | Input::Bound { fed: None, keep: true, .. })
    }

    /// Says whether a buffer survives the steps of a program that may take it; an error
    /// if no buffer is bound.
    pub fn keep_buffer(&mut self, wanted: bool, name: impl FnOnce() -> String) -> Result<()> {
        if let Input::Bound { keep, .. } = self {
            *keep = wanted;
            return Ok(());
        }
        let message = format!("{} is bound to no buffer", name());
        Err(Error::new(Code::FailedPrecondition, Origin::Caller, message)
            .hint("call cyxla_call_bind first; the memory of the call is never taken"))
    }

    /// The buffer that the next step takes, and what the program is given of it.
    pub fn bound_buffer(&self) -> Option<(&Buffer, &pjrt::Buffer)> {
        match self {
            Input::Bound { buffer, contents, fed: None, .. } => Some((buffer, contents)),
            _ => None,
        }
    }

    /// Whether something is to be done before each step.
    pub fn needs_a_look(&self) -> bool {
        match self {
            Input::Nothing | Input::Bound { .. } => false,
            Input::Memory { in_place, dtype, .. } => !in_place || *dtype == DType::PRED,
        }
    }

    /// Makes ready for a step what the host wrote into the memory.
    pub fn refresh(&mut self, executable: &Inner, places: &Places, position: usize) -> Result<()> {
        let Input::Memory { memory, in_place, dtype, fed: None } = self else { return Ok(()) };
        if *dtype == DType::PRED {
            check_bools(&memory.as_input()).map_err(|error| {
                error.map_message(|message| format!("{}: {message}", places.name_input(position)))
            })?;
        }
        if !*in_place {
            let specs = &executable.signature.inputs;
            let spec = &specs[position % specs.len()];
            let array = ArraySpec { dtype: spec.dtype, dims: &spec.dims };
            let device = executable.runtime.device(places.device_of_input(position))?;
            *in_place = memory.make_argument(&executable.runtime.client, array, device)?;
        }
        Ok(())
    }

    /// Feeds an output here; gives what was fed before.
    pub fn feed(&mut self, output: pjrt::Buffer) -> Option<pjrt::Buffer> {
        match self {
            Input::Nothing => None,
            Input::Memory { fed, .. } | Input::Bound { fed, .. } => fed.replace(output),
        }
    }

    /// The next step takes the memory or the buffer again.
    pub fn start_over(&mut self) {
        if let Input::Memory { fed, .. } | Input::Bound { fed, .. } = self {
            *fed = None;
        }
    }
}

/// The error for an input that the host forgot.
pub fn not_set(input: String, spec: &TensorSpec) -> Error {
    let name = spec.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
    let message = format!("{input}{name}, {}, was not set", spec.array_type());
    Error::new(Code::FailedPrecondition, Origin::Caller, message)
        .hint("write to the memory that cyxla_call_input gives, or bind a buffer")
}
