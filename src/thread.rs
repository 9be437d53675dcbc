//! Runs what needs a lot of stack in a thread of the library.
//!
//! Plugins compile by deep recursion and need up to a few megabytes of stack, while
//! threads of hosts may have 64 KiB.

use std::any::Any;

use crate::error::{Code, Error, Origin, Result};

/// Four times what plugins were seen to need for the deepest text that is let through.
const STACK_SIZE: usize = 16 << 20;
/// By this name the panic hook knows the library's own threads.
pub const NAME: &str = "cyxla";

/// Runs `work` in a thread of its own and waits for it.
pub fn with_stack<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name(NAME.to_owned()).stack_size(STACK_SIZE);
        let thread = builder.spawn_scoped(scope, work).map_err(|error| {
            let message = format!("a thread for the plugin could not be started: {error}");
            Error::new(Code::ResourceExhausted, Origin::System, message)
                .hint("raise the limit on threads or on memory of this process")
        })?;
        thread.join().unwrap_or_else(|panic| Err(fault(&*panic)))
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
        let error = with_stack::<()>(|| panic!("value was {}", 7)).unwrap_err();
        assert!(error.message().contains("value was 7"), "{error}");
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
