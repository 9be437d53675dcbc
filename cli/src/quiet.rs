//! XLA's plugins print progress messages to standard error unless a variable
//! of the environment says that warnings are enough.

use std::env;
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
