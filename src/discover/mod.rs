//! Where plugins come from. Reads variables and small files; opens no library.
//!
//! The search order is a contract (`docs/discovery.md`): each source below is
//! asked in turn, a broken item becomes a line in the list, and none hides another.

pub mod devices;
mod files;
mod folders;
pub mod installed;
mod json;
mod manifest;
mod names;
mod order;
mod python;
pub mod registered;
#[cfg(test)]
pub(crate) mod scratch;
mod surroundings;
mod variables;

use std::path::{Path, PathBuf};

pub use surroundings::Surroundings;

use crate::options::Options;

/// A plugin that was found, usable or not.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The platform that it is declared for; empty when nothing declares it.
    pub platform: String,
    /// The library, as it was found: links in the path are kept.
    pub path: PathBuf,
    /// What led to it: a variable, a file or a package.
    pub origin: String,
    /// The version that its package declares.
    pub version: Option<String>,
    /// Create options that its package asks for.
    pub options: Options,
    /// Why it cannot be used; `None` when nothing speaks against it.
    pub problem: Option<String>,
    /// Whether it is loaded when nobody chooses.
    pub is_default: bool,
    /// Why it is not; `None` for the one that is.
    pub why_not_default: Option<String>,
    /// What shows that the platform has no device here; `None` when nothing does.
    pub absent_device: Option<String>,
    rank: Rank,
}

/// Where a plugin stands among those of its platform.
#[derive(Clone, PartialEq, Debug)]
struct Rank {
    /// The number of the folder or variable, in the order of the search.
    place: usize,
    /// Whether somebody declares it, or only its file name tells.
    is_declared: bool,
    /// Ten times the version of the vendor's software, or 0.
    generation: u32,
}

impl Found {
    fn new(platform: impl Into<String>, path: PathBuf, origin: impl Into<String>) -> Found {
        Found {
            platform: platform.into(),
            problem: files::problem_of_library(&path),
            path,
            origin: origin.into(),
            version: None,
            options: Options::new(),
            is_default: false,
            why_not_default: None,
            absent_device: None,
            rank: Rank { place: 0, is_declared: true, generation: 0 },
        }
    }

    /// Found by the name of its file alone.
    fn by_name(mut self, generation: u32) -> Found {
        self.rank.is_declared = false;
        self.rank.generation = generation;
        self
    }
}

/// Something that is no plugin but went wrong while looking for them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The file, variable or package.
    pub subject: String,
    /// What is wrong with it.
    pub problem: String,
}

/// All that was found, the best first, and all that went wrong.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PluginList {
    /// The plugins in the order of selection.
    pub plugins: Vec<Found>,
    /// What is no plugin but went wrong.
    pub failures: Vec<Failure>,
    /// Every place that was looked at, in words.
    pub searched: Vec<String>,
    /// The folders of Python packages, in the order in which Python sees them.
    pub python_folders: Vec<PathBuf>,
}

/// Looks for plugins in every place that is known.
pub fn find() -> PluginList {
    find_in(&Surroundings::of_process())
}

/// Looks for plugins as a process with these surroundings would.
pub fn find_in(surroundings: &Surroundings) -> PluginList {
    let mut search = Search { surroundings, list: PluginList::default(), place: 0, registered: Vec::new() };
    variables::plugin(&mut search);
    variables::names_and_paths(&mut search);
    folders::manifests(&mut search);
    folders::plugin_dirs(&mut search);
    registered::find(&mut search);
    python::find(&mut search);
    variables::tpu_library_path(&mut search);
    installed::find(&mut search);
    order::finish(search.list, surroundings)
}

/// A search in progress.
struct Search<'a> {
    surroundings: &'a Surroundings,
    list: PluginList,
    place: usize,
    /// What the host registered: found again, it is not listed again.
    registered: Vec<(String, PathBuf)>,
}

impl Search<'_> {
    /// Begins the next variable or folder: what is added from now on ranks behind.
    fn next_place(&mut self) {
        self.place += 1;
    }

    /// Says that a place was looked at.
    fn searched(&mut self, words: impl Into<String>) {
        self.list.searched.push(words.into());
    }

    fn add(&mut self, mut found: Found) {
        let is_same =
            |(platform, path): &(String, PathBuf)| *platform == found.platform && *path == found.path;
        if self.registered.iter().any(is_same) {
            return;
        }
        found.rank.place = self.place;
        self.list.plugins.push(found);
    }

    fn fail(&mut self, subject: impl Into<String>, problem: impl Into<String>) {
        self.list.failures.push(Failure { subject: subject.into(), problem: problem.into() });
    }

    fn fail_at(&mut self, path: &Path, problem: impl Into<String>) {
        self.fail(path.display().to_string(), problem);
    }
}
