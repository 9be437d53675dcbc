//! DLPack: arrays that libraries lend each other, by a pointer to a struct of a published
//! layout.
//!
//! [`abi`] declares the structs. An [`Incoming`] is another library's array, an
//! [`Outgoing`] one of ours; whoever borrows an array ends it by its deleter.

pub mod abi;
mod bits;
mod device;
mod incoming;
mod outgoing;
mod types;

pub use incoming::{Incoming, Place};
pub use outgoing::{Held, Outgoing};
pub use types::{impossible, unknown};
