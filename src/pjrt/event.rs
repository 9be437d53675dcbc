//! The end of work that a plugin does on its own threads.

use super::{Api, HostView, call, fork, sys};
use crate::error::Result;

/// An event of the plugin.
pub struct Event {
    api: &'static Api,
    raw: *mut sys::PJRT_Event,
}

// SAFETY: PJRT events may be used and destroyed from any thread.
unsafe impl Send for Event {}

impl Event {
    /// Takes an event over; `None` for NULL, which plugins give when there is
    /// nothing to wait for.
    ///
    /// # Safety
    /// `raw` is NULL or an event of this plugin that nobody else destroys.
    pub(super) unsafe fn from_raw(api: &'static Api, raw: *mut sys::PJRT_Event) -> Option<Event> {
        if raw.is_null() { None } else { Some(Event { api, raw }) }
    }

    /// Whether the work is done by now.
    pub fn is_ready(&self) -> Result<bool> {
        let mut args = sys::PJRT_Event_IsReady_Args::new();
        args.event = self.raw;
        // SAFETY: the event is alive.
        unsafe { call!(self.api, PJRT_Event_IsReady, &mut args) }?;
        Ok(args.is_ready != 0)
    }

    /// Blocks until the work is done, and gives its error.
    pub fn wait(&self) -> Result<()> {
        let mut args = sys::PJRT_Event_Await_Args::new();
        args.event = self.raw;
        // SAFETY: the event is alive.
        unsafe { call!(self.api, PJRT_Event_Await, &mut args) }
    }

    /// Gives `view` back once the event is ready: at once when it is, else later
    /// from a thread of the plugin.
    pub fn release_when_ready(&self, view: HostView) -> Result<()> {
        let waiting = Box::into_raw(Box::new(Waiting { api: self.api, view }));
        let mut args = sys::PJRT_Event_OnReady_Args::new();
        args.event = self.raw;
        args.callback = Some(release);
        args.user_arg = waiting.cast();
        // SAFETY: the event is alive; the callback frees what it is given.
        let result = unsafe { call!(self.api, PJRT_Event_OnReady, &mut args) };
        if result.is_err() {
            // SAFETY: a refused callback is never called, so the box is ours again.
            drop(unsafe { Box::from_raw(waiting) });
        }
        result
    }
}

struct Waiting {
    api: &'static Api,
    view: HostView,
}

unsafe extern "C" fn release(error: *mut sys::PJRT_Error, waiting: *mut std::ffi::c_void) {
    // SAFETY: the plugin calls this once, with the pointer that it was given.
    let waiting = unsafe { Box::from_raw(waiting.cast::<Waiting>()) };
    // Also after a failed transfer the memory is the host's again; the failure
    // itself reaches whoever uses the buffer.
    let _ = waiting.api.check(error);
    waiting.view.release();
}

impl Drop for Event {
    fn drop(&mut self) {
        if fork::is_child() {
            return;
        }
        let mut args = sys::PJRT_Event_Destroy_Args::new();
        args.event = self.raw;
        // SAFETY: the event is alive and ours. A pending callback still fires.
        let _ = unsafe { call!(self.api, PJRT_Event_Destroy, &mut args) };
    }
}
