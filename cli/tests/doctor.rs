//! `cyxla doctor`: plugins that work, and each way in which one can be ill.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{cyxla, fake_plugin, plugin, required, stderr, stdout};

fn doctor(script: &str, arguments: &[&str], path: &Path) -> Output {
    let mut command = cyxla();
    command.env("CYXLA_FAKE_PLUGIN", script).arg("doctor").args(arguments).arg(path);
    command.output().unwrap()
}

/// The report about one plugin, and whether the command called it usable.
#[track_caller]
fn report(output: &Output) -> (Value, bool) {
    let value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", stdout(output), stderr(output)));
    let usable = value["is_usable"].as_bool().unwrap();
    assert_eq!(output.status.code(), Some(if usable { 0 } else { 1 }), "{value:#}");
    assert_eq!(stderr(output), "", "a report is all that is printed");
    (value["plugins"][0].clone(), usable)
}

#[track_caller]
fn check(report: &Value, name: &str) -> Value {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no check {name} in {report:#}")).clone()
}

fn words(check: &Value) -> String {
    format!("{} {}", check["text"], check["notes"])
}

#[track_caller]
fn assert_check(report: &Value, name: &str, state: &str, part: &str) {
    let check = check(report, name);
    assert_eq!(check["state"], state, "{check:#}");
    assert!(words(&check).contains(part), "{check:#} lacks {part}");
}

#[test]
fn a_plugin_that_works_is_usable_in_every_respect() {
    let (report, usable) = report(&doctor("", &["--json"], &plugin()));
    assert!(usable && report["is_usable"] == true && report["is_chosen"] == true);
    assert_eq!(report["platform"], "cpu");
    let version = required("CYXLA_TEST_PLUGIN_API").display().to_string();
    assert_check(&report, "file", "ok", "shared library");
    assert_check(&report, "libraries", "ok", "are there");
    assert_check(&report, "version", "ok", &format!("PJRT {version}, StableHLO 0.9.0 to 1."));
    assert_check(&report, "client", "ok", "platform cpu, 1 device");
    if version == "0.115" {
        assert_check(&report, "options", "ok", "takes cpu_device_count, asynchronous, process_id");
        assert_check(&report, "execution", "ok", "in the calling thread (20 of 20");
    } else {
        assert_check(&report, "options", "note", "ignores those");
        assert_eq!(check(&report, "execution")["is_synchronous"], false);
    }
}

#[test]
fn people_get_a_line_for_each_check() {
    let output = doctor("works", &[], &fake_plugin());
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.starts_with("cpu (would be used): usable\n"), "{text}");
    for line in [
        "  version    ok  PJRT 0.115, StableHLO 0.9.0 to 1.20.0",
        "  options    ok  takes cpu_device_count, asynchronous, process_id",
        "The plugin that would be used is usable.",
    ] {
        assert!(text.lines().any(|one| one == line), "{text} lacks {line}");
    }
}

#[test]
fn a_plugin_that_kills_hangs_or_prints_is_a_line() {
    let (killed, usable) = report(&doctor("aborts", &["--json"], &fake_plugin()));
    assert!(!usable);
    assert_check(&killed, "version", "problem", "killed the process (signal 6, SIGABRT)");
    assert_check(&killed, "client", "skipped", "cannot be loaded");

    let (noisy, _) = report(&doctor("noisy", &["--json"], &fake_plugin()));
    assert_check(&noisy, "version", "ok", "noise on stdout");
    assert_check(&noisy, "client", "problem", "synthetic failure");
    assert_check(&noisy, "execution", "skipped", "no client");

    let folder = tempfile::tempdir().unwrap();
    let hanging =
        compiled(folder.path(), "#include <unistd.h>\nvoid *GetPjrtApi(void) { sleep(1000); return 0; }");
    let begin = Instant::now();
    let (hangs, _) = report(&doctor("", &["--json", "--timeout", "1"], &hanging));
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    assert_check(&hangs, "version", "problem", "within 1 s");
}

#[test]
fn what_fails_later_leaves_what_went_well_before() {
    let (report, usable) = report(&doctor("initialize_fails", &["--json"], &fake_plugin()));
    assert!(!usable);
    assert_check(&report, "version", "ok", "PJRT 0.115");
    assert_check(&report, "options", "note", "could not be asked");
    assert_check(&report, "client", "problem", "synthetic failure");
}

#[test]
fn execution_is_measured_and_not_believed() {
    let (liar, usable) = report(&doctor("works,always_async,delay_ms=20", &["--json"], &fake_plugin()));
    assert!(!usable);
    assert_check(
        &liar,
        "execution",
        "problem",
        "it promised to run in the calling thread and does not: 0 of 20",
    );
    let (open, usable) = report(&doctor("works,lenient,async,delay_ms=20", &["--json"], &fake_plugin()));
    assert!(usable);
    assert_check(&open, "execution", "ok", "on threads of its own (0 of 20");
    assert_check(&open, "client", "ok", "default options that it does not know: asynchronous");
}

fn compiled(folder: &Path, source: &str) -> PathBuf {
    compile(folder, "plugin", source, &[])
}

fn compile(folder: &Path, name: &str, source: &str, arguments: &[&Path]) -> PathBuf {
    let file = support::file(folder, &format!("{name}.c"), source);
    let library = folder.join(format!("{name}.so"));
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-o"]).args([&library, &file]).args(arguments);
    assert!(command.status().expect("a C compiler, which `cargo xtask test` asks for").success());
    library
}

#[test]
fn every_missing_library_is_named_with_its_package() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let mut libraries = Vec::new();
    for name in ["librccl.so.1", "libsomething.so.7"] {
        let built =
            compile(&gone, "built", &format!("/* {name} */"), &[Path::new(&format!("-Wl,-soname,{name}"))]);
        let path = gone.join(name);
        fs::rename(built, &path).unwrap();
        libraries.push(path);
    }
    let arguments: Vec<&Path> = libraries.iter().map(PathBuf::as_path).collect();
    let source = "void *GetPjrtApi(void) { return 0; }";
    let library = compile(folder.path(), "plugin", source, &arguments);
    fs::remove_dir_all(gone).unwrap();

    let (report, usable) = report(&doctor("", &["--json"], &library));
    assert!(!usable);
    assert_check(&report, "libraries", "problem", "2 of those that it needs are missing");
    let missing = check(&report, "libraries")["missing"].clone();
    assert_eq!(missing[0]["name"], "librccl.so.1");
    assert_eq!(missing[0]["wheel"], "rocm-sdk-libraries");
    assert_eq!(missing[0]["wanted_by"], library.to_str().unwrap());
    assert_eq!(missing[1]["name"], "libsomething.so.7");
    assert_eq!(missing[1]["wheel"], Value::Null);
    assert_check(&report, "version", "problem", "missing are librccl.so.1, libsomething.so.7");
}

#[test]
fn files_that_are_no_plugins_are_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let text = support::file(folder.path(), "text.so", "hello");
    let other =
        compiled(folder.path(), "__attribute__((constructor)) static void f(void) { __builtin_trap(); }");
    for (path, part) in [
        (text, "not an ELF file"),
        (other, "does not export GetPjrtApi"),
        (folder.path().to_owned(), "directory"),
        ("/no/such/plugin.so".into(), "no such file"),
    ] {
        let (report, usable) = report(&doctor("", &["--json"], &path));
        assert!(!usable);
        assert_check(&report, "file", "problem", part);
        assert_eq!(report["checks"].as_array().unwrap().len(), 1, "{report:#}");
    }
}

#[test]
fn flags_of_xla_that_kill_are_diagnosed() {
    let with_flags = |flags: &str| {
        let mut command = cyxla();
        command.env("XLA_FLAGS", flags).args(["doctor", "--json"]).arg(plugin());
        report(&command.output().unwrap())
    };
    for (flags, part) in [
        ("--xla_no_such_flag=1", "does not know the flag --xla_no_such_flag"),
        ("   ", "it is blank"),
        ("/no/such/file", "the file cannot be read"),
        ("xla_dump_to=/tmp", "does not begin with '--'"),
    ] {
        let (report, usable) = with_flags(flags);
        assert!(!usable, "{flags}");
        assert_check(&report, "XLA_FLAGS", "problem", part);
        // The plugin itself is well.
        assert_check(&report, "execution", "ok", "of 20 runs");
    }
    let (report, usable) = with_flags("--xla_gpu_autotune_level=0");
    assert!(usable);
    assert_check(&report, "XLA_FLAGS", "ok", "well formed");
    // What its shape does not show kills the child, and is told from the rest.
    let (report, usable) = with_flags("--xla_step_marker_location=abc");
    assert!(!usable);
    let told: Vec<String> = ["client", "execution"].iter().map(|name| words(&check(&report, name))).collect();
    assert!(told.iter().any(|words| words.contains("XLA_FLAGS is to blame")), "{report:#}");
    assert!(told.iter().any(|words| words.contains("Flag parsing failed")), "{report:#}");
}

#[test]
fn a_platform_without_a_plugin_and_wrong_usage() {
    let output = cyxla().args(["doctor", "tpu"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no plugin for tpu was found"), "{}", stderr(&output));
    let output = cyxla().args(["doctor", "--json"]).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["plugins"], serde_json::json!([]));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(cyxla().args(["doctor", "cpu", "more"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn without_arguments_the_variable_is_looked_at() {
    let mut command = cyxla();
    command.env("CYXLA_PLUGIN", fake_plugin()).env("CYXLA_FAKE_PLUGIN", "works").args(["doctor", "--json"]);
    let (found, usable) = report(&command.output().unwrap());
    assert!(usable, "{found:#}");
    assert!(found["origin"].as_str().unwrap().contains("CYXLA_PLUGIN"), "{found:#}");
    let mut command = cyxla();
    command.env("CYXLA_PLUGIN", fake_plugin()).env("CYXLA_FAKE_PLUGIN", "aborts").arg("doctor");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).contains("NOT usable (version: the plugin killed the process"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_wrong_variable_is_named_at_the_end() {
    for (name, value) in [("CYXLA_PLUGIN", "/no/such.so"), ("CYXLA_PLATFORM", "C P U")] {
        let output =
            cyxla().arg("doctor").env(name, value).env("CYXLA_PYTHON", "/nonexistent").output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let text = format!("{}{}", stdout(&output), stderr(&output));
        assert!(text.to_lowercase().contains(&format!("correct or unset {}", name.to_lowercase())), "{text}");
    }
}
