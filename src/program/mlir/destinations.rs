//! Gives the function to run a parameter behind the others for each of some results,
//! whose memory that result is written to.

use super::cursor::Cursor;
use super::encodings::attribute;
use super::rewrite::{Change, Function, Rewrite, rewrite};
use super::write::{list, numbers, signed};
use super::{ValueType, read};
use crate::error::Result;
use crate::program::destinations::{cannot, choose, fits, module_attribute_fits};

/// The same program with destinations for those of the results that can have one, and
/// which these are.
pub fn with_destinations(code: &[u8], results: &[usize]) -> Result<(Vec<u8>, Vec<usize>)> {
    let module = read(code)?;
    let Some(main) = module.main else { return Err(cannot("it has no function main")) };
    if module.is_main_called {
        return Err(cannot("its function main is called by another one"));
    }
    let mut is_free = Vec::with_capacity(main.outputs.len());
    for output in &main.outputs {
        is_free.push(match &output.ty {
            ValueType::Array { dtype, dims } => dims.iter().all(Option::is_some) && fits(*dtype, &[]),
            _ => false,
        });
    }
    let mut found = Ok(Vec::new());
    let mut foreign = None;
    let written = rewrite(code, cannot, &mut |rewrite, function| {
        foreign = rewrite.foreign_attribute();
        let types = rewrite.leave_out(function, &mut is_free)?;
        found = choose(results, std::mem::take(&mut is_free));
        match &found {
            Ok(chosen) if foreign.is_none() && !chosen.is_empty() => {
                rewrite.with_destinations(function, chosen, &types).map(Some)
            }
            _ => Some(None),
        }
    })?;
    match foreign {
        Some(why) => Err(cannot(&why)),
        None => Ok((written.unwrap_or_else(|| code.to_vec()), found?)),
    }
}

impl<'a> Rewrite<'a> {
    /// Why the attributes of the module stand in the way: one may tell something of each
    /// parameter.
    fn foreign_attribute(&self) -> Option<String> {
        let (entries, facts) = (self.reader.entries, self.module_facts?);
        let length = entries.codes.len();
        let dictionary =
            entries.attribute(facts).filter(|_| entries.codes[facts as usize] == attribute::DICTIONARY);
        let names = dictionary.and_then(|mut fields| {
            let mut names = Vec::new();
            for _ in 0..fields.count()? {
                let (key, _value) = (fields.index(length)?, fields.index(length)?);
                names.push(self.reader.text(key)?);
            }
            Some(names)
        });
        let Some(names) = names else { return Some("its module has attributes of another form".to_owned()) };
        let foreign = names.into_iter().find(|name| !module_attribute_fits(name))?;
        Some(format!("its module has the attribute {foreign}"))
    }

    /// Leaves out the results that share memory already, and those that are not plain
    /// bytes. Gives the types of all results.
    fn leave_out(&self, function: &Function, is_free: &mut [bool]) -> Option<Vec<u64>> {
        let (reader, entries) = (self.reader, self.reader.entries);
        let (_, outputs) = reader.signature(Some(function.function_type))?;
        let types = numbers_of(outputs)?;
        for facts in self.dictionaries(function.input_facts)? {
            let Some(alias) = reader.lookup(facts as u32, b"tf.aliasing_output") else { continue };
            let result = usize::try_from(reader.integer(alias)?).ok()?;
            *is_free.get_mut(result)? = false;
        }
        let facts = self.dictionaries(function.output_facts)?;
        for (result, is_free) in is_free.iter_mut().enumerate() {
            let of_type = *types.get(result)? as u32;
            // Bounds of dims and the like are an encoding.
            *is_free &= entries.tensor_encoding(of_type).is_none()
                && entries.types[of_type as usize].elements.is_some_and(|count| count > 0);
            let Some(&facts) = facts.get(result) else { continue };
            let layout = reader.lookup(facts as u32, b"mhlo.layout_mode");
            *is_free &= layout.is_none_or(|layout| reader.text(layout) == Some("default"))
                && reader.lookup(facts as u32, b"mhlo.memory_kind").is_none();
        }
        Some(types)
    }

    /// What a list of dictionaries holds; nothing where there is no list.
    fn dictionaries(&self, facts: Option<u32>) -> Option<Vec<u64>> {
        let Some(facts) = facts else { return Some(Vec::new()) };
        if !matches!(self.reader.entries.codes[facts as usize], attribute::ARRAY | attribute::VHLO_ARRAY) {
            return None;
        }
        numbers_of(self.reader.entries.attribute(facts)?)
    }

    fn with_destinations(&mut self, function: &Function, results: &[usize], types: &[u64]) -> Option<Change> {
        let is_vhlo = function.is_vhlo;
        let codes = if is_vhlo { VHLO } else { BUILTIN };
        let (inputs, _) = self.reader.signature(Some(function.function_type))?;
        let mut inputs = numbers_of(inputs)?;
        let (made, dropped) = (vec![false; inputs.len()], vec![false; types.len()]);
        let mut facts = self.dictionaries(function.input_facts)?;
        if facts.is_empty() && !inputs.is_empty() {
            let nothing = self.add(is_vhlo, numbers([codes.dictionary, 0]))?;
            facts.resize(inputs.len(), nothing);
        }
        if facts.len() != inputs.len() {
            return None;
        }
        let name = self.add_string("tf.aliasing_output");
        let name = self.add(is_vhlo, numbers([codes.string, name]))?;
        let integer = self.add_type(is_vhlo, codes.integer_type.to_vec())?;
        let mut added = Vec::with_capacity(results.len());
        for &result in results {
            let mut position = numbers([codes.integer, integer]);
            signed(&mut position, result as i64);
            let position = self.add(is_vhlo, position)?;
            facts.push(self.add(is_vhlo, numbers([codes.dictionary, 1, name, position]))?);
            inputs.push(types[result]);
            added.push(types[result] as u32);
        }
        let mut encoding = numbers([codes.array]);
        encoding.extend(list(&facts));
        let input_facts = self.add(is_vhlo, encoding)?;
        let mut encoding = numbers([codes.function]);
        encoding.extend(list(&inputs));
        encoding.extend(list(types));
        let function_type = self.add_type(is_vhlo, encoding)?;
        let function_type = self.add(is_vhlo, numbers([codes.of_type, function_type]))?;
        let output_facts = function.output_facts.map(u64::from);
        Some(Change { input_facts, function_type, output_facts, made, made_type: 0, dropped, added })
    }
}

/// The numbers of a list. Those of a file that was found to be sound fit into 32 bits.
fn numbers_of(mut fields: Cursor<'_>) -> Option<Vec<u64>> {
    let mut found = Vec::new();
    for _ in 0..fields.count()? {
        found.push(fields.number()?);
    }
    Some(found)
}

/// What the encodings of attributes and types begin with.
struct Codes {
    array: u64,
    dictionary: u64,
    string: u64,
    integer: u64,
    of_type: u64,
    /// Of the type of functions.
    function: u64,
    /// The type of 32-bit integers, whole.
    integer_type: &'static [u8],
}

const VHLO: Codes = Codes {
    array: 1,
    dictionary: 6,
    string: 14,
    integer: 9,
    of_type: 17,
    function: 8,
    integer_type: &[13 << 1 | 1],
};
const BUILTIN: Codes = Codes {
    array: 0,
    dictionary: 1,
    string: 2,
    integer: 8,
    of_type: 6,
    function: 2,
    // Its width, four times, in two bytes.
    integer_type: &[1, 2, 2],
};
