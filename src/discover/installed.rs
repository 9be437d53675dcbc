//! Plugins that `cyxla install` put into the user's data folder.
//!
//! Each has a folder of its own with the library and a `plugin.json`:
//!
//! ```json
//! {"format": 1, "platform": "cpu", "library": "pjrt_c_api_cpu_plugin.so", "version": "0.115",
//!  "package": "lammps-jax-pjrt-cpu", "package_version": "0.11.2", "sha256": "…"}
//! ```
//!
//! `version` is the PJRT version; `library` is relative to the folder and stays
//! in it. Folders whose name begins with a dot are installations in progress.

use std::path::{Component, Path, PathBuf};

use super::files::{self, Unreadable};
use super::{Found, Search, Surroundings, manifest};
use crate::order;
use crate::platform::check_name;

/// The file that describes an installed plugin.
pub const MANIFEST: &str = "plugin.json";

/// The folder that `cyxla install` fills; `None` without a home folder.
pub fn install_dir() -> Option<PathBuf> {
    folder(&Surroundings::of_process())
}

fn folder(surroundings: &Surroundings) -> Option<PathBuf> {
    surroundings.data_home().map(|home| home.join("cyxla/plugins"))
}

/// Adds the installed plugins to the list, the newest of each platform first.
pub(super) fn find(search: &mut Search) {
    search.next_place();
    let Some(folder) = folder(search.surroundings) else {
        search.searched("plugins that `cyxla install` put into the user's data folder (HOME is not set)");
        return;
    };
    search.searched(format!("plugins that `cyxla install` put into {}", folder.display()));
    let names = match files::names(&folder) {
        Ok(names) => names,
        Err(Unreadable::Missing) => return,
        Err(Unreadable::Because(reason)) => return search.fail_at(&folder, reason),
    };
    let mut plugins = Vec::new();
    for name in names {
        let path = folder.join(&name);
        if name.as_encoded_bytes().starts_with(b".") || !path.is_dir() {
            continue;
        }
        match read(&path) {
            Ok(found) => plugins.push(found),
            Err(problem) => search.fail_at(&path.join(MANIFEST), problem),
        }
    }
    order::sort_stably(&mut plugins, |a, b| {
        let newest_first = || version_key(b).cmp(&version_key(a));
        a.platform.cmp(&b.platform).then_with(newest_first).then_with(|| a.path.cmp(&b.path)).is_lt()
    });
    for found in plugins {
        search.add(found);
    }
}

/// The numbers of a version, for comparing: 0.106 is newer than 0.81.
fn version_key(found: &Found) -> Vec<u64> {
    let version = found.version.as_deref().unwrap_or("");
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

fn read(folder: &Path) -> Result<Found, String> {
    let description = folder.join(MANIFEST);
    let value = manifest::read_json(&description)?;
    manifest::check_format(&value)?;
    let platform = check_name(value.text("platform")?).map_err(|error| error.to_string())?;
    let library = Path::new(value.text("library")?);
    if !library.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(format!("its library '{}' leaves the folder", library.display()));
    }
    let mut found = Found::new(platform, folder.join(library), description.display().to_string());
    found.version = Some(value.text("version")?.to_owned());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::scratch::Scratch;
    use crate::discover::{Failure, PluginList, find_in};

    fn plugin(folder: &Scratch, name: &str, manifest: &str) {
        folder.write(&format!("cyxla/plugins/{name}/p.so"), "x");
        folder.write(&format!("cyxla/plugins/{name}/{MANIFEST}"), manifest);
    }

    fn manifest(version: &str, library: &str) -> String {
        format!(r#"{{"format": 1, "platform": "cpu", "library": "{library}", "version": "{version}"}}"#)
    }

    fn find(folder: &Scratch) -> PluginList {
        find_in(&Surroundings::made_up(folder.path(), [("XDG_DATA_HOME", folder.path())]))
    }

    #[test]
    fn the_newest_version_comes_first_by_number() {
        let folder = Scratch::new("installed");
        assert!(find(&folder).plugins.is_empty() && find(&folder).failures.is_empty());
        for version in ["0.81", "0.115", "0.106"] {
            plugin(&folder, &format!("cpu-{version}"), &manifest(version, "p.so"));
        }
        plugin(&folder, ".tmp-1", &manifest("9.9", "p.so"));
        let list = find(&folder);
        let versions: Vec<_> = list.plugins.iter().map(|found| found.version.as_deref().unwrap()).collect();
        assert_eq!(versions, ["0.115", "0.106", "0.81"]);
        assert!(list.failures.is_empty());
        assert!(list.plugins.iter().all(|found| found.problem.is_none()));
    }

    #[test]
    fn a_broken_one_hides_no_other_and_says_why() {
        let folder = Scratch::new("installed");
        plugin(&folder, "good", &manifest("0.1", "p.so"));
        plugin(&folder, "missing", &manifest("0.2", "q.so"));
        let broken = [
            ("json", "{".to_owned(), "not JSON"),
            ("format", manifest("1", "p.so").replace("1,", "2,"), "format is 2"),
            ("fields", r#"{"format": 1, "platform": "cpu"}"#.to_owned(), "no 'library'"),
            ("leaves", manifest("1", "../good/p.so"), "leaves the folder"),
            ("absolute", manifest("1", "/p.so"), "leaves the folder"),
            ("platform", manifest("1", "p.so").replace("cpu", "C P U"), "no platform name"),
            ("long", " ".repeat(70_000), "longer than"),
            ("kinds", manifest("1", "p.so").replace("\"p.so\"", "7"), "'library' is an integer"),
            ("twice", manifest("1", "p.so").replace("cpu\"", "cpu\", \"platform\": \"tpu\""), "stands twice"),
        ];
        for (name, text, _) in &broken {
            plugin(&folder, name, text);
        }
        let list = find(&folder);
        assert_eq!(list.plugins.len(), 2);
        assert_eq!(list.plugins[0].problem.as_deref(), Some("there is no such file"));
        assert_eq!(list.plugins[1].problem, None);
        assert_eq!(list.failures.len(), broken.len());
        for (name, _, part) in broken {
            let of_this = |failure: &&Failure| failure.subject.contains(&format!("/{name}/"));
            let failure = list.failures.iter().find(of_this).unwrap();
            assert!(failure.problem.contains(part), "{failure:?}");
        }
    }
}
