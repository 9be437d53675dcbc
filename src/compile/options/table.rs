//! The compile options, in one table: the checks and `docs/compile_options.md` come
//! from it.

use crate::options::Kind;

/// What is known of an option.
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Its kind and range.
    pub kind: Kind,
    /// What holds when it is not set, in words.
    pub default: &'static str,
    /// What it does, in one line.
    pub meaning: &'static str,
}

/// Devices are counted in 32 bits.
const MOST: i64 = i32::MAX as i64;

/// Every option but XLA's debug options.
pub const KNOWN: &[Known] = &[
    known(
        "device",
        Kind::Int(0..=MOST),
        "0",
        "position of the device to run on, for a program of one replica and one partition",
    ),
    known(
        "replicas",
        Kind::Int(1..=MOST),
        "as many as the program says, or 1",
        "how many copies of the program run together",
    ),
    known(
        "partitions",
        Kind::Int(1..=MOST),
        "as many as the program says, or 1",
        "how many devices share the work of one copy",
    ),
    known(
        "device_ids",
        Kind::Ints,
        "the first devices",
        "the plugin's ids of the devices, replicas x partitions of them: all partitions of the first replica, then those of the next",
    ),
    known(
        "use_spmd_partitioning",
        Kind::Bool,
        "true if there are several partitions",
        "let XLA divide a program written for one device among the partitions",
    ),
    known(
        "use_shardy_partitioner",
        Kind::Bool,
        "true if the program has shardings of Shardy",
        "divide it by Shardy instead of GSPMD",
    ),
    known(
        "portable",
        Kind::Bool,
        "false",
        "make an executable that any device of the plugin can run; for one replica and one partition",
    ),
    known(
        "profile_version",
        Kind::Int(i64::MIN..=i64::MAX),
        "0",
        "version of the compilation profile to use, where the plugin was built with such profiles",
    ),
    known(
        "cache_dir",
        Kind::Text,
        "the variable `CYXLA_CACHE_DIR`",
        "folder of the executable cache; empty for no cache",
    ),
    known(
        "cache_size",
        Kind::Int(0..=i64::MAX),
        "1073741824 (1 GiB)",
        "bytes that the cache may take; what was not used for longest goes first",
    ),
    known(
        "check_platform",
        Kind::Bool,
        "true",
        "refuse a program that was exported for other platforms than the plugin's",
    ),
];

const fn known(name: &'static str, kind: Kind, default: &'static str, meaning: &'static str) -> Known {
    Known { name, kind, default, meaning }
}
