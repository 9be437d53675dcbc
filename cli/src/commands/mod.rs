//! The subcommands, one file each.

pub mod info;
pub mod install;
pub mod plugins;
pub mod run;
