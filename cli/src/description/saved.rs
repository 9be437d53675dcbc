//! Describes a saved executable in the form in which the library describes programs.

use cyxla::compile::identity::CpuFeatures;
use cyxla::compile::saved::Saved;
use cyxla::error::Error;
use cyxla::program::{Encoding, Parameter, TensorSpec};
use serde_json::{Value, json};

/// Describes a saved executable of `size` bytes.
pub fn describe(saved: &Saved<'_>, size: usize) -> Value {
    let facts = &saved.facts;
    let made_in = &facts.made_in;
    let is_used = |index| facts.parameters.contains(&Parameter::Input(index));
    let inputs = facts.signature.inputs.iter().enumerate();
    let inputs: Vec<Value> = inputs.map(|(index, spec)| tensor(spec, is_used(index))).collect();
    let outputs: Vec<Value> = facts.signature.outputs.iter().map(|spec| tensor(spec, true)).collect();
    let (major, minor) = made_in.api_version;
    json!({
        "format": "saved_executable",
        "encoding": Encoding::SavedExecutable.name(),
        "size": size,
        "code_size": saved.executable().len(),
        "name": facts.name,
        "platforms": [made_in.platform],
        "device_count": facts.devices.len(),
        "inputs": inputs,
        "outputs": outputs,
        "saved_executable": {
            "library_version": facts.library_version,
            "platform_version": made_in.platform_version,
            "api_version": format!("{major}.{minor}"),
            "plugin": made_in.plugin.name,
            "plugin_sha256": made_in.plugin.hash.to_string(),
            "cpu": made_in.cpu.architecture(),
            "cpu_features": made_in.cpu.names(),
            "device_kind": made_in.device_kind,
            "devices": facts.devices,
            "replicas": facts.replica_count,
            "partitions": facts.partition_count,
            "options": facts.options,
        },
        "problem": problem(saved).map(|error| {
            json!({ "code": error.code().name(), "message": error.message(), "hint": error.detail("hint") })
        }),
    })
}

/// What keeps it from being loaded here, as far as that is known without a plugin.
fn problem(saved: &Saved<'_>) -> Option<Error> {
    let mut here = saved.facts.made_in.clone();
    here.cpu = CpuFeatures::here();
    saved.check_fits(&here).err()
}

fn tensor(spec: &TensorSpec, is_kept: bool) -> Value {
    json!({
        "name": spec.name,
        "dtype": spec.dtype.name(),
        "dims": spec.dims,
        "size": spec.host_size(),
        "is_donated": spec.is_donated,
        "is_kept": is_kept,
        "sharding": null,
    })
}
