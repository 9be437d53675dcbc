//! The types of values.

use super::wire::{Fields, Malformed, int, message};
use crate::dtype::DType;

const TUPLE: i64 = 13;
const OPAQUE: i64 = 14;
const TOKEN: i64 = 17;
const BUFFER: i64 = 34;

/// Tuples in one another; more are taken for damage. Real programs have a handful.
const DEEPEST: usize = 32;
/// Parts of a tuple; a few bytes of a file each take more than a hundred in memory.
const MOST_PARTS: usize = 1 << 20;
/// NumPy arrays have at most as many dimensions.
const MOST_DIMENSIONS: usize = 64;
/// No array of a program that fits into memory has more elements.
const MOST_ELEMENTS: i64 = 1 << 35;

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// XLA's number of the element type, or of what else it is.
    pub element_type: i64,
    /// Elements in each dimension.
    pub dims: Vec<i64>,
    /// The parts of a tuple.
    pub parts: Vec<Shape>,
    /// Whether a dimension may be smaller than `dims` says.
    pub is_dynamic: bool,
    /// The order of an array's dimensions in memory, the fastest first.
    pub layout: Option<Vec<i64>>,
}

impl Shape {
    /// Adds what a message says: of two messages for one field, the second adds to the
    /// first.
    pub fn merge(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.merge_below(bytes, DEEPEST, &mut MOST_PARTS.clone())
    }

    fn merge_below(&mut self, bytes: &[u8], depth: usize, room: &mut usize) -> Result<(), Malformed> {
        let mut fields = Fields::of(bytes);
        while let Some((number, content)) = fields.next()? {
            match number {
                2 => self.element_type = content.number()?,
                3 => content.append_to(&mut self.dims)?,
                4 => {
                    let mut part = Shape::default();
                    *room = room.checked_sub(1).ok_or(Malformed)?;
                    part.merge_below(content.bytes()?, depth.checked_sub(1).ok_or(Malformed)?, room)?;
                    self.parts.push(part);
                }
                5 => read_layout(content.bytes()?, self.layout.get_or_insert_default())?,
                6 => {
                    let mut flags = Vec::new();
                    content.append_to(&mut flags)?;
                    self.is_dynamic |= flags.iter().any(|&flag| flag != 0);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The message of this type, with what plugins need of it.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = int(2, self.element_type);
        for &dim in &self.dims {
            bytes.extend(int(3, dim));
        }
        for part in &self.parts {
            bytes.extend(message(4, &part.write()));
        }
        if let Some(order) = &self.layout {
            let order: Vec<u8> = order.iter().flat_map(|&dimension| int(1, dimension)).collect();
            bytes.extend(message(5, &order));
        }
        bytes
    }

    /// Whether it is a tuple.
    pub fn is_tuple(&self) -> bool {
        self.element_type == TUPLE
    }

    /// The element type of an array.
    pub fn dtype(&self) -> Option<DType> {
        let number = i32::try_from(self.element_type).ok()?;
        DType::from_xla(number).filter(|&dtype| dtype != DType::TOKEN)
    }

    /// What it is if it is no array of a known type, in words.
    pub fn kind(&self) -> String {
        match self.element_type {
            TUPLE => "a tuple".into(),
            TOKEN => "a token".into(),
            OPAQUE => "an opaque value".into(),
            BUFFER => "a buffer".into(),
            other => format!("of the unknown XLA type {other}"),
        }
    }

    /// Whether nothing in it contradicts itself.
    pub fn is_sound(&self) -> bool {
        match self.element_type {
            TUPLE | BUFFER => self.dims.is_empty() && self.parts.iter().all(Shape::is_sound),
            TOKEN | OPAQUE => self.dims.is_empty() && self.parts.is_empty(),
            _ => self.dtype().is_some() && self.parts.is_empty() && self.is_sound_array(),
        }
    }

    fn is_sound_array(&self) -> bool {
        let rank = self.dims.len();
        let count = self.dims.iter().try_fold(1_i64, |count, &dim| {
            count.checked_mul(dim.max(1)).filter(|&count| dim >= 0 && count <= MOST_ELEMENTS)
        });
        let orders_all = rank <= MOST_DIMENSIONS
            && self.layout.as_ref().is_some_and(|order| {
                order.len() == rank && (0..rank as i64).all(|dimension| order.contains(&dimension))
            });
        count.is_some() && orders_all
    }

    /// Whether both are of one type, in whatever order in memory.
    pub fn is_like(&self, other: &Shape) -> bool {
        (self.element_type, &self.dims) == (other.element_type, &other.dims)
            && self.parts.len() == other.parts.len()
            && self.parts.iter().zip(&other.parts).all(|(part, other)| part.is_like(other))
    }

    /// The part that a path of positions leads to.
    pub fn at(&self, path: &[i64]) -> Option<&Shape> {
        path.iter().try_fold(self, |shape, &index| shape.parts.get(usize::try_from(index).ok()?))
    }
}

fn read_layout(bytes: &[u8], order: &mut Vec<i64>) -> Result<(), Malformed> {
    let mut fields = Fields::of(bytes);
    while let Some((number, content)) = fields.next()? {
        if number == 1 {
            content.append_to(order)?;
        }
    }
    Ok(())
}
