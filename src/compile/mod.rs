//! What a plugin is told when it compiles, and what a compiled program tells.

mod options;
mod proto;
mod runnable;
pub mod signature;

pub use options::CompileOptions;
