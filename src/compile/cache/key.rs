//! Under which name an executable is kept: a hash of all that it depends on.

use sha2::{Digest, Sha256};

use crate::compile::identity::{Hash, Surroundings};
use crate::compile::saved;

/// To be raised whenever this library gives plugins another program or other options than
/// before for the same files and options of callers.
const COMPILED_HOW: u32 = 1;

/// What an executable depends on. Whatever differs in any of it is another executable.
#[derive(Clone, Copy, Debug)]
pub struct KeyParts<'a> {
    /// The program, all bytes of its file.
    pub program: &'a [u8],
    /// Everything that the caller chose: compile options as the plugin gets them, the
    /// program's platform, the devices.
    pub options: &'a [u8],
    /// What compiles it, and for what.
    pub surroundings: &'a Surroundings,
    /// [`environment`](crate::compile::identity::environment), as it was when the
    /// plugin was loaded.
    pub environment: &'a str,
}

/// The name of an executable in a cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key(pub(super) Hash);

impl Key {
    /// The key of an executable.
    pub fn new(parts: &KeyParts<'_>) -> Key {
        let here = parts.surroundings;
        let (major, minor) = here.api_version;
        let mut hash = Sha256::new();
        // Each part goes after its length, so that no two lists of parts look alike.
        let mut add = |part: &[u8]| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        add(env!("CARGO_PKG_VERSION").as_bytes());
        add(&saved::VERSION.to_le_bytes());
        add(&COMPILED_HOW.to_le_bytes());
        add(parts.program);
        add(parts.options);
        add(parts.environment.as_bytes());
        add(here.platform.as_bytes());
        add(here.platform_version.as_bytes());
        add(&major.to_le_bytes());
        add(&minor.to_le_bytes());
        add(&here.plugin.hash.0);
        add(here.cpu.to_string().as_bytes());
        add(here.device_kind.as_bytes());
        add(&(here.device_count as u64).to_le_bytes());
        Key(Hash(hash.finalize().into()))
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
