//! SHA-256 of files and of streams while they are copied.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use cyxla::error::Result;
use sha2::{Digest, Sha256};

use super::interrupt::Interrupt;
use super::problem::{Doing, problem};
use super::progress::Progress;

const BLOCK: usize = 1 << 20;

/// Hashes a file, in lower-case hexadecimal.
pub fn file(path: &Path, progress: &Progress, label: &str, interrupt: &Interrupt) -> Result<String> {
    let mut file = File::open(path).map_err(|error| problem(Doing::Reading, path, &error))?;
    open_file(&mut file, path, progress, label, interrupt)
}

/// Hashes what is left to read of an open file.
pub fn open_file(
    file: &mut File,
    path: &Path,
    progress: &Progress,
    label: &str,
    interrupt: &Interrupt,
) -> Result<String> {
    let size = file.metadata().map_err(|error| problem(Doing::Reading, path, &error))?.len();
    let step = progress.step(label, size);
    let mut hash = Sha256::new();
    let mut block = vec![0; BLOCK];
    loop {
        interrupt.check()?;
        let count = file.read(&mut block).map_err(|error| problem(Doing::Reading, path, &error))?;
        if count == 0 {
            return Ok(hex(hash));
        }
        hash.update(&block[..count]);
        step.add(count as u64);
    }
}

/// Copies a stream into a file; tells the hash of what was copied.
pub fn copy(
    from: &mut dyn Read,
    from_path: &Path,
    to: &mut File,
    to_path: &Path,
    advance: &dyn Fn(u64),
    interrupt: &Interrupt,
) -> Result<String> {
    let mut hash = Sha256::new();
    let mut block = vec![0; BLOCK];
    loop {
        interrupt.check()?;
        let count = from.read(&mut block).map_err(|error| problem(Doing::Reading, from_path, &error))?;
        if count == 0 {
            return Ok(hex(hash));
        }
        hash.update(&block[..count]);
        to.write_all(&block[..count]).map_err(|error| problem(Doing::Writing, to_path, &error))?;
        advance(count as u64);
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
