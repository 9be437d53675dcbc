//! Finds the module of HLO in a file.

use std::ops::Range;

use super::module::read_counts;
use super::wire::{Content, Fields};

/// Messages that may stand around a module: `HloSnapshot` holds an `HloProto`, which
/// holds the module.
const MOST_AROUND: usize = 2;

/// Where a module is.
#[derive(Debug)]
pub struct Place {
    /// Its bytes.
    pub range: Range<usize>,
    /// For how many replicas and partitions the message around it is, if it says so.
    pub devices: Option<(i64, i64)>,
}

/// Whether the bytes begin as an HLO proto does; whether they are a whole one is only
/// known once they are read.
pub fn looks_like_one(bytes: &[u8]) -> bool {
    module(bytes).is_some()
}

/// The module in a file: all of it, or the first field of what is around it. May end
/// beyond what there is of a file that was cut off.
pub fn module(bytes: &[u8]) -> Option<Place> {
    let mut range = 0..bytes.len();
    let mut devices = None;
    for _ in 0..=MOST_AROUND {
        let inside = &bytes[range.clone()];
        if begins_as_module(inside) {
            return Some(Place { range, devices });
        }
        let mut fields = Fields::of_beginning(inside);
        let (1, Content::Bytes(content)) = fields.next().ok()?? else { return None };
        // The configuration beside a module says for how many devices it is.
        if let Ok(Some((2, Content::Bytes(config)))) = fields.next() {
            devices = read_counts(config, 4, 5).ok();
        }
        let start = content.as_ptr().addr() - bytes.as_ptr().addr();
        range = start..start + content.len();
    }
    None
}

/// Whether the first fields are a name and a computation, as all writers order them.
fn begins_as_module(bytes: &[u8]) -> bool {
    let mut fields = Fields::of_beginning(bytes);
    let mut has_name = false;
    while let Ok(Some((number, content))) = fields.next() {
        match (number, content) {
            (1 | 2, content) => match content.text() {
                Ok(text) if !text.contains(char::is_control) => has_name = true,
                _ => return false,
            },
            (3, Content::Bytes(computation)) => return has_name && begins_as_computation(computation),
            _ => return false,
        }
    }
    false
}

/// Whether the first fields are a name and an instruction, of which the first are a
/// name and what it does.
fn begins_as_computation(bytes: &[u8]) -> bool {
    let opcode = after_name(bytes).and_then(after_name);
    let is_letter = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    opcode.is_some_and(|opcode| !opcode.is_empty() && opcode.iter().all(is_letter))
}

/// The second field of a message whose first is a name.
fn after_name(bytes: &[u8]) -> Option<&[u8]> {
    let mut fields = Fields::of_beginning(bytes);
    let (1, Content::Bytes(_)) = fields.next().ok()?? else { return None };
    let (2, Content::Bytes(content)) = fields.next().ok()?? else { return None };
    Some(content)
}
