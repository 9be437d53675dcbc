//! What the tests of the command share.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A variable that `cargo xtask test` sets.
pub fn required(name: &str) -> PathBuf {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    PathBuf::from(value.unwrap_or_else(|| panic!("{name} must be set: run `cargo xtask test`")))
}

/// The real plugin under test.
pub fn plugin() -> PathBuf {
    required("CYXLA_TEST_PLUGIN")
}

/// The minor version of PJRT that it implements.
pub fn plugin_minor() -> u32 {
    let version = required("CYXLA_TEST_PLUGIN_API").display().to_string();
    version.split('.').nth(1).and_then(|minor| minor.parse().ok()).expect("a version such as 0.115")
}

/// A plugin that misbehaves as `CYXLA_FAKE_PLUGIN` says.
pub fn fake_plugin() -> PathBuf {
    required("CYXLA_TEST_FAKE")
}

/// The command, with nothing of the caller's environment that steers it.
pub fn cyxla() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyxla"));
    for name in [
        "CYXLA_PLUGIN",
        "CYXLA_PLATFORM",
        "CYXLA_OPTIONS",
        "CYXLA_PYTHON",
        "CYXLA_CACHE_DIR",
        "CYXLA_FAKE_PLUGIN",
        "XLA_FLAGS",
    ] {
        command.env_remove(name);
    }
    // No plugin is installed here, whatever the person at the keyboard has.
    command.env("XDG_DATA_HOME", "/nonexistent").stdin(Stdio::null());
    command
}

/// Runs the command with arguments.
pub fn run<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    cyxla().args(arguments).output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Standard output as JSON, of a command that succeeded.
#[track_caller]
pub fn success_json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(output), stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The error that a command with `--json` printed; its exit code is 1.
#[track_caller]
pub fn error_json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(1), "{}{}", stdout(output), stderr(output));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = value["error"].clone();
    assert!(error["code"].is_string() && error["message"].is_string(), "{value}");
    assert!(error["details"].is_object(), "{value}");
    error
}

/// What a command that failed printed to standard error, and nothing elsewhere.
#[track_caller]
pub fn failure_text(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}{}", stdout(output), stderr(output));
    assert_eq!(stdout(output), "");
    stderr(output)
}

/// Writes a file and gives its path.
pub fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// A `.npy` file put together by hand, so that the command's reader is not
/// tested with its own writer.
pub fn npy(folder: &Path, name: &str, descr: &str, shape: &str, fortran: bool, data: &[u8]) -> PathBuf {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    file(folder, name, [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat())
}

/// The header's text and the data of a `.npy` file of version 1.
pub fn read_npy(path: &Path) -> (String, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00", "{}", path.display());
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((10 + length) % 64, 0, "the data is aligned");
    let header = String::from_utf8(bytes[10..10 + length].to_vec()).unwrap();
    (header.replace(", )", ",)"), bytes[10 + length..].to_vec())
}

/// The bytes of numbers as they lie in memory.
pub fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The fake plugin with another function in one place of its table.
pub fn wrapped(folder: &Path, slot: &str, body: &str) -> PathBuf {
    let text = format!(
        "#include <dlfcn.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"{}\"\n\
         static PJRT_Error *replaced({slot}_Args *args) {{ (void)args; {body} }}\n\
         const PJRT_Api *GetPjrtApi(void) {{\n\
         const PJRT_Api *(*get)(void) = dlsym(dlopen(\"{}\", RTLD_NOW), \"GetPjrtApi\");\n\
         const PJRT_Api *api = get(); PJRT_Api *copy = malloc(api->struct_size);\n\
         memcpy(copy, api, api->struct_size); copy->{slot} = replaced; return copy; }}\n",
        required("CYXLA_TEST_HEADER").display(),
        fake_plugin().display()
    );
    let source = file(folder, "plugin.c", text);
    let library = folder.join("plugin.so");
    let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(status.expect("a C compiler, which `cargo xtask test` asks for").success());
    library
}

/// A file of the library's own tests.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(name)
}
