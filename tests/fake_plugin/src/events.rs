//! Events: work that ends now or later, well or badly.

use crate::errors::Failure;
use crate::ledger::{self, Object};
use crate::sys::*;
use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

type Outcome = Result<(), Failure>;

/// Who wants to hear of the end.
struct Listener {
    callback: unsafe extern "C" fn(*mut PJRT_Error, *mut c_void),
    user_arg: *mut c_void,
}

// SAFETY: PJRT lets a plugin call a listener from any of its threads.
unsafe impl Send for Listener {}

#[derive(Default)]
struct State {
    outcome: Option<Outcome>,
    listeners: Vec<Listener>,
}

/// The work itself. Several event objects may speak of the same one.
#[derive(Default)]
pub struct Work {
    state: Mutex<State>,
    ended: Condvar,
}

impl Work {
    /// Work that has ended well already.
    pub fn done() -> Arc<Self> {
        let work = Arc::new(Self::default());
        work.end(Ok(()));
        work
    }

    /// Ends the work; only the first end counts.
    pub fn end(&self, outcome: Outcome) {
        let mut state = self.lock();
        if state.outcome.is_some() {
            return;
        }
        state.outcome = Some(outcome.clone());
        let listeners = std::mem::take(&mut state.listeners);
        drop(state);
        self.ended.notify_all();
        for listener in listeners {
            listener.tell(&outcome);
        }
    }

    /// The outcome, or `None` while the work goes on.
    pub fn outcome(&self) -> Option<Outcome> {
        self.lock().outcome.clone()
    }

    /// Waits for the end.
    pub fn wait(&self) -> Outcome {
        let mut state = self.lock();
        loop {
            match &state.outcome {
                Some(outcome) => return outcome.clone(),
                None => {
                    state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// An event object for this work.
    pub fn event(self: &Arc<Self>) -> *mut PJRT_Event {
        ledger::hand_out(Arc::new(Event(self.clone())))
    }

    fn listen(&self, listener: Listener) {
        let mut state = self.lock();
        match state.outcome.clone() {
            Some(outcome) => {
                drop(state);
                listener.tell(&outcome);
            }
            None => state.listeners.push(listener),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    fn tell(&self, outcome: &Outcome) {
        let error = match outcome {
            Ok(()) => std::ptr::null_mut(),
            Err(failure) => failure.clone().hand_out(),
        };
        // SAFETY: whoever gave the callback promised that it may be called once
        // with an error that becomes its own.
        unsafe { (self.callback)(error, self.user_arg) }
    }
}

struct Event(Arc<Work>);

impl Object for Event {
    const KIND: &'static str = "event";
}

entry! { PJRT_Event_Destroy(args: PJRT_Event_Destroy_Args) {
    ledger::destroy::<Event, _>(args.event).map(drop)
}}

entry! { PJRT_Event_IsReady(args: PJRT_Event_IsReady_Args) {
    let event = ledger::find::<Event, _>(args.event)?;
    args.is_ready = u8::from(event.0.outcome().is_some());
    Ok(())
}}

entry! { PJRT_Event_Error(args: PJRT_Event_Error_Args) {
    let event = ledger::find::<Event, _>(args.event)?;
    match event.0.outcome() {
        Some(outcome) => outcome,
        None => Err(ledger::misuse("an event that is not ready".to_owned())),
    }
}}

entry! { PJRT_Event_Await(args: PJRT_Event_Await_Args) {
    ledger::find::<Event, _>(args.event)?.0.wait()
}}

entry! { PJRT_Event_OnReady(args: PJRT_Event_OnReady_Args) {
    let event = ledger::find::<Event, _>(args.event)?;
    let Some(callback) = args.callback else {
        return Err(ledger::misuse("NULL as callback of PJRT_Event_OnReady".to_owned()));
    };
    event.0.listen(Listener { callback, user_arg: args.user_arg });
    Ok(())
}}
