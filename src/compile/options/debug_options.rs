//! XLA's debug options, set for one program.
//!
//! Plugins check names and kinds and answer with an error; what they let through are
//! values that end the process. Each option of the plugins of PJRT 0.81, 0.106 and
//! 0.115 was set to good and bad values on them.

use std::ops::RangeInclusive;

use crate::error::{Error, Result};
use crate::options::{Kind, Value, nearest};
use crate::plugin::xla_flags::kinds;

/// What every name in XLA begins with; callers may leave it out.
pub const PREFIX: &str = "xla_";

/// What may be set of an option that can end the process.
pub enum Limit {
    /// Nothing.
    Never,
    /// Only false.
    False,
    /// An integer in a range.
    Int(RangeInclusive<i64>),
}

/// Options that can end the process, with what may be set, and why no more.
pub const LIMITS: &[(&str, Limit, &str)] = &[
    ("xla_disable_all_hlo_passes", Limit::False, "what is left of a program cannot be translated"),
    ("xla_enable_hlo_passes_only", Limit::Never, "what is left of a program cannot be translated"),
    ("xla_run_hlo_passes_starting_from", Limit::Never, "what is left of a program cannot be translated"),
    ("xla_hlo_profile", Limit::False, "PJRT 0.81 fails a check of its own"),
    (
        "xla_reduce_window_rewrite_base_length",
        Limit::Int(0..=i64::MAX),
        "PJRT 0.106 fails a check of its own",
    ),
    (
        "xla_cpu_parallel_codegen_split_count",
        Limit::Int(1..=4096),
        "the parts are made at once; a million take seconds, ten million all memory",
    ),
    (CRASHES, Limit::False, "that is their purpose"),
];

/// A part of the names of options that XLA has for finding its own faults.
pub const CRASHES: &str = "_crash_on_";

/// Whole messages in XLA, which plugins do not read from one value.
const MESSAGES: [&str; 5] = [
    "xla_backend_extra_options",
    "xla_enable_nccl_symmetric_buffers_for_collectives",
    "xla_gpu_analytical_latency_estimator_options",
    "xla_gpu_experimental_cost_model_gemm_tiling_options",
    "xla_gpu_experimental_thunk_buffer_debug_filter",
];

/// The option's name in XLA, and its value in the kind that it takes. `what` names it
/// in errors.
pub fn check(name: &str, what: &str, value: &Value) -> Result<(String, Value)> {
    let name = if name.starts_with(PREFIX) { name.to_owned() } else { format!("{PREFIX}{name}") };
    let refused = |message: String| Error::invalid_argument(message).parameter("options");
    let limit = LIMITS
        .iter()
        .find(|(limited, _, _)| name == *limited || *limited == CRASHES && name.contains(CRASHES));
    if let Some((_, limit, _)) = limit {
        let value = match limit {
            Limit::Int(range) => Kind::Int(range.clone()).check(what, value)?,
            Limit::False if Kind::Bool.check(what, value)? == Value::Bool(false) => value.clone(),
            Limit::False | Limit::Never => {
                return Err(refused(format!("{what} is {value}, with which XLA may end this process")));
            }
        };
        return Ok((name, value));
    }
    if MESSAGES.contains(&name.as_str()) {
        return Err(refused(format!("{what} cannot be set for one program"))
            .hint("set it for the whole process, in the variable XLA_FLAGS"));
    }
    let kind = match kinds::of(&name) {
        Some(kinds::Kind::Bool) => Kind::Bool,
        Some(kinds::Kind::Int32) => Kind::Int(i32::MIN.into()..=i32::MAX.into()),
        Some(kinds::Kind::Int64) => Kind::Int(i64::MIN..=i64::MAX),
        Some(kinds::Kind::Float) => Kind::Float(f64::NEG_INFINITY, f64::MAX),
        Some(kinds::Kind::Text) => Kind::Text,
        // One of several words, or of another plugin: the plugin checks it.
        Some(kinds::Kind::NoFlag) | None => return Ok((name, value.clone())),
    };
    let value = kind.check(what, value)?;
    Ok((name, value))
}

/// A plugin's error with advice, where the plugin does not know a debug option.
pub fn explain(error: Error) -> Error {
    let unknown = error.message().split_once("No such compile option: '");
    let Some((name, _)) = unknown.and_then(|(_, rest)| rest.split_once('\'')) else { return error };
    let advice = match nearest(name, kinds::flags().filter(|known| *known != name)) {
        Some(near) => format!("this plugin has no such debug option; did you mean '{}{near}'?", super::DEBUG),
        None => "this plugin has no such debug option; they come and go with XLA's versions".into(),
    };
    error.hint(advice)
}
