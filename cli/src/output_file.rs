//! Writes a file whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use cyxla::error::{Code, Error, Origin, Result};

/// Where a file will be written; the place was looked at already, so that long work is
/// not done in vain.
#[derive(Debug)]
pub struct OutputFile {
    /// The file, whatever links lead to it.
    target: PathBuf,
    shown: PathBuf,
}

impl OutputFile {
    /// An error if no file can be written there, or if it is the one at `input`.
    pub fn new(path: &Path, input: &Path) -> Result<OutputFile> {
        let refuse =
            |reason: &str| Err(Error::invalid_argument(format!("cannot write {}: {reason}", path.display())));
        let target = match fs::canonicalize(path) {
            Ok(target) if target.is_dir() => return refuse("it is a folder"),
            Ok(target) if !target.is_file() => return refuse("it is not a regular file"),
            Ok(target) if fs::canonicalize(input).is_ok_and(|input| input == target) => {
                return refuse("it is the program itself");
            }
            Ok(target) => target,
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(cannot_write(path, &error)),
        };
        if target.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return refuse("it names a folder");
        }
        let file = OutputFile { target, shown: path.to_owned() };
        match fs::metadata(file.folder()) {
            Ok(facts) if facts.is_dir() => Ok(file),
            Ok(_) => Err(cannot_write(path, &ErrorKind::NotADirectory.into())),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let message = format!(
                    "cannot write {}: there is no folder {}",
                    path.display(),
                    file.folder().display()
                );
                Err(Error::new(Code::NotFound, Origin::Caller, message).hint("make the folder first"))
            }
            Err(error) => Err(cannot_write(path, &error)),
        }
    }

    fn folder(&self) -> &Path {
        match self.target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    /// Writes another file, which then takes the place of what was there.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut name = OsString::from(".");
        name.push(self.target.file_name().unwrap_or_default());
        name.push(format!(".{}", std::process::id()));
        let unfinished = self.folder().join(name);
        let write = || -> io::Result<()> {
            // Nobody's link or file is written to, only one of our own.
            let mut file = File::create_new(&unfinished)?;
            file.write_all(bytes)?;
            // It takes the name when it is there even if the machine stops.
            file.sync_all()?;
            fs::rename(&unfinished, &self.target)
        };
        write().map_err(|error| {
            if error.kind() != ErrorKind::AlreadyExists {
                let _ = fs::remove_file(&unfinished);
            }
            cannot_write(&self.shown, &error)
        })
    }
}

/// The error of a file or folder that could not be written.
pub fn cannot_write(path: &Path, error: &io::Error) -> Error {
    let shown = path.display();
    let (code, message) = match error.kind() {
        ErrorKind::PermissionDenied => (Code::PermissionDenied, format!("you may not write {shown}")),
        ErrorKind::StorageFull => {
            (Code::ResourceExhausted, format!("the disk is full: cannot write {shown}"))
        }
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            (Code::InvalidArgument, format!("cannot write into {shown}: it is, or is inside, a file"))
        }
        _ => (Code::Unavailable, format!("cannot write {shown}: {error}")),
    };
    Error::new(code, Origin::System, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &Path, input: &Path) -> String {
        OutputFile::new(path, input).unwrap_err().message().to_owned()
    }

    #[test]
    fn places_that_cannot_be_written_are_refused_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in");
        fs::write(&input, "program").unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&input, &link).unwrap();
        assert!(refused(&input, &input).contains("the program itself"));
        assert!(refused(&link, &input).contains("the program itself"));
        assert!(refused(folder.path(), &input).contains("a folder"));
        assert!(refused(Path::new("/dev/null"), &input).contains("not a regular file"));
        assert!(refused(&folder.path().join("no/out"), &input).contains("there is no folder"));
        assert!(refused(&folder.path().join("out/"), &input).contains("names a folder"));
        assert!(refused(&input.join("out"), &input).contains("inside, a file"));
    }

    #[test]
    fn a_file_is_replaced_through_a_link_and_nothing_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("out"), folder.path().join("link"));
        OutputFile::new(&target, Path::new("in")).unwrap().write(b"one").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        OutputFile::new(&link, Path::new("in")).unwrap().write(b"two").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"two");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
