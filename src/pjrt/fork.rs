//! Notices that this process is a fork of the one that made the client.
//!
//! A fork keeps only the thread that called it. The plugin's threads are gone in
//! the child, so most calls there hang or abort; the library refuses them instead.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Code, Error, Origin, Result};

static FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
}

/// From now on, children of this process are noticed. To be called before the
/// first client is made.
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler only stores to an atomic, which is allowed between
        // fork and exec; it stays mapped, since the library is never unmapped.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}

/// Whether this process is such a child.
pub fn is_child() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// An error in such a child.
pub fn check() -> Result<()> {
    if !is_child() {
        return Ok(());
    }
    let message =
        "this process was forked after its runtime was created; the plugin's threads do not exist in it";
    Err(Error::new(Code::FailedPrecondition, Origin::Caller, message)
        .hint("fork before the first use of the runtime, or start the child with exec"))
}
