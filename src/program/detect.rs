//! Tells program encodings apart by their content.

use memchr::memmem;

use super::saved_magic::{SAVED_MAGIC, is_damaged_magic};
use super::{Format, calls, foreign, hlo, jax_export, mlir, tensors, text};
use crate::error::{Code, Error, Origin, Result};

/// What a program's bytes look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// StableHLO as MLIR bytecode, which portable artifacts are too.
    Bytecode,
    /// StableHLO as text.
    Text,
    /// Text of XLA's own HLO language.
    HloText,
    /// A serialized `HloModuleProto`.
    HloProto,
    /// A file of `jax.export`: FlatBuffers with MLIR bytecode inside.
    JaxExport,
    /// An executable that this library saved.
    SavedExecutable,
    /// None of these.
    Unknown,
}

impl Encoding {
    /// The encoding that `code` looks like.
    pub fn of(code: &[u8]) -> Encoding {
        if code.starts_with(mlir::MAGIC) {
            return Encoding::Bytecode;
        }
        if code.starts_with(SAVED_MAGIC) || is_damaged_magic(code) {
            return Encoding::SavedExecutable;
        }
        // A small one may be all of characters.
        if hlo::looks_like_one(code) {
            return Encoding::HloProto;
        }
        if let Ok(text) = std::str::from_utf8(code) {
            let has = |word: &str| memmem::find(code, word.as_bytes()).is_some();
            if text.trim_start().starts_with("HloModule") {
                return Encoding::HloText;
            }
            if has("func.func") || has("module") {
                return Encoding::Text;
            }
        }
        if jax_export::looks_like_one(code) {
            return Encoding::JaxExport;
        }
        Encoding::Unknown
    }

    /// What it is, in words.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Bytecode => "MLIR bytecode",
            Encoding::Text => "StableHLO text",
            Encoding::HloText => "HLO text",
            Encoding::HloProto => "an HLO proto",
            Encoding::JaxExport => "a jax.export file",
            Encoding::SavedExecutable => "a saved executable",
            Encoding::Unknown => "not recognized",
        }
    }
}

/// The encoding of a program that the caller says is in `format`; an error if it is
/// none that can be compiled, or another one.
pub fn detect(code: &[u8], format: Format) -> Result<Encoding> {
    if code.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::invalid_argument("the program is empty"));
    }
    let encoding = Encoding::of(code);
    match (format, encoding) {
        (Format::Detect, _) => {}
        (Format::StableHlo, Encoding::Bytecode | Encoding::Text) => {}
        // The caller insists; a plugin says what is wrong with a text.
        (Format::StableHlo, Encoding::Unknown) if std::str::from_utf8(code).is_ok() => {
            return Ok(Encoding::Text);
        }
        (Format::JaxExport, Encoding::JaxExport) | (Format::Hlo, Encoding::HloProto) => {}
        (_, Encoding::Unknown | Encoding::HloText | Encoding::SavedExecutable) => {}
        (wanted, found) => {
            let wanted = match wanted {
                Format::JaxExport => "a jax.export file",
                Format::Hlo => "an HLO proto",
                Format::StableHlo | Format::Detect => "StableHLO",
            };
            let message = format!("the program is not {wanted}, as the format says, but {}", found.name());
            return Err(Error::invalid_argument(message)
                .parameter("format")
                .hint("let the format be found out: CYXLA_FORMAT_DETECT"));
        }
    }
    match encoding {
        Encoding::Unknown => {
            foreign::refuse(code)?;
            Err(not_a_program(encoding))
        }
        Encoding::HloText | Encoding::SavedExecutable => Err(not_a_program(encoding)),
        _ => Ok(encoding),
    }
}

/// Says of an encoding why it is no program that can be compiled.
pub fn not_a_program(encoding: Encoding) -> Error {
    match encoding {
        Encoding::HloText => {
            Error::invalid_argument("the program is HLO text, which plugins do not accept")
                .hint("convert it to StableHLO, or to a serialized HloModuleProto")
        }
        Encoding::SavedExecutable => {
            let message = "this is a saved executable, which is compiled already";
            Error::new(Code::FailedPrecondition, Origin::Caller, message)
                .hint("load it with cyxla_executable_from_bytes")
        }
        _ => Error::invalid_argument(
            "the program is not recognized: it is neither StableHLO (text or MLIR bytecode) nor a jax.export file nor an HLO proto",
        )
        .hint("if it was cut short or written by another tool, write it again"),
    }
}

/// A program's text, if plugins can read it without coming to harm.
pub fn check_text(code: &[u8]) -> Result<&str> {
    let text = std::str::from_utf8(code).map_err(|error| {
        let message = format!("the program's text is not UTF-8 (byte {})", error.valid_up_to());
        Error::invalid_argument(message)
    })?;
    text::check_nesting(text)?;
    text::check_dialect(text)?;
    tensors::check_sizes(text)?;
    calls::check_calls(text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings() {
        let saved = [&SAVED_MAGIC[..], b"rest"].concat();
        let cases: [(&[u8], Encoding); 8] = [
            (b"ML\xefR\x0dStableHLO_v1.0.0\0", Encoding::Bytecode),
            (b"\n module {}", Encoding::Text),
            (b"// hi\nfunc.func @main() { return }", Encoding::Text),
            (b"  HloModule m\n", Encoding::HloText),
            (&saved, Encoding::SavedExecutable),
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
        let outcome = |code: &[u8], format| detect(code, format).map_err(|error| error.code());
        assert_eq!(outcome(b"module {}", Format::Detect), Ok(Encoding::Text));
        assert_eq!(outcome(b"whatever", Format::StableHlo), Ok(Encoding::Text));
        for (code, format) in [
            (&b"whatever"[..], Format::Detect),
            (b"\xff\xfe", Format::StableHlo),
            (b" \n", Format::StableHlo),
            (b"", Format::Detect),
            (b"module {}", Format::JaxExport),
            (b"x", Format::Hlo),
            (b"HloModule m", Format::Hlo),
        ] {
            assert_eq!(outcome(code, format), Err(Code::InvalidArgument), "{code:?}");
        }
        assert_eq!(outcome(SAVED_MAGIC.as_slice(), Format::Detect), Err(Code::FailedPrecondition));
    }
}
