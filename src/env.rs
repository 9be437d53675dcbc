//! The environment variables that the library reads, all of them, in one place.
//!
//! In a privileged process (setuid, setgid, file capabilities) every one reads
//! as unset: otherwise whoever starts the process could make it load code.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::{Code, Error, Origin, Result};

/// Platform that an initialize without arguments asks for.
pub const PLATFORM: &str = "CYXLA_PLATFORM";
/// Plugin library that an initialize without a path loads.
pub const PLUGIN: &str = "CYXLA_PLUGIN";
/// Options that an initialize without options uses.
pub const OPTIONS: &str = "CYXLA_OPTIONS";
/// XLA's own variable, read by the plugin.
pub const XLA_FLAGS: &str = "XLA_FLAGS";
const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
const HOME: &str = "HOME";

/// The value of a variable; unset, empty and privileged all read as `None`.
pub fn value(name: &str) -> Option<OsString> {
    // SAFETY: getauxval reads what the kernel told the process at its start.
    let privileged = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    std::env::var_os(name).filter(|value| !privileged && !value.is_empty())
}

/// The value of a variable that has to be UTF-8 text.
pub fn text(name: &str) -> Result<Option<String>> {
    let Some(value) = value(name) else { return Ok(None) };
    value.into_string().map(Some).map_err(|value| {
        let message = format!("the environment variable {name} is not UTF-8: {value:?}");
        Error::new(Code::InvalidArgument, Origin::System, message)
    })
}

/// The user's data folder: `XDG_DATA_HOME`, else `~/.local/share`. A relative
/// value counts as unset, as the XDG rules say.
pub fn data_home() -> Option<PathBuf> {
    let absolute = |name| value(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(XDG_DATA_HOME).or_else(|| absolute(HOME).map(|home| home.join(".local/share")))
}
