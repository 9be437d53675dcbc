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

/// What calls the host after each step of a call.
pub struct Notice {
    api: &'static Api,
    callback: Arc<Callback>,
    /// Steps that were told the plugin. It may learn of an end after the host has waited
    /// for it and started the next step, so each step has a count of its own; one that the
    /// plugin is done with is used again.
    steps: Vec<Arc<Step>>,
}

/// Plugins were seen to be a step or two behind the host.
const AT_ONCE: usize = 8;

/// A step that the plugin says the end of.
pub(super) struct Step {
    api: &'static Api,
    callback: Arc<Callback>,
    /// How many parts have not ended.
    left: AtomicUsize,
}

impl Notice {
    pub(super) fn new(api: &'static Api, callback: Callback) -> Notice {
        let mut notice = Notice { api, callback: Arc::new(callback), steps: Vec::with_capacity(AT_ONCE) };
        // Made beforehand, so that steps allocate nothing.
        (0..AT_ONCE).for_each(|_| drop(notice.add(0)));
        notice
    }

    /// A step of so many parts.
    pub(super) fn step(&mut self, parts: usize) -> Arc<Step> {
        for step in &mut self.steps {
            if let Some(idle) = Arc::get_mut(step) {
                *idle.left.get_mut() = parts;
                return Arc::clone(step);
            }
        }
        self.add(parts)
    }

    fn add(&mut self, parts: usize) -> Arc<Step> {
        let (api, callback) = (self.api, Arc::clone(&self.callback));
        let step = Arc::new(Step { api, callback, left: AtomicUsize::new(parts) });
        self.steps.push(Arc::clone(&step));
        step
    }
}

impl Step {
    /// A part has ended; the last one calls the host.
    pub(super) fn one_ended(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 && !presence::is_gone() {
            // SAFETY: the promise of the callback's constructor.
            unsafe { (self.callback.call)(self.callback.user_data) };
        }
    }
}

/// What the plugin calls when a part has ended; `step` is one that [`Arc::into_raw`] gave.
pub(super) unsafe extern "C" fn part_ended(error: *mut sys::PJRT_Error, step: *mut c_void) {
    // SAFETY: the plugin calls this once, with the pointer that it was given.
    let step = unsafe { Arc::from_raw(step.cast::<Step>().cast_const()) };
    // Whoever waits for the step gets the error.
    let _ = step.api.check(error);
    step.one_ended();
}
