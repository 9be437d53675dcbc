//! Operations and blocks as they are read and written again.

use crate::program::mlir::cursor::Cursor;
use crate::program::mlir::tables;
use crate::program::mlir::walk::{
    HAS_ATTRIBUTES, HAS_OPERANDS, HAS_PROPERTIES, HAS_REGIONS, HAS_RESULTS, HAS_SUCCESSORS, HAS_USE_LISTS,
};
use crate::program::mlir::write::number;

/// An operation up to its regions.
pub struct Head<'a> {
    pub name: u64,
    pub parts: u8,
    pub location: u64,
    pub attributes: Option<u64>,
    pub properties: Option<u64>,
    /// How many there are, and their types.
    pub results: &'a [u8],
    pub operands: Vec<u64>,
    pub successors: &'a [u8],
    pub regions: u64,
    pub is_isolated: bool,
}

impl<'a> Head<'a> {
    pub fn read(cursor: &mut Cursor<'a>) -> Option<Head<'a>> {
        let name = cursor.number()?;
        let parts = cursor.byte()?;
        let location = cursor.number()?;
        let attributes = if parts & HAS_ATTRIBUTES != 0 { Some(cursor.number()?) } else { None };
        let properties = if parts & HAS_PROPERTIES != 0 { Some(cursor.number()?) } else { None };
        let results = if parts & HAS_RESULTS != 0 { numbers_of(cursor)? } else { &[] };
        let mut operands = Vec::new();
        if parts & HAS_OPERANDS != 0 {
            for _ in 0..cursor.count()? {
                operands.push(cursor.number()?);
            }
        }
        let successors = if parts & HAS_SUCCESSORS != 0 { numbers_of(cursor)? } else { &[] };
        if parts & HAS_USE_LISTS != 0 {
            let results = if results.is_empty() { 0 } else { Cursor::new(results).number()? };
            skip_use_lists(cursor, results)?;
        }
        let (regions, is_isolated) = if parts & HAS_REGIONS != 0 { cursor.flagged()? } else { (0, false) };
        Some(Head {
            name,
            parts,
            location,
            attributes,
            properties,
            results,
            operands,
            successors,
            regions,
            is_isolated,
        })
    }

    /// Writes it without the order of uses, which changes with the uses.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut parts = self.parts & !HAS_USE_LISTS;
        if self.operands.is_empty() {
            parts &= !HAS_OPERANDS;
        }
        number(out, self.name);
        out.push(parts);
        number(out, self.location);
        self.attributes.iter().chain(&self.properties).for_each(|&value| number(out, value));
        out.extend_from_slice(self.results);
        if !self.operands.is_empty() {
            number(out, self.operands.len() as u64);
            self.operands.iter().for_each(|&operand| number(out, operand));
        }
        out.extend_from_slice(self.successors);
        if parts & HAS_REGIONS != 0 {
            number(out, self.regions << 1 | u64::from(self.is_isolated));
        }
    }
}

/// A list of numbers as it stands.
fn numbers_of<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let start = cursor.rest();
    for _ in 0..cursor.count()? {
        cursor.number()?;
    }
    Some(&start[..start.len() - cursor.left()])
}

fn skip_use_lists(cursor: &mut Cursor, values: u64) -> Option<()> {
    let lists = if values > 1 { cursor.number()? } else { 1 };
    for _ in 0..lists {
        if values > 1 {
            cursor.number()?;
        }
        for _ in 0..cursor.flagged()?.0 {
            cursor.number()?;
        }
    }
    Some(())
}

/// The arguments of a block as they stand, without the order of their uses.
pub fn arguments<'a>(cursor: &mut Cursor<'a>, version: u64) -> Option<Vec<&'a [u8]>> {
    let mut arguments = Vec::new();
    for _ in 0..cursor.count()? {
        let start = cursor.rest();
        let has_location = version < tables::NO_UNKNOWN_LOCATIONS;
        let has_location = cursor.flagged()?.1 || has_location;
        if has_location {
            cursor.number()?;
        }
        arguments.push(&start[..start.len() - cursor.left()]);
    }
    if version >= tables::USE_LISTS && cursor.byte()? != 0 {
        skip_use_lists(cursor, arguments.len() as u64)?;
    }
    Some(arguments)
}

/// Writes the head of a block and gives how many operations it has.
pub fn block(cursor: &mut Cursor, out: &mut Vec<u8>, version: u64) -> Option<u64> {
    let (ops, has_arguments) = cursor.flagged()?;
    number(out, ops << 1 | u64::from(has_arguments));
    if has_arguments {
        let arguments = arguments(cursor, version)?;
        number(out, arguments.len() as u64);
        arguments.iter().for_each(|argument| out.extend_from_slice(argument));
        if version >= tables::USE_LISTS {
            out.push(0);
        }
    }
    Some(ops)
}
