//! The extension that tells how a program's arrays are divided among devices.

use super::{PJRT_Error, PJRT_Executable, PJRT_Extension_Base, PJRT_Extension_Type};
use std::ffi::c_char;

pub const PJRT_Extension_Type_Shardings: PJRT_Extension_Type = 19;

pjrt_structs! {
    PJRT_Shardings_PJRT_Executable_ParameterShardings_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        num_parameters: usize,
        shardings: *const *const c_char,
        sharding_sizes: *const usize,
    }
    PJRT_Shardings_PJRT_Executable_OutputShardings_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        num_outputs: usize,
        shardings: *const *const c_char,
        sharding_sizes: *const usize,
    }
    PJRT_Shardings_Extension {
        r#type: PJRT_Extension_Type,
        next: *mut PJRT_Extension_Base,
        PJRT_Shardings_PJRT_Executable_ParameterShardings: Option<
            unsafe extern "C" fn(
                *mut PJRT_Shardings_PJRT_Executable_ParameterShardings_Args,
            ) -> *mut PJRT_Error,
        >,
        PJRT_Shardings_PJRT_Executable_OutputShardings: Option<
            unsafe extern "C" fn(*mut PJRT_Shardings_PJRT_Executable_OutputShardings_Args) -> *mut PJRT_Error,
        >,
    }
}

/// The layouts of this file, for the test of their sizes: the extension's header is not
/// in the package that the others are compared with.
pub fn sharding_layouts() -> &'static [super::Layout] {
    LAYOUTS
}
