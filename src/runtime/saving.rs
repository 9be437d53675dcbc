//! Saves executables, and loads them again where they fit.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::arguments::Arguments;
use super::buffer::check_plugin_takes;
use super::compile::may_run_on;
use super::executable::{Executable, Inner, Timing};
use super::{Runtime, cached, runtime};
use crate::compile::identity::{CpuFeatures, FileStat, PluginFile, Surroundings};
use crate::compile::saved::{self, Facts, Saved};
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{Shape, presence};
use crate::program::foreign;
use crate::thread;

impl Executable {
    /// The executable in a form that [`Executable::from_bytes`] loads.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        presence::check()?;
        if let Some(saved) = &self.0.saved {
            return saved.encode();
        }
        let made_in = self.0.runtime.surroundings(|path, stat| PluginFile::of(path, stat, &[]))?;
        let serialized = serialized(&self.0)?;
        Saved::new(facts(self, made_in), &serialized).encode()
    }

    /// Loads a saved executable into the process's runtime, which is created for its
    /// platform when there is none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Executable> {
        if !saved::is_one(bytes) {
            foreign::refuse(bytes)?;
        }
        let saved = Saved::decode(bytes)?;
        let runtime = runtime(std::slice::from_ref(&saved.facts.made_in.platform))?;
        // The plugin need not be read where its file is the one that was seen then, or one
        // that a cache remembers.
        let known = &saved.facts.made_in.plugin;
        let here = runtime.surroundings(|path, stat| match cached::of_environment() {
            Some(cache) if known.stat != Some(*stat) => cache.plugin_file(path, stat),
            _ => PluginFile::of(path, stat, std::slice::from_ref(known)),
        })?;
        saved.check_fits(here)?;
        load(runtime, saved, false)
    }
}

/// The plugin's own form of an executable, which is known to load again: plugins write
/// some that they then cannot read.
pub(super) fn serialized(executable: &Inner) -> Result<Vec<u8>> {
    thread::with_stack(|| {
        let serialized = executable.loaded.executable()?.serialize().map_err(|error| {
            error.hint(
                "save executables before they run for the first time: plugins cannot save some afterwards",
            )
        })?;
        match executable.runtime.client.load(&serialized) {
            Ok(_) => Ok(serialized),
            Err(error) => {
                let message = format!("the plugin cannot load what it saved of the program: {error}");
                Err(Error::new(Code::Unimplemented, Origin::Plugin, message)
                    .hint("compile the program at each start"))
            }
        }
    })
}

/// What is saved of an executable besides the plugin's bytes.
pub(super) fn facts(executable: &Executable, made_in: &Surroundings) -> Facts {
    let inner = &*executable.0;
    Facts {
        library_version: env!("CARGO_PKG_VERSION").to_owned(),
        made_in: made_in.clone(),
        name: inner.name.clone(),
        options: inner.options.clone(),
        signature: inner.signature.clone(),
        parameters: inner.arguments.parameters(inner.signature.inputs.len()),
        index_dtype: inner.arguments.index_type().unwrap_or(DType::INVALID),
        replica_count: inner.replica_count,
        partition_count: inner.partition_count,
        devices: inner.devices.clone(),
        cache_key: None,
    }
}

/// Loads a saved executable that fits.
pub(super) fn load(runtime: &'static Runtime, saved: Saved<'_>, from_cache: bool) -> Result<Executable> {
    let mut saved = saved.into_owned()?;
    saved.facts.cache_key = None;
    let facts = saved.facts.clone();
    let loaded = thread::with_stack(|| runtime.client.load(saved.executable()))
        .map_err(|error| error.with("plugin.path", runtime.plugin.path.to_string_lossy()))?;
    let gives = loaded.executable()?.output_shapes()?;
    let due = facts.signature.outputs.iter();
    let due: Vec<Shape> = due.map(|spec| Shape { dtype: spec.dtype, dims: spec.dims.clone() }).collect();
    if gives != due && facts.devices.len() == 1 {
        let message = format!("the plugin loaded a program that gives {gives:?}, where {due:?} was saved");
        return Err(Error::new(Code::Internal, Origin::Plugin, message));
    }
    for input in &facts.signature.inputs {
        check_plugin_takes(runtime, input.dtype)?;
    }
    let devices = may_run_on(runtime, &loaded, &facts.devices);
    let arguments = Arguments::new(
        runtime,
        &devices,
        &facts.parameters,
        facts.index_dtype,
        facts.signature.inputs.len(),
    )?;
    Ok(Executable(Arc::new(Inner {
        runtime,
        loaded,
        signature: facts.signature,
        arguments,
        devices: facts.devices,
        replica_count: facts.replica_count,
        partition_count: facts.partition_count,
        name: facts.name,
        options: facts.options,
        from_cache,
        saved: Some(saved),
        timing: Timing::default(),
        shards: OnceLock::new(),
        forms: OnceLock::new(),
    })))
}

impl Runtime {
    /// What compiled programs depend on here. `identify` identifies the plugin's file,
    /// given what it looked like when it was loaded.
    pub(super) fn surroundings(
        &self,
        identify: impl FnOnce(&Path, &FileStat) -> Result<PluginFile>,
    ) -> Result<&Surroundings> {
        self.surroundings.get_or_try_init(|| {
            let seen = self.plugin_stat.clone()?;
            let plugin = identify(&self.plugin.path, &seen)?;
            let device_kind = self.devices.first().map(|device| device.kind.clone()).unwrap_or_default();
            Ok(Surroundings {
                platform: self.info.platform.clone(),
                platform_version: self.info.platform_version.clone(),
                api_version: self.info.api_version,
                plugin,
                cpu: CpuFeatures::here(),
                device_kind,
                device_count: self.devices.len(),
            })
        })
    }
}
