//! The subcommands, one file each.

pub mod doctor;
pub mod info;
pub mod install;
pub mod options;
pub mod plugins;
pub mod run;
