//! A PJRT plugin that works or misbehaves as a test asks.

#[path = "../../../src/pjrt/sys/mod.rs"]
#[allow(dead_code, unused_imports)]
mod sys;
