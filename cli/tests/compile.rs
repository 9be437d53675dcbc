//! `cyxla compile` and `cyxla cache`: programs that are compiled once.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use support::{
    cyxla, error_json, f32s, failure_text, fake_plugin, file, fixture, npy, plugin, stderr, stdout,
    success_json, wrapped,
};

const PROGRAM: &str = "exports/platforms_x64.jaxexport";

fn compile(output: &Path, more: &[&str]) -> Output {
    let mut command = cyxla();
    command.arg("compile").arg(fixture(PROGRAM)).arg("-o").arg(output).arg("--plugin").arg(plugin());
    command.args(more).output().unwrap()
}

fn run(program: &Path) -> Command {
    let mut command = cyxla();
    command.arg("run").arg(program).args(["--json", "--plugin"]).arg(plugin());
    command
}

fn input(folder: &Path) -> PathBuf {
    npy(folder, "x.npy", "<f4", "(4,)", false, &f32s(&[1.0, 2.0, 3.0, 4.0]))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_was_compiled_is_described_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("model.cyxla");
    let output = compile(&saved, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let size = fs::metadata(&saved).unwrap().len();
    assert!(text.starts_with(&format!("{}: ", saved.display())), "{text}");
    assert!(text.contains(&format!("({size} bytes)")) && text.contains("\nfor plugin  "), "{text}");
    assert!(text.contains("for platform  cpu"), "{text}");
    assert_eq!(names(folder.path()), ["model.cyxla"]);

    let text = stdout(&cyxla().arg("inspect").arg(&saved).output().unwrap());
    for part in [
        "a saved executable\n",
        "\nfor CPU  ",
        "\nsaved by      libcyxla ",
        "  args[0]  f32[4]  16 B     16\n",
    ] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    let value = success_json(&cyxla().arg("inspect").arg(&saved).arg("--json").output().unwrap());
    assert_eq!((&value["format"], &value["platforms"]), (&json!("saved_executable"), &json!(["cpu"])));
    let plugin_name = plugin().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(value["saved_executable"]["plugin"], plugin_name.as_str());
    assert_eq!(value["problem"], Value::Null);

    let mut command = run(&saved);
    let outputs = success_json(&command.arg("--input").arg(input(folder.path())).output().unwrap());
    assert_eq!(outputs["outputs"][0]["values"], json!([2.0, 3.0, 4.0, 5.0]));
}

#[test]
fn the_answer_in_json_is_that_of_inspect() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("model.cyxla");
    let mut answer = success_json(&compile(&saved, &["--json", "-c", "xla.xla_cpu_enable_fast_math=true"]));
    assert_eq!(answer["path"], saved.to_str().unwrap());
    assert!(answer["saved_executable"]["options"].as_str().unwrap().contains("fast_math=true"), "{answer}");
    answer.as_object_mut().unwrap().remove("path");
    assert_eq!(answer, success_json(&cyxla().arg("inspect").arg(saved).arg("--json").output().unwrap()));
}

#[test]
fn it_is_refused_elsewhere_damaged_and_with_what_comes_too_late() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("model.cyxla");
    assert_eq!(compile(&saved, &[]).status.code(), Some(0));
    let mut other = cyxla();
    other
        .env("CYXLA_FAKE_PLUGIN", "works")
        .arg("run")
        .arg(&saved)
        .args(["--json", "--plugin"])
        .arg(fake_plugin());
    let error = error_json(&other.output().unwrap());
    assert_eq!(error["code"], "FAILED_PRECONDITION");
    assert!(error["message"].as_str().unwrap().contains("was not made for this"), "{error}");

    let error = error_json(&run(&saved).args(["-c", "device=0"]).output().unwrap());
    assert!(error["message"].as_str().unwrap().contains("compile options come too late"), "{error}");
    let error = error_json(&run(&saved).arg("--vjp").output().unwrap());
    assert!(error["message"].as_str().unwrap().contains("no VJP in it"), "{error}");
    let error = failure_text(&compile_file(&saved, &folder.path().join("again")));
    assert!(error.contains("is compiled already"), "{error}");

    let bytes = fs::read(&saved).unwrap();
    let text_mode: Vec<u8> = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").into_bytes();
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    for damaged in [&bytes[..bytes.len() - 1], &bytes[..20], &flipped, &text_mode] {
        let path = file(folder.path(), "damaged", damaged);
        let inspected = error_json(&cyxla().args(["inspect", "--json"]).arg(&path).output().unwrap());
        for error in [inspected, error_json(&run(&path).output().unwrap())] {
            assert_eq!(error["code"], "DATA_LOSS");
            let message = error["message"].as_str().unwrap();
            assert!(
                message.starts_with(&format!("{}: the saved executable is damaged", path.display())),
                "{message}"
            );
        }
    }
}

fn compile_file(program: &Path, output: &Path) -> Output {
    let mut command = cyxla();
    command.arg("compile").arg(program).arg("-o").arg(output).arg("--plugin").arg(plugin()).output().unwrap()
}

#[test]
fn the_file_is_whole_or_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let saved = file(folder.path(), "model.cyxla", "as it was");
    let program = file(folder.path(), "broken.mlir", "module { func.func @main() { stablehlo.nonsense } }");
    assert_eq!(compile_file(&program, &saved).status.code(), Some(1));
    let library = wrapped(folder.path(), "PJRT_Client_Compile", "abort();");
    let before = names(folder.path());
    let copy =
        "module @m { func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> } }";
    let program = file(folder.path(), "broken.mlir", copy);
    let mut command = cyxla();
    command.env("CYXLA_FAKE_PLUGIN", "works").arg("compile").arg(program).arg("--plugin").arg(&library);
    let error = error_json(&command.arg("--json").arg("-o").arg(&saved).output().unwrap());
    assert_eq!(
        error["message"],
        "the plugin killed the process (signal 6, SIGABRT) while it compiled the program"
    );
    assert_eq!(error["details"]["plugin.path"], library.to_str().unwrap());
    assert_eq!((fs::read(&saved).unwrap(), names(folder.path())), (b"as it was".to_vec(), before));
    assert_eq!(compile(&saved, &[]).status.code(), Some(0));
    assert!(fs::read(&saved).unwrap().len() > 1000);
}

#[test]
fn a_place_that_cannot_be_written_is_told_before_a_plugin_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let taken = file(folder.path(), "file", "");
    for (output, words) in [
        (folder.path().join("no/such/out"), "there is no folder"),
        (folder.path().to_owned(), "it is a folder"),
        (taken.join("out"), "is inside, a file"),
        (PathBuf::from("/dev/full"), "it is not a regular file"),
        (fixture(PROGRAM), "it is the program itself"),
    ] {
        let mut command = cyxla();
        command.arg("compile").arg(fixture(PROGRAM)).args(["--json", "--plugin", "/nonexistent", "-o"]);
        let error = error_json(&command.arg(&output).output().unwrap());
        assert!(error["message"].as_str().unwrap().contains(words), "{error} lacks {words}");
    }
}

#[test]
fn options_for_the_plugin_are_not_taken_for_the_file() {
    let output = cyxla().args(["compile", "m.mlir", "-o", "cpu_device_count=2"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("given with --option"), "{}", stderr(&output));
    let output = cyxla().args(["compile", "m.mlir", "m.cyxla", "-o", "x"]).output().unwrap();
    assert!(stderr(&output).contains("tip: give the file to write with -o"), "{}", stderr(&output));
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("model.cyxla");
    let answer =
        success_json(&compile(&saved, &["--option", "cpu_device_count=2", "-c", "device=1", "--json"]));
    assert_eq!(answer["saved_executable"]["devices"], json!([1]));
}

#[test]
fn the_cache_is_listed_and_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, x) = (folder.path().join("cache"), input(folder.path()));
    let listed = |more: &[&str]| {
        let mut command = cyxla();
        command.env("CYXLA_CACHE_DIR", &cache).arg("cache").args(more).output().unwrap()
    };
    let empty =
        json!({"path": cache.to_str().unwrap(), "count": 0, "size": 0, "max_size": 1 << 30, "entries": []});
    assert_eq!(success_json(&listed(&["--json"])), empty);
    assert!(!cache.exists(), "looking makes no folder");

    for _ in 0..2 {
        let mut command = run(&fixture(PROGRAM));
        let output = command.env("CYXLA_CACHE_DIR", &cache).arg("--input").arg(&x).output().unwrap();
        assert_eq!(success_json(&output)["outputs"][0]["values"], json!([2.0, 3.0, 4.0, 5.0]));
    }
    let value = success_json(&listed(&["--json"]));
    assert_eq!(value["count"], 1);
    let entry = &value["entries"][0];
    let on_disk = fs::metadata(entry["path"].as_str().unwrap()).unwrap().len();
    assert_eq!((&entry["size"], &value["size"]), (&json!(on_disk), &json!(on_disk)));
    let text = stdout(&listed(&[]));
    for part in [
        format!("folder          {}\n", cache.display()),
        "executables     1\n".into(),
        format!("({on_disk} bytes), of at most 1.0 GiB"),
        "last used       just now (20".into(),
    ] {
        assert!(text.contains(&part), "{text} lacks {part}");
    }
    // An entry is a saved executable like any other.
    let text = stdout(&cyxla().arg("inspect").arg(entry["path"].as_str().unwrap()).output().unwrap());
    assert!(text.contains("a saved executable\n"), "{text}");

    let by_name = cyxla().args(["cache", "--clear", "--json", "--dir"]).arg(&cache).output().unwrap();
    assert_eq!(
        success_json(&by_name),
        json!({"path": cache.to_str().unwrap(), "removed": 1, "removed_size": on_disk})
    );
    assert!(stdout(&listed(&["--clear"])).starts_with("removed 0 executables, 0 bytes, from "));
    assert_eq!(success_json(&listed(&["--json"])), empty);
}

#[test]
fn a_cache_that_is_off_or_no_folder_is_told() {
    let output = cyxla().arg("cache").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).starts_with("the executable cache is off; to turn it on, set CYXLA_CACHE_DIR"));
    let value = success_json(&cyxla().args(["cache", "--json"]).output().unwrap());
    assert_eq!((&value["path"], &value["count"]), (&Value::Null, &json!(0)));
    let error = error_json(&cyxla().args(["cache", "--clear", "--json"]).output().unwrap());
    assert_eq!(error["code"], "FAILED_PRECONDITION");
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "file", "precious");
    let error =
        error_json(&cyxla().args(["cache", "--clear", "--json", "--dir"]).arg(&path).output().unwrap());
    assert!(error["message"].as_str().unwrap().contains(path.to_str().unwrap()), "{error}");
    // Nothing but its own is removed.
    file(folder.path(), "0.executable", "not of the cache");
    assert_eq!(
        success_json(
            &cyxla().args(["cache", "--clear", "--json", "--dir"]).arg(folder.path()).output().unwrap()
        )["removed"],
        0
    );
    assert_eq!(names(folder.path()), ["0.executable", "file"]);
}
