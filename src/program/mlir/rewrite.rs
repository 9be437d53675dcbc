//! Writes a file anew, with another function to run.
//!
//! What is new stands behind what was there in each table, so that the old numbers keep
//! their meaning.

mod body;
mod head;

use super::cursor::Cursor;
use super::tables;
use super::values::Reader;
use super::write::{number, numbers, section};
use super::{damaged, entries_of, header, tables_of};
use crate::error::{Error, Result};
use crate::memory;

/// The numbers of sections.
const STRINGS: u8 = 0;
const DIALECTS: u8 = 1;
const ENTRIES: u8 = 2;
const ENTRY_SIZES: u8 = 3;
const IR: u8 = 4;
const PROPERTIES: u8 = 8;

/// What is added to the tables of a file.
pub struct Rewrite<'a> {
    pub reader: Reader<'a>,
    /// The attributes of the module itself.
    pub module_facts: Option<u32>,
    /// The positions of the dialects.
    vhlo: Option<u64>,
    builtin: u64,
    strings: Vec<&'static str>,
    /// The positions of a dialect and of a string each.
    ops: Vec<(u64, u64)>,
    /// The position of a dialect and an encoding each.
    attributes: Vec<(u64, Vec<u8>)>,
    types: Vec<(u64, Vec<u8>)>,
    properties: Vec<Vec<u8>>,
}

/// What a function says of itself, by the numbers of attributes.
pub struct Function {
    /// Whether it is of VHLO, and not of the dialect `func`.
    pub is_vhlo: bool,
    pub input_facts: Option<u32>,
    pub function_type: u32,
    pub output_facts: Option<u32>,
}

/// How a function changes.
pub struct Change {
    /// What it says of itself then.
    pub input_facts: u64,
    pub function_type: u64,
    pub output_facts: Option<u64>,
    /// Which of its arguments it makes itself instead: they are tokens, of this type.
    pub made: Vec<bool>,
    pub made_type: u32,
    /// Which of its results it drops.
    pub dropped: Vec<bool>,
    /// The types of the arguments that it gets behind the others.
    pub added: Vec<u32>,
}

/// Decides how the function to run changes; the inner `None` if it does not.
pub type Plan<'a, 'p> = dyn FnMut(&mut Rewrite<'a>, &Function) -> Option<Option<Change>> + 'p;

/// The file with its function to run changed; `None` if that does not change. `code` was
/// found to be sound, and `cannot` says so of what is written in no form that is known.
pub fn rewrite(
    code: &[u8],
    cannot: fn(&str) -> Error,
    plan: &mut dyn FnMut(&mut Rewrite<'_>, &Function) -> Option<Option<Change>>,
) -> Result<Option<Vec<u8>>> {
    let (version, _, rest) = header(code).ok_or_else(|| damaged("its header"))?;
    let (sections, tables) = tables_of(version, rest)?;
    let entries = entries_of(&sections, &tables)?;
    let dialect =
        |wanted: &[u8]| tables.dialects.iter().position(|&name| name == wanted).map(|found| found as u64);
    let mut rewrite = Rewrite {
        reader: Reader { tables: &tables, entries: &entries },
        module_facts: None,
        vhlo: dialect(b"vhlo"),
        builtin: dialect(b"builtin").ok_or_else(|| cannot("of its form"))?,
        strings: Vec::new(),
        ops: Vec::new(),
        attributes: Vec::new(),
        types: Vec::new(),
        properties: Vec::new(),
    };
    let ir = sections.ir().and_then(|ir| rewrite.ir(ir, plan)).ok_or_else(|| cannot("of its form"))?;
    let Some(ir) = ir else { return Ok(None) };
    rewrite.file(code, rest, &ir)?.ok_or_else(|| cannot("of its form")).map(Some)
}

impl<'a> Rewrite<'a> {
    /// Adds a string.
    pub fn add_string(&mut self, text: &'static str) -> u64 {
        self.strings.push(text);
        (self.reader.tables.strings.len() + self.strings.len() - 1) as u64
    }

    /// Adds an attribute of VHLO or of builtin.
    pub fn add(&mut self, is_vhlo: bool, encoding: Vec<u8>) -> Option<u64> {
        self.attributes.push((self.dialect(is_vhlo)?, encoding));
        Some((self.reader.entries.codes.len() + self.attributes.len() - 1) as u64)
    }

    /// Adds a type of VHLO or of builtin.
    pub fn add_type(&mut self, is_vhlo: bool, encoding: Vec<u8>) -> Option<u64> {
        self.types.push((self.dialect(is_vhlo)?, encoding));
        Some((self.reader.entries.types.len() + self.types.len() - 1) as u64)
    }

    fn dialect(&self, is_vhlo: bool) -> Option<u64> {
        if is_vhlo { self.vhlo } else { Some(self.builtin) }
    }

    /// The position of the name of an operation of VHLO, which is added where it is missing.
    fn op_named(&mut self, name: &'static str) -> Option<u64> {
        let ops = &self.reader.tables.ops;
        if let Some(found) = ops.iter().position(|op| op.dialect == b"vhlo" && op.name == name.as_bytes()) {
            return Some(found as u64);
        }
        let added = (self.vhlo?, self.add_string(name));
        self.ops.push(added);
        Some((self.reader.tables.ops.len() + self.ops.len() - 1) as u64)
    }

    /// Writes the file with new operations and what was added to its tables. `rest` is
    /// what follows the header.
    fn file(&self, code: &[u8], mut rest: Cursor<'a>, ir: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut out = memory::room(code.len() + ir.len() + (1 << 12))?;
        out.extend_from_slice(&code[..rest.position()]);
        while !rest.is_at_end() {
            let head = rest.rest()[0];
            let Some((kind, data)) = rest.section() else { return Ok(None) };
            let is_aligned = head & 0x80 != 0;
            let data = match kind {
                STRINGS => self.strings(data),
                DIALECTS => self.dialects(data),
                ENTRIES => self.entries(data),
                ENTRY_SIZES => self.entry_sizes(data),
                IR => Some(ir.to_vec()),
                PROPERTIES => self.all_properties(data),
                // What is aligned stays so only where nothing moves.
                _ if !is_aligned || data.is_at_end() => Some(data.rest().to_vec()),
                _ => None,
            };
            let Some(data) = data else { return Ok(None) };
            section(&mut out, kind, &data);
        }
        Ok(Some(out))
    }

    fn strings(&self, mut section: Cursor<'a>) -> Option<Vec<u8>> {
        let mut out = numbers([section.number()? + self.strings.len() as u64]);
        // The sizes stand before them, last one first; each has a NUL at its end.
        self.strings.iter().rev().for_each(|text| number(&mut out, text.len() as u64 + 1));
        out.extend_from_slice(section.rest());
        for text in &self.strings {
            out.extend_from_slice(text.as_bytes());
            out.push(0);
        }
        Some(out)
    }

    fn dialects(&self, mut section: Cursor<'a>) -> Option<Vec<u8>> {
        let whole = section.rest();
        if self.ops.is_empty() {
            return Some(whole.to_vec());
        }
        let version = self.reader.tables.version;
        for _ in 0..section.number()? {
            if version < tables::DIALECT_VERSIONING {
                section.number()?;
            } else if section.flagged()?.1 {
                section.section()?;
            }
        }
        let mut out = whole[..whole.len() - section.left()].to_vec();
        if version >= tables::NO_UNKNOWN_LOCATIONS {
            number(&mut out, section.number()? + self.ops.len() as u64);
        }
        out.extend_from_slice(section.rest());
        for &(dialect, name) in &self.ops {
            let name = if version < tables::NATIVE_PROPERTIES { name } else { name << 1 | 1 };
            out.extend(numbers([dialect, 1, name]));
        }
        Some(out)
    }

    fn entries(&self, section: Cursor<'a>) -> Option<Vec<u8>> {
        let data = section.rest();
        let attributes = self.reader.entries.attributes_size();
        let mut out = memory::room(data.len() + (1 << 12)).ok()?;
        out.extend_from_slice(data.get(..attributes)?);
        self.attributes.iter().for_each(|(_, encoding)| out.extend_from_slice(encoding));
        out.extend_from_slice(&data[attributes..]);
        self.types.iter().for_each(|(_, encoding)| out.extend_from_slice(encoding));
        Some(out)
    }

    fn entry_sizes(&self, mut section: Cursor<'a>) -> Option<Vec<u8>> {
        let (attributes, types) = (section.number()?, section.number()?);
        let mut out = numbers([attributes + self.attributes.len() as u64, types + self.types.len() as u64]);
        let groups = section.rest();
        let mut seen = 0;
        while seen < attributes {
            let _dialect = section.number()?;
            let count = section.number()?;
            for _ in 0..count {
                section.number()?;
            }
            seen += count;
        }
        out.extend_from_slice(&groups[..groups.len() - section.left()]);
        // A group for each that was added.
        let group = |dialect, encoding: &Vec<u8>| numbers([dialect, 1, (encoding.len() as u64) << 1 | 1]);
        self.attributes.iter().for_each(|(dialect, encoding)| out.extend(group(*dialect, encoding)));
        out.extend_from_slice(section.rest());
        self.types.iter().for_each(|(dialect, encoding)| out.extend(group(*dialect, encoding)));
        Some(out)
    }

    fn all_properties(&self, mut section: Cursor<'a>) -> Option<Vec<u8>> {
        let mut out = numbers([section.number()? + self.properties.len() as u64]);
        out.extend_from_slice(section.rest());
        for properties in &self.properties {
            number(&mut out, properties.len() as u64);
            out.extend_from_slice(properties);
        }
        Some(out)
    }
}
