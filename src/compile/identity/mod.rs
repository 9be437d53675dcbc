//! What a compiled program depends on besides its source: the plugin that compiled it
//! and the processor it was compiled for.

#[cfg(target_arch = "aarch64")]
mod arm;
mod cpu;
mod environment;
mod plugin_file;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt;

use sha2::{Digest, Sha256};

pub use cpu::CpuFeatures;
pub use environment::environment;
pub use plugin_file::{FileStat, PluginFile};

/// A SHA-256 hash. Shown as hexadecimal digits, of which `{:.8}` gives the first eight.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash of some bytes.
    pub fn of(parts: &[&[u8]]) -> Hash {
        let mut hash = Sha256::new();
        parts.iter().for_each(|part| hash.update(part));
        Hash(hash.finalize().into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let text: String = digits.map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0')).collect();
        f.pad(&text)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// All that a compiled program depends on besides its source and its options: two
/// processes of equal surroundings may run each other's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Surroundings {
    /// The platform, as the client reports it.
    pub platform: String,
    /// What the platform says of its version.
    pub platform_version: String,
    /// The plugin's PJRT version, major and minor.
    pub api_version: (i32, i32),
    /// The plugin's library.
    pub plugin: PluginFile,
    /// The processor.
    pub cpu: CpuFeatures,
    /// What the devices are, as the plugin names them.
    pub device_kind: String,
    /// How many devices the client has.
    pub device_count: usize,
}
