//! What every extern function runs in: panics and errors become error objects.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::error::cyxla_error;
use super::host_state::HostState;
use crate::error::{Error, Result};
use crate::thread;

thread_local! {
    /// How many guards this thread is in; the panic hook keeps silent inside one.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// What the hook saw of the last panic. Never outlives the guard.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs the body of a function that returns an error object: NULL, or what went
/// wrong with the function's name in it.
pub(super) fn guard(function: &'static str, body: impl FnOnce() -> Result<()>) -> *mut cyxla_error {
    let mut body = Some(body);
    guarded(function, &mut || body.take().map_or(Ok(()), |body| body()))
}

/// The same without a call in between, for what runs at each step.
#[inline(always)]
pub(super) fn guard_step(function: &'static str, body: impl FnOnce() -> Result<()>) -> *mut cyxla_error {
    let shield = HostState::shield();
    let outcome = caught(body);
    drop(shield);
    match outcome {
        Some(Ok(())) => std::ptr::null_mut(),
        Some(Err(error)) => into_raw(function, error),
        None => into_raw(function, fault()),
    }
}

/// Runs the body of a function that cannot fail; a panic gives `fallback`.
pub(super) fn value<T>(fallback: T, body: impl FnOnce() -> T) -> T {
    let (mut body, mut result) = (Some(body), None);
    let outcome = caught_apart(&mut || {
        result = body.take().map(|body| body());
        Ok(())
    });
    // A panic may have come after the result, in what the body dropped.
    result.filter(|_| outcome.is_some()).unwrap_or(fallback)
}

/// The same without a call in between, for what runs at each step.
#[inline(always)]
pub(super) fn value_step<T>(fallback: T, body: impl FnOnce() -> T) -> T {
    caught(body).unwrap_or(fallback)
}

/// In one place for all functions, whose code would else hold it a hundred times.
#[inline(never)]
fn guarded(function: &'static str, body: &mut dyn FnMut() -> Result<()>) -> *mut cyxla_error {
    guard_step(function, body)
}

#[inline(never)]
fn caught_apart(body: &mut dyn FnMut() -> Result<()>) -> Option<Result<()>> {
    caught(body)
}

/// What a panic said becomes an error.
#[cold]
fn fault() -> Error {
    let panic = PANIC.take().unwrap_or_else(|| "a panic without a message".into());
    Error::internal(format!("libcyxla has a fault: {panic}"))
        .hint("please report this with the program that led to it")
}

#[cold]
fn into_raw(function: &'static str, error: Error) -> *mut cyxla_error {
    cyxla_error::into_raw(error.with("function", function))
}

/// What the body gives; `None` if it panics, with what was said in `PANIC`.
#[inline(always)]
fn caught<T>(body: impl FnOnce() -> T) -> Option<T> {
    if !HOOK.is_completed() {
        install_hook();
    }
    let depth = DEPTH.with(std::ptr::from_ref);
    // SAFETY: what has no destructor lives as long as the thread, which is this one.
    let depth = unsafe { &*depth };
    depth.set(depth.get() + 1);
    // What the body captured is not looked at again after a panic, apart from state
    // behind locks, which is left as a lock leaves it.
    let outcome = catch_unwind(AssertUnwindSafe(body));
    depth.set(depth.get() - 1);
    match outcome {
        Ok(result) => Some(result),
        Err(payload) => {
            // Whatever its drop may do, the payload must not take the process down.
            std::mem::forget::<Box<dyn Any + Send>>(payload);
            None
        }
    }
}

static HOOK: Once = Once::new();

#[cold]
fn install_hook() {
    // A thread that panics already may not change the hook.
    if std::thread::panicking() {
        return;
    }
    HOOK.call_once(|| {
        // The host's stderr is not ours. A Rust host shares this hook; its own
        // panics go to its own hook.
        let others = take_hook();
        set_hook(Box::new(move |info| {
            if std::thread::current().name() == Some(thread::NAME) {
                return; // whoever waits for the library's thread gets the panic
            }
            if DEPTH.get() == 0 {
                return others(info);
            }
            PANIC.set(Some(info.to_string().replace('\n', " ")));
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let raw = guard("cyxla_test", || panic!("value was {}", 7));
        assert!(!raw.is_null());
        // SAFETY: just made by `guard`.
        let error = unsafe { Box::from_raw(raw) };
        let message = error.message.to_str().unwrap();
        assert!(message.contains("value was 7") && message.contains("guard.rs"), "{message}");
        assert_eq!(value(5, || panic!("again")), 5);
        assert_eq!(value(5, || 6), 6);
        assert!(guard("cyxla_test", || Ok(())).is_null());
    }
}
