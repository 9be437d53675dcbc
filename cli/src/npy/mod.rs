//! `.npy` files: arrays as the program takes and gives them.

mod order;
mod read;
mod write;

pub use read::{Array, read};
pub use write::write;

use cyxla::dtype::DType;
use npyz::TypeChar;

/// The types that NumPy has too, with the letter and width it calls them by.
const SHARED: &[(DType, TypeChar, usize)] = &[
    (DType::PRED, TypeChar::Bool, 1),
    (DType::S8, TypeChar::Int, 1),
    (DType::S16, TypeChar::Int, 2),
    (DType::S32, TypeChar::Int, 4),
    (DType::S64, TypeChar::Int, 8),
    (DType::U8, TypeChar::Uint, 1),
    (DType::U16, TypeChar::Uint, 2),
    (DType::U32, TypeChar::Uint, 4),
    (DType::U64, TypeChar::Uint, 8),
    (DType::F16, TypeChar::Float, 2),
    (DType::F32, TypeChar::Float, 4),
    (DType::F64, TypeChar::Float, 8),
    (DType::C64, TypeChar::Complex, 8),
    (DType::C128, TypeChar::Complex, 16),
];

/// The element type that a file's elements have by themselves.
fn natural(letter: TypeChar, size: usize) -> Option<DType> {
    SHARED.iter().find(|(_, l, s)| (*l, *s) == (letter, size)).map(|(dtype, ..)| *dtype)
}

/// NumPy's type string for elements of this type: its own, or for a type that
/// NumPy lacks the unsigned integer of the same width. None for what is no
/// memory at all, such as a token.
fn type_string(dtype: DType) -> Option<String> {
    let shared = SHARED.iter().find(|(d, ..)| *d == dtype).map(|(_, l, s)| (*l, *s));
    let size = dtype.host_size();
    let (letter, size) = shared.or((size > 0).then_some((TypeChar::Uint, size)))?;
    let order = if size == 1 { '|' } else { '<' };
    Some(format!("{order}{}{size}", letter.to_str()))
}
