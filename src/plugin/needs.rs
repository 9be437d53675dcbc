//! Which libraries a plugin needs and does not get, found out as the dynamic loader
//! would, by reading files. The loader itself names only the first one missing.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

use super::elf::THIS_MACHINE;
use super::image::{Dynamic, Image};
use super::loader_cache::LoaderCache;
use crate::env;

/// A library that is needed and nowhere to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its name.
    pub name: String,
    /// The file that needs it.
    pub wanted_by: PathBuf,
}

/// What a library needs, itself and by way of what it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Every library that was found.
    pub found: Vec<PathBuf>,
    /// Every one that was not.
    pub missing: Vec<Missing>,
    /// Files that were found and could not be read, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// The loader's own folders, in its order on Debian, Fedora and their kin.
const DEFAULT_FOLDERS: &[&str] = &[
    #[cfg(target_arch = "x86_64")]
    "/lib/x86_64-linux-gnu",
    #[cfg(target_arch = "x86_64")]
    "/usr/lib/x86_64-linux-gnu",
    #[cfg(target_arch = "aarch64")]
    "/lib/aarch64-linux-gnu",
    #[cfg(target_arch = "aarch64")]
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];
const MOST_LIBRARIES: usize = 4096;

/// Resolves what the library at `path` needs. `present` are libraries that are
/// loaded before it, which answer to their own names.
pub fn of(path: &Path, present: &[PathBuf]) -> Needs {
    Search::new().run(path, present)
}

struct Loaded {
    path: PathBuf,
    dynamic: Dynamic,
    /// The position of the library that needed it first.
    wanted_by: Option<usize>,
}

struct Search {
    cache: LoaderCache,
    environment: Vec<PathBuf>,
    loaded: Vec<Loaded>,
    names: HashSet<String>,
    queue: VecDeque<usize>,
    needs: Needs,
}

impl Search {
    fn new() -> Search {
        let environment = env::value(LIBRARY_PATH).unwrap_or_default();
        let environment = environment.to_string_lossy();
        Search {
            cache: LoaderCache::read(),
            environment: environment
                .split([':', ';'])
                .filter(|_| !environment.is_empty())
                .map(|folder| if folder.is_empty() { "." } else { folder }.into())
                .collect(),
            loaded: Vec::new(),
            names: HashSet::new(),
            queue: VecDeque::new(),
            needs: Needs::default(),
        }
    }

    fn run(mut self, path: &Path, present: &[PathBuf]) -> Needs {
        for library in present {
            self.add(library.clone(), None);
        }
        // What is loaded already has been resolved already.
        self.queue.clear();
        self.needs = Needs::default();
        self.add(path.to_owned(), None);
        self.needs.found.clear();
        while let Some(position) = self.queue.pop_front() {
            for name in self.loaded[position].dynamic.needed.clone() {
                self.need(name, position);
            }
        }
        self.needs
    }

    fn need(&mut self, name: String, by: usize) {
        if !self.names.insert(name.clone()) || self.loaded.len() >= MOST_LIBRARIES {
            return;
        }
        match self.find(&name, by) {
            Some(path) => self.add(path, Some(by)),
            None => {
                let wanted_by = self.loaded[by].path.clone();
                self.needs.missing.push(Missing { name, wanted_by });
            }
        }
    }

    fn add(&mut self, path: PathBuf, wanted_by: Option<usize>) {
        match Image::open(&path).and_then(|image| image.dynamic()) {
            Ok(dynamic) => {
                self.names.extend(dynamic.soname.clone());
                self.queue.push_back(self.loaded.len());
                self.needs.found.push(path.clone());
                self.loaded.push(Loaded { path, dynamic, wanted_by });
            }
            Err(error) => self.needs.unreadable.push((path, error.to_string())),
        }
    }

    /// The file that the loader would take for a name.
    fn find(&self, name: &str, by: usize) -> Option<PathBuf> {
        let wanting = &self.loaded[by];
        if name.contains('/') {
            return expand(name, &wanting.path).into_iter().find(|path| fits(path));
        }
        let own = wanting.dynamic.runpath.as_deref().unwrap_or_default();
        let old = match wanting.dynamic.runpath {
            Some(_) => Vec::new(),
            None => self.old_folders(by),
        };
        let in_folder = |folder: &PathBuf| Some(folder.join(name)).filter(|path| fits(path));
        old.iter()
            .chain(&self.environment)
            .find_map(in_folder)
            .or_else(|| folders(own, &wanting.path).iter().find_map(in_folder))
            .or_else(|| self.cache.paths(name).iter().find(|path| fits(path)).cloned())
            .or_else(|| DEFAULT_FOLDERS.iter().map(PathBuf::from).find_map(|folder| in_folder(&folder)))
    }

    /// The old-style search paths of a library and of those on whose behalf it was
    /// loaded: unlike new-style ones they hold for what is needed by way of others.
    fn old_folders(&self, by: usize) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut next = Some(by);
        while let Some(position) = next {
            let Loaded { path, dynamic, wanted_by } = &self.loaded[position];
            if dynamic.runpath.is_none() {
                found.extend(folders(dynamic.rpath.as_deref().unwrap_or_default(), path));
            }
            next = *wanted_by;
        }
        found
    }
}

const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

fn folders(list: &str, library: &Path) -> Vec<PathBuf> {
    let items = list.split(':').filter(|item| !item.is_empty());
    items.flat_map(|item| expand(item, library)).collect()
}

/// Replaces the loader's words in a path; `$LIB` means one folder or another, by
/// the distribution.
fn expand(text: &str, library: &Path) -> Vec<PathBuf> {
    let origin = library.parent().unwrap_or(Path::new("/")).to_string_lossy();
    let both = |text: String, word: &str, value: &str| {
        text.replace(&format!("${{{word}}}"), value).replace(&format!("${word}"), value)
    };
    let machine = std::env::consts::ARCH;
    let text = both(both(text.to_owned(), "ORIGIN", &origin), "PLATFORM", machine);
    if !text.contains("$LIB") && !text.contains("${LIB}") {
        return vec![text.into()];
    }
    let values = [format!("lib/{machine}-linux-gnu"), "lib64".to_owned()];
    values.iter().map(|value| both(text.clone(), "LIB", value).into()).collect()
}

/// Whether the loader would take this file: it passes over those of other machines.
fn fits(path: &Path) -> bool {
    path.exists()
        && Image::open(path).and_then(|image| image.machine()).is_ok_and(|machine| machine == THIS_MACHINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::test_library::Library;

    /// A plugin in one folder, two libraries in others, one of them not there.
    fn tree(purpose: &str, tags: &str) -> (PathBuf, Needs) {
        let folder = Library::folder(purpose);
        let third = Library::new("libthird.so.3").build(&folder.join("gone"));
        let far = folder.join("far");
        let second = Library::new("libsecond.so.2").needs(&third).build(&far);
        let plugin = Library::new("plugin.so")
            .needs(&second)
            .linked(&["-Wl,-rpath,$ORIGIN/../far:${ORIGIN}/../third", tags])
            .build(&folder.join("plugin"));
        std::fs::create_dir(folder.join("third")).unwrap();
        (folder, of(&plugin, &[]))
    }

    fn missing(needs: &Needs) -> Vec<(&str, &str)> {
        let file_name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned().leak() as &str;
        needs.missing.iter().map(|missing| (missing.name.as_str(), file_name(&missing.wanted_by))).collect()
    }

    #[test]
    fn what_is_missing_is_told_with_what_wants_it() {
        let (folder, needs) = tree("needs", "-Wl,--enable-new-dtags");
        assert_eq!(missing(&needs), [("libthird.so.3", "libsecond.so.2")]);
        assert_eq!(needs.found, [folder.join("plugin/../far/libsecond.so.2")]);
        let plugin = folder.join("plugin/plugin.so");
        // A new-style path does not hold for what libsecond needs.
        std::fs::rename(folder.join("gone/libthird.so.3"), folder.join("third/libthird.so.3")).unwrap();
        assert_eq!(missing(&of(&plugin, &[])), [("libthird.so.3", "libsecond.so.2")]);
        // What is loaded already answers to its name.
        assert!(of(&plugin, &[folder.join("third/libthird.so.3")]).missing.is_empty());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_old_search_path_holds_for_others_too() {
        let (folder, needs) = tree("needs-old", "-Wl,--disable-new-dtags");
        assert_eq!(missing(&needs), [("libthird.so.3", "libsecond.so.2")]);
        std::fs::rename(folder.join("gone/libthird.so.3"), folder.join("third/libthird.so.3")).unwrap();
        let needs = of(&folder.join("plugin/plugin.so"), &[]);
        assert!(needs.missing.is_empty(), "{needs:?}");
        // A file of another machine is passed over.
        let third = folder.join("third/libthird.so.3");
        let mut bytes = std::fs::read(&third).unwrap();
        bytes[18..20].copy_from_slice(&999u16.to_le_bytes());
        std::fs::write(&third, bytes).unwrap();
        assert_eq!(missing(&of(&folder.join("plugin/plugin.so"), &[])).len(), 1);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn this_program_needs_nothing_that_is_missing() {
        let needs = of(&std::env::current_exe().unwrap(), &[]);
        assert!(needs.missing.is_empty() && needs.unreadable.is_empty(), "{needs:?}");
        assert!(needs.found.iter().any(|path| path.ends_with("libc.so.6")), "{needs:?}");
    }
}
