//! The compile options that a caller can set, and the form that plugins read.

use prost::Message;

use super::proto;
use crate::error::{Error, Result};
use crate::options::{Options, Value, nearest};

/// Checked compile options.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompileOptions {
    /// Position of the device to run on.
    pub device: usize,
}

const KNOWN: [&str; 1] = ["device"];

impl CompileOptions {
    /// Checks names, kinds and ranges; `device_count` is how many devices there are.
    pub fn new(options: Option<&Options>, device_count: usize) -> Result<CompileOptions> {
        let mut checked = CompileOptions::default();
        for (key, value) in options.into_iter().flat_map(Options::iter) {
            match (key, value) {
                ("device", &Value::Int(device)) => {
                    checked.device = usize::try_from(device).ok().filter(|&device| device < device_count).ok_or_else(|| {
                        let message = format!("compile option 'device' is {device}, but there are {device_count} devices, counted from 0");
                        Error::invalid_argument(message).parameter("options")
                    })?;
                }
                ("device", other) => {
                    let message = format!("compile option 'device' is {}, expected an integer", other.kind());
                    return Err(Error::invalid_argument(message).parameter("options"));
                }
                _ => {
                    let message = format!("unknown compile option '{key}'; known: {}", KNOWN.join(", "));
                    let error = Error::invalid_argument(message).parameter("options");
                    return Err(match nearest(key, KNOWN) {
                        Some(name) => error.hint(format!("did you mean '{name}'?")),
                        None => error,
                    });
                }
            }
        }
        Ok(checked)
    }

    /// A serialized `CompileOptionsProto` for the device with this PJRT id.
    pub fn serialize(device_id: i64) -> Vec<u8> {
        let computation = proto::ComputationDevices { replica_device_ids: vec![device_id] };
        let assignment = proto::DeviceAssignment {
            replica_count: 1,
            computation_count: 1,
            computations: vec![computation],
        };
        let build =
            proto::BuildOptions { num_replicas: 1, num_partitions: 1, device_assignment: Some(assignment) };
        proto::CompileOptions { build: Some(build) }.encode_to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_that_plugins_were_seen_to_take() {
        let expected = [0x1a, 0x0f, 0x20, 1, 0x28, 1, 0x4a, 9, 8, 1, 0x10, 1, 0x1a, 3, 0x0a, 1, 7];
        assert_eq!(CompileOptions::serialize(7), expected);
    }

    #[test]
    fn names_kinds_and_ranges_are_checked() {
        let check = |text: &str| {
            let mut options = Options::new();
            options.parse(text).unwrap();
            CompileOptions::new(Some(&options), 2)
        };
        assert_eq!(check("device=1").unwrap().device, 1);
        assert_eq!(CompileOptions::new(None, 1).unwrap().device, 0);
        for (text, part) in [("device=2", "2 devices"), ("device=-1", "-1"), ("device=a", "a string")] {
            let error = check(text).unwrap_err();
            assert!(error.message().contains(part), "{error}");
        }
        assert_eq!(check("devize=1").unwrap_err().detail("hint"), Some("did you mean 'device'?"));
    }
}
