//! The description of a plugin in data:
//!
//! ```json
//! {"format": 1, "platform": "cpu", "library": "libmy_plugin.so", "version": "1.2",
//!  "create_options": {"cpu_device_count": 1}}
//! ```
//!
//! `version` and `create_options` may be left out; other keys are ignored. A
//! relative library starts at the manifest's folder and does not leave it.

use std::path::{Component, Path, PathBuf};

use super::files;
use super::json::Json;
use crate::options::Options;
use crate::platform::check_name;

/// The version of the format that this library reads.
pub const FORMAT: i64 = 1;
/// A description is a few lines; anything longer is none.
pub const LONGEST: u64 = 64 * 1024;

/// What a manifest says.
#[derive(Debug, PartialEq)]
pub struct Manifest {
    pub platform: String,
    /// Absolute, or below the manifest's folder as it was found.
    pub library: PathBuf,
    pub version: Option<String>,
    pub options: Options,
}

/// Reads a file as one JSON value.
pub fn read_json(path: &Path) -> Result<Json, String> {
    Json::parse(&files::read(path, LONGEST).map_err(files::Unreadable::reason)?)
}

/// Reads the manifest at `path`.
pub fn read(path: &Path) -> Result<Manifest, String> {
    let value = read_json(path)?;
    check_format(&value)?;
    let platform = check_name(value.text("platform")?).map_err(|error| error.message().to_owned())?;
    let version = value.get("version").map(|_| value.text("version").map(str::to_owned)).transpose()?;
    let library = library(path, value.text("library")?)?;
    Ok(Manifest { platform, library, version, options: value.options("create_options")? })
}

/// Refuses a format that this library does not know.
pub fn check_format(value: &Json) -> Result<(), String> {
    match value.get("format") {
        Some(Json::Int(FORMAT)) => Ok(()),
        Some(Json::Int(other)) => Err(format!("its format is {other}; this library reads format {FORMAT}")),
        Some(other) => Err(format!("its 'format' is {}, expected an integer", other.kind())),
        None => Err("it has no 'format' number".into()),
    }
}

fn library(manifest: &Path, name: &str) -> Result<PathBuf, String> {
    if name.contains('\0') {
        return Err("its 'library' holds a NUL character".into());
    }
    let library = Path::new(name);
    let stays = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !library.is_absolute() && !library.components().all(stays) {
        return Err(format!("its library '{name}' leaves the manifest's folder; give an absolute path"));
    }
    let folder = manifest.parent().unwrap_or(Path::new("/"));
    Ok(folder.join(library.strip_prefix(".").unwrap_or(library)))
}

/// Reads a manifest of JAX's kind: `library_path`, and `create_options` maybe.
pub fn read_of_jax(path: &Path) -> Result<(PathBuf, Options), String> {
    let value = read_json(path)?;
    let library = value.text("library_path")?;
    if library.contains('\0') {
        return Err("its 'library_path' holds a NUL character".into());
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    Ok((folder.join(library), value.options("create_options")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::scratch::Scratch;
    use crate::options::Value;

    #[test]
    fn what_a_manifest_says() {
        let folder = Scratch::new("manifest");
        let path = folder.write(
            "a.json",
            r#"{"format": 1, "platform": "my_npu", "library": "./lib/p.so", "comment": "x",
                "version": "2.0", "create_options": {"n": 1}}"#,
        );
        let manifest = read(&path).unwrap();
        assert_eq!(manifest.platform, "my_npu");
        assert_eq!(manifest.library, folder.path().join("lib/p.so"));
        assert_eq!(manifest.version.as_deref(), Some("2.0"));
        assert_eq!(manifest.options.get("n"), Some(&Value::Int(1)));
        let path = folder.write("b.json", r#"{"format": 1, "platform": "cpu", "library": "/opt/../p.so"}"#);
        assert_eq!(read(&path).unwrap().library, Path::new("/opt/../p.so"));
    }

    #[test]
    fn what_is_wrong_with_one() {
        let folder = Scratch::new("manifest");
        for (text, part) in [
            ("[]", "no 'format'"),
            (r#"{"format": "1"}"#, "'format' is a string"),
            (r#"{"format": 2}"#, "format is 2"),
            (r#"{"format": 1, "library": "p.so"}"#, "no 'platform'"),
            (r#"{"format": 1, "platform": "C PU", "library": "p.so"}"#, "no platform name"),
            (r#"{"format": 1, "platform": "cpu"}"#, "no 'library'"),
            (r#"{"format": 1, "platform": "cpu", "library": ""}"#, "'library' is empty"),
            (r#"{"format": 1, "platform": "cpu", "library": 7}"#, "'library' is an integer"),
            (r#"{"format": 1, "platform": "cpu", "library": "../p.so"}"#, "leaves the manifest's folder"),
            (r#"{"format": 1, "platform": "cpu", "library": "a/../../p.so"}"#, "leaves"),
            (r#"{"format": 1, "platform": "cpu", "library": "a\u0000b"}"#, "NUL"),
            (
                r#"{"format": 1, "platform": "cpu", "library": "p.so", "create_options": 1}"#,
                "expected an object",
            ),
            (
                r#"{"format": 1, "platform": "cpu", "library": "p.so", "version": 1}"#,
                "'version' is an integer",
            ),
        ] {
            let problem = read(&folder.write("m.json", text)).unwrap_err();
            assert!(problem.contains(part), "{text}: {problem}");
        }
        assert_eq!(read(&folder.path().join("none.json")).unwrap_err(), "there is no such file");
    }

    #[test]
    fn manifests_of_jax() {
        let folder = Scratch::new("manifest");
        let path = folder.write("j.json", r#"{"library_path": "/x/p.so", "create_options": {"a": 0.5}}"#);
        let (library, options) = read_of_jax(&path).unwrap();
        assert_eq!(library, Path::new("/x/p.so"));
        assert_eq!(options.get("a"), Some(&Value::Float(0.5)));
        let path = folder.write("k.json", r#"{"library": "/x/p.so"}"#);
        assert!(read_of_jax(&path).unwrap_err().contains("no 'library_path'"));
    }
}
