//! Compiled programs of JAX and XLA, which cannot be loaded: they record neither the
//! compiler nor the processor that they are for.

use memchr::memmem;

use crate::error::{Error, Result};

/// Names stand near the beginning, if at all.
const START: usize = 64 << 10;

/// An error for bytes that are some other program's compiled form, which says what
/// they are and what to do instead.
pub fn refuse(bytes: &[u8]) -> Result<()> {
    let start = &bytes[..bytes.len().min(START)];
    let has = |name: &str| memmem::find(start, name.as_bytes()).is_some();
    let what = match start {
        // PROTO of the pickle protocols that JAX has ever written.
        [0x80, 2..=5, ..] if has("UnloadedMeshExecutable") || has("xla_executable") => {
            "is a pickle of jax.experimental.serialize_executable"
        }
        [0x80, 2..=5, ..] if has("jax") => "is a Python pickle with objects of JAX",
        [0x80, 2..=5, ..] => "is a Python pickle",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            "is compressed with zstd, as the entries of JAX's compilation cache are"
        }
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] if is_zlib(start) => {
            "is compressed with zlib, as the entries of JAX's compilation cache are"
        }
        _ if is_ifrt(start) => "is a compiled program that JAX serialized",
        _ if is_cpu_executable(bytes) => "is a compiled program that a plugin for the CPU serialized",
        _ => return Ok(()),
    };
    Err(Error::invalid_argument(format!("the program {what}; libcyxla cannot load that")).hint(
        "export the function with jax.export and load that, or compile the export once with `cyxla compile`",
    ))
}

/// The two bytes of a zlib header are a multiple of 31; the block after them is of a
/// kind that there is.
fn is_zlib(start: &[u8]) -> bool {
    matches!(start, [first, second, block, ..] if u16::from_be_bytes([*first, *second]) % 31 == 0 && block >> 1 & 3 != 3)
}

/// A message, after its length, whose first fields are a version and the name of JAX's
/// runtime.
fn is_ifrt(start: &[u8]) -> bool {
    const NAME: &[u8] = b"pjrt_ifrt";
    memmem::find(&start[..start.len().min(64)], NAME).is_some()
}

/// Three messages in one another, each the first field, and in the innermost a module
/// of HLO: a name, the name of its main function, a function.
fn is_cpu_executable(bytes: &[u8]) -> bool {
    let module = (0..3).try_fold(bytes, |message, _| field(message, 0x0a).map(|(content, _)| content));
    let name = module.and_then(|module| field(module, 0x0a));
    let main = name.and_then(|(_, rest)| field(rest, 0x12));
    let (Some((name, _)), Some((main, rest))) = (name, main) else { return false };
    let is_text = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_graphic);
    is_text(name) && is_text(main) && rest.first() == Some(&0x1a)
}

/// The content of the field with this tag and length, if it comes first, and what
/// comes after it.
fn field(message: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let mut rest = message.strip_prefix(&[tag])?;
    let mut length = 0_usize;
    for shift in [0, 7, 14, 21, 28] {
        let (&byte, more) = rest.split_first()?;
        rest = more;
        length |= usize::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return rest.split_at_checked(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: &[u8]) -> Option<String> {
        refuse(bytes).err().map(|error| error.message().to_owned())
    }

    /// The first bytes of what JAX 0.10 wrote.
    #[test]
    fn what_jax_writes_is_explained() {
        let cases: [(&[u8], &str); 7] = [
            (
                b"\x80\x04\x95\x03*\0\0\0\0\0\0\x8c\x1ajax._src.interpreters.pxla\x94\x8c\x16UnloadedMeshExecutable\x94",
                "serialize_executable",
            ),
            (b"\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x03jax\x94", "objects of JAX"),
            (b"\x80\x05K\x01.", "is a Python pickle"),
            (b"\x28\xb5\x2f\xfd\x60\x00", "zstd"),
            (b"\x78\x9c\xed\x59\x7d\x70", "zlib"),
            (b"\x78\x9c\xed", "zlib"),
            (b"\x86\x01\x08\x03\x12\x09pjrt_ifrt*\x18\x0a\x04", "JAX serialized"),
        ];
        for (bytes, part) in cases {
            let message = message(bytes).unwrap_or_default();
            assert!(message.contains(part), "{bytes:?}: {message}");
        }
    }

    #[test]
    fn what_plugins_serialize_is_explained() {
        let field = |tag: u8, content: &[u8]| [&[tag, content.len() as u8], content].concat();
        let module = [field(0x0a, b"jit_f"), field(0x12, b"main.5"), field(0x1a, b"\x0a\x01f")].concat();
        let rest = field(0x12, b"options");
        let whole = (0..3).fold(module, |message, _| [field(0x0a, &message), rest.clone()].concat());
        assert!(message(&whole).is_some_and(|text| text.contains("plugin for the CPU")));
        for other in
            [&whole[2..], &whole[..20], b"\x0a\xff\xff\xff\xff\xff", b"\x0a\x00", b"\x0a\xff\xff\xff\xff\x7f"]
        {
            assert_eq!(message(other), None, "{other:?}");
        }
    }

    #[test]
    fn other_bytes_are_not() {
        for bytes in
            [&b""[..], b"\x80", b"\x80\x09", b"x", b"x\x9c", b"x\x9c\xff", b"module @jax {}", b"ML\xefR"]
        {
            assert_eq!(message(bytes), None, "{bytes:?}");
        }
    }
}
