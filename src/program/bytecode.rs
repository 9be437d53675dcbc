//! Checks of MLIR bytecode that plugins leave out.
//!
//! The file is a header (magic, version, producer) and sections of known length.
//! One section lists attributes and types in groups, and plugins trust that the
//! groups add up: where they do not, they write past the end of their tables.

use crate::error::{Error, Result};

/// What every bytecode file begins with.
pub const MAGIC: &[u8] = b"ML\xefR";
/// The number of the section that lists attributes and types in groups.
const ATTRIBUTE_OFFSETS: u8 = 3;

/// Who wrote the bytecode, as it records it: `StableHLO_v1.17.0`.
pub fn written_by(code: &[u8]) -> Option<&str> {
    let text = Reader::after_magic(code).and_then(|mut reader| reader.producer())?;
    std::str::from_utf8(text).ok().filter(|text| !text.is_empty() && !text.contains(char::is_control))
}

/// Whether the bytecode's sections are whole and its groups add up.
pub fn check(code: &[u8]) -> Result<()> {
    well_formed(code).ok_or_else(|| {
        Error::invalid_argument("the program is damaged: its MLIR bytecode is cut off or inconsistent")
            .hint("write the file again; if it was copied, compare the sizes")
    })
}

fn well_formed(code: &[u8]) -> Option<()> {
    let mut reader = Reader::after_magic(code)?;
    reader.producer()?;
    while reader.at < code.len() {
        let head = reader.byte()?;
        let length = usize::try_from(reader.varint()?).ok()?;
        if head & 0x80 != 0 {
            let alignment = usize::try_from(reader.varint()?).ok()?;
            if !alignment.is_power_of_two() {
                return None;
            }
            reader.at = reader.at.checked_next_multiple_of(alignment)?;
        }
        let end = reader.at.checked_add(length)?;
        let section = code.get(reader.at..end)?;
        if head & 0x7f == ATTRIBUTE_OFFSETS {
            groups_add_up(section)?;
        }
        reader.at = end;
    }
    Some(())
}

fn groups_add_up(section: &[u8]) -> Option<()> {
    let mut reader = Reader { bytes: section, at: 0 };
    let attributes = reader.varint()?;
    let mut missing = attributes.checked_add(reader.varint()?)?;
    while reader.at < section.len() {
        let _dialect = reader.varint()?;
        let count = reader.varint()?;
        missing = missing.checked_sub(count)?;
        for _ in 0..count {
            let _offset = reader.varint()?;
        }
    }
    (missing == 0).then_some(())
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn after_magic(code: &'a [u8]) -> Option<Reader<'a>> {
        let mut reader = Reader { bytes: code, at: MAGIC.len() };
        code.starts_with(MAGIC).then_some(())?;
        let _version = reader.varint()?;
        Some(reader)
    }

    fn producer(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let text = &rest[..memchr::memchr(0, rest)?];
        self.at += text.len() + 1;
        Some(text)
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// A number whose first byte tells by its trailing zeros how many follow.
    fn varint(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let more = first.trailing_zeros() as usize;
        let rest = self.bytes.get(self.at..self.at + more)?;
        self.at += more;
        let mut bytes = [0; 8];
        if more == 8 {
            bytes.copy_from_slice(rest);
            return Some(u64::from_le_bytes(bytes));
        }
        bytes[0] = first;
        bytes[1..=more].copy_from_slice(rest);
        Some(u64::from_le_bytes(bytes) >> (more + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One byte is enough for the small numbers of these tests.
    fn number(value: u8) -> u8 {
        value << 1 | 1
    }

    fn file(section: &[u8]) -> Vec<u8> {
        let head = [MAGIC, &[number(6)], b"StableHLO_v1.17.0\0"].concat();
        [&head[..], &[ATTRIBUTE_OFFSETS, number(section.len() as u8)], section].concat()
    }

    #[test]
    fn groups_must_add_up() {
        let section = [2, 1, 0, 2, 9, 9, 1, 1, 9].map(number);
        check(&file(&section)).unwrap();
        let mut wrong = section;
        wrong[3] = number(3);
        assert!(check(&file(&wrong)).is_err());
        wrong[3] = number(1);
        assert!(check(&file(&wrong)).is_err());
    }

    #[test]
    fn sections_must_be_whole() {
        let whole = file(&[0, 0].map(number));
        check(&whole).unwrap();
        for end in 0..whole.len() {
            let header_only = end == whole.len() - 4; // a file without sections
            assert_eq!(check(&whole[..end]).is_ok(), header_only, "{end}");
        }
    }

    #[test]
    fn numbers_of_every_length() {
        let read = |bytes: &[u8]| Reader { bytes, at: 0 }.varint();
        assert_eq!(read(&[0x03]), Some(1));
        assert_eq!(read(&[0xff]), Some(127));
        assert_eq!(read(&[0x02, 0x02]), Some(128));
        assert_eq!(read(&[0, 1, 0, 0, 0, 0, 0, 0, 1]), Some(1 << 56 | 1));
        assert_eq!(read(&[0x02]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn the_writer() {
        assert_eq!(written_by(&file(&[])), Some("StableHLO_v1.17.0"));
        for bad in [MAGIC, b"module {}", b"ML\xefR\x0dabc", b"ML\xefR\x0d\0", b"ML\xefR\x0d\n\0"] {
            assert_eq!(written_by(bad), None);
        }
    }
}
