//! Memory of the host program that a plugin reads or writes.
//!
//! Raw addresses become these types in the C layer, which states there why they
//! are valid; from then on they can be passed around safely.

use std::ffi::c_void;
use std::marker::PhantomData;

/// Memory that a call reads. NULL only when its size is 0.
#[derive(Clone, Copy)]
pub struct HostInput<'a> {
    address: *const u8,
    size: usize,
    lifetime: PhantomData<&'a [u8]>,
}

impl<'a> HostInput<'a> {
    /// The memory of a slice.
    pub fn new(bytes: &'a [u8]) -> HostInput<'a> {
        HostInput { address: bytes.as_ptr(), size: bytes.len(), lifetime: PhantomData }
    }

    /// The memory at an address.
    ///
    /// # Safety
    /// `size` bytes at `address` are readable and nobody writes them during `'a`,
    /// other than through a [`HostOutput`] of the same call.
    pub unsafe fn from_raw(address: *const c_void, size: usize) -> HostInput<'a> {
        HostInput { address: address.cast(), size, lifetime: PhantomData }
    }

    /// The first byte's address.
    pub fn address(&self) -> *const u8 {
        self.address
    }

    /// In bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The position of the first byte other than 0 and 1.
    pub fn first_non_bool(&self) -> Option<usize> {
        if self.size == 0 {
            return None;
        }
        // SAFETY: the constructor's promise; the slice is gone before any output
        // of the call is written.
        let bytes = unsafe { std::slice::from_raw_parts(self.address, self.size) };
        bytes.iter().position(|&byte| byte > 1)
    }
}

/// Memory that a call writes. NULL only when its size is 0.
pub struct HostOutput<'a> {
    address: *mut u8,
    size: usize,
    lifetime: PhantomData<&'a mut [u8]>,
}

impl<'a> HostOutput<'a> {
    /// The memory of a slice.
    pub fn new(bytes: &'a mut [u8]) -> HostOutput<'a> {
        HostOutput { address: bytes.as_mut_ptr(), size: bytes.len(), lifetime: PhantomData }
    }

    /// The memory at an address, which may be uninitialized.
    ///
    /// # Safety
    /// `size` bytes at `address` are writable during `'a`. They may be the memory
    /// of a [`HostInput`] of the same call: outputs are written last, or straight by the
    /// program where they overlap no input.
    pub unsafe fn from_raw(address: *mut c_void, size: usize) -> HostOutput<'a> {
        HostOutput { address: address.cast(), size, lifetime: PhantomData }
    }

    /// The first byte's address.
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// In bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Copies all of `bytes`, which are elsewhere and as many as this memory holds.
    pub fn write(&mut self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.size, "sizes are checked before");
        if self.size > 0 {
            // SAFETY: the constructor's promise; a slice that this memory does not
            // overlap, since it could not be borrowed otherwise.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.address, self.size) };
        }
    }
}

/// Memory that the host lends for longer than a call, and how to give it back.
pub struct HostView {
    address: *mut u8,
    size: usize,
    writable: bool,
    release: Option<unsafe extern "C" fn(*mut c_void)>,
    user_data: *mut c_void,
}

impl HostView {
    /// The memory at an address; `release` is called once with `user_data` when
    /// nobody uses it any more.
    ///
    /// # Safety
    /// `size` bytes at `address` stay readable, unchanged, and writable too where it
    /// says so, until `release` is called. `release` may be called from any thread.
    pub unsafe fn from_raw(
        address: *mut c_void,
        size: usize,
        writable: bool,
        release: Option<unsafe extern "C" fn(*mut c_void)>,
        user_data: *mut c_void,
    ) -> HostView {
        HostView { address: address.cast(), size, writable, release, user_data }
    }

    /// The first byte's address.
    pub fn address(&self) -> *const u8 {
        self.address
    }

    /// Whether a program may write its result there.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// The memory, for reading now.
    pub fn as_input(&self) -> HostInput<'_> {
        HostInput { address: self.address, size: self.size, lifetime: PhantomData }
    }

    /// Gives the memory back.
    pub fn release(self) {
        if let Some(release) = self.release {
            // SAFETY: the host gave this function for this pointer; `self` is
            // consumed, so it is called once.
            unsafe { release(self.user_data) };
        }
    }
}
