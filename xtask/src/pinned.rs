//! Wheels that pip fetches by version and hash, for what is inside of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::process;
use crate::project;

/// Downloads the wheels of a list of requirements into `folder` and unpacks them all into
/// one folder, which is given and is the caller's to move: until then the download is not
/// taken for a whole one. `target` says for which Python and system they are.
pub fn unpack(folder: &Path, requirements: &str, target: &[&str]) -> Result<PathBuf> {
    let (files, unpacked) = (folder.join("files"), folder.join("unpacked"));
    for made in [&files, &unpacked] {
        let _ = fs::remove_dir_all(made);
        project::make_folder(made)?;
    }
    let list = folder.join("requirements.txt");
    project::write(&list, requirements)?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]);
    process::run(pip.args(target).arg("--requirement").arg(&list).arg("--dest").arg(&files))?;
    let entries =
        fs::read_dir(&files).map_err(|error| format!("cannot read {}: {error}", files.display()))?;
    for wheel in entries.flatten() {
        let mut unpack = Command::new("python3");
        process::run(unpack.args(["-m", "zipfile", "-e"]).arg(wheel.path()).arg(&unpacked))?;
    }
    let _ = fs::remove_dir_all(&files);
    Ok(unpacked)
}
