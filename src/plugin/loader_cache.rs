//! Reads `/etc/ld.so.cache`: where the dynamic loader knows libraries to be.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

const FILE: &str = "/etc/ld.so.cache";
const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const HEADER: usize = 48;
const ENTRY: usize = 24;
/// Far above any real one.
const LARGEST: u64 = 64 << 20;

/// Library names and the files that have them, the loader's first choice first.
#[derive(Debug, Default)]
pub struct LoaderCache(HashMap<String, Vec<PathBuf>>);

impl LoaderCache {
    /// The system's cache; empty where there is none that can be read.
    pub fn read() -> LoaderCache {
        let small = std::fs::metadata(FILE).is_ok_and(|found| found.is_file() && found.len() <= LARGEST);
        let bytes = if small { std::fs::read(FILE).unwrap_or_default() } else { Vec::new() };
        LoaderCache::parse(&bytes).unwrap_or_default()
    }

    /// The files that the cache names for a library.
    pub fn paths(&self, name: &str) -> &[PathBuf] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// `None` for bytes that are no cache, or a damaged one.
    fn parse(bytes: &[u8]) -> Option<LoaderCache> {
        // In files of long ago the older format comes first.
        let start = memchr::memmem::find(bytes, MAGIC)?;
        let cache = &bytes[start..];
        let number = |at: usize| Some(u32::from_le_bytes(cache.get(at..at + 4)?.try_into().ok()?) as usize);
        let text = |at: usize| {
            let rest = cache.get(at..)?;
            let end = memchr::memchr(0, rest)?;
            Some(String::from_utf8_lossy(&rest[..end]).into_owned())
        };
        let mut found: HashMap<String, Vec<PathBuf>> = HashMap::new();
        for index in 0..number(MAGIC.len())? {
            let entry = HEADER + index * ENTRY;
            let (name, path) = (text(number(entry + 4)?)?, text(number(entry + 8)?)?);
            if Path::new(&path).is_absolute() {
                found.entry(name).or_default().push(path.into());
            }
        }
        Some(LoaderCache(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(entries: &[(&str, &str)]) -> Vec<u8> {
        let mut texts = Vec::new();
        let mut table = Vec::new();
        let first = HEADER + entries.len() * ENTRY;
        for (name, path) in entries {
            let position = || (first + texts.len()) as u32;
            let at = position();
            texts.extend([name.as_bytes(), b"\0"].concat());
            let path_at = (first + texts.len()) as u32;
            texts.extend([path.as_bytes(), b"\0"].concat());
            let numbers = [3, at, path_at, 0, 0, 0];
            table.extend(numbers.iter().flat_map(|number: &u32| number.to_le_bytes()));
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend((entries.len() as u32).to_le_bytes());
        bytes.resize(HEADER, 0);
        [bytes, table, texts].concat()
    }

    #[test]
    fn names_lead_to_paths() {
        let bytes = cache(&[("libm.so.6", "/lib/libm.so.6"), ("libm.so.6", "/lib/v2/libm.so.6")]);
        let read = LoaderCache::parse(&bytes).unwrap();
        assert_eq!(read.paths("libm.so.6"), [Path::new("/lib/libm.so.6"), Path::new("/lib/v2/libm.so.6")]);
        assert!(read.paths("libn.so").is_empty());
        for length in 0..bytes.len() {
            assert!(LoaderCache::parse(&bytes[..length]).is_none(), "{length}");
        }
        assert!(LoaderCache::parse(b"something else").is_none());
    }

    #[test]
    fn the_systems_cache_has_the_c_library() {
        let read = LoaderCache::read();
        assert!(!read.paths("libc.so.6").is_empty() || !Path::new(FILE).exists());
    }
}
