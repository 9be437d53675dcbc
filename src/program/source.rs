//! Reads a program's file.

use std::path::Path;

use crate::error::{Code, Error, Origin, Result};

/// The bytes of a regular file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let shown = path.display();
    let refuse = |code, reason: String| {
        Err(Error::new(code, Origin::Caller, format!("cannot read the program {shown}: {reason}"))
            .parameter("path"))
    };
    if path.as_os_str().is_empty() {
        return refuse(Code::InvalidArgument, "the path is empty".into());
    }
    // Anything but a regular file could block or never end.
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return refuse(Code::InvalidArgument, "it is a directory".into()),
        Ok(found) if !found.is_file() => {
            return refuse(Code::InvalidArgument, "it is not a regular file".into());
        }
        _ => {}
    }
    std::fs::read(path).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            refuse(Code::NotFound, "there is no such file".into()).map_err(|error: Error| {
                error.hint("check the path; a relative one starts at the working folder")
            })
        }
        std::io::ErrorKind::PermissionDenied => refuse(Code::PermissionDenied, "permission denied".into()),
        std::io::ErrorKind::OutOfMemory => {
            refuse(Code::ResourceExhausted, "there is not enough memory for it".into())
        }
        _ => refuse(Code::FailedPrecondition, error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_that_cannot_be_read() {
        let code = |path: &str| read(Path::new(path)).unwrap_err().code();
        assert_eq!(code("/no/such/program"), Code::NotFound);
        assert_eq!(code("/"), Code::InvalidArgument);
        assert_eq!(code("/dev/zero"), Code::InvalidArgument);
        assert_eq!(code(""), Code::InvalidArgument);
    }
}
