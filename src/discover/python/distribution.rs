//! The packages that are installed in a folder: their names, versions and entry
//! points, from `.dist-info` and `.egg-info`.

use std::path::{Path, PathBuf};

use super::entry_points::{self, EntryPoints};
use super::normalized;
use crate::discover::files::{self, Identity, Unreadable};

/// Longer lists of entry points are no work of packaging tools.
const LONGEST_ENTRY_POINTS: u64 = 1 << 20;
/// Name and version stand at the beginning.
const HEADERS: u64 = 16 * 1024;

/// An installed package.
#[derive(Debug)]
pub struct Distribution {
    /// The name in the form that all its spellings share.
    pub key: String,
    /// The name, as its folder spells it until [`Distribution::read_headers`].
    pub name: String,
    pub version: Option<String>,
    pub entry_points: EntryPoints,
    /// The folder with its metadata.
    info: PathBuf,
}

impl Distribution {
    /// Reads the name and version that the package gives itself. To be called for
    /// the few that matter.
    pub fn read_headers(&mut self) {
        let text = ["METADATA", "PKG-INFO"]
            .iter()
            .find_map(|name| files::read_start(&self.info.join(name), HEADERS).ok());
        let text = text.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        // An empty line ends the headers.
        for line in text.lines().take_while(|line| !line.is_empty()) {
            let value = |key: &str| line.strip_prefix(key).map(str::trim).filter(|value| !value.is_empty());
            if let Some(name) = value("Name:") {
                name.clone_into(&mut self.name);
            }
            if let Some(version) = value("Version:") {
                self.version = Some(version.to_owned());
            }
        }
    }

    /// Changes when the package's entry points are written anew.
    pub fn identity(&self) -> Option<Identity> {
        files::identity(&self.info.join("entry_points.txt"))
    }
}

/// The packages in a folder, in the order of their names.
pub fn in_folder(folder: &Path) -> Vec<Distribution> {
    let mut found = Vec::new();
    // An egg carries its metadata inside.
    if let Some(name) = folder.file_name().and_then(|name| name.to_str()?.strip_suffix(".egg")) {
        let info = folder.join("EGG-INFO");
        if info.is_dir() {
            found.push(read(name, info));
        }
    }
    for name in files::names(folder).unwrap_or_default() {
        let Some(name) = name.to_str() else { continue };
        let stem = name.strip_suffix(".dist-info").or_else(|| name.strip_suffix(".egg-info"));
        // pip renames what it removes to a name with a tilde, and may leave it there.
        if let Some(stem) = stem.filter(|stem| !stem.starts_with('~') && !stem.is_empty()) {
            found.push(read(stem, folder.join(name)));
        }
    }
    found
}

fn read(stem: &str, info: PathBuf) -> Distribution {
    let mut parts = stem.split('-');
    let name = parts.next().unwrap_or(stem).to_owned();
    let version = parts.next().map(str::to_owned);
    let entry_points = match files::read(&info.join("entry_points.txt"), LONGEST_ENTRY_POINTS) {
        Ok(text) => entry_points::parse(&text),
        Err(Unreadable::Because(reason)) if reason.contains("longer") => EntryPoints {
            problems: vec![format!("its entry_points.txt cannot be read: {reason}")],
            ..EntryPoints::default()
        },
        Err(_) => EntryPoints::default(),
    };
    Distribution { key: normalized(&name), name, version, entry_points, info }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::scratch::Scratch;

    #[test]
    fn names_and_versions_of_every_kind_of_metadata() {
        let site = Scratch::new("dist");
        site.write(
            "a_b-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: A.B\nVersion: 1.0+x\n\nName: c\n",
        );
        site.write("c-2.0-py3.11.egg-info/PKG-INFO", "Name: c\n");
        site.write("d.egg-info/PKG-INFO", "Name: d\nVersion: 4\n");
        site.write("single-5.egg-info", "Name: single\n");
        site.write("headless-6.dist-info/entry_points.txt", "");
        site.write("~left-1.0.dist-info/METADATA", "");
        site.write("strange.dist-info/METADATA", "");
        std::fs::create_dir_all(site.path().join("e-7.dist-info/entry_points.txt")).unwrap();
        let mut found = in_folder(site.path());
        found.iter_mut().for_each(Distribution::read_headers);
        let shown: Vec<String> = found
            .iter()
            .map(|found| format!("{} {} {}", found.key, found.name, found.version.as_deref().unwrap_or("?")))
            .collect();
        let wanted = [
            "a-b A.B 1.0+x",
            "c c 2.0",
            "d d 4",
            "e e 7",
            "headless headless 6",
            "single single 5",
            "strange strange ?",
        ];
        assert_eq!(shown, wanted);
        assert!(found.iter().all(|found| found.entry_points == EntryPoints::default()));
    }

    #[test]
    fn an_egg_has_its_metadata_inside() {
        let scratch = Scratch::new("egg");
        scratch.write("x_y-1.0-py3.11.egg/EGG-INFO/PKG-INFO", "Name: x-y\nVersion: 1.0\n");
        let found = in_folder(&scratch.path().join("x_y-1.0-py3.11.egg"));
        assert_eq!((found[0].key.as_str(), found[0].version.as_deref()), ("x-y", Some("1.0")));
    }

    #[test]
    fn spellings_of_a_name() {
        for spelling in ["jax-cuda12-pjrt", "jax_cuda12_pjrt", "Jax.Cuda12__Pjrt"] {
            assert_eq!(normalized(spelling), "jax-cuda12-pjrt");
        }
    }
}
