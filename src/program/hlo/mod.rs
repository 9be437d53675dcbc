//! Programs in XLA's own form, HLO.

pub(crate) mod proto;
