//! Which plugin it is: by the content of its library file.
//!
//! Two builds of a plugin tell the same version and compile different code, so only
//! the content identifies one. A plugin has hundreds of megabytes; a hash that is
//! known is therefore used again for as long as the file is untouched.

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use super::Hash;
use crate::error::{Code, Error, Origin, Result};

/// Bytes that are read at once.
const BLOCK: usize = 1 << 20;
/// A file that was changed within this time might be changed again without a change of
/// its times: systems count them in steps.
const STEP: i64 = 100_000_000;
/// The same for file systems that keep whole seconds or two.
const LONG_STEP: i64 = 3_000_000_000;

/// What changes whenever a file is written or replaced. The number of its file system
/// is not among it: that of a container differs with each start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileStat {
    /// Its number in its file system.
    pub inode: u64,
    /// Its size in bytes.
    pub size: u64,
    /// When its content was changed, in nanoseconds since 1970.
    pub modified: i64,
    /// When anything of it was changed, its times included.
    pub changed: i64,
}

impl FileStat {
    /// That of the file at `path`.
    pub fn of(path: &Path) -> Result<FileStat> {
        std::fs::metadata(path).map(|found| FileStat::from(&found)).map_err(|error| unreadable(path, &error))
    }

    /// The same, unless the file at `path` has been changed or replaced since.
    pub fn unchanged(self, path: &Path) -> Result<FileStat> {
        if FileStat::of(path)? == self { Ok(self) } else { Err(changed(path)) }
    }

    /// A hash of all of it.
    pub fn hash(&self) -> Hash {
        let FileStat { inode, size, modified, changed } = *self;
        let numbers = [inode, size, modified as u64, changed as u64];
        Hash::of(&[numbers.map(u64::to_le_bytes).as_flattened()])
    }

    /// Whether a change after `now`, in nanoseconds since 1970, would surely show.
    pub(super) fn is_settled(&self, now: i64) -> bool {
        let last = self.changed.max(self.modified);
        let step = if self.changed % 1_000_000_000 == 0 { LONG_STEP } else { STEP };
        last.saturating_add(step) < now
    }
}

impl From<&Metadata> for FileStat {
    fn from(found: &Metadata) -> FileStat {
        let time = |seconds: i64, rest: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(rest);
        FileStat {
            inode: found.ino(),
            size: found.size(),
            modified: time(found.mtime(), found.mtime_nsec()),
            changed: time(found.ctime(), found.ctime_nsec()),
        }
    }
}

/// A plugin's library file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PluginFile {
    /// Its name, without the folders.
    pub name: String,
    /// The hash of its content.
    pub hash: Hash,
    /// What it looked like when it was hashed; `None` if it had been changed so
    /// shortly before that it may have changed again and look the same.
    pub stat: Option<FileStat>,
}

impl PluginFile {
    /// Identifies the library at `path`, which looked like `loaded` when it was
    /// loaded. One of the `known` that looks the same saves reading it.
    ///
    /// A file that has been replaced since is an error: its content is not what the
    /// process runs.
    pub fn of(path: &Path, loaded: &FileStat, known: &[PluginFile]) -> Result<PluginFile> {
        if let Some(same) = known.iter().find(|one| one.stat == Some(*loaded)) {
            return Ok(PluginFile { name: file_name(path), ..same.clone() });
        }
        let mut file = File::open(path).map_err(|error| unreadable(path, &error))?;
        let look = |file: &File| file.metadata().map(|found| FileStat::from(&found));
        let before = look(&file).map_err(|error| unreadable(path, &error))?;
        let is_settled = before.is_settled(now());
        let hash = content(&mut file).map_err(|error| unreadable(path, &error))?;
        let after = look(&file).map_err(|error| unreadable(path, &error))?;
        if before != *loaded || after != *loaded {
            return Err(changed(path));
        }
        Ok(PluginFile { name: file_name(path), hash, stat: is_settled.then_some(after) })
    }
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    let message = format!("cannot read the plugin's library {}: {error}", path.display());
    Error::new(Code::FailedPrecondition, Origin::System, message)
}

fn changed(path: &Path) -> Error {
    let message = format!("the plugin {} was changed after it was loaded", path.display());
    Error::new(Code::FailedPrecondition, Origin::System, message)
        .hint("start the process again, so that it uses the new plugin")
}

fn content(file: &mut File) -> std::io::Result<Hash> {
    let mut hash = Sha256::new();
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(Hash(hash.finalize().into())),
            Ok(count) => hash.update(&block[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
