//! The memories of a device, and copies from one to another.

use std::ffi::{CStr, CString};

use super::{Api, Buffer, Device, call, list, owned_text, sys};
use crate::error::{Code, Error, Origin, Result};

/// A memory of a device. Lives as long as the client.
pub struct Memory {
    raw: *mut sys::PJRT_Memory,
    kind: CString,
}

// SAFETY: PJRT memories may be used from any thread.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// What kind of memory it is, such as `device` or `pinned_host`.
    pub fn kind(&self) -> &str {
        self.kind.to_str().unwrap_or_default() // made of a `String`
    }

    /// The same, as C takes it.
    pub fn c_kind(&self) -> &CStr {
        &self.kind
    }

    pub(super) fn raw(&self) -> *mut sys::PJRT_Memory {
        self.raw
    }

    /// The memories of a device, the default one first. None for a plugin that does not
    /// tell: everything but copies to a memory by name works without.
    pub(super) fn of_device(api: &'static Api, device: *mut sys::PJRT_Device) -> Vec<Memory> {
        let mut memories = Memory::all_of(api, device).unwrap_or_default();
        let mut args = sys::PJRT_Device_DefaultMemory_Args::new();
        args.device = device;
        // SAFETY: the client that gave the device is alive.
        if unsafe { call!(api, PJRT_Device_DefaultMemory, &mut args) }.is_ok()
            && let Some(default) = memories.iter().position(|memory| memory.raw == args.memory)
        {
            memories.swap(0, default);
        }
        memories
    }

    fn all_of(api: &'static Api, device: *mut sys::PJRT_Device) -> Result<Vec<Memory>> {
        let mut args = sys::PJRT_Device_AddressableMemories_Args::new();
        args.device = device;
        let mut memories = Vec::new();
        // SAFETY: the client that gave the device is alive; its memories live as long as
        // it, and texts are copied.
        unsafe {
            call!(api, PJRT_Device_AddressableMemories, &mut args)?;
            for &raw in list(args.memories, args.num_memories).iter().filter(|raw| !raw.is_null()) {
                let mut args = sys::PJRT_Memory_Kind_Args::new();
                args.memory = raw;
                call!(api, PJRT_Memory_Kind, &mut args)?;
                let kind = CString::new(owned_text(args.kind, args.kind_size)).unwrap_or_default();
                memories.push(Memory { raw, kind });
            }
        }
        Ok(memories)
    }
}

impl Buffer {
    /// Which of `memories` the buffer is in; `None` if the plugin does not tell.
    pub fn memory<'a>(&self, memories: &'a [Memory]) -> Option<&'a Memory> {
        let mut args = sys::PJRT_Buffer_Memory_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive.
        unsafe { call!(self.api, PJRT_Buffer_Memory, &mut args) }.ok()?;
        memories.iter().find(|memory| memory.raw == args.memory)
    }

    /// A copy on a device, in one of its memories or in its default one; `None` where
    /// the plugin cannot copy there, or gives the same contents once more.
    pub fn copy_to(&self, device: &Device, memory: Option<&Memory>) -> Result<Option<Buffer>> {
        let default = device.memories.first().map(Memory::raw);
        let is_default = memory.is_none_or(|memory| Some(memory.raw) == default);
        let mut copied = memory.map_or_else(not_possible, |memory| self.copy_to_memory(memory));
        if is_default && is_not_possible(&copied) {
            copied = self.copy_to_device(device);
        }
        match copied {
            Ok(copy) if self.shares_contents(&copy) => Ok(None),
            Ok(copy) => Ok(Some(copy)),
            Err(_) if is_not_possible(&copied) => Ok(None),
            // Plugins may refuse a copy to where the buffer is already.
            Err(_) if self.memory(&device.memories).is_some() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn copy_to_memory(&self, memory: &Memory) -> Result<Buffer> {
        let mut args = sys::PJRT_Buffer_CopyToMemory_Args::new();
        args.buffer = self.raw;
        args.dst_memory = memory.raw;
        // SAFETY: buffer and memory are alive.
        unsafe {
            call!(self.api, PJRT_Buffer_CopyToMemory, &mut args)?;
            self.made_as_copy(args.dst_buffer)
        }
    }

    fn copy_to_device(&self, device: &Device) -> Result<Buffer> {
        let mut args = sys::PJRT_Buffer_CopyToDevice_Args::new();
        args.buffer = self.raw;
        args.dst_device = device.raw;
        // SAFETY: buffer and device are alive.
        unsafe {
            call!(self.api, PJRT_Buffer_CopyToDevice, &mut args)?;
            self.made_as_copy(args.dst_buffer)
        }
    }

    /// # Safety
    /// As for [`Buffer::from_raw`].
    unsafe fn made_as_copy(&self, raw: *mut sys::PJRT_Buffer) -> Result<Buffer> {
        // SAFETY: the caller's promise.
        unsafe { Buffer::from_raw(self.api, raw, self.in_place) }.ok_or_else(|| {
            let message = "the plugin returned no copy of a buffer, and no error either";
            Error::new(Code::Internal, Origin::Plugin, message)
        })
    }

    /// Whether two buffers are known to be at one address.
    fn shares_contents(&self, other: &Buffer) -> bool {
        match (self.address(), other.address()) {
            (Ok(mine), Ok(theirs)) => mine == theirs && !mine.is_null(),
            _ => false,
        }
    }
}

fn not_possible() -> Result<Buffer> {
    Err(Error::new(Code::Unimplemented, Origin::Plugin, "the plugin tells of no memories"))
}

fn is_not_possible(copied: &Result<Buffer>) -> bool {
    copied.as_ref().is_err_and(|error| error.code() == Code::Unimplemented)
}
