//! What every function of the table does first and last.

use crate::errors::{self, Failure};
use crate::ledger;
use crate::sys::PJRT_Error;

/// Declares a function of the table: checks its struct, fails if the script says so,
/// runs the body, and makes an error object of what the body returns.
macro_rules! entry {
    ($name:ident($args:ident: $ty:ident) $body:block) => {
        pub unsafe extern "C" fn $name($args: *mut $ty) -> *mut $crate::sys::PJRT_Error {
            const NAMES: (&str, &str) = (stringify!($name), stringify!($ty));
            let body = |$args: &mut $ty| -> Result<(), $crate::errors::Failure> { $body };
            // SAFETY: the caller passes a struct of this type, or NULL.
            unsafe { $crate::entry::call(NAMES, $ty::STRUCT_SIZE, $args, body) }
        }
    };
}

/// Runs the body of the function `names.0`, which takes a struct `names.1`.
///
/// # Safety
///
/// `args` is NULL, or points at a `usize` that counts the bytes valid there.
pub unsafe fn call<Args>(
    names: (&'static str, &'static str),
    struct_size: usize,
    args: *mut Args,
    body: impl FnOnce(&mut Args) -> Result<(), Failure>,
) -> *mut PJRT_Error {
    let outcome = if args.is_null() {
        Err(ledger::misuse(format!("NULL as arguments of {}", names.0)))
    } else {
        // SAFETY: by contract the struct begins with its own size.
        let given = unsafe { args.cast::<usize>().read() };
        check_size(names.1, struct_size, given).and_then(|()| {
            let scripted = errors::scripted(names.0);
            // An object that outlived its destruction could not be destroyed again,
            // and a caller would wait in vain for the memory that it holds.
            if scripted.is_ok() || names.0.ends_with("_Destroy") {
                // SAFETY: the struct was just seen to be as large as the type, and is
                // the caller's alone during the call.
                body(unsafe { &mut *args })?;
            }
            scripted
        })
    };
    match outcome {
        Ok(()) => std::ptr::null_mut(),
        Err(failure) => failure.hand_out(),
    }
}

/// Refuses a struct smaller than `wanted`, in the words of real plugins.
pub fn check_size(name: &str, wanted: usize, given: usize) -> Result<(), Failure> {
    if given >= wanted {
        return Ok(());
    }
    Err(Failure::invalid(format!(
        "Unexpected {name} size: expected {wanted}, got {given}. The plugin is likely built \
         with a later version than the framework."
    )))
}
