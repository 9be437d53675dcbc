//! The frame around a saved executable: a header with a hash of all the rest.
//!
//! | at | bytes | what |
//! |---|---|---|
//! | 0 | 8 | [`SAVED_MAGIC`] |
//! | 8 | 4 | version of the format |
//! | 12 | 4 | length of the message |
//! | 16 | 8 | length of the plugin's bytes |
//! | 24 | 32 | SHA-256 of everything else in the file |
//! | 56 | | the message, then the plugin's bytes |
//!
//! Numbers are little-endian. Magic, version and hash stay where they are in every
//! version, so that damage can be told from what is merely newer.

use crate::compile::identity::Hash;
use crate::error::{Code, Error, Origin, Result};
use crate::memory;
use crate::program::foreign;
use crate::program::saved_magic::{SAVED_MAGIC, is_damaged_magic};

/// The version of the format that this library writes, and the newest that it reads.
pub const VERSION: u32 = 1;
/// Longer than any real message; keeps small what reading one can take.
const LONGEST_MESSAGE: usize = 16 << 20;
const HASH: std::ops::Range<usize> = 24..HEADER;
const HEADER: usize = 56;

/// Puts a header before the two parts.
pub fn seal(message: &[u8], executable: &[u8]) -> Result<Vec<u8>> {
    seal_as(VERSION, message, executable)
}

/// The same for a version of the format.
pub fn seal_as(version: u32, message: &[u8], executable: &[u8]) -> Result<Vec<u8>> {
    if message.len() > LONGEST_MESSAGE {
        let message = "the program has too many inputs and outputs to be saved";
        return Err(Error::new(Code::Unimplemented, Origin::Library, message));
    }
    let mut bytes = memory::room(HEADER + message.len() + executable.len())?;
    bytes.extend_from_slice(SAVED_MAGIC);
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.extend_from_slice(&(message.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(executable.len() as u64).to_le_bytes());
    bytes.resize(HEADER, 0);
    bytes.extend_from_slice(message);
    bytes.extend_from_slice(executable);
    let hash = hash(&bytes);
    bytes[HASH].copy_from_slice(&hash.0);
    Ok(bytes)
}

/// Checks all bytes, and tells where the plugin's begin.
pub fn open(bytes: &[u8]) -> Result<usize> {
    if is_damaged_magic(bytes) {
        return Err(damaged("its first bytes were changed, as a transfer in text mode does"));
    }
    if !bytes.starts_with(SAVED_MAGIC) {
        foreign::refuse(bytes)?;
        return Err(Error::invalid_argument("these bytes are no saved executable").hint(
            "pass what cyxla_executable_to_bytes gave or `cyxla compile` wrote; programs have to be compiled",
        ));
    }
    let (Some(version), Some(message), Some(executable)) =
        (number::<4>(bytes, 8), number::<4>(bytes, 12), number::<8>(bytes, 16))
    else {
        return Err(damaged(&cut_short(bytes.len())));
    };
    let due = (HEADER as u64).saturating_add(message).saturating_add(executable);
    let actual = bytes.len() as u64;
    if bytes.len() < HEADER || hash(bytes).0 != bytes[HASH] {
        return Err(damaged(&if actual < due {
            cut_short(bytes.len())
        } else if actual > due {
            format!("it is {actual} bytes long instead of {due}")
        } else {
            "its content does not match the hash in it".to_owned()
        }));
    }
    if version > u64::from(VERSION) {
        let message = format!(
            "the saved executable has version {version} of the format; this libcyxla reads versions up to {VERSION}"
        );
        return Err(Error::new(Code::Unimplemented, Origin::Caller, message)
            .hint("use a libcyxla that is at least as new as the one that saved it, or compile the program again here with `cyxla compile`"));
    }
    if version == 0 || actual != due || message > LONGEST_MESSAGE as u64 {
        return Err(damaged("its header is inconsistent"));
    }
    // Fits, since the sum is the length of the bytes.
    Ok(HEADER + message as usize)
}

/// The message, which ends where the plugin's bytes begin.
pub fn message(bytes: &[u8], end: usize) -> &[u8] {
    &bytes[HEADER..end]
}

/// An error for bytes that are not what was written.
pub fn damaged(how: &str) -> Error {
    let message = format!("the saved executable is damaged: {how}");
    Error::new(Code::DataLoss, Origin::Caller, message).hint(
        "copy the file again, in binary mode and whole, or compile the program again with `cyxla compile`",
    )
}

fn cut_short(length: usize) -> String {
    format!("it was cut short, to {length} bytes")
}

fn number<const SIZE: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let mut whole = [0; 8];
    whole[..SIZE].copy_from_slice(bytes.get(at..at + SIZE)?);
    Some(u64::from_le_bytes(whole))
}

fn hash(bytes: &[u8]) -> Hash {
    Hash::of(&[&bytes[..HASH.start], &bytes[HASH.end..]])
}
