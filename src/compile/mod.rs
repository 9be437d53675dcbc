//! What a plugin is told when it compiles, and what a compiled program tells.

pub mod cache;
pub mod identity;
pub mod options;
mod proto;
mod runnable;
pub mod saved;
pub mod signature;

pub use options::CompileOptions;
