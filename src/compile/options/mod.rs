//! The compile options that a caller can set, and the form that plugins read.
//!
//! Plugins check few of them: a count that is 0, negative or large ends the process
//! or makes it run out of memory, and a device may be named twice.

mod debug_options;
mod serialize;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use debug_options::{CRASHES, LIMITS, Limit, explain};
pub use serialize::ProgramTraits;
pub use table::{KNOWN, Known};

use super::cache;
use crate::error::{Code, Error, Origin, Result};
use crate::options::{Options, Value, nearest};
use crate::program::DeviceCounts;

/// What XLA's debug options begin with.
const DEBUG: &str = "xla.";

/// Checked compile options.
#[derive(Clone, PartialEq, Debug)]
pub struct CompileOptions {
    /// How many copies of the program run together.
    pub replicas: usize,
    /// How many devices share the work of one copy.
    pub partitions: usize,
    /// Positions of the devices, at least one: all partitions of the first replica,
    /// then those of the next.
    pub devices: Vec<usize>,
    /// The plugin's ids of the same devices.
    pub device_ids: Vec<i64>,
    /// Whether XLA divides the program among the partitions.
    pub use_spmd_partitioning: bool,
    /// Whether Shardy does it; `None` leaves it to what the program needs.
    pub use_shardy_partitioner: Option<bool>,
    /// Whether any device can run the executable; `devices` then says which one does.
    pub is_portable: bool,
    /// Version of the compilation profile.
    pub profile_version: i64,
    /// Folder of the executable cache; `None` leaves it to the environment, and an
    /// empty one means no cache.
    pub cache_dir: Option<String>,
    /// Bytes that the cache may take.
    pub cache_size: u64,
    /// Whether a program for other platforms is refused.
    pub check_platform: bool,
    /// XLA's debug options by their names in XLA.
    pub debug_options: BTreeMap<String, Value>,
}

impl CompileOptions {
    /// Checks names, kinds and ranges; `program` is what the program says of the devices
    /// that it is for, and `device_ids` are the plugin's ids of all devices, by position.
    pub fn new(
        options: Option<&Options>,
        program: DeviceCounts,
        device_ids: &[i64],
    ) -> Result<CompileOptions> {
        let set = Checked::new(options)?;
        let count = |wanted: Option<i64>, told: Option<i64>| {
            usize::try_from(wanted.or(told).unwrap_or(1)).unwrap_or(usize::MAX)
        };
        let replicas = count(set.int("replicas"), program.replicas);
        let partitions = count(set.int("partitions"), program.partitions);
        if let Some(told) = program.replicas.filter(|&told| told > 1 && told != replicas as i64) {
            let message =
                format!("the program is written for {told} replicas, and is compiled for {replicas}");
            return Err(Error::new(Code::FailedPrecondition, Origin::Caller, message)
                .hint(format!("leave the compile option replicas out, or set it to {told}")));
        }
        let is_portable = set.bool("portable").unwrap_or(false);
        if is_portable && (replicas > 1 || partitions > 1) {
            let message = format!(
                "compile option 'portable' is for programs of one replica and one partition, not of {replicas} x {partitions}"
            );
            return Err(Error::invalid_argument(message).parameter("options"));
        }
        let devices = set.devices(replicas, partitions, device_ids)?;
        Ok(CompileOptions {
            replicas,
            partitions,
            device_ids: devices.iter().map(|&position| device_ids[position]).collect(),
            devices,
            use_spmd_partitioning: set.bool("use_spmd_partitioning").unwrap_or(partitions > 1),
            use_shardy_partitioner: set.bool("use_shardy_partitioner"),
            is_portable,
            profile_version: set.int("profile_version").unwrap_or(0),
            cache_dir: set.text("cache_dir"),
            cache_size: set.int("cache_size").map_or(cache::DEFAULT_SIZE, i64::unsigned_abs),
            check_platform: set.bool("check_platform").unwrap_or(true),
            debug_options: set.debug_options,
        })
    }

    /// What decides how the program is compiled, as text from which the same options
    /// can be read again: `device_ids=0;xla.xla_cpu_enable_fast_math=true`.
    pub fn to_text(&self) -> String {
        let mut items = vec![("device_ids".to_owned(), Value::Ints(self.device_ids.clone()))];
        let mut add = |name: &str, value: Value, is_set: bool| {
            items.extend(Some((name.to_owned(), value)).filter(|_| is_set));
        };
        add("replicas", Value::Int(self.replicas as i64), self.replicas > 1);
        add("partitions", Value::Int(self.partitions as i64), self.partitions > 1);
        let spmd = self.use_spmd_partitioning;
        add("use_spmd_partitioning", Value::Bool(spmd), spmd != (self.partitions > 1));
        let shardy = self.use_shardy_partitioner;
        add("use_shardy_partitioner", Value::Bool(shardy == Some(true)), shardy.is_some());
        add("portable", Value::Bool(true), self.is_portable);
        add("profile_version", Value::Int(self.profile_version), self.profile_version != 0);
        for (name, value) in &self.debug_options {
            add(&format!("{DEBUG}{name}"), value.clone(), true);
        }
        items.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(";")
    }
}

/// Options whose names and kinds are right.
#[derive(Default)]
struct Checked {
    values: BTreeMap<&'static str, Value>,
    debug_options: BTreeMap<String, Value>,
}

impl Checked {
    fn new(options: Option<&Options>) -> Result<Checked> {
        let mut checked = Checked::default();
        for (key, value) in options.into_iter().flat_map(Options::iter) {
            let what = format!("compile option '{key}'");
            if let Some(name) = key.strip_prefix(DEBUG) {
                let (name, value) = debug_options::check(name, &what, value)?;
                if checked.debug_options.insert(name, value).is_some() {
                    return Err(Error::invalid_argument(format!("{what} is set twice")).parameter("options"));
                }
                continue;
            }
            let known = KNOWN.iter().find(|known| known.name == key).ok_or_else(|| unknown(key))?;
            checked.values.insert(known.name, known.kind.check(&what, value)?);
        }
        Ok(checked)
    }

    /// The positions of the devices that the program is to run on.
    fn devices(&self, replicas: usize, partitions: usize, ids: &[i64]) -> Result<Vec<usize>> {
        let refuse = |message: String| Err(Error::invalid_argument(message).parameter("options"));
        let needed = replicas.saturating_mul(partitions);
        if needed > ids.len() {
            let message = format!(
                "{replicas} replicas of {partitions} partitions need {needed} devices, but there are {}",
                ids.len()
            );
            let advice = format!("a client for the CPU has {needed} devices with cpu_device_count={needed}");
            // Without options, the program itself needs them.
            let is_asked = self.int("replicas").or(self.int("partitions")).is_some();
            let error = match is_asked {
                true => Error::invalid_argument(message).parameter("options"),
                false => {
                    let message = format!("the program is written for several devices: {message}");
                    Error::new(Code::FailedPrecondition, Origin::Caller, message)
                }
            };
            return Err(error.hint(advice));
        }
        let device = self.int("device");
        let Some(Value::Ints(chosen)) = self.values.get("device_ids") else {
            let Some(device) = device else { return Ok((0..needed).collect()) };
            if needed > 1 {
                return refuse(format!(
                    "compile option 'device' names one device, but the program needs {needed}"
                ))
                .map_err(|error| error.hint("name them with the option 'device_ids'"));
            }
            return match usize::try_from(device) {
                Ok(position) if position < ids.len() => Ok(vec![position]),
                _ => refuse(format!(
                    "compile option 'device' is {device}, but there are {} devices, counted from 0",
                    ids.len()
                )),
            };
        };
        if device.is_some() {
            return refuse("compile options 'device' and 'device_ids' exclude each other".into());
        }
        if chosen.len() != needed {
            return refuse(format!(
                "compile option 'device_ids' names {} devices, but {replicas} replicas of {partitions} partitions need {needed}",
                chosen.len()
            ));
        }
        let mut devices = Vec::with_capacity(needed);
        for id in chosen {
            let Some(position) = ids.iter().position(|one| one == id) else {
                let known: Vec<String> = ids.iter().map(i64::to_string).collect();
                let known = known.join(", ");
                return refuse(format!(
                    "compile option 'device_ids' names the device {id}; there are {known}"
                ));
            };
            if devices.contains(&position) {
                return refuse(format!("compile option 'device_ids' names the device {id} twice"));
            }
            devices.push(position);
        }
        Ok(devices)
    }

    fn int(&self, name: &str) -> Option<i64> {
        match self.values.get(name) {
            Some(Value::Int(number)) => Some(*number),
            _ => None,
        }
    }

    fn bool(&self, name: &str) -> Option<bool> {
        match self.values.get(name) {
            Some(Value::Bool(truth)) => Some(*truth),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        match self.values.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            _ => None,
        }
    }
}

fn unknown(key: &str) -> Error {
    let names = KNOWN.iter().map(|known| known.name);
    let all: Vec<&str> = names.clone().collect();
    let message = format!(
        "unknown compile option '{key}'; known: {}, and {DEBUG}NAME for a debug option of XLA",
        all.join(", ")
    );
    let error = Error::invalid_argument(message).parameter("options");
    if key.starts_with(debug_options::PREFIX) {
        return error.hint(format!("XLA's debug options are set as '{DEBUG}{key}'"));
    }
    match nearest(key, names) {
        Some(name) => error.hint(format!("did you mean '{name}'?")),
        None => error,
    }
}
