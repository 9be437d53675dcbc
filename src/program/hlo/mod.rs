//! Programs in XLA's own form, HLO.

pub mod proto;
