//! Events: the end of work that a plugin does on its own threads.

use super::{PJRT_Error, PJRT_Extension_Base};
use std::ffi::c_void;

pjrt_opaque! { PJRT_Event }

/// Called once with an error that the callee owns, or with NULL.
pub type PJRT_Event_OnReadyCallback =
    Option<unsafe extern "C" fn(error: *mut PJRT_Error, user_arg: *mut c_void)>;

pjrt_structs! {
    PJRT_Event_Destroy_Args {
        extension_start: *mut PJRT_Extension_Base,
        event: *mut PJRT_Event,
    }
    PJRT_Event_IsReady_Args {
        extension_start: *mut PJRT_Extension_Base,
        event: *mut PJRT_Event,
        is_ready: u8,
    }
    PJRT_Event_Error_Args {
        extension_start: *mut PJRT_Extension_Base,
        event: *mut PJRT_Event,
    }
    PJRT_Event_Await_Args {
        extension_start: *mut PJRT_Extension_Base,
        event: *mut PJRT_Event,
    }
    PJRT_Event_OnReady_Args {
        extension_start: *mut PJRT_Extension_Base,
        event: *mut PJRT_Event,
        callback: PJRT_Event_OnReadyCallback,
        user_arg: *mut c_void,
    }
}
