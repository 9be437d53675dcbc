//! The PJRT C ABI, declared in Rust.
//!
//! Names of types and fields are those of the published header, so that a
//! reader can look them up there; a test runs bindgen on that header and compares
//! every size and offset below with it. Only what this library calls is declared,
//! except for the function table, whose slots are found by position and which is
//! therefore complete up to PJRT 0.114.
//!
//! Three rules hold for everything here:
//!
//! * An enumeration of the header is an integer with constants: a plugin newer
//!   than this file may send a number that has no name here.
//! * A C `bool` that a plugin writes is a `u8`, since reading any other bit
//!   pattern than 0 or 1 as a Rust `bool` would be undefined.
//! * A struct is made by its `new()`, which zeroes it: a plugin older than this
//!   file leaves the fields that it does not know as they were.
//!
//! The module uses nothing of this crate, because the fake plugin of the tests
//! includes it as well.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
// The names are the header's own; it is their documentation.
#![allow(missing_docs)]

#[macro_use]
mod layout;

mod api;
mod buffer;
mod client;
mod device;
mod error;
mod event;
mod executable;
mod plugin;
mod shardings;

pub use api::*;
pub use buffer::*;
pub use client::*;
pub use device::*;
pub use error::*;
pub use event::*;
pub use executable::*;
pub use layout::{Field, Layout};
pub use plugin::*;
pub use shardings::*;

/// The layout of every struct declared in this module.
pub fn all_layouts() -> Vec<Layout> {
    [
        api::LAYOUTS,
        buffer::LAYOUTS,
        client::LAYOUTS,
        device::LAYOUTS,
        error::LAYOUTS,
        event::LAYOUTS,
        executable::LAYOUTS,
        plugin::LAYOUTS,
    ]
    .concat()
}

/// Name and value of every constant declared in this module.
pub fn all_constants() -> Vec<(&'static str, i64)> {
    [buffer::CONSTANTS, error::CONSTANTS, plugin::CONSTANTS].concat()
}
