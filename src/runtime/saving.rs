//! Saves executables, and loads them again where they fit.

use std::sync::{Arc, OnceLock};

use super::arguments::Arguments;
use super::executable::{Executable, Inner};
use super::{Runtime, runtime};
use crate::compile::identity::{Hash, PluginFile, Surroundings};
use crate::compile::saved::{self, Facts, Saved};
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::Shape;
use crate::program::foreign;
use crate::thread;

impl Executable {
    /// The executable in a form that [`Executable::from_bytes`] loads.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.saved_as(None)
    }

    /// The same, for the cache: with the key that it is found by.
    pub(super) fn saved_as(&self, cache_key: Option<Hash>) -> Result<Vec<u8>> {
        let inner = &*self.0;
        let made_in = inner.runtime.surroundings(&[])?.clone();
        let serialized = thread::with_stack(|| inner.loaded.executable()?.serialize())?;
        let facts = Facts {
            library_version: env!("CARGO_PKG_VERSION").to_owned(),
            made_in,
            name: inner.name.clone(),
            options: inner.options.clone(),
            signature: inner.signature.clone(),
            parameters: inner.arguments.parameters(inner.signature.inputs.len()),
            index_dtype: inner.arguments.index_type().unwrap_or(DType::INVALID),
            replica_count: inner.replica_count,
            partition_count: inner.partition_count,
            devices: inner.devices.clone(),
            cache_key,
        };
        Saved::new(facts, &serialized).encode()
    }

    /// Loads a saved executable into the process's runtime, which is created for its
    /// platform when there is none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Executable> {
        if !saved::is_one(bytes) {
            foreign::refuse(bytes)?;
        }
        let saved = Saved::decode(bytes)?;
        let runtime = runtime(std::slice::from_ref(&saved.facts.made_in.platform))?;
        // The plugin need not be read where its file is the one that was seen then.
        let here = runtime.surroundings(std::slice::from_ref(&saved.facts.made_in.plugin))?;
        saved.check_fits(here)?;
        load(runtime, &saved, false)
    }
}

/// Loads a saved executable that fits.
pub(super) fn load(runtime: &'static Runtime, saved: &Saved<'_>, from_cache: bool) -> Result<Executable> {
    let facts = &saved.facts;
    let loaded = thread::with_stack(|| runtime.client.load(saved.executable()))
        .map_err(|error| error.with("plugin.path", runtime.plugin.path.to_string_lossy()))?;
    let gives = loaded.executable()?.output_shapes()?;
    let due = facts.signature.outputs.iter();
    let due: Vec<Shape> = due.map(|spec| Shape { dtype: spec.dtype, dims: spec.dims.clone() }).collect();
    if gives != due && facts.devices.len() == 1 {
        let message = format!("the plugin loaded a program that gives {gives:?}, where {due:?} was saved");
        return Err(Error::new(Code::Internal, Origin::Plugin, message));
    }
    let first = facts.devices.first().copied().unwrap_or(0);
    let device = runtime.device(first)?;
    let arguments =
        Arguments::new(runtime, device, &facts.parameters, facts.index_dtype, facts.signature.inputs.len())?;
    Ok(Executable(Arc::new(Inner {
        runtime,
        loaded,
        signature: facts.signature.clone(),
        arguments,
        devices: facts.devices.clone(),
        replica_count: facts.replica_count,
        partition_count: facts.partition_count,
        name: facts.name.clone(),
        options: facts.options.clone(),
        from_cache,
        layouts: OnceLock::new(),
    })))
}

impl Runtime {
    /// What compiled programs depend on here. One of the `known` plugins may save
    /// reading the loaded one's file.
    pub(super) fn surroundings(&self, known: &[PluginFile]) -> Result<&Surroundings> {
        self.surroundings.get_or_try_init(|| {
            let seen = self.plugin_stat.clone()?;
            let plugin = PluginFile::of(&self.plugin.path, &seen, known)?;
            let device_kind = self.devices.first().map(|device| device.kind.clone()).unwrap_or_default();
            Ok(Surroundings {
                platform: self.info.platform.clone(),
                platform_version: self.info.platform_version.clone(),
                api_version: self.info.api_version,
                plugin,
                cpu: crate::compile::identity::CpuFeatures::here(),
                device_kind,
                device_count: self.devices.len(),
            })
        })
    }
}
