//! Memory of the host that a call writes results to, again and again.

use std::ffi::c_void;

use super::{ArraySpec, BorrowedBuffer, BufferRef, Client, Device, HostOutput};
use crate::dtype::DType;
use crate::error::Result;

/// Memory that the host gave until it takes it back. NULL only when its size is 0.
pub struct HostTarget {
    /// What a program writes to it through; goes before the memory is given back.
    buffer: Option<BorrowedBuffer<'static>>,
    address: *mut u8,
    size: usize,
}

// SAFETY: it is the host's promise that the memory is this holder's alone.
unsafe impl Send for HostTarget {}

impl HostTarget {
    /// The memory at an address, which may be uninitialized.
    ///
    /// # Safety
    /// As long as this lives, `size` bytes at `address` are writable, and nobody else
    /// writes or reads them while a step runs.
    pub unsafe fn from_raw(address: *mut c_void, size: usize) -> HostTarget {
        HostTarget { buffer: None, address: address.cast(), size }
    }

    /// The first byte's address.
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// In bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The memory, for writing now.
    pub fn as_output(&mut self) -> HostOutput<'_> {
        // SAFETY: the constructor's promise.
        unsafe { HostOutput::from_raw(self.address.cast(), self.size) }
    }

    /// Whether programs can write a result of this type straight there.
    pub fn takes_in_place(&self, client: &Client, dtype: DType) -> bool {
        client.can_alias(self.address, dtype)
    }

    /// Makes the memory an argument for a program to write a result of this type to.
    pub fn make_destination(&mut self, client: &Client, spec: ArraySpec<'_>, device: &Device) -> Result<()> {
        self.buffer = None;
        // SAFETY: the constructor's promise; the buffer goes before the memory does.
        let output = unsafe { HostOutput::from_raw(self.address.cast(), self.size) };
        self.buffer = Some(client.lend_output(&output, spec, device)?);
        Ok(())
    }

    /// The program that was given the memory has ended, and nothing of it is left there.
    pub fn end_lending(&mut self) {
        self.buffer = None;
    }

    /// The argument, once it was made.
    pub fn argument(&self) -> Option<BufferRef<'_>> {
        self.buffer.as_ref().map(BorrowedBuffer::as_argument)
    }
}
