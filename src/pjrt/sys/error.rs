//! Errors. Every function of the table that can fail returns one, or NULL.

use super::PJRT_Extension_Base;
use std::ffi::{c_char, c_int};

pjrt_opaque! { PJRT_Error }

pub type PJRT_Error_Code = c_int;

pjrt_constants! {
    PJRT_Error_Code_OK: PJRT_Error_Code = 0;
    PJRT_Error_Code_CANCELLED: PJRT_Error_Code = 1;
    PJRT_Error_Code_UNKNOWN: PJRT_Error_Code = 2;
    PJRT_Error_Code_INVALID_ARGUMENT: PJRT_Error_Code = 3;
    PJRT_Error_Code_DEADLINE_EXCEEDED: PJRT_Error_Code = 4;
    PJRT_Error_Code_NOT_FOUND: PJRT_Error_Code = 5;
    PJRT_Error_Code_ALREADY_EXISTS: PJRT_Error_Code = 6;
    PJRT_Error_Code_PERMISSION_DENIED: PJRT_Error_Code = 7;
    PJRT_Error_Code_RESOURCE_EXHAUSTED: PJRT_Error_Code = 8;
    PJRT_Error_Code_FAILED_PRECONDITION: PJRT_Error_Code = 9;
    PJRT_Error_Code_ABORTED: PJRT_Error_Code = 10;
    PJRT_Error_Code_OUT_OF_RANGE: PJRT_Error_Code = 11;
    PJRT_Error_Code_UNIMPLEMENTED: PJRT_Error_Code = 12;
    PJRT_Error_Code_INTERNAL: PJRT_Error_Code = 13;
    PJRT_Error_Code_UNAVAILABLE: PJRT_Error_Code = 14;
    PJRT_Error_Code_DATA_LOSS: PJRT_Error_Code = 15;
    PJRT_Error_Code_UNAUTHENTICATED: PJRT_Error_Code = 16;
}

pjrt_structs! {
    PJRT_Error_Destroy_Args {
        extension_start: *mut PJRT_Extension_Base,
        error: *mut PJRT_Error,
    }
    PJRT_Error_Message_Args {
        extension_start: *mut PJRT_Extension_Base,
        error: *const PJRT_Error,
        message: *const c_char,
        message_size: usize,
    }
    PJRT_Error_GetCode_Args {
        extension_start: *mut PJRT_Extension_Base,
        error: *const PJRT_Error,
        code: PJRT_Error_Code,
    }
}
