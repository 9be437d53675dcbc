//! Keeps a cache within its size.
//!
//! To know a cache's size takes looking at every entry, so that is done now and then:
//! each process that puts something in adds its size to the length of a file, and
//! whoever finds that file too long looks. One byte of it stands for a block.

use std::io;
use std::time::{Duration, SystemTime};

use super::folder::{Folder, UNFINISHED};
use super::{ENTRY, PLUGIN, is_entry, is_hash_and};
use crate::order;

const COUNTER: &str = "written";
const BLOCK: u64 = 64 << 10;
/// What was left unfinished for so long was left by a process that is no more.
const DEAD: Duration = Duration::from_secs(3600);
/// How often to look when the size gives no reason to.
const EVERY: Duration = Duration::from_secs(24 * 3600);
/// A plugin that is still there is identified again after this.
const OLD: Duration = Duration::from_secs(90 * 24 * 3600);

/// Whether libcyxla may remove a file of this name.
pub fn is_ours(name: &str) -> bool {
    is_hash_and(name, ENTRY) || is_hash_and(name, PLUGIN) || name.starts_with(UNFINISHED) || name == COUNTER
}

/// Counts what has been put in, and looks if that may be too much.
pub fn after_put(folder: &Folder, size: u64, most: u64) -> io::Result<()> {
    // An entry has passed its own check against `most`, and is no larger.
    let blocks = vec![0; usize::try_from(size.div_ceil(BLOCK)).unwrap_or(usize::MAX >> 1)];
    let (before, after) = folder.append(COUNTER, &blocks)?;
    let is_due = |last: Duration| before == 0 || after.saturating_mul(BLOCK) > most || last > EVERY;
    folder.alone(is_due, || {
        let left = sweep(folder, most)?;
        folder.set_length(COUNTER, left.div_ceil(BLOCK).max(1))
    })
}

/// Removes what is too much or dead, and tells how many bytes are left.
fn sweep(folder: &Folder, most: u64) -> io::Result<u64> {
    let now = SystemTime::now();
    let age = |time: SystemTime| now.duration_since(time).unwrap_or_default();
    let mut entries = Vec::new();
    let mut total = 0_u64;
    for (name, size, time) in folder.files()? {
        if is_entry(&name) {
            total = total.saturating_add(size);
            entries.push((time, size, name));
        } else if name.starts_with(UNFINISHED) && age(time) > DEAD
            || is_hash_and(&name, PLUGIN) && age(time) > OLD
        {
            let _ = folder.remove(&name);
        }
    }
    if total > most {
        // Some more than needed, so as not to look again at once.
        let enough = most - most / 10;
        order::sort(&mut entries);
        for (_, size, name) in entries {
            if total <= enough {
                break;
            }
            // One that cannot be removed does not count: the next look would find it
            // again, and remove all the others for it.
            match folder.remove(&name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {}
                _ => total -= size,
            }
        }
    }
    Ok(total)
}
