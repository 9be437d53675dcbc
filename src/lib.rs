//! libcyxla runs XLA programs on any hardware that has a PJRT plugin.
//!
//! The product is the C ABI in [`capi`], published as `include/cyxla.h`; the
//! other modules are its layers, each calling only those below it:
//!
//! | layer | job |
//! |---|---|
//! | [`capi`] | the extern functions: check pointers, convert, call, catch panics |
//! | [`runtime`] | the process's one runtime, its executables and buffers |
//! | [`compile`] | what a plugin is told and what a compiled program tells |
//! | [`program`] | what a program file says; needs no plugin |
//! | [`discover`] | where plugins come from; opens no library |
//! | [`plugin`] | loads a plugin's library for good and negotiates its version |
//! | [`pjrt`] | the PJRT C ABI: declarations and a thin safe layer over each call |
//!
//! The Rust items are the library's own inside and promise no stability; the
//! C ABI does.

pub mod capi;
pub mod compile;
pub mod discover;
pub mod dtype;
pub mod env;
pub mod error;
pub mod memory;
pub mod options;
pub mod order;
pub mod pjrt;
pub mod platform;
pub mod plugin;
pub mod program;
pub mod runtime;
pub mod thread;
