//! Bounds how deep attributes and types nest, and how large they are written out.
//!
//! Plugins read and convert them by recursion: a cycle never ends, a deep one
//! overflows the stack, and one whose parts share parts can grow beyond memory.

use super::damaged;
use super::entries::Entries;
use crate::error::{Error, Result};

/// Nobody writes more than a few levels.
const DEEPEST: u32 = 256;
/// The location of an operation is a chain as long as the writer's stack of calls.
const DEEPEST_LOCATION: u32 = 1024;
/// How many parts an attribute or a type may have, counted as often as they are used.
const MOST_PARTS: u32 = 1 << 24;

/// Whether plugins can follow all references between attributes and types.
pub fn check_nesting(entries: &Entries) -> Result<()> {
    let length = entries.len();
    let all = || 0..length as u32;
    let mut users = vec![0u32; length];
    for index in all() {
        entries.references(index).iter().for_each(|&target| users[target as usize] += 1);
    }
    let mut order: Vec<u32> = all().filter(|&index| users[index as usize] == 0).collect();
    let mut depth = vec![0u32; length];
    let mut next = 0;
    while let Some(&index) = order.get(next) {
        next += 1;
        for &target in entries.references(index) {
            // What a location holds is no longer part of the chain.
            let is_leaf = entries.is_location(index) && !entries.is_location(target);
            let below = if is_leaf { 1 } else { depth[index as usize] + 1 };
            let (target, is_location) = (target as usize, entries.is_location(target));
            depth[target] = depth[target].max(below);
            if depth[target] > if is_location { DEEPEST_LOCATION } else { DEEPEST } {
                return Err(too_deep());
            }
            users[target] -= 1;
            if users[target] == 0 {
                order.push(target as u32);
            }
        }
    }
    if next < length {
        return Err(damaged("attributes or types that contain themselves"));
    }
    let mut parts = vec![1u32; length];
    for &index in order.iter().rev() {
        let below = entries.references(index).iter().map(|&target| parts[target as usize]);
        parts[index as usize] = below.fold(1, u32::saturating_add);
        if parts[index as usize] > MOST_PARTS {
            return Err(Error::invalid_argument(format!(
                "the program has an attribute or a type of more than {MOST_PARTS} parts"
            )));
        }
    }
    Ok(())
}

fn too_deep() -> Error {
    Error::invalid_argument(format!(
        "the program's attributes or types nest more than {DEEPEST} deep; plugins can parse {DEEPEST}"
    ))
}
