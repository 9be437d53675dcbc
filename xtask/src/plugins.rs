//! The three real CPU plugins that the tests use, kept in a cache.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::dlpack;
use crate::process;
use crate::project::{self, Project};

/// What `cyxla install cpu` gives when no version is asked for.
pub const NEWEST: &str = "0.115";

/// The PJRT versions under test.
const VERSIONS: [&str; 3] = ["0.81", "0.106", NEWEST];

/// The version whose wheel carries the published pjrt_c_api.h.
const WITH_HEADER: &str = "0.81";

/// One plugin, ready to load.
pub struct Plugin {
    pub version: &'static str,
    pub path: PathBuf,
}

/// Downloads the plugins, and the header of DLPack, that are not in the cache yet, and lists all.
pub fn ensure(project: &Project) -> Result<()> {
    let cache = cache()?;
    for version in VERSIONS {
        if !folder(&cache, version).join("plugin.json").is_file() {
            let arguments = ["install", "cpu", "--version", version, "--dir"];
            process::run(project.cyxla().args(arguments).arg(&cache))?;
        }
        println!("PJRT {version}: {}", cached(version)?.path.display());
    }
    published_header()?;
    dlpack::ensure()
}

/// A plugin that `ensure` has put into the cache.
pub fn cached(version: &'static str) -> Result<Plugin> {
    let folder = folder(&cache()?, version);
    let path = folder.join(library_name(&folder)?);
    if !path.is_file() {
        return Err(format!("{} is gone; remove {} and start again", path.display(), folder.display()));
    }
    Ok(Plugin { version, path })
}

/// All of them, oldest first.
pub fn all() -> Result<Vec<Plugin>> {
    VERSIONS.into_iter().map(cached).collect()
}

pub fn newest() -> Result<Plugin> {
    cached(NEWEST)
}

/// The published pjrt_c_api.h, from the same cache.
pub fn published_header() -> Result<PathBuf> {
    let folder = folder(&cache()?, WITH_HEADER);
    let path = folder.join("pjrt_c_api.h");
    if path.is_file() {
        return Ok(path);
    }
    Err(format!("{} is missing; remove {} and start again", path.display(), folder.display()))
}

fn folder(cache: &Path, version: &str) -> PathBuf {
    cache.join(format!("cpu-{version}"))
}

fn cache() -> Result<PathBuf> {
    Ok(project::cache()?.join("plugins"))
}

fn library_name(folder: &Path) -> Result<String> {
    let path = folder.join("plugin.json");
    let text = fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let description: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = description["library"].as_str();
    name.map(str::to_string).ok_or_else(|| format!("{} names no library", path.display()))
}
