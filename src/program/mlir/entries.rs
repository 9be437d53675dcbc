//! The attributes and types of a file, each checked against its encoding.

use super::cursor::{Cursor, to_index};
use super::encodings::{Code, attribute};
use super::fields::Fields;
use super::tables::{Entry, Family, Tables};
use super::types::{self, Kind};
use crate::dtype::DType;
use crate::order;

/// What is known of a type.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    pub code: Code,
    pub kind: Kind,
    /// Of a scalar, or of the elements of a tensor.
    pub dtype: Option<DType>,
    /// Of a tensor: how many elements it has, unless a dim is unknown.
    pub elements: Option<u64>,
    /// Of a tensor: the type of its elements.
    element: u32,
}

/// The attributes and types of a file, and what they refer to.
pub struct Entries<'a> {
    attributes: Vec<Entry<'a>>,
    type_entries: Vec<Entry<'a>>,
    pub codes: Vec<Code>,
    pub types: Vec<Type>,
    /// Where the references of each begin in `references`: attributes first, then types.
    starts: Vec<u32>,
    /// Attributes by number, then types.
    references: Vec<u32>,
}

/// The number of nothing.
pub const NOTHING: u32 = u32::MAX;

impl<'a> Entries<'a> {
    pub fn read(tables: &Tables<'a>, lists: (Vec<Entry<'a>>, Vec<Entry<'a>>)) -> Option<Entries<'a>> {
        let (attributes, type_entries) = lists;
        let mut codes = Vec::with_capacity(attributes.len());
        for entry in &attributes {
            codes.push(code_of(entry)?.0);
        }
        let mut types = Vec::with_capacity(type_entries.len());
        for entry in &type_entries {
            let (code, mut behind) = code_of(entry)?;
            let (kind, dtype) = types::classify(code, behind.number());
            types.push(Type { code, kind, dtype, elements: None, element: NOTHING });
        }
        let mut entries =
            Entries { attributes, type_entries, codes, types, starts: Vec::new(), references: Vec::new() };
        entries.parse(tables)?;
        Some(entries)
    }

    /// What stands behind the code of an attribute.
    pub fn attribute(&self, index: u32) -> Option<Cursor<'a>> {
        Some(code_of(self.attributes.get(index as usize)?)?.1)
    }

    /// The element types that there are, by number.
    pub fn dtypes(&self) -> Vec<DType> {
        let mut numbers: Vec<i32> =
            self.types.iter().filter_map(|found| found.dtype).map(|dtype| dtype.0).collect();
        order::sort(&mut numbers);
        numbers.dedup();
        numbers.into_iter().map(DType).collect()
    }

    /// The bytes that all attributes take.
    pub fn attributes_size(&self) -> usize {
        self.attributes.iter().map(|entry| entry.data.left()).sum()
    }

    /// The element type of a constant.
    pub fn constant_dtype(&self, index: u32) -> Option<DType> {
        if *self.codes.get(index as usize)? != attribute::VHLO_TENSOR {
            return None;
        }
        let of = self.attribute(index)?.index(self.types.len())?;
        self.types[of as usize].dtype
    }

    /// What stands behind the code of a type.
    pub fn type_fields(&self, index: u32) -> Option<Cursor<'a>> {
        Some(code_of(self.type_entries.get(index as usize)?)?.1)
    }

    /// The texts of those attributes and types that are text.
    pub fn texts(&self) -> impl Iterator<Item = &'a [u8]> {
        let all = self.attributes.iter().chain(&self.type_entries);
        all.filter(|entry| !entry.is_encoded).map(|entry| entry.data.rest())
    }

    /// How many attributes and types there are.
    pub fn len(&self) -> usize {
        self.codes.len() + self.types.len()
    }

    /// Whether a number, as [`Entries::references`] gives it, is that of a location.
    pub fn is_location(&self, index: u32) -> bool {
        self.codes.get(index as usize).is_some_and(|&code| attribute::is_location(code))
    }

    /// What an attribute, or behind all of these a type, refers to.
    pub fn references(&self, index: u32) -> &[u32] {
        let index = index as usize;
        &self.references[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    fn parse(&mut self, tables: &Tables<'a>) -> Option<()> {
        // Types first: what an attribute holds can depend on the elements of its type.
        let mut fields = Fields::new(tables, self);
        let mut type_starts = Vec::new();
        for index in 0..fields.entries.types.len() {
            type_starts.push(fields.references.len() as u32);
            let code = fields.entries.types[index].code;
            let mut cursor = code_of(&fields.entries.type_entries[index])?.1;
            if let Some(letters) = code.type_fields() {
                fields.read(&mut cursor, code, letters)?;
            }
        }
        let type_references = std::mem::take(&mut fields.references);
        for index in 0..self.types.len() {
            self.measure(index)?;
        }
        let mut fields = Fields::new(tables, self);
        let mut starts = Vec::new();
        for index in 0..fields.entries.codes.len() {
            starts.push(fields.references.len() as u32);
            let code = fields.entries.codes[index];
            let mut cursor = code_of(&fields.entries.attributes[index])?.1;
            if let Some(letters) = code.attribute_fields() {
                fields.read(&mut cursor, code, letters)?;
            }
        }
        let mut references = fields.references;
        let shift = references.len() as u32;
        starts.extend(type_starts.iter().map(|start| start + shift));
        references.extend_from_slice(&type_references);
        starts.push(to_index(references.len() as u64, u32::MAX as usize)?);
        (self.starts, self.references) = (starts, references);
        Some(())
    }

    /// Finds how many elements a tensor has.
    fn measure(&mut self, index: usize) -> Option<()> {
        let Some((mut dims, element)) = self.tensor(index as u32) else { return Some(()) };
        let mut elements = Some(1u64);
        for _ in 0..dims.count()? {
            let dim = dims.signed()?;
            if dim < 0 && dim != DYNAMIC {
                return None;
            }
            elements = elements.filter(|_| dim >= 0).map(|count| count.saturating_mul(dim as u64));
        }
        let dtype = self.element_dtype(element);
        let found = &mut self.types[index];
        (found.elements, found.element, found.dtype) = (elements, element, dtype);
        Some(())
    }

    /// Whether a value can be of a type. The scalars of VHLO are for elements only.
    pub fn is_value(&self, index: u32) -> bool {
        let found = self.types[index as usize];
        let is_scalar =
            matches!(found.kind, Kind::Integer(_) | Kind::Float(_) | Kind::Complex | Kind::Quantized);
        !matches!(found.code, Code::Vhlo(_)) || !is_scalar && !matches!(found.code, Code::Vhlo(8 | 33))
    }

    /// The list of a tensor type's dims, and the type of its elements.
    pub fn tensor(&self, index: u32) -> Option<(Cursor<'a>, u32)> {
        let has_encoding = match self.types.get(index as usize)?.code {
            Code::Vhlo(20) | Code::Builtin(13 | 19) => false,
            Code::Vhlo(21) | Code::Builtin(14) => true,
            _ => return None,
        };
        let mut cursor = self.type_fields(index)?;
        if has_encoding {
            cursor.number()?;
        }
        let dims = cursor;
        for _ in 0..cursor.count()? {
            cursor.number()?;
        }
        Some((dims, cursor.index(self.types.len())?))
    }

    /// The encoding of a tensor type: bounds of its unknown dims, and the like.
    pub fn tensor_encoding(&self, index: u32) -> Option<u32> {
        match self.types.get(index as usize)?.code {
            Code::Vhlo(21) | Code::Builtin(14) => self.type_fields(index)?.index(self.codes.len()),
            _ => None,
        }
    }

    /// The dims of a tensor type, the unknown ones as large as they can be, or 1.
    pub fn largest_dims(&self, index: u32, mut dims: Cursor<'a>) -> Option<Vec<u64>> {
        let encoding = self.tensor_encoding(index);
        let bounds = encoding.filter(|&index| self.codes[index as usize] == attribute::VHLO_BOUNDS);
        let mut bounds = bounds.and_then(|index| self.attribute(index));
        let count = dims.count()?;
        if bounds.as_mut().is_some_and(|bounds| bounds.count() != Some(count)) {
            return None;
        }
        let mut largest = Vec::with_capacity(count);
        for _ in 0..count {
            let bound = bounds.as_mut().map(Cursor::signed).map_or(Some(DYNAMIC), |bound| bound)?;
            let dim = dims.signed()?;
            let dim = if dim == DYNAMIC { bound } else { dim };
            largest.push(if dim == DYNAMIC { 1 } else { u64::try_from(dim).ok()? });
        }
        Some(largest)
    }

    fn element_dtype(&self, element: u32) -> Option<DType> {
        let found = self.types[element as usize];
        if found.kind != Kind::Complex {
            return found.dtype;
        }
        let part = self.type_fields(element)?.index(self.types.len())?;
        match self.types[part as usize].dtype {
            Some(DType::F32) => Some(DType::C64),
            Some(DType::F64) => Some(DType::C128),
            _ => None,
        }
    }

    /// Bytes of an element of a type in a constant.
    pub fn storage(&self, of: u32) -> Option<u64> {
        match self.types.get(of as usize)?.kind {
            Kind::Integer(bits) | Kind::Float(bits) => Some(u64::from(bits.div_ceil(8))),
            Kind::Complex => {
                let part = self.type_fields(of)?.index(self.types.len())?;
                match self.types[part as usize].kind {
                    Kind::Integer(bits) | Kind::Float(bits) => Some(2 * u64::from(bits.div_ceil(8))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a constant of a type has as many bytes as that needs, or as one element
    /// needs, which then stands for all.
    pub fn fits(&self, of: u32, data: &[u8]) -> bool {
        let tensor = self.types[of as usize];
        if tensor.kind == Kind::Unknown || tensor.element == NOTHING {
            return true;
        }
        let Some(elements) = tensor.elements else { return false };
        let length = data.len() as u64;
        if self.types[tensor.element as usize].kind == Kind::Integer(1) {
            let is_unpacked = length == elements || length == 1;
            let is_plain = || data.iter().all(|&byte| byte <= 1) || data == [0xff];
            return is_unpacked && (is_plain() || elements <= 8 && elements > 1 && length == 1)
                || !is_unpacked && length == elements.div_ceil(8);
        }
        let Some(size) = self.storage(tensor.element) else { return true };
        length == size || elements.checked_mul(size) == Some(length)
    }
}

/// What MLIR writes for an unknown dim.
pub const DYNAMIC: i64 = i64::MIN;

/// The code of an entry, and what stands behind it.
fn code_of<'a>(entry: &Entry<'a>) -> Option<(Code, Cursor<'a>)> {
    let mut cursor = entry.data;
    if !entry.is_encoded {
        let text = cursor.rest();
        // A NUL ends a text, and nothing follows.
        return (memchr::memchr(0, text)? + 1 == text.len()).then_some((Code::Text, cursor));
    }
    if entry.family == Family::Other {
        return Some((Code::Unknown, cursor));
    }
    let number = cursor.number()?;
    Some((Code::new(entry.family, number), cursor))
}
