//! XLA's plugins print progress messages to standard error unless a variable
//! of the environment says that warnings are enough.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Read by the plugins when they are loaded.
const LEVEL: &str = "TF_CPP_MIN_LOG_LEVEL";
const WARNINGS: &str = "1";

/// Sets the variable for a child, unless the user has set it.
pub fn child(command: &mut Command) {
    if env::var_os(LEVEL).is_none() {
        command.env(LEVEL, WARNINGS);
    }
}

/// Sets the variable for this process, unless the user has set it: the process
/// starts itself anew, since a running one cannot change its environment
/// safely. Where that fails it goes on, with more messages.
pub fn this_process() {
    if env::var_os(LEVEL).is_some() {
        return;
    }
    let mut arguments = env::args_os();
    let name = arguments.next().unwrap_or_else(|| OsString::from("cyxla"));
    if let Ok(program) = env::current_exe() {
        let _ = Command::new(program).arg0(name).args(arguments).env(LEVEL, WARNINGS).exec();
    }
}
