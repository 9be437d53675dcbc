//! Whether a saved executable may be loaded here.

use super::Facts;
use crate::compile::identity::{PluginFile, Surroundings};
use crate::error::{Code, Error, Origin, Result};

/// An error with every difference that matters, in words.
pub fn check(saved: &Facts, here: &Surroundings) -> Result<()> {
    let found = differences(saved, here);
    if found.is_empty() {
        return Ok(());
    }
    let name = match saved.name.as_str() {
        "" => String::new(),
        name => format!(" '{name}'"),
    };
    let message = format!("the saved executable{name} was not made for this: {}", found.join("; "));
    let error = Error::new(Code::FailedPrecondition, Origin::Caller, message).hint(
        "compile the program again here, with `cyxla compile` or by way of cyxla_compile_program; plugins load what others compiled and compute wrong numbers",
    );
    Err(error)
}

fn differences(saved: &Facts, here: &Surroundings) -> Vec<String> {
    let there = &saved.made_in;
    let mut found = Vec::new();
    if there.platform != here.platform {
        found.push(format!("it is for {}, and the loaded plugin is for {}", there.platform, here.platform));
    }
    if there.plugin.hash != here.plugin.hash {
        let (old, new) = (plugin(&there.plugin, there.api_version), plugin(&here.plugin, here.api_version));
        found.push(format!("it was compiled by {old}, and the loaded plugin is {new}"));
    } else if there.api_version != here.api_version {
        let (old, new) = (version(there.api_version), version(here.api_version));
        found.push(format!("it was compiled through PJRT {old}, and this is PJRT {new}"));
    }
    if there.platform == here.platform && there.platform_version != here.platform_version {
        let (old, new) = (&there.platform_version, &here.platform_version);
        found.push(format!("it was compiled for version '{old}' of the platform, and this is '{new}'"));
    }
    if there.device_kind != here.device_kind {
        let (old, new) = (&there.device_kind, &here.device_kind);
        found.push(format!("it was compiled for devices of kind '{old}', and these are '{new}'"));
    }
    let needed = saved.devices.iter().max().map_or(0, |&last| last.saturating_add(1));
    if needed > here.device_count {
        let (place, count) = (needed - 1, here.device_count);
        found.push(format!("it runs on device {place}, counted from 0, and there are {count} devices"));
    }
    let missing = here.cpu.missing_here(&there.cpu);
    if there.cpu.architecture() != here.cpu.architecture() {
        let (old, new) = (there.cpu.architecture(), here.cpu.architecture());
        found.push(format!("it was compiled on {old}, and this is {new}"));
    } else if !missing.is_empty() {
        found.push(format!("this CPU lacks {}", missing.join(", ")));
    }
    found
}

fn plugin(file: &PluginFile, api: (i32, i32)) -> String {
    format!("{} (sha256 {:.12}…, PJRT {})", file.name, file.hash, version(api))
}

fn version((major, minor): (i32, i32)) -> String {
    format!("{major}.{minor}")
}
