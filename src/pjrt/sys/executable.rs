//! Compiled programs, what they tell about themselves, and running them.

use super::{
    PJRT_Buffer, PJRT_Buffer_Type, PJRT_Client, PJRT_Device, PJRT_Event, PJRT_Extension_Base, PJRT_Program,
};
use std::ffi::{c_char, c_int, c_void};

pjrt_opaque! {
    PJRT_Executable
    PJRT_LoadedExecutable
    PJRT_ExecuteContext
    PJRT_SendCallbackInfo
    PJRT_RecvCallbackInfo
    PJRT_SerializedExecutable
}

pjrt_structs! {
    PJRT_Executable_Destroy_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
    }
    PJRT_Executable_Name_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        executable_name: *const c_char,
        executable_name_size: usize,
    }
    PJRT_Executable_NumReplicas_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        num_replicas: usize,
    }
    PJRT_Executable_NumPartitions_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        num_partitions: usize,
    }
    PJRT_Executable_NumOutputs_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        num_outputs: usize,
    }
    PJRT_Executable_OptimizedProgram_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        program: *mut PJRT_Program,
    }
    PJRT_Executable_OutputElementTypes_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        output_types: *mut PJRT_Buffer_Type,
        num_output_types: usize,
    }
    PJRT_Executable_OutputDimensions_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        num_outputs: usize,
        dims: *const i64,
        dim_sizes: *const usize,
    }
    PJRT_Executable_Fingerprint_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        executable_fingerprint: *const c_char,
        executable_fingerprint_size: usize,
    }
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        size_in_bytes: i64,
    }
    PJRT_Executable_GetCompiledMemoryStats_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        generated_code_size_in_bytes: i64,
        argument_size_in_bytes: i64,
        output_size_in_bytes: i64,
        alias_size_in_bytes: i64,
        temp_size_in_bytes: i64,
        host_generated_code_size_in_bytes: i64,
        host_argument_size_in_bytes: i64,
        host_output_size_in_bytes: i64,
        host_alias_size_in_bytes: i64,
        host_temp_size_in_bytes: i64,
        peak_memory_in_bytes: i64,
    }
    PJRT_Executable_Serialize_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *const PJRT_Executable,
        serialized_bytes: *const c_char,
        serialized_bytes_size: usize,
        serialized_executable: *mut PJRT_SerializedExecutable,
        serialized_executable_deleter: Option<unsafe extern "C" fn(*mut PJRT_SerializedExecutable)>,
    }
    PJRT_Executable_DeserializeAndLoad_Args {
        extension_start: *mut PJRT_Extension_Base,
        client: *mut PJRT_Client,
        serialized_executable: *const c_char,
        serialized_executable_size: usize,
        loaded_executable: *mut PJRT_LoadedExecutable,
        overridden_serialized_compile_options: *const c_char,
        overridden_serialized_compile_options_size: usize,
    }
    PJRT_LoadedExecutable_Destroy_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_LoadedExecutable,
    }
    PJRT_LoadedExecutable_GetExecutable_Args {
        extension_start: *mut PJRT_Extension_Base,
        loaded_executable: *mut PJRT_LoadedExecutable,
        executable: *mut PJRT_Executable,
    }
    PJRT_LoadedExecutable_AddressableDevices_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_LoadedExecutable,
        addressable_devices: *const *mut PJRT_Device,
        num_addressable_devices: usize,
    }
    PJRT_ExecuteOptions {
        extension_start: *mut PJRT_Extension_Base,
        send_callbacks: *mut *mut PJRT_SendCallbackInfo,
        recv_callbacks: *mut *mut PJRT_RecvCallbackInfo,
        num_send_ops: usize,
        num_recv_ops: usize,
        launch_id: c_int,
        non_donatable_input_indices: *const i64,
        num_non_donatable_input_indices: usize,
        context: *mut PJRT_ExecuteContext,
        call_location: *const c_char,
        num_tasks: usize,
        task_ids: *mut c_int,
        incarnation_ids: *mut i64,
        multi_slice_config: *mut c_void,
        use_major_to_minor_data_layout_for_callbacks: u8,
        hlo_output_callbacks: *mut c_void,
        num_hlo_output_callbacks: usize,
    }
    PJRT_LoadedExecutable_Execute_Args {
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_LoadedExecutable,
        options: *mut PJRT_ExecuteOptions,
        argument_lists: *const *const *mut PJRT_Buffer,
        num_devices: usize,
        num_args: usize,
        output_lists: *const *mut *mut PJRT_Buffer,
        device_complete_events: *mut *mut PJRT_Event,
        execute_device: *mut PJRT_Device,
    }
}
