//! The library file of a plugin and the libraries that it needs, by reading files.

use std::path::{Path, PathBuf};

use cyxla::plugin::image::Image;
use cyxla::plugin::needs::{self, Missing, Needs};
use cyxla::plugin::{ENTRY, elf, packages, preload};
use serde_json::{Value, json};

use super::{Check, State};

const FILE: &str = "file";
const LIBRARIES: &str = "libraries";

/// Whether the file can be a plugin.
pub fn check(path: &Path) -> Check {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if let Err(error) = elf::check(&absolute) {
        return Check::of_error(FILE, &error);
    }
    let size = std::fs::metadata(path).map_or(0, |found| found.len());
    let megabytes = size.div_ceil(1_000_000);
    match problem_of_tables(&absolute) {
        Some(problem) => Check::new(FILE, State::Problem, problem),
        None => Check::new(FILE, State::Ok, format!("a shared library for this machine, {megabytes} MB")),
    }
    .fact("size", size)
}

/// Why the file cannot be a plugin, in words that do not repeat its path.
pub fn problem(path: &Path) -> Option<String> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let Err(error) = elf::check(&absolute) else { return problem_of_tables(&absolute) };
    let (message, shown) = (error.message(), absolute.display());
    let beginnings = [format!("{shown} is no plugin: "), format!("cannot open the plugin {shown}: ")];
    let reason = beginnings.iter().find_map(|beginning| message.strip_prefix(beginning));
    Some(reason.unwrap_or(message).to_owned())
}

/// What is wrong with a shared library for this machine.
fn problem_of_tables(path: &Path) -> Option<String> {
    match Image::open(path).and_then(|image| image.exports(ENTRY)) {
        Ok(Some(false)) => Some(format!("a shared library but no PJRT plugin: it does not export {ENTRY}")),
        Ok(_) => None,
        Err(error) => Some(format!("its tables cannot be read: {error}")),
    }
}

/// Whether the libraries that it needs are there, and those that these need. For a
/// CUDA plugin those in `folders` of Python packages are loaded before it.
pub fn libraries(path: &Path, folders: &[PathBuf]) -> Check {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let present = match preload::is_for_cuda(None, &absolute) {
        true => preload::present(&absolute, folders),
        false => Vec::new(),
    };
    let Needs { found, missing, unreadable } = needs::of(&absolute, &present);
    let count = found.len();
    let mut check = if missing.is_empty() && unreadable.is_empty() {
        Check::new(LIBRARIES, State::Ok, format!("all {count} that it needs are there"))
    } else if missing.is_empty() {
        Check::new(LIBRARIES, State::Problem, format!("{} cannot be read", unreadable.len()))
    } else {
        Check::new(LIBRARIES, State::Problem, format!("{} of those that it needs are missing", missing.len()))
    };
    check.notes.extend(missing.iter().map(|one| line(one, &absolute)));
    check.notes.extend(unreadable.iter().map(|(path, reason)| format!("{}: {reason}", path.display())));
    let listed: Vec<Value> = missing.iter().map(to_json).collect();
    let found: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
    check.fact("missing", listed).fact("found", found)
}

fn line(missing: &Missing, plugin: &Path) -> String {
    let by = if missing.wanted_by == plugin {
        String::new()
    } else {
        format!(", wanted by {}", missing.wanted_by.display())
    };
    let advice = packages::of(&missing.name).map_or(String::new(), |one| format!(": {}", one.advice()));
    format!("{}{by}{advice}", missing.name)
}

fn to_json(missing: &Missing) -> Value {
    let package = packages::of(&missing.name);
    let some = |text: &'static str| (!text.is_empty()).then_some(text);
    json!({
        "name": missing.name,
        "wanted_by": missing.wanted_by.to_string_lossy(),
        "wheel": package.and_then(|package| some(package.wheel)),
        "debian": package.and_then(|package| some(package.debian)),
    })
}

/// The loader has the last word: where it loaded the plugin, nothing was missing.
pub fn correct_libraries(checks: &mut [Check]) {
    let was_loaded = checks.iter().any(|check| check.name == "version" && check.state == State::Ok);
    if !was_loaded {
        return;
    }
    for check in checks.iter_mut().filter(|check| check.name == LIBRARIES && check.state == State::Problem) {
        check.state = State::Note;
        check.text += ", by the usual rules; the loader found them";
    }
}
