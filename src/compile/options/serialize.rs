//! Compile options in the form that plugins read.

use prost::Message;

use super::CompileOptions;
use crate::compile::proto;
use crate::options::Value;

/// What a plugin has to be told of the program besides the caller's options.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProgramTraits {
    /// It has shardings of Shardy.
    pub has_shardy: bool,
    /// It has one parameter, a tuple of its inputs.
    pub has_tuple_parameter: bool,
}

impl CompileOptions {
    /// A serialized `CompileOptionsProto`. Equal options give equal bytes.
    pub fn serialize(&self, program: ProgramTraits) -> Vec<u8> {
        let build = proto::BuildOptions {
            num_replicas: self.replicas as i64,
            num_partitions: self.partitions as i64,
            use_spmd_partitioning: self.use_spmd_partitioning,
            device_assignment: Some(self.assignment()).filter(|_| !self.is_portable),
            use_shardy_partitioner: self.use_shardy_partitioner.unwrap_or(program.has_shardy),
        };
        let overrides = self.debug_options.iter();
        proto::CompileOptions {
            parameter_is_tupled_arguments: program.has_tuple_parameter,
            build: Some(build),
            compile_portable_executable: self.is_portable,
            profile_version: self.profile_version,
            env_option_overrides: overrides.map(|(name, value)| (name.clone(), override_of(value))).collect(),
        }
        .encode_to_vec()
    }

    fn assignment(&self) -> proto::DeviceAssignment {
        let of_partition = |partition| {
            let replicas = self.device_ids.iter().skip(partition).step_by(self.partitions);
            proto::ComputationDevices { replica_device_ids: replicas.copied().collect() }
        };
        proto::DeviceAssignment {
            replica_count: self.replicas as i32,
            computation_count: self.partitions as i32,
            computations: (0..self.partitions).map(of_partition).collect(),
        }
    }
}

fn override_of(value: &Value) -> proto::OptionOverride {
    let value = match value {
        Value::Bool(truth) => proto::OverrideValue::Bool(*truth),
        Value::Int(number) => proto::OverrideValue::Int(*number),
        Value::String(_) | Value::Ints(_) | Value::Float(_) => proto::OverrideValue::Text(value.to_string()),
    };
    proto::OptionOverride { value: Some(value) }
}
