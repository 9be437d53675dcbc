//! Between what is known of a saved executable and the message that holds it.

use super::{Facts, envelope, proto};
use crate::compile::identity::{CpuFeatures, FileStat, Hash, PluginFile, Surroundings};
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};
use crate::program::{Parameter, Signature, TensorSpec};

/// The message that holds these facts.
pub fn to_message(facts: &Facts) -> proto::Saved {
    let number = |&position: &usize| position as u64;
    proto::Saved {
        library_version: facts.library_version.clone(),
        made_in: Some(from_surroundings(&facts.made_in)),
        name: facts.name.clone(),
        options: facts.options.clone(),
        inputs: facts.signature.inputs.iter().map(from_tensor).collect(),
        outputs: facts.signature.outputs.iter().map(from_tensor).collect(),
        parameters: facts.parameters.iter().map(from_parameter).collect(),
        replica_count: number(&facts.replica_count),
        partition_count: number(&facts.partition_count),
        devices: facts.devices.iter().map(number).collect(),
        index_dtype: facts.index_dtype.0,
        cache_key: facts.cache_key.map_or(Vec::new(), |key| key.0.to_vec()),
    }
}

fn from_surroundings(made_in: &Surroundings) -> proto::Surroundings {
    let plugin = &made_in.plugin;
    let stat = plugin.stat.map(|stat| {
        let FileStat { inode, size, modified, changed } = stat;
        proto::FileStat { inode, size, modified, changed }
    });
    proto::Surroundings {
        platform: made_in.platform.clone(),
        platform_version: made_in.platform_version.clone(),
        api_major: made_in.api_version.0,
        api_minor: made_in.api_version.1,
        plugin: Some(proto::PluginFile { name: plugin.name.clone(), hash: plugin.hash.0.to_vec(), stat }),
        cpu_architecture: made_in.cpu.architecture().to_owned(),
        cpu_features: made_in.cpu.names().to_vec(),
        device_kind: made_in.device_kind.clone(),
        device_count: made_in.device_count as u64,
    }
}

fn from_tensor(spec: &TensorSpec) -> proto::Tensor {
    proto::Tensor {
        name: spec.name.clone(),
        dtype: spec.dtype.0,
        dims: spec.dims.clone(),
        is_donated: spec.is_donated,
    }
}

fn from_parameter(parameter: &Parameter) -> proto::Parameter {
    match *parameter {
        Parameter::Input(input) => {
            proto::Parameter { input: Some(input as u64), ..proto::Parameter::default() }
        }
        Parameter::PlatformIndex(index) => {
            proto::Parameter { platform_index: Some(index), ..proto::Parameter::default() }
        }
        Parameter::Destination(output) => {
            proto::Parameter { destination: Some(output as u64), ..proto::Parameter::default() }
        }
    }
}

/// The facts in a message. The hash has been found right, so that what is wrong here
/// was wrong when it was written.
pub fn from_message(message: proto::Saved) -> Result<Facts> {
    let made_in = message.made_in.ok_or_else(|| lacking("what it was compiled by"))?;
    let signature = Signature { inputs: tensors(message.inputs)?, outputs: tensors(message.outputs)? };
    let parameters = parameters(&message.parameters, signature.inputs.len(), signature.outputs.len())?;
    let devices = message.devices.into_iter().map(position).collect::<Result<Vec<usize>>>()?;
    let (replica_count, partition_count) =
        (position(message.replica_count)?, position(message.partition_count)?);
    if replica_count == 0 || replica_count.checked_mul(partition_count) != Some(devices.len()) {
        return Err(lacking("a device for each replica and partition"));
    }
    let cache_key = match message.cache_key.as_slice() {
        [] => None,
        key => Some(hash(key)?),
    };
    Ok(Facts {
        library_version: message.library_version,
        made_in: surroundings(made_in)?,
        name: message.name,
        options: message.options,
        signature,
        parameters,
        index_dtype: DType(message.index_dtype),
        replica_count,
        partition_count,
        devices,
        cache_key,
    })
}

fn surroundings(made_in: proto::Surroundings) -> Result<Surroundings> {
    let plugin = made_in.plugin.ok_or_else(|| lacking("the plugin that compiled it"))?;
    let stat = plugin.stat.map(|stat| {
        let proto::FileStat { inode, size, modified, changed } = stat;
        FileStat { inode, size, modified, changed }
    });
    Ok(Surroundings {
        platform: made_in.platform,
        platform_version: made_in.platform_version,
        api_version: (made_in.api_major, made_in.api_minor),
        plugin: PluginFile { name: plugin.name, hash: hash(&plugin.hash)?, stat },
        cpu: CpuFeatures::new(&made_in.cpu_architecture, made_in.cpu_features),
        device_kind: made_in.device_kind,
        device_count: position(made_in.device_count)?,
    })
}

fn tensors(tensors: Vec<proto::Tensor>) -> Result<Vec<TensorSpec>> {
    let spec = |tensor: proto::Tensor| {
        let dtype = DType(tensor.dtype);
        // A newer library may know more, in the same format.
        if !dtype.is_known_array() {
            let message = format!(
                "the saved executable has the element type {}, which this version does not know",
                dtype.0
            );
            return Err(
                Error::new(Code::Unimplemented, Origin::Library, message).hint("use a newer libcyxla")
            );
        }
        TensorSpec::new(tensor.name, DType(tensor.dtype), tensor.dims, tensor.is_donated)
    };
    tensors.into_iter().map(spec).collect()
}

/// Each input is passed once at most, and each output has one destination at most.
fn parameters(
    parameters: &[proto::Parameter],
    input_count: usize,
    output_count: usize,
) -> Result<Vec<Parameter>> {
    let mut is_used = vec![false; input_count];
    let mut has_destination = vec![false; output_count];
    let mut read = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        read.push(match (parameter.input, parameter.platform_index, parameter.destination) {
            (Some(input), None, None) => {
                let input = position(input)?;
                match is_used.get_mut(input) {
                    Some(used) if !*used => *used = true,
                    _ => return Err(lacking(&format!("an input {input} for one of its parameters"))),
                }
                Parameter::Input(input)
            }
            (None, Some(index), None) => Parameter::PlatformIndex(index),
            (None, None, Some(output)) => {
                let output = position(output)?;
                match has_destination.get_mut(output) {
                    Some(has) if !*has => *has = true,
                    _ => return Err(lacking(&format!("an output {output} for one of its parameters"))),
                }
                Parameter::Destination(output)
            }
            _ => {
                let message = "the saved executable takes a parameter of a kind that this version of libcyxla does not know";
                return Err(Error::new(Code::Unimplemented, Origin::Caller, message)
                    .hint("use a libcyxla that is at least as new as the one that saved it"));
            }
        });
    }
    Ok(read)
}

fn hash(bytes: &[u8]) -> Result<Hash> {
    bytes.try_into().map(Hash).map_err(|_| lacking("a whole hash"))
}

fn position(number: u64) -> Result<usize> {
    usize::try_from(number).map_err(|_| lacking("a number that fits into memory"))
}

fn lacking(what: &str) -> Error {
    envelope::damaged(&format!("it lacks {what}"))
}
