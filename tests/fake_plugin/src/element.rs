//! Element types: their names and numbers, and how two elements are added.

use crate::sys::*;

/// One element type that the plugin computes with.
#[derive(Debug, PartialEq, Eq)]
pub struct Element {
    /// Its name in StableHLO text.
    pub name: &'static str,
    pub pjrt: PJRT_Buffer_Type,
    /// Its number in XLA's protobufs, which is not always PJRT's.
    pub primitive: u64,
    pub size: usize,
}

macro_rules! elements {
    ($($name:literal $pjrt:ident $primitive:literal $size:literal;)*) => {
        static ELEMENTS: &[Element] = &[$(Element {
            name: $name,
            pjrt: $pjrt,
            primitive: $primitive,
            size: $size,
        },)*];
    };
}

elements! {
    "i1" PJRT_Buffer_Type_PRED 1 1;
    "i8" PJRT_Buffer_Type_S8 2 1;
    "i16" PJRT_Buffer_Type_S16 3 2;
    "i32" PJRT_Buffer_Type_S32 4 4;
    "i64" PJRT_Buffer_Type_S64 5 8;
    "ui8" PJRT_Buffer_Type_U8 6 1;
    "ui16" PJRT_Buffer_Type_U16 7 2;
    "ui32" PJRT_Buffer_Type_U32 8 4;
    "ui64" PJRT_Buffer_Type_U64 9 8;
    "f16" PJRT_Buffer_Type_F16 10 2;
    "f32" PJRT_Buffer_Type_F32 11 4;
    "f64" PJRT_Buffer_Type_F64 12 8;
    "bf16" PJRT_Buffer_Type_BF16 16 2;
}

impl Element {
    pub fn named(name: &str) -> Option<&'static Self> {
        ELEMENTS.iter().find(|element| element.name == name)
    }

    pub fn of(pjrt: PJRT_Buffer_Type) -> Option<&'static Self> {
        ELEMENTS.iter().find(|element| element.pjrt == pjrt)
    }

    /// Adds elements of `a` and `b` into `out`, all three of one length.
    pub fn add(&self, out: &mut [u8], a: &[u8], b: &[u8]) {
        let chunks =
            out.chunks_exact_mut(self.size).zip(a.chunks_exact(self.size)).zip(b.chunks_exact(self.size));
        for ((out, a), b) in chunks {
            self.add_one(out, a, b);
        }
    }

    fn add_one(&self, out: &mut [u8], a: &[u8], b: &[u8]) {
        match self.name {
            "i1" => out[0] = u8::from(a[0] != 0 || b[0] != 0),
            "f16" => {
                let sum = half_to_f32(short(a)) + half_to_f32(short(b));
                out.copy_from_slice(&f32_to_half(sum).to_ne_bytes());
            }
            "bf16" => {
                let sum = bfloat_to_f32(short(a)) + bfloat_to_f32(short(b));
                out.copy_from_slice(&f32_to_bfloat(sum).to_ne_bytes());
            }
            "f32" => {
                let sum = f32::from_ne_bytes(bytes(a)) + f32::from_ne_bytes(bytes(b));
                out.copy_from_slice(&sum.to_ne_bytes());
            }
            "f64" => {
                let sum = f64::from_ne_bytes(bytes(a)) + f64::from_ne_bytes(bytes(b));
                out.copy_from_slice(&sum.to_ne_bytes());
            }
            // Two's complement: the low bytes of a sum do not depend on the width
            // or the sign, so the rest add as one kind.
            _ => {
                let sum = wide(a).wrapping_add(wide(b));
                out.copy_from_slice(&sum.to_le_bytes()[..self.size]);
            }
        }
    }
}

fn bytes<const N: usize>(element: &[u8]) -> [u8; N] {
    element.try_into().expect("the element has the type's size")
}

fn short(element: &[u8]) -> u16 {
    u16::from_ne_bytes(bytes(element))
}

fn wide(element: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..element.len()].copy_from_slice(element);
    u64::from_le_bytes(all)
}

fn bfloat_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

fn f32_to_bfloat(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    // Round to nearest, ties to even.
    ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16
}

fn half_to_f32(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f32::from(bits & 0x3ff);
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    }
}

/// Rounds to nearest, ties to even.
fn f32_to_half(value: f32) -> u16 {
    let sign = ((value.to_bits() >> 16) & 0x8000) as u16;
    let size = value.abs();
    if size.is_nan() {
        return sign | 0x7e00;
    }
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    // The step between neighbours of this size; below the normal range it is fixed.
    let exponent = ((size.to_bits() >> 23) as i32 - 127).max(-14);
    let steps = (size / 2f32.powi(exponent - 10)).round_ties_even() as u16;
    // Carries of the rounding run into the exponent by themselves.
    let base = ((exponent + 14) as u16) << 10;
    sign | (base + steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum<const N: usize>(name: &str, a: [u8; N], b: [u8; N]) -> [u8; N] {
        let mut out = [0; N];
        Element::named(name).expect("a known type").add(&mut out, &a, &b);
        out
    }

    #[test]
    fn every_half_survives() {
        for bits in 0..=u16::MAX {
            let value = half_to_f32(bits);
            let back = f32_to_half(value);
            assert!(back == bits || value.is_nan(), "{bits:#x} became {back:#x}");
        }
        assert_eq!(f32_to_half(1.0 + 2f32.powi(-11)), 0x3c00, "a tie goes to the even one");
        assert_eq!(f32_to_half(65519.0), 0x7bff);
        assert_eq!(f32_to_half(65520.0), 0x7c00);
        assert_eq!(f32_to_half(2f32.powi(-26)), 0);
    }

    #[test]
    fn elements_add_in_their_own_way() {
        assert_eq!(sum("i8", [0x7f], [1]), [0x80]);
        assert_eq!(sum("ui16", [0xff, 0xff], [2, 0]), [1, 0]);
        assert_eq!(sum("i1", [1], [1]), [1]);
        assert_eq!(sum("bf16", [0x80, 0x3f], [0x80, 0x3f]), [0x00, 0x40]);
        assert_eq!(sum("f16", [0x00, 0x3c], [0x00, 0x3c]), [0x00, 0x40]);
        let (a, b) = (1.5f64.to_ne_bytes(), 2.25f64.to_ne_bytes());
        assert_eq!(sum("f64", a, b), 3.75f64.to_ne_bytes());
    }
}
