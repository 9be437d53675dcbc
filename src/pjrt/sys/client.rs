//! The client: what it is made from, what it tells, and what it makes.

use super::{
    PJRT_Buffer, PJRT_Buffer_MemoryLayout, PJRT_Buffer_Type, PJRT_Device, PJRT_Event, PJRT_Extension_Base,
    PJRT_HostBufferSemantics, PJRT_LoadedExecutable, PJRT_Memory, PJRT_NamedValue, UntypedFunction,
};
use std::ffi::{c_char, c_int, c_void};

pjrt_opaque! { PJRT_Client }

pjrt_structs! {
    PJRT_Client_Create_Args {
        extension_start: *mut PJRT_Extension_Base,
        create_options: *const PJRT_NamedValue,
        num_options: usize,
        kv_get_callback: Option<UntypedFunction>,
        kv_get_user_arg: *mut c_void,
        kv_put_callback: Option<UntypedFunction>,
        kv_put_user_arg: *mut c_void,
        client: *mut PJRT_Client,
        kv_try_get_callback: Option<UntypedFunction>,
        kv_try_get_user_arg: *mut c_void,
    }
    PJRT_Client_Destroy_Args {
        extension_start: *mut PJRT_Extension_Base,
        client: *mut PJRT_Client,
    }
    PJRT_Client_PlatformName_Args {
        extension_start: *mut PJRT_Extension_Base,
        client: *mut PJRT_Client,
        platform_name: *const c_char,
        platform_name_size: usize,
    }
    PJRT_Client_ProcessIndex_Args {
        extension_start: *mut PJRT_Extension_Base,
        client: *mut PJRT_Client,
        process_index: c_int,
    }
    PJRT_Client_PlatformVersion_Args {
        extension_start: *mut PJRT_Extension_Base,
        client: *mut PJRT_Client,
        platform_version: *const c_char,
        platform_version_size: usize,
    }
    PJRT_Client_Devices_Args {
        extension_start: *mut PJRT_Extension_Base,
        client: *mut PJRT_Client,
        devices: *const *mut PJRT_Device,
        num_devices: usize,
    }
    PJRT_Client_AddressableDevices_Args {
        extension_start: *mut PJRT_Extension_Base,
        client: *mut PJRT_Client,
        addressable_devices: *const *mut PJRT_Device,
        num_addressable_devices: usize,
    }
    PJRT_Program {
        extension_start: *mut PJRT_Extension_Base,
        code: *mut c_char,
        code_size: usize,
        format: *const c_char,
        format_size: usize,
    }
    PJRT_Client_Compile_Args {
        extension_start: *mut PJRT_Extension_Base,
        client: *mut PJRT_Client,
        program: *const PJRT_Program,
        compile_options: *const c_char,
        compile_options_size: usize,
        executable: *mut PJRT_LoadedExecutable,
    }
    PJRT_Client_BufferFromHostBuffer_Args {
        extension_start: *mut PJRT_Extension_Base,
        client: *mut PJRT_Client,
        data: *const c_void,
        r#type: PJRT_Buffer_Type,
        dims: *const i64,
        num_dims: usize,
        byte_strides: *const i64,
        num_byte_strides: usize,
        host_buffer_semantics: PJRT_HostBufferSemantics,
        device: *mut PJRT_Device,
        memory: *mut PJRT_Memory,
        device_layout: *mut PJRT_Buffer_MemoryLayout,
        done_with_host_buffer: *mut PJRT_Event,
        buffer: *mut PJRT_Buffer,
    }
    PJRT_Client_CreateViewOfDeviceBuffer_Args {
        extension_start: *mut PJRT_Extension_Base,
        client: *mut PJRT_Client,
        device_buffer_ptr: *mut c_void,
        dims: *const i64,
        num_dims: usize,
        element_type: PJRT_Buffer_Type,
        layout: *mut PJRT_Buffer_MemoryLayout,
        device: *mut PJRT_Device,
        on_delete_callback: Option<unsafe extern "C" fn(device_buffer_ptr: *mut c_void, user_arg: *mut c_void)>,
        on_delete_callback_arg: *mut c_void,
        stream: isize,
        buffer: *mut PJRT_Buffer,
        memory: *mut PJRT_Memory,
    }
}
