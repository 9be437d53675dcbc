//! The published dlpack.h, kept in the cache beside the plugins.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::pinned;
use crate::project;

/// The wheel that carries the header, which has no package of its own.
const WHEEL: &str = "apache-tvm-ffi==0.1.15.post2 \
    --hash=sha256:8ecebe749834f6ac0f2693d5964acf9ac75d0bc26e6ba64c46eb7ab00ea50fac\n";

/// Of that wheel there is one for each Python; the header in it is for all.
const TARGET: [&str; 4] =
    ["--platform=manylinux_2_28_x86_64", "--python-version=3.11", "--implementation=cp", "--abi=cp311"];

/// Within the wheel.
const HEADER: &str = "tvm_ffi/include/dlpack/dlpack.h";

/// Where the header is, once `ensure` has put it there.
pub fn published_header() -> Result<PathBuf> {
    Ok(folder()?.join("dlpack.h"))
}

/// Downloads the header if it is not in the cache yet.
pub fn ensure() -> Result<()> {
    let header = published_header()?;
    if !header.is_file() {
        download(&folder()?, &header)?;
    }
    println!("dlpack.h: {}", header.display());
    Ok(())
}

fn folder() -> Result<PathBuf> {
    Ok(project::cache()?.join("dlpack-1.3"))
}

fn download(folder: &Path, header: &Path) -> Result<()> {
    let unpacked = pinned::unpack(folder, WHEEL, &TARGET)?;
    let found = unpacked.join(HEADER);
    fs::rename(&found, header).map_err(|error| format!("cannot move {}: {error}", found.display()))?;
    let _ = fs::remove_dir_all(&unpacked);
    Ok(())
}
