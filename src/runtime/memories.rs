//! The memories of the devices: where a buffer is, and copies to elsewhere.

use std::ffi::CStr;

use super::buffer::{Buffer, alive};
use super::run::copy_row_major;
use crate::error::{Error, Result};
use crate::memory;
use crate::pjrt::{self, ArraySpec, Device, HostInput, HostOutput, Memory, presence};

impl Buffer {
    /// What kind of memory the buffer is in; `None` if the plugin does not tell, or if
    /// a program has taken the contents.
    pub fn memory_kind(&self) -> Option<&'static CStr> {
        self.memory().map(Memory::c_kind)
    }

    fn memory(&self) -> Option<&'static Memory> {
        presence::check().ok()?;
        self.read().as_ref()?.memory(self.memories())
    }

    /// The memories of the buffer's device.
    fn memories(&self) -> &'static [Memory] {
        &self.runtime().devices[self.device()].memories
    }

    /// A copy of the buffer, with contents of its own, in row-major order unless only the
    /// plugin knows the order; in a memory of this kind, or in the device's default one.
    pub fn copy_to(&self, device: usize, kind: Option<&str>) -> Result<Buffer> {
        presence::check()?;
        let target = self.runtime().device(device)?;
        let memory = match kind {
            Some(kind) => Some(find_memory(target, device, kind)?),
            None => target.memories.first(),
        };
        let contents = self.read();
        let contents = alive(&contents)?;
        // Plugins of PJRT 0.81 copy other orders as they are and call them row-major.
        let can_copy = self.is_row_major || self.layout().is_tiled;
        let copied = if can_copy { contents.copy_to(target, memory)? } else { None };
        let copy = match copied {
            Some(copy) => copy,
            None => self.copy_by_way_of_host(contents, target, memory)?,
        };
        let layout = copy.layout(self.dims().len())?;
        Ok(Buffer::new(self.runtime(), copy, layout, self.array_type(), device, false))
    }

    fn copy_by_way_of_host(
        &self,
        contents: &pjrt::Buffer,
        target: &Device,
        memory: Option<&Memory>,
    ) -> Result<pjrt::Buffer> {
        let mut bytes = memory::zeroed(self.host_size())?;
        copy_row_major(contents, self.array_type(), self.layout(), &mut HostOutput::new(&mut bytes))?;
        let spec = ArraySpec { dtype: self.dtype(), dims: self.dims() };
        self.runtime().client.copy_from_host_to(HostInput::new(&bytes), spec, target, memory)
    }

    /// Why programs cannot take the buffer from the memory that it is in; `None` if they
    /// can. On a CPU they can from every memory: all are the host's.
    pub(super) fn why_out_of_reach(&self) -> Option<String> {
        if self.runtime().client.is_in_place() {
            return None;
        }
        let (kind, default) = (self.memory()?.kind(), self.memories().first()?.kind());
        (kind != default).then(|| {
            format!(
                "is in memory of kind {kind}, but programs take {default}; copy it with cyxla_buffer_copy_to"
            )
        })
    }
}

fn find_memory<'a>(target: &'a Device, device: usize, kind: &str) -> Result<&'a Memory> {
    if let Some(memory) = target.memories.iter().find(|memory| memory.kind() == kind) {
        return Ok(memory);
    }
    let mut kinds = String::new();
    for memory in &target.memories {
        kinds += if kinds.is_empty() { "; it has " } else { ", " };
        kinds += memory.kind();
    }
    if kinds.is_empty() {
        kinds += ": the plugin does not tell of memories";
    }
    let message = format!("device {device} has no memory of kind '{kind}'{kinds}");
    Err(Error::invalid_argument(message).hint("NULL means the default memory").parameter("memory_kind"))
}
