//! What a plugin says about itself, and the structs that the others are built on.

use std::ffi::{c_char, c_int};

pub type PJRT_Extension_Type = c_int;
pub type PJRT_NamedValue_Type = c_int;

pjrt_constants! {
    PJRT_NamedValue_kString: PJRT_NamedValue_Type = 0;
    PJRT_NamedValue_kInt64: PJRT_NamedValue_Type = 1;
    PJRT_NamedValue_kInt64List: PJRT_NamedValue_Type = 2;
    PJRT_NamedValue_kFloat: PJRT_NamedValue_Type = 3;
    PJRT_NamedValue_kBool: PJRT_NamedValue_Type = 4;
}

/// The value of a named value; its `type` says which member holds it.
///
/// The header leaves the union without a name.
#[repr(C)]
#[derive(Clone, Copy)]
pub union PJRT_NamedValue_Value {
    pub string_value: *const c_char,
    pub int64_value: i64,
    pub int64_array_value: *const i64,
    pub float_value: f32,
    pub bool_value: u8,
}

pjrt_structs! {
    PJRT_Extension_Base {
        r#type: PJRT_Extension_Type,
        next: *mut PJRT_Extension_Base,
    }
    PJRT_Api_Version {
        extension_start: *mut PJRT_Extension_Base,
        major_version: c_int,
        minor_version: c_int,
    }
    PJRT_NamedValue {
        extension_start: *mut PJRT_Extension_Base,
        name: *const c_char,
        name_size: usize,
        r#type: PJRT_NamedValue_Type,
        value: PJRT_NamedValue_Value,
        value_size: usize,
    }
    PJRT_Plugin_Initialize_Args {
        extension_start: *mut PJRT_Extension_Base,
    }
    PJRT_Plugin_Attributes_Args {
        extension_start: *mut PJRT_Extension_Base,
        attributes: *const PJRT_NamedValue,
        num_attributes: usize,
    }
}
