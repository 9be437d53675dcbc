//! The plugins folder: its lock, its work folders, and the one rename that
//! makes a plugin appear.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cyxla::error::{Code, Error, Origin, Result};
use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with, statvfs};
use rustix::io::Errno;

use super::interrupt::Interrupt;
use super::pin::Pin;
use super::problem::{Doing, problem};
use super::progress::Progress;
use super::unpack::sync_folder;

/// A work folder that nobody locks is a killed run's once it is this old.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Each failed attempt means that another installer was faster.
const PLAIN_ATTEMPTS: usize = 10;
const LOCK_POLL: Duration = Duration::from_millis(100);

/// The folder that holds one folder for each installed plugin.
#[derive(Debug)]
pub struct PluginsFolder(PathBuf);

/// The right to be the only one that installs a plugin, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    prefix: String,
    /// None where the file system has no locks; the rename is safe without.
    held: Option<File>,
}

/// A folder for unfinished work, removed when it is dropped.
#[derive(Debug)]
pub struct WorkFolder(PathBuf);

impl PluginsFolder {
    /// Makes the folder if it is not there.
    pub fn make(path: &Path) -> Result<PluginsFolder> {
        let path = std::path::absolute(path).map_err(|error| problem(Doing::Writing, path, &error))?;
        fs::create_dir_all(&path).map_err(|error| problem(Doing::Writing, &path, &error))?;
        Ok(PluginsFolder(path))
    }

    /// Where a pinned plugin goes.
    pub fn target(&self, pin: &Pin) -> PathBuf {
        self.0.join(pin.folder_name())
    }

    /// Waits until no other process installs the same plugin.
    pub fn lock(&self, pin: &Pin, progress: &Progress, interrupt: &Interrupt) -> Result<Lock> {
        let path = self.0.join(format!(".lock-{}", pin.folder_name()));
        let prefix = work_prefix(pin);
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| problem(Doing::Writing, &path, &error))?;
        let mut told = false;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Lock { prefix, held: Some(file) }),
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(_) => return Ok(Lock { prefix, held: None }),
            }
            if !told {
                progress.say("another cyxla install of this plugin is running; waiting for it");
                told = true;
            }
            interrupt.check()?;
            std::thread::sleep(LOCK_POLL);
        }
    }

    /// Removes what killed runs left: under the lock everything that belongs
    /// to this plugin, and anything that is older than a day.
    pub fn remove_leftovers(&self, lock: &Lock) {
        // What cannot be listed or removed does not hinder the install.
        let Ok(entries) = fs::read_dir(&self.0) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let ours = lock.held.is_some() && name.starts_with(&lock.prefix);
            if ours || (name.starts_with(".tmp-") && is_old(&entry)) {
                remove(&entry.path());
            }
        }
    }

    /// Makes a folder for unfinished work, beside the final one so that it can
    /// be renamed.
    pub fn work_folder(&self, pin: &Pin) -> Result<WorkFolder> {
        let moment = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        let name = format!("{}{}-{moment:x}", work_prefix(pin), std::process::id());
        let path = self.0.join(name);
        fs::create_dir(&path).map_err(|error| problem(Doing::Writing, &path, &error))?;
        Ok(WorkFolder(path))
    }

    /// Refuses an install that would fill the disk, before it begins.
    pub fn check_space(&self, pin: &Pin, fetch: bool) -> Result<()> {
        // pip downloads into one folder and copies into another.
        let wheels = if fetch { 2 * pin.wheel_size } else { 0 };
        let needed = wheels + pin.library_size;
        // A file system that does not tell gets the benefit of the doubt.
        let Ok(facts) = statvfs(&self.0) else { return Ok(()) };
        let free = facts.f_bavail.saturating_mul(facts.f_frsize);
        if free >= needed {
            return Ok(());
        }
        let message = format!(
            "the disk has too little space: installing needs {} MB in {}, and {} MB are free",
            needed.div_ceil(1_000_000),
            self.0.display(),
            free / 1_000_000
        );
        Err(Error::new(Code::ResourceExhausted, Origin::System, message)
            .hint("free some space, or install elsewhere with --dir DIR"))
    }

    /// Shows a finished plugin under its final name, by one rename. Where one
    /// stands already, the other installer won if its plugin is whole (as
    /// `is_whole` finds out); else the two change places.
    pub fn publish(&self, finished: &Path, target: &Path, is_whole: impl Fn() -> Result<bool>) -> Result<()> {
        let failed = |error: Errno| problem(Doing::Writing, target, &error.into());
        match renameat_with(CWD, finished, CWD, target, RenameFlags::NOREPLACE) {
            Ok(()) => return sync_folder(&self.0),
            Err(Errno::EXIST) if is_whole()? => return Ok(()),
            Err(Errno::EXIST) => {}
            Err(Errno::INVAL | Errno::NOSYS) => return self.publish_plainly(finished, target, is_whole),
            Err(error) => return Err(failed(error)),
        }
        match renameat_with(CWD, finished, CWD, target, RenameFlags::EXCHANGE) {
            Ok(()) => sync_folder(&self.0),
            // Somebody took the damaged one away in the meantime.
            Err(Errno::NOENT | Errno::INVAL | Errno::NOSYS) => {
                self.publish_plainly(finished, target, is_whole)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// The same on a file system that cannot exchange two folders: for a moment
    /// there is no plugin, but never a broken one.
    fn publish_plainly(
        &self,
        finished: &Path,
        target: &Path,
        is_whole: impl Fn() -> Result<bool>,
    ) -> Result<()> {
        let failed = |error: io::Error| problem(Doing::Writing, target, &error);
        for attempt in 0..PLAIN_ATTEMPTS {
            // A rename does not replace a folder that holds something.
            if fs::symlink_metadata(target).is_ok_and(|facts| facts.is_dir()) {
                if is_whole()? {
                    return Ok(());
                }
                let aside = finished.with_file_name(format!("replaced-{attempt}"));
                match fs::rename(target, aside) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                    _ => {}
                }
            } else if let Err(error) = fs::remove_file(target)
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(failed(error));
            }
            match fs::rename(finished, target) {
                Ok(()) => return sync_folder(&self.0),
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                Err(error) => return Err(failed(error)),
            }
        }
        let message = format!("{} is replaced by others again and again", target.display());
        Err(Error::new(Code::Aborted, Origin::System, message).hint("try again"))
    }
}

impl WorkFolder {
    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn work_prefix(pin: &Pin) -> String {
    format!(".tmp-{}-", pin.folder_name())
}

fn is_old(entry: &fs::DirEntry) -> bool {
    let modified = entry.metadata().and_then(|facts| facts.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > DAY))
}

/// Removes a folder, a file or a link; what stays is removed by a later run.
fn remove(path: &Path) {
    if fs::remove_dir_all(path).is_err() {
        let _ = fs::remove_file(path);
    }
}
