//! The few fields of XLA's programs that the library reads.
//!
//! Field numbers and wire types are XLA's; every other field is skipped.

use prost::Message;

/// What plugins call `hlo_with_config`.
#[derive(Clone, PartialEq, Message)]
pub struct HloModuleWithConfig {
    #[prost(message, optional, tag = "1")]
    pub module: Option<HloModule>,
}

/// A program in HLO.
#[derive(Clone, PartialEq, Message)]
pub struct HloModule {
    #[prost(message, repeated, tag = "3")]
    pub computations: Vec<Computation>,
    #[prost(message, optional, tag = "4")]
    pub host_program_shape: Option<ProgramShape>,
    #[prost(int64, tag = "6")]
    pub entry_computation_id: i64,
    #[prost(message, optional, tag = "8")]
    pub input_output_alias: Option<InputOutputAlias>,
    #[prost(message, optional, tag = "18")]
    pub buffer_donor: Option<BufferDonor>,
}

/// A function of an HLO program.
#[derive(Clone, PartialEq, Message)]
pub struct Computation {
    #[prost(message, repeated, tag = "2")]
    pub instructions: Vec<Instruction>,
    #[prost(int64, tag = "5")]
    pub id: i64,
}

/// One operation of a function.
#[derive(Clone, PartialEq, Message)]
pub struct Instruction {
    #[prost(string, tag = "2")]
    pub opcode: String,
    #[prost(message, optional, tag = "3")]
    pub shape: Option<Shape>,
    #[prost(message, optional, tag = "7")]
    pub metadata: Option<OpMetadata>,
    #[prost(int64, tag = "9")]
    pub parameter_number: i64,
    /// Groups of devices that a collective joins, as older writers put them.
    #[prost(message, repeated, tag = "49")]
    pub replica_groups: Vec<ReplicaGroup>,
    /// From which device to which a collective sends.
    #[prost(message, repeated, tag = "52")]
    pub source_target_pairs: Vec<SourceTarget>,
    #[prost(int64, tag = "35")]
    pub id: i64,
    #[prost(int64, repeated, tag = "36")]
    pub operand_ids: Vec<i64>,
    /// The groups as newer writers put them.
    #[prost(message, optional, tag = "87")]
    pub collective_device_list: Option<CollectiveDeviceList>,
}

/// Devices that work together, by their replica's number.
#[derive(Clone, PartialEq, Message)]
pub struct ReplicaGroup {
    #[prost(int64, repeated, tag = "1")]
    pub replica_ids: Vec<i64>,
}

/// One transfer of a collective.
#[derive(Clone, PartialEq, Message)]
pub struct SourceTarget {
    #[prost(int64, tag = "1")]
    pub source: i64,
    #[prost(int64, tag = "2")]
    pub target: i64,
}

/// The groups of a collective.
#[derive(Clone, PartialEq, Message)]
pub struct CollectiveDeviceList {
    #[prost(message, repeated, tag = "1")]
    pub replica_groups: Vec<ReplicaGroup>,
    /// The groups in a shorter form, used where there are many devices.
    #[prost(bytes = "vec", optional, tag = "2")]
    pub iota: Option<Vec<u8>>,
}

/// Where an operation comes from; of a parameter, its name in the user's program.
#[derive(Clone, PartialEq, Message)]
pub struct OpMetadata {
    /// Bytes, since a location of the user's program need not be UTF-8.
    #[prost(bytes = "vec", tag = "2")]
    pub op_name: Vec<u8>,
}

/// The types of a program's parameters and result.
#[derive(Clone, PartialEq, Message)]
pub struct ProgramShape {
    #[prost(message, repeated, tag = "1")]
    pub parameters: Vec<Shape>,
    #[prost(message, optional, tag = "2")]
    pub result: Option<Shape>,
}

/// The type of a value: an array, a tuple or a token.
#[derive(Clone, PartialEq, Message)]
pub struct Shape {
    /// A `PrimitiveType`, whose numbers are not those of PJRT.
    #[prost(int32, tag = "2")]
    pub element_type: i32,
    #[prost(int64, repeated, tag = "3")]
    pub dimensions: Vec<i64>,
    #[prost(message, repeated, tag = "4")]
    pub tuple_shapes: Vec<Shape>,
    #[prost(message, optional, tag = "5")]
    pub layout: Option<Layout>,
    #[prost(bool, repeated, tag = "6")]
    pub is_dynamic_dimension: Vec<bool>,
}

/// The order of an array's elements.
#[derive(Clone, PartialEq, Message)]
pub struct Layout {
    #[prost(int64, repeated, tag = "1")]
    pub minor_to_major: Vec<i64>,
    #[prost(message, repeated, tag = "6")]
    pub tiles: Vec<Tile>,
}

/// A tile of a layout; only that there is one matters here.
#[derive(Clone, PartialEq, Message)]
pub struct Tile {}

/// Which parameters are donated to which results.
#[derive(Clone, PartialEq, Message)]
pub struct InputOutputAlias {
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<AliasEntry>,
}

/// A parameter that is donated to a result.
#[derive(Clone, PartialEq, Message)]
pub struct AliasEntry {
    #[prost(int64, tag = "2")]
    pub parameter_number: i64,
    /// The way to the part of a tuple.
    #[prost(int64, repeated, tag = "3")]
    pub parameter_shape_index: Vec<i64>,
}

/// Which parameters are donated to whatever can use their memory.
#[derive(Clone, PartialEq, Message)]
pub struct BufferDonor {
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<DonorEntry>,
}

/// A parameter that is donated.
#[derive(Clone, PartialEq, Message)]
pub struct DonorEntry {
    #[prost(int64, tag = "1")]
    pub parameter_number: i64,
    /// The way to the part of a tuple.
    #[prost(int64, repeated, tag = "2")]
    pub parameter_shape_index: Vec<i64>,
}
