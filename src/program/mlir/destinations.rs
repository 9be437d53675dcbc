//! Gives the function to run a parameter behind the others for each of some results,
//! whose memory that result is written to.

use super::cursor::Cursor;
use super::encodings::attribute;
use super::rewrite::{Change, Function, Rewrite, rewrite};
use super::write::{list, numbers, signed};
use super::{ValueType, read};
use crate::error::Result;
use crate::order;
use crate::program::destinations::{cannot, check_positions, fits, module_attribute_fits};

/// The same program with destinations for those of the results that can have one, and
/// which these are.
pub fn with_destinations(code: &[u8], results: &[usize]) -> Result<(Vec<u8>, Vec<usize>)> {
    let module = read(code)?;
    let Some(main) = module.main else { return Err(cannot("it has no function main")) };
    if module.is_main_called {
        return Err(cannot("its function main is called by another one"));
    }
    check_positions(results, main.outputs.len())?;
    // Those whose types allow it.
    let wanted: Vec<usize> = results
        .iter()
        .copied()
        .filter(|&result| match &main.outputs[result].ty {
            ValueType::Array { dtype, dims } => fits(*dtype, dims.iter().copied()),
            _ => false,
        })
        .collect();
    let mut found = Vec::new();
    let mut foreign = None;
    let written = rewrite(code, cannot, &mut |rewrite, function| {
        foreign = rewrite.foreign_attribute();
        if foreign.is_some() {
            return Some(None);
        }
        let destinations = rewrite.destinations(function, &wanted)?;
        if destinations.is_empty() {
            return Some(None);
        }
        let change = rewrite.with_destinations(function, &destinations)?;
        found = destinations.iter().map(|&(result, _)| result).collect();
        Some(Some(change))
    })?;
    match foreign {
        Some(why) => Err(cannot(&why)),
        None => Ok((written.unwrap_or_else(|| code.to_vec()), found)),
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

    /// Those of the results that can have a destination, with their types.
    fn destinations(&self, function: &Function, wanted: &[usize]) -> Option<Vec<(usize, u32)>> {
        let (_, mut outputs) = self.reader.signature(Some(function.function_type))?;
        let types = (0..outputs.count()?).map(|_| outputs.index(self.reader.entries.types.len()));
        let types = types.collect::<Option<Vec<u32>>>()?;
        let aliased = self.dictionaries(function.input_facts)?;
        let aliased =
            aliased.into_iter().filter_map(|facts| self.reader.lookup(facts, b"tf.aliasing_output"));
        let mut aliased = aliased.map(|alias| self.reader.integer(alias)).collect::<Option<Vec<i64>>>()?;
        order::sort(&mut aliased);
        let facts = self.dictionaries(function.output_facts)?;
        let is_plain = |result: usize| {
            facts.get(result).is_none_or(|&facts| {
                let layout = self.reader.lookup(facts, b"mhlo.layout_mode");
                layout.is_none_or(|layout| self.reader.text(layout) == Some("default"))
                    && self.reader.lookup(facts, b"mhlo.memory_kind").is_none()
            })
        };
        let destination = |&result: &usize| {
            let of_type = *types.get(result)?;
            // Bounds of dims and the like are an encoding.
            let fits = self.reader.entries.tensor_encoding(of_type).is_none() && is_plain(result);
            (fits && aliased.binary_search(&(result as i64)).is_err()).then_some((result, of_type))
        };
        Some(wanted.iter().filter_map(destination).collect())
    }

    /// What a list of dictionaries holds; nothing where there is no list.
    fn dictionaries(&self, facts: Option<u32>) -> Option<Vec<u32>> {
        let Some(facts) = facts else { return Some(Vec::new()) };
        if !matches!(self.reader.entries.codes[facts as usize], attribute::ARRAY | attribute::VHLO_ARRAY) {
            return None;
        }
        let mut fields = self.reader.entries.attribute(facts)?;
        (0..fields.count()?).map(|_| fields.index(self.reader.entries.codes.len())).collect()
    }

    fn with_destinations(&mut self, function: &Function, destinations: &[(usize, u32)]) -> Option<Change> {
        let is_vhlo = function.is_vhlo;
        let codes = codes(is_vhlo);
        let numbers_in = |mut fields: Cursor<'a>| -> Option<Vec<u64>> {
            (0..fields.count()?).map(|_| fields.number()).collect()
        };
        let (inputs, outputs) = self.reader.signature(Some(function.function_type))?;
        let (mut inputs, outputs) = (numbers_in(inputs)?, numbers_in(outputs)?);
        let mut facts: Vec<u64> =
            self.dictionaries(function.input_facts)?.into_iter().map(u64::from).collect();
        if facts.len() != inputs.len() {
            if !facts.is_empty() {
                return None;
            }
            let nothing = self.add(is_vhlo, numbers([codes.dictionary, 0]))?;
            facts = vec![nothing; inputs.len()];
        }
        let made = vec![false; inputs.len()];
        let dropped = vec![false; outputs.len()];
        let name = self.add_string("tf.aliasing_output");
        let name = self.add(is_vhlo, numbers([codes.string, name]))?;
        let integer = self.add_type(is_vhlo, codes.integer_type)?;
        for &(result, of_type) in destinations {
            let mut position = numbers([codes.integer, integer]);
            signed(&mut position, result as i64);
            let position = self.add(is_vhlo, position)?;
            facts.push(self.add(is_vhlo, numbers([codes.dictionary, 1, name, position]))?);
            inputs.push(u64::from(of_type));
        }
        let input_facts = self.add(is_vhlo, [numbers([codes.array]), list(&facts)].concat())?;
        let types = [numbers([codes.function]), list(&inputs), list(&outputs)].concat();
        let function_type = self.add_type(is_vhlo, types)?;
        let function_type = self.add(is_vhlo, numbers([codes.of_type, function_type]))?;
        let output_facts = function.output_facts.map(u64::from);
        let added = destinations.iter().map(|&(_, of_type)| of_type).collect();
        Some(Change { input_facts, function_type, output_facts, made, made_type: 0, dropped, added })
    }
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
    integer_type: Vec<u8>,
}

fn codes(is_vhlo: bool) -> Codes {
    match is_vhlo {
        true => Codes {
            array: 1,
            dictionary: 6,
            string: 14,
            integer: 9,
            of_type: 17,
            function: 8,
            integer_type: numbers([13]),
        },
        false => Codes {
            array: 0,
            dictionary: 1,
            string: 2,
            integer: 8,
            of_type: 6,
            function: 2,
            integer_type: numbers([0, 32 << 2]),
        },
    }
}
