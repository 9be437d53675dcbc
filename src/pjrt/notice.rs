//! Tells the host that a step has ended, from whatever thread learns of it.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Api, presence, sys};

/// A function of the host, and what it is called with.
pub struct Callback {
    call: unsafe extern "C" fn(*mut c_void),
    user_data: *mut c_void,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
}

// SAFETY: the host promises that its functions may be called from any thread.
unsafe impl Send for Callback {}
// SAFETY: as above.
unsafe impl Sync for Callback {}

impl Callback {
    /// Calls `call` with `user_data`, and `free` with it at the end.
    ///
    /// # Safety
    /// Both may be called from any thread, `call` until `free` was called.
    pub unsafe fn from_raw(
        call: unsafe extern "C" fn(*mut c_void),
        user_data: *mut c_void,
        free: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> Callback {
        Callback { call, user_data, free }
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: the constructor's promise; nobody calls the function any more.
            unsafe { free(self.user_data) };
        }
    }
}

/// Calls the host when all parts of a step have ended.
pub struct Notice {
    api: &'static Api,
    callback: Callback,
    /// How many parts have not ended.
    left: AtomicUsize,
}

impl Notice {
    pub(super) fn new(api: &'static Api, callback: Callback) -> Notice {
        Notice { api, callback, left: AtomicUsize::new(0) }
    }

    /// A step begins, of so many parts.
    pub(super) fn expect(&self, parts: usize) {
        self.left.store(parts, Ordering::Release);
    }

    /// A part has ended; the last one calls the host.
    pub(super) fn one_ended(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 && !presence::is_gone() {
            // SAFETY: the promise of the callback's constructor.
            unsafe { (self.callback.call)(self.callback.user_data) };
        }
    }
}

/// What the plugin calls when a part has ended; `notice` is one that [`Arc::into_raw`] gave.
pub(super) unsafe extern "C" fn part_ended(error: *mut sys::PJRT_Error, notice: *mut c_void) {
    // SAFETY: the plugin calls this once, with the pointer that it was given.
    let notice = unsafe { Arc::from_raw(notice.cast::<Notice>().cast_const()) };
    // Whoever waits for the step gets the error.
    let _ = notice.api.check(error);
    notice.one_ended();
}
