//! Plugins that environment variables name one by one.

use std::path::{Path, PathBuf};

use super::{Found, Search, manifest};
use crate::env;
use crate::platform::check_name;

/// CYXLA_PLUGIN: the one plugin to load, whatever its platform.
pub fn plugin(search: &mut Search) {
    search.next_place();
    let Some(path) = search.surroundings.value(env::PLUGIN).map(PathBuf::from) else {
        search.searched("the environment variable CYXLA_PLUGIN (not set)");
        return;
    };
    search.searched(format!("the environment variable CYXLA_PLUGIN ({})", path.display()));
    search.add(Found::new("", path, "environment variable CYXLA_PLUGIN"));
}

/// TPU_LIBRARY_PATH: where the TPU's own software says that its plugin is.
pub fn tpu_library_path(search: &mut Search) {
    search.next_place();
    let Some(path) = search.surroundings.value(env::TPU_LIBRARY_PATH).map(PathBuf::from) else {
        search.searched("the environment variable TPU_LIBRARY_PATH (not set)");
        return;
    };
    search.searched(format!("the environment variable TPU_LIBRARY_PATH ({})", path.display()));
    search.add(Found::new("tpu", absolute(&path), "environment variable TPU_LIBRARY_PATH"));
}

/// PJRT_NAMES_AND_LIBRARY_PATHS: `name:path,name:path`, as JAX reads it.
pub fn names_and_paths(search: &mut Search) {
    search.next_place();
    let variable = format!("environment variable {}", env::PJRT_NAMES);
    let Some(value) = search.surroundings.value(env::PJRT_NAMES) else {
        search.searched(format!("the {variable} (not set)"));
        return;
    };
    search.searched(format!("the {variable}"));
    let bytes = value.as_encoded_bytes();
    for item in bytes.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|item| !item.is_empty()) {
        if let Err(problem) = named(search, item, &variable) {
            search.fail(&variable, format!("'{}': {problem}", item.escape_ascii()));
        }
    }
}

fn named(search: &mut Search, item: &[u8], variable: &str) -> Result<(), String> {
    use std::os::unix::ffi::OsStrExt;
    let mut parts = item.split(|&byte| byte == b':');
    let (Some(name), Some(path), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err("expected name:path, with one colon".into());
    };
    let name = String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase();
    let platform = check_name(&name).map_err(|error| error.message().to_owned())?;
    let path = Path::new(std::ffi::OsStr::from_bytes(path.trim_ascii()));
    if path.as_os_str().is_empty() {
        return Err("the path is empty".into());
    }
    let path = absolute(path);
    if path.extension().is_none_or(|extension| extension != "json") {
        search.add(Found::new(platform, path, variable));
        return Ok(());
    }
    let (library, options) =
        manifest::read_of_jax(&path).map_err(|problem| format!("{}: {problem}", path.display()))?;
    let mut found = Found::new(platform, library, format!("{} ({variable})", path.display()));
    found.options = options;
    search.add(found);
    Ok(())
}

/// A relative path starts at the working folder.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::discover::scratch::Scratch;
    use crate::discover::{PluginList, Surroundings, find_in};
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    fn find(folder: &Scratch, name: &str, value: impl Into<OsString>) -> PluginList {
        find_in(&Surroundings::made_up(folder.path(), [(name, value.into())]))
    }

    #[test]
    fn names_and_paths_as_jax_reads_them() {
        let folder = Scratch::new("names");
        let library = folder.write("a.so", "x").display().to_string();
        folder.write("j.json", r#"{"library_path": "a.so", "create_options": {"n": 2}}"#);
        folder.write("bad.json", r#"{"library_path": "a.so""#);
        let root = folder.path().display();
        let value = format!("cpu:{library}, NPU:{root}/j.json,x:{root}/bad.json,y:/a:/b,,z:,nothing,a b:/c");
        let list = find(&folder, "PJRT_NAMES_AND_LIBRARY_PATHS", value);
        let found: Vec<_> = list.plugins.iter().map(|found| found.platform.as_str()).collect();
        assert_eq!(found, ["cpu", "npu"]);
        assert!(list.plugins.iter().all(|found| found.problem.is_none()), "{list:?}");
        assert_eq!(list.plugins[1].options.len(), 1);
        assert!(list.plugins[1].origin.contains("j.json"));
        let problems: Vec<_> = list.failures.iter().map(|failure| failure.problem.as_str()).collect();
        assert_eq!(problems.len(), 5, "{problems:?}");
        for (problem, part) in
            problems.iter().zip(["not JSON", "one colon", "empty", "one colon", "no platform"])
        {
            assert!(problem.contains(part), "{problem}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_paths_all_the_same() {
        let folder = Scratch::new("names");
        let value = OsString::from_vec(b"cpu:/no/\xff.so".to_vec());
        let list = find(&folder, "PJRT_NAMES_AND_LIBRARY_PATHS", value);
        assert_eq!(list.plugins[0].path.as_os_str().len(), "/no/x.so".len());
        let list = find(&folder, "PJRT_NAMES_AND_LIBRARY_PATHS", OsString::from_vec(b"\xff:/a".to_vec()));
        assert!(list.failures[0].problem.contains("no platform name"));
    }

    #[test]
    fn the_variable_of_the_tpu() {
        let folder = Scratch::new("names");
        let library = folder.write("libtpu.so", "x");
        let list = find(&folder, "TPU_LIBRARY_PATH", &library);
        assert_eq!((list.plugins[0].platform.as_str(), &list.plugins[0].path), ("tpu", &library));
        let list = find(&folder, "TPU_LIBRARY_PATH", "/no/such/libtpu.so");
        assert_eq!(list.plugins[0].problem.as_deref(), Some("there is no such file"));
        let list = find(&folder, "TPU_LIBRARY_PATH", folder.path());
        assert_eq!(list.plugins[0].problem.as_deref(), Some("it is a directory"));
        let privileged = Surroundings::made_up(folder.path(), [("TPU_LIBRARY_PATH", library)]).privileged();
        assert!(find_in(&privileged).plugins.is_empty());
    }
}
