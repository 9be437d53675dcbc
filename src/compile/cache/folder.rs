//! The folder of a cache: small operations that are whole or not at all, whatever
//! other processes do to it at the same time.
//!
//! All go by the open folder, so that nothing outside it is touched even if somebody
//! replaces a part of its path by a link.

use std::ffi::CStr;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::memory;

/// The number is that of the form of what is inside.
const NAME: &str = "cyxla-executables-v1";
/// Makes programs for backups leave the folder out. The first line is by the standard
/// for such files.
const TAG: (&str, &str) = (
    "CACHEDIR.TAG",
    "Signature: 8a477f597d28d172789f06886806bc55\n# Compiled programs of libcyxla; all of it may be removed at any time.\n",
);
const LOCK: &str = "lock";
/// How the names of files begin that are being written.
pub const UNFINISHED: &str = "unfinished-";
/// Other users may neither see nor change what is here.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// An open folder.
pub struct Folder {
    folder: OwnedFd,
    /// Who owns the folder around it, which somebody chose.
    owner: u32,
}

/// A file that was read.
pub struct Content {
    pub bytes: Vec<u8>,
    pub file: File,
    stat: Stat,
}

impl Content {
    /// When the file was last changed, or its content last used.
    pub fn time(&self) -> SystemTime {
        time(&self.stat)
    }
}

/// An error for a file that is larger than this process may write: to go on writing would
/// end the process with a signal.
fn check_limit(size: u64) -> io::Result<()> {
    match rustix::process::getrlimit(rustix::process::Resource::Fsize).current {
        Some(limit) if size > limit => Err(ErrorKind::FileTooLarge.into()),
        _ => Ok(()),
    }
}

impl Folder {
    /// The path of a file of the cache in `parent`.
    pub fn path_of(parent: &Path, name: &str) -> PathBuf {
        parent.join(NAME).join(name)
    }

    /// Opens the cache's folder in `parent`.
    pub fn open(parent: &Path) -> io::Result<Folder> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let outer = rustix::fs::open(parent, flags, Mode::empty())?;
        let owner = rustix::fs::fstat(&outer)?.st_uid;
        let folder = rustix::fs::openat(&outer, NAME, flags | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Folder { folder, owner })
    }

    /// The same, after making what is missing.
    pub fn create(parent: &Path) -> io::Result<Folder> {
        use std::os::unix::fs::DirBuilderExt;
        match Folder::open(parent) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            other => return other,
        }
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        match rustix::fs::mkdirat(CWD, parent.join(NAME), PRIVATE | Mode::XUSR) {
            Err(error) if error != Errno::EXIST => return Err(error.into()),
            _ => {}
        }
        let folder = Folder::open(parent)?;
        folder.write(TAG.0, TAG.1.as_bytes())?;
        Ok(folder)
    }

    /// Reads a whole file.
    pub fn read(&self, name: &str) -> io::Result<Content> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.folder, name, flags, Mode::empty())?);
        let stat = rustix::fs::fstat(&file)?;
        if !self.is_trusted(&stat) {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let size = usize::try_from(stat.st_size).map_err(|_| ErrorKind::FileTooLarge)?;
        let mut bytes = memory::room(size).map_err(|_| ErrorKind::OutOfMemory)?;
        (&mut file).take(size as u64).read_to_end(&mut bytes)?;
        Ok(Content { bytes, file, stat })
    }

    /// What is read here is run. So it must come from this user, the system's, or
    /// whoever owns the folder that was named; a file that everybody may write to
    /// comes from anybody.
    fn is_trusted(&self, stat: &Stat) -> bool {
        let known = [rustix::process::geteuid().as_raw(), 0, self.owner].contains(&stat.st_uid);
        let is_open = Mode::from_raw_mode(stat.st_mode).contains(Mode::WOTH);
        FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && known && !is_open
    }

    /// Writes a file under another name and then gives it this one, so that nobody
    /// ever sees a part of it.
    pub fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        check_limit(content.len() as u64)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let unfinished = format!("{UNFINISHED}{:016x}", RandomState::new().hash_one(name));
        let mut file = File::from(rustix::fs::openat(&self.folder, &unfinished, flags, PRIVATE)?);
        let written = file.write_all(content).and_then(|()| {
            rustix::fs::renameat(&self.folder, &unfinished, &self.folder, name).map_err(io::Error::from)
        });
        if written.is_err() {
            let _ = self.remove(&unfinished);
        }
        written
    }

    /// Adds to the end of a file, and tells how long it was and is.
    pub fn append(&self, name: &str, content: &[u8]) -> io::Result<(u64, u64)> {
        let mut file = self.open_to_write(name, OFlags::APPEND)?;
        let before = file.metadata()?.len();
        check_limit(before.saturating_add(content.len() as u64))?;
        file.write_all(content)?;
        Ok((before, file.metadata()?.len()))
    }

    /// Makes a file as long as this.
    pub fn set_length(&self, name: &str, length: u64) -> io::Result<()> {
        self.open_to_write(name, OFlags::empty())?.set_len(length)
    }

    fn open_to_write(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let always = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        Ok(File::from(rustix::fs::openat(&self.folder, name, always | flags, PRIVATE)?))
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.folder, name, AtFlags::empty())?)
    }

    /// Removes what was read, unless another file has taken its name since.
    pub fn remove_if_still(&self, name: &str, content: &Content) -> io::Result<()> {
        let now = rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if (now.st_dev, now.st_ino) != (content.stat.st_dev, content.stat.st_ino) {
            return Ok(());
        }
        self.remove(name)
    }

    /// The regular files: name, size in bytes, time of the last change.
    pub fn files(&self) -> io::Result<Vec<(String, u64, SystemTime)>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(&self.folder)? {
            let entry = entry?;
            let Ok(name) = CStr::to_str(entry.file_name()) else { continue };
            // Others may remove a file at any time.
            let Ok(stat) = rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
                found.push((name.to_owned(), stat.st_size.try_into().unwrap_or(0), time(&stat)));
            }
        }
        Ok(found)
    }

    /// Does something that one process at a time does, unless another is doing it.
    /// Gives how long ago that was last done to `wanted`, which decides.
    pub fn alone(
        &self,
        wanted: impl FnOnce(Duration) -> bool,
        work: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let file = self.open_to_write(LOCK, OFlags::empty())?;
        let last = file.metadata()?.modified()?;
        if !wanted(last.elapsed().unwrap_or_default()) {
            return Ok(());
        }
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        work()?;
        file.set_modified(SystemTime::now())
    }
}

#[allow(clippy::useless_conversion, reason = "some systems count with a sign here")]
fn time(stat: &Stat) -> SystemTime {
    let nanoseconds = Duration::from_nanos(stat.st_mtime_nsec.try_into().unwrap_or(0));
    let seconds = Duration::from_secs(stat.st_mtime.unsigned_abs());
    if stat.st_mtime < 0 {
        return SystemTime::UNIX_EPOCH;
    }
    SystemTime::UNIX_EPOCH.checked_add(seconds + nanoseconds).unwrap_or(SystemTime::UNIX_EPOCH)
}
