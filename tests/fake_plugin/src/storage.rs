//! Device memory, which here is host memory: the plugin's own or the caller's.

use crate::events::Work;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::c_void;
use std::sync::Arc;

/// What real plugins align their memory to, and ask of memory that they share.
pub const ALIGNMENT: usize = 64;

/// The memory of one or more buffers.
pub struct Storage {
    data: *mut u8,
    size: usize,
    owner: Owner,
}

enum Owner {
    Plugin(Layout),
    /// The caller's memory; the work ends when the plugin is done with it.
    Caller {
        writable: bool,
        released: Arc<Work>,
    },
    /// Memory of a device that another library made.
    Foreign {
        on_delete: OnDelete,
        argument: *mut c_void,
    },
}

/// Hears that the plugin is done with memory.
pub type OnDelete = unsafe extern "C" fn(memory: *mut c_void, argument: *mut c_void);

// SAFETY: the memory is reached through raw pointers only, by executions that wait for
// one another through events.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

impl Storage {
    /// New memory, zeroed.
    pub fn new(size: usize) -> Arc<Self> {
        let layout = Layout::from_size_align(size.max(1), ALIGNMENT).expect("the size is sound");
        // SAFETY: the layout's size is not zero.
        let data = unsafe { alloc_zeroed(layout) };
        if data.is_null() {
            handle_alloc_error(layout);
        }
        Arc::new(Self { data, size, owner: Owner::Plugin(layout) })
    }

    /// The caller's memory, until `released` ends.
    pub fn borrow(data: *mut u8, size: usize, writable: bool, released: Arc<Work>) -> Arc<Self> {
        Arc::new(Self { data, size, owner: Owner::Caller { writable, released } })
    }

    /// Another library's memory, until the function is called.
    pub fn foreign(data: *mut u8, size: usize, on_delete: OnDelete, argument: *mut c_void) -> Arc<Self> {
        Arc::new(Self { data, size, owner: Owner::Foreign { on_delete, argument } })
    }

    pub fn data(&self) -> *mut u8 {
        self.data
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether a result may be stored here once the buffer was donated.
    pub fn reusable(&self) -> bool {
        match self.owner {
            Owner::Plugin(_) => true,
            Owner::Caller { writable, .. } => writable,
            Owner::Foreign { .. } => false,
        }
    }

    /// A copy of what is stored.
    pub fn read(&self) -> Vec<u8> {
        // SAFETY: the memory is valid for its size, and readers wait for writers.
        unsafe { std::slice::from_raw_parts(self.data, self.size) }.to_vec()
    }

    /// Stores `bytes`, as many as fit.
    pub fn write(&self, bytes: &[u8]) {
        let count = bytes.len().min(self.size);
        // SAFETY: both are valid for `count` bytes, and `bytes` is not device memory.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.data, count) };
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        match &self.owner {
            // SAFETY: the memory was allocated with this layout.
            Owner::Plugin(layout) => unsafe { dealloc(self.data, *layout) },
            Owner::Caller { released, .. } => released.end(Ok(())),
            // SAFETY: whoever made the view gave the function and its argument for this.
            Owner::Foreign { on_delete, argument } => unsafe { on_delete(self.data.cast(), *argument) },
        }
    }
}
