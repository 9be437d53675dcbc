//! The message in a saved executable, a protocol buffer of our own.
//!
//! A field number is never used for anything else, so that every version reads what it
//! knows of what any other wrote.

use prost::Message;

/// All but the plugin's own bytes.
#[derive(Clone, PartialEq, Message)]
pub struct Saved {
    #[prost(string, tag = "1")]
    pub library_version: String,
    #[prost(message, optional, tag = "2")]
    pub made_in: Option<Surroundings>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub options: String,
    #[prost(message, repeated, tag = "5")]
    pub inputs: Vec<Tensor>,
    #[prost(message, repeated, tag = "6")]
    pub outputs: Vec<Tensor>,
    #[prost(message, repeated, tag = "7")]
    pub parameters: Vec<Parameter>,
    #[prost(uint64, tag = "8")]
    pub replica_count: u64,
    #[prost(uint64, tag = "9")]
    pub partition_count: u64,
    #[prost(uint64, repeated, tag = "10")]
    pub devices: Vec<u64>,
    #[prost(int32, tag = "11")]
    pub index_dtype: i32,
    #[prost(bytes = "vec", tag = "12")]
    pub cache_key: Vec<u8>,
}

/// What it was compiled by and for.
#[derive(Clone, PartialEq, Message)]
pub struct Surroundings {
    #[prost(string, tag = "1")]
    pub platform: String,
    #[prost(string, tag = "2")]
    pub platform_version: String,
    #[prost(int32, tag = "3")]
    pub api_major: i32,
    #[prost(int32, tag = "4")]
    pub api_minor: i32,
    #[prost(message, optional, tag = "5")]
    pub plugin: Option<PluginFile>,
    #[prost(string, tag = "6")]
    pub cpu_architecture: String,
    #[prost(string, repeated, tag = "7")]
    pub cpu_features: Vec<String>,
    #[prost(string, tag = "8")]
    pub device_kind: String,
    #[prost(uint64, tag = "9")]
    pub device_count: u64,
}

/// A plugin's library.
#[derive(Clone, PartialEq, Message)]
pub struct PluginFile {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(bytes = "vec", tag = "2")]
    pub hash: Vec<u8>,
    #[prost(message, optional, tag = "3")]
    pub stat: Option<FileStat>,
}

/// What a file looked like on the machine that hashed it.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct FileStat {
    #[prost(uint64, tag = "1")]
    pub inode: u64,
    #[prost(uint64, tag = "2")]
    pub size: u64,
    #[prost(int64, tag = "3")]
    pub modified: i64,
    #[prost(int64, tag = "4")]
    pub changed: i64,
}

/// An input or output.
#[derive(Clone, PartialEq, Message)]
pub struct Tensor {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    #[prost(int32, tag = "2")]
    pub dtype: i32,
    #[prost(int64, repeated, tag = "3")]
    pub dims: Vec<i64>,
    #[prost(bool, tag = "4")]
    pub is_donated: bool,
}

/// Where a parameter of the compiled program comes from: one of these.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Parameter {
    #[prost(uint64, optional, tag = "1")]
    pub input: Option<u64>,
    #[prost(int64, optional, tag = "2")]
    pub platform_index: Option<i64>,
    #[prost(uint64, optional, tag = "3")]
    pub destination: Option<u64>,
}
