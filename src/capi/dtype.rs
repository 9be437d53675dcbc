//! Element types.
//!
//! The numbers are those of PJRT. In host memory each element of a type narrower
//! than a byte (S4, U4, F4E2M1FN, S2, U2, S1, U1, F6E2M3FN, F6E3M2FN) takes one
//! byte: its value stands in the low bits; the high bits are ignored on the way in
//! and zero on the way out. How a device packs them does not show.

use std::ffi::c_char;

use super::guard::value;
use crate::dtype::DType;

/// An element type. An open set: later versions may know more.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct cyxla_dtype(pub i32);

/// No type.
pub const CYXLA_DTYPE_INVALID: cyxla_dtype = cyxla_dtype(0);
/// Boolean: a byte of value 0 or 1.
pub const CYXLA_DTYPE_PRED: cyxla_dtype = cyxla_dtype(1);
/// Signed 8-bit integer.
pub const CYXLA_DTYPE_S8: cyxla_dtype = cyxla_dtype(2);
/// Signed 16-bit integer.
pub const CYXLA_DTYPE_S16: cyxla_dtype = cyxla_dtype(3);
/// Signed 32-bit integer.
pub const CYXLA_DTYPE_S32: cyxla_dtype = cyxla_dtype(4);
/// Signed 64-bit integer.
pub const CYXLA_DTYPE_S64: cyxla_dtype = cyxla_dtype(5);
/// Unsigned 8-bit integer.
pub const CYXLA_DTYPE_U8: cyxla_dtype = cyxla_dtype(6);
/// Unsigned 16-bit integer.
pub const CYXLA_DTYPE_U16: cyxla_dtype = cyxla_dtype(7);
/// Unsigned 32-bit integer.
pub const CYXLA_DTYPE_U32: cyxla_dtype = cyxla_dtype(8);
/// Unsigned 64-bit integer.
pub const CYXLA_DTYPE_U64: cyxla_dtype = cyxla_dtype(9);
/// IEEE half precision.
pub const CYXLA_DTYPE_F16: cyxla_dtype = cyxla_dtype(10);
/// IEEE single precision.
pub const CYXLA_DTYPE_F32: cyxla_dtype = cyxla_dtype(11);
/// IEEE double precision.
pub const CYXLA_DTYPE_F64: cyxla_dtype = cyxla_dtype(12);
/// The upper half of an F32.
pub const CYXLA_DTYPE_BF16: cyxla_dtype = cyxla_dtype(13);
/// Complex: two F32, real part first.
pub const CYXLA_DTYPE_C64: cyxla_dtype = cyxla_dtype(14);
/// Complex: two F64, real part first.
pub const CYXLA_DTYPE_C128: cyxla_dtype = cyxla_dtype(15);
/// 8-bit float, 5 exponent and 2 mantissa bits.
pub const CYXLA_DTYPE_F8E5M2: cyxla_dtype = cyxla_dtype(16);
/// 8-bit float, 4 exponent and 3 mantissa bits, finite and NaN.
pub const CYXLA_DTYPE_F8E4M3FN: cyxla_dtype = cyxla_dtype(17);
/// 8-bit float, 4 exponent (bias 11) and 3 mantissa bits, no negative zero.
pub const CYXLA_DTYPE_F8E4M3B11FNUZ: cyxla_dtype = cyxla_dtype(18);
/// 8-bit float, 5 exponent and 2 mantissa bits, no negative zero.
pub const CYXLA_DTYPE_F8E5M2FNUZ: cyxla_dtype = cyxla_dtype(19);
/// 8-bit float, 4 exponent and 3 mantissa bits, no negative zero.
pub const CYXLA_DTYPE_F8E4M3FNUZ: cyxla_dtype = cyxla_dtype(20);
/// Signed 4-bit integer, one a byte in host memory.
pub const CYXLA_DTYPE_S4: cyxla_dtype = cyxla_dtype(21);
/// Unsigned 4-bit integer, one a byte in host memory.
pub const CYXLA_DTYPE_U4: cyxla_dtype = cyxla_dtype(22);
/// A token orders effects; it has no elements.
pub const CYXLA_DTYPE_TOKEN: cyxla_dtype = cyxla_dtype(23);
/// Signed 2-bit integer, one a byte in host memory.
pub const CYXLA_DTYPE_S2: cyxla_dtype = cyxla_dtype(24);
/// Unsigned 2-bit integer, one a byte in host memory.
pub const CYXLA_DTYPE_U2: cyxla_dtype = cyxla_dtype(25);
/// 8-bit float, 4 exponent and 3 mantissa bits, as IEEE would have it.
pub const CYXLA_DTYPE_F8E4M3: cyxla_dtype = cyxla_dtype(26);
/// 8-bit float, 3 exponent and 4 mantissa bits.
pub const CYXLA_DTYPE_F8E3M4: cyxla_dtype = cyxla_dtype(27);
/// 8-bit power of two, without sign: a scale of the MX formats.
pub const CYXLA_DTYPE_F8E8M0FNU: cyxla_dtype = cyxla_dtype(28);
/// 4-bit float of the MX formats, one a byte in host memory.
pub const CYXLA_DTYPE_F4E2M1FN: cyxla_dtype = cyxla_dtype(29);
/// Signed 1-bit integer, one a byte in host memory.
pub const CYXLA_DTYPE_S1: cyxla_dtype = cyxla_dtype(30);
/// Unsigned 1-bit integer, one a byte in host memory.
pub const CYXLA_DTYPE_U1: cyxla_dtype = cyxla_dtype(31);
/// 6-bit float of the MX formats, one a byte in host memory.
pub const CYXLA_DTYPE_F6E2M3FN: cyxla_dtype = cyxla_dtype(32);
/// 6-bit float of the MX formats, one a byte in host memory.
pub const CYXLA_DTYPE_F6E3M2FN: cyxla_dtype = cyxla_dtype(33);

/// Returns the name of an element type, such as "f32".
///
/// @param dtype    an element type; any number.
/// @return text that lives as long as the process; "invalid" for a number that is no type.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub extern "C" fn cyxla_dtype_name(dtype: cyxla_dtype) -> *const c_char {
    value(c"invalid".as_ptr(), || DType(dtype.0).c_name().as_ptr())
}

/// Returns how many bytes an element takes in host memory.
///
/// @param dtype    an element type; any number.
/// @return bytes; 0 for CYXLA_DTYPE_TOKEN and for a number that is no type.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub extern "C" fn cyxla_dtype_size(dtype: cyxla_dtype) -> usize {
    value(0, || DType(dtype.0).host_size())
}
