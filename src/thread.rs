//! Runs what needs a lot of stack where there is a lot.
//!
//! Plugins compile by deep recursion and need up to a few megabytes of stack, while
//! threads of hosts may have 64 KiB. The main thread has enough as a rule: work stays
//! there, since a thread of the library costs milliseconds at the start of a process,
//! for its heap grows page by page.

use std::any::Any;

use crate::env;
use crate::error::{Code, Error, Origin, Result};

/// Four times what plugins were seen to need for the deepest text that is let through.
const STACK_SIZE: usize = 16 << 20;
/// A stack without a limit is taken to be so large; what lies further away is another.
const LARGEST: usize = 64 << 20;
/// Half as much again as plugins were seen to need.
const ENOUGH: usize = 6 << 20;
/// By this name the panic hook knows the library's own threads.
pub const NAME: &str = "cyxla";

/// Runs `work` here if the stack is large enough, else in a thread of its own, and
/// waits for it.
pub fn with_stack<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if room_on_main_stack().is_some_and(|room| room >= ENOUGH) {
        return work();
    }
    in_own_thread(work)
}

/// How much the stack may still grow; `None` unless this is the stack of the main thread.
fn room_on_main_stack() -> Option<usize> {
    if rustix::thread::gettid() != rustix::process::getpid() {
        return None;
    }
    // Code that runs on a stack of its own, such as a coroutine, is further away than the
    // stack is large.
    let end = env::end_of_main_stack()?;
    let here = std::ptr::from_ref(&end).addr();
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    let limit = limit.map_or(LARGEST, |limit| usize::try_from(limit).unwrap_or(LARGEST));
    limit.min(LARGEST).checked_sub(end.checked_sub(here)?)
}

/// Runs `work` in a thread of its own, which has a lot of stack, and waits for it.
pub fn in_own_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let (mut work, mut outcome) = (Some(work), None);
    start_and_wait(&mut || outcome = work.take().map(|work| work()))?;
    outcome.unwrap_or_else(|| Err(fault(&"a thread did not do its work")))
}

/// In one place for all that is done so, since a thread's start is a lot of code.
#[inline(never)]
fn start_and_wait(work: &mut (dyn FnMut() + Send)) -> Result<()> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name(NAME.to_owned()).stack_size(STACK_SIZE);
        let thread = builder.spawn_scoped(scope, work).map_err(|error| {
            let message = format!("a thread for the plugin could not be started: {error}");
            Error::new(Code::ResourceExhausted, Origin::System, message)
                .hint("raise the limit on threads or on memory of this process")
        })?;
        thread.join().map_err(|panic| fault(&*panic))
    })
}

fn fault(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    Error::internal(format!("libcyxla has a fault: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_errors_and_panics_come_back() {
        assert_eq!(with_stack(|| Ok(7)).unwrap(), 7);
        let error = with_stack::<()>(|| Err(Error::invalid_argument("no"))).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        let error = in_own_thread::<()>(|| panic!("value was {}", 7)).unwrap_err();
        assert!(error.message().contains("value was 7"), "{error}");
    }

    #[test]
    fn only_the_main_thread_has_the_main_stack() {
        // Tests run in threads of their own.
        assert_eq!(room_on_main_stack(), None);
    }

    #[test]
    fn there_is_a_lot_of_stack() {
        let deep = || {
            let room = std::hint::black_box([0u8; 4 << 20]);
            Ok(room[room.len() - 1])
        };
        let small = std::thread::Builder::new().stack_size(64 << 10);
        let outcome = small.spawn(move || with_stack(deep)).unwrap().join().unwrap();
        assert_eq!(outcome.unwrap(), 0);
    }
}
