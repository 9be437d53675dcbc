//! Writes the operations anew, with another function to run.

use super::head::{Head, arguments, block};
use super::{Change, Function, Plan, Rewrite};
use crate::program::mlir::cursor::{Cursor, to_index};
use crate::program::mlir::tables;
use crate::program::mlir::walk::HAS_RESULTS;
use crate::program::mlir::write::{number, numbers, numbers_in, section};

/// The number of the sections that isolated regions stand in.
const REGIONS: u8 = 4;

const CREATE_TOKEN: &str = "create_token_v1";

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
    pub(super) fn ir(&mut self, mut cursor: Cursor<'a>, plan: &mut Plan<'a, '_>) -> Option<Option<Vec<u8>>> {
        let (ops, _) = cursor.flagged()?;
        let mut out = numbers([ops << 1]);
        let is_changed = self.ops(&mut cursor, ops, &mut out, plan, Self::module)?;
        Some(is_changed.then_some(out))
    }

    /// Writes operations, of which `change` changes the first that it finds to change.
    fn ops(
        &mut self,
        cursor: &mut Cursor<'a>,
        ops: u64,
        out: &mut Vec<u8>,
        plan: &mut Plan<'a, '_>,
        change: fn(&mut Self, &mut Cursor<'a>, &mut Vec<u8>, &mut Plan<'a, '_>) -> Option<bool>,
    ) -> Option<bool> {
        let mut is_changed = false;
        for _ in 0..ops {
            let (start, written) = (*cursor, out.len());
            if !is_changed && change(self, cursor, out, plan)? {
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

    /// Writes a module if its function to run changes.
    fn module(
        &mut self,
        cursor: &mut Cursor<'a>,
        out: &mut Vec<u8>,
        plan: &mut Plan<'a, '_>,
    ) -> Option<bool> {
        let head = Head::read(cursor)?;
        if !self.is_named(&head, b"builtin", b"module") || !head.is_isolated {
            return Some(false);
        }
        if head.regions != 1 {
            return None;
        }
        let length = self.reader.entries.codes.len();
        self.module_facts = head.attributes.and_then(|facts| to_index(facts, length));
        head.write(out);
        self.isolated(cursor, out, |rewrite, cursor, out| {
            let (blocks, values, (ops, has_arguments)) =
                (cursor.number()?, cursor.number()?, cursor.flagged()?);
            if blocks != 1 || has_arguments {
                return None;
            }
            out.extend(numbers([blocks, values, ops << 1]));
            rewrite.ops(cursor, ops, out, plan, Self::main)
        })
    }

    /// Writes a function if it is the one to run and changes.
    fn main(&mut self, cursor: &mut Cursor<'a>, out: &mut Vec<u8>, plan: &mut Plan<'a, '_>) -> Option<bool> {
        let mut head = Head::read(cursor)?;
        let is_vhlo = self.is_named(&head, b"vhlo", b"func_v1");
        if !is_vhlo && !self.is_named(&head, b"func", b"func") || !head.is_isolated {
            return Some(false);
        }
        let (function, name) = self.function(&head, is_vhlo)?;
        if self.reader.text(name) != Some("main") {
            return Some(false);
        }
        let Some(change) = plan(self, &function)? else { return Some(false) };
        if head.regions != 1 {
            return None;
        }
        if let Some(properties) = head.properties {
            head.properties = Some(self.changed_properties(properties, is_vhlo, &change)?);
        } else {
            head.attributes =
                Some(self.changed_dictionary(to_index(head.attributes?, usize::MAX)?, &change)?);
        }
        head.write(out);
        let location = head.location;
        self.isolated(cursor, out, |rewrite, cursor, out| {
            rewrite.body(cursor, out, &change, location)?;
            Some(true)
        })
    }

    /// What a function says of itself, and its name.
    fn function(&self, head: &Head, is_vhlo: bool) -> Option<(Function, u32)> {
        let length = self.reader.entries.codes.len();
        let Some(properties) = head.properties else {
            let attributes = to_index(head.attributes?, length)?;
            let find = |name: &[u8]| self.reader.lookup(attributes, name);
            let (input_facts, output_facts) = (find(b"arg_attrs"), find(b"res_attrs"));
            let function =
                Function { is_vhlo, input_facts, function_type: find(b"function_type")?, output_facts };
            return Some((function, find(b"sym_name")?));
        };
        let mut parts = *self.reader.tables.properties.get(usize::try_from(properties).ok()?)?;
        if is_vhlo {
            let mut next = || parts.index(length);
            let (input_facts, function_type, output_facts) = (next()?, next()?, next()?);
            let (input_facts, output_facts) = (Some(input_facts), Some(output_facts));
            return Some((Function { is_vhlo, input_facts, function_type, output_facts }, next()?));
        }
        let mut all = parts;
        // No more than tells that there are too many: functions can share long properties.
        let count = (0..7).take_while(|_| all.number().is_some()).count();
        if !(5..=6).contains(&count) {
            return None;
        }
        let input_facts = optional(&mut parts, length)?;
        let function_type = parts.index(length)?;
        if count == 6 {
            // Whether it may be inlined.
            parts.number()?;
        }
        let output_facts = optional(&mut parts, length)?;
        Some((Function { is_vhlo, input_facts, function_type, output_facts }, parts.index(length)?))
    }

    /// Adds the properties of a function that changes.
    fn changed_properties(&mut self, old: u64, is_vhlo: bool, change: &Change) -> Option<u64> {
        let mut old = *self.reader.tables.properties.get(usize::try_from(old).ok()?)?;
        let mut properties = if is_vhlo {
            numbers([change.input_facts, change.function_type, change.output_facts?])
        } else {
            numbers([change.input_facts << 1 | 1, change.function_type])
        };
        for _ in 0..if is_vhlo { 3 } else { 2 } {
            old.number()?;
        }
        properties.extend_from_slice(old.rest());
        self.properties.push(properties);
        Some((self.reader.tables.properties.len() + self.properties.len() - 1) as u64)
    }

    /// Adds the attributes of a function that changes, as older versions write them.
    fn changed_dictionary(&mut self, old: u32, change: &Change) -> Option<u64> {
        let length = self.reader.entries.codes.len();
        let mut fields = self.reader.entries.attribute(old)?;
        let mut pairs = Vec::new();
        let mut has_input_facts = false;
        for _ in 0..fields.count()? {
            let (key, value) = (fields.index(length)?, fields.index(length)?);
            let changed = match self.reader.tables.strings[self.reader.string(key)? as usize] {
                b"arg_attrs" => {
                    has_input_facts = true;
                    Some(change.input_facts)
                }
                b"function_type" => Some(change.function_type),
                b"res_attrs" => change.output_facts,
                _ => None,
            };
            pairs.extend([u64::from(key), changed.unwrap_or(u64::from(value))]);
        }
        if !has_input_facts {
            let name = self.add_string("arg_attrs");
            let name = self.add(false, numbers([2, name]))?;
            // The order of the names is the plugin's to make.
            pairs.extend([name, change.input_facts]);
        }
        let mut encoding = numbers([1, pairs.len() as u64 / 2]);
        encoding.extend(numbers_in(&pairs));
        self.add(false, encoding)
    }

    fn is_named(&self, head: &Head, dialect: &[u8], name: &[u8]) -> bool {
        let op = self.reader.tables.ops.get(head.name as usize);
        op.is_some_and(|op| op.dialect == dialect && op.name == name)
    }

    /// The region of the function to run: it begins with operations that make tokens.
    fn body(
        &mut self,
        cursor: &mut Cursor<'a>,
        out: &mut Vec<u8>,
        change: &Change,
        location: u64,
    ) -> Option<()> {
        let version = self.reader.tables.version;
        let (blocks, values, (ops, has_arguments)) = (cursor.number()?, cursor.number()?, cursor.flagged()?);
        if blocks != 1 {
            return None;
        }
        let Change { made, made_type, added, .. } = change;
        let made_count = made.iter().filter(|&&is_made| is_made).count() as u64;
        let kept_count = made.len() as u64 - made_count;
        let (added_count, outer_count) = (added.len() as u64, kept_count + added.len() as u64);
        let values = values.checked_add(added_count)?;
        out.extend(numbers([blocks, values, (ops + made_count) << 1 | u64::from(outer_count > 0)]));
        let old = if has_arguments { arguments(cursor, version)? } else { Vec::new() };
        if old.len() != made.len() {
            return None;
        }
        if outer_count > 0 {
            number(out, outer_count);
            let kept = old.iter().zip(made).filter(|&(_, &is_made)| !is_made);
            kept.for_each(|(argument, _)| out.extend_from_slice(argument));
            for &added in added {
                let added = u64::from(added);
                // Older versions say of each where it is from, the others only if they know.
                match version < tables::NO_UNKNOWN_LOCATIONS {
                    true => out.extend(numbers([added, location])),
                    false => number(out, added << 1),
                }
            }
            if version >= tables::USE_LISTS {
                out.push(0);
            }
        }
        if made_count > 0 {
            let create = self.op_named(CREATE_TOKEN)?;
            for _ in 0..made_count {
                number(out, create);
                out.push(HAS_RESULTS);
                out.extend(numbers([location, 1, u64::from(*made_type)]));
            }
        }
        // The arguments from outside come first, then what makes the others.
        let (mut next_kept, mut next_made) = (0, outer_count);
        let places: Vec<u64> = made
            .iter()
            .map(|&is_made| {
                let next = if is_made { &mut next_made } else { &mut next_kept };
                *next += 1;
                *next - 1
            })
            .collect();
        let place = |value: u64| {
            places.get(usize::try_from(value).unwrap_or(usize::MAX)).copied().unwrap_or(value + added_count)
        };
        self.transcribe(cursor, ops, out, &place, Some(&change.dropped))
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

/// The number of an attribute that may be absent, of a table of `length`.
fn optional(properties: &mut Cursor<'_>, length: usize) -> Option<Option<u32>> {
    match properties.flagged()? {
        (_, false) => Some(None),
        (index, true) => Some(Some(to_index(index, length)?)),
    }
}
