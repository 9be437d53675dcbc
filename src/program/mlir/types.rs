//! What the types of a bytecode file mean.

use super::encodings::Code;
use crate::dtype::DType;

/// The scalar types of VHLO by number.
pub fn vhlo_scalar(number: u8) -> Option<DType> {
    Some(match number {
        0 => DType::PRED,
        2 => DType::BF16,
        3 => DType::F16,
        4 => DType::F32,
        5 => DType::F64,
        6 => DType::F8E4M3FN,
        7 => DType::F8E5M2,
        10 => DType::S4,
        11 => DType::S8,
        12 => DType::S16,
        13 => DType::S32,
        14 => DType::S64,
        15 => DType::U4,
        16 => DType::U8,
        17 => DType::U16,
        18 => DType::U32,
        19 => DType::U64,
        27 => DType::F8E4M3FNUZ,
        28 => DType::F8E5M2FNUZ,
        29 => DType::F8E4M3B11FNUZ,
        31 => DType::S2,
        32 => DType::U2,
        35 => DType::F8E4M3,
        36 => DType::F8E3M4,
        37 => DType::F4E2M1FN,
        38 => DType::F6E2M3FN,
        39 => DType::F6E3M2FN,
        40 => DType::F8E8M0FNU,
        _ => return None,
    })
}

/// The float types of builtin by number.
fn builtin_float(number: u8) -> Option<DType> {
    Some(match number {
        3 => DType::BF16,
        4 => DType::F16,
        5 => DType::F32,
        6 => DType::F64,
        22 => DType::F8E5M2,
        23 => DType::F8E4M3,
        24 => DType::F8E4M3FN,
        25 => DType::F8E5M2FNUZ,
        26 => DType::F8E4M3FNUZ,
        27 => DType::F8E4M3B11FNUZ,
        28 => DType::F8E3M4,
        29 => DType::F4E2M1FN,
        30 => DType::F6E2M3FN,
        31 => DType::F6E3M2FN,
        32 => DType::F8E8M0FNU,
        _ => return None,
    })
}

/// The integer type that builtin describes by a width and a sign: 2 is unsigned.
fn builtin_integer(width_and_sign: u64) -> Option<DType> {
    let is_unsigned = width_and_sign & 3 == 2;
    Some(match (width_and_sign >> 2, is_unsigned) {
        (1, false) => DType::PRED,
        (2, false) => DType::S2,
        (4, false) => DType::S4,
        (8, false) => DType::S8,
        (16, false) => DType::S16,
        (32, false) => DType::S32,
        (64, false) => DType::S64,
        (2, true) => DType::U2,
        (4, true) => DType::U4,
        (8, true) => DType::U8,
        (16, true) => DType::U16,
        (32, true) => DType::U32,
        (64, true) => DType::U64,
        _ => return None,
    })
}

/// What is known of a type before others are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An integer of so many bits, or an index.
    Integer(u32),
    /// A float of so many bits.
    Float(u32),
    /// Of two of a type.
    Complex,
    /// An integer that stands for a float.
    Quantized,
    /// A tensor, vector or the like: what has elements.
    Shaped,
    /// A function, tuple, token, ...
    Other,
    /// Text, or of a dialect that this module does not know.
    Unknown,
}

/// The type's kind and, for a scalar, its element type. `number` is the first number
/// behind the code.
pub fn classify(code: Code, number: Option<u64>) -> (Kind, Option<DType>) {
    match code {
        Code::Text | Code::Unknown => (Kind::Unknown, None),
        _ if code.type_fields().is_none() => (Kind::Unknown, None),
        Code::Builtin(0) => {
            let number = number.unwrap_or(0);
            let width = u32::try_from(number >> 2).unwrap_or(u32::MAX);
            (Kind::Integer(width), builtin_integer(number))
        }
        Code::StableHlo(_) | Code::Shardy(_) => (Kind::Other, None),
        Code::Builtin(1) => (Kind::Integer(64), None),
        Code::Builtin(7) => (Kind::Float(80), None),
        Code::Builtin(8) => (Kind::Float(128), None),
        Code::Builtin(21) => (Kind::Float(19), None),
        Code::Builtin(9) => (Kind::Complex, None),
        Code::Builtin(10 | 11 | 13 | 14 | 16..=20) => (Kind::Shaped, None),
        Code::Builtin(number) => float(builtin_float(number)),
        Code::Vhlo(0) => (Kind::Integer(1), Some(DType::PRED)),
        Code::Vhlo(1) => (Kind::Complex, None),
        Code::Vhlo(9) => (Kind::Integer(64), None),
        Code::Vhlo(34) => (Kind::Float(19), None),
        Code::Vhlo(20 | 21 | 25 | 41) => (Kind::Shaped, None),
        Code::Vhlo(24 | 30) => (Kind::Quantized, None),
        Code::Vhlo(number @ (10..=19 | 31 | 32)) => {
            let dtype = vhlo_scalar(number);
            (Kind::Integer(dtype.map_or(0, bits)), dtype)
        }
        Code::Vhlo(number) => float(vhlo_scalar(number)),
    }
}

fn float(dtype: Option<DType>) -> (Kind, Option<DType>) {
    (dtype.map_or(Kind::Other, |dtype| Kind::Float(bits(dtype))), dtype)
}

fn bits(dtype: DType) -> u32 {
    match dtype {
        DType::S2 | DType::U2 => 2,
        DType::S4 | DType::U4 | DType::F4E2M1FN => 4,
        DType::F6E2M3FN | DType::F6E3M2FN => 6,
        other => other.host_size() as u32 * 8,
    }
}
