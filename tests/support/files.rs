//! Folders and libraries that tests make for themselves.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(purpose: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        let path = std::env::temp_dir().join(format!("cyxla-{purpose}-{process}-{number}"));
        std::fs::create_dir_all(&path)
            .unwrap_or_else(|error| panic!("cannot make {}: {error}", path.display()));
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in the system's folder for temporary files harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Builds a library from a source file of `tests/fake_plugin/native`.
pub fn native_library(source: &str, folder: &Folder) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_plugin/native").join(source);
    let compiler = if source.ends_with(".c") { "gcc" } else { "g++" };
    let library = folder.path().join(source).with_extension("so");
    let status = Command::new(compiler)
        .args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o"])
        .args([&library, &path])
        .status()
        .unwrap_or_else(|error| panic!("cannot run {compiler}: {error}: run `cargo xtask test`"));
    assert!(status.success(), "{compiler} cannot build {}", path.display());
    library
}
