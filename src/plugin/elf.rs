//! Checks a file before the dynamic loader sees it.
//!
//! The loader's own words are poor (a library for another machine "cannot be
//! opened: no such file") and a file cut short can kill the process when its
//! missing pages are touched.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{Code, Error, Origin, Result};

/// Whether the file at `path` can be a shared library for this machine.
pub fn check(path: &Path) -> Result<()> {
    let shown = path.display();
    let file_error = |error: std::io::Error| {
        let (code, reason) = match error.kind() {
            ErrorKind::NotFound => (Code::NotFound, "there is no such file".to_owned()),
            ErrorKind::PermissionDenied => (Code::PermissionDenied, "permission denied".to_owned()),
            _ if error.raw_os_error() == Some(libc::ELOOP) => {
                (Code::NotFound, "its symbolic links form a loop".to_owned())
            }
            _ if error.raw_os_error() == Some(libc::ENAMETOOLONG) => {
                (Code::InvalidArgument, "the path is too long".to_owned())
            }
            _ => (Code::FailedPrecondition, error.to_string()),
        };
        let error = Error::new(code, Origin::Caller, format!("cannot open the plugin {shown}: {reason}"));
        match code {
            Code::NotFound => error.hint("check the path (a relative one starts at the working folder), or install a plugin with `cyxla install cpu`"),
            _ => error,
        }
    };
    let refuse = |reason: String| {
        Err(Error::new(Code::InvalidArgument, Origin::Caller, format!("{shown} is no plugin: {reason}")))
    };

    // Before opening: opening a pipe without a writer would block.
    let kind = std::fs::metadata(path).map_err(file_error)?.file_type();
    if kind.is_dir() {
        return refuse("it is a directory".into());
    }
    if !kind.is_file() {
        return refuse("it is not a regular file".into());
    }
    let mut file = File::open(path).map_err(file_error)?;
    let size = file.metadata().map_err(file_error)?.len();
    if size == 0 {
        return refuse("the file is empty".into());
    }

    let mut header = [0; HEADER_SIZE];
    let got = read_up_to(&mut file, &mut header).map_err(file_error)?;
    if got < 4 || header[..4] != *b"\x7fELF" {
        return refuse("it is not an ELF file".into());
    }
    if got < HEADER_SIZE {
        return refuse(format!("it is cut off after {got} bytes, in the ELF header"));
    }
    if header[4] != CLASS_64 {
        return refuse("it is a 32-bit library and this process is 64-bit".into());
    }
    if header[5] != LITTLE_ENDIAN {
        return refuse("it is big-endian and this process is little-endian".into());
    }
    let machine = u16_at(&header, 18);
    if machine != THIS_MACHINE {
        let (found, need) = (machine_name(machine), machine_name(THIS_MACHINE));
        return refuse(format!("it is built for {found}, and this process needs {need}"));
    }
    if u16_at(&header, 16) != SHARED_OBJECT {
        return refuse("it is an ELF file but not a shared library".into());
    }

    let needed = end_of_segments(&mut file, size, &header).map_err(file_error)?;
    if needed > size {
        return refuse(format!("it is cut off: it has {size} bytes and needs at least {needed}"));
    }
    Ok(())
}

const HEADER_SIZE: usize = 64;
const CLASS_64: u8 = 2;
const LITTLE_ENDIAN: u8 = 1;
const SHARED_OBJECT: u16 = 3;
const X86_64: u16 = 62;
const AARCH64: u16 = 183;
#[cfg(target_arch = "x86_64")]
pub(super) const THIS_MACHINE: u16 = X86_64;
#[cfg(target_arch = "aarch64")]
pub(super) const THIS_MACHINE: u16 = AARCH64;

fn machine_name(machine: u16) -> String {
    match machine {
        3 => "x86 (32-bit)".into(),
        21 => "ppc64".into(),
        22 => "s390x".into(),
        40 => "arm (32-bit)".into(),
        X86_64 => "x86-64".into(),
        AARCH64 => "aarch64".into(),
        243 => "riscv".into(),
        other => format!("machine type {other}"),
    }
}

/// Where the last loaded part of the file ends; the file must be that long.
fn end_of_segments(file: &mut File, size: u64, header: &[u8]) -> std::io::Result<u64> {
    const LOAD: u32 = 1;
    let table = u64_at(header, 32);
    let entry_size = u64::from(u16_at(header, 54));
    let count = u64::from(u16_at(header, 56));
    let mut end = table.saturating_add(entry_size * count);
    if end > size {
        return Ok(end); // the table itself is cut off
    }
    let mut entry = [0; 56];
    for index in 0..count {
        file.seek(SeekFrom::Start(table.saturating_add(index * entry_size)))?;
        if read_up_to(file, &mut entry)? < entry.len() {
            break; // its entries are shorter than they can be, or the file has just become so
        }
        if u32_at(&entry, 0) == LOAD {
            end = end.max(u64_at(&entry, 8).saturating_add(u64_at(&entry, 32)));
        }
    }
    Ok(end)
}

fn read_up_to(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match file.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(count) => got += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// The test program itself is an ELF file of this machine: a good start for
    /// bad ones. It is position-independent, so its ELF type is a shared object's.
    fn changed(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let mut bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        change(&mut bytes);
        let path: PathBuf = std::env::temp_dir().join(format!("cyxla-elf-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let result = check(&path);
        std::fs::remove_file(path).unwrap();
        result
    }

    fn refused(name: &str, part: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let error = changed(name, change).unwrap_err();
        assert!(error.message().contains(part), "{name}: {error}");
        assert_eq!(error.code(), Code::InvalidArgument);
    }

    #[test]
    fn good_and_bad_files() {
        changed("good", |_| {}).unwrap();
        refused("empty", "empty", Vec::clear);
        refused("text", "not an ELF file", |bytes| *bytes = b"hello".to_vec());
        refused("tiny", "cut off after 20 bytes", |bytes| bytes.truncate(20));
        refused("cut", "cut off: it has 4096 bytes", |bytes| bytes.truncate(4096));
        refused("32-bit", "32-bit", |bytes| bytes[4] = 1);
        refused("big-endian", "big-endian", |bytes| bytes[5] = 2);
        refused("machine", "machine type 999", |bytes| bytes[18..20].copy_from_slice(&999u16.to_le_bytes()));
        refused("object", "not a shared library", |bytes| bytes[16] = 1);
        refused("far table", "cut off", |bytes| bytes[32..40].fill(0xff));
    }

    #[test]
    fn things_that_are_no_files() {
        let folder = check(Path::new("/")).unwrap_err();
        assert!(folder.message().contains("directory"), "{folder}");
        let device = check(Path::new("/dev/zero")).unwrap_err();
        assert!(device.message().contains("not a regular file"), "{device}");
        let missing = check(Path::new("/no/such/plugin.so")).unwrap_err();
        assert_eq!(missing.code(), Code::NotFound);
    }
}
