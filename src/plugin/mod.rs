//! Loads a plugin's library, once and for good, and reads what it says of itself.

pub mod child;
mod elf;
mod path;
pub mod xla_flags;

use std::error::Error as _;
use std::ffi::{CStr, OsString};
use std::path::{Path, PathBuf};

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
}

const ENTRY: &CStr = c"GetPjrtApi";

impl Plugin {
    /// Loads the library at `path` and initializes the plugin in it.
    ///
    /// The library is never unloaded: plugins leave threads and exit handlers
    /// behind that would run in unmapped memory. Loading the same file again is
    /// cheap and gives the same table.
    pub fn load(path: &Path) -> Result<Plugin> {
        let path = path::absolute(path)?;
        elf::check(&path)
            .and_then(|()| load(path.clone()))
            .map_err(|error| error.with("plugin.path", path.to_string_lossy()))
    }
}

fn load(path: PathBuf) -> Result<Plugin> {
    let library = open(&path)?;
    // SAFETY: GetPjrtApi has this type in every version of the PJRT ABI, and
    // the library stays mapped.
    let table = unsafe {
        let entry = library.get::<unsafe extern "C" fn() -> *const sys::PJRT_Api>(ENTRY.to_bytes_with_nul());
        let entry = entry.map_err(|_| no_entry(&path))?;
        entry()
    };
    std::mem::forget(library);
    if table.is_null() {
        let message = format!("GetPjrtApi of {} returned no API table", path.display());
        return Err(Error::new(Code::Internal, Origin::Plugin, message));
    }
    // SAFETY: the plugin returned the table, and its library is never unmapped.
    let api = unsafe { Api::from_table(table) }?;
    api.initialize_plugin()?;
    let attributes = api.attributes()?;
    Ok(Plugin { path, api, attributes })
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
        if reason.contains("cannot open shared object file") {
            error.hint("the library named in the message is needed by the plugin and was not found; install it or add its folder to LD_LIBRARY_PATH")
        } else {
            error
        }
    })
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

    /// The StableHLO versions that the plugin accepts, lowest and highest, as
    /// `(0.9.0, 1.20.0)`.
    pub fn stablehlo_range(&self) -> Option<(String, String)> {
        let version = |name: &str| {
            let numbers = self.attributes.iter().find(|attribute| attribute.name == name)?.ints()?;
            Some(numbers.iter().map(i64::to_string).collect::<Vec<_>>().join("."))
        };
        Some((version("stablehlo_minimum_version")?, version("stablehlo_current_version")?))
    }
}
