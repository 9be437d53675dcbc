//! Folders of plugins: manifests in `cyxla/plugins.d`, and CYXLA_PLUGIN_DIRS.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::files::{self, Unreadable};
use super::{Found, Search, manifest, names, python};
use crate::env;

const MANIFESTS: &str = "cyxla/plugins.d";
/// More manifests than this in one folder are not read.
const MOST: usize = 20_000;

/// The folders of manifests, in the order of the Vulkan loader: the user's
/// configuration, the system's, the user's data, the system's.
fn manifest_folders(search: &Search) -> Vec<PathBuf> {
    let of = search.surroundings;
    let mut folders: Vec<PathBuf> = of.config_home().into_iter().collect();
    folders.extend(of.xdg_list(env::XDG_CONFIG_DIRS, &["/etc/xdg"]));
    folders.push(of.system("/etc"));
    folders.extend(of.data_home());
    folders.extend(of.xdg_list(env::XDG_DATA_DIRS, &["/usr/local/share", "/usr/share"]));
    folders.iter().map(|folder| folder.join(MANIFESTS)).collect()
}

/// Adds what the manifests of XDG and system folders describe.
pub fn manifests(search: &mut Search) {
    let mut seen = HashSet::new();
    let folders = manifest_folders(search);
    let shown: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    search.searched(format!("manifests (*.json) in {}", shown.join(", ")));
    for folder in folders {
        search.next_place();
        if files::number(&folder).is_some_and(|number| !seen.insert(number)) {
            continue;
        }
        match files::names(&folder) {
            Ok(names) => drop(manifests_in(search, &folder, &names)),
            Err(Unreadable::Missing) => {}
            Err(Unreadable::Because(reason)) => search.fail_at(&folder, reason),
        }
    }
}

/// Adds what the manifests of a folder describe; gives the libraries.
fn manifests_in(search: &mut Search, folder: &Path, names: &[OsString]) -> Vec<PathBuf> {
    let is_manifest = |name: &&OsString| {
        let bytes = name.as_encoded_bytes();
        bytes.ends_with(b".json") && !bytes.starts_with(b".")
    };
    let mut libraries = Vec::new();
    for (count, name) in names.iter().filter(is_manifest).enumerate() {
        if count == MOST {
            search.fail_at(folder, format!("it holds more than {MOST} manifests; the others were not read"));
            break;
        }
        let path = folder.join(name);
        match manifest::read(&path) {
            Ok(manifest) => {
                libraries.push(manifest.library.clone());
                let mut found = Found::new(manifest.platform, manifest.library, path.display().to_string());
                found.version = manifest.version;
                found.options = manifest.options;
                search.add(found);
            }
            Err(problem) => search.fail_at(&path, problem),
        }
    }
    libraries
}

/// Adds what is in the folders of CYXLA_PLUGIN_DIRS.
pub fn plugin_dirs(search: &mut Search) {
    let Some(folders) = search.surroundings.list(env::PLUGIN_DIRS) else {
        search.searched("the environment variable CYXLA_PLUGIN_DIRS (not set)");
        return;
    };
    for folder in folders {
        search.next_place();
        search.searched(format!("{} (CYXLA_PLUGIN_DIRS)", folder.display()));
        let subject = || format!("{} (environment variable CYXLA_PLUGIN_DIRS)", folder.display());
        if !folder.is_absolute() {
            search.fail(subject(), "it is not an absolute path, so it was not searched");
            continue;
        }
        match files::names(&folder) {
            Ok(names) => plugin_dir(search, &folder, &names),
            Err(Unreadable::Missing) => search.fail(subject(), "there is no such folder"),
            Err(Unreadable::Because(reason)) => search.fail(subject(), reason),
        }
    }
}

fn plugin_dir(search: &mut Search, folder: &Path, all: &[OsString]) {
    let described = manifests_in(search, folder, all);
    let described: HashSet<_> = described.iter().filter_map(|library| files::number(library)).collect();
    for name in all {
        let path = folder.join(name);
        let name = name.to_string_lossy();
        if !names::is_about_plugins(&name) && names::of_library(&name).is_none() {
            continue;
        }
        if files::number(&path).is_some_and(|number| described.contains(&number)) {
            continue;
        }
        match names::of_library(&name) {
            Some(named) => {
                let origin = format!("file name in {} (CYXLA_PLUGIN_DIRS)", folder.display());
                search.add(Found::new(named.platform, path, origin).by_name(named.generation));
            }
            None => {
                let wanted = "its name tells no platform; describe it with a manifest beside it";
                search.fail_at(&path, format!("{wanted}, or name it like pjrt_c_api_cpu_plugin.so"));
            }
        }
    }
    python::wheels_in(search, folder, "CYXLA_PLUGIN_DIRS");
}

#[cfg(test)]
mod tests {
    use crate::discover::scratch::Scratch;
    use crate::discover::{PluginList, Surroundings, find_in};
    use std::path::Path;

    const CPU: &str = r#"{"format": 1, "platform": "cpu", "library": "p.so"}"#;

    fn find(folder: &Scratch, variables: &[(&str, &str)]) -> PluginList {
        let root = folder.path().display().to_string();
        let variables = variables.iter().map(|(name, value)| (*name, value.replace('@', &root)));
        find_in(&Surroundings::made_up(folder.path(), variables))
    }

    fn below<'a>(folder: &Scratch, list: &'a PluginList) -> Vec<&'a str> {
        let path = |path: &'a Path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap();
        list.plugins.iter().map(|found| path(&found.path)).collect()
    }

    #[test]
    fn manifests_of_user_and_system_in_their_order() {
        let folder = Scratch::new("xdg");
        let places = ["c", "xdg1", "xdg2", "etc", "d", "usr/local/share", "usr/share"];
        for place in places.iter().rev() {
            folder.write(&format!("{place}/cyxla/plugins.d/a.json"), CPU);
            folder.write(&format!("{place}/cyxla/plugins.d/p.so"), "x");
        }
        folder.write("c/cyxla/plugins.d/.hidden.json", "{");
        folder.write("c/cyxla/plugins.d/b.txt", "{");
        folder.write("d/cyxla/plugins.d/broken.json", "{");
        let variables = [
            ("XDG_CONFIG_HOME", "@/c"),
            ("XDG_CONFIG_DIRS", "@/xdg1:relative:@/xdg2:@/c"),
            ("XDG_DATA_HOME", "@/d"),
        ];
        let list = find(&folder, &variables);
        assert_eq!(below(&folder, &list), places.map(|place| format!("{place}/cyxla/plugins.d/p.so")));
        assert!(list.plugins[0].is_default && list.plugins[0].origin.ends_with("c/cyxla/plugins.d/a.json"));
        assert_eq!(list.failures.len(), 1, "{:?}", list.failures);

        let root = folder.path().display().to_string();
        let made_up = Surroundings::made_up(folder.path(), [("XDG_DATA_HOME", root)]).privileged();
        let system: Vec<String> = ["etc", "usr/local/share", "usr/share"]
            .map(|place| format!("{place}/cyxla/plugins.d/p.so"))
            .to_vec();
        assert_eq!(below(&folder, &find_in(&made_up)), system);
    }

    #[test]
    fn folders_of_plugins() {
        let folder = Scratch::new("dirs");
        folder.write("a/libpjrt_cpu.so", "x");
        folder.write("a/pjrt_c_api_gpu_plugin.so", "x");
        folder.write("a/pjrt_special.so", "x");
        folder.write("a/libother.so", "x");
        folder.write("b/cpu.json", r#"{"format": 1, "platform": "cpu", "library": "libpjrt_cpu.so"}"#);
        folder.write("b/libpjrt_cpu.so", "");
        folder.write("b/jax_plugins/xla_rocm7/xla_rocm_plugin.so", "x");
        folder.write("file", "x");
        let variables = [("CYXLA_PLUGIN_DIRS", "@/b:@/none:@/file:relative:@/a:")];
        let list = find(&folder, &variables);
        let wanted = [
            "b/libpjrt_cpu.so",
            "a/libpjrt_cpu.so",
            "a/pjrt_c_api_gpu_plugin.so",
            "b/jax_plugins/xla_rocm7/xla_rocm_plugin.so",
        ];
        assert_eq!(below(&folder, &list), wanted);
        assert_eq!(list.plugins[0].problem.as_deref(), Some("the file is empty"));
        assert!(list.plugins[1].is_default);
        let problems: Vec<_> = list.failures.iter().map(|failure| failure.problem.as_str()).collect();
        for (problem, part) in
            problems.iter().zip(["no such folder", "not a folder", "not an absolute", "no platform"])
        {
            assert!(problem.contains(part), "{problem}");
        }
        assert_eq!(problems.len(), 4);
    }

    #[test]
    fn a_loop_and_a_file_in_place_of_the_folder() {
        let folder = Scratch::new("loop");
        folder.write("etc/cyxla/plugins.d", "x");
        std::fs::create_dir_all(folder.path().join("usr/share/cyxla")).unwrap();
        std::os::unix::fs::symlink("plugins.d", folder.path().join("usr/share/cyxla/plugins.d")).unwrap();
        let list = find(&folder, &[]);
        let problems: Vec<_> = list.failures.iter().map(|failure| failure.problem.as_str()).collect();
        assert_eq!(problems, ["it is not a folder", "its symbolic links form a loop"]);
    }
}
