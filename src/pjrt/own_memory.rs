//! Host memory that belongs to a prepared call: written by the host between steps, and
//! read by the plugin in place where it can.

use std::alloc::{Layout, alloc_zeroed};
use std::ffi::c_void;

use super::{
    ArraySpec, BorrowedBuffer, Buffer, BufferRef, Client, Device, HostInput, HostOutput, HostView,
    VIEW_ALIGNMENT, presence,
};
use crate::error::{Code, Error, Origin, Result};

#[derive(Clone, Copy)]
#[repr(align(64))] // VIEW_ALIGNMENT
struct Line(#[allow(dead_code, reason = "read and written through pointers")] [u8; VIEW_ALIGNMENT]);

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
        let count = size.div_ceil(VIEW_ALIGNMENT).max(1);
        let lines = zeroed_lines(count).ok_or_else(|| {
            let message = format!("out of memory: {size} bytes could not be had");
            Error::new(Code::ResourceExhausted, Origin::System, message)
        })?;
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
        let in_place = client.can_alias(data.address(), spec.dtype);
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

    /// A device array of this type in the memory, which lives as long as it and what is made
    /// of it by donation.
    pub fn into_buffer(self, client: &Client, spec: ArraySpec<'_>, device: &Device) -> Result<Buffer> {
        let (size, owned) = (self.size, Box::new(self));
        let address = owned.lines.as_ptr().cast_mut().cast();
        let owned: *mut c_void = Box::into_raw(owned).cast();
        // SAFETY: the memory stays until it is given back, since nobody else has the box.
        let view = unsafe { HostView::from_raw(address, size, true, Some(free), owned) };
        let made = client.view_host(view, spec, device, true);
        if made.is_err() {
            // SAFETY: after an error the plugin is done with it and nothing is given back.
            unsafe { free(owned) };
        }
        made.map(|(buffer, _, _)| buffer)
    }

    /// The argument, once it was made.
    pub fn argument(&self) -> Option<BufferRef<'_>> {
        self.buffer.as_ref().map(BorrowedBuffer::as_argument)
    }
}

/// Lines of zeros, which for large memory the system gives without writing them.
fn zeroed_lines(count: usize) -> Option<Vec<Line>> {
    let layout = Layout::array::<Line>(count).ok()?;
    // SAFETY: the layout is not empty, since there is a line at least.
    let first = unsafe { alloc_zeroed(layout) }.cast::<Line>();
    if first.is_null() {
        return None;
    }
    // SAFETY: allocated as a vector of so many lines is, and zeros are lines.
    Some(unsafe { Vec::from_raw_parts(first, count, count) })
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
