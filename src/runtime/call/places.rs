//! Which devices a call runs on, and where their inputs and outputs stand in its lists.

use crate::error::{Error, Result};
use crate::options::{Options, Value, nearest};
use crate::runtime::Executable;
use crate::runtime::executable::name_of;

/// The one option of a call.
const DEVICE: &str = "device";

/// The devices of a call, and the sizes of its lists.
pub struct Places {
    devices: Vec<usize>,
    input_count: usize,
    output_count: usize,
}

impl Places {
    /// Checks the options of a call.
    pub fn new(executable: &Executable, options: Option<&Options>) -> Result<Places> {
        let mut devices = executable.devices().to_vec();
        for (key, value) in options.into_iter().flat_map(Options::iter) {
            if key != DEVICE {
                let message = format!("unknown option '{key}' of a call; known: {DEVICE}");
                let error = Error::invalid_argument(message).parameter("options");
                return Err(match nearest(key, [DEVICE]) {
                    Some(name) => error.hint(format!("did you mean '{name}'?")),
                    None => error,
                });
            }
            devices = vec![chosen_device(executable, value)?];
        }
        let (input_count, output_count) = (executable.inputs().len(), executable.outputs().len());
        Ok(Places { devices, input_count, output_count })
    }

    /// Positions of the devices among those of the runtime.
    pub fn devices(&self) -> &[usize] {
        &self.devices
    }

    /// Where an input stands in the list of all devices' inputs.
    pub fn input(&self, device: usize, index: usize) -> Result<usize> {
        self.check("input", "index", self.input_count, device, index)
    }

    /// Where an output stands in the list of all devices' outputs.
    #[inline]
    pub fn output(&self, device: usize, index: usize) -> Result<usize> {
        self.check("output", "output", self.output_count, device, index)
    }

    /// The device of an input, among those of the runtime.
    pub fn device_of_input(&self, position: usize) -> usize {
        self.devices[position / self.input_count]
    }

    /// How messages name an input.
    pub fn name_input(&self, position: usize) -> String {
        name_of("input", position, self.input_count, self.devices.len())
    }

    /// How messages name an output.
    pub fn name_output(&self, position: usize) -> String {
        name_of("output", position, self.output_count, self.devices.len())
    }

    #[inline]
    fn check(
        &self,
        what: &'static str,
        parameter: &'static str,
        count: usize,
        device: usize,
        index: usize,
    ) -> Result<usize> {
        if device < self.devices.len() && index < count {
            return Ok(device * count + index);
        }
        Err(self.nowhere(what, parameter, count, device, index))
    }

    #[cold]
    fn nowhere(
        &self,
        what: &str,
        parameter: &'static str,
        count: usize,
        device: usize,
        index: usize,
    ) -> Error {
        let runs = self.devices.len();
        if device >= runs {
            let message = format!("device {device} does not exist; the call runs on {runs}, counted from 0");
            return Error::invalid_argument(message).parameter("device");
        }
        let message = format!("{what} {index} does not exist; the program has {count}");
        Error::invalid_argument(message).parameter(parameter)
    }
}

/// The device on which the host wants a portable program to run.
fn chosen_device(executable: &Executable, value: &Value) -> Result<usize> {
    let count = executable.0.runtime.devices.len();
    let Value::Int(number) = value else {
        let message = format!("option '{DEVICE}' of a call is an int, got {value}");
        return Err(Error::invalid_argument(message).parameter("options"));
    };
    let device = usize::try_from(*number).ok().filter(|&device| device < count).ok_or_else(|| {
        let message =
            format!("option '{DEVICE}' of a call is {number}, but there are {count} devices, counted from 0");
        Error::invalid_argument(message).parameter("options")
    })?;
    if executable.0.loaded.is_portable() || executable.devices() == [device] {
        return Ok(device);
    }
    let list: Vec<String> = executable.devices().iter().map(usize::to_string).collect();
    let message = format!("the program was compiled for device {}, not for {device}", list.join(", "));
    Err(Error::invalid_argument(message)
        .parameter("options")
        .hint("compile it with portable=true to choose its device at each call"))
}
