//! Tells program encodings apart by their content.

use memchr::memmem;

use super::{Format, bytecode, calls, replicas, tensors, text};
use crate::error::{Code, Error, Origin, Result};

/// What a program's bytes look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// MLIR bytecode, which portable StableHLO artifacts are too.
    Bytecode,
    /// Text that may be StableHLO.
    Text,
    /// Text of XLA's own HLO language.
    HloText,
    /// A file of `jax.export`: FlatBuffers with MLIR bytecode inside.
    JaxExport,
    /// None of these.
    Unknown,
}

impl Encoding {
    /// The encoding that `code` looks like.
    pub fn of(code: &[u8]) -> Encoding {
        if code.starts_with(bytecode::MAGIC) {
            return Encoding::Bytecode;
        }
        if let Ok(text) = std::str::from_utf8(code) {
            let text = text.trim_start();
            return match text {
                _ if text.starts_with("HloModule") => Encoding::HloText,
                _ if text.contains("func.func") || text.contains("module") => Encoding::Text,
                _ => Encoding::Unknown,
            };
        }
        // A FlatBuffer begins with the position of its root table; the bytecode
        // of the module is one of its vectors.
        if memmem::find(code, bytecode::MAGIC).is_some_and(|position| position >= 8) {
            return Encoding::JaxExport;
        }
        Encoding::Unknown
    }
}

/// Whether this version can compile `code` as the caller's `format`.
pub fn check(code: &[u8], format: Format) -> Result<()> {
    if code.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::invalid_argument("the program is empty"));
    }
    if format == Format::Hlo {
        return Err(unsupported("HLO protos", "give the program as StableHLO"));
    }
    let encoding = Encoding::of(code);
    match (format, encoding) {
        (Format::JaxExport, _) | (Format::Detect, Encoding::JaxExport) => Err(unsupported(
            "jax.export files",
            "save the StableHLO inside it: open(path, 'wb').write(exported.mlir_module_serialized)",
        )),
        (Format::Detect | Format::StableHlo, Encoding::Bytecode) => bytecode::check(code),
        (Format::Detect | Format::StableHlo, Encoding::Text) => check_text(code),
        (_, Encoding::HloText) => {
            Err(Error::invalid_argument("the program is HLO text, which plugins do not accept")
                .hint("convert it to StableHLO, or to a serialized HloModuleProto"))
        }
        // The caller insists; a plugin says what is wrong with a text.
        (Format::StableHlo, Encoding::Unknown) if std::str::from_utf8(code).is_ok() => check_text(code),
        _ => Err(Error::invalid_argument(
            "the program is not recognized: it is neither StableHLO text (an MLIR module) nor MLIR bytecode",
        )
        .hint("if it was cut short or written by another tool, write it again")),
    }
}

fn check_text(code: &[u8]) -> Result<()> {
    let Ok(text) = std::str::from_utf8(code) else { return Ok(()) };
    text::check_nesting(text)?;
    text::check_dialect(text)?;
    tensors::check_sizes(text)?;
    replicas::check_replicas(text)?;
    calls::check_calls(text)
}

fn unsupported(what: &str, advice: &str) -> Error {
    let message = format!("this version of libcyxla cannot read {what} yet");
    Error::new(Code::Unimplemented, Origin::Library, message).hint(advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings() {
        let jax = [&[24, 0, 0, 0, 0, 0, 0, 0, 0xff][..], bytecode::MAGIC].concat();
        let cases: [(&[u8], Encoding); 8] = [
            (b"ML\xefR\x0dStableHLO_v1.0.0\0", Encoding::Bytecode),
            (b"\n module {}", Encoding::Text),
            (b"// hi\nfunc.func @main() { return }", Encoding::Text),
            (b"  HloModule m\n", Encoding::HloText),
            (&jax, Encoding::JaxExport),
            (b"hello", Encoding::Unknown),
            (b"\x7fELF\xff", Encoding::Unknown),
            (b"", Encoding::Unknown),
        ];
        for (code, encoding) in cases {
            assert_eq!(Encoding::of(code), encoding, "{code:?}");
        }
    }

    #[test]
    fn formats_are_refused_or_taken() {
        let outcome = |code: &[u8], format| check(code, format).map_err(|error| error.code());
        assert_eq!(outcome(b"module {}", Format::Detect), Ok(()));
        assert_eq!(outcome(b"whatever", Format::StableHlo), Ok(()));
        assert_eq!(outcome(b"whatever", Format::Detect), Err(Code::InvalidArgument));
        assert_eq!(outcome(b"\xff\xfe", Format::StableHlo), Err(Code::InvalidArgument));
        assert_eq!(outcome(b" \n", Format::StableHlo), Err(Code::InvalidArgument));
        assert_eq!(outcome(b"", Format::Detect), Err(Code::InvalidArgument));
        assert_eq!(outcome(b"module {}", Format::JaxExport), Err(Code::Unimplemented));
        assert_eq!(outcome(b"x", Format::Hlo), Err(Code::Unimplemented));
    }
}
