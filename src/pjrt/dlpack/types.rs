//! Which element type of DLPack is which of ours.

use super::abi::*;
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};

/// Code and bits of an element, and the type that it is.
const TYPES: [(u8, u8, DType); 32] = [
    (kDLBool, 8, DType::PRED),
    (kDLInt, 8, DType::S8),
    (kDLInt, 16, DType::S16),
    (kDLInt, 32, DType::S32),
    (kDLInt, 64, DType::S64),
    (kDLUInt, 8, DType::U8),
    (kDLUInt, 16, DType::U16),
    (kDLUInt, 32, DType::U32),
    (kDLUInt, 64, DType::U64),
    (kDLFloat, 16, DType::F16),
    (kDLFloat, 32, DType::F32),
    (kDLFloat, 64, DType::F64),
    (kDLBfloat, 16, DType::BF16),
    (kDLComplex, 64, DType::C64),
    (kDLComplex, 128, DType::C128),
    (kDLFloat8_e5m2, 8, DType::F8E5M2),
    (kDLFloat8_e4m3fn, 8, DType::F8E4M3FN),
    (kDLFloat8_e4m3b11fnuz, 8, DType::F8E4M3B11FNUZ),
    (kDLFloat8_e5m2fnuz, 8, DType::F8E5M2FNUZ),
    (kDLFloat8_e4m3fnuz, 8, DType::F8E4M3FNUZ),
    (kDLFloat8_e4m3, 8, DType::F8E4M3),
    (kDLFloat8_e3m4, 8, DType::F8E3M4),
    (kDLFloat8_e8m0fnu, 8, DType::F8E8M0FNU),
    (kDLFloat6_e2m3fn, 6, DType::F6E2M3FN),
    (kDLFloat6_e3m2fn, 6, DType::F6E3M2FN),
    (kDLFloat4_e2m1fn, 4, DType::F4E2M1FN),
    (kDLInt, 4, DType::S4),
    (kDLUInt, 4, DType::U4),
    (kDLInt, 2, DType::S2),
    (kDLUInt, 2, DType::U2),
    (kDLInt, 1, DType::S1),
    (kDLUInt, 1, DType::U1),
];

/// Our type of an array whose elements DLPack describes so.
pub fn from_dlpack(theirs: DLDataType) -> Result<DType> {
    let DLDataType { code, bits, lanes } = theirs;
    if lanes != 1 {
        return Err(impossible(format!("the tensor's elements have {lanes} lanes; expected 1")));
    }
    let found = TYPES.iter().find(|(its_code, its_bits, _)| (*its_code, *its_bits) == (code, bits));
    found.map(|&(.., dtype)| dtype).ok_or_else(|| {
        unknown(format!(
            "the tensor's elements, of DLPack's type code {code} with {bits} bits, have no equivalent here"
        ))
    })
}

/// How DLPack describes elements of our type; `None` for what no array has.
pub fn to_dlpack(dtype: DType) -> Option<DLDataType> {
    let found = TYPES.iter().find(|(.., ours)| *ours == dtype);
    found.map(|&(code, bits, _)| DLDataType { code, bits, lanes: 1 })
}

/// The error for a tensor that cannot be.
#[cold]
#[inline(never)]
pub fn impossible(message: String) -> Error {
    Error::invalid_argument(message).parameter("tensor")
}

/// The error for a tensor that may be in order, but of which too little is known.
#[cold]
#[inline(never)]
pub fn unknown(message: String) -> Error {
    Error::new(Code::Unimplemented, Origin::Caller, message).parameter("tensor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_arrays_has_one_description() {
        for &dtype in crate::dtype::ALL.iter().filter(|dtype| dtype.is_known_array()) {
            let theirs = to_dlpack(dtype).unwrap();
            assert_eq!(from_dlpack(theirs).unwrap(), dtype);
            assert_eq!(usize::from(theirs.bits).div_ceil(8), dtype.host_size());
            assert_eq!(theirs.bits < 8, dtype.is_sub_byte());
        }
        assert!(to_dlpack(DType::TOKEN).is_none() && to_dlpack(DType(99)).is_none());
    }

    #[test]
    fn others_are_refused() {
        let code = |code, bits, lanes| from_dlpack(DLDataType { code, bits, lanes }).unwrap_err().code();
        for lanes in [0, 2, u16::MAX] {
            assert_eq!(code(kDLFloat, 32, lanes), Code::InvalidArgument);
        }
        for (type_code, bits) in [(kDLFloat, 8), (kDLInt, 128), (3, 64), (18, 8), (255, 0), (kDLBool, 1)] {
            assert_eq!(code(type_code, bits, 1), Code::Unimplemented);
        }
    }
}
