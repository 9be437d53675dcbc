//! Whether an installed plugin is the pinned one, bit by bit.

use std::fs;
use std::io;
use std::path::Path;

use cyxla::error::Result;
use serde_json::Value;

use super::hash;
use super::interrupt::Interrupt;
use super::pin::{Pin, file_name};
use super::problem::{Doing, problem};
use super::progress::Progress;

/// What stands in the place of an installed plugin.
#[derive(Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Absent,
    /// The pinned plugin.
    Intact,
    /// Something else, and why.
    Damaged(String),
}

/// Looks at the folder of an installed plugin.
pub fn state(folder: &Path, pin: &Pin, progress: &Progress, interrupt: &Interrupt) -> Result<State> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Absent),
        Err(error) => return Err(problem(Doing::Reading, folder, &error)),
        Ok(_) => {}
    }
    let damaged = |why: String| Ok(State::Damaged(format!("{}: {why}", folder.display())));
    let manifest = match fs::read(folder.join("plugin.json")) {
        Ok(bytes) => bytes,
        Err(error) => return damaged(format!("plugin.json cannot be read ({error})")),
    };
    match serde_json::from_slice::<Value>(&manifest) {
        Ok(value) if value == pin.manifest() => {}
        Ok(_) => return damaged("plugin.json describes something else".to_owned()),
        Err(error) => return damaged(format!("plugin.json is not JSON ({error})")),
    }
    for extra in pin.extras {
        let name = file_name(extra);
        if !folder.join(name).is_file() {
            return damaged(format!("{name} is missing"));
        }
    }
    let name = pin.library_name();
    let library = folder.join(name);
    match fs::metadata(&library) {
        Ok(facts) if !facts.is_file() => return damaged(format!("{name} is not a file")),
        Ok(facts) if facts.len() != pin.library_size => {
            let (is, should) = (facts.len(), pin.library_size);
            return damaged(format!("{name} has {is} bytes instead of {should}"));
        }
        Ok(_) => {}
        Err(error) => return damaged(format!("{name} cannot be read ({error})")),
    }
    match hash::file(&library, progress, "checking the plugin", interrupt) {
        Ok(sha256) if sha256 == pin.library_sha256 => Ok(State::Intact),
        Ok(_) => damaged(format!("{name} has another content than the package's")),
        Err(error) if interrupt.came() => Err(error),
        Err(error) => damaged(error.message().to_owned()),
    }
}
