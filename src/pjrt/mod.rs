//! The PJRT C ABI: declarations in [`sys`], and over each call a thin layer that
//! is safe to use.
//!
//! One wrapper type stands for each kind of plugin object and destroys it once.
//! Every function slot is checked before it is called, so a plugin that is too
//! old for a call gives an error that names the function.

pub mod sys;

mod api;
mod attribute;
mod bound;
mod buffer;
mod client;
mod compiled;
mod device;
pub mod dlpack;
mod event;
mod executable;
mod host;
mod host_target;
mod memory;
mod notice;
mod own_memory;
pub mod presence;
mod strided;

pub use api::Api;
pub use attribute::Attribute;
pub use bound::Bound;
pub use buffer::{BorrowedBuffer, Buffer, BufferRef, Layout};
pub use client::{ArraySpec, Client, VIEW_ALIGNMENT};
pub use compiled::{Executable, MemoryUse, Shape};
pub use device::Device;
pub use event::{Event, HoldReleases};
pub use executable::{Events, INLINE, LoadedExecutable, Results};
pub use host::{HostInput, HostOutput, HostView};
pub use host_target::HostTarget;
pub use memory::Memory;
pub use notice::{Callback, Notice};
pub use own_memory::OwnMemory;
pub use strided::HostStrided;

/// Calls a function of the plugin's table: its error, or an error that names the
/// function when the plugin has none.
///
/// Use inside `unsafe`: the argument struct must be the slot's own type (the
/// compiler checks that), its handles alive and its pointers valid.
macro_rules! call {
    ($api:expr, $slot:ident, $args:expr) => {{
        let api: &'static $crate::pjrt::Api = $api;
        match api.table().$slot {
            Some(function) => api.check(function($args)),
            None => Err(api.missing(stringify!($slot))),
        }
    }};
}
pub(crate) use call;

/// Text that a plugin owns, as a string of ours; bytes that are no UTF-8 are
/// replaced. NULL reads as empty.
///
/// # Safety
/// `text` is NULL or points at `size` readable bytes.
unsafe fn owned_text(text: *const std::ffi::c_char, size: usize) -> String {
    if text.is_null() || size == 0 {
        return String::new();
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), size) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// A list that a plugin owns. NULL reads as empty, whatever the count says.
///
/// # Safety
/// `items` is NULL or points at `count` readable items that outlive `'a`.
unsafe fn list<'a, T>(items: *const T, count: usize) -> &'a [T] {
    if items.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(items, count) }
}
