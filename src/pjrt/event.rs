//! The end of work that a plugin does on its own threads.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

use super::notice::{Step, part_ended};
use super::{Api, HostView, call, presence, sys};
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

    /// Counts a part of a step down once the event is ready: at once when it is, else later
    /// from a thread of the plugin.
    pub(super) fn notify_when_ready(&self, step: &Arc<Step>) -> Result<()> {
        let counting = Arc::into_raw(Arc::clone(step));
        let mut args = sys::PJRT_Event_OnReady_Args::new();
        args.event = self.raw;
        args.callback = Some(part_ended);
        args.user_arg = counting.cast_mut().cast();
        // SAFETY: the event is alive; the callback drops what it is given.
        let result = unsafe { call!(self.api, PJRT_Event_OnReady, &mut args) };
        if result.is_err() {
            // SAFETY: a refused callback is never called, so the reference is ours again.
            let step = unsafe { Arc::from_raw(counting) };
            step.one_ended();
        }
        result
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
    give_back(waiting.view);
}

/// Gives memory back that the plugin is done with: at once, or later if this thread holds
/// releases back.
pub(super) fn give_back(view: HostView) {
    if let Some(view) = hold_back(view) {
        view.release();
    }
}

/// Keeps `view` for later if this thread holds releases back, else returns it.
fn hold_back(view: HostView) -> Option<HostView> {
    let mut view = Some(view);
    // Fails at the very end of a thread, which then holds nothing back.
    let _ = HELD_BACK.try_with(|held| {
        if let Some(held) = &mut *held.borrow_mut() {
            held.extend(view.take());
        }
    });
    view
}

thread_local! {
    /// Memory that this thread gives back later; `None` when it does so at once.
    static HELD_BACK: RefCell<Option<Vec<HostView>>> = const { RefCell::new(None) };
}

/// While this lives, memory with which the plugin is done in this thread is not
/// given back to the host. The host's function may call the library, and would wait
/// for ever for a lock that the thread itself holds.
pub struct HoldReleases {
    outer: Option<Vec<HostView>>,
    stays_in_its_thread: PhantomData<*const ()>,
}

impl HoldReleases {
    /// From now on.
    pub fn begin() -> HoldReleases {
        // Fails at the very end of a thread, which then holds nothing back.
        let outer = HELD_BACK.try_with(|held| held.replace(Some(Vec::new()))).unwrap_or_default();
        HoldReleases { outer, stays_in_its_thread: PhantomData }
    }
}

impl Drop for HoldReleases {
    fn drop(&mut self) {
        let outer = self.outer.take();
        let is_inner = outer.is_some();
        let held = HELD_BACK.try_with(|held| held.replace(outer)).ok().flatten().unwrap_or_default();
        if is_inner {
            held.into_iter().filter_map(hold_back).for_each(HostView::release);
        } else {
            held.into_iter().for_each(HostView::release);
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if presence::is_gone() {
            return;
        }
        let mut args = sys::PJRT_Event_Destroy_Args::new();
        args.event = self.raw;
        // SAFETY: the event is alive and ours. A pending callback still fires.
        let _ = unsafe { call!(self.api, PJRT_Event_Destroy, &mut args) };
    }
}
