//! Programs: what a file or a piece of memory holds, as far as it can be told
//! without a plugin.

mod bytecode;
mod calls;
mod detect;
pub mod foreign;
pub(crate) mod hlo;
pub mod jax_export;
mod lexer;
mod replicas;
pub mod saved_magic;
mod signature;
mod tensors;
mod text;

use std::path::Path;

pub use bytecode::written_by;
pub use signature::{Signature, TensorSpec};

use crate::error::{Code, Error, Origin, Result};
use crate::memory;

/// What the caller says that a program is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Find out from the content.
    Detect,
    /// StableHLO as text, MLIR bytecode or portable artifact.
    StableHlo,
    /// A file of `jax.export`.
    JaxExport,
    /// A serialized `HloModuleProto`.
    Hlo,
}

/// A program that has not been compiled. Immutable.
#[derive(Debug)]
pub struct Program {
    /// With a NUL at the end that is not part of the program.
    code: Vec<u8>,
    platforms: Vec<String>,
}

impl Program {
    /// Reads a program from a file.
    pub fn from_file(path: &Path, format: Format, platform: Option<&str>) -> Result<Program> {
        Program::new(read(path)?, format, platform)
            .map_err(|error| error.map_message(|message| format!("{}: {message}", path.display())))
    }

    /// Copies a program from memory.
    pub fn from_bytes(bytes: &[u8], format: Format, platform: Option<&str>) -> Result<Program> {
        let mut code = memory::room(bytes.len() + 1)?;
        code.extend_from_slice(bytes);
        Program::new(code, format, platform)
    }

    fn new(mut code: Vec<u8>, format: Format, platform: Option<&str>) -> Result<Program> {
        let platforms = platform.map(crate::platform::check_name).transpose()?;
        detect::check(&code, format)?;
        // Plugins read text up to a NUL, whatever size they are told. Reserved
        // exactly: a program can be large, and pushing might double its memory.
        code.reserve_exact(1);
        code.push(0);
        Ok(Program { code, platforms: platforms.into_iter().collect() })
    }

    /// The bytes that a plugin compiles. Never empty; a NUL stands behind them.
    pub fn code(&self) -> &[u8] {
        &self.code[..self.code.len() - 1]
    }

    /// The platforms that the program was lowered for; empty when it records none.
    pub fn platforms(&self) -> &[String] {
        &self.platforms
    }

    /// The program's format, never [`Format::Detect`].
    pub fn format(&self) -> Format {
        Format::StableHlo
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
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
        _ => refuse(Code::FailedPrecondition, error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_that_cannot_be_read() {
        let code = |path: &str| Program::from_file(Path::new(path), Format::Detect, None).unwrap_err().code();
        assert_eq!(code("/no/such/program"), Code::NotFound);
        assert_eq!(code("/"), Code::InvalidArgument);
        assert_eq!(code("/dev/zero"), Code::InvalidArgument);
        assert_eq!(code(""), Code::InvalidArgument);
    }
}
