//! The function table: a working one, and ways to spoil it.

use crate::sys::*;
use crate::{buffers, client, compile, errors, events, executables, execute, memories, readback, saving};
use std::mem::offset_of;
use std::sync::{Mutex, PoisonError};

/// An address that no processor will run.
const POISON: usize = 0xdead_beef_dead_beef;
/// Room behind the table, for lengths from the future. Zero, or poison.
const TAIL: usize = 1024;

/// A table and the memory behind it.
#[repr(C)]
pub struct Table {
    pub api: PJRT_Api,
    tail: [usize; TAIL],
}

// SAFETY: the table is not written once it is published.
unsafe impl Send for Table {}

/// Keeps what `GetPjrtApi` returned, which must stay where it is.
static PUBLISHED: Mutex<Vec<Box<Table>>> = Mutex::new(Vec::new());

impl Table {
    /// A table of the newest version known here, with every slot filled that this
    /// plugin implements.
    pub fn working() -> Box<Self> {
        let mut table = Box::new(Self { api: PJRT_Api::new(), tail: [0; TAIL] });
        for slot in SLOTS {
            *table.slot(slot.offset) = unimplemented_slot as *const () as usize;
        }
        table.api.pjrt_api_version = PJRT_Api_Version::new();
        table.api.pjrt_api_version.minor_version = 115;
        fill(&mut table.api);
        table
    }

    /// Ends the table after `slots` of them; whatever was behind becomes poison.
    pub fn end_after(&mut self, slots: usize) {
        let first = SLOTS[0].offset;
        self.api.struct_size = first + slots * size_of::<usize>();
        assert!(self.api.struct_size <= size_of::<Self>(), "the table has no room");
        if slots < SLOTS.len() {
            for offset in (self.api.struct_size..size_of::<Self>()).step_by(size_of::<usize>()) {
                *self.slot(offset) = POISON;
            }
        }
    }

    pub fn clear_slots(&mut self) {
        for slot in SLOTS {
            *self.slot(slot.offset) = 0;
        }
    }

    pub fn clear_slot(&mut self, name: &str) {
        for slot in SLOTS.iter().filter(|slot| slot.name == name) {
            *self.slot(slot.offset) = 0;
        }
    }

    /// Puts the table where it stays.
    pub fn publish(self: Box<Self>) -> *const PJRT_Api {
        let api = &raw const self.api;
        PUBLISHED.lock().unwrap_or_else(PoisonError::into_inner).push(self);
        api
    }

    fn slot(&mut self, offset: usize) -> &mut usize {
        assert!(offset >= offset_of!(PJRT_Api, PJRT_Error_Destroy) && offset < size_of::<Self>());
        // SAFETY: the offset lies in the table or its tail and is a multiple of a
        // pointer's size. A slot is a nullable function pointer: any address may be
        // stored there as long as nobody here calls it.
        unsafe { &mut *(&raw mut *self).byte_add(offset).cast::<usize>() }
    }
}

/// Stands in the slots of functions that this plugin does not have.
///
/// Every argument struct begins with its size, and every function but two returns an
/// error; the two are implemented.
unsafe extern "C" fn unimplemented_slot(_: *mut usize) -> *mut PJRT_Error {
    errors::Failure::new(PJRT_Error_Code_UNIMPLEMENTED, "the fake plugin does not implement this function")
        .hand_out()
}

fn fill(api: &mut PJRT_Api) {
    macro_rules! fill {
        ($($module:ident { $($name:ident)* })*) => {
            $($(api.$name = Some($module::$name);)*)*
        };
    }
    fill! {
        errors { PJRT_Error_Destroy PJRT_Error_Message PJRT_Error_GetCode }
        events {
            PJRT_Event_Destroy PJRT_Event_IsReady PJRT_Event_Error PJRT_Event_Await
            PJRT_Event_OnReady
        }
        client {
            PJRT_Plugin_Initialize PJRT_Plugin_Attributes PJRT_Client_Create
            PJRT_Client_Destroy PJRT_Client_PlatformName PJRT_Client_ProcessIndex
            PJRT_Client_PlatformVersion PJRT_Client_Devices PJRT_Client_AddressableDevices
            PJRT_DeviceDescription_Id PJRT_DeviceDescription_Kind
            PJRT_DeviceDescription_DebugString PJRT_DeviceDescription_ToString
            PJRT_Device_GetDescription PJRT_Device_IsAddressable PJRT_Device_LocalHardwareId
        }
        memories {
            PJRT_Device_AddressableMemories PJRT_Device_DefaultMemory PJRT_Memory_Kind
            PJRT_Buffer_Memory PJRT_Buffer_CopyToDevice PJRT_Buffer_CopyToMemory
        }
        compile { PJRT_Client_Compile }
        executables {
            PJRT_Executable_Destroy PJRT_Executable_Name PJRT_Executable_NumReplicas
            PJRT_Executable_NumPartitions PJRT_Executable_NumOutputs
            PJRT_Executable_SizeOfGeneratedCodeInBytes PJRT_Executable_OptimizedProgram
            PJRT_Executable_OutputElementTypes PJRT_Executable_OutputDimensions
            PJRT_Executable_Fingerprint PJRT_Executable_GetCompiledMemoryStats
            PJRT_LoadedExecutable_Destroy
            PJRT_LoadedExecutable_GetExecutable PJRT_LoadedExecutable_AddressableDevices
        }
        saving { PJRT_Executable_Serialize PJRT_Executable_DeserializeAndLoad }
        execute { PJRT_LoadedExecutable_Execute }
        buffers {
            PJRT_Client_BufferFromHostBuffer PJRT_Client_CreateViewOfDeviceBuffer
            PJRT_Buffer_Destroy PJRT_Buffer_ElementType
            PJRT_Buffer_Dimensions PJRT_Buffer_GetMemoryLayout PJRT_Buffer_OnDeviceSizeInBytes
            PJRT_Buffer_Device PJRT_Buffer_Delete PJRT_Buffer_IsDeleted PJRT_Buffer_IsOnCpu
        }
        readback {
            PJRT_Buffer_ToHostBuffer PJRT_Buffer_ReadyEvent PJRT_Buffer_UnsafePointer
            PJRT_Buffer_IncreaseExternalReferenceCount
            PJRT_Buffer_DecreaseExternalReferenceCount
            PJRT_Buffer_OpaqueDeviceMemoryDataPointer
        }
    }
}
