//! Whether something is on this machine.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Where a program is, in the folders of PATH.
pub fn find(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

pub fn on_path(name: &str) -> bool {
    find(name).is_some()
}

/// rustup puts every cargo command on PATH, installed or not, so it is tried.
pub fn cargo_command(name: &str) -> bool {
    works(Command::new("cargo").args([name, "--version"]))
}

/// Where cargo looks when it builds Rust's library.
pub fn rust_sources(_: &str) -> bool {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = sysroot.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    sysroot.is_ok_and(|path| PathBuf::from(path).join("lib/rustlib/src/rust/library/Cargo.lock").is_file())
}

pub fn pip(_: &str) -> bool {
    works(Command::new("python3").args(["-m", "pip", "--version"]))
}

pub fn c_headers(name: &str) -> bool {
    works(Command::new("cc").args(["-x", "c", "-E", "-include", name, "/dev/null", "-o", "/dev/null"]))
}

/// Where bindgen looks, among other places.
pub fn libclang(name: &str) -> bool {
    let versions = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let llvm = versions.filter(|path| path.to_string_lossy().contains("/llvm")).map(|path| path.join("lib"));
    let folders = llvm.chain(["/usr/lib".into(), "/usr/lib64".into(), "/usr/lib/x86_64-linux-gnu".into()]);
    let library = format!("{name}.so");
    let has_it = |folder: PathBuf| {
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        files.map(|file| file.file_name()).any(|file| file.to_string_lossy().starts_with(&library))
    };
    env::var_os("LIBCLANG_PATH").is_some() || folders.into_iter().any(has_it)
}

fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
