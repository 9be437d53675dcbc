//! Compiles by way of the executable cache, if there is one.

use std::path::Path;

use super::saving::{facts, load, serialized};
use super::{Executable, Runtime};
use crate::compile::CompileOptions;
use crate::compile::cache::{self, Cache, Key, KeyParts};
use crate::compile::saved::Saved;
use crate::env;
use crate::error::{Code, Result};
use crate::program::Program;

/// The place in a cache that a program has.
pub struct Place {
    cache: Cache,
    key: Key,
}

/// The place of a program that is to be compiled with these options, of which
/// `serialized` is what the plugin gets; `None` without a cache.
pub fn place(
    runtime: &Runtime,
    program: &Program,
    options: &CompileOptions,
    serialized: &[u8],
) -> Result<Option<Place>> {
    let Some(cache) = cache_of(options)? else { return Ok(None) };
    // Without knowing what the process runs, nothing can be found or kept.
    let here = runtime.surroundings(|path, stat| cache.plugin_file(path, stat));
    let Ok(surroundings) = here else { return Ok(None) };
    // Programs of gradients are in the same file.
    let code = &program.contents().code;
    let parameters = program.parameters(&surroundings.platform)?;
    // The plugin is not told the device of a portable program.
    let devices = &options.devices;
    let in_place = if options.results_in_place { "in place " } else { "" };
    let platforms = program.platforms();
    let mut chosen = format!("{code:?} {platforms:?} {parameters:?} {devices:?} {in_place}").into_bytes();
    chosen.extend_from_slice(serialized);
    let key = Key::new(&KeyParts {
        program: program.bytes(),
        options: &chosen,
        surroundings,
        environment: &runtime.environment,
    });
    Ok(Some(Place { cache, key }))
}

/// The cache that the caller asks for, or else the environment.
fn cache_of(options: &CompileOptions) -> Result<Option<Cache>> {
    match &options.cache_dir {
        // An empty text turns it off.
        Some(folder) if folder.is_empty() => Ok(None),
        Some(folder) => Cache::open(Path::new(folder), options.cache_size).map(Some),
        None => Ok(in_environment(options.cache_size)),
    }
}

/// The cache that the environment asks for. A variable that is no good is no reason not
/// to compile.
fn in_environment(size: u64) -> Option<Cache> {
    let folder = env::value(env::CACHE_DIR)?;
    Cache::open(Path::new(&folder), size).ok()
}

/// The cache that the environment asks for, of the usual size.
pub fn of_environment() -> Option<Cache> {
    in_environment(cache::DEFAULT_SIZE)
}

impl Place {
    /// The executable in the cache, loaded; `None` if there is none that loads.
    pub fn get(&self, runtime: &'static Runtime) -> Option<Executable> {
        let saved = self.cache.get(&self.key)?;
        match load(runtime, saved, true) {
            Ok(executable) => Some(executable),
            Err(error) => {
                // It will load another time, when there is memory.
                if error.code() != Code::ResourceExhausted {
                    self.cache.remove(&self.key);
                }
                None
            }
        }
    }

    /// Keeps an executable in the cache. What cannot be kept is compiled again the
    /// next time.
    pub fn keep(&self, executable: &Executable) {
        let keep = || {
            let made_in =
                executable.0.runtime.surroundings(|path, stat| self.cache.plugin_file(path, stat))?;
            let serialized = serialized(&executable.0)?;
            self.cache.put(&self.key, &Saved::new(facts(executable, made_in), &serialized))
        };
        let _: Result<()> = keep();
    }
}
