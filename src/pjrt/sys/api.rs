//! The function table that a plugin hands out.
//!
//! A slot is found by its position, so the order below is the ABI. A plugin's
//! table may be shorter or longer than this one: its `struct_size` says where it
//! ends, and a slot behind that must not be read.

use super::*;

/// A function of the table, by the struct that it takes.
pub type Function<Args> = unsafe extern "C" fn(args: *mut Args) -> *mut PJRT_Error;

/// A function that this library does not call.
pub type UntypedFunction = unsafe extern "C" fn();

/// The one symbol that a plugin exports, and its type.
pub const GET_PJRT_API: &std::ffi::CStr = c"GetPjrtApi";
pub type GetPjrtApi = unsafe extern "C" fn() -> *const PJRT_Api;

/// One slot of the table: its name and its offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub name: &'static str,
    pub offset: usize,
}

macro_rules! pjrt_table {
    ($($slot:ident: $ty:ty,)*) => {
        pjrt_structs! {
            PJRT_Api {
                extension_start: *mut PJRT_Extension_Base,
                pjrt_api_version: PJRT_Api_Version,
                $($slot: Option<$ty>,)*
            }
        }

        /// Every slot in order.
        pub const SLOTS: &[Slot] = &[$(Slot {
            name: stringify!($slot),
            offset: std::mem::offset_of!(PJRT_Api, $slot),
        },)*];
    };
}

pjrt_table! {
    PJRT_Error_Destroy: unsafe extern "C" fn(*mut PJRT_Error_Destroy_Args),
    PJRT_Error_Message: unsafe extern "C" fn(*mut PJRT_Error_Message_Args),
    PJRT_Error_GetCode: Function<PJRT_Error_GetCode_Args>,
    PJRT_Plugin_Initialize: Function<PJRT_Plugin_Initialize_Args>,
    PJRT_Plugin_Attributes: Function<PJRT_Plugin_Attributes_Args>,
    PJRT_Event_Destroy: Function<PJRT_Event_Destroy_Args>,
    PJRT_Event_IsReady: Function<PJRT_Event_IsReady_Args>,
    PJRT_Event_Error: Function<PJRT_Event_Error_Args>,
    PJRT_Event_Await: Function<PJRT_Event_Await_Args>,
    PJRT_Event_OnReady: Function<PJRT_Event_OnReady_Args>,
    PJRT_Client_Create: Function<PJRT_Client_Create_Args>,
    PJRT_Client_Destroy: Function<PJRT_Client_Destroy_Args>,
    PJRT_Client_PlatformName: Function<PJRT_Client_PlatformName_Args>,
    PJRT_Client_ProcessIndex: Function<PJRT_Client_ProcessIndex_Args>,
    PJRT_Client_PlatformVersion: Function<PJRT_Client_PlatformVersion_Args>,
    PJRT_Client_Devices: Function<PJRT_Client_Devices_Args>,
    PJRT_Client_AddressableDevices: Function<PJRT_Client_AddressableDevices_Args>,
    PJRT_Client_LookupDevice: UntypedFunction,
    PJRT_Client_LookupAddressableDevice: UntypedFunction,
    PJRT_Client_AddressableMemories: UntypedFunction,
    PJRT_Client_Compile: Function<PJRT_Client_Compile_Args>,
    PJRT_Client_DefaultDeviceAssignment: UntypedFunction,
    PJRT_Client_BufferFromHostBuffer: Function<PJRT_Client_BufferFromHostBuffer_Args>,
    PJRT_DeviceDescription_Id: Function<PJRT_DeviceDescription_Id_Args>,
    PJRT_DeviceDescription_ProcessIndex: UntypedFunction,
    PJRT_DeviceDescription_Attributes: UntypedFunction,
    PJRT_DeviceDescription_Kind: Function<PJRT_DeviceDescription_Kind_Args>,
    PJRT_DeviceDescription_DebugString: Function<PJRT_DeviceDescription_DebugString_Args>,
    PJRT_DeviceDescription_ToString: Function<PJRT_DeviceDescription_ToString_Args>,
    PJRT_Device_GetDescription: Function<PJRT_Device_GetDescription_Args>,
    PJRT_Device_IsAddressable: Function<PJRT_Device_IsAddressable_Args>,
    PJRT_Device_LocalHardwareId: Function<PJRT_Device_LocalHardwareId_Args>,
    PJRT_Device_AddressableMemories: Function<PJRT_Device_AddressableMemories_Args>,
    PJRT_Device_DefaultMemory: Function<PJRT_Device_DefaultMemory_Args>,
    PJRT_Device_MemoryStats: UntypedFunction,
    PJRT_Memory_Id: UntypedFunction,
    PJRT_Memory_Kind: Function<PJRT_Memory_Kind_Args>,
    PJRT_Memory_DebugString: UntypedFunction,
    PJRT_Memory_ToString: UntypedFunction,
    PJRT_Memory_AddressableByDevices: UntypedFunction,
    PJRT_Executable_Destroy: Function<PJRT_Executable_Destroy_Args>,
    PJRT_Executable_Name: Function<PJRT_Executable_Name_Args>,
    PJRT_Executable_NumReplicas: Function<PJRT_Executable_NumReplicas_Args>,
    PJRT_Executable_NumPartitions: Function<PJRT_Executable_NumPartitions_Args>,
    PJRT_Executable_NumOutputs: Function<PJRT_Executable_NumOutputs_Args>,
    PJRT_Executable_SizeOfGeneratedCodeInBytes: Function<PJRT_Executable_SizeOfGeneratedCodeInBytes_Args>,
    PJRT_Executable_GetCostAnalysis: UntypedFunction,
    PJRT_Executable_OutputMemoryKinds: UntypedFunction,
    PJRT_Executable_OptimizedProgram: Function<PJRT_Executable_OptimizedProgram_Args>,
    PJRT_Executable_Serialize: Function<PJRT_Executable_Serialize_Args>,
    PJRT_LoadedExecutable_Destroy: Function<PJRT_LoadedExecutable_Destroy_Args>,
    PJRT_LoadedExecutable_GetExecutable: Function<PJRT_LoadedExecutable_GetExecutable_Args>,
    PJRT_LoadedExecutable_AddressableDevices: Function<PJRT_LoadedExecutable_AddressableDevices_Args>,
    PJRT_LoadedExecutable_Delete: UntypedFunction,
    PJRT_LoadedExecutable_IsDeleted: UntypedFunction,
    PJRT_LoadedExecutable_Execute: Function<PJRT_LoadedExecutable_Execute_Args>,
    PJRT_Executable_DeserializeAndLoad: Function<PJRT_Executable_DeserializeAndLoad_Args>,
    PJRT_LoadedExecutable_Fingerprint: UntypedFunction,
    PJRT_Buffer_Destroy: Function<PJRT_Buffer_Destroy_Args>,
    PJRT_Buffer_ElementType: Function<PJRT_Buffer_ElementType_Args>,
    PJRT_Buffer_Dimensions: Function<PJRT_Buffer_Dimensions_Args>,
    PJRT_Buffer_UnpaddedDimensions: UntypedFunction,
    PJRT_Buffer_DynamicDimensionIndices: UntypedFunction,
    PJRT_Buffer_GetMemoryLayout: Function<PJRT_Buffer_GetMemoryLayout_Args>,
    PJRT_Buffer_OnDeviceSizeInBytes: Function<PJRT_Buffer_OnDeviceSizeInBytes_Args>,
    PJRT_Buffer_Device: Function<PJRT_Buffer_Device_Args>,
    PJRT_Buffer_Memory: Function<PJRT_Buffer_Memory_Args>,
    PJRT_Buffer_Delete: Function<PJRT_Buffer_Delete_Args>,
    PJRT_Buffer_IsDeleted: Function<PJRT_Buffer_IsDeleted_Args>,
    PJRT_Buffer_CopyToDevice: Function<PJRT_Buffer_CopyToDevice_Args>,
    PJRT_Buffer_ToHostBuffer: Function<PJRT_Buffer_ToHostBuffer_Args>,
    PJRT_Buffer_IsOnCpu: Function<PJRT_Buffer_IsOnCpu_Args>,
    PJRT_Buffer_ReadyEvent: Function<PJRT_Buffer_ReadyEvent_Args>,
    PJRT_Buffer_UnsafePointer: Function<PJRT_Buffer_UnsafePointer_Args>,
    PJRT_Buffer_IncreaseExternalReferenceCount: Function<PJRT_Buffer_IncreaseExternalReferenceCount_Args>,
    PJRT_Buffer_DecreaseExternalReferenceCount: Function<PJRT_Buffer_DecreaseExternalReferenceCount_Args>,
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer: Function<PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args>,
    PJRT_CopyToDeviceStream_Destroy: UntypedFunction,
    PJRT_CopyToDeviceStream_AddChunk: UntypedFunction,
    PJRT_CopyToDeviceStream_TotalBytes: UntypedFunction,
    PJRT_CopyToDeviceStream_GranuleSize: UntypedFunction,
    PJRT_CopyToDeviceStream_CurrentBytes: UntypedFunction,
    PJRT_TopologyDescription_Create: UntypedFunction,
    PJRT_TopologyDescription_Destroy: UntypedFunction,
    PJRT_TopologyDescription_PlatformName: UntypedFunction,
    PJRT_TopologyDescription_PlatformVersion: UntypedFunction,
    PJRT_TopologyDescription_GetDeviceDescriptions: UntypedFunction,
    PJRT_TopologyDescription_Serialize: UntypedFunction,
    PJRT_TopologyDescription_Attributes: UntypedFunction,
    PJRT_Compile: UntypedFunction,
    PJRT_Executable_OutputElementTypes: Function<PJRT_Executable_OutputElementTypes_Args>,
    PJRT_Executable_OutputDimensions: Function<PJRT_Executable_OutputDimensions_Args>,
    PJRT_Buffer_CopyToMemory: Function<PJRT_Buffer_CopyToMemory_Args>,
    PJRT_Client_CreateViewOfDeviceBuffer: Function<PJRT_Client_CreateViewOfDeviceBuffer_Args>,
    PJRT_Executable_Fingerprint: Function<PJRT_Executable_Fingerprint_Args>,
    PJRT_Client_TopologyDescription: UntypedFunction,
    PJRT_Executable_GetCompiledMemoryStats: Function<PJRT_Executable_GetCompiledMemoryStats_Args>,
    PJRT_Memory_Kind_Id: UntypedFunction,
    PJRT_ExecuteContext_Create: UntypedFunction,
    PJRT_ExecuteContext_Destroy: UntypedFunction,
    PJRT_Buffer_CopyRawToHost: UntypedFunction,
    PJRT_AsyncHostToDeviceTransferManager_Destroy: UntypedFunction,
    PJRT_AsyncHostToDeviceTransferManager_TransferData: UntypedFunction,
    PJRT_Client_CreateBuffersForAsyncHostToDevice: UntypedFunction,
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer: UntypedFunction,
    PJRT_AsyncHostToDeviceTransferManager_Device: UntypedFunction,
    PJRT_AsyncHostToDeviceTransferManager_BufferCount: UntypedFunction,
    PJRT_AsyncHostToDeviceTransferManager_BufferSize: UntypedFunction,
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError: UntypedFunction,
    PJRT_AsyncHostToDeviceTransferManager_AddMetadata: UntypedFunction,
    PJRT_Client_DmaMap: UntypedFunction,
    PJRT_Client_DmaUnmap: UntypedFunction,
    PJRT_Client_CreateUninitializedBuffer: UntypedFunction,
    PJRT_Client_UpdateGlobalProcessInfo: UntypedFunction,
    PJRT_TopologyDescription_Deserialize: UntypedFunction,
    PJRT_Client_CreateAliasBuffer: UntypedFunction,
    PJRT_Client_FulfillAliasBuffer: UntypedFunction,
    PJRT_LoadedExecutable_GetDeviceAssignment: UntypedFunction,
    PJRT_Client_CreateErrorBuffer: UntypedFunction,
    PJRT_AsyncHostToDeviceTransferManager_TransferLiteral: UntypedFunction,
    PJRT_Buffer_CopyRawToHostFuture: UntypedFunction,
    PJRT_Device_PoisonExecution: UntypedFunction,
    PJRT_Device_CreateAsyncTrackingEvent: UntypedFunction,
    PJRT_AsyncTrackingEvent_Destroy: UntypedFunction,
    PJRT_Executable_GetCompileOptions: UntypedFunction,
    PJRT_Buffer_DonateWithControlDependency: UntypedFunction,
    PJRT_Event_Create: UntypedFunction,
    PJRT_Event_Set: UntypedFunction,
    PJRT_Device_GetAttributes: UntypedFunction,
    PJRT_Client_Load: UntypedFunction,
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds: UntypedFunction,
    PJRT_Buffer_Bitcast: UntypedFunction,
    PJRT_Error_ForEachPayload: UntypedFunction,
    PJRT_TopologyDescription_Fingerprint: UntypedFunction,
    PJRT_Executable_ParameterMemoryKinds: UntypedFunction,
    PJRT_Device_ClearMemoryStats: UntypedFunction,
    PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace: UntypedFunction,
    PJRT_TopologyDescription_GetMemorySpaceKindIds: UntypedFunction,
}
