//! Arrays in device memory.

use super::{PJRT_Device, PJRT_Event, PJRT_Extension_Base, PJRT_Memory};
use std::ffi::{c_int, c_void};

pjrt_opaque! { PJRT_Buffer }

pub type PJRT_Buffer_Type = c_int;
pub type PJRT_HostBufferSemantics = c_int;
pub type PJRT_Buffer_MemoryLayout_Type = c_int;

pjrt_constants! {
    PJRT_Buffer_Type_INVALID: PJRT_Buffer_Type = 0;
    PJRT_Buffer_Type_PRED: PJRT_Buffer_Type = 1;
    PJRT_Buffer_Type_S8: PJRT_Buffer_Type = 2;
    PJRT_Buffer_Type_S16: PJRT_Buffer_Type = 3;
    PJRT_Buffer_Type_S32: PJRT_Buffer_Type = 4;
    PJRT_Buffer_Type_S64: PJRT_Buffer_Type = 5;
    PJRT_Buffer_Type_U8: PJRT_Buffer_Type = 6;
    PJRT_Buffer_Type_U16: PJRT_Buffer_Type = 7;
    PJRT_Buffer_Type_U32: PJRT_Buffer_Type = 8;
    PJRT_Buffer_Type_U64: PJRT_Buffer_Type = 9;
    PJRT_Buffer_Type_F16: PJRT_Buffer_Type = 10;
    PJRT_Buffer_Type_F32: PJRT_Buffer_Type = 11;
    PJRT_Buffer_Type_F64: PJRT_Buffer_Type = 12;
    PJRT_Buffer_Type_BF16: PJRT_Buffer_Type = 13;
    PJRT_Buffer_Type_C64: PJRT_Buffer_Type = 14;
    PJRT_Buffer_Type_C128: PJRT_Buffer_Type = 15;
    PJRT_Buffer_Type_F8E5M2: PJRT_Buffer_Type = 16;
    PJRT_Buffer_Type_F8E4M3FN: PJRT_Buffer_Type = 17;
    PJRT_Buffer_Type_F8E4M3B11FNUZ: PJRT_Buffer_Type = 18;
    PJRT_Buffer_Type_F8E5M2FNUZ: PJRT_Buffer_Type = 19;
    PJRT_Buffer_Type_F8E4M3FNUZ: PJRT_Buffer_Type = 20;
    PJRT_Buffer_Type_S4: PJRT_Buffer_Type = 21;
    PJRT_Buffer_Type_U4: PJRT_Buffer_Type = 22;
    PJRT_Buffer_Type_TOKEN: PJRT_Buffer_Type = 23;
    PJRT_Buffer_Type_S2: PJRT_Buffer_Type = 24;
    PJRT_Buffer_Type_U2: PJRT_Buffer_Type = 25;
    PJRT_Buffer_Type_F8E4M3: PJRT_Buffer_Type = 26;
    PJRT_Buffer_Type_F8E3M4: PJRT_Buffer_Type = 27;
    PJRT_Buffer_Type_F8E8M0FNU: PJRT_Buffer_Type = 28;
    PJRT_Buffer_Type_F4E2M1FN: PJRT_Buffer_Type = 29;
    PJRT_Buffer_Type_S1: PJRT_Buffer_Type = 30;
    PJRT_Buffer_Type_U1: PJRT_Buffer_Type = 31;
    PJRT_Buffer_Type_F6E2M3FN: PJRT_Buffer_Type = 32;
    PJRT_Buffer_Type_F6E3M2FN: PJRT_Buffer_Type = 33;

    PJRT_HostBufferSemantics_kImmutableOnlyDuringCall: PJRT_HostBufferSemantics = 0;
    PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes: PJRT_HostBufferSemantics = 1;
    PJRT_HostBufferSemantics_kImmutableZeroCopy: PJRT_HostBufferSemantics = 2;
    PJRT_HostBufferSemantics_kMutableZeroCopy: PJRT_HostBufferSemantics = 3;

    PJRT_Buffer_MemoryLayout_Type_Tiled: PJRT_Buffer_MemoryLayout_Type = 0;
    PJRT_Buffer_MemoryLayout_Type_Strides: PJRT_Buffer_MemoryLayout_Type = 1;
}

/// A layout in one of its two forms; the `type` beside it says in which.
///
/// The header leaves the union without a name.
#[repr(C)]
#[derive(Clone, Copy)]
pub union PJRT_Buffer_MemoryLayout_Value {
    pub tiled: PJRT_Buffer_MemoryLayout_Tiled,
    pub strides: PJRT_Buffer_MemoryLayout_Strides,
}

pjrt_structs! {
    PJRT_Buffer_MemoryLayout_Tiled {
        extension_start: *mut PJRT_Extension_Base,
        minor_to_major: *const i64,
        minor_to_major_size: usize,
        tile_dims: *const i64,
        tile_dim_sizes: *const usize,
        num_tiles: usize,
    }
    PJRT_Buffer_MemoryLayout_Strides {
        extension_start: *mut PJRT_Extension_Base,
        byte_strides: *const i64,
        num_byte_strides: usize,
    }
    PJRT_Buffer_MemoryLayout {
        extension_start: *mut PJRT_Extension_Base,
        value: PJRT_Buffer_MemoryLayout_Value,
        r#type: PJRT_Buffer_MemoryLayout_Type,
    }
    PJRT_Buffer_Destroy_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
    }
    PJRT_Buffer_ElementType_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        r#type: PJRT_Buffer_Type,
    }
    PJRT_Buffer_Dimensions_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        dims: *const i64,
        num_dims: usize,
    }
    PJRT_Buffer_GetMemoryLayout_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        layout: PJRT_Buffer_MemoryLayout,
    }
    PJRT_Buffer_ToHostBuffer_Args {
        extension_start: *mut PJRT_Extension_Base,
        src: *mut PJRT_Buffer,
        host_layout: *mut PJRT_Buffer_MemoryLayout,
        dst: *mut c_void,
        dst_size: usize,
        event: *mut PJRT_Event,
    }
    PJRT_Buffer_OnDeviceSizeInBytes_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        on_device_size_in_bytes: usize,
    }
    PJRT_Buffer_Delete_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
    }
    PJRT_Buffer_IsDeleted_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        is_deleted: u8,
    }
    PJRT_Buffer_IsOnCpu_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        is_on_cpu: u8,
    }
    PJRT_Buffer_Device_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        device: *mut PJRT_Device,
    }
    PJRT_Buffer_Memory_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        memory: *mut PJRT_Memory,
    }
    PJRT_Buffer_CopyToDevice_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        dst_device: *mut PJRT_Device,
        dst_buffer: *mut PJRT_Buffer,
    }
    PJRT_Buffer_CopyToMemory_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        dst_memory: *mut PJRT_Memory,
        dst_buffer: *mut PJRT_Buffer,
    }
    PJRT_Buffer_ReadyEvent_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        event: *mut PJRT_Event,
    }
    PJRT_Buffer_UnsafePointer_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        buffer_pointer: usize,
    }
    PJRT_Buffer_IncreaseExternalReferenceCount_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
    }
    PJRT_Buffer_DecreaseExternalReferenceCount_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
    }
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args {
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        device_memory_ptr: *mut c_void,
    }
}
