//! What the Rust tests share.

// Each test program uses a part of it.
#![allow(dead_code, unused_imports)]

mod destinations;
mod exercise;
mod files;
mod plugins;
mod process;

pub use destinations::check_destinations;
pub use exercise::exercise;
pub use files::{Folder, native_library};
pub use plugins::{FakeCounts, add_on_real_plugin, fake_plugin, real_plugin, run_add};
pub use process::{Ended, Isolated, each_isolated, isolated};

/// The value of an environment variable that the tests cannot do without.
pub fn required(variable: &str) -> std::ffi::OsString {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set: run `cargo xtask test`"))
}
