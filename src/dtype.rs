//! Element types, numbered as PJRT numbers them.

use std::ffi::CStr;
use std::fmt;

use crate::error::{Error, Result};

/// An element type. An open set: numbers that this version does not know are
/// carried along and refused where they would have to be understood.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DType(pub i32);

/// What is known of an element type.
struct Facts {
    name: &'static CStr,
    /// Bits an element takes on a device; host memory rounds up to a byte.
    bits: usize,
    /// The number of the same type in XLA's own `PrimitiveType`.
    xla: i32,
}

macro_rules! dtypes {
    ($($ident:ident = $number:literal: $name:literal, $bits:literal bits, XLA $xla:literal;)*) => {
        #[allow(missing_docs)] // the names are the field's own
        impl DType {
            $(pub const $ident: DType = DType($number);)*
        }

        fn facts(dtype: DType) -> Option<Facts> {
            match dtype.0 {
                $($number => Some(Facts { name: $name, bits: $bits, xla: $xla }),)*
                _ => None,
            }
        }

        /// Every known element type, in the order of their numbers.
        pub const ALL: &[DType] = &[$(DType::$ident,)*];
    };
}

dtypes! {
    PRED = 1: c"pred", 8 bits, XLA 1;
    S8 = 2: c"s8", 8 bits, XLA 2;
    S16 = 3: c"s16", 16 bits, XLA 3;
    S32 = 4: c"s32", 32 bits, XLA 4;
    S64 = 5: c"s64", 64 bits, XLA 5;
    U8 = 6: c"u8", 8 bits, XLA 6;
    U16 = 7: c"u16", 16 bits, XLA 7;
    U32 = 8: c"u32", 32 bits, XLA 8;
    U64 = 9: c"u64", 64 bits, XLA 9;
    F16 = 10: c"f16", 16 bits, XLA 10;
    F32 = 11: c"f32", 32 bits, XLA 11;
    F64 = 12: c"f64", 64 bits, XLA 12;
    BF16 = 13: c"bf16", 16 bits, XLA 16;
    C64 = 14: c"c64", 64 bits, XLA 15;
    C128 = 15: c"c128", 128 bits, XLA 18;
    F8E5M2 = 16: c"f8e5m2", 8 bits, XLA 19;
    F8E4M3FN = 17: c"f8e4m3fn", 8 bits, XLA 20;
    F8E4M3B11FNUZ = 18: c"f8e4m3b11fnuz", 8 bits, XLA 23;
    F8E5M2FNUZ = 19: c"f8e5m2fnuz", 8 bits, XLA 24;
    F8E4M3FNUZ = 20: c"f8e4m3fnuz", 8 bits, XLA 25;
    S4 = 21: c"s4", 4 bits, XLA 21;
    U4 = 22: c"u4", 4 bits, XLA 22;
    TOKEN = 23: c"token", 0 bits, XLA 17;
    S2 = 24: c"s2", 2 bits, XLA 26;
    U2 = 25: c"u2", 2 bits, XLA 27;
    F8E4M3 = 26: c"f8e4m3", 8 bits, XLA 28;
    F8E3M4 = 27: c"f8e3m4", 8 bits, XLA 29;
    F8E8M0FNU = 28: c"f8e8m0fnu", 8 bits, XLA 33;
    F4E2M1FN = 29: c"f4e2m1fn", 4 bits, XLA 32;
    S1 = 30: c"s1", 1 bits, XLA 30;
    U1 = 31: c"u1", 1 bits, XLA 31;
    F6E2M3FN = 32: c"f6e2m3fn", 6 bits, XLA 36;
    F6E3M2FN = 33: c"f6e3m2fn", 6 bits, XLA 35;
}

impl DType {
    /// Not a type.
    pub const INVALID: DType = DType(0);

    /// The name in StableHLO's and XLA's style, such as `f32`; `invalid` when unknown.
    pub fn name(self) -> &'static str {
        self.c_name().to_str().unwrap_or("invalid")
    }

    /// The same as a C string.
    pub fn c_name(self) -> &'static CStr {
        facts(self).map_or(c"invalid", |facts| facts.name)
    }

    /// Bytes that an element takes in host memory, 0 for tokens and unknown types.
    /// Types narrower than a byte take one byte each.
    pub fn host_size(self) -> usize {
        facts(self).map_or(0, |facts| facts.bits.div_ceil(8))
    }

    /// Whether devices may store several elements in a byte.
    pub fn is_sub_byte(self) -> bool {
        facts(self).is_some_and(|facts| (1..8).contains(&facts.bits))
    }

    /// Whether it is of numbers with a fraction, which have gradients.
    pub fn is_inexact(self) -> bool {
        let name = self.name();
        name.starts_with('f') || name.starts_with('c') || self == DType::BF16
    }

    /// Whether it is known here as the type of arrays.
    pub fn is_known_array(self) -> bool {
        self != DType::TOKEN && facts(self).is_some()
    }

    /// The PJRT minor version from which on plugins take the type from host
    /// memory; older ones crash on it instead of refusing it.
    pub fn since_pjrt_minor(self) -> i32 {
        match self {
            DType::F8E4M3 | DType::F8E3M4 => 55,
            DType::F4E2M1FN | DType::F8E8M0FNU => 63,
            DType::S1 | DType::U1 => 106,
            DType::F6E2M3FN | DType::F6E3M2FN => 115,
            _ => 0,
        }
    }

    /// The type that StableHLO text writes so, such as `i1` or `f8E4M3FN`; the parts of
    /// a complex type stand behind `complex`, without brackets.
    pub fn from_mlir(name: &str) -> Option<DType> {
        let own = match name {
            "i1" => "pred".to_owned(),
            "complexf32" => "c64".to_owned(),
            "complexf64" => "c128".to_owned(),
            _ => match (name.strip_prefix("ui"), name.strip_prefix("si").or(name.strip_prefix('i'))) {
                (Some(bits), _) => format!("u{bits}"),
                (None, Some(bits)) => format!("s{bits}"),
                (None, None) => name.to_ascii_lowercase(),
            },
        };
        ALL.iter().copied().find(|&dtype| dtype != DType::TOKEN && dtype.name() == own)
    }

    /// The type that XLA's `PrimitiveType` numbers so.
    pub fn from_xla(number: i32) -> Option<DType> {
        ALL.iter().copied().find(|&dtype| facts(dtype).is_some_and(|facts| facts.xla == number))
    }
}

/// How many dimensions an array can have: NumPy's own limit. Plugins have none and use stack
/// for each dimension.
pub const MOST_DIMS: usize = 64;

/// An array type as messages write it: `f32[2,3]`.
pub struct ArrayType<'a>(pub DType, pub &'a [i64]);

impl ArrayType<'_> {
    /// Bytes of the array in host memory; `None` when that is no size.
    pub fn host_size(&self) -> Option<usize> {
        let ArrayType(dtype, dims) = *self;
        if dims.iter().any(|&dim| dim < 0) {
            return None;
        }
        if dims.contains(&0) {
            return Some(0); // whatever the others multiply to
        }
        let count = dims.iter().try_fold(1i64, |count, &dim| count.checked_mul(dim))?;
        let size = usize::try_from(count).ok()?.checked_mul(dtype.host_size())?;
        Some(size).filter(|&size| size <= isize::MAX as usize)
    }

    /// The same; an error that says what is wrong with the dims.
    pub fn check_host_size(&self) -> Result<usize> {
        self.host_size().ok_or_else(|| {
            Error::invalid_argument(if self.1.iter().any(|&dim| dim < 0) {
                format!("{self} has a negative dimension")
            } else {
                format!("{self} does not fit into memory")
            })
        })
    }
}

impl fmt::Display for ArrayType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.1.iter().map(i64::to_string).collect();
        write!(f, "{}[{}]", self.0.name(), dims.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_mlir() {
        for (name, dtype) in [
            ("i1", DType::PRED),
            ("i32", DType::S32),
            ("si4", DType::S4),
            ("ui2", DType::U2),
            ("bf16", DType::BF16),
            ("f8E4M3B11FNUZ", DType::F8E4M3B11FNUZ),
            ("f4E2M1FN", DType::F4E2M1FN),
            ("complexf64", DType::C128),
        ] {
            assert_eq!(DType::from_mlir(name), Some(dtype), "{name}");
        }
        for other in ["", "index", "i7", "token", "f", "complex"] {
            assert_eq!(DType::from_mlir(other), None, "{other}");
        }
    }

    #[test]
    fn numbers_are_pjrts_and_without_gaps() {
        let numbers: Vec<i32> = ALL.iter().map(|dtype| dtype.0).collect();
        assert_eq!(numbers, (1..=33).collect::<Vec<i32>>());
    }

    #[test]
    fn xla_numbers_lead_back() {
        for &dtype in ALL {
            let xla = facts(dtype).unwrap().xla;
            assert_eq!(DType::from_xla(xla), Some(dtype));
        }
        assert_eq!(DType::from_xla(16), Some(DType::BF16)); // 16 is F8E5M2 to PJRT
        assert_eq!(DType::from_xla(13), None); // a tuple
    }

    #[test]
    fn host_sizes() {
        let sizes = [DType::PRED, DType::BF16, DType::C128, DType::S4, DType::U1, DType::TOKEN];
        assert_eq!(sizes.map(DType::host_size), [1, 2, 16, 1, 1, 0]);
        assert_eq!(DType(99).host_size(), 0);
        assert_eq!(DType(99).name(), "invalid");
        assert_eq!(ArrayType(DType::F32, &[2, 3]).to_string(), "f32[2,3]");
        assert_eq!(ArrayType(DType::S32, &[]).to_string(), "s32[]");
    }

    #[test]
    fn host_sizes_do_not_overflow() {
        let size = |dtype, dims: &[i64]| ArrayType(dtype, dims).host_size();
        assert_eq!(size(DType::F32, &[]), Some(4));
        assert_eq!(size(DType::S4, &[3]), Some(3));
        assert_eq!(size(DType::F64, &[i64::MAX, 0]), Some(0));
        for dims in [&[-1][..], &[i64::MAX], &[1 << 40, 1 << 40], &[0, -1]] {
            assert_eq!(size(DType::F64, dims), None, "{dims:?}");
        }
    }
}
