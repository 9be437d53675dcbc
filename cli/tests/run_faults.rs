//! `cyxla run` with plugins that end the process, and with a pipe for a file.

mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use support::{
    cyxla, error_json, f32s, failure_text, fake_plugin, file, npy, plugin, stderr, stdout, wrapped,
};

const COPY: &str = "module @copy {
  func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
    return %a : tensor<2xf32>
  }
}";

/// What the command says of a plugin that ended the process, as text and as JSON.
fn assert_told(start: impl Fn() -> Command, words: &str, path: &Path) {
    let text = failure_text(&start().output().unwrap());
    assert_eq!(text, format!("cyxla: {words}\n  plugin.path: {}\n", path.display()));
    let error = error_json(&start().arg("--json").output().unwrap());
    assert_eq!((&error["code"], &error["message"]), (&"ABORTED".into(), &words.into()));
    assert_eq!(error["details"]["plugin.path"], path.to_str().unwrap());
}

#[test]
fn a_plugin_that_ends_the_process_is_told_with_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let program = file(folder.path(), "m.mlir", COPY);
    let input = npy(folder.path(), "x.npy", "<f4", "(2,)", false, &f32s(&[1.0, 2.0]));
    let start = |plugin: &Path, script: &str| {
        let mut command = cyxla();
        command.env("CYXLA_FAKE_PLUGIN", script).arg("run").arg(&program).arg("--input").arg(&input);
        command.arg("--plugin").arg(plugin);
        command
    };
    let words = "the plugin killed the process (signal 6, SIGABRT) while it was loaded";
    assert_told(|| start(&fake_plugin(), "aborts"), words, &fake_plugin());

    let library = wrapped(folder.path(), "PJRT_Client_Compile", "abort();");
    let words = "the plugin killed the process (signal 6, SIGABRT) while it compiled or ran the program";
    assert_told(|| start(&library, "works"), words, &library);

    let library = wrapped(folder.path(), "PJRT_LoadedExecutable_Execute", "exit(3);");
    let words = "the plugin ended the process (exit code 3) while it compiled or ran the program";
    assert_told(|| start(&library, "works"), words, &library);
}

#[test]
fn an_input_may_be_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let program = file(folder.path(), "m.mlir", COPY);
    let input = npy(folder.path(), "x.npy", "<f4", "(2,)", false, &f32s(&[1.0, 2.0]));
    let mut command = cyxla();
    command.arg("run").arg(program).arg("--plugin").arg(plugin()).args(["--input", "/dev/stdin"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&std::fs::read(input).unwrap()).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!(stdout(&output), "output 0: f32[2]\n[1. 2.]\n", "{}", stderr(&output));
}
