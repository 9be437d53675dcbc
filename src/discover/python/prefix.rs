//! Where an installation of Python keeps its packages, by its folders alone.

use std::path::{Path, PathBuf};

use crate::discover::{Surroundings, files};
use crate::env;
use crate::order;

/// The folders for libraries below a prefix; `lib64` is often a link to `lib`.
const LIBRARIES: [&str; 2] = ["lib", "lib64"];
/// A configuration is a few lines.
const LONGEST: u64 = 64 * 1024;

/// What a `pyvenv.cfg` says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The folder of the interpreter that the environment was made with.
    pub home: Option<PathBuf>,
    /// Whether the packages of that interpreter are seen too.
    pub sees_system: bool,
    /// Major and minor version, as `3.11`.
    pub version: Option<String>,
}

impl Config {
    /// Reads the file in a folder; `None` when there is none.
    pub fn read(folder: &Path) -> Option<Config> {
        let bytes = files::read(&folder.join("pyvenv.cfg"), LONGEST).ok()?;
        let mut config = Config::default();
        for line in bytes.split(|&byte| byte == b'\n') {
            let Some(at) = line.iter().position(|&byte| byte == b'=') else { continue };
            let (key, value) = (line[..at].trim_ascii(), line[at + 1..].trim_ascii());
            let text = String::from_utf8_lossy(value);
            match key.to_ascii_lowercase().as_slice() {
                b"home" if !value.is_empty() => {
                    use std::os::unix::ffi::OsStrExt;
                    config.home = Some(std::ffi::OsStr::from_bytes(value).into());
                }
                b"include-system-site-packages" => config.sees_system = text.eq_ignore_ascii_case("true"),
                b"version" | b"version_info" => config.version = short_version(&text),
                _ => {}
            }
        }
        Some(config)
    }
}

/// `3.11` of `3.11.7.final.0`.
pub fn short_version(text: &str) -> Option<String> {
    let mut parts = text.split('.');
    let (major, minor) = (parts.next()?.parse::<u32>().ok()?, parts.next()?.parse::<u32>().ok()?);
    Some(format!("{major}.{minor}"))
}

/// The folders `python3.N` in a folder of libraries, the newest first; only that of
/// `version` when it is there.
fn versions(libraries: &Path, version: Option<&str>) -> Vec<PathBuf> {
    let names = files::names(libraries).unwrap_or_default();
    let mut found: Vec<(u32, bool, &str)> = names
        .iter()
        .filter_map(|name| {
            let name = name.to_str()?;
            let plain = name.strip_prefix("python3.");
            let minor = plain.or_else(|| name.strip_prefix("pypy3."))?.parse().ok()?;
            Some((minor, plain.is_some(), name))
        })
        .collect();
    order::sort_by(&mut found, |one, other| one > other);
    let wanted = version.and_then(|version| version.strip_prefix("3.")?.parse().ok());
    if found.iter().any(|(minor, ..)| Some(*minor) == wanted) {
        found.retain(|(minor, ..)| Some(*minor) == wanted);
    }
    found.into_iter().map(|(_, _, name)| libraries.join(name)).collect()
}

/// Whether a prefix has a Python in it at all.
pub fn is_prefix(prefix: &Path) -> bool {
    LIBRARIES.iter().any(|lib| !versions(&prefix.join(lib), None).is_empty())
}

/// The folders of packages below a prefix.
pub fn sites(prefix: &Path, version: Option<&str>, surroundings: &Surroundings) -> Vec<PathBuf> {
    if prefix == Path::new("/usr") {
        return system_sites(version, surroundings);
    }
    let folders = LIBRARIES.iter().flat_map(|lib| versions(&prefix.join(lib), version));
    existing(folders.map(|folder| folder.join("site-packages")))
}

/// Those of the system's own Python: Debian calls them `dist-packages`, and keeps
/// those of its own packages in a folder without the minor version.
pub fn system_sites(version: Option<&str>, surroundings: &Surroundings) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for prefix in ["/usr/local", "/usr"] {
        let prefix = surroundings.system(prefix);
        if prefix.ends_with("usr") {
            folders.push(prefix.join("lib/python3/dist-packages"));
        }
        for lib in LIBRARIES {
            for folder in versions(&prefix.join(lib), version) {
                folders.extend(["dist-packages", "site-packages"].map(|name| folder.join(name)));
            }
        }
    }
    existing(folders.into_iter())
}

/// The packages in the user's home folder.
pub fn user_sites(version: Option<&str>, surroundings: &Surroundings) -> Vec<PathBuf> {
    if surroundings.value(env::PYTHONNOUSERSITE).is_some() {
        return Vec::new();
    }
    let Some(home) = surroundings.home() else { return Vec::new() };
    let folders = versions(&home.join(".local/lib"), version).into_iter();
    let is_wanted = |folder: &PathBuf| match version {
        // Unlike those of a prefix, they may be of interpreters that are long gone.
        Some(version) => folder.to_string_lossy().ends_with(version.trim_start_matches('3')),
        None => true,
    };
    existing(folders.filter(is_wanted).map(|folder| folder.join("site-packages")))
}

fn existing(folders: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    folders.filter(|folder| folder.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::scratch::Scratch;

    #[test]
    fn configurations_of_every_tool_and_of_none() {
        let folder = Scratch::new("pyvenv");
        let read = |text: &[u8]| {
            folder.write("pyvenv.cfg", text);
            Config::read(folder.path()).unwrap()
        };
        assert_eq!(Config::read(folder.path()), None);
        let venv = read(b"home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.7\n");
        assert_eq!(venv.home.unwrap(), Path::new("/usr/bin"));
        assert_eq!((venv.sees_system, venv.version.as_deref()), (false, Some("3.11")));
        let uv =
            read(b"uv = 0.9\r\nversion_info = 3.12.1\r\nInclude-System-Site-Packages=TRUE\r\nhome=/a b\r\n");
        assert_eq!(uv.home.unwrap(), Path::new("/a b"));
        assert_eq!((uv.sees_system, uv.version.as_deref()), (true, Some("3.12")));
        assert_eq!(read(b"home\n= = =\n\xff\xfe\nhome = \nversion = x\n"), Config::default());
    }

    #[test]
    fn the_newest_version_first_unless_one_is_known() {
        let folder = Scratch::new("versions");
        for name in ["python3.9", "python3.11", "python3.2x", "python2.7", "pypy3.10", "python3"] {
            folder.write(&format!("p/lib/{name}/site-packages/x"), "");
        }
        let prefix = folder.path().join("p");
        let none = Surroundings::made_up(folder.path(), [("HOME", "/nowhere")]);
        let names = |version: Option<&str>| -> Vec<String> {
            let short = |path: &PathBuf| path.components().rev().nth(1).unwrap().as_os_str().to_owned();
            sites(&prefix, version, &none).iter().map(|path| short(path).into_string().unwrap()).collect()
        };
        assert_eq!(names(None), ["python3.11", "pypy3.10", "python3.9"]);
        assert_eq!(names(Some("3.9")), ["python3.9"]);
        assert_eq!(names(Some("3.13")), ["python3.11", "pypy3.10", "python3.9"]);
        assert!(is_prefix(&prefix) && !is_prefix(folder.path()));
    }

    #[test]
    fn the_users_own_are_of_the_right_version_only() {
        let folder = Scratch::new("user");
        folder.write(".local/lib/python3.11/site-packages/x", "");
        let home = folder.path().as_os_str();
        let with_home = Surroundings::made_up(folder.path(), [("HOME", home)]);
        assert_eq!(user_sites(Some("3.11"), &with_home).len(), 1);
        assert_eq!(user_sites(None, &with_home).len(), 1);
        assert_eq!(user_sites(Some("3.1"), &with_home).len(), 0);
        let without = Surroundings::made_up(
            folder.path(),
            [("HOME", home), ("PYTHONNOUSERSITE", std::ffi::OsStr::new("1"))],
        );
        assert_eq!(user_sites(Some("3.11"), &without).len(), 0);
    }
}
