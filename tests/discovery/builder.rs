//! Builds Python environments and what packages leave in them.

use crate::support::Folder;
use cyxla::discover::{Found, PluginList, Surroundings, find_in};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What stands for a library: listing opens none.
pub const LIBRARY: &str = "a library";

/// The interpreter that the environments are made with, and its version, as `3.11`.
pub fn python() -> &'static (PathBuf, String) {
    static PYTHON: OnceLock<(PathBuf, String)> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let script =
            "import os, sys; print(os.path.realpath(sys.executable)); print('%d.%d' % sys.version_info[:2])";
        let output = Command::new("python3").args(["-I", "-c", script]).output();
        let output =
            output.unwrap_or_else(|error| panic!("cannot run python3: {error}: run `cargo xtask test`"));
        let text = String::from_utf8(output.stdout).expect("the path of python3 is text");
        let (path, version) = text.trim().split_once('\n').expect("python3 tells where it is");
        (path.into(), version.to_owned())
    })
}

/// A folder with environments in it, and an empty machine around them.
pub struct World {
    folder: Folder,
    variables: Vec<(OsString, OsString)>,
}

impl World {
    pub fn new() -> World {
        let world = World { folder: Folder::new("discovery"), variables: Vec::new() };
        fs::create_dir(world.at("machine")).expect("a folder for the machine");
        world
    }

    pub fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, with the folders above it, and gives its path.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        write(&self.at(name), content)
    }

    /// Writes a file of the machine, such as `dev/nvidia0`.
    pub fn machine(&self, name: &str, content: &str) -> PathBuf {
        self.write(Path::new("machine").join(name), content)
    }

    pub fn set(&mut self, name: &str, value: impl Into<OsString>) -> &mut World {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// A virtual environment, which VIRTUAL_ENV names.
    pub fn active(&mut self, name: impl AsRef<Path>) -> Site {
        let site = self.venv(name);
        self.set("VIRTUAL_ENV", &site.root);
        site
    }

    /// A virtual environment.
    pub fn venv(&self, name: impl AsRef<Path>) -> Site {
        let (base, version) = python();
        let root = self.at(name);
        let home = base.parent().expect("the interpreter is in a folder").display();
        let config = format!("home = {home}\ninclude-system-site-packages = false\nversion = {version}.1\n");
        write(&root.join("pyvenv.cfg"), config);
        let site = Site::below(&root, &format!("lib/python{version}/site-packages"));
        site.interpreter();
        site
    }

    pub fn surroundings(&self) -> Surroundings {
        Surroundings::made_up(&self.at("machine"), self.variables.iter().cloned())
    }

    pub fn find(&self) -> PluginList {
        find_in(&self.surroundings())
    }
}

/// A folder of packages.
pub struct Site {
    /// The environment that it is of.
    pub root: PathBuf,
    pub path: PathBuf,
}

impl Site {
    pub fn below(root: &Path, path: &str) -> Site {
        let path = root.join(path);
        fs::create_dir_all(&path).expect("a folder of packages");
        Site { root: root.to_owned(), path }
    }

    /// Gives the environment an interpreter that works.
    pub fn interpreter(&self) {
        fs::create_dir_all(self.root.join("bin")).expect("a folder for the interpreter");
        symlink(&python().0, self.root.join("bin/python")).expect("a link");
        symlink("python", self.root.join("bin/python3")).expect("a link");
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub fn add(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write(&self.at(name), content)
    }

    /// Installs a package's metadata.
    pub fn package(&self, name: &str, version: &str, entry_points: impl AsRef<[u8]>) {
        let info = format!("{}-{version}.dist-info", name.replace('-', "_"));
        let metadata = format!("Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n");
        self.add(&format!("{info}/METADATA"), metadata);
        self.add(&format!("{info}/RECORD"), "");
        if !entry_points.as_ref().is_empty() {
            self.add(&format!("{info}/entry_points.txt"), entry_points);
        }
    }

    /// Installs a package that declares a plugin: a module with this source, and a
    /// library beside it.
    pub fn declared(&self, name: &str, source: impl AsRef<[u8]>) -> PathBuf {
        let module = name.replace('-', "_");
        self.package(name, "1.0", format!("[cyxla.plugins]\n{module} = {module}\n"));
        self.add(&format!("{module}/__init__.py"), source);
        self.add(&format!("{module}/plugin.so"), LIBRARY)
    }

    /// Installs a wheel of JAX's; gives its library.
    pub fn jax(&self, name: &str, version: &str) -> PathBuf {
        let module = format!("xla_{name}");
        let platform = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let entry = format!("[jax_plugins]\n{module} = jax_plugins.{module}\n");
        self.package(&format!("jax-{name}-pjrt"), version, entry);
        self.add(&format!("jax_plugins/{module}/__init__.py"), "raise RuntimeError('not to be imported')\n");
        self.add(&format!("jax_plugins/{module}/xla_{platform}_plugin.so"), LIBRARY)
    }

    pub fn libtpu(&self) -> PathBuf {
        self.package("libtpu", "0.0.52", "");
        self.add("libtpu/__init__.py", "raise RuntimeError('not to be imported')\n");
        self.add("libtpu/sdk.so", LIBRARY);
        self.add("libtpu/libtpu.so", LIBRARY)
    }
}

pub fn write(path: &Path, content: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
    fs::write(path, content).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    path.to_owned()
}

/// Source of a module that offers `plugin.so` beside it.
pub fn module(platform: &str) -> String {
    module_with(platform, "{'cpu_device_count': 1, 'asynchronous': False}", "plugin.so", "")
}

pub fn module_with(platform: &str, options: &str, library: &str, extra: &str) -> String {
    format!(
        "import os\n\nPLATFORM = '{platform}'\nCREATE_OPTIONS = {options}\n{extra}\n\ndef library_path():\n    \
         return os.path.join(os.path.dirname(os.path.abspath(__file__)), '{library}')\n"
    )
}

/// The usable plugins, as platform and path, in the list's order.
pub fn usable(list: &PluginList) -> Vec<(&str, &Path)> {
    let usable = list.plugins.iter().filter(|found| found.problem.is_none());
    usable.map(|found| (found.platform.as_str(), found.path.as_path())).collect()
}

/// Checks that exactly these are usable, in this order.
pub fn assert_usable(list: &PluginList, wanted: &[(&str, &PathBuf)]) {
    let wanted: Vec<(&str, &Path)> =
        wanted.iter().map(|(platform, path)| (*platform, path.as_path())).collect();
    assert_eq!(usable(list), wanted, "{:#?}", list.failures);
}

pub fn assert_no_problem(list: &PluginList) {
    assert!(list.failures.is_empty(), "{:#?}", list.failures);
    assert!(list.plugins.iter().all(|found| found.problem.is_none()), "{:#?}", list.plugins);
}

/// The one problem of which this is the subject.
pub fn problem<'a>(list: &'a PluginList, subject: &str) -> &'a str {
    let of_plugins = list.plugins.iter().filter_map(|found| Some((&found.origin, found.problem.as_ref()?)));
    let all = list.failures.iter().map(|failure| (&failure.subject, &failure.problem)).chain(of_plugins);
    let mut of_it = all.filter(|(about, _)| about.contains(subject)).map(|(_, problem)| problem);
    let first = of_it.next().unwrap_or_else(|| panic!("no problem of {subject} in {list:#?}"));
    assert_eq!(of_it.next(), None, "a second problem of {subject}");
    first
}

pub fn default(list: &PluginList) -> Option<&Found> {
    list.plugins.iter().find(|found| found.is_default)
}
