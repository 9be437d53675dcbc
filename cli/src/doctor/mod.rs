//! What is wrong with a plugin, found out without loading it into this process.
//!
//! | module | job |
//! |---|---|
//! | `report` | what was found, as JSON |
//! | `text` | the same for people |
//! | `file` | the library file, and the libraries that it needs |
//! | `steps` | the child's part: one thing tried with the plugin |
//! | `tried` | the parent's part: what each try tells |

pub mod file;
mod report;
pub mod steps;
pub mod text;
mod tried;

use std::path::PathBuf;
use std::time::Duration;

use cyxla::options::Options;
use cyxla::plugin::xla_flags;

pub use report::{Check, Report, State};

/// A plugin to look at.
pub struct Subject {
    /// Empty when nothing declares it.
    pub platform: String,
    pub path: PathBuf,
    pub origin: String,
    pub version: Option<String>,
    /// Create options that its package asks for.
    pub options: Options,
    /// Whether it is the one that would be used.
    pub is_chosen: bool,
    /// Why it is not.
    pub why_not: Option<String>,
    /// What shows that its platform has no device here.
    pub absent_device: Option<String>,
    /// What speaks against it without a look at the file.
    pub problem: Option<String>,
}

/// Looks at a plugin. `folders` are those of Python packages; each try may take so
/// long.
pub fn examine(subject: Subject, folders: &[PathBuf], limit: Duration) -> Report {
    let mut checks = Vec::new();
    checks.extend(subject.problem.as_ref().map(|problem| Check::new("found", State::Problem, problem)));
    checks.extend(subject.absent_device.as_ref().map(|absent| Check::new("device", State::Note, absent)));
    let file = file::check(&subject.path);
    let can_be_loaded = file.state != State::Problem;
    checks.push(file);
    if can_be_loaded {
        let libraries = file::libraries(&subject.path, folders);
        let flags = flags(&subject);
        let without_flags = flags.as_ref().is_some_and(|check| check.state == State::Problem);
        let tries = tried::Tries::new(&subject, limit, without_flags);
        checks.push(libraries);
        checks.extend(flags);
        checks.extend(tries.run());
        file::correct_libraries(&mut checks);
    }
    Report { subject, checks }
}

/// What the variable XLA_FLAGS does to the plugin; nothing when it is not set.
fn flags(subject: &Subject) -> Option<Check> {
    let value = std::env::var_os("XLA_FLAGS").filter(|value| !value.is_empty())?;
    Some(match xla_flags::check(&subject.path) {
        Ok(()) => Check::new("XLA_FLAGS", State::Ok, format!("well formed: {}", value.to_string_lossy())),
        Err(error) => Check::of_error("XLA_FLAGS", &error).note("the plugin was tried without it"),
    })
}
