//! The command line itself: help, exit codes, `plugins`.

mod support;

use std::fs;
use std::process::Stdio;

use support::{cyxla, fake_plugin, file, npy, run, stderr, stdout, success_json};

#[test]
fn the_version_and_the_help_are_printed() {
    let output = run(["--version"]);
    assert_eq!(stdout(&output), format!("cyxla {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(output.status.code(), Some(0));
    for (arguments, words) in [
        (
            vec!["--help"],
            vec!["run", "inspect", "compile", "cache", "info", "plugins", "install", "Exit codes"],
        ),
        (vec!["run", "--help"], vec!["--input", "--output", "outputs.json"]),
        (vec!["inspect", "--help"], vec!["FILE", "--vjp", "Exit codes"]),
        (
            vec!["compile", "--help"],
            vec!["-o, --output", "-c, --compile-option", "--option <KEY=VALUE>", "--plugin"],
        ),
        (vec!["cache", "--help"], vec!["--clear", "--dir", "CYXLA_CACHE_DIR"]),
        (vec!["info", "--help"], vec!["--timeout", "--platform", "KEY=VALUE"]),
        (vec!["install", "--help"], vec!["0.115", "0.106", "0.81", "--wheel", "CYXLA_PYTHON"]),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(0));
        for word in words {
            assert!(stdout(&output).contains(word), "{arguments:?} lacks {word}");
        }
    }
    for hidden in ["  load", "  execute", "  save", "  attempt"] {
        assert!(!stdout(&run(["--help"])).contains(hidden), "a subcommand for the command alone");
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for arguments in [
        vec![],
        vec!["frobnicate"],
        vec!["run"],
        vec!["run", "x", "--nonsense"],
        vec!["info", "-o", "novalue"],
        vec!["info", "-o", "=value"],
        vec!["info", "--timeout", "0"],
        vec!["inspect"],
        vec!["compile", "x"],
        vec!["compile", "x", "-o", ""],
        vec!["compile", "x", "-o", "y", "-c", "novalue"],
        vec!["cache", "somewhere"],
        vec!["install"],
        vec!["install", "cuda"],
        vec!["install", "cpu", "--version", "0.1"],
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
        assert!(!stderr(&output).is_empty(), "{arguments:?}");
    }
    let text = stderr(&run(["install", "cuda"]));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("`pip install \"jax-cuda13-pjrt[with-cuda]\"` (or jax-cuda12-pjrt)"), "{text}");
    let text = stderr(&run(["run", "add.mlir", "a.npy", "b.npy"]));
    assert!(text.contains("tip: give each input with --input"), "{text}");
    let text = stderr(&run(["info", "-o", "a=1", "-o", "a=2"]));
    assert!(text.contains("duplicate option 'a'"), "{text}");
    let text = stderr(&run(["compile", "x", "-o", "y", "-c", "a=1", "-c", "a=2"]));
    assert!(text.contains("duplicate option 'a'"), "{text}");
}

#[test]
fn wrong_usage_is_json_where_json_is_asked_for() {
    for (arguments, words, hint) in [
        (vec!["--json"], "a subcommand is missing", Some("see cyxla --help")),
        (vec!["--json", "run"], "arguments were not provided: <FILE>", None),
        (vec!["run", "x", "a.npy", "--json"], "argument 'a.npy' found", Some("give each input with --input")),
        (vec!["install", "cuda", "--json"], "jax-cuda13-pjrt", None),
        (vec!["info", "--json", "-oa=1", "-oa=2"], "duplicate option 'a'", None),
    ] {
        let output = run(&arguments);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(2), ""), "{arguments:?}");
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let error = &value["error"];
        assert_eq!(error["code"], "INVALID_ARGUMENT");
        assert!(error["message"].as_str().unwrap().contains(words), "{value:#}");
        assert_eq!(error["details"]["hint"].as_str(), hint, "{value:#}");
    }
    assert!(stdout(&run(["run", "--help", "--json"])).contains("Usage"), "help is no error");
}

#[test]
fn arrays_in_place_of_the_program_are_recognized() {
    let folder = tempfile::tempdir().unwrap();
    let array = npy(folder.path(), "a.npy", "|u1", "(1,)", false, b"1");
    let archive = file(folder.path(), "a.npz", b"PK\x03\x04and so on");
    for path in [array, archive] {
        let output = run(["run".as_ref(), path.as_os_str()]);
        assert_eq!(output.status.code(), Some(1));
        let text = stderr(&output);
        assert!(text.contains("is a NumPy file") && text.contains("give the program first"), "{text}");
    }
}

#[test]
fn no_plugins_is_no_error_and_says_what_to_do() {
    let output = run(["plugins"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("cyxla install cpu"), "{}", stdout(&output));
    let value = success_json(&run(["plugins", "--json"]));
    assert_eq!((&value["plugins"], &value["problems"]), (&serde_json::json!([]), &serde_json::json!([])));
    assert!(value["searched"].to_string().contains("CYXLA_PLUGIN"), "{value}");
}

#[test]
fn plugins_are_listed_with_their_problems() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("cyxla/plugins");
    for (name, manifest) in [
        ("cpu-0.9", r#"{"format": 1, "platform": "cpu", "library": "p.so", "version": "0.9"}"#),
        ("cpu-0.10", r#"{"format": 1, "platform": "cpu", "library": "p.so", "version": "0.10"}"#),
        ("broken", "{"),
        (".tmp-cpu-0.11-1", "{"),
    ] {
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("plugin.json"), manifest).unwrap();
    }
    fs::copy(fake_plugin(), folder.join("cpu-0.9/p.so")).unwrap();
    let list =
        |arguments: &[&str]| cyxla().args(arguments).env("XDG_DATA_HOME", home.path()).output().unwrap();
    let value = success_json(&list(&["plugins", "--json"]));
    let plugins = value["plugins"].as_array().unwrap();
    assert_eq!(plugins.len(), 2, "{value}");
    let keys = [
        "default_options",
        "is_default",
        "options",
        "origin",
        "path",
        "platform",
        "problem",
        "version",
        "why_not_default",
    ];
    for plugin in plugins {
        let has: Vec<_> = plugin.as_object().unwrap().keys().collect();
        assert_eq!(has, keys);
    }
    assert_eq!(plugins[0]["version"], "0.10");
    assert!(plugins[0]["problem"].is_string(), "its library is missing: {value}");
    assert_eq!(plugins[0]["is_default"], false);
    assert_eq!(plugins[1]["problem"], serde_json::Value::Null);
    assert_eq!(plugins[1]["is_default"], true);
    assert_eq!(plugins[1]["path"], folder.join("cpu-0.9/p.so").to_str().unwrap());
    let problems = value["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{value}");
    assert!(problems[0]["subject"].as_str().unwrap().contains("broken"), "{value}");
    assert!(problems[0]["problem"].is_string());

    let text = stdout(&list(&["plugins"]));
    assert!(text.lines().any(|line| line.starts_with("*  cpu") && line.contains("0.9")), "{text}");
    assert!(text.contains("Problems:") && text.contains("broken"), "{text}");
}

#[test]
fn a_closed_or_full_standard_output_does_no_harm() {
    let mut child = cyxla().arg("plugins").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = cyxla().arg("plugins").stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("cyxla: cannot write to standard output"), "{}", stderr(&output));
}
