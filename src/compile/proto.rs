//! The few fields of XLA's compile options that the library writes.
//!
//! Field numbers and wire types are XLA's.

use std::collections::BTreeMap;

use prost::{Message, Oneof};

/// How to compile.
#[derive(Clone, PartialEq, Message)]
pub struct CompileOptions {
    /// The program has one parameter, a tuple of the arguments.
    #[prost(bool, tag = "2")]
    pub parameter_is_tupled_arguments: bool,
    #[prost(message, optional, tag = "3")]
    pub build: Option<BuildOptions>,
    /// Fit for any device, which the execution then names.
    #[prost(bool, tag = "4")]
    pub compile_portable_executable: bool,
    #[prost(int64, tag = "5")]
    pub profile_version: i64,
    /// XLA's debug options by name. Sorted, so that equal options are equal bytes.
    #[prost(btree_map = "string, message", tag = "7")]
    pub env_option_overrides: BTreeMap<String, OptionOverride>,
}

/// Plugins abort when either count is missing.
#[derive(Clone, PartialEq, Message)]
pub struct BuildOptions {
    #[prost(int64, tag = "4")]
    pub num_replicas: i64,
    #[prost(int64, tag = "5")]
    pub num_partitions: i64,
    #[prost(bool, tag = "6")]
    pub use_spmd_partitioning: bool,
    #[prost(message, optional, tag = "9")]
    pub device_assignment: Option<DeviceAssignment>,
    #[prost(bool, tag = "19")]
    pub use_shardy_partitioner: bool,
}

/// The value of a debug option.
#[derive(Clone, PartialEq, Message)]
pub struct OptionOverride {
    #[prost(oneof = "OverrideValue", tags = "1, 2, 3")]
    pub value: Option<OverrideValue>,
}

/// There is a fourth kind, double, through which plugins take no number up to 0;
/// they read any number from a text.
#[derive(Clone, PartialEq, Oneof)]
pub enum OverrideValue {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(bool, tag = "2")]
    Bool(bool),
    #[prost(int64, tag = "3")]
    Int(i64),
}

/// Which device runs which replica of which partition.
#[derive(Clone, PartialEq, Message)]
pub struct DeviceAssignment {
    #[prost(int32, tag = "1")]
    pub replica_count: i32,
    #[prost(int32, tag = "2")]
    pub computation_count: i32,
    #[prost(message, repeated, tag = "3")]
    pub computations: Vec<ComputationDevices>,
}

/// The devices of one partition, one a replica.
#[derive(Clone, PartialEq, Message)]
pub struct ComputationDevices {
    #[prost(int64, repeated, tag = "1")]
    pub replica_device_ids: Vec<i64>,
}
