//! What the operating system refused, as a sentence that says what to do.

use std::io;
use std::path::Path;

use cyxla::error::{Code, Error, Origin};

/// What was tried.
#[derive(Clone, Copy, Debug)]
pub enum Doing {
    /// Reading a file of the user's or of ours.
    Reading,
    /// Making, writing, renaming or removing inside the plugins folder.
    Writing,
}

/// The error for a failed operation on a path.
pub fn problem(doing: Doing, path: &Path, error: &io::Error) -> Error {
    use io::ErrorKind as Kind;
    let shown = path.display();
    let verb = match doing {
        Doing::Reading => "read",
        Doing::Writing => "write",
    };
    let (code, message, hint) = match (error.kind(), doing) {
        (Kind::StorageFull, _) => (
            Code::ResourceExhausted,
            format!("the disk is full: cannot write {shown}"),
            "free some space, or install elsewhere with --dir DIR",
        ),
        (Kind::QuotaExceeded, _) => (
            Code::ResourceExhausted,
            format!("your disk quota is used up: cannot write {shown}"),
            "free some space, or install elsewhere with --dir DIR",
        ),
        (Kind::ReadOnlyFilesystem, _) => (
            Code::PermissionDenied,
            format!("{shown} is on a read-only file system"),
            "install into a folder that you may write to with --dir DIR",
        ),
        (Kind::PermissionDenied, Doing::Writing) => (
            Code::PermissionDenied,
            format!("you may not write to {shown}"),
            "install into a folder that you may write to with --dir DIR",
        ),
        (Kind::PermissionDenied, Doing::Reading) => (
            Code::PermissionDenied,
            format!("you may not read {shown}"),
            "change its permissions or give another file",
        ),
        (Kind::NotFound, Doing::Reading) => {
            (Code::NotFound, format!("there is no file {shown}"), "check the path")
        }
        (Kind::IsADirectory, Doing::Reading) => {
            (Code::InvalidArgument, format!("{shown} is a folder"), "give a file")
        }
        (Kind::NotADirectory | Kind::AlreadyExists, Doing::Writing) => (
            Code::FailedPrecondition,
            format!("cannot make {shown}: a part of its path is a file, not a folder"),
            "give another folder with --dir DIR",
        ),
        _ => (Code::Unavailable, format!("cannot {verb} {shown}: {error}"), ""),
    };
    let result = Error::new(code, Origin::System, message);
    if hint.is_empty() { result } else { result.hint(hint) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_its_own_sentence() {
        let path = Path::new("/data/cpu-0.115");
        let cases = [
            (28, Doing::Writing, Code::ResourceExhausted, "the disk is full"), // ENOSPC
            (122, Doing::Writing, Code::ResourceExhausted, "quota"),           // EDQUOT
            (30, Doing::Writing, Code::PermissionDenied, "read-only"),         // EROFS
            (13, Doing::Writing, Code::PermissionDenied, "may not write"),     // EACCES
            (13, Doing::Reading, Code::PermissionDenied, "may not read"),
            (2, Doing::Reading, Code::NotFound, "there is no file"), // ENOENT
            (21, Doing::Reading, Code::InvalidArgument, "is a folder"), // EISDIR
            (20, Doing::Writing, Code::FailedPrecondition, "not a folder"), // ENOTDIR
        ];
        for (number, doing, code, words) in cases {
            let error = problem(doing, path, &io::Error::from_raw_os_error(number));
            assert_eq!(error.code(), code);
            assert!(error.message().contains(words), "{}", error.message());
            assert!(error.message().contains("/data/cpu-0.115"), "{}", error.message());
            assert!(error.detail("hint").is_some());
        }
        let other = problem(Doing::Writing, path, &io::Error::from_raw_os_error(5)); // EIO
        assert_eq!(other.code(), Code::Unavailable);
        assert_eq!(other.detail("hint"), None);
    }
}
