//! XLA's debug options, set for one program.
//!
//! Plugins check names and kinds and answer with an error; what they let through are
//! values that end the process. Each option of the plugins of PJRT 0.81, 0.106 and
//! 0.115 was set to good and bad values on them.

use crate::error::{Error, Result};
use crate::options::{Kind, Value, nearest};
use crate::plugin::xla_flags::kinds;

/// What every name in XLA begins with; callers may leave it out.
pub const PREFIX: &str = "xla_";

/// In how many parts code is made. None or a negative number of them ends the process;
/// a million take seconds, ten million all memory.
const SPLIT_COUNT: &str = "xla_cpu_parallel_codegen_split_count";
const MOST_PARTS: i64 = 4096;

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
    if name.contains("_crash_on_") && *value == Value::Bool(true) {
        return Err(refused(format!("{what} is true, with which XLA may end this process")));
    }
    if MESSAGES.contains(&name.as_str()) {
        return Err(refused(format!("{what} cannot be set for one program"))
            .hint("set it for the whole process, in the variable XLA_FLAGS"));
    }
    let kind = match kinds::of(&name) {
        Some(_) if name == SPLIT_COUNT => Kind::Int(1..=MOST_PARTS),
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
