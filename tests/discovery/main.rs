//! Finding plugins: environments of every shape, what is broken in them, and which
//! plugin is taken.

#[path = "../support/mod.rs"]
mod support;

mod broken;
mod builder;
mod entry_points;
mod environments;
mod limits;
mod process;
mod sources;
mod wheels;
