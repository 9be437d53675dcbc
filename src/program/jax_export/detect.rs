//! Tells files of `jax.export` from other files.

use super::flat::{Field, Flat, Table};
use super::values::{INPUTS, OUTPUTS};
use super::{
    BYTECODE, CALLING_CONVENTION_VERSION, FUNCTION_NAME, MLIR_MODULE_SERIALIZED, MODULE_KEPT_VAR_IDX,
    PLATFORMS, SERIALIZATION_VERSION,
};
use crate::error::Result;

/// Whether the bytes look like a file of `jax.export`.
///
/// FlatBuffers do not say what they hold. This asks for the fields that every export
/// has, and for the program where they say that it is. An export that was cut short
/// still looks like one, so that the error can say what happened to it.
pub fn looks_like_one(bytes: &[u8]) -> bool {
    let flat = Flat::new(bytes);
    flat.root().is_ok_and(|root| is_one(root, bytes).unwrap_or(false))
}

fn is_one(root: Table<'_>, bytes: &[u8]) -> Result<bool> {
    // Whether a field is there and leads to something good, or past a cut.
    let leads_to = |field: Field, is_good: &dyn Fn(usize) -> bool| {
        Ok(root
            .target(field)?
            .is_some_and(|target| target.saturating_add(8) > bytes.len() || is_good(target)))
    };
    let length = |at: usize| bytes[at..].first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    let is_short = |at: usize| length(at) < 1 << 16;
    let is_bytecode = |at: usize| length(at) > 4 && bytes[at + 4..].starts_with(BYTECODE);
    Ok(root.u16(SERIALIZATION_VERSION)? > 0
        && root.u16(CALLING_CONVENTION_VERSION)? > 0
        && leads_to(MLIR_MODULE_SERIALIZED, &is_bytecode)?
        && leads_to(PLATFORMS, &|at| length(at) > 0 && is_short(at))?
        && leads_to(FUNCTION_NAME, &is_short)?
        && leads_to(MODULE_KEPT_VAR_IDX, &|at| length(at) <= 1 << 16)?
        && leads_to(INPUTS.tree, &|_| true)?
        && leads_to(OUTPUTS.tree, &|_| true)?)
}
