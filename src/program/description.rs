//! All that is known of a program, as JSON: what `cyxla inspect --json` prints.

use serde_json::{Value, json};

use super::contents::{Contents, Dim, Element, Tensor};
use crate::error::Error;

/// Describes a program of `size` bytes; `problem` keeps it from running.
pub fn describe(contents: &Contents, size: usize, problem: Option<&Error>) -> Value {
    let tensors = |tensors: &[Tensor]| tensors.iter().map(tensor).collect::<Vec<_>>();
    let (inputs, outputs) = match &contents.function {
        Some((inputs, outputs)) => (json!(tensors(inputs)), json!(tensors(outputs))),
        None => (Value::Null, Value::Null),
    };
    let problem = problem.map(|error| {
        json!({ "code": error.code().name(), "message": error.message(), "hint": error.detail("hint") })
    });
    json!({
        "format": format_name(contents),
        "encoding": contents.encoding.name(),
        "size": size,
        "code_size": contents.code.len(),
        "name": contents.name,
        "platforms": contents.platforms,
        "stablehlo": stablehlo_version(contents),
        "written_by": contents.written_by,
        "device_count": contents.device_count,
        "inputs": inputs,
        "outputs": outputs,
        "custom_calls": contents.custom_calls,
        "jax_export": export(contents),
        "problem": problem,
    })
}

fn format_name(contents: &Contents) -> &'static str {
    use super::Encoding;
    match contents.encoding {
        Encoding::JaxExport => "jax_export",
        Encoding::HloProto => "hlo",
        _ => "stablehlo",
    }
}

/// The version of StableHLO that the program is written in, as `1.17.0`.
fn stablehlo_version(contents: &Contents) -> Option<&str> {
    contents.written_by.as_deref()?.strip_prefix("StableHLO_v")
}

fn tensor(tensor: &Tensor) -> Value {
    let dims: Vec<Value> = tensor
        .dims
        .iter()
        .map(|dim| match dim {
            Dim::Fixed(size) => json!(size),
            Dim::Symbolic(text) => json!(text),
        })
        .collect();
    let dtype = match &tensor.element {
        Element::Array(dtype) => dtype.name(),
        Element::Token => "token",
        Element::Unknown(name) => name,
    };
    json!({
        "name": tensor.name,
        "dtype": dtype,
        "dims": dims,
        "size": tensor.host_size(),
        "is_donated": tensor.is_donated,
        "is_kept": tensor.is_kept,
        "sharding": tensor.sharding,
    })
}

fn export(contents: &Contents) -> Option<Value> {
    let export = contents.export.as_deref()?;
    let checks: Vec<String> = export.disabled_checks.iter().map(ToString::to_string).collect();
    Some(json!({
        "serialization_version": export.serialization_version,
        "calling_convention_version": export.calling_convention_version,
        "jax_version": export.jax_version,
        "in_tree": export.in_tree.to_string(),
        "out_tree": export.out_tree.to_string(),
        "kept_inputs": export.kept_inputs,
        "ordered_effects": export.ordered_effects,
        "unordered_effects": export.unordered_effects,
        "disabled_checks": checks,
        "uses_global_constants": export.uses_global_constants,
        "has_vjp": export.vjp.is_some(),
    }))
}
