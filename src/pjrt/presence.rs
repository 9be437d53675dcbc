//! Notices when the plugin is no longer all there: in a fork of the process that
//! made the client, and while the process ends.
//!
//! A fork keeps only the thread that called it. The plugin's threads are gone in
//! the child, so most calls there hang or abort; the library refuses them instead.
//! A process that ends destroys the plugin's globals before it runs the exit
//! handlers that are older than the plugin. What those still call is refused, and
//! what they free is left to the end of the process.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::{Code, Error, Origin, Result};

static FORKED: AtomicBool = AtomicBool::new(false);
static ENDING: AtomicBool = AtomicBool::new(false);

/// How many clients this process made or is making.
static USES: AtomicUsize = AtomicUsize::new(0);

extern "C" fn in_child() {
    if USES.load(Ordering::Relaxed) > 0 {
        FORKED.store(true, Ordering::Relaxed);
    }
}

extern "C" fn at_exit() {
    ENDING.store(true, Ordering::Relaxed);
}

/// As long as this lives, or for ever once it was kept, children of this process are
/// refused: the plugin, or a thread that is making the client, is not all in them.
pub struct Use(());

/// Begins a use of the plugin that a fork would break.
pub fn use_in_this_process() -> Use {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler only uses atomics, which is allowed between fork and
        // exec; it stays mapped, since the library is never unmapped.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    USES.fetch_add(1, Ordering::Relaxed);
    Use(())
}

impl Use {
    /// The use never ends.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        USES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// From now on, the end of the process is noticed before what is now there of the
/// plugin is destroyed. To be called once after each step in which plugins make
/// globals; `once` is that step's own.
pub fn watch_end(once: &'static Once) {
    once.call_once(|| {
        // SAFETY: the handler only stores to an atomic, and stays mapped.
        unsafe { libc::atexit(at_exit) };
    });
}

/// Whether nothing of the plugin may be called any more.
#[inline]
pub fn is_gone() -> bool {
    FORKED.load(Ordering::Relaxed) || ENDING.load(Ordering::Relaxed)
}

/// An error when nothing of the plugin may be called any more.
#[inline]
pub fn check() -> Result<()> {
    if is_gone() { Err(gone()) } else { Ok(()) }
}

#[cold]
fn gone() -> Error {
    let refuse = |message: &str| Error::new(Code::FailedPrecondition, Origin::Caller, message);
    if FORKED.load(Ordering::Relaxed) {
        return refuse(
            "this process was forked after its runtime was created; the plugin's threads do not exist in it",
        )
        .hint("fork before the first use of the runtime, or start the child with exec");
    }
    refuse("this process is ending, and the plugin's own state is being destroyed")
        .hint("use the runtime before main returns, or in exit handlers registered after its first use")
}
