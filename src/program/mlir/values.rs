//! Reads what attributes and types mean: strings, integers, signatures.

use super::cursor::Cursor;
use super::encodings::{Code, attribute};
use super::entries::{DYNAMIC, Entries};
use super::tables::Tables;
use super::{Value, ValueType};
use crate::order;

/// The most entries of a dictionary that a name is looked for in.
const MOST_NAMES: usize = 64;

#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub tables: &'a Tables<'a>,
    pub entries: &'a Entries<'a>,
}

impl<'a> Reader<'a> {
    fn code(&self, index: u32) -> Option<Code> {
        self.entries.codes.get(index as usize).copied()
    }

    /// The position in the table of strings of what a string or a symbol says.
    pub fn string(&self, index: u32) -> Option<u32> {
        let mut index = index;
        if self.code(index)? == attribute::SYMBOL {
            index = self.entries.attribute(index)?.index(self.entries.codes.len())?;
        }
        match self.code(index)? {
            attribute::STRING | attribute::VHLO_STRING => {
                self.entries.attribute(index)?.index(self.tables.strings.len())
            }
            _ => None,
        }
    }

    /// What a string or a symbol says.
    pub fn text(&self, index: u32) -> Option<&'a str> {
        std::str::from_utf8(self.tables.strings[self.string(index)? as usize]).ok()
    }

    pub fn integer(&self, index: u32) -> Option<i64> {
        if !matches!(self.code(index)?, attribute::INTEGER | attribute::VHLO_INTEGER) {
            return None;
        }
        let mut fields = self.entries.attribute(index)?;
        let of = fields.index(self.entries.types.len())?;
        match self.entries.types[of as usize].kind {
            super::types::Kind::Integer(0..=8) => fields.byte().map(|byte| i64::from(byte as i8)),
            super::types::Kind::Integer(9..=64) => fields.signed(),
            _ => None,
        }
    }

    pub fn flag(&self, index: u32) -> Option<bool> {
        match self.code(index)? {
            attribute::VHLO_BOOLEAN => Some(self.entries.attribute(index)?.number()? != 0),
            // A builtin one is an integer of one bit.
            _ => self.integer(index).map(|number| number != 0),
        }
    }

    pub fn api_version(&self, index: u32) -> Option<i64> {
        match self.code(index)? {
            attribute::VHLO_API_VERSION => self.entries.attribute(index)?.number()?.try_into().ok(),
            _ => self.integer(index),
        }
    }

    /// The attribute that a dictionary has by a name.
    pub fn lookup(&self, dictionary: u32, name: &[u8]) -> Option<u32> {
        if !matches!(self.code(dictionary)?, attribute::DICTIONARY | attribute::VHLO_DICTIONARY) {
            return None;
        }
        let mut fields = self.entries.attribute(dictionary)?;
        let length = self.entries.codes.len();
        for _ in 0..fields.count()?.min(MOST_NAMES) {
            let (key, value) = (fields.index(length)?, fields.index(length)?);
            if self.string(key).is_some_and(|key| self.tables.strings[key as usize] == name) {
                return Some(value);
            }
        }
        None
    }

    /// The lists of types that a function's type takes and gives.
    pub fn signature(&self, function_type: Option<u32>) -> Option<(Cursor<'a>, Cursor<'a>)> {
        let function_type = function_type?;
        if !matches!(self.code(function_type)?, attribute::TYPE | attribute::VHLO_TYPE) {
            return None;
        }
        let of = self.entries.attribute(function_type)?.index(self.entries.types.len())?;
        if !matches!(self.entries.types[of as usize].code, Code::Builtin(2) | Code::Vhlo(8)) {
            return None;
        }
        let inputs = self.entries.type_fields(of)?;
        let mut outputs = inputs;
        for _ in 0..outputs.count()? {
            outputs.number()?;
        }
        Some((inputs, outputs))
    }

    /// The values of a list of types.
    pub fn values(&self, mut list: Cursor<'a>) -> Option<Vec<Value>> {
        let count = list.count()?;
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            let index = list.index(self.entries.types.len())?;
            values.push(Value::new(self.value_type(index)));
        }
        Some(values)
    }

    fn value_type(&self, index: u32) -> ValueType {
        let found = self.entries.types[index as usize];
        if matches!(found.code, Code::Vhlo(22) | Code::StableHlo(0)) {
            return ValueType::Token;
        }
        self.array(index).unwrap_or(ValueType::Other)
    }

    fn array(&self, index: u32) -> Option<ValueType> {
        let found = self.entries.types[index as usize];
        if !matches!(found.code, Code::Vhlo(20 | 21) | Code::Builtin(13 | 14)) {
            return None;
        }
        let (mut dims, _) = self.entries.tensor(index)?;
        let count = dims.count()?;
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push(Some(dims.signed()?).filter(|&dim| dim != DYNAMIC));
        }
        Some(ValueType::Array { dtype: found.dtype?, dims: list })
    }

    /// The name that a location gives.
    pub fn name_of(&self, location: u32) -> Option<String> {
        if self.code(location)? != attribute::NAME_LOCATION {
            return None;
        }
        let name = self.entries.attribute(location)?.index(self.entries.codes.len())?;
        self.text(name).filter(|name| !name.is_empty()).map(str::to_owned)
    }

    /// The dictionaries of a function's arguments or results, as far as there are any.
    fn dictionaries(&self, list: Option<u32>) -> Option<Cursor<'a>> {
        let is_list = |&list: &u32| matches!(self.code(list), Some(attribute::ARRAY | attribute::VHLO_ARRAY));
        let mut fields = self.entries.attribute(list.filter(is_list)?)?;
        fields.count()?;
        Some(fields)
    }

    /// Adds what the dictionaries of a function's arguments or results say.
    pub fn add_facts(&self, values: &mut [Value], list: Option<u32>) {
        let Some(mut fields) = self.dictionaries(list) else { return };
        for value in values {
            let Some(facts) = fields.index(self.entries.codes.len()) else { return };
            let donor = self.lookup(facts, b"jax.buffer_donor").and_then(|flag| self.flag(flag));
            value.is_donated = donor == Some(true) || self.lookup(facts, b"tf.aliasing_output").is_some();
            if let Some(name) = self.lookup(facts, b"jax.result_info").and_then(|name| self.text(name)) {
                value.name = Some(name.to_owned());
            }
        }
    }

    /// The first layout that the dictionaries ask for and that is none of its array's,
    /// and how many dims that has.
    pub fn wrong_layout(&self, values: &[Value], list: Option<u32>) -> Option<(&'a str, usize)> {
        let mut fields = self.dictionaries(list)?;
        values.iter().find_map(|value| {
            let facts = fields.index(self.entries.codes.len())?;
            let ValueType::Array { dims, .. } = &value.ty else { return None };
            let layout = self.text(self.lookup(facts, b"mhlo.layout_mode")?)?;
            (!is_layout(layout, dims.len())).then_some((layout, dims.len()))
        })
    }
}

/// Whether a layout orders so many dims: `{1,0}`, perhaps with tiles behind a colon.
/// What does not begin with a bracket is a word that plugins know or refuse.
fn is_layout(layout: &str, dims: usize) -> bool {
    let Some(inside) = layout.strip_prefix('{') else { return true };
    let order = inside.split([':', '}']).next().unwrap_or("");
    let mut order: Vec<Option<usize>> =
        order.split(',').filter(|dim| !dim.is_empty()).map(|dim| dim.trim().parse().ok()).collect();
    order::sort(&mut order);
    order == (0..dims).map(Some).collect::<Vec<_>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        for (layout, dims) in [("default", 3), ("auto", 0), ("{}", 0), ("{1,0}", 2), ("{0,1:T(8,128)}", 2)] {
            assert!(is_layout(layout, dims), "{layout}");
        }
        for (layout, dims) in [("{1,0}", 0), ("{1,0}", 3), ("{}", 1), ("{0,0}", 2), ("{0,2}", 2), ("{x}", 1)]
        {
            assert!(!is_layout(layout, dims), "{layout}");
        }
    }
}
