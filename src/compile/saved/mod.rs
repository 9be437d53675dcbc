//! Saved executables: a compiled program with all that it takes to load it again, and
//! to see that it must not be loaded here.
//!
//! Plugins load what another plugin, another version or another machine compiled
//! without an error, and compute wrong numbers with it; they do not notice flipped bits
//! either. So every byte is under a hash, and what the program was compiled by and for
//! is compared with what is here.

mod convert;
mod envelope;
mod fit;
mod proto;
#[cfg(test)]
pub(super) mod sample;
#[cfg(test)]
mod tests;

use prost::Message;

use super::identity::{Hash, Surroundings};
use crate::dtype::DType;
use crate::error::Result;
use crate::memory;
use crate::program::saved_magic::SAVED_MAGIC;
use crate::program::{Parameter, Signature};

pub use envelope::VERSION;

/// All that is saved besides the plugin's bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// The version of libcyxla that wrote it.
    pub library_version: String,
    /// What it was compiled by and for.
    pub made_in: Surroundings,
    /// The program's name.
    pub name: String,
    /// The compile options, as text.
    pub options: String,
    /// What the user passes and gets.
    pub signature: Signature,
    /// Where each parameter of the compiled program comes from.
    pub parameters: Vec<Parameter>,
    /// The element type of a platform index among the parameters.
    pub index_dtype: DType,
    /// How many replicas run it.
    pub replica_count: usize,
    /// Into how many partitions it is divided.
    pub partition_count: usize,
    /// Positions of the devices that run it.
    pub devices: Vec<usize>,
    /// The key of a cache's entry.
    pub cache_key: Option<Hash>,
}

/// A saved executable.
#[derive(Clone, Debug)]
pub struct Saved<'a> {
    /// What is known of it.
    pub facts: Facts,
    bytes: Bytes<'a>,
}

/// The plugin's bytes.
#[derive(Clone, Debug)]
enum Bytes<'a> {
    Borrowed(&'a [u8]),
    /// Bytes among which the plugin's are the last, and where they begin.
    Owned(Vec<u8>, usize),
}

/// Whether these bytes claim to be a saved executable.
pub fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(SAVED_MAGIC)
}

impl<'a> Saved<'a> {
    /// A compiled program that is to be saved; `executable` is what the plugin makes
    /// of it.
    pub fn new(facts: Facts, executable: &'a [u8]) -> Saved<'a> {
        Saved { facts, bytes: Bytes::Borrowed(executable) }
    }

    /// Reads a saved executable, whose every byte is checked.
    pub fn decode(bytes: &'a [u8]) -> Result<Saved<'a>> {
        let start = envelope::open(bytes)?;
        Ok(Saved { facts: facts(bytes, start)?, bytes: Bytes::Borrowed(&bytes[start..]) })
    }

    /// The same for bytes that it keeps.
    pub fn from_vec(bytes: Vec<u8>) -> Result<Saved<'static>> {
        let start = envelope::open(&bytes)?;
        Ok(Saved { facts: facts(&bytes, start)?, bytes: Bytes::Owned(bytes, start) })
    }

    /// The bytes for the plugin to load.
    pub fn executable(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Borrowed(bytes) => bytes,
            Bytes::Owned(bytes, start) => &bytes[*start..],
        }
    }

    /// The same with bytes of its own. Plugins cannot serialize again what they have
    /// loaded: they give bytes that do not load. So whoever loads this keeps it.
    pub fn into_owned(self) -> Result<Saved<'static>> {
        let (bytes, start) = match self.bytes {
            Bytes::Owned(bytes, start) => (bytes, start),
            Bytes::Borrowed(borrowed) => {
                let mut bytes = memory::room(borrowed.len())?;
                bytes.extend_from_slice(borrowed);
                (bytes, 0)
            }
        };
        Ok(Saved { facts: self.facts, bytes: Bytes::Owned(bytes, start) })
    }

    /// The bytes to keep, which [`Saved::decode`] reads.
    pub fn encode(&self) -> Result<Vec<u8>> {
        envelope::seal(&convert::to_message(&self.facts).encode_to_vec(), self.executable())
    }

    /// The same for an entry of a cache.
    pub(super) fn encode_for_cache(&self, key: Hash) -> Result<Vec<u8>> {
        let message = convert::to_message(&Facts { cache_key: Some(key), ..self.facts.clone() });
        envelope::seal(&message.encode_to_vec(), self.executable())
    }

    /// An error, with all differences in words, unless it may be loaded here.
    pub fn check_fits(&self, here: &Surroundings) -> Result<()> {
        fit::check(&self.facts, here)
    }
}

fn facts(bytes: &[u8], start: usize) -> Result<Facts> {
    let message = proto::Saved::decode(envelope::message(bytes, start))
        .map_err(|error| envelope::damaged(&format!("its message cannot be read: {error}")))?;
    convert::from_message(message)
}
