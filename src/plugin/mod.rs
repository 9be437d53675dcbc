//! Loads a plugin's library, once and for good, and reads what it says of itself.

pub mod child;
#[cfg(target_arch = "x86_64")]
pub mod cpuid;
pub mod elf;
pub mod image;
mod loader_cache;
pub mod needs;
pub mod packages;
mod path;
pub mod preload;
#[cfg(test)]
mod test_library;
pub mod xla_flags;

use std::error::Error as _;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{Api, Attribute, sys};

/// A loaded plugin: its path and its function table.
pub struct Plugin {
    /// The library, as an absolute path that goes the way the caller gave it.
    pub path: PathBuf,
    /// The plugin's functions.
    pub api: &'static Api,
    /// What the plugin says of itself, such as its StableHLO versions.
    pub attributes: Vec<Attribute>,
    /// What became of the CUDA libraries; `None` when the plugin needs none.
    pub preload: Option<preload::Report>,
}

/// The function by which a plugin hands out its functions.
pub const ENTRY: &str = "GetPjrtApi";

impl Plugin {
    /// Loads the library at `path` and initializes the plugin in it.
    ///
    /// For a CUDA plugin the CUDA libraries of the nvidia wheels are loaded first:
    /// `platform` is what the plugin is declared for, and `folders` gives the folders
    /// of Python packages to look into, besides that where the plugin is.
    ///
    /// The library is never unloaded: plugins leave threads and exit handlers
    /// behind that would run in unmapped memory. Loading the same file again is
    /// cheap and gives the same table.
    pub fn load(path: &Path, platform: Option<&str>, folders: impl Fn() -> Vec<PathBuf>) -> Result<Plugin> {
        let path = path::absolute(path)?;
        let load = || {
            elf::check(&path)?;
            xla_flags::check(&path)?;
            let preload = preload::is_for_cuda(platform, &path).then(|| preload::cuda(&path, &folders()));
            let attach = |error| preload.iter().fold(error, |error, report| report.attach(error));
            let api = table(&path).map_err(attach)?;
            api.initialize_plugin().map_err(attach)?;
            let attributes = api.attributes().map_err(attach)?;
            let mut plugin = Plugin { path: path.clone(), api, attributes, preload };
            // Neither its platform nor its path said that it is for CUDA.
            if plugin.preload.is_none() && plugin.attribute("cuda_version").is_some() {
                plugin.preload = Some(preload::cuda(&path, &folders()));
            }
            Ok(plugin)
        };
        load().map_err(|error: Error| error.with("plugin.path", path.to_string_lossy()))
    }

    /// Loads the library at `path` and asks the plugin in it what it is, without
    /// initializing it: some plugins look for their devices then, for minutes.
    pub fn describe(path: &Path) -> Result<Plugin> {
        let path = path::absolute(path)?;
        elf::check(&path)?;
        let api = table(&path)?;
        let attributes = api.attributes()?;
        Ok(Plugin { path, api, attributes, preload: None })
    }
}

/// Loads a library for good and gets its function table.
fn table(path: &Path) -> Result<&'static Api> {
    let library = open(path)?;
    // SAFETY: GetPjrtApi has this type in every version of the PJRT ABI, and
    // the library stays mapped.
    let table = unsafe {
        let entry = library.get::<unsafe extern "C" fn() -> *const sys::PJRT_Api>(ENTRY.as_bytes());
        let entry = entry.map_err(|_| no_entry(path))?;
        entry()
    };
    std::mem::forget(library);
    if table.is_null() {
        let message = format!("GetPjrtApi of {} returned no API table", path.display());
        return Err(Error::new(Code::Internal, Origin::Plugin, message));
    }
    checked(table)
}

/// The checked copy of a table, which lives as long as the process: made once for a
/// table, however often its plugin is loaded and its client fails.
fn checked(table: *const sys::PJRT_Api) -> Result<&'static Api> {
    static CHECKED: Mutex<Vec<(usize, &'static Api)>> = Mutex::new(Vec::new());
    let mut known = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&(_, api)) = known.iter().find(|(address, _)| *address == table.addr()) {
        return Ok(api);
    }
    // SAFETY: the plugin returned the table, and its library is never unmapped.
    let api = unsafe { Api::from_table(table) }?;
    known.push((table.addr(), api));
    Ok(api)
}

fn open(path: &Path) -> Result<Library> {
    // SAFETY: running a library's initializers is what loading a plugin means;
    // the caller named the file. RTLD_LOCAL keeps its symbols from other
    // libraries, RTLD_NODELETE keeps it mapped.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | libc::RTLD_NODELETE) }.map_err(|error| {
        // The error's own text is only "dlopen failed"; the loader's is its source.
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        let message = format!("cannot load {}: {reason}", path.display());
        let error = Error::new(Code::FailedPrecondition, Origin::Loader, message);
        if reason.contains("cannot open shared object file") { explain_missing(error, path) } else { error }
    })
}

/// Says which libraries are missing, all of them, and which packages have them: the
/// loader stops at the first.
fn explain_missing(error: Error, path: &Path) -> Error {
    let missing = needs::of(path, &[]).missing;
    let mut hint = "the library named in the message is needed by the plugin and was not found; install it or add its folder to LD_LIBRARY_PATH".to_owned();
    // Writing to a string cannot fail.
    if missing.len() > 1 {
        let names: Vec<&str> = missing.iter().map(|missing| missing.name.as_str()).collect();
        let _ = write!(hint, "; missing are {}", names.join(", "));
    }
    if let Some(advice) = packages::advice(missing.iter().map(|missing| missing.name.as_str())) {
        let _ = write!(hint, "; {advice}");
    }
    error.hint(hint)
}

fn no_entry(path: &Path) -> Error {
    let message =
        format!("{} is a shared library but no PJRT plugin: it has no symbol GetPjrtApi", path.display());
    Error::new(Code::InvalidArgument, Origin::Caller, message)
        .hint("name the plugin's own library, such as pjrt_c_api_cpu_plugin.so")
}

impl Plugin {
    /// The file's name without its folder.
    pub fn file_name(&self) -> OsString {
        self.path.file_name().unwrap_or_default().to_owned()
    }

    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// The StableHLO versions that the plugin accepts, lowest and highest, as
    /// `(0.9.0, 1.20.0)`.
    pub fn stablehlo_range(&self) -> Option<(String, String)> {
        let version = |name: &str| {
            let numbers = self.attribute(name)?.ints()?;
            Some(numbers.iter().map(i64::to_string).collect::<Vec<_>>().join("."))
        };
        Some((version("stablehlo_minimum_version")?, version("stablehlo_current_version")?))
    }
}
