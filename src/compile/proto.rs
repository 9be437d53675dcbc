//! The few fields of XLA's compile options that the library writes.
//!
//! Field numbers and wire types are XLA's.

use prost::Message;

/// How to compile.
#[derive(Clone, PartialEq, Message)]
pub struct CompileOptions {
    #[prost(message, optional, tag = "3")]
    pub build: Option<BuildOptions>,
}

/// Plugins abort when either count is missing.
#[derive(Clone, PartialEq, Message)]
pub struct BuildOptions {
    #[prost(int64, tag = "4")]
    pub num_replicas: i64,
    #[prost(int64, tag = "5")]
    pub num_partitions: i64,
    #[prost(message, optional, tag = "9")]
    pub device_assignment: Option<DeviceAssignment>,
}

/// Which device runs which replica of which computation.
#[derive(Clone, PartialEq, Message)]
pub struct DeviceAssignment {
    #[prost(int32, tag = "1")]
    pub replica_count: i32,
    #[prost(int32, tag = "2")]
    pub computation_count: i32,
    #[prost(message, repeated, tag = "3")]
    pub computations: Vec<ComputationDevices>,
}

/// The devices of one computation, one a replica.
#[derive(Clone, PartialEq, Message)]
pub struct ComputationDevices {
    #[prost(int64, repeated, tag = "1")]
    pub replica_device_ids: Vec<i64>,
}
