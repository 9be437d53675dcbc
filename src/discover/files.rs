//! Reads small files and folders that anyone may have made: bounded in size, and
//! never waiting for a pipe.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::order;

/// Why a file or folder gave nothing.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// There is none.
    Missing,
    /// It is there, but cannot be read for this reason.
    Because(String),
}

impl Unreadable {
    /// The reason in words.
    pub fn reason(self) -> String {
        match self {
            Unreadable::Missing => "there is no such file".into(),
            Unreadable::Because(reason) => reason,
        }
    }
}

impl From<std::io::Error> for Unreadable {
    fn from(error: std::io::Error) -> Unreadable {
        match error.kind() {
            // A part of the path that is a file is a missing folder.
            ErrorKind::NotFound | ErrorKind::NotADirectory => Unreadable::Missing,
            _ => Unreadable::Because(in_words(&error)),
        }
    }
}

fn in_words(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ELOOP) => "its symbolic links form a loop".into(),
        Some(libc::ENAMETOOLONG) => "the path is too long".into(),
        _ if error.kind() == ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

/// Opens a regular file; anything else could block or never end.
fn open(path: &Path) -> Result<File, Unreadable> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let kind = file.metadata()?;
    if kind.is_dir() {
        return Err(Unreadable::Because("it is a directory".into()));
    }
    if !kind.is_file() {
        return Err(Unreadable::Because("it is not a regular file".into()));
    }
    Ok(file)
}

/// The whole of a file of at most `longest` bytes.
pub fn read(path: &Path, longest: u64) -> Result<Vec<u8>, Unreadable> {
    let bytes = read_start(path, longest + 1)?;
    if bytes.len() as u64 > longest {
        return Err(Unreadable::Because(format!("it is longer than {longest} bytes")));
    }
    Ok(bytes)
}

/// The first bytes of a file.
pub fn read_start(path: &Path, most: u64) -> Result<Vec<u8>, Unreadable> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The names in a folder, in their own order.
pub fn names(folder: &Path) -> Result<Vec<OsString>, Unreadable> {
    let entries = std::fs::read_dir(folder).map_err(|error| match error.kind() {
        ErrorKind::NotADirectory => Unreadable::Because("it is not a folder".into()),
        _ => Unreadable::from(error),
    })?;
    let mut names: Vec<OsString> = entries.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
    order::sort(&mut names);
    Ok(names)
}

/// The number of a file or folder on this machine, whichever way leads to it.
pub fn number(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// What changes when a file is written or replaced.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Identity(u64, u64, u64, i64, i64);

/// The identity of a file; `None` when there is none.
pub fn identity(path: &Path) -> Option<Identity> {
    let found = std::fs::metadata(path).ok()?;
    Some(Identity(found.dev(), found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
}

/// Why a library file cannot be used, as far as its presence tells.
pub fn problem_of_library(path: &Path) -> Option<String> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Some("there is no such file".into()),
        Err(error) => Some(in_words(&error)),
        Ok(found) if found.is_dir() => Some("it is a directory".into()),
        Ok(found) if !found.is_file() => Some("it is not a regular file".into()),
        Ok(found) if found.len() == 0 => Some("the file is empty".into()),
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::scratch::Scratch;

    fn because(result: Result<Vec<u8>, Unreadable>) -> String {
        match result.unwrap_err() {
            Unreadable::Because(reason) => reason,
            Unreadable::Missing => "missing".into(),
        }
    }

    #[test]
    fn what_cannot_be_read_says_why_and_does_not_block() {
        let folder = Scratch::new("files");
        let here = |name: &str| folder.path().join(name);
        assert_eq!(because(read(&here("nothing"), 10)), "missing");
        assert!(because(read(folder.path(), 10)).contains("directory"));
        assert!(because(read(Path::new("/dev/zero"), 10)).contains("not a regular file"));
        std::os::unix::fs::symlink("loop", here("loop")).unwrap();
        assert!(because(read(&here("loop"), 10)).contains("loop"));
        let pipe = here("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(because(read(&pipe, 10)).contains("not a regular file"));
        // A gigabyte that takes no room on disk.
        let file = File::create(here("big")).unwrap();
        file.set_len(1 << 30).unwrap();
        assert!(because(read(&here("big"), 10)).contains("longer than 10 bytes"));
        let small = folder.write("small", "0123456789");
        assert_eq!(read(&small, 10).unwrap(), b"0123456789");
        assert_eq!(read_start(&small, 4).unwrap(), b"0123");
        assert!(matches!(names(&small), Err(Unreadable::Because(_))));
    }

    #[test]
    fn an_identity_changes_with_the_content() {
        let folder = Scratch::new("identity");
        let path = folder.write("file", "a");
        let before = identity(&path).unwrap();
        assert_eq!(identity(&path), Some(before.clone()));
        folder.write("file", "bb");
        assert_ne!(identity(&path), Some(before));
        assert_eq!(identity(&folder.path().join("other")), None);
    }
}
