//! What a file that is no program looks like.

use std::path::Path;

use cyxla::error::Error;
use cyxla::program::{self, Encoding};

/// A kind of file: how it begins, what it is, and what to do with it.
struct Kind {
    at: usize,
    start: &'static [u8],
    name: &'static str,
    hint: &'static str,
}

const EXPORT: &str =
    "export the function with jax.export: jax.export.export(jax.jit(f))(arguments).serialize()";
const ARRAY: &str = "give the program first and arrays with --input";

/// A zip archive too, told by its name.
const NPZ: Kind = kind(0, b"PK\x03\x04", "a NumPy file, no program", ARRAY);

const KINDS: [Kind; 13] = [
    kind(0, b"\x93NUMPY", "a NumPy file, no program", ARRAY),
    kind(
        0,
        b"\x7fELF",
        "an ELF file (a library or a command), no program for XLA",
        "a plugin is given with --plugin",
    ),
    kind(0, b"PK\x03\x04", "a zip archive (.zip, .keras, .pt or the like), no program", EXPORT),
    kind(0, b"\x1f\x8b", "compressed with gzip", "unpack it first: gzip -d"),
    kind(0, b"\x89HDF\r\n\x1a\n", "an HDF5 file, which holds arrays and no program", EXPORT),
    kind(4, b"TFL3", "a TensorFlow Lite model", EXPORT),
    kind(0, b"BC\xc0\xde", "LLVM bitcode", EXPORT),
    kind(0, b"!<arch>\n", "an archive of object files", EXPORT),
    kind(8, b"{\"", "a safetensors file, which holds arrays and no program", EXPORT),
    kind(0, b"SQLite format 3\0", "an SQLite database", EXPORT),
    kind(0, b"\x89PNG\r\n\x1a\n", "a picture (PNG)", EXPORT),
    kind(0, b"%PDF-", "a PDF document", EXPORT),
    kind(
        0,
        b"version https://git-lfs",
        "a pointer of Git LFS, not the file itself",
        "fetch the file: git lfs pull",
    ),
];

const fn kind(at: usize, start: &'static [u8], name: &'static str, hint: &'static str) -> Kind {
    Kind { at, start, name, hint }
}

/// The error of a program that could not be read; in words of the file's kind, if that
/// is none that could be a program.
pub fn explained(error: Error, path: &Path) -> Error {
    match program::read_file(path) {
        Ok(bytes) => explained_by(error, path, &bytes),
        Err(_) => error,
    }
}

/// The same for a file that holds these bytes.
pub fn explained_by(error: Error, path: &Path, bytes: &[u8]) -> Error {
    if Encoding::of(bytes) != Encoding::Unknown {
        return error;
    }
    let is_npz = begins(&NPZ, bytes) && path.extension().is_some_and(|ending| ending == "npz");
    match if is_npz { Some(NPZ.refusal()) } else { refusal(bytes) } {
        Some(refusal) => refusal.map_message(|message| format!("{} {message}", path.display())),
        None => error,
    }
}

impl Kind {
    fn refusal(&self) -> Error {
        Error::invalid_argument(format!("is {}", self.name)).hint(self.hint)
    }
}

fn begins(kind: &Kind, bytes: &[u8]) -> bool {
    bytes.get(kind.at..).is_some_and(|rest| rest.starts_with(kind.start))
}

fn refusal(bytes: &[u8]) -> Option<Error> {
    if let Some(kind) = KINDS.iter().find(|kind| begins(kind, bytes)) {
        return Some(kind.refusal());
    }
    let first = bytes.iter().position(|byte| *byte != bytes[0]);
    if first.is_none() && bytes.first() == Some(&0) {
        let message = format!("holds nothing but {} zero bytes", bytes.len());
        return Some(Error::invalid_argument(message).hint("copy it again; it was not written to the end"));
    }
    let is_of_text = |c: char| !c.is_control() || c.is_whitespace() || c == '\x1b';
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.chars().all(is_of_text))?;
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    let shown = crate::words::shortened(line.trim(), 60);
    let what = match text.trim_start().chars().next() {
        Some('{' | '[') if serde_json::from_str::<serde_json::Value>(text).is_ok() => "JSON",
        _ => "text",
    };
    Some(Error::invalid_argument(format!("is {what}, and no program: it begins with `{shown}`")).hint(EXPORT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_their_first_bytes() {
        let cases: [(&[u8], &str); 9] = [
            (b"\x93NUMPY\x01\0", "a NumPy file"),
            (b"\x7fELF\x02\x01", "an ELF file"),
            (b"\x1c\0\0\0TFL3", "TensorFlow Lite"),
            (b"\x40\0\0\0\0\0\0\0{\"a\":1}", "safetensors"),
            (b"\0\0\0", "nothing but 3 zero bytes"),
            (b"\n import jax\nprint()", "text, and no program: it begins with `import jax`"),
            (b"{\"a\": [1]}", "JSON"),
            (b"{\"a\": ", "text"),
            (b"\x1b[31mred", "`\\u{1b}[31mred`"),
        ];
        for (bytes, words) in cases {
            let error = refusal(bytes).unwrap();
            assert!(error.message().contains(words), "{bytes:?}: {error}");
            assert!(error.detail("hint").is_some(), "{bytes:?}");
        }
        for bytes in [&b"\xff\xfe\x01"[..], b"", b"\x08\x01\x12"] {
            assert!(refusal(bytes).is_none(), "{bytes:?}");
        }
    }
}
