//! Reads what a shared library tells the dynamic loader, from its file alone.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::elf::{u16_at, u32_at, u64_at};

/// No library has as many; more are taken for damage.
const MOST_SEGMENTS: u64 = 1024;
const MOST_ENTRIES: u64 = 16 << 10;
/// Symbols with the same hash bucket; a good table has a handful.
const LONGEST_CHAIN: u64 = 64 << 10;
/// Search paths are the longest texts: the longest seen has some 10 kB.
const LONGEST_TEXT: u64 = 256 << 10;

/// What a library tells the dynamic loader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dynamic {
    /// The name by which other libraries ask for it.
    pub soname: Option<String>,
    /// The libraries that it needs, by name.
    pub needed: Vec<String>,
    /// Its old-style search path (DT_RPATH), which counts only without a `runpath`.
    pub rpath: Option<String>,
    /// Its search path for what it needs itself (DT_RUNPATH).
    pub runpath: Option<String>,
}

/// An ELF file of this machine's kind.
pub struct Image {
    file: File,
    size: u64,
    segments: Vec<Segment>,
    dynamic: Vec<(u64, u64)>,
}

struct Segment {
    address: u64,
    offset: u64,
    size: u64,
}

const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;

const NEEDED: u64 = 1;
const STRING_TABLE: u64 = 5;
const SYMBOL_TABLE: u64 = 6;
const SONAME: u64 = 14;
const RPATH: u64 = 15;
const RUNPATH: u64 = 29;
const GNU_HASH: u64 = 0x6fff_fef5;

fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what.to_owned())
}

impl Image {
    /// Opens a file and reads its tables. Anything but a regular file is refused,
    /// since opening a pipe could block.
    pub fn open(path: &Path) -> Result<Image> {
        if !std::fs::metadata(path)?.is_file() {
            return Err(damaged("it is not a regular file"));
        }
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut image = Image { file, size, segments: Vec::new(), dynamic: Vec::new() };
        let header = image.bytes(0, 64)?;
        if header[..6] != *b"\x7fELF\x02\x01" {
            return Err(damaged("it is not a little-endian 64-bit ELF file"));
        }
        let (table, entry_size, count) =
            (u64_at(&header, 32), u64::from(u16_at(&header, 54)), u64::from(u16_at(&header, 56)));
        if count > MOST_SEGMENTS || entry_size < 56 {
            return Err(damaged("its program headers are malformed"));
        }
        for index in 0..count {
            let entry = image.bytes(add(table, index * entry_size)?, 56)?;
            let segment =
                Segment { address: u64_at(&entry, 16), offset: u64_at(&entry, 8), size: u64_at(&entry, 32) };
            match u32_at(&entry, 0) {
                LOAD => image.segments.push(segment),
                DYNAMIC => image.dynamic = image.entries(&segment)?,
                _ => {}
            }
        }
        Ok(image)
    }

    /// The machine that the file is for, as ELF numbers them.
    pub fn machine(&self) -> Result<u16> {
        Ok(u16_at(&self.bytes(18, 2)?, 0))
    }

    fn entries(&self, segment: &Segment) -> Result<Vec<(u64, u64)>> {
        let count = (segment.size / 16).min(MOST_ENTRIES);
        let bytes = self.bytes(segment.offset, count * 16)?;
        let entries = bytes.chunks_exact(16).map(|entry| (u64_at(entry, 0), u64_at(entry, 8)));
        Ok(entries.take_while(|(tag, _)| *tag != 0).collect())
    }

    /// What the file tells the dynamic loader.
    pub fn dynamic(&self) -> Result<Dynamic> {
        let mut read = Dynamic::default();
        for &(tag, value) in &self.dynamic {
            match tag {
                NEEDED => read.needed.push(self.text(value)?),
                SONAME => read.soname = Some(self.text(value)?),
                RPATH => read.rpath = Some(self.text(value)?),
                RUNPATH => read.runpath = Some(self.text(value)?),
                _ => {}
            }
        }
        Ok(read)
    }

    /// Whether the file defines a symbol for others; `None` when it has no table to
    /// look it up in.
    pub fn exports(&self, name: &str) -> Result<Option<bool>> {
        let (Some(table), Some(symbols)) = (self.value(GNU_HASH), self.value(SYMBOL_TABLE)) else {
            return Ok(None);
        };
        let (table, symbols) = (self.offset_of(table)?, self.offset_of(symbols)?);
        let header = self.bytes(table, 16)?;
        let [buckets, first, bloom] = [0, 4, 8].map(|at| u64::from(u32_at(&header, at)));
        if buckets == 0 {
            return Ok(Some(false));
        }
        let hash = gnu_hash(name);
        let bucket_table = add(table, 16 + bloom * 8)?;
        let chains = add(bucket_table, buckets * 4)?;
        let mut index = u64::from(self.number(add(bucket_table, u64::from(hash) % buckets * 4)?)?);
        let end = index.saturating_add(LONGEST_CHAIN);
        while index >= first && index != 0 && index < end {
            let link = self.number(add(chains, (index - first) * 4)?)?;
            if link | 1 == hash | 1 {
                let symbol = self.bytes(add(symbols, index * 24)?, 24)?;
                let is_defined = u16_at(&symbol, 6) != 0;
                if is_defined && self.text(u64::from(u32_at(&symbol, 0)))? == name {
                    return Ok(Some(true));
                }
            }
            if link & 1 == 1 {
                break;
            }
            index += 1;
        }
        Ok(Some(false))
    }

    fn value(&self, wanted: u64) -> Option<u64> {
        self.dynamic.iter().find(|(tag, _)| *tag == wanted).map(|(_, value)| *value)
    }

    /// Where in the file an address of the loaded library is.
    fn offset_of(&self, address: u64) -> Result<u64> {
        let inside = |segment: &&Segment| {
            address.checked_sub(segment.address).is_some_and(|distance| distance < segment.size)
        };
        let segment = self.segments.iter().find(inside);
        let segment = segment.ok_or_else(|| damaged("it names an address that is not in the file"))?;
        add(segment.offset, address - segment.address)
    }

    /// A text of the string table.
    fn text(&self, position: u64) -> Result<String> {
        let table = self.value(STRING_TABLE).ok_or_else(|| damaged("it has no string table"))?;
        let start = add(self.offset_of(table)?, position)?;
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < LONGEST_TEXT {
            let at = add(start, bytes.len() as u64)?;
            let part = self.bytes(at, self.size.saturating_sub(at).min(256))?;
            let end = part.iter().position(|&byte| byte == 0);
            bytes.extend_from_slice(&part[..end.unwrap_or(part.len())]);
            if end.is_some() || part.is_empty() {
                return Ok(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Err(damaged("one of its texts does not end"))
    }

    fn number(&self, offset: u64) -> Result<u32> {
        Ok(u32_at(&self.bytes(offset, 4)?, 0))
    }

    /// Bytes of the file, all of them inside it.
    fn bytes(&self, offset: u64, count: u64) -> Result<Vec<u8>> {
        if add(offset, count)? > self.size {
            return Err(damaged("it is cut off or its tables are malformed"));
        }
        let mut bytes = vec![0; count as usize];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

fn add(a: u64, b: u64) -> Result<u64> {
    a.checked_add(b).ok_or_else(|| damaged("its tables are malformed"))
}

fn gnu_hash(name: &str) -> u32 {
    name.bytes().fold(5381, |hash: u32, byte| hash.wrapping_mul(33).wrapping_add(byte.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::test_library::Library;

    #[test]
    fn a_library_tells_its_names_and_paths() {
        let folder = Library::folder("image");
        let needed = Library::new("libneeded.so.1").build(&folder);
        let path = Library::new("libimage.so.2")
            .needs(&needed)
            .linked(&["-Wl,-rpath,$ORIGIN/../lib:/opt/x", "-Wl,--enable-new-dtags"])
            .build(&folder);
        let image = Image::open(&path).unwrap();
        let dynamic = image.dynamic().unwrap();
        assert_eq!(dynamic.soname.as_deref(), Some("libimage.so.2"));
        assert!(dynamic.needed.contains(&"libneeded.so.1".to_owned()), "{dynamic:?}");
        assert_eq!(dynamic.runpath.as_deref(), Some("$ORIGIN/../lib:/opt/x"));
        assert_eq!(dynamic.rpath, None);
        assert_eq!(image.exports("libimage_so_2").unwrap(), Some(true));
        assert_eq!(image.exports("libneeded_so_1").unwrap(), Some(false));
        assert_eq!(image.exports("no_such").unwrap(), Some(false));
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// Damage gives an error or other values, and nothing worse.
    #[test]
    fn damaged_files_do_no_harm() {
        let folder = Library::folder("damage");
        let good = std::fs::read(Library::new("libgood.so").build(&folder)).unwrap();
        let path = folder.join("bad.so");
        let read = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Image::open(&path).and_then(|image| {
                let _ = image.exports("libgood_so");
                image.dynamic()
            })
        };
        assert!(read(&good).is_ok());
        assert!(read(b"").is_err() && read(b"\x7fELF").is_err() && read(&[b'x'; 100]).is_err());
        for length in (0..good.len()).step_by(997) {
            let _ = read(&good[..length]);
        }
        for position in (0..640).chain((640..good.len()).step_by(211)) {
            let mut bytes = good.clone();
            bytes[position] = !bytes[position];
            let _ = read(&bytes);
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
