//! Values of elements: every type of PJRT, read from host memory.

use cyxla::dtype::DType;

/// One element's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Element {
    Bool(bool),
    Int(i128),
    Real(Real),
    Complex(Real, Real),
}

/// A real number, and in which format it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real {
    pub value: f64,
    pub precision: Precision,
}

/// How exactly a format stores numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Precision {
    Double,
    Single,
    /// With half the distance to the next number: any decimal that is closer
    /// means this number.
    Half(f64),
    /// One that NumPy lacks.
    Narrow,
}

/// What a bit pattern of a narrow float means at the top of its range.
#[derive(Clone, Copy, PartialEq)]
enum Top {
    /// The highest exponent is infinity and NaN, as in IEEE 754.
    InfinityAndNan,
    /// All ones is NaN.
    NanOnly,
    /// The pattern of minus zero is NaN.
    NanIsMinusZero,
    /// Every pattern is a number.
    NumbersOnly,
}

/// The element at an index of row-major host memory; None for a type that has
/// no values (a token) or is unknown.
pub fn at(dtype: DType, bytes: &[u8], index: usize) -> Option<Element> {
    let size = dtype.host_size();
    let bytes = bytes.get(index * size..(index + 1) * size).filter(|bytes| !bytes.is_empty())?;
    // Little-endian, as every machine that has a plugin is.
    let low = bytes.iter().take(8).rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    let single =
        |bits: u64| Real { value: f64::from(f32::from_bits(bits as u32)), precision: Precision::Single };
    let double = |bits: u64| Real { value: f64::from_bits(bits), precision: Precision::Double };
    Some(match dtype {
        DType::PRED => Element::Bool(low != 0),
        DType::S8 => Element::Int(i128::from(low as i8)),
        DType::S16 => Element::Int(i128::from(low as i16)),
        DType::S32 => Element::Int(i128::from(low as i32)),
        DType::S64 => Element::Int(i128::from(low as i64)),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => Element::Int(i128::from(low)),
        DType::S4 | DType::S2 | DType::S1 => Element::Int(signed(low, bits(dtype)?)),
        DType::U4 | DType::U2 | DType::U1 => Element::Int(i128::from(low & mask(bits(dtype)?))),
        DType::F32 => Element::Real(single(low)),
        DType::F64 => Element::Real(double(low)),
        DType::C64 => Element::Complex(single(low & mask(32)), single(low >> 32)),
        DType::C128 => {
            let high = u64::from_le_bytes(bytes[8..].try_into().ok()?);
            Element::Complex(double(low), double(high))
        }
        _ => Element::Real(narrow(dtype, low)?),
    })
}

/// The width of a type that is narrower than a byte.
pub fn bits(dtype: DType) -> Option<u32> {
    match dtype {
        DType::S4 | DType::U4 | DType::F4E2M1FN => Some(4),
        DType::S2 | DType::U2 => Some(2),
        DType::S1 | DType::U1 => Some(1),
        DType::F6E2M3FN | DType::F6E3M2FN => Some(6),
        _ => None,
    }
}

fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

fn signed(low: u64, bits: u32) -> i128 {
    let value = i128::from(low & mask(bits));
    let half = 1 << (bits - 1);
    if value >= half { value - 2 * half } else { value }
}

fn narrow(dtype: DType, pattern: u64) -> Option<Real> {
    use Top::{InfinityAndNan, NanIsMinusZero, NanOnly, NumbersOnly};
    let (exponent_bits, mantissa_bits, bias, top) = match dtype {
        DType::F16 => (5, 10, 15, InfinityAndNan),
        DType::BF16 => (8, 7, 127, InfinityAndNan),
        DType::F8E5M2 => (5, 2, 15, InfinityAndNan),
        DType::F8E4M3 => (4, 3, 7, InfinityAndNan),
        DType::F8E3M4 => (3, 4, 3, InfinityAndNan),
        DType::F8E4M3FN => (4, 3, 7, NanOnly),
        DType::F8E4M3FNUZ => (4, 3, 8, NanIsMinusZero),
        DType::F8E5M2FNUZ => (5, 2, 16, NanIsMinusZero),
        DType::F8E4M3B11FNUZ => (4, 3, 11, NanIsMinusZero),
        DType::F6E2M3FN => (2, 3, 1, NumbersOnly),
        DType::F6E3M2FN => (3, 2, 3, NumbersOnly),
        DType::F4E2M1FN => (2, 1, 1, NumbersOnly),
        DType::F8E8M0FNU => return Some(power_of_two(pattern)),
        _ => return None,
    };
    let magnitude = pattern & mask(exponent_bits + mantissa_bits);
    let negative = pattern >> (exponent_bits + mantissa_bits) & 1 == 1;
    let exponent = (magnitude >> mantissa_bits) as i32;
    let mantissa = (magnitude & mask(mantissa_bits)) as f64;
    let highest = mask(exponent_bits) as i32;
    // Below the first exponent the numbers go on in even steps.
    let (implicit, scale) = if exponent == 0 { (0.0, 1) } else { (1.0, exponent) };
    let step = 2f64.powi(scale - bias - mantissa_bits as i32);
    let value = match top {
        InfinityAndNan if exponent == highest && mantissa == 0.0 => f64::INFINITY,
        InfinityAndNan if exponent == highest => f64::NAN,
        NanOnly if magnitude == mask(exponent_bits + mantissa_bits) => f64::NAN,
        NanIsMinusZero if negative && magnitude == 0 => f64::NAN,
        _ => (implicit * 2f64.powi(mantissa_bits as i32) + mantissa) * step,
    };
    let value = if negative && !value.is_nan() { -value } else { value };
    let half = dtype == DType::F16;
    Some(Real { value, precision: if half { Precision::Half(step / 2.0) } else { Precision::Narrow } })
}

fn power_of_two(pattern: u64) -> Real {
    let value = if pattern == 255 { f64::NAN } else { 2f64.powi(pattern as i32 - 127) };
    Real { value, precision: Precision::Narrow }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(dtype: DType, pattern: u16) -> f64 {
        match at(dtype, &pattern.to_le_bytes(), 0) {
            Some(Element::Real(real)) => real.value,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn narrow_floats_have_their_values() {
        // Ones, largest, smallest and special values from the formats' definitions.
        let cases = [
            (DType::F16, 0x3c00, 1.0),
            (DType::F16, 0x7bff, 65504.0),
            (DType::F16, 0x0001, 2f64.powi(-24)),
            (DType::BF16, 0xc000, -2.0),
            (DType::BF16, 0x3f80, 1.0),
            (DType::F8E5M2, 0x7b, 57344.0),
            (DType::F8E4M3, 0x77, 240.0),
            (DType::F8E3M4, 0x6f, 15.5),
            (DType::F8E4M3FN, 0x7e, 448.0),
            (DType::F8E4M3FN, 0x38, 1.0),
            (DType::F8E4M3FNUZ, 0x7f, 240.0),
            (DType::F8E5M2FNUZ, 0x7f, 57344.0),
            (DType::F8E4M3B11FNUZ, 0x7f, 30.0),
            (DType::F8E8M0FNU, 0x7f, 1.0),
            (DType::F8E8M0FNU, 0x00, 2f64.powi(-127)),
            (DType::F6E2M3FN, 0x1f, 7.5),
            (DType::F6E3M2FN, 0x1f, 28.0),
            (DType::F4E2M1FN, 0x07, 6.0),
            (DType::F4E2M1FN, 0x09, -0.5),
        ];
        for (dtype, pattern, value) in cases {
            assert_eq!(real(dtype, pattern), value, "{} {pattern:#x}", dtype.name());
        }
        let nans = [
            (DType::F16, 0x7e00),
            (DType::BF16, 0xffc1),
            (DType::F8E4M3FN, 0xff),
            (DType::F8E4M3FNUZ, 0x80),
            (DType::F8E8M0FNU, 0xff),
        ];
        for (dtype, pattern) in nans {
            assert!(real(dtype, pattern).is_nan(), "{} {pattern:#x}", dtype.name());
        }
        assert_eq!(real(DType::F8E5M2, 0xfc), f64::NEG_INFINITY);
    }

    #[test]
    fn integers_keep_their_sign_and_width() {
        let int = |dtype, bytes: &[u8]| at(dtype, bytes, 0);
        assert_eq!(int(DType::S8, &[0xff]), Some(Element::Int(-1)));
        assert_eq!(int(DType::U64, &[0xff; 8]), Some(Element::Int(u64::MAX.into())));
        assert_eq!(int(DType::S64, &[0xff; 8]), Some(Element::Int(-1)));
        // -1 comes as 1111 in the low bits, with or without the sign above.
        assert_eq!(int(DType::S4, &[0x0f]), Some(Element::Int(-1)));
        assert_eq!(int(DType::S4, &[0xff]), Some(Element::Int(-1)));
        assert_eq!(int(DType::S2, &[0x02]), Some(Element::Int(-2)));
        assert_eq!(int(DType::S1, &[0x01]), Some(Element::Int(-1)));
        assert_eq!(int(DType::U4, &[0x0f]), Some(Element::Int(15)));
    }

    #[test]
    fn every_type_but_the_token_has_values() {
        for &dtype in cyxla::dtype::ALL {
            let value = at(dtype, &[0; 16], 0);
            assert_eq!(value.is_some(), dtype != DType::TOKEN, "{}", dtype.name());
            assert_eq!(at(dtype, &[], 0), None);
        }
        assert_eq!(at(DType(99), &[0; 16], 0), None);
    }
}
