//! Takes the tokens out of what the function to run takes and gives.
//!
//! JAX passes a token through a program for each kind of side effect whose order
//! matters. Plugins fail on a token that comes from outside or goes there. In the
//! program that is written here, the function makes the tokens that it took, and
//! drops those that it gave.

mod body;

use super::cursor::Cursor;
use super::encodings::{Code, attribute};
use super::tables::{self, NATIVE_PROPERTIES};
use super::values::Reader;
use super::write::{list, number, numbers, section, signed};
use super::{damaged, entries_of, header, read, tables_of};
use crate::error::{Code as Status, Error, Origin, Result};
use crate::memory;

/// The numbers of sections.
const STRINGS: u8 = 0;
const DIALECTS: u8 = 1;
const ENTRIES: u8 = 2;
const ENTRY_SIZES: u8 = 3;
const IR: u8 = 4;
const PROPERTIES: u8 = 8;

/// The type of tokens.
const TOKEN: Code = Code::Vhlo(22);
const CREATE_TOKEN: &str = "create_token_v1";

/// The same program with a function to run that takes and gives no tokens.
pub fn without_tokens(code: &[u8]) -> Result<Vec<u8>> {
    let module = read(code)?;
    let (version, _, rest) = header(code).ok_or_else(|| damaged("its header"))?;
    if module.main.is_none() {
        return Err(cannot("it has no function main"));
    }
    let (sections, tables) = tables_of(version, rest)?;
    let entries = entries_of(&sections, &tables)?;
    let mut rewrite = Rewrite {
        reader: Reader { tables: &tables, entries: &entries },
        vhlo: 0,
        builtin: 0,
        attributes: Vec::new(),
        types: Vec::new(),
        properties: Vec::new(),
        create_token: None,
    };
    let ir = sections.ir().and_then(|ir| rewrite.ir(ir)).ok_or_else(|| cannot("of its form"))?;
    let Some(ir) = ir else { return Ok(code.to_vec()) };
    rewrite.file(code, rest, &ir)?.ok_or_else(|| cannot("of its form"))
}

fn cannot(why: &str) -> Error {
    let message = format!("this version cannot take the tokens out of the program: {why}");
    Error::new(Status::Unimplemented, Origin::Library, message)
        .hint("export the function without ordered effects")
}

/// What is added to the tables of a file.
struct Rewrite<'a> {
    reader: Reader<'a>,
    /// The positions of the dialects.
    vhlo: u64,
    builtin: u64,
    /// The position of a dialect and an encoding each.
    attributes: Vec<(u64, Vec<u8>)>,
    types: Vec<Vec<u8>>,
    properties: Vec<Vec<u8>>,
    /// The position of the name of the operation that makes a token.
    create_token: Option<u32>,
}

/// What a function takes and gives: which of it are tokens.
struct Tokens {
    inputs: Vec<bool>,
    outputs: Vec<bool>,
    /// The type of a token.
    of_type: u32,
}

impl<'a> Rewrite<'a> {
    /// Which arguments and results of a function are tokens. `None` if none is.
    fn tokens(&self, function_type: u32) -> Option<Option<Tokens>> {
        let (inputs, outputs) = self.reader.signature(Some(function_type))?;
        let mut of_type = None;
        let mut are_tokens = |mut types: Cursor<'a>| {
            let mut found = Vec::new();
            for _ in 0..types.count()? {
                let index = types.index(self.reader.entries.types.len())?;
                let is_token = self.reader.entries.types[index as usize].code == TOKEN;
                of_type = if is_token { Some(index) } else { of_type };
                found.push(is_token);
            }
            Some(found)
        };
        let (inputs, outputs) = (are_tokens(inputs)?, are_tokens(outputs)?);
        Some(of_type.map(|of_type| Tokens { inputs, outputs, of_type }))
    }

    /// The attributes of a function without tokens, in the order of their names:
    /// `old` are those of its arguments, its type, and those of its results.
    fn function(&mut self, old: [u32; 3], tokens: &Tokens) -> Option<[u64; 3]> {
        let input_facts = self.facts(old[0], &tokens.inputs, &tokens.outputs)?;
        let output_facts = self.facts(old[2], &tokens.outputs, &tokens.outputs)?;
        let (inputs, outputs) = self.reader.signature(Some(old[1]))?;
        let mut function_type = numbers([8]);
        function_type.extend(list(&kept(inputs, &tokens.inputs)?));
        function_type.extend(list(&kept(outputs, &tokens.outputs)?));
        self.types.push(function_type);
        let function_type = (self.reader.entries.types.len() + self.types.len() - 1) as u64;
        Some([input_facts, self.add(numbers([17, function_type])), output_facts])
    }

    /// Adds properties.
    fn add_properties(&mut self, properties: Vec<u8>) -> u64 {
        self.properties.push(properties);
        (self.reader.tables.properties.len() + self.properties.len() - 1) as u64
    }

    /// Adds a dictionary of builtin with other attributes by some names.
    fn add_dictionary(&mut self, old: u32, names: [&[u8]; 3], values: [u64; 3]) -> Option<u64> {
        let length = self.reader.entries.codes.len();
        let mut fields = self.reader.entries.attribute(old)?;
        let count = fields.count()?;
        let mut encoding = numbers([1, count as u64]);
        for _ in 0..count {
            let (key, value) = (fields.index(length)?, fields.index(length)?);
            let name = self.reader.tables.strings[self.reader.string(key)? as usize];
            let changed = names.iter().position(|&changed| changed == name);
            let value = changed.map_or(u64::from(value), |position| values[position]);
            encoding.extend(numbers([u64::from(key), value]));
        }
        self.attributes.push((self.builtin, encoding));
        Some((length + self.attributes.len() - 1) as u64)
    }

    /// Adds an attribute of VHLO.
    fn add(&mut self, encoding: Vec<u8>) -> u64 {
        self.attributes.push((self.vhlo, encoding));
        (self.reader.entries.codes.len() + self.attributes.len() - 1) as u64
    }

    /// The facts of arguments or results, without those that are dropped.
    fn facts(&mut self, facts: u32, drop: &[bool], outputs: &[bool]) -> Option<u64> {
        let list_of = self.reader.entries.attribute(facts)?;
        if { list_of }.count()? == 0 {
            return Some(u64::from(facts));
        }
        let mut facts = kept(list_of, drop)?;
        for fact in &mut facts {
            *fact = self.moved_alias(u32::try_from(*fact).ok()?, outputs)?;
        }
        let mut encoding = numbers([1]);
        encoding.extend(list(&facts));
        Some(self.add(encoding))
    }

    /// The facts of an argument. Which result it shares memory with, is a number that
    /// counts the results that are left.
    fn moved_alias(&mut self, facts: u32, outputs: &[bool]) -> Option<u64> {
        let Some(alias) = self.reader.lookup(facts, b"tf.aliasing_output") else {
            return Some(u64::from(facts));
        };
        let position = usize::try_from(self.reader.integer(alias)?).ok()?;
        let is_dropped = *outputs.get(position)?;
        let before = outputs[..position].iter().filter(|&&is_dropped| is_dropped).count();
        let length = self.reader.entries.codes.len();
        let of_type = self.reader.entries.attribute(alias)?.index(self.reader.entries.types.len())?;
        if self.reader.entries.codes[alias as usize] != attribute::VHLO_INTEGER || is_dropped {
            return None;
        }
        let mut encoding = numbers([9, u64::from(of_type)]);
        signed(&mut encoding, (position - before) as i64);
        let moved = self.add(encoding);
        let mut fields = self.reader.entries.attribute(facts)?;
        let count = fields.count()?;
        let mut encoding = numbers([6, count as u64]);
        for _ in 0..count {
            let (key, value) = (fields.index(length)?, fields.index(length)?);
            let value = if value == alias { moved } else { u64::from(value) };
            encoding.extend(numbers([u64::from(key), value]));
        }
        Some(self.add(encoding))
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
        if self.create_token.is_none_or(|name| (name as usize) < self.reader.tables.ops.len()) {
            return Some(section.rest().to_vec());
        }
        let mut out = numbers([section.number()? + 1, CREATE_TOKEN.len() as u64 + 1]);
        out.extend_from_slice(section.rest());
        out.extend_from_slice(CREATE_TOKEN.as_bytes());
        out.push(0);
        Some(out)
    }

    fn dialects(&self, mut section: Cursor<'a>) -> Option<Vec<u8>> {
        if self.create_token.is_none_or(|name| (name as usize) < self.reader.tables.ops.len()) {
            return Some(section.rest().to_vec());
        }
        let whole = section.rest();
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
            number(&mut out, section.number()? + 1);
        }
        out.extend_from_slice(section.rest());
        let name = self.reader.tables.strings.len() as u64;
        let name = if version < NATIVE_PROPERTIES { name } else { name << 1 | 1 };
        out.extend(numbers([self.vhlo, 1, name]));
        Some(out)
    }

    fn entries(&self, section: Cursor<'a>) -> Option<Vec<u8>> {
        let data = section.rest();
        let attributes = self.reader.entries.attributes_size();
        let mut out = memory::room(data.len() + (1 << 12)).ok()?;
        out.extend_from_slice(data.get(..attributes)?);
        self.attributes.iter().for_each(|(_, encoding)| out.extend_from_slice(encoding));
        out.extend_from_slice(&data[attributes..]);
        self.types.iter().for_each(|encoding| out.extend_from_slice(encoding));
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
        self.types.iter().for_each(|encoding| out.extend(group(self.vhlo, encoding)));
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

/// The numbers of a list, without those that are dropped.
fn kept(mut fields: Cursor<'_>, drop: &[bool]) -> Option<Vec<u64>> {
    let mut kept = Vec::new();
    if fields.count()? != drop.len() {
        return None;
    }
    for &is_dropped in drop {
        let value = fields.number()?;
        if !is_dropped {
            kept.push(value);
        }
    }
    Some(kept)
}
