//! The environment variables that the library reads, all of them, in one place.
//!
//! In a privileged process (setuid, setgid, file capabilities) every one reads
//! as unset: otherwise whoever starts the process could make it load code. The one that
//! plugins read is looked at all the same.

use std::ffi::OsString;

use crate::error::{Code, Error, Origin, Result};

/// Platform that an initialize without arguments asks for.
pub const PLATFORM: &str = "CYXLA_PLATFORM";
/// Plugin library that an initialize without a path loads.
pub const PLUGIN: &str = "CYXLA_PLUGIN";
/// Options that an initialize without options uses.
pub const OPTIONS: &str = "CYXLA_OPTIONS";
/// Folders with plugins or manifests, divided by colons.
pub const PLUGIN_DIRS: &str = "CYXLA_PLUGIN_DIRS";
/// The Python interpreter or environment to search, instead of the automatic ones.
pub const PYTHON: &str = "CYXLA_PYTHON";
/// The folder of the executable cache, which is off without it.
pub const CACHE_DIR: &str = "CYXLA_CACHE_DIR";
/// JAX's variable: `name:path,name:path`.
pub const PJRT_NAMES: &str = "PJRT_NAMES_AND_LIBRARY_PATHS";
/// The TPU plugin's library.
pub const TPU_LIBRARY_PATH: &str = "TPU_LIBRARY_PATH";
/// The Python environment that a shell has activated.
pub const VIRTUAL_ENV: &str = "VIRTUAL_ENV";
/// The same, of conda.
pub const CONDA_PREFIX: &str = "CONDA_PREFIX";
/// Folders that Python imports from before all others.
pub const PYTHONPATH: &str = "PYTHONPATH";
/// Makes Python leave out the packages in the user's home folder.
pub const PYTHONNOUSERSITE: &str = "PYTHONNOUSERSITE";
/// Where programs are looked for.
pub const PATH: &str = "PATH";
/// The user's home folder.
pub const HOME: &str = "HOME";
/// The user's configuration, by the XDG rules.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// The system's configuration.
pub const XDG_CONFIG_DIRS: &str = "XDG_CONFIG_DIRS";
/// The user's data.
pub const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
/// The system's data.
pub const XDG_DATA_DIRS: &str = "XDG_DATA_DIRS";
/// XLA's own variable, read by the plugin.
pub const XLA_FLAGS: &str = "XLA_FLAGS";

/// The flags of the TPU's compiler, read by its plugin.
pub const LIBTPU_INIT_ARGS: &str = "LIBTPU_INIT_ARGS";
/// How many threads the CPU's plugins make and generate code for.
pub const NPROC: &str = "NPROC";
/// The same, which goes before it.
pub const PJRT_NPROC: &str = "PJRT_NPROC";

/// Whether whoever started the process has fewer rights than it has.
pub fn is_privileged() -> bool {
    // SAFETY: getauxval reads what the kernel told the process at its start.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Where the kernel put the program's name, at the far end of the main thread's stack;
/// `None` if it does not say.
pub fn end_of_main_stack() -> Option<usize> {
    // SAFETY: as above.
    let end = unsafe { libc::getauxval(libc::AT_EXECFN) };
    usize::try_from(end).ok().filter(|&end| end != 0)
}

/// The value of a variable; unset, empty and privileged all read as `None`.
pub fn value(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty() && !is_privileged())
}

/// The value of a variable that the plugin reads by itself, in a privileged process
/// too; unset and empty read as `None`.
pub fn seen_by_plugin(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The value of a variable that has to be UTF-8 text.
pub fn text(name: &str) -> Result<Option<String>> {
    let Some(value) = value(name) else { return Ok(None) };
    value.into_string().map(Some).map_err(|value| {
        let message = format!("the environment variable {name} is not UTF-8: {value:?}");
        Error::new(Code::InvalidArgument, Origin::System, message)
    })
}
