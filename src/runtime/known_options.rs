//! The create options that are known of each platform, in one table: the checks
//! and the defaults come from it.
//!
//! Plugins check little: a wrong kind aborts some, a count of -1 aborts others.

use std::ops::RangeInclusive;

use crate::error::{Error, Result};
use crate::options::{Options, Value, nearest};

/// A kind of value, with the range that makes sense.
pub enum Kind {
    /// Any text.
    Text,
    /// An integer in a range.
    Int(RangeInclusive<i64>),
    /// A list of integers that are not negative.
    Ints,
    /// A number above the first and not above the second.
    Float(f64, f64),
    /// True or false.
    Bool,
}

/// The value that libcyxla sets where the caller sets none.
pub enum Default {
    /// The plugin's own.
    Plugin,
    /// An integer.
    Int(i64),
    /// True or false.
    Bool(bool),
}

/// What is known of an option.
pub struct Known {
    /// The platforms that have it.
    pub platforms: &'static [&'static str],
    /// Its name.
    pub name: &'static str,
    /// Its kind and range.
    pub kind: Kind,
    /// What libcyxla sets.
    pub default: Default,
    /// What it does, in one line.
    pub meaning: &'static str,
}

const CPU: &[&str] = &["cpu"];
const GPU: &[&str] = &["cuda", "rocm"];
/// Thousands of devices take plugins long to make; far above they hang, wrap
/// around or abort.
const MOST_CPU_DEVICES: i64 = 1024;
const MOST: i64 = i32::MAX as i64;

/// Every known option.
pub const KNOWN: &[Known] = &[
    known(
        CPU,
        "cpu_device_count",
        Kind::Int(1..=MOST_CPU_DEVICES),
        Default::Int(1),
        "how many devices the client has",
    ),
    known(
        CPU,
        "asynchronous",
        Kind::Bool,
        Default::Bool(false),
        "run programs on threads of the plugin instead of the calling thread",
    ),
    known(CPU, "process_id", Kind::Int(0..=MOST), Default::Plugin, "number of this process among several"),
    known(GPU, "preallocate", Kind::Bool, Default::Bool(false), "take the whole memory fraction at once"),
    known(
        GPU,
        "memory_fraction",
        Kind::Float(0.0, 1.0),
        Default::Plugin,
        "share of the device's memory that may be used",
    ),
    known(GPU, "allocator", Kind::Text, Default::Plugin, "default, platform, bfc, cuda_async or vmm"),
    known(GPU, "platform_name", Kind::Text, Default::Plugin, "the platform's name inside XLA"),
    known(GPU, "visible_devices", Kind::Ints, Default::Plugin, "hardware numbers of the devices to use"),
    known(
        GPU,
        "collective_memory_size",
        Kind::Int(0..=i64::MAX),
        Default::Plugin,
        "bytes kept for collectives",
    ),
    known(GPU, "node_id", Kind::Int(0..=MOST), Default::Plugin, "number of this process among several"),
    known(GPU, "num_nodes", Kind::Int(1..=MOST), Default::Plugin, "how many processes there are"),
];

const fn known(
    platforms: &'static [&'static str],
    name: &'static str,
    kind: Kind,
    default: Default,
    meaning: &'static str,
) -> Known {
    Known { platforms, name, kind, default, meaning }
}

fn of(platform: &str) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.platforms.contains(&platform))
}

/// Whether the table describes the options of this platform.
pub fn describes(platform: &str) -> bool {
    of(platform).next().is_some()
}

/// Whether the table has this option of this platform.
pub fn is_known(platform: &str, name: &str) -> bool {
    of(platform).any(|known| known.name == name)
}

/// The known name that a wrong one most likely meant.
pub fn suggestion(platform: &str, wrong: &str) -> Option<&'static str> {
    nearest(wrong, of(platform).map(|known| known.name))
}

/// What libcyxla sets for this platform.
pub fn defaults(platform: &str) -> Options {
    let mut options = Options::new();
    for known in of(platform) {
        let value = match known.default {
            Default::Plugin => continue,
            Default::Int(value) => Value::Int(value),
            Default::Bool(value) => Value::Bool(value),
        };
        // The table's names are good names.
        let _ = options.set(known.name, value);
    }
    options
}

/// Checks the caller's values of known options; those of unknown ones stay as they
/// are. An integer where a float is wanted becomes one.
pub fn checked(platform: &str, options: &Options) -> Result<Options> {
    let mut checked = options.clone();
    for known in of(platform) {
        if let Some(value) = options.get(known.name) {
            checked.set(known.name, check(known, value)?)?;
        }
    }
    Ok(checked)
}

fn check(known: &Known, value: &Value) -> Result<Value> {
    let name = known.name;
    let out_of_range = |range: String| {
        let message = format!("create option '{name}' is {value}, expected {range}");
        Err(Error::invalid_argument(message).parameter("options"))
    };
    let wanted = match (&known.kind, value) {
        (Kind::Text, Value::String(_)) | (Kind::Bool, Value::Bool(_)) => return Ok(value.clone()),
        (Kind::Int(range), Value::Int(number)) if range.contains(number) => return Ok(value.clone()),
        (Kind::Int(range), Value::Int(_)) => {
            return out_of_range(format!("an integer from {} to {}", range.start(), range.end()));
        }
        // A list of one item reads as an integer in a text.
        (Kind::Ints, Value::Int(number)) if *number >= 0 => return Ok(Value::Ints(vec![*number])),
        (Kind::Ints, Value::Ints(numbers)) if numbers.is_empty() => {
            return out_of_range("at least one number; leave the option out for all".into());
        }
        (Kind::Ints, Value::Ints(numbers)) if numbers.iter().all(|&number| number >= 0) => {
            return Ok(value.clone());
        }
        (Kind::Ints, Value::Int(_) | Value::Ints(_)) => {
            return out_of_range("numbers that are not negative".into());
        }
        (Kind::Float(above, most), Value::Int(_) | Value::Float(_)) => {
            let number = match value {
                Value::Int(number) => *number as f64,
                Value::Float(number) => *number,
                _ => f64::NAN,
            };
            if number > *above && number <= *most {
                return Ok(Value::Float(number));
            }
            return out_of_range(format!("a number above {above} and not above {most}"));
        }
        (Kind::Text, _) => "a string",
        (Kind::Int(_), _) => "an integer",
        (Kind::Ints, _) => "a list of integers",
        (Kind::Float(..), _) => "a float",
        (Kind::Bool, _) => "a bool",
    };
    let message = format!("create option '{name}' is {} ('{value}'), expected {wanted}", value.kind());
    Err(Error::invalid_argument(message).parameter("options"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(platform: &str, text: &str) -> std::result::Result<String, String> {
        let mut options = Options::new();
        options.parse(text).unwrap();
        let checked = checked(platform, &options).map_err(|error| error.message().to_owned())?;
        Ok(checked.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(";"))
    }

    #[test]
    fn kinds_and_ranges() {
        let bad = |platform, text, part: &str| {
            let message = outcome(platform, text).unwrap_err();
            assert!(message.contains(part), "{message}");
        };
        bad("cpu", "cpu_device_count=-1", "from 1 to 1024");
        bad("cpu", "cpu_device_count=0", "from 1 to 1024");
        bad("cpu", "cpu_device_count=100000", "from 1 to 1024");
        bad("cpu", "cpu_device_count=four", "is a string ('four'), expected an integer");
        bad("cpu", "cpu_device_count=true", "is a bool");
        bad("cpu", "asynchronous=0", "expected a bool");
        bad("cuda", "memory_fraction=100", "not above 1");
        bad("cuda", "preallocate=no", "expected a bool");
        bad("rocm", "visible_devices=-1", "not negative");
        assert_eq!(outcome("cuda", "memory_fraction=1").unwrap(), "memory_fraction=1.0");
        assert_eq!(outcome("cuda", "visible_devices=0").unwrap(), "visible_devices=0");
        assert_eq!(outcome("cpu", "memory_fraction=7;x=y").unwrap(), "memory_fraction=7;x=y");
        assert_eq!(outcome("npu", "cpu_device_count=-1").unwrap(), "cpu_device_count=-1");
    }

    #[test]
    fn an_empty_list_has_no_meaning() {
        let mut options = Options::new();
        options.set("visible_devices", Value::Ints(Vec::new())).unwrap();
        assert!(checked("cuda", &options).is_err());
    }

    #[test]
    fn the_defaults_pass_their_own_checks() {
        for platform in ["cpu", "cuda", "rocm", "tpu"] {
            let defaults = defaults(platform);
            assert_eq!(checked(platform, &defaults).unwrap(), defaults);
        }
        assert_eq!(defaults("cpu").len(), 2);
        assert_eq!(suggestion("cpu", "cpu_device_counts"), Some("cpu_device_count"));
    }
}
