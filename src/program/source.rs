//! Reads a program's file.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
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
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let read = opened.and_then(|mut file| {
        // Anything but a regular file could block or never end. Asked of what was opened:
        // another may have the name by now.
        let found = file.metadata()?;
        if !found.is_file() {
            return Ok(Err(found.is_dir()));
        }
        let mut bytes = Vec::new();
        let size = usize::try_from(found.len()).unwrap_or(usize::MAX);
        bytes.try_reserve_exact(size).map_err(|_| std::io::Error::from(ErrorKind::OutOfMemory))?;
        file.read_to_end(&mut bytes)?;
        Ok(Ok(bytes))
    });
    let error = match read {
        Ok(Ok(bytes)) => return Ok(bytes),
        Ok(Err(true)) => return refuse(Code::InvalidArgument, "it is a directory".into()),
        Ok(Err(false)) => return refuse(Code::InvalidArgument, "it is not a regular file".into()),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::NotFound => {
            refuse(Code::NotFound, "there is no such file".into()).map_err(|error: Error| {
                error.hint("check the path; a relative one starts at the working folder")
            })
        }
        ErrorKind::PermissionDenied => refuse(Code::PermissionDenied, "permission denied".into()),
        ErrorKind::OutOfMemory => refuse(Code::ResourceExhausted, "there is not enough memory for it".into()),
        _ => refuse(Code::FailedPrecondition, error.to_string()),
    }
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
