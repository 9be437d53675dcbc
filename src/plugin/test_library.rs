//! Small shared libraries for the unit tests, built by the C compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A library with one function, named after it.
pub struct Library {
    name: String,
    arguments: Vec<String>,
}

impl Library {
    pub fn new(name: &str) -> Library {
        Library { name: name.into(), arguments: vec![format!("-Wl,-soname,{name}")] }
    }

    pub fn needs(mut self, library: &Path) -> Library {
        self.arguments.push(library.to_str().unwrap().into());
        self
    }

    pub fn linked(mut self, arguments: &[&str]) -> Library {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }

    pub fn build(self, folder: &Path) -> PathBuf {
        std::fs::create_dir_all(folder).unwrap();
        let path = folder.join(&self.name);
        let function = self.name.replace(['.', '-'], "_");
        let source = folder.join(format!("{function}.c"));
        std::fs::write(&source, format!("int {function}(void) {{ return 1; }}\n")).unwrap();
        let status = Command::new("cc")
            .args([
                "-shared",
                "-fPIC",
                "-nostdlib",
                "-Wl,--no-as-needed",
                "-Wl,--allow-shlib-undefined",
                "-o",
            ])
            .args([&path, &source])
            .args(&self.arguments)
            .status()
            .expect("a C compiler: run `cargo xtask test`");
        assert!(status.success());
        path
    }

    /// A new folder for libraries.
    pub fn folder(purpose: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("cyxla-{purpose}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder.canonicalize().unwrap()
    }
}
