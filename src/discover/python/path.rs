//! Python's search path: PYTHONPATH, the folders of packages, and the folders that
//! plain lines of their `.pth` files add.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::question::Way;
use crate::discover::{Search, files};
use crate::env;

/// A file of folders is short; one with code is not read as one.
const LONGEST: u64 = 1 << 20;

/// A folder that modules and packages are looked for in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// As it was found.
    pub path: PathBuf,
    /// The same for every way that leads to it.
    pub number: (u64, u64),
    /// How an interpreter that lacks it gets it.
    pub way: Way,
}

fn folder(path: PathBuf, way: Way) -> Option<Folder> {
    let number = files::number(&path).filter(|_| path.is_dir())?;
    Some(Folder { path, number, way })
}

/// The folders of PYTHONPATH. Those that do not exist are common and no problem.
pub fn of_variable(search: &mut Search) -> Vec<Folder> {
    let mut folders = Vec::new();
    for path in search.surroundings.list(env::PYTHONPATH).unwrap_or_default() {
        if path.is_absolute() {
            folders.extend(folder(path, Way::First));
        } else {
            let problem = "it is not an absolute path, so it was not searched";
            search.fail(format!("{} ({})", path.display(), env::PYTHONPATH), problem);
        }
    }
    folders
}

/// The whole path of an environment, each folder once.
pub fn of_environment(first: &[Folder], environment: &Environment) -> Vec<Folder> {
    let mut folders = first.to_vec();
    for site in &environment.sites {
        folders.extend(folder(site.clone(), Way::Site));
        folders.extend(added_by(site).into_iter().filter_map(|path| folder(path, Way::Plain)));
    }
    let mut seen = HashSet::new();
    folders.retain(|folder| seen.insert(folder.number));
    folders
}

/// What the `.pth` files of a folder add. Lines of code are left to interpreters.
fn added_by(site: &Path) -> Vec<PathBuf> {
    let mut added = Vec::new();
    for name in files::names(site).unwrap_or_default() {
        let bytes = name.as_encoded_bytes();
        if !bytes.ends_with(b".pth") || bytes.starts_with(b".") || bytes.starts_with(b"~") {
            continue;
        }
        let text = files::read(&site.join(&name), LONGEST).unwrap_or_default();
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        for line in text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end) {
            let is_code = line.starts_with(b"import ") || line.starts_with(b"import\t");
            if line.trim_ascii().is_empty() || line.starts_with(b"#") || is_code || line.contains(&0) {
                continue;
            }
            added.push(site.join(OsStr::from_bytes(line)));
        }
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::scratch::Scratch;

    #[test]
    fn plain_lines_add_folders_once() {
        let scratch = Scratch::new("pth");
        let site = scratch.path().join("site");
        scratch.write("one/x", "");
        scratch.write("site/two/x", "");
        scratch.write(
            "site/b.pth",
            "# comment\n\n  \nimport os; os._exit(1)\nimport\tos\n../not-there\ntwo\r\n",
        );
        scratch.write("site/a.pth", format!("{}\n", scratch.path().join("one").display()));
        scratch.write("site/c.pth", b"caf\xe9\n./two\na\0b\n");
        scratch.write("site/.hidden.pth", "../one/..\n");
        scratch.write("site/x.txt", "../site/..\n");
        let environment = Environment {
            from: "test",
            root: scratch.path().into(),
            interpreter: None,
            sites: vec![site.clone(), scratch.path().join("one/../site"), scratch.path().join("none")],
        };
        let folders = of_environment(&[], &environment);
        let paths: Vec<&Path> = folders.iter().map(|folder| folder.path.as_path()).collect();
        assert_eq!(paths, [site.as_path(), &scratch.path().join("one"), &site.join("two")]);
    }
}
