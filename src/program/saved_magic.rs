//! How a saved executable begins.

/// The first bytes of every saved executable. The first is no text, and after it come
/// line ends that a transfer in text mode changes.
pub const SAVED_MAGIC: &[u8; 8] = b"\x89CYX\r\n\x1a\n";

/// Whether the bytes begin as a saved executable does that a transfer in text mode, or
/// a change of a few bytes, has damaged.
pub fn is_damaged_magic(bytes: &[u8]) -> bool {
    let same = bytes.iter().zip(SAVED_MAGIC).filter(|(byte, due)| byte == due).count();
    let text_modes: [&[u8]; 5] =
        [b"\x89CYX\n\x1a", b"\x89CYX\r\r", b"\x09CYX\r\n", b"\xc2\x89CYX", b"\xef\xbf\xbdCYX"];
    !bytes.starts_with(SAVED_MAGIC) && (same >= 6 || text_modes.iter().any(|mode| bytes.starts_with(mode)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_told_from_other_files() {
        for damaged in [
            &b"\x89CYX\n\x1a\n\x01"[..],
            b"\x89CYX\r\r\n\x1a",
            b"\x89CYX\r\n\x1a\r\n",
            b"\xc2\x89CYX\r\n",
            b"\x89CYX\r\n",
            b"\x88CYX\r\n\x1a\n",
        ] {
            assert!(is_damaged_magic(damaged), "{damaged:?}");
        }
        for other in [&SAVED_MAGIC[..], b"", b"\x89PNG\r\n\x1a\n\0\0", b"CYX", b"module {}", b"ML\xefR"] {
            assert!(!is_damaged_magic(other), "{other:?}");
        }
    }
}
