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

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::{Failure, Found, PluginList, problem_of};
use crate::env;
use crate::options::Options;
use crate::program::check_platform_name;

/// The file that describes an installed plugin.
pub const MANIFEST: &str = "plugin.json";
/// The version of its format that this library reads.
pub const FORMAT: u64 = 1;
/// A description is a few lines; anything longer is none.
const LONGEST: u64 = 64 * 1024;

/// The folder that `cyxla install` fills; `None` without a home folder.
pub fn install_dir() -> Option<PathBuf> {
    env::data_home().map(|home| home.join("cyxla/plugins"))
}

/// Adds the installed plugins to the list, the newest of each platform first.
pub(super) fn find(list: &mut PluginList) {
    let Some(folder) = install_dir() else {
        list.searched
            .push("plugins that `cyxla install` put into the user's data folder (HOME is not set)".into());
        return;
    };
    list.searched.push(format!("plugins that `cyxla install` put into {}", folder.display()));
    find_in(&folder, list);
}

fn find_in(folder: &Path, list: &mut PluginList) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => {
            let subject = folder.display().to_string();
            list.failures.push(Failure { subject, problem: error.to_string() });
            return;
        }
    };
    let mut plugins = Vec::new();
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") || !path.is_dir() {
            continue;
        }
        match read(&path) {
            Ok(found) => plugins.push(found),
            Err(problem) => {
                let subject = path.join(MANIFEST).display().to_string();
                list.failures.push(Failure { subject, problem });
            }
        }
    }
    // The folder's own order is arbitrary.
    list.failures.sort_by(|a, b| a.subject.cmp(&b.subject));
    plugins.sort_by(|a, b| {
        let newest_first = || version_key(b).cmp(&version_key(a));
        a.platform.cmp(&b.platform).then_with(newest_first).then_with(|| a.path.cmp(&b.path))
    });
    list.plugins.extend(plugins);
}

/// The numbers of a version, for comparing: 0.106 is newer than 0.81.
fn version_key(found: &Found) -> Vec<u64> {
    let version = found.version.as_deref().unwrap_or("");
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

fn read(folder: &Path) -> Result<Found, String> {
    let manifest = folder.join(MANIFEST);
    let kind = fs::metadata(&manifest).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file, so the folder is no plugin".to_owned(),
        _ => error.to_string(),
    })?;
    if !kind.is_file() {
        return Err("it is not a regular file".into());
    }
    let mut text = Vec::new();
    let file = fs::File::open(&manifest).map_err(|error| error.to_string())?;
    file.take(LONGEST + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| format!("it is not JSON: {error}"))?;
    let field = |name: &str| {
        let value = value.get(name).ok_or_else(|| format!("it has no '{name}'"))?;
        value.as_str().filter(|text| !text.is_empty()).ok_or_else(|| format!("its '{name}' is no text"))
    };
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(FORMAT) => {}
        Some(newer) => return Err(format!("its format is {newer}; this library reads format {FORMAT}")),
        None => return Err("it has no 'format' number".into()),
    }
    let platform = check_platform_name(field("platform")?).map_err(|error| error.to_string())?;
    let library = Path::new(field("library")?);
    if !library.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(format!("its library '{}' leaves the folder", library.display()));
    }
    let path = folder.join(library);
    Ok(Found {
        platform,
        problem: problem_of(&path),
        path,
        origin: manifest.display().to_string(),
        version: Some(field("version")?.to_owned()),
        options: Options::new(),
        is_default: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_folder(name: &str, test: impl FnOnce(&Path)) {
        let folder = std::env::temp_dir().join(format!("cyxla-installed-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        test(&folder);
        fs::remove_dir_all(folder).unwrap();
    }

    fn plugin(folder: &Path, name: &str, manifest: &str) {
        let own = folder.join(name);
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("p.so"), "x").unwrap();
        fs::write(own.join(MANIFEST), manifest).unwrap();
    }

    fn manifest(version: &str, library: &str) -> String {
        format!(r#"{{"format": 1, "platform": "cpu", "library": "{library}", "version": "{version}"}}"#)
    }

    #[test]
    fn the_newest_version_comes_first_by_number() {
        in_folder("order", |folder| {
            for version in ["0.81", "0.115", "0.106"] {
                plugin(folder, &format!("cpu-{version}"), &manifest(version, "p.so"));
            }
            plugin(folder, ".tmp-1", &manifest("9.9", "p.so"));
            let mut list = PluginList::default();
            find_in(folder, &mut list);
            let versions: Vec<_> =
                list.plugins.iter().map(|found| found.version.as_deref().unwrap()).collect();
            assert_eq!(versions, ["0.115", "0.106", "0.81"]);
            assert!(list.failures.is_empty());
            assert!(list.plugins.iter().all(|found| found.problem.is_none()));
        });
    }

    #[test]
    fn a_broken_one_hides_no_other_and_says_why() {
        in_folder("broken", |folder| {
            plugin(folder, "good", &manifest("0.1", "p.so"));
            plugin(folder, "missing", &manifest("0.2", "q.so"));
            let broken = [
                ("json", "{".to_owned(), "not JSON"),
                ("format", manifest("1", "p.so").replace("1,", "2,"), "format is 2"),
                ("fields", r#"{"format": 1, "platform": "cpu"}"#.to_owned(), "no 'library'"),
                ("leaves", manifest("1", "../good/p.so"), "leaves the folder"),
                ("absolute", manifest("1", "/p.so"), "leaves the folder"),
                ("platform", manifest("1", "p.so").replace("cpu", "C P U"), "no platform name"),
                ("long", " ".repeat(70_000), "longer than"),
                ("kinds", manifest("1", "p.so").replace("\"p.so\"", "7"), "'library' is no text"),
            ];
            for (name, text, _) in &broken {
                plugin(folder, name, text);
            }
            let mut list = PluginList::default();
            find_in(folder, &mut list);
            assert_eq!(list.plugins.len(), 2);
            assert_eq!(list.plugins[0].problem.as_deref(), Some("there is no such file"));
            assert_eq!(list.plugins[1].problem, None);
            assert_eq!(list.failures.len(), broken.len());
            for (name, _, part) in broken {
                let of_this = |failure: &&Failure| failure.subject.contains(&format!("/{name}/"));
                let failure = list.failures.iter().find(of_this).unwrap();
                assert!(failure.problem.contains(part), "{failure:?}");
            }
        });
    }

    #[test]
    fn no_folder_is_no_failure() {
        let mut list = PluginList::default();
        find_in(Path::new("/no/such/folder"), &mut list);
        assert_eq!(list, PluginList::default());
    }
}
