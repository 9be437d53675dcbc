//! A small package with a plugin in it, and its pin.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use cyxla_cli::install::{Installed, Interrupt, Pin, PluginsFolder, Progress, Source, Wheel, install};
use sha2::{Digest, Sha256};

const LIBRARY: &str = "some_package/plugin.so";
const HEADER: &str = "some_package/include/api.h";

/// Makes a wheel whose library has this size, always the same one.
pub fn make(folder: &Path, size: usize) -> PathBuf {
    let path = folder.join("some_package-1.0-py3-none-any.whl");
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    let packed = zip::write::SimpleFileOptions::default();
    for (name, content) in [(HEADER, b"/* header */\n".to_vec()), (LIBRARY, library(size))] {
        zip.start_file(name, packed).unwrap();
        zip.write_all(&content).unwrap();
    }
    zip.finish().unwrap();
    path
}

/// Bytes that do not compress well, so that unpacking takes its time.
fn library(size: usize) -> Vec<u8> {
    let mut state = 1u32;
    let step = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..size).map(step).collect()
}

/// The pin of a wheel that `make` made with this size.
pub fn pin(wheel: &Path, size: usize) -> Pin {
    let wheel = std::fs::read(wheel).unwrap();
    Pin {
        platform: "cpu",
        version: "0.99",
        package: "some-package",
        package_version: "1.0",
        wheel_sha256: sha256(&wheel),
        wheel_size: wheel.len() as u64,
        library: LIBRARY,
        library_sha256: sha256(&library(size)),
        library_size: size as u64,
        extras: &[HEADER],
    }
}

fn sha256(bytes: &[u8]) -> &'static str {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    hex.leak()
}

/// Installs a wheel as the command does it.
pub fn put(wheel: &Path, pin: &Pin, plugins: &Path, force: bool) -> cyxla::error::Result<Installed> {
    let interrupt = Interrupt::default();
    let source = Source::Wheel(Wheel::open(wheel, &Progress::Silent, &interrupt)?);
    let plugins = PluginsFolder::make(plugins)?;
    install(pin, &plugins, source, force, &Progress::Silent, &interrupt)
}

/// Checks that the folder holds the whole plugin or none, and whether it does.
#[track_caller]
pub fn is_there(plugins: &Path, pin: &Pin) -> bool {
    let visible: Vec<String> = std::fs::read_dir(plugins)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect();
    if visible.is_empty() {
        return false;
    }
    assert_eq!(visible, ["cpu-0.99"]);
    let folder = plugins.join("cpu-0.99");
    let bytes = std::fs::read(folder.join("plugin.so")).unwrap();
    assert_eq!(bytes.len() as u64, pin.library_size);
    assert_eq!(sha256(&bytes), pin.library_sha256);
    assert_eq!(std::fs::read(folder.join("api.h")).unwrap(), b"/* header */\n");
    let manifest = std::fs::read(folder.join("plugin.json")).unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&manifest).unwrap(), pin.manifest());
    true
}

/// Work folders that are left in a plugins folder.
pub fn leftovers(plugins: &Path) -> usize {
    let names = std::fs::read_dir(plugins).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.as_encoded_bytes().starts_with(b".tmp-")).count()
}
