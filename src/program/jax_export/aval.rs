//! Abstract values: the types of a function's inputs and outputs.

use std::fmt;
use std::sync::Arc;

use super::flat::{Field, Flat, Table, damaged};
use super::repr::shorten;
use super::sharding::Sharding;
use crate::dtype::{ArrayType, DType};
use crate::error::Result;

const KIND: Field = Field(0, "the kind of an abstract value");
const SHAPE: Field = Field(1, "the shape of an abstract value");
const DTYPE: Field = Field(2, "the dtype of an abstract value");
const MEMORY_SPACE: Field = Field(3, "the memory space of an abstract value");

/// An input or output of the exported function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Aval {
    /// JAX's key path: `args[0]['w1'][3]`, `kwargs['x']`, `result['y'][0]`.
    pub path: String,
    /// What its elements are.
    pub dtype: AvalType,
    /// Its shape, as the user's function sees it.
    pub dims: Vec<Dim>,
    /// Where it lives; exports from before 2025-11 do not say.
    pub memory_space: Option<MemorySpace>,
    /// How it is spread over the devices, when that is specified.
    pub sharding: Option<Arc<Sharding>>,
}

/// What the elements of an input or output are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AvalType {
    /// Numbers or truth values.
    Array(DType),
    /// JAX's type of no information, the gradient of integers. Programs pass it as `pred`.
    Float0,
    /// A key of random numbers, by JAX's name for it. Programs pass it as more numbers, see
    /// [`Aval::physical`].
    Key(&'static str),
    /// No data at all: the order of side effects.
    Token,
    /// A dtype that came after this library, by its number in the schema.
    Unknown(i8),
    /// An abstract value that is neither array nor token, by the number of its kind.
    UnknownKind(i8),
}

/// A dimension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dim {
    /// A number of elements.
    Fixed(i64),
    /// An expression as JAX writes it: `b`, `2*b`.
    Symbolic(String),
}

/// Where an array lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemorySpace {
    /// The device's own memory.
    Device,
    /// The host's memory.
    Host,
    /// Either.
    Any,
    /// A place that came after this library, by its number in the schema.
    Unknown(i8),
}

/// The schema's dtypes, by their numbers.
const TYPES: [AvalType; 30] = [
    AvalType::Array(DType::PRED),
    AvalType::Array(DType::S8),
    AvalType::Array(DType::S16),
    AvalType::Array(DType::S32),
    AvalType::Array(DType::S64),
    AvalType::Array(DType::U8),
    AvalType::Array(DType::U16),
    AvalType::Array(DType::U32),
    AvalType::Array(DType::U64),
    AvalType::Array(DType::F16),
    AvalType::Array(DType::F32),
    AvalType::Array(DType::F64),
    AvalType::Array(DType::C64),
    AvalType::Array(DType::C128),
    AvalType::Array(DType::BF16),
    AvalType::Array(DType::S4),
    AvalType::Array(DType::U4),
    AvalType::Array(DType::F8E4M3B11FNUZ),
    AvalType::Array(DType::F8E4M3FN),
    AvalType::Array(DType::F8E4M3FNUZ),
    AvalType::Array(DType::F8E5M2),
    AvalType::Array(DType::F8E5M2FNUZ),
    AvalType::Float0,
    AvalType::Array(DType::F8E4M3),
    AvalType::Array(DType::F8E3M4),
    AvalType::Array(DType::F8E8M0FNU),
    AvalType::Array(DType::F4E2M1FN),
    AvalType::Key("fry"),
    AvalType::Key("rbg"),
    AvalType::Key("urbg"),
];

impl Aval {
    /// Reads an abstract value. It has no path and no sharding yet.
    pub(super) fn read(table: Table<'_>) -> Result<Aval> {
        let memory_space = match table.i8(MEMORY_SPACE)? {
            0 => None,
            1 => Some(MemorySpace::Device),
            2 => Some(MemorySpace::Host),
            3 => Some(MemorySpace::Any),
            other => Some(MemorySpace::Unknown(other)),
        };
        let mut aval = Aval {
            path: String::new(),
            dtype: AvalType::Token,
            dims: Vec::new(),
            memory_space,
            sharding: None,
        };
        match table.i8(KIND)? {
            0 => {
                aval.dtype = dtype(table.i8(DTYPE)?);
                aval.dims =
                    table.list(SHAPE)?.strings().map(|dim| Dim::parse(dim?)).collect::<Result<_>>()?;
                aval.check_size()?;
            }
            1 => {}
            kind => aval.dtype = AvalType::UnknownKind(kind),
        }
        Ok(aval)
    }

    /// A copy for another input or output of the same type.
    pub(super) fn repeat(&self, flat: &Flat<'_>) -> Result<Aval> {
        let symbols = self.dims.iter().map(|dim| match dim {
            Dim::Fixed(_) => 0,
            Dim::Symbolic(text) => text.len(),
        });
        flat.make(self.dims.len() * size_of::<Dim>() + symbols.sum::<usize>())?;
        Ok(self.clone())
    }

    /// The array that stands for the value in the program inside; `None` for tokens
    /// and for types that are not known.
    pub fn physical(&self) -> Option<(DType, Vec<Dim>)> {
        let (dtype, words) = match self.dtype {
            AvalType::Array(dtype) => (dtype, None),
            AvalType::Float0 => (DType::PRED, None),
            AvalType::Key("fry") => (DType::U32, Some(Dim::Fixed(2))),
            AvalType::Key(_) => (DType::U32, Some(Dim::Fixed(4))),
            AvalType::Token | AvalType::Unknown(_) | AvalType::UnknownKind(_) => return None,
        };
        Some((dtype, self.dims.iter().cloned().chain(words).collect()))
    }

    /// Whether so many elements can be.
    fn check_size(&self) -> Result<()> {
        let fixed = self.dims.iter().filter_map(|dim| match dim {
            Dim::Fixed(size) => Some(*size),
            Dim::Symbolic(_) => None,
        });
        let fixed: Vec<i64> = fixed.collect();
        match ArrayType(DType::C128, &fixed).host_size() {
            Some(_) => Ok(()),
            None => {
                let shown = shorten(&self.to_string());
                Err(damaged(format_args!("no array can be as large as {shown}")))
            }
        }
    }
}

fn dtype(number: i8) -> AvalType {
    let known = usize::try_from(number).ok().and_then(|number| TYPES.get(number));
    known.copied().unwrap_or(AvalType::Unknown(number))
}

impl Dim {
    fn parse(text: &str) -> Result<Dim> {
        if let Ok(size) = text.parse::<i64>() {
            return match size {
                0.. => Ok(Dim::Fixed(size)),
                _ => Err(damaged(format_args!("a dimension is {size}"))),
            };
        }
        // An expression has a variable in it, and no character that is not shown.
        if text.contains(char::is_alphabetic) && !text.contains(char::is_control) {
            return Ok(Dim::Symbolic(text.to_owned()));
        }
        let shown = shorten(text);
        Err(damaged(format_args!("a dimension is {shown}, neither a number nor an expression")))
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Fixed(size) => size.fmt(f),
            Dim::Symbolic(text) => text.fmt(f),
        }
    }
}

impl fmt::Display for AvalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AvalType::Array(dtype) => dtype.name().fmt(f),
            AvalType::Float0 => f.write_str("float0"),
            AvalType::Key(name) => write!(f, "key<{name}>"),
            AvalType::Token => f.write_str("token"),
            AvalType::Unknown(number) => write!(f, "unknown<{number}>"),
            AvalType::UnknownKind(number) => write!(f, "unknown kind<{number}>"),
        }
    }
}

impl fmt::Display for MemorySpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemorySpace::Device => f.write_str("device"),
            MemorySpace::Host => f.write_str("host"),
            MemorySpace::Any => f.write_str("any"),
            MemorySpace::Unknown(number) => write!(f, "unknown<{number}>"),
        }
    }
}

/// Without the path: `f32[2,b]`.
impl fmt::Display for Aval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dtype)?;
        if matches!(self.dtype, AvalType::Token | AvalType::UnknownKind(_)) {
            return Ok(());
        }
        for (index, dim) in self.dims.iter().enumerate() {
            write!(f, "{}{dim}", if index == 0 { "[" } else { "," })?;
        }
        f.write_str(if self.dims.is_empty() { "[]" } else { "]" })
    }
}
