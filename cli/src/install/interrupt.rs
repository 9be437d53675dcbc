//! Ctrl-C and its kin: the install stops at the next block and cleans up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cyxla::error::{Code, Error, Origin, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether the user asked to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Starts to listen for the signals that ask a process to stop. A second
    /// one ends the process at once, for whoever does not want to wait.
    pub fn on_signals() -> Result<Interrupt> {
        let interrupt = Interrupt::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register_conditional_default(signal, Arc::clone(&interrupt.0))
                .and_then(|_| flag::register(signal, Arc::clone(&interrupt.0)))
                .map_err(|error| {
                    let message = format!("cannot listen for signals: {error}");
                    Error::new(Code::Internal, Origin::System, message)
                })?;
        }
        Ok(interrupt)
    }

    /// Whether a signal came.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error once a signal came.
    pub fn check(&self) -> Result<()> {
        if self.came() {
            let message = "interrupted; nothing was changed";
            return Err(Error::new(Code::Cancelled, Origin::Caller, message));
        }
        Ok(())
    }
}
