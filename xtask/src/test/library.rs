//! What the built shared library is: small, alone, named, and closed.

use std::fs;
use std::process::Command;

use crate::Result;
use crate::header;
use crate::process;
use crate::project::{self, Project};
use crate::symbols as names;

const SIZE_LIMIT: u64 = 2_000_000;
const SONAME: &str = "libcyxla.so.0";
/// All that the library may ask the loader for.
const ALLOWED: [&str; 5] =
    ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"];

/// Size, needed libraries, SONAME and the nodelete flag.
pub fn shape(project: &Project) -> Result<()> {
    let library = project.library();
    let size = fs::metadata(&library).map_err(|error| format!("{}: {error}", library.display()))?.len();
    let dynamic = process::output(Command::new("readelf").args(["--dynamic", "--wide"]).arg(&library))?;
    println!("{size} bytes, needs {}", bracketed(&dynamic, "(NEEDED)").join(", "));
    judge(size, &dynamic)
}

/// `dynamic` is what readelf says of the library's dynamic section.
fn judge(size: u64, dynamic: &str) -> Result<()> {
    if size >= SIZE_LIMIT {
        return Err(format!("libcyxla.so has {size} bytes; the limit is {SIZE_LIMIT}"));
    }
    if let Some(other) = bracketed(dynamic, "(NEEDED)").iter().find(|name| !ALLOWED.contains(&name.as_str()))
    {
        return Err(format!("libcyxla.so needs {other}; only {} are allowed", ALLOWED.join(", ")));
    }
    if bracketed(dynamic, "(SONAME)") != [SONAME] {
        return Err(format!("libcyxla.so must have the SONAME {SONAME}; build.rs sets it"));
    }
    if !dynamic.lines().any(|line| line.contains("FLAGS_1") && line.contains("NODELETE")) {
        return Err("libcyxla.so lacks the flag NODELETE; build.rs sets it".into());
    }
    Ok(())
}

/// `cargo xtask symbols`.
pub fn symbols(project: &Project) -> Result<()> {
    let library = project.library();
    if !library.is_file() {
        return Err("there is no release library; run `cargo build --release` first".into());
    }
    let exported = names::exported(&library)?;
    let declared = names::declared(&project::read(&header::path(project))?);
    names::compare(&exported, &declared)?;
    println!("{} functions are exported, the same that cyxla.h declares", exported.len());
    Ok(())
}

/// What stands in brackets on the lines of readelf that have `mark`.
fn bracketed(dynamic: &str, mark: &str) -> Vec<String> {
    let lines = dynamic.lines().filter(|line| line.contains(mark));
    lines.filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = " 0x01 (NEEDED) Shared library: [libc.so.6]\n\
                        0x0e (SONAME) Library soname: [libcyxla.so.0]\n\
                        0x6ffffffb (FLAGS_1) Flags: NOW NODELETE\n";

    #[test]
    fn each_wrong_shape_is_found() {
        assert_eq!(judge(SIZE_LIMIT - 1, GOOD), Ok(()));
        assert!(judge(SIZE_LIMIT, GOOD).is_err());
        let wrong = [
            ("libc.so.6", "libstdc++.so.6"),
            ("libcyxla.so.0", "libcyxla.so"),
            ("SONAME", ""),
            ("NODELETE", ""),
        ];
        for (part, instead) in wrong {
            assert!(judge(1, &GOOD.replace(part, instead)).is_err(), "{part} replaced by {instead}");
        }
    }
}
