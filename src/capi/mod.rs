//! The C ABI: the extern functions and nothing else.
//!
//! One file is one section of `include/cyxla.h`. Each function checks its
//! pointers, converts, calls the layer below, and catches panics. What C must
//! keep to (valid pointers, no use after free) is each function's contract in the
//! header; the SAFETY lines here name the part that they rely on.

#![allow(non_camel_case_types, reason = "the C names")]
#![allow(clippy::missing_safety_doc, reason = "the C contract is the doc")]

pub mod buffer;
pub mod bytes;
pub mod call;
pub mod dlpack;
pub mod dtype;
pub mod error;
pub mod executable;
pub mod executable_signature;
pub mod memory;
pub mod options;
pub mod plugins;
pub mod program;
pub mod program_signature;
pub mod run;
pub mod runtime;
pub mod saved;
pub mod version;

mod guard;
mod host_state;
mod pointer;
mod tensors;
