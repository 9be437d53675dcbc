//! The subcommands, one file each.

pub mod cache;
pub mod compile;
pub mod doctor;
pub mod info;
pub mod inspect;
pub mod install;
pub mod options;
pub mod plugins;
pub mod run;
