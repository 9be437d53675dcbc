//! Reads the primitives of MLIR bytecode from a part of a file.

/// A place in a file, and where the part that may be read ends. Positions count from
/// the file's start, because sections are aligned to it.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    /// The file up to the end of the part.
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    pub fn position(&self) -> usize {
        self.at
    }

    /// The bytes that are left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Everything that is left.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    /// A cursor over the next bytes, which this one passes by.
    pub fn part(&mut self, length: usize) -> Option<Cursor<'a>> {
        let start = self.at;
        self.take(length)?;
        Some(Cursor { bytes: &self.bytes[..self.at], at: start })
    }

    /// A number whose first byte tells by its trailing zeros how many follow.
    pub fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        if first & 1 != 0 {
            return Some(u64::from(first >> 1));
        }
        let more = first.trailing_zeros() as usize;
        let rest = self.take(more)?;
        let mut bytes = [0; 8];
        if more == 8 {
            bytes.copy_from_slice(rest);
            return Some(u64::from_le_bytes(bytes));
        }
        bytes[0] = first;
        bytes[1..=more].copy_from_slice(rest);
        Some(u64::from_le_bytes(bytes) >> (more + 1))
    }

    /// A number whose lowest bit is its sign.
    pub fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// A number with a flag in its lowest bit.
    pub fn flagged(&mut self) -> Option<(u64, bool)> {
        let number = self.number()?;
        Some((number >> 1, number & 1 != 0))
    }

    /// A number that counts things which take at least a byte each from here on.
    pub fn count(&mut self) -> Option<usize> {
        let count = self.number()?;
        self.bounded(count)
    }

    /// The same for a number that was read before.
    pub fn bounded(&self, count: u64) -> Option<usize> {
        usize::try_from(count).ok().filter(|&count| count <= self.left())
    }

    /// The position of something in a table of `length`.
    pub fn index(&mut self, length: usize) -> Option<u32> {
        let index = self.number()?;
        to_index(index, length)
    }

    /// A string that a NUL ends.
    pub fn c_string(&mut self) -> Option<&'a [u8]> {
        let length = memchr::memchr(0, self.rest())?;
        let text = self.take(length)?;
        self.at += 1;
        Some(text)
    }

    /// A section: its number, and what is in it.
    pub fn section(&mut self) -> Option<(u8, Cursor<'a>)> {
        let head = self.byte()?;
        let length = usize::try_from(self.number()?).ok()?;
        if head & 0x80 != 0 {
            let alignment = usize::try_from(self.number()?).ok().filter(|number| number.is_power_of_two())?;
            let start = self.at.checked_next_multiple_of(alignment)?;
            if self.take(start - self.at)?.iter().any(|&byte| byte != 0xcb) {
                return None;
            }
        }
        Some((head & 0x7f, self.part(length)?))
    }
}

/// `index` if a table of `length` has it.
pub fn to_index(index: u64, length: usize) -> Option<u32> {
    let fits = usize::try_from(index).is_ok_and(|index| index < length);
    u32::try_from(index).ok().filter(|_| fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length() {
        let read = |bytes: &[u8]| Cursor::new(bytes).number();
        assert_eq!(read(&[0x03]), Some(1));
        assert_eq!(read(&[0xff]), Some(127));
        assert_eq!(read(&[0x02, 0x02]), Some(128));
        assert_eq!(read(&[0, 1, 0, 0, 0, 0, 0, 0, 1]), Some(1 << 56 | 1));
        assert_eq!(read(&[0x02]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn signs_and_flags() {
        let number = |value: u8| [value << 1 | 1];
        assert_eq!(Cursor::new(&number(5)).signed(), Some(-3));
        assert_eq!(Cursor::new(&number(6)).signed(), Some(3));
        assert_eq!(Cursor::new(&number(7)).flagged(), Some((3, true)));
        let lowest = [&[0][..], &u64::MAX.to_le_bytes()].concat();
        assert_eq!(Cursor::new(&lowest).signed(), Some(i64::MIN));
    }

    #[test]
    fn sections_are_aligned_to_the_file() {
        let file = [9, 0x84, 5, 17, 0xcb, 0xcb, 0xcb, 0xcb, 1, 2];
        let mut cursor = Cursor::new(&file);
        cursor.byte().unwrap();
        let (number, mut inside) = cursor.section().unwrap();
        assert_eq!((number, inside.position(), cursor.is_at_end()), (4, 8, true));
        assert_eq!((inside.byte(), inside.byte(), inside.byte()), (Some(1), Some(2), None));
        let mut wrong = file;
        wrong[5] = 0;
        let mut cursor = Cursor::new(&wrong);
        cursor.byte().unwrap();
        assert!(cursor.section().is_none());
    }

    #[test]
    fn counts_are_bounded_by_what_is_left() {
        assert_eq!(Cursor::new(&[5, 0, 0]).count(), Some(2));
        assert_eq!(Cursor::new(&[7, 0, 0]).count(), None);
        assert_eq!(Cursor::new(&[5]).index(3), Some(2));
        assert_eq!(Cursor::new(&[7]).index(3), None);
    }
}
