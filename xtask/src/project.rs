//! Where things are: the source tree, the build folder, the cache.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::process;

/// The source tree and the build folder that cargo uses for it.
pub struct Project {
    pub root: PathBuf,
    pub target: PathBuf,
}

impl Project {
    pub fn find() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .ok_or("run this as `cargo xtask …`, so that cargo says where the sources are")?;
        let root = Path::new(&manifest).parent().ok_or("the folder xtask has no parent")?.to_path_buf();
        let here = env::current_dir().map_err(|error| format!("no current folder: {error}"))?;
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) if !folder.is_empty() => here.join(folder),
            _ => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// cargo, in the source tree.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root);
        command
    }

    pub fn release(&self) -> PathBuf {
        self.target.join("release")
    }

    pub fn debug(&self) -> PathBuf {
        self.target.join("debug")
    }

    pub fn library(&self) -> PathBuf {
        self.release().join("libcyxla.so")
    }

    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    pub fn fake_plugin(&self) -> PathBuf {
        self.debug().join("libcyxla_fake_plugin.so")
    }

    /// The command `cyxla`, as built for release.
    pub fn cyxla(&self) -> Command {
        Command::new(self.release().join("cyxla"))
    }

    /// Builds the library and the command, and gives the library the name
    /// that programs linked with it ask for at run time.
    pub fn build_release(&self) -> Result<()> {
        process::run(self.cargo().args(["build", "--release", "--package", "cyxla-cli"]))?;
        // By itself: cargo does not optimize across crates what is a Rust library as well,
        // and that is a fifth of its size.
        process::run(
            self.cargo()
                .args(["rustc", "--release", "--package", "libcyxla", "--lib"])
                .args(["--crate-type", "cdylib,staticlib"]),
        )?;
        let link = self.release().join("libcyxla.so.0");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink("libcyxla.so", &link)
            .map_err(|error| format!("cannot make the link {}: {error}", link.display()))
    }

    /// An empty folder for what a step makes.
    pub fn fresh_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.target.join("xtask").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .map_err(|error| format!("cannot empty {}: {error}", folder.display()))?;
        }
        make_folder(&folder)?;
        Ok(folder)
    }

    /// A folder that keeps what is in it.
    pub fn kept_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.target.join("xtask").join(name);
        make_folder(&folder)?;
        Ok(folder)
    }
}

/// The folder for downloads that outlive the build folder.
pub fn cache() -> Result<PathBuf> {
    let base = match env::var_os("XDG_CACHE_HOME").map(PathBuf::from) {
        Some(folder) if folder.is_absolute() => folder,
        _ => {
            let home = env::var_os("HOME").filter(|home| !home.is_empty());
            PathBuf::from(home.ok_or("set HOME or XDG_CACHE_HOME: downloads are kept there")?).join(".cache")
        }
    };
    let folder = base.join("libcyxla");
    make_folder(&folder)?;
    Ok(folder)
}

pub fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))
}

pub fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

pub fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
