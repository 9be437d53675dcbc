//! Packages that declare a plugin for libcyxla by an entry point.
//!
//! A manifest beside the module describes the plugin as data. Without one the
//! environment's own interpreter imports the module, in a process of its own.

use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use super::distribution::Distribution;
use super::entry_points::Entry;
use super::environment::Environment;
use super::path::Folder;
use super::question::{self, Question, Said, Silence};
use crate::discover::{Found, Search, files, manifest};

/// A manifest in the folder of the module that an entry point names.
const MANIFEST: &str = "cyxla_plugin.json";

/// The entry points of one environment, as they are looked at.
pub struct Asking<'a> {
    environment: &'a Environment,
    folders: &'a [Folder],
    deadline: Instant,
    /// Why the interpreter is not asked again, and what it should have been asked.
    broken: Option<String>,
    not_asked: Vec<String>,
}

impl<'a> Asking<'a> {
    pub fn new(environment: &'a Environment, folders: &'a [Folder], deadline: Instant) -> Asking<'a> {
        Asking { environment, folders, deadline, broken: None, not_asked: Vec::new() }
    }

    /// Adds what the packages of a folder declare.
    pub fn add(&mut self, search: &mut Search, folder: &Folder, distributions: &mut [Distribution]) {
        for distribution in distributions {
            let entries = &distribution.entry_points;
            if entries.plugins.is_empty() && entries.problems.is_empty() {
                continue;
            }
            distribution.read_headers();
            let package = super::described(Some(distribution), &folder.path);
            for problem in &distribution.entry_points.problems {
                search.fail(&package, problem);
            }
            for entry in &distribution.entry_points.plugins {
                let origin = format!("entry point '{} = {}' of {package}", entry.name, entry.module);
                self.add_entry(search, folder, distribution, entry, &origin);
            }
        }
    }

    fn add_entry(
        &mut self,
        search: &mut Search,
        folder: &Folder,
        distribution: &Distribution,
        entry: &Entry,
        origin: &str,
    ) {
        let place = Place::of(&entry.module, self.folders);
        if let Some(path) = place.manifest {
            match manifest::read(&path) {
                Ok(said) => {
                    let origin = format!("{} ({origin})", path.display());
                    let version = said.version.or_else(|| distribution.version.clone());
                    add(search, said.platform, said.library, origin, version, said.options);
                }
                Err(problem) => search.fail(format!("{} ({origin})", path.display()), problem),
            }
            return;
        }
        match self.ask(search, folder, distribution, entry, place.file.as_deref()) {
            Ok(Said { platform, library, options }) => {
                let library = tidied(library);
                let version = distribution.version.clone();
                add(search, platform, library, origin.to_owned(), version, options);
            }
            Err(Some(problem)) => search.fail(origin, problem),
            Err(None) => self.not_asked.push(distribution.name.clone()),
        }
    }

    /// What the module says; `None` for an error that is the interpreter's.
    fn ask(
        &mut self,
        search: &Search,
        folder: &Folder,
        distribution: &Distribution,
        entry: &Entry,
        file: Option<&Path>,
    ) -> Result<Said, Option<String>> {
        let Some(interpreter) = &self.environment.interpreter else {
            self.broken.get_or_insert_with(|| "it has no interpreter".into());
            return Err(None);
        };
        if self.broken.is_some() {
            return Err(None);
        }
        let question = Question {
            interpreter: interpreter.clone(),
            module: entry.module.clone(),
            folder: folder.path.clone(),
            way: folder.way,
            files: [distribution.identity(), file.and_then(files::identity)],
        };
        let left = self.deadline.saturating_duration_since(Instant::now());
        match question::ask(&question, left.min(search.surroundings.one_answer)) {
            Some(Ok(said)) => Ok(said),
            Some(Err(Silence::Module(problem))) => {
                Err(Some(format!("its module {}: {problem}", entry.module)))
            }
            Some(Err(Silence::Interpreter(problem))) => {
                self.broken = Some(format!("{}: {problem}", interpreter.display()));
                Err(None)
            }
            None => {
                let seconds = search.surroundings.all_answers.as_secs_f32();
                Err(Some(format!("it was not asked: asking packages has taken {seconds:.1} s already")))
            }
        }
    }

    /// Reports an interpreter that fails once, however many packages it hides.
    pub fn report_interpreter(self, search: &mut Search) {
        if let Some(broken) = self.broken {
            let packages = self.not_asked.join(", ");
            let problem = format!("{broken}; so these packages were not asked for their plugins: {packages}");
            search.fail_at(&self.environment.root, problem);
        }
    }
}

fn add(
    search: &mut Search,
    platform: String,
    library: PathBuf,
    origin: String,
    version: Option<String>,
    options: crate::options::Options,
) {
    let mut found = Found::new(platform, library, origin);
    found.version = version;
    found.options = options;
    search.add(found);
}

/// Where a module is, as far as folders tell.
#[derive(Default)]
struct Place {
    /// The file that holds its code.
    file: Option<PathBuf>,
    /// The manifest that would describe it.
    manifest: Option<PathBuf>,
}

impl Place {
    /// The place in the first folder that has the module: a package, or a plain file.
    fn of(module: &str, folders: &[Folder]) -> Place {
        let name: PathBuf = module.split('.').collect();
        for folder in folders {
            let package = folder.path.join(&name);
            if package.is_dir() {
                let file = Some(package.join("__init__.py"));
                return Place { file, manifest: existing(package.join(MANIFEST)) };
            }
            let plain = package.with_extension("py");
            if plain.is_file() {
                // A manifest beside a module that is in no package would be everybody's.
                let is_inside = name.components().count() > 1;
                let beside = existing(plain.with_file_name(MANIFEST));
                return Place { file: Some(plain), manifest: beside.filter(|_| is_inside) };
            }
        }
        Place::default()
    }
}

fn existing(path: PathBuf) -> Option<PathBuf> {
    path.symlink_metadata().is_ok().then_some(path)
}

/// The path without its `..`, when that leads to the same file: authors write
/// `join(dirname(__file__), "..", name)`.
fn tidied(path: PathBuf) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(tidy.pop()),
            part => tidy.push(part),
        }
    }
    let is_same = files::number(&tidy).is_some_and(|number| files::number(&path) == Some(number));
    if is_same { tidy } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::scratch::Scratch;

    #[test]
    fn a_path_is_tidied_only_if_it_leads_to_the_same_file() {
        let folder = Scratch::new("tidy");
        folder.write("a/p.so", "");
        folder.write("b/c/d/x", "");
        std::os::unix::fs::symlink("../b/c", folder.path().join("a/link")).unwrap();
        folder.write("b/p.so", "");
        let at = |name: &str| folder.path().join(name);
        assert_eq!(tidied(at("b/c/../p.so")), at("b/p.so"));
        assert_eq!(tidied(at("a/link/../p.so")), at("a/link/../p.so"));
        assert_eq!(tidied(at("b/c/../gone.so")), at("b/c/../gone.so"));
    }
}
