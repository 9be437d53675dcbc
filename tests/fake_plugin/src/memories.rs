//! The memories of a device, and copies from one to another.

use crate::buffers::{Buffer, Place};
use crate::client::{Device, Handle};
use crate::errors::Failure;
use crate::ledger::{self, Object};
use crate::script::Script;
use crate::storage::Storage;
use crate::sys::*;
use std::sync::{Arc, OnceLock};

pub struct Memory {
    kind: String,
    device: OnceLock<Handle<PJRT_Device>>,
}

impl Object for Memory {
    const KIND: &'static str = "memory";
    const COUNTED: bool = false;
}

impl Memory {
    /// A memory that as yet belongs to no device.
    pub fn of_kind(kind: &str) -> Handle<PJRT_Memory> {
        Handle(ledger::hand_out(Arc::new(Self { kind: kind.to_owned(), device: OnceLock::new() })))
    }

    pub fn belongs_to(memory: Handle<PJRT_Memory>, device: Handle<PJRT_Device>) {
        if let Ok(memory) = ledger::find::<Self, _>(memory.0) {
            let _ = memory.device.set(device);
        }
    }
}

/// Where a caller wants a buffer who names a memory, or else a device.
pub fn place(device: *mut PJRT_Device, memory: *mut PJRT_Memory) -> Result<Place, Failure> {
    if memory.is_null() {
        return Ok((Handle(device), ledger::find::<Device, _>(device)?.default_memory));
    }
    let device = ledger::find::<Memory, _>(memory)?.device.get().copied();
    Ok((device.ok_or_else(|| Failure::internal("a memory of no device"))?, Handle(memory)))
}

/// A copy of a buffer elsewhere; a plugin may call the same memory a copy.
fn copy(buffer: *mut PJRT_Buffer, place: Place) -> Result<*mut PJRT_Buffer, Failure> {
    let buffer = ledger::find::<Buffer, _>(buffer)?;
    let source = buffer.storage()?;
    let column_major = buffer.minor_to_major.is_sorted() && buffer.tensor.dims.len() > 1;
    let storage = match Script::current().alias_copies {
        true => source,
        false => {
            buffer.ready.wait()?;
            let copied = Storage::new(source.size());
            copied.write(&source.read());
            copied
        }
    };
    Ok(Buffer::hand_out(buffer.tensor.clone(), place, storage, buffer.ready.clone(), column_major))
}

entry! { PJRT_Device_AddressableMemories(args: PJRT_Device_AddressableMemories_Args) {
    let device = ledger::find::<Device, _>(args.device)?;
    args.memories = device.memories.as_ptr().cast();
    args.num_memories = device.memories.len();
    Ok(())
}}

entry! { PJRT_Device_DefaultMemory(args: PJRT_Device_DefaultMemory_Args) {
    args.memory = ledger::find::<Device, _>(args.device)?.default_memory.0;
    Ok(())
}}

entry! { PJRT_Memory_Kind(args: PJRT_Memory_Kind_Args) {
    let memory = ledger::find::<Memory, _>(args.memory)?;
    args.kind = memory.kind.as_ptr().cast();
    args.kind_size = memory.kind.len();
    Ok(())
}}

entry! { PJRT_Buffer_Memory(args: PJRT_Buffer_Memory_Args) {
    args.memory = ledger::find::<Buffer, _>(args.buffer)?.memory.0;
    Ok(())
}}

entry! { PJRT_Buffer_CopyToDevice(args: PJRT_Buffer_CopyToDevice_Args) {
    args.dst_buffer = copy(args.buffer, place(args.dst_device, std::ptr::null_mut())?)?;
    Ok(())
}}

entry! { PJRT_Buffer_CopyToMemory(args: PJRT_Buffer_CopyToMemory_Args) {
    args.dst_buffer = copy(args.buffer, place(std::ptr::null_mut(), args.dst_memory)?)?;
    Ok(())
}}
