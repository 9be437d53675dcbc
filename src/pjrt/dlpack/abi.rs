//! DLPack's ABI, declared in Rust.
//!
//! Names of types, fields and constants are those of the published dlpack.h, so that a
//! reader can look them up there; a test compares sizes, offsets and values with it.
//! Enumerations are integers with constants: another library may send any number.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
// The names are the header's own; it is their documentation.
#![allow(missing_docs)]

use std::ffi::c_void;

/// One field: its name in the header, its offset and its size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub offset: usize,
    pub size: usize,
}

/// One struct: its name in the header, its size and its fields in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub name: &'static str,
    pub size: usize,
    pub fields: &'static [Field],
}

macro_rules! dlpack_structs {
    ($($name:ident { $($field:ident: $ty:ty,)* })*) => {
        $(
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name {
                $(pub $field: $ty,)*
            }
        )*

        /// The layout of every struct declared here.
        pub const LAYOUTS: &[Layout] = &[$(Layout {
            name: stringify!($name),
            size: size_of::<$name>(),
            fields: &[$(Field {
                name: stringify!($field),
                offset: std::mem::offset_of!($name, $field),
                size: size_of::<$ty>(),
            },)*],
        },)*];
    };
}

dlpack_structs! {
    DLPackVersion {
        major: u32,
        minor: u32,
    }
    DLDevice {
        device_type: i32,
        device_id: i32,
    }
    DLDataType {
        code: u8,
        bits: u8,
        lanes: u16,
    }
    DLTensor {
        data: *mut c_void,
        device: DLDevice,
        ndim: i32,
        dtype: DLDataType,
        shape: *mut i64,
        strides: *mut i64,
        byte_offset: u64,
    }
    DLManagedTensor {
        dl_tensor: DLTensor,
        manager_ctx: *mut c_void,
        deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
    }
    DLManagedTensorVersioned {
        version: DLPackVersion,
        manager_ctx: *mut c_void,
        deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
        flags: u64,
        dl_tensor: DLTensor,
    }
}

macro_rules! dlpack_constants {
    ($($name:ident: $ty:ty = $value:expr;)*) => {
        $(pub const $name: $ty = $value;)*

        /// Name and value of every constant declared here.
        pub const CONSTANTS: &[(&str, i64)] = &[$((stringify!($name), $name as i64),)*];
    };
}

dlpack_constants! {
    DLPACK_MAJOR_VERSION: u32 = 1;

    DLPACK_FLAG_BITMASK_READ_ONLY: u64 = 1 << 0;
    DLPACK_FLAG_BITMASK_IS_COPIED: u64 = 1 << 1;
    DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED: u64 = 1 << 2;

    kDLCPU: i32 = 1;
    kDLCUDA: i32 = 2;
    kDLCUDAHost: i32 = 3;
    kDLROCM: i32 = 10;
    kDLROCMHost: i32 = 11;

    kDLInt: u8 = 0;
    kDLUInt: u8 = 1;
    kDLFloat: u8 = 2;
    kDLBfloat: u8 = 4;
    kDLComplex: u8 = 5;
    kDLBool: u8 = 6;
    kDLFloat8_e3m4: u8 = 7;
    kDLFloat8_e4m3: u8 = 8;
    kDLFloat8_e4m3b11fnuz: u8 = 9;
    kDLFloat8_e4m3fn: u8 = 10;
    kDLFloat8_e4m3fnuz: u8 = 11;
    kDLFloat8_e5m2: u8 = 12;
    kDLFloat8_e5m2fnuz: u8 = 13;
    kDLFloat8_e8m0fnu: u8 = 14;
    kDLFloat6_e2m3fn: u8 = 15;
    kDLFloat6_e3m2fn: u8 = 16;
    kDLFloat4_e2m1fn: u8 = 17;
}
