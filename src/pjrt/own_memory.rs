//! Host memory that belongs to a prepared call: written by the host between steps, and
//! read by the plugin in place where it can.

use std::ffi::c_void;

use super::{
    ArraySpec, BorrowedBuffer, BufferRef, Client, Device, HostInput, HostOutput, HostView, presence,
};
use crate::error::{Code, Error, Origin, Result};

/// The alignment from which on plugins use memory in place.
const ALIGNMENT: usize = 64;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "read and written through pointers")] [u8; ALIGNMENT]);

/// Memory at a fixed address, aligned to 64 bytes, and the plugin's view of it.
pub struct OwnMemory {
    /// Goes before the memory that it looks at.
    buffer: Option<BorrowedBuffer<'static>>,
    lines: Vec<Line>,
    size: usize,
}

// SAFETY: the memory is the struct's own, and who may touch it when is its owner's to say.
unsafe impl Send for OwnMemory {}

impl OwnMemory {
    /// `size` bytes of value 0.
    pub fn new(size: usize) -> Result<OwnMemory> {
        let count = size.div_ceil(ALIGNMENT).max(1);
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).map_err(|_| {
            let message = format!("out of memory: {size} bytes could not be had");
            Error::new(Code::ResourceExhausted, Origin::System, message)
        })?;
        lines.resize(count, Line([0; ALIGNMENT]));
        Ok(OwnMemory { buffer: None, lines, size })
    }

    /// Where it is, for as long as it lives.
    pub fn address(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }

    /// How many bytes the host may use.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The contents as they are now.
    pub fn as_input(&self) -> HostInput<'_> {
        // SAFETY: the memory has this size, and nobody writes it while it is borrowed:
        // the host does so between steps only.
        unsafe { HostInput::from_raw(self.lines.as_ptr().cast(), self.size) }
    }

    /// The memory as something to write to.
    pub fn as_output(&mut self) -> HostOutput<'_> {
        // SAFETY: as above.
        unsafe { HostOutput::from_raw(self.lines.as_mut_ptr().cast(), self.size) }
    }

    /// Makes the memory an argument, as an array of this type: in place where the plugin
    /// can, else a copy of what is in it now. Says which.
    pub fn make_argument(&mut self, client: &Client, spec: ArraySpec<'_>, device: &Device) -> Result<bool> {
        self.buffer = None;
        // SAFETY: the memory has this size and stays where it is until the buffer is gone,
        // which `drop` sees to.
        let data = unsafe { HostInput::from_raw(self.lines.as_ptr().cast(), self.size) };
        let in_place = client.uses_in_place(&data, spec.dtype);
        self.buffer = Some(client.borrow_from_host(data, spec, device)?);
        Ok(in_place)
    }

    /// Makes the memory an argument for a program to write a result of this type to.
    pub fn make_destination(&mut self, client: &Client, spec: ArraySpec<'_>, device: &Device) -> Result<()> {
        self.buffer = None;
        // SAFETY: as above; nobody looks at the memory until the program has ended.
        let output = unsafe { HostOutput::from_raw(self.lines.as_mut_ptr().cast(), self.size) };
        self.buffer = Some(client.lend_output(&output, spec, device)?);
        Ok(())
    }

    /// The memory as something that is lent, and freed when it is given back.
    pub fn into_view(self) -> HostView {
        let owned = Box::new(self);
        let size = owned.size;
        let address = owned.lines.as_ptr().cast_mut().cast();
        // SAFETY: the memory stays until it is given back, since the box is kept by nobody
        // else.
        unsafe { HostView::from_raw(address, size, true, Some(free), Box::into_raw(owned).cast()) }
    }

    /// The argument, once it was made.
    pub fn argument(&self) -> Option<BufferRef<'_>> {
        self.buffer.as_ref().map(BorrowedBuffer::as_argument)
    }
}

/// Frees memory that was lent.
unsafe extern "C" fn free(memory: *mut c_void) {
    // SAFETY: `into_view` made the box, and a view is given back once.
    drop(unsafe { Box::from_raw(memory.cast::<OwnMemory>()) });
}

impl Drop for OwnMemory {
    fn drop(&mut self) {
        self.buffer = None; // waits until the plugin is done with the memory
        if presence::is_gone() {
            // Threads of the plugin may still read it.
            std::mem::forget(std::mem::take(&mut self.lines));
        }
    }
}
