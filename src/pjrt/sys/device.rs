//! Devices, their descriptions and their memories. All live as long as their client.

use super::PJRT_Extension_Base;
use std::ffi::{c_char, c_int};

pjrt_opaque! { PJRT_Device PJRT_DeviceDescription PJRT_Memory }

pjrt_structs! {
    PJRT_DeviceDescription_Id_Args {
        extension_start: *mut PJRT_Extension_Base,
        device_description: *mut PJRT_DeviceDescription,
        id: c_int,
    }
    PJRT_DeviceDescription_Kind_Args {
        extension_start: *mut PJRT_Extension_Base,
        device_description: *mut PJRT_DeviceDescription,
        device_kind: *const c_char,
        device_kind_size: usize,
    }
    PJRT_DeviceDescription_DebugString_Args {
        extension_start: *mut PJRT_Extension_Base,
        device_description: *mut PJRT_DeviceDescription,
        debug_string: *const c_char,
        debug_string_size: usize,
    }
    PJRT_DeviceDescription_ToString_Args {
        extension_start: *mut PJRT_Extension_Base,
        device_description: *mut PJRT_DeviceDescription,
        to_string: *const c_char,
        to_string_size: usize,
    }
    PJRT_Device_GetDescription_Args {
        extension_start: *mut PJRT_Extension_Base,
        device: *mut PJRT_Device,
        device_description: *mut PJRT_DeviceDescription,
    }
    PJRT_Device_IsAddressable_Args {
        extension_start: *mut PJRT_Extension_Base,
        device: *mut PJRT_Device,
        is_addressable: u8,
    }
    PJRT_Device_LocalHardwareId_Args {
        extension_start: *mut PJRT_Extension_Base,
        device: *mut PJRT_Device,
        local_hardware_id: c_int,
    }
    PJRT_Device_AddressableMemories_Args {
        extension_start: *mut PJRT_Extension_Base,
        device: *mut PJRT_Device,
        memories: *const *mut PJRT_Memory,
        num_memories: usize,
    }
    PJRT_Device_DefaultMemory_Args {
        extension_start: *mut PJRT_Extension_Base,
        device: *mut PJRT_Device,
        memory: *mut PJRT_Memory,
    }
    PJRT_Memory_Kind_Args {
        extension_start: *mut PJRT_Extension_Base,
        memory: *mut PJRT_Memory,
        kind: *const c_char,
        kind_size: usize,
    }
}
