//! Takes the tokens out of what the function to run takes and gives.
//!
//! JAX passes a token through a program for each kind of side effect whose order
//! matters. Plugins fail on a token that comes from outside or goes there. In the
//! program that is written here, the function makes the tokens that it took, and
//! drops those that it gave.

use super::cursor::Cursor;
use super::encodings::{Code, attribute};
use super::read;
use super::rewrite::{Change, Function, Rewrite, rewrite};
use super::write::{list, numbers, signed};
use crate::error::{Code as Status, Error, Origin, Result};

/// The type of tokens.
const TOKEN: Code = Code::Vhlo(22);

/// The same program with a function to run that takes and gives no tokens.
pub fn without_tokens(code: &[u8]) -> Result<Vec<u8>> {
    if read(code)?.main.is_none() {
        return Err(cannot("it has no function main"));
    }
    Ok(rewrite(code, cannot, &mut plan)?.unwrap_or_else(|| code.to_vec()))
}

fn cannot(why: &str) -> Error {
    let message = format!("this version cannot take the tokens out of the program: {why}");
    Error::new(Status::Unimplemented, Origin::Library, message)
        .hint("export the function without ordered effects")
}

/// A function without tokens.
fn plan(rewrite: &mut Rewrite<'_>, function: &Function) -> Option<Option<Change>> {
    if !function.is_vhlo {
        return Some(None);
    }
    let Some((made, dropped, made_type)) = rewrite.tokens(function.function_type)? else { return Some(None) };
    let input_facts = rewrite.facts(function.input_facts?, &made, &dropped)?;
    let output_facts = rewrite.facts(function.output_facts?, &dropped, &dropped)?;
    let (inputs, outputs) = rewrite.reader.signature(Some(function.function_type))?;
    let types = [list(&kept(inputs, &made)?), list(&kept(outputs, &dropped)?)].concat();
    let function_type = rewrite.add_type(true, [numbers([8]), types].concat())?;
    let function_type = rewrite.add(true, numbers([17, function_type]))?;
    let output_facts = Some(output_facts);
    Some(Some(Change {
        input_facts,
        function_type,
        output_facts,
        made,
        made_type,
        dropped,
        added: Vec::new(),
    }))
}

impl<'a> Rewrite<'a> {
    /// Which arguments and results of a function are tokens, and the type of these. The
    /// inner `None` if none is.
    #[allow(clippy::type_complexity, reason = "it is taken apart at once")]
    fn tokens(&self, function_type: u32) -> Option<Option<(Vec<bool>, Vec<bool>, u32)>> {
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
        Some(of_type.map(|of_type| (inputs, outputs, of_type)))
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
        self.add(true, [numbers([1]), list(&facts)].concat())
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
        let moved = self.add(true, encoding)?;
        let mut fields = self.reader.entries.attribute(facts)?;
        let count = fields.count()?;
        let mut encoding = numbers([6, count as u64]);
        for _ in 0..count {
            let (key, value) = (fields.index(length)?, fields.index(length)?);
            let value = if value == alias { moved } else { u64::from(value) };
            encoding.extend(numbers([u64::from(key), value]));
        }
        self.add(true, encoding)
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
