//! Protocol buffers as they stand in memory: fields with numbers, nothing copied.

/// That bytes are no message, or not the one they should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

/// The content of a field.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Content<'a> {
    /// A number, a truth value or one of a few words.
    Number(u64),
    /// A text, a message, or numbers one after another.
    Bytes(&'a [u8]),
    /// A number of fixed width, which nothing here needs.
    Fixed,
}

impl<'a> Content<'a> {
    /// The field as a number; negative ones take all 64 bits.
    pub fn number(self) -> Result<i64, Malformed> {
        match self {
            Content::Number(number) => Ok(number.cast_signed()),
            _ => Err(Malformed),
        }
    }

    /// The field as bytes.
    pub fn bytes(self) -> Result<&'a [u8], Malformed> {
        match self {
            Content::Bytes(bytes) => Ok(bytes),
            _ => Err(Malformed),
        }
    }

    /// The field as a text.
    pub fn text(self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed)
    }

    /// Adds the field's numbers to a list: writers put them into one field or into
    /// several.
    pub fn append_to(self, list: &mut Vec<i64>) -> Result<(), Malformed> {
        match self {
            Content::Number(number) => list.push(number.cast_signed()),
            Content::Bytes(mut bytes) => {
                while !bytes.is_empty() {
                    list.push(varint(&mut bytes)?.cast_signed());
                }
            }
            Content::Fixed => return Err(Malformed),
        }
        Ok(())
    }
}

/// The fields of a message, in their order.
pub struct Fields<'a> {
    rest: &'a [u8],
    /// The last field may end beyond what there is.
    may_be_cut: bool,
}

impl<'a> Fields<'a> {
    /// The fields of the message in `bytes`.
    pub fn of(bytes: &'a [u8]) -> Fields<'a> {
        Fields { rest: bytes, may_be_cut: false }
    }

    /// The same of a message of which the end may be missing.
    pub fn of_beginning(bytes: &'a [u8]) -> Fields<'a> {
        Fields { rest: bytes, may_be_cut: true }
    }

    /// The next field with its number.
    pub fn next(&mut self) -> Result<Option<(u32, Content<'a>)>, Malformed> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = u32::try_from(varint(&mut self.rest)?).map_err(|_| Malformed)?;
        let content = match key & 7 {
            0 => Content::Number(varint(&mut self.rest)?),
            1 => self.take(8).map(|_| Content::Fixed)?,
            2 => {
                let size = usize::try_from(varint(&mut self.rest)?).map_err(|_| Malformed)?;
                Content::Bytes(self.take(size)?)
            }
            5 => self.take(4).map(|_| Content::Fixed)?,
            _ => return Err(Malformed), // groups, which XLA has none of
        };
        match key >> 3 {
            0 => Err(Malformed),
            number => Ok(Some((number, content))),
        }
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    fn take(&mut self, size: usize) -> Result<&'a [u8], Malformed> {
        let size = if self.may_be_cut { size.min(self.rest.len()) } else { size };
        let (taken, rest) = self.rest.split_at_checked(size).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }
}

/// A number in groups of seven bits, the lowest first.
fn varint(bytes: &mut &[u8]) -> Result<u64, Malformed> {
    let mut number = 0;
    for (index, &byte) in bytes.iter().take(10).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            *bytes = &bytes[index + 1..];
            return Ok(number);
        }
    }
    Err(Malformed)
}

/// A field with a number in it.
pub fn int(field: u64, value: i64) -> Vec<u8> {
    [number(field << 3), number(value.cast_unsigned())].concat()
}

/// A field with a text or a message in it.
pub fn message(field: u64, content: &[u8]) -> Vec<u8> {
    [&number(field << 3 | 2)[..], &number(content.len() as u64), content].concat()
}

fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u32, Content<'_>)>, Malformed> {
        let mut fields = Fields::of(bytes);
        std::iter::from_fn(|| fields.next().transpose()).collect()
    }

    #[test]
    fn fields_of_every_kind() {
        let bytes = b"\x08\x96\x01\x12\x02hi\x1d....\x21........\xf8\x07\x00";
        let expected = [
            (1, Content::Number(150)),
            (2, Content::Bytes(b"hi")),
            (3, Content::Fixed),
            (4, Content::Fixed),
            (127, Content::Number(0)),
        ];
        assert_eq!(fields(bytes).unwrap(), expected);
        for length in 1..bytes.len() {
            let cut = fields(&bytes[..length]);
            assert!(cut.is_err() || [3, 7, 12, 21].contains(&length), "{length}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = [int(1, -2), int(300, 128), message(2, b"hi")].concat();
        let expected =
            [(1, Content::Number(-2_i64 as u64)), (300, Content::Number(128)), (2, Content::Bytes(b"hi"))];
        assert_eq!(fields(&bytes).unwrap(), expected);
    }

    #[test]
    fn what_is_no_message() {
        for bad in [
            &b"\x00\x00"[..],
            b"\x0b",
            b"\x0e\x00",
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            &[0xff; 11],
        ] {
            assert_eq!(fields(bad), Err(Malformed), "{bad:?}");
        }
    }

    #[test]
    fn numbers_packed_or_not() {
        let mut list = Vec::new();
        Content::Number(u64::MAX).append_to(&mut list).unwrap();
        Content::Bytes(&[1, 0x80, 1]).append_to(&mut list).unwrap();
        assert_eq!(list, [-1, 1, 128]);
        assert!(Content::Bytes(&[0x80]).append_to(&mut list).is_err());
    }

    #[test]
    fn the_beginning_of_a_message() {
        let next = |bytes| Fields::of_beginning(bytes).next();
        assert_eq!(next(b"\x0a\x05ab"), Ok(Some((1, Content::Bytes(b"ab")))));
        assert_eq!(next(b"\x0a"), Err(Malformed));
    }
}
