//! The executable cache: a folder of saved executables, which many processes use at
//! once.
//!
//! An entry is written under another name and then renamed, and its hash is checked
//! whenever it is read: a process that is killed while it writes, a full disk or a
//! crash of the machine cost a compile, never a wrong program. Nothing here is needed:
//! what cannot be read is not there, and what cannot be written is compiled again.

mod folder;
mod key;
mod sweep;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use self::folder::{Content, Folder};
use super::identity::{FileStat, Hash, PluginFile};
use super::saved::Saved;
use crate::error::{Code, Error, Origin, Result};
use crate::order;

pub use key::{Key, KeyParts};

/// How large a cache may grow when nobody says, in bytes.
pub const DEFAULT_SIZE: u64 = 1 << 30;
/// How the names of entries end, after the key.
const ENTRY: &str = ".executable";
/// How the names of what is known of plugins end, after a hash of a file's looks.
const PLUGIN: &str = ".plugin";
/// An entry that is used is marked so this often at most, to keep hits cheap.
const MARK: Duration = Duration::from_secs(3600);

/// A cache in a folder. Opening one costs nothing.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    size: u64,
}

/// An executable in a cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its file.
    pub path: PathBuf,
    /// Bytes that it takes.
    pub size: u64,
    /// When it was last used, give or take an hour.
    pub used: SystemTime,
}

/// What was removed from a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Removed {
    /// How many executables.
    pub count: usize,
    /// How many bytes.
    pub size: u64,
}

impl Cache {
    /// The cache in a folder, which is made when something is put into it. It may grow
    /// to `size` bytes.
    pub fn open(folder: &Path, size: u64) -> Result<Cache> {
        let absolute = std::path::absolute(folder).map_err(|error| {
            let message = format!("'{}' cannot be the cache's folder: {error}", folder.display());
            Error::new(Code::InvalidArgument, Origin::Caller, message).hint("give the path of a folder")
        })?;
        Ok(Cache { folder: absolute, size })
    }

    /// The folder that was given.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The executable of this key, every byte of which has been checked. `None` if
    /// there is none; one that is damaged is removed.
    pub fn get(&self, key: &Key) -> Option<Saved<'static>> {
        let folder = Folder::open(&self.folder).ok()?;
        let name = entry_name(key);
        let mut content = folder.read(&name).ok()?;
        let saved = Saved::from_vec(std::mem::take(&mut content.bytes)).ok();
        let saved = saved.filter(|saved| saved.facts.cache_key == Some(key.0));
        match saved {
            Some(_) => mark_used(&content),
            // A folder that cannot be written to keeps it; it is a miss each time.
            None => drop(folder.remove_if_still(&name, &content)),
        }
        saved
    }

    /// Keeps an executable under this key. An error says why it is not kept, and
    /// changes nothing else: the executable can be used all the same.
    pub fn put(&self, key: &Key, saved: &Saved<'_>) -> Result<()> {
        let bytes = saved.encode_for_cache(key.0)?;
        let size = bytes.len() as u64;
        if size > self.size {
            let message = format!("an executable of {size} bytes is too large for a cache of {}", self.size);
            return Err(Error::new(Code::ResourceExhausted, Origin::Caller, message)
                .hint("raise the compile option cache_size"));
        }
        let put = || {
            let folder = Folder::create(&self.folder)?;
            folder.write(&entry_name(key), &bytes)?;
            sweep::after_put(&folder, size, self.size)
        };
        // Whoever removes the whole folder meanwhile does so once.
        let is_gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
        put()
            .or_else(|error| if is_gone(&error) { put() } else { Err(error) })
            .map_err(|error| self.unusable("written to", &error))
    }

    /// Removes the executable of this key, which the plugin refused.
    pub fn remove(&self, key: &Key) {
        if let Ok(folder) = Folder::open(&self.folder) {
            let _ = folder.remove(&entry_name(key));
        }
    }

    /// Identifies a plugin's library as [`PluginFile::of`] does, and remembers it, so
    /// that the next process need not read the library.
    pub fn plugin_file(&self, path: &Path, loaded: &FileStat) -> Result<PluginFile> {
        let name = format!("{}{PLUGIN}", loaded.hash());
        let known = Folder::open(&self.folder).ok().and_then(|folder| {
            let record = folder.read(&name).ok()?.bytes;
            let hash: [u8; 32] = record.get(..32)?.try_into().ok()?;
            // Bytes that were damaged are no record.
            (record == plugin_record(&Hash(hash), loaded)).then(|| PluginFile {
                name: String::new(),
                hash: Hash(hash),
                stat: Some(*loaded),
            })
        });
        let found = PluginFile::of(path, loaded, known.as_slice())?;
        if known.is_none() && found.stat.is_some() && self.size > 0 {
            let record = plugin_record(&found.hash, loaded);
            // One that is not kept costs time, no more.
            let _ = Folder::create(&self.folder).and_then(|folder| folder.write(&name, &record));
        }
        Ok(found)
    }

    /// The executables in the cache, the last used first.
    pub fn entries(&self) -> Result<Vec<Entry>> {
        let Some(folder) = self.existing()? else { return Ok(Vec::new()) };
        let files = folder.files().map_err(|error| self.unusable("read", &error))?;
        let entries = files.into_iter().filter(|(name, ..)| is_entry(name));
        let mut entries: Vec<Entry> = entries
            .map(|(name, size, used)| Entry { path: Folder::path_of(&self.folder, &name), size, used })
            .collect();
        let newest_first = |one: &Entry, other: &Entry| {
            other.used.cmp(&one.used).then_with(|| one.path.cmp(&other.path)).is_lt()
        };
        order::sort_by(&mut entries, newest_first);
        Ok(entries)
    }

    /// Bytes that the executables take.
    pub fn size(&self) -> Result<u64> {
        Ok(self.entries()?.iter().map(|entry| entry.size).sum())
    }

    /// Removes all that libcyxla has put into the folder and that can be made again.
    /// Processes that use the cache at the same time are not disturbed.
    pub fn clear(&self) -> Result<Removed> {
        let mut removed = Removed::default();
        let Some(folder) = self.existing()? else { return Ok(removed) };
        for (name, size, _) in folder.files().map_err(|error| self.unusable("read", &error))? {
            if !sweep::is_ours(&name) {
                continue;
            }
            match folder.remove(&name) {
                Ok(()) if is_entry(&name) => {
                    removed.count += 1;
                    removed.size += size;
                }
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(self.unusable("cleared", &error));
                }
                _ => {}
            }
        }
        Ok(removed)
    }

    fn existing(&self) -> Result<Option<Folder>> {
        match Folder::open(&self.folder) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unusable("read", &error)),
        }
    }

    fn unusable(&self, what: &str, error: &std::io::Error) -> Error {
        let message = format!("the executable cache in {} cannot be {what}: {error}", self.folder.display());
        Error::new(Code::FailedPrecondition, Origin::System, message).hint(
            "give a folder that this user may write to, in CYXLA_CACHE_DIR or the compile option cache_dir",
        )
    }
}

/// An entry that has not been used for the longest is the first to go.
fn mark_used(content: &Content) {
    let now = SystemTime::now();
    let away = |from: SystemTime, to: SystemTime| to.duration_since(from).unwrap_or_default();
    let time = content.time();
    if away(time, now).max(away(now, time)) > MARK {
        let _ = content.file.set_modified(now);
    }
}

fn entry_name(key: &Key) -> String {
    format!("{key}{ENTRY}")
}

fn is_entry(name: &str) -> bool {
    is_hash_and(name, ENTRY)
}

fn is_hash_and(name: &str, ending: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    name.strip_suffix(ending).is_some_and(|hash| hash.len() == 64 && hash.bytes().all(is_digit))
}

/// A hash, and one over it and what it belongs to.
fn plugin_record(hash: &Hash, stat: &FileStat) -> Vec<u8> {
    let check = Hash::of(&[&hash.0, &stat.hash().0]);
    [hash.0, check.0].concat()
}
