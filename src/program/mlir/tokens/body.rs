//! Writes the operations anew, with a function to run that has no tokens outside.

use super::{CREATE_TOKEN, Rewrite, Tokens};
use crate::program::mlir::cursor::Cursor;
use crate::program::mlir::tables::{self, OpName};
use crate::program::mlir::walk::{
    HAS_ATTRIBUTES, HAS_OPERANDS, HAS_PROPERTIES, HAS_REGIONS, HAS_RESULTS, HAS_SUCCESSORS, HAS_USE_LISTS,
};
use crate::program::mlir::write::{number, numbers, section};

/// The number of the sections that isolated regions stand in.
const REGIONS: u8 = 4;

/// An operation up to its regions.
struct Head<'a> {
    name: u64,
    parts: u8,
    location: u64,
    attributes: Option<u64>,
    properties: Option<u64>,
    /// How many there are, and their types.
    results: &'a [u8],
    operands: Vec<u64>,
    successors: &'a [u8],
    regions: u64,
    is_isolated: bool,
}

impl<'a> Head<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Option<Head<'a>> {
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
    fn write(&self, out: &mut Vec<u8>) {
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

/// What is left of the regions of an operation that are being written.
struct Frame {
    regions: u64,
    blocks: u64,
    ops: u64,
    /// Whether values are counted anew in them.
    is_isolated: bool,
}

impl<'a> Rewrite<'a> {
    /// The operations of the file; the inner `None` if there is nothing to change.
    pub(super) fn ir(&mut self, mut cursor: Cursor<'a>) -> Option<Option<Vec<u8>>> {
        let dialects = &self.reader.tables.dialects;
        let dialect = |wanted: &[u8]| Some(dialects.iter().position(|&name| name == wanted)? as u64);
        (self.vhlo, self.builtin) = (dialect(b"vhlo")?, dialect(b"builtin")?);
        let (ops, _) = cursor.flagged()?;
        let mut out = numbers([ops << 1]);
        let is_changed = self.ops(&mut cursor, ops, &mut out, Self::module)?;
        Some(is_changed.then_some(out))
    }

    /// Writes operations, of which `change` changes the first that it finds to change.
    fn ops(
        &mut self,
        cursor: &mut Cursor<'a>,
        ops: u64,
        out: &mut Vec<u8>,
        change: fn(&mut Self, &mut Cursor<'a>, &mut Vec<u8>) -> Option<bool>,
    ) -> Option<bool> {
        let mut is_changed = false;
        for _ in 0..ops {
            let (start, written) = (*cursor, out.len());
            if !is_changed && change(self, cursor, out)? {
                is_changed = true;
                continue;
            }
            *cursor = start;
            out.truncate(written);
            self.transcribe(cursor, 1, &mut Vec::new(), &|value| value, None)?;
            out.extend_from_slice(&start.rest()[..start.left() - cursor.left()]);
        }
        Some(is_changed)
    }

    /// The regions of an operation that see nothing of what is around it, as `write`
    /// writes them if it says so.
    fn isolated(
        &mut self,
        cursor: &mut Cursor<'a>,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Self, &mut Cursor<'a>, &mut Vec<u8>) -> Option<bool>,
    ) -> Option<bool> {
        if self.reader.tables.version < tables::REGION_SECTIONS {
            return write(self, cursor, out);
        }
        let (_, mut inside) = cursor.section()?;
        let mut data = Vec::new();
        let is_changed = write(self, &mut inside, &mut data)?;
        section(out, REGIONS, &data);
        Some(is_changed)
    }

    /// Writes a module if its function to run has tokens.
    fn module(&mut self, cursor: &mut Cursor<'a>, out: &mut Vec<u8>) -> Option<bool> {
        let head = Head::read(cursor)?;
        if !self.is_named(&head, b"builtin", b"module") || !head.is_isolated {
            return Some(false);
        }
        head.write(out);
        self.isolated(cursor, out, |rewrite, cursor, out| {
            let (blocks, values, (ops, has_arguments)) =
                (cursor.number()?, cursor.number()?, cursor.flagged()?);
            if blocks != 1 || has_arguments {
                return None;
            }
            out.extend(numbers([blocks, values, ops << 1]));
            rewrite.ops(cursor, ops, out, Self::main)
        })
    }

    /// Writes a function if it is the one to run and has tokens.
    fn main(&mut self, cursor: &mut Cursor<'a>, out: &mut Vec<u8>) -> Option<bool> {
        let mut head = Head::read(cursor)?;
        if !self.is_named(&head, b"vhlo", b"func_v1") || !head.is_isolated {
            return Some(false);
        }
        let names: [&[u8]; 3] = [b"arg_attrs", b"function_type", b"res_attrs"];
        let (old, name, visibility) = match head.properties {
            Some(properties) => {
                let mut parts = *self.reader.tables.properties.get(properties as usize)?;
                let length = self.reader.entries.codes.len();
                let mut next = || parts.index(length);
                ([next()?, next()?, next()?], next()?, u64::from(next()?))
            }
            None => {
                let attributes = u32::try_from(head.attributes?).ok()?;
                let find = |name: &[u8]| self.reader.lookup(attributes, name);
                ([find(names[0])?, find(names[1])?, find(names[2])?], find(b"sym_name")?, 0)
            }
        };
        let tokens = if self.reader.text(name) == Some("main") { self.tokens(old[1])? } else { None };
        let Some(tokens) = tokens else { return Some(false) };
        let new = self.function(old, &tokens)?;
        if head.properties.is_some() {
            let properties = numbers(new.into_iter().chain([u64::from(name), visibility]));
            head.properties = Some(self.add_properties(properties));
        } else {
            let attributes = u32::try_from(head.attributes?).ok()?;
            head.attributes = Some(self.add_dictionary(attributes, names, new)?);
        }
        head.write(out);
        let location = head.location;
        self.isolated(cursor, out, |rewrite, cursor, out| {
            rewrite.body(cursor, out, &tokens, location)?;
            Some(true)
        })
    }

    fn is_named(&self, head: &Head, dialect: &[u8], name: &[u8]) -> bool {
        let op = self.reader.tables.ops.get(head.name as usize);
        op.is_some_and(|op| op.dialect == dialect && op.name == name)
    }

    /// The region of the function to run: it begins with operations that make the tokens.
    fn body(
        &mut self,
        cursor: &mut Cursor<'a>,
        out: &mut Vec<u8>,
        tokens: &Tokens,
        location: u64,
    ) -> Option<()> {
        let version = self.reader.tables.version;
        let (blocks, values, (ops, has_arguments)) = (cursor.number()?, cursor.number()?, cursor.flagged()?);
        if blocks != 1 {
            return None;
        }
        let made = tokens.inputs.iter().filter(|&&is_token| is_token).count();
        let kept = tokens.inputs.len() - made;
        out.extend(numbers([blocks, values, (ops + made as u64) << 1 | u64::from(kept > 0)]));
        if has_arguments {
            let arguments = arguments(cursor, version)?;
            if arguments.len() != tokens.inputs.len() {
                return None;
            }
            if kept > 0 {
                number(out, kept as u64);
                let kept = arguments.iter().zip(&tokens.inputs).filter(|&(_, &is_token)| !is_token);
                kept.for_each(|(argument, _)| out.extend_from_slice(argument));
                if version >= tables::USE_LISTS {
                    out.push(0);
                }
            }
        }
        let create = self.create_token();
        for _ in 0..made {
            number(out, u64::from(create));
            out.push(HAS_RESULTS);
            out.extend(numbers([location, 1, u64::from(tokens.of_type)]));
        }
        // The arguments that are left come first, then what makes the others.
        let (mut next_kept, mut next_made) = (0, kept as u64);
        let places: Vec<u64> = tokens
            .inputs
            .iter()
            .map(|&is_token| {
                let next = if is_token { &mut next_made } else { &mut next_kept };
                *next += 1;
                *next - 1
            })
            .collect();
        let place = |value: u64| places.get(value as usize).copied().unwrap_or(value);
        self.transcribe(cursor, ops, out, &place, Some(&tokens.outputs))
    }

    /// The name of the operation that makes a token, which is added where it is missing.
    fn create_token(&mut self) -> u32 {
        let ops = &self.reader.tables.ops;
        let is_it = |op: &OpName| op.dialect == b"vhlo" && op.name == CREATE_TOKEN.as_bytes();
        let found = ops.iter().position(is_it).unwrap_or(ops.len()) as u32;
        self.create_token = Some(found);
        found
    }

    /// Writes operations with other numbers of values, and without the operands of the
    /// outer return that are `dropped`.
    fn transcribe(
        &self,
        cursor: &mut Cursor<'a>,
        ops: u64,
        out: &mut Vec<u8>,
        place: &dyn Fn(u64) -> u64,
        dropped: Option<&[bool]>,
    ) -> Option<()> {
        let version = self.reader.tables.version;
        let mut frames = vec![Frame { regions: 0, blocks: 0, ops, is_isolated: false }];
        while let Some(frame) = frames.last_mut() {
            if frame.ops > 0 {
                frame.ops -= 1;
                let is_isolated = frame.is_isolated;
                let mut head = Head::read(cursor)?;
                if !is_isolated {
                    head.operands.iter_mut().for_each(|value| *value = place(*value));
                }
                if let Some(dropped) = dropped
                    && frames.len() == 1
                    && self.is_named(&head, b"vhlo", b"return_v1")
                {
                    if head.operands.len() != dropped.len() {
                        return None;
                    }
                    let mut drops = dropped.iter();
                    head.operands.retain(|_| drops.next() == Some(&false));
                }
                head.write(out);
                if head.regions > 0 && head.is_isolated && version >= tables::REGION_SECTIONS {
                    let (_, inside) = cursor.section()?;
                    section(out, REGIONS, inside.rest());
                } else if head.regions > 0 {
                    let is_isolated = is_isolated || head.is_isolated;
                    frames.push(Frame { regions: head.regions, blocks: 0, ops: 0, is_isolated });
                }
            } else if frame.blocks > 0 {
                frame.blocks -= 1;
                frame.ops = block(cursor, out, version)?;
            } else if frame.regions > 0 {
                frame.regions -= 1;
                frame.blocks = cursor.number()?;
                number(out, frame.blocks);
                if frame.blocks > 0 {
                    number(out, cursor.number()?);
                }
            } else {
                frames.pop();
            }
        }
        Some(())
    }
}

/// The arguments of a block as they stand, without the order of their uses.
fn arguments<'a>(cursor: &mut Cursor<'a>, version: u64) -> Option<Vec<&'a [u8]>> {
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
fn block(cursor: &mut Cursor, out: &mut Vec<u8>, version: u64) -> Option<u64> {
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
