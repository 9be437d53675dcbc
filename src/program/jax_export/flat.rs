//! FlatBuffers: tables and vectors that refer to one another by offsets.
//!
//! Nothing is copied and nothing is trusted. Offsets only lead forward, so there are
//! no cycles; but many may lead to the same place, and reading that again and again
//! could take for ever. What is read, and what is made of it, is therefore counted
//! and bounded by the size of the file.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;

use crate::error::{Error, Result};

/// A field of a table: its place in the schema and its name there.
#[derive(Clone, Copy)]
pub struct Field(pub u16, pub &'static str);

/// The smallest distance that a true offset can have: it leads past itself.
const OFFSET: usize = 4;
/// What following an offset to a table counts, besides the four bytes of the offset.
const TABLE: usize = 16;

/// The error for a file that contradicts itself.
pub fn damaged(what: impl fmt::Display) -> Error {
    Error::invalid_argument(format!("the jax.export file is damaged: {what}"))
        .hint("export it again; if it was copied, compare the sizes")
}

/// A file, and how much of it may still be read.
pub struct Flat<'a> {
    bytes: &'a [u8],
    to_read: Cell<usize>,
    to_make: Cell<usize>,
}

impl<'a> Flat<'a> {
    /// Nothing is read yet.
    pub fn new(bytes: &'a [u8]) -> Flat<'a> {
        // JAX shares no strings and no tables: it would never read more than once.
        let to_read = bytes.len().saturating_mul(4);
        let to_make = bytes.len().saturating_mul(16).saturating_add(1 << 16);
        Flat { bytes, to_read: Cell::new(to_read), to_make: Cell::new(to_make) }
    }

    /// The table that the file is about.
    pub fn root(&'a self) -> Result<Table<'a>> {
        let too_short = || damaged("it is too short to hold anything");
        let position = self.offset(0).ok_or_else(too_short)?;
        self.table(position, "root")
    }

    /// The table at a position, called `name` in errors.
    pub fn table(&'a self, position: usize, name: &'static str) -> Result<Table<'a>> {
        self.spend(TABLE, name)?;
        let table = || {
            let back = i32::from_le_bytes(self.read(position)?);
            let vtable = usize::try_from(i64::try_from(position).ok()? - i64::from(back)).ok()?;
            let vtable_size = usize::from(u16::from_le_bytes(self.read(vtable)?));
            let size = usize::from(u16::from_le_bytes(self.read(vtable + 2)?));
            let vtable = self.bytes.get(vtable..vtable + vtable_size)?.get(4..)?;
            (size >= 4 && position + size <= self.bytes.len()).then_some(())?;
            Some(Table { flat: self, position, size, vtable })
        };
        table().ok_or_else(|| damaged(format_args!("{name} is no table")))
    }

    /// Counts what is made of the file.
    pub fn make(&self, size: usize) -> Result<()> {
        let left = self.to_make.get().checked_sub(size);
        let left = left.ok_or_else(|| damaged("it says the same things more often than it has room for"))?;
        self.to_make.set(left);
        Ok(())
    }

    fn spend(&self, size: usize, name: &str) -> Result<()> {
        let left = self.to_read.get().checked_sub(size);
        let left =
            left.ok_or_else(|| damaged(format_args!("{name} has more parts than the file has room for")))?;
        self.to_read.set(left);
        Ok(())
    }

    fn read<const N: usize>(&self, position: usize) -> Option<[u8; N]> {
        let end = position.checked_add(N)?;
        self.bytes.get(position..end)?.try_into().ok()
    }

    /// Where the offset at `position` leads; perhaps outside of the file.
    fn offset(&self, position: usize) -> Option<usize> {
        let distance = usize::try_from(u32::from_le_bytes(self.read(position)?)).ok()?;
        position.checked_add(distance).filter(|_| distance >= OFFSET)
    }
}

/// A table: fields that may be there.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    flat: &'a Flat<'a>,
    position: usize,
    size: usize,
    /// Where each field lies in the table.
    vtable: &'a [u8],
}

impl<'a> Table<'a> {
    /// The file that the table is in.
    pub fn flat(&self) -> &'a Flat<'a> {
        self.flat
    }

    /// Where the table begins in the file.
    pub fn position(&self) -> usize {
        self.position
    }

    /// A number of one byte; 0 when it is missing.
    pub fn i8(&self, field: Field) -> Result<i8> {
        Ok(i8::from_le_bytes(self.number(field)?))
    }

    /// A number of two bytes; 0 when it is missing.
    pub fn u16(&self, field: Field) -> Result<u16> {
        Ok(u16::from_le_bytes(self.number(field)?))
    }

    /// A number of four bytes; 0 when it is missing.
    pub fn u32(&self, field: Field) -> Result<u32> {
        Ok(u32::from_le_bytes(self.number(field)?))
    }

    /// Another table.
    pub fn table(&self, field: Field) -> Result<Option<Table<'a>>> {
        let Some(position) = self.target(field)? else { return Ok(None) };
        self.flat.table(position, field.1).map(Some)
    }

    /// A text.
    pub fn string(&self, field: Field) -> Result<Option<&'a str>> {
        let Some(position) = self.target(field)? else { return Ok(None) };
        string(self.flat, position, field.1).map(Some)
    }

    /// The range of bytes in the file; empty when they are missing.
    pub fn range(&self, field: Field) -> Result<Range<usize>> {
        Ok(self.vector(field, 1)?.range)
    }

    /// Bytes; none when they are missing.
    pub fn bytes(&self, field: Field) -> Result<&'a [u8]> {
        Ok(self.vector(field, 1)?.content())
    }

    /// Numbers of two bytes; none when they are missing.
    pub fn u16s(&self, field: Field) -> Result<impl ExactSizeIterator<Item = u16> + use<'a>> {
        Ok(self.vector(field, 2)?.content().chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])))
    }

    /// Numbers of four bytes; none when they are missing.
    pub fn u32s(&self, field: Field) -> Result<impl ExactSizeIterator<Item = u32> + use<'a>> {
        let content = self.vector(field, 4)?.content().chunks_exact(4);
        Ok(content.map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])))
    }

    /// Tables or texts; none when they are missing.
    pub fn list(&self, field: Field) -> Result<List<'a>> {
        Ok(List(self.vector(field, 4)?))
    }

    /// Where a field's offset leads; perhaps outside of the file.
    pub fn target(&self, field: Field) -> Result<Option<usize>> {
        let Some(position) = self.place(field, 4)? else { return Ok(None) };
        let target = self.flat.offset(position);
        target.map(Some).ok_or_else(|| damaged(format_args!("{} leads nowhere", field.1)))
    }

    fn number<const N: usize>(&self, field: Field) -> Result<[u8; N]> {
        let Some(position) = self.place(field, N)? else { return Ok([0; N]) };
        self.flat.read(position).ok_or_else(|| outside(field.1))
    }

    /// Where a field of so many bytes lies in the file.
    fn place(&self, Field(slot, name): Field, size: usize) -> Result<Option<usize>> {
        let entry = usize::from(slot) * 2;
        let Some(&[low, high]) = self.vtable.get(entry..entry + 2) else { return Ok(None) };
        match usize::from(u16::from_le_bytes([low, high])) {
            0 => Ok(None),
            at if at >= 4 && at + size <= self.size => Ok(Some(self.position + at)),
            _ => Err(damaged(format_args!("{name} lies outside of its table"))),
        }
    }

    fn vector(&self, field: Field, width: usize) -> Result<Vector<'a>> {
        match self.target(field)? {
            Some(position) => vector(self.flat, position, width, field.1),
            None => Ok(Vector { flat: self.flat, range: 0..0, name: field.1 }),
        }
    }
}

/// Tables or texts, one after the other.
#[derive(Clone)]
pub struct List<'a>(Vector<'a>);

impl<'a> List<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.range.len() / 4
    }

    /// The table of this index; an error when there are fewer.
    pub fn table(&self, index: usize) -> Result<Table<'a>> {
        self.0.flat.table(self.target(index)?, self.0.name)
    }

    /// The text of this index; an error when there are fewer.
    pub fn string(&self, index: usize) -> Result<&'a str> {
        string(self.0.flat, self.target(index)?, self.0.name)
    }

    /// Every table.
    pub fn tables(self) -> impl Iterator<Item = Result<Table<'a>>> {
        (0..self.len()).map(move |index| self.table(index))
    }

    /// Every text.
    pub fn strings(self) -> impl Iterator<Item = Result<&'a str>> {
        (0..self.len()).map(move |index| self.string(index))
    }

    fn target(&self, index: usize) -> Result<usize> {
        let Vector { flat, range, name } = &self.0;
        if index >= self.len() {
            return Err(damaged(format_args!("{name} has no entry {index}")));
        }
        let target = flat.offset(range.start + index * 4);
        target.ok_or_else(|| damaged(format_args!("entry {index} of {name} leads nowhere")))
    }
}

/// The elements of a vector, without its length.
#[derive(Clone)]
struct Vector<'a> {
    flat: &'a Flat<'a>,
    range: Range<usize>,
    name: &'static str,
}

impl<'a> Vector<'a> {
    fn content(&self) -> &'a [u8] {
        self.flat.bytes.get(self.range.clone()).unwrap_or_default()
    }
}

fn vector<'a>(flat: &'a Flat<'a>, position: usize, width: usize, name: &'static str) -> Result<Vector<'a>> {
    let range = || {
        let count = usize::try_from(u32::from_le_bytes(flat.read(position)?)).ok()?;
        let start = position + 4;
        let end = start.checked_add(count.checked_mul(width)?)?;
        (end <= flat.bytes.len()).then_some(start..end)
    };
    let range = range().ok_or_else(|| outside(name))?;
    flat.spend(4 + range.len(), name)?;
    Ok(Vector { flat, range, name })
}

fn string<'a>(flat: &'a Flat<'a>, position: usize, name: &'static str) -> Result<&'a str> {
    let text = vector(flat, position, 1, name)?.content();
    std::str::from_utf8(text).map_err(|_| damaged(format_args!("a text in {name} is not UTF-8")))
}

fn outside(name: &str) -> Error {
    damaged(format_args!("{name} reaches past the end of the file"))
}
