//! `cyxla install`: what it puts where, with a small package of the tests' own.

mod support;
#[path = "support/wheel.rs"]
mod wheel;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use cyxla::error::Code;
use support::{cyxla, error_json, failure_text, file, plugin, stderr, success_json};

const SIZE: usize = 300_000;

#[test]
fn a_plugin_is_installed_and_found() {
    let home = tempfile::tempdir().unwrap();
    let plugins = home.path().join("cyxla/plugins");
    let package = wheel::make(home.path(), SIZE);
    let pin = wheel::pin(&package, SIZE);
    let done = wheel::put(&package, &pin, &plugins, false).unwrap();
    assert!(!done.already);
    assert_eq!(done.library, plugins.join("cpu-0.99/plugin.so"));
    assert!(wheel::is_there(&plugins, &pin));
    assert_eq!(wheel::leftovers(&plugins), 0);

    // The library's own search finds what was installed.
    let list = cyxla().args(["plugins", "--json"]).env("XDG_DATA_HOME", home.path()).output().unwrap();
    let list = success_json(&list);
    assert_eq!(list["problems"], serde_json::json!([]));
    assert_eq!(list["plugins"][0]["path"], done.library.to_str().unwrap());
    assert_eq!(list["plugins"][0]["platform"], "cpu");
    assert_eq!(list["plugins"][0]["version"], "0.99");
    // It is the one that is taken; the made-up library is no plugin, though.
    let why = list["plugins"][0]["why_not_default"].as_str().unwrap();
    assert_eq!(why, "it would be taken, and would fail: it is not an ELF file");

    let touched = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let before = touched(&done.library);
    assert!(wheel::put(&package, &pin, &plugins, false).unwrap().already);
    assert_eq!(touched(&done.library), before);
    assert!(!wheel::put(&package, &pin, &plugins, true).unwrap().already);
    assert_ne!(touched(&done.library), before);
    assert!(wheel::is_there(&plugins, &pin));
    assert_eq!(wheel::leftovers(&plugins), 0);
}

#[test]
fn a_damaged_plugin_is_replaced() {
    let home = tempfile::tempdir().unwrap();
    let plugins = home.path().join("plugins");
    let package = wheel::make(home.path(), SIZE);
    let pin = wheel::pin(&package, SIZE);
    let folder = plugins.join("cpu-0.99");
    type Damage<'a> = (&'a str, &'a dyn Fn());
    let damages: [Damage<'_>; 9] = [
        ("a changed byte", &|| {
            let mut bytes = fs::read(folder.join("plugin.so")).unwrap();
            bytes[SIZE / 2] ^= 1;
            fs::write(folder.join("plugin.so"), bytes).unwrap();
        }),
        ("a short library", &|| fs::write(folder.join("plugin.so"), "x").unwrap()),
        ("no library", &|| fs::remove_file(folder.join("plugin.so")).unwrap()),
        ("no description", &|| fs::remove_file(folder.join("plugin.json")).unwrap()),
        ("an empty description", &|| fs::write(folder.join("plugin.json"), "").unwrap()),
        ("another description", &|| fs::write(folder.join("plugin.json"), "{}").unwrap()),
        ("no header", &|| fs::remove_file(folder.join("api.h")).unwrap()),
        ("a file in its place", &|| {
            fs::remove_dir_all(&folder).unwrap();
            fs::write(&folder, "x").unwrap();
        }),
        ("a broken link in its place", &|| {
            fs::remove_dir_all(&folder).unwrap();
            symlink("/nonexistent", &folder).unwrap();
        }),
    ];
    wheel::put(&package, &pin, &plugins, false).unwrap();
    for (what, damage) in damages {
        damage();
        let done = wheel::put(&package, &pin, &plugins, false).unwrap();
        assert!(!done.already, "{what}");
        assert!(wheel::is_there(&plugins, &pin), "{what}");
        assert_eq!(wheel::leftovers(&plugins), 0, "{what}");
    }
}

#[test]
fn a_wheel_with_another_hash_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let plugins = home.path().join("plugins");
    let package = wheel::make(home.path(), SIZE);
    let pin = wheel::pin(&package, SIZE);
    let mut bytes = fs::read(&package).unwrap();
    bytes[SIZE / 2] ^= 1;
    let changed = file(home.path(), "changed.whl", bytes);
    let error = wheel::put(&changed, &pin, &plugins, false).unwrap_err();
    assert_eq!(error.code(), Code::DataLoss);
    assert!(error.message().contains(pin.wheel_sha256), "{error}");
    assert!(error.detail("hint").unwrap().contains("pip download"), "{error}");
    assert!(!wheel::is_there(&plugins, &pin));

    // The command knows only its own packages.
    let text = failure_text(
        &cyxla()
            .args(["install", "cpu", "--dir"])
            .arg(&plugins)
            .arg("--wheel")
            .arg(&package)
            .output()
            .unwrap(),
    );
    assert!(text.contains("none of the wheels") && text.contains(pin.wheel_sha256), "{text}");
    let output = cyxla()
        .args(["install", "cpu", "--version", "0.81", "--json", "--dir"])
        .arg(&plugins)
        .arg("--wheel")
        .arg(&package)
        .output()
        .unwrap();
    let error = error_json(&output);
    assert_eq!(error["code"], "DATA_LOSS");
    assert!(error["message"].as_str().unwrap().contains("xla-cpu-pjrt==0.0.1"), "{error}");
    assert_eq!(stderr(&output), "");
    assert!(!wheel::is_there(&plugins, &pin));
}

#[test]
fn a_wheel_that_holds_something_else_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let plugins = home.path().join("plugins");
    let package = wheel::make(home.path(), SIZE);
    let good = wheel::pin(&package, SIZE);
    // As if the list of packages in the command were wrong.
    let other = cyxla_cli::install::Pin { library_sha256: good.wheel_sha256, ..good.clone() };
    let error = wheel::put(&package, &other, &plugins, false).unwrap_err();
    assert_eq!(error.code(), Code::DataLoss);
    let missing = cyxla_cli::install::Pin { library: "nowhere/plugin.so", ..good.clone() };
    let error = wheel::put(&package, &missing, &plugins, false).unwrap_err();
    assert_eq!(error.code(), Code::DataLoss);
    let text = file(home.path(), "text.whl", "this is no archive");
    let pin = wheel::pin(&text, SIZE);
    let error = wheel::put(&text, &pin, &plugins, false).unwrap_err();
    assert!(error.message().contains("cannot unpack"), "{error}");
    assert!(!wheel::is_there(&plugins, &good));
    assert_eq!(wheel::leftovers(&plugins), 0);
}

#[test]
fn what_killed_runs_left_is_removed() {
    let home = tempfile::tempdir().unwrap();
    let plugins = home.path().join("plugins");
    let package = wheel::make(home.path(), SIZE);
    let pin = wheel::pin(&package, SIZE);
    let left = |name: &str, age: Duration| {
        let folder = plugins.join(name);
        fs::create_dir_all(folder.join("plugin")).unwrap();
        fs::write(folder.join("plugin/plugin.so"), "half").unwrap();
        let time = SystemTime::now() - age;
        fs::File::open(&folder).unwrap().set_modified(time).unwrap();
        folder
    };
    let days = |count: u64| Duration::from_secs(count * 24 * 60 * 60);
    let own = left(".tmp-cpu-0.99-123-45", days(0));
    let others = left(".tmp-cpu-0.9-123-45", days(0));
    let old = left(".tmp-cpu-0.1-123-45", days(2));
    let foreign = left("notes", days(9));
    wheel::put(&package, &pin, &plugins, false).unwrap();
    assert!(!own.exists(), "nobody works on it: we hold its lock");
    assert!(others.exists(), "another install may be at work on it");
    assert!(!old.exists(), "nobody works for two days");
    assert!(foreign.exists(), "not ours");
}

#[test]
fn folders_that_cannot_be_used_are_told() {
    let home = tempfile::tempdir().unwrap();
    let package = wheel::make(home.path(), SIZE);
    let pin = wheel::pin(&package, SIZE);
    let error = wheel::put(&package, &pin, &package.join("plugins"), false).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
    assert!(error.message().contains("is a file"), "{error}");
    assert!(error.detail("hint").unwrap().contains("--dir"), "{error}");
    let missing = home.path().join("nosuch.whl");
    let error = wheel::put(&missing, &pin, home.path(), false).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);

    let output =
        cyxla().args(["install", "cpu"]).env_remove("HOME").env_remove("XDG_DATA_HOME").output().unwrap();
    let text = failure_text(&output);
    assert!(text.contains("neither XDG_DATA_HOME nor HOME") && text.contains("--dir DIR"), "{text}");
}

#[test]
fn the_real_plugin_is_recognized_as_intact() {
    let library = plugin();
    let folder = library.parent().unwrap();
    let text = fs::read(folder.join("plugin.json")).unwrap_or_else(|error| {
        panic!("{}: {error}; CYXLA_TEST_PLUGIN must be one that `cyxla install` put there", folder.display())
    });
    let manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let output = cyxla()
        .args(["install", "cpu", "--json", "--version", manifest["version"].as_str().unwrap(), "--dir"])
        .arg(folder.parent().unwrap())
        // Without Python nothing can be fetched by mistake.
        .env("CYXLA_PYTHON", "/nonexistent")
        .output()
        .unwrap();
    let value = success_json(&output);
    assert_eq!(value["already_installed"], true);
    assert_eq!(value["path"], library.to_str().unwrap());
    for key in ["platform", "version", "package", "package_version"] {
        assert_eq!(value[key], manifest[key]);
    }
}

/// A Python that does what the script says.
fn python(folder: &Path, script: &str) -> std::path::PathBuf {
    let path = file(folder, "python", format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn each_failure_of_pip_is_a_sentence() {
    let cases = [
        ("echo 'python3: No module named pip' >&2; exit 1", "NOT_FOUND", "has no pip"),
        (
            "echo 'ERROR: Could not find a version that satisfies the requirement x (from versions: none)' >&2; exit 1",
            "NOT_FOUND",
            "no version of lammps-jax-pjrt-cpu at all",
        ),
        (
            "echo \"WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError'\" >&2; exit 1",
            "UNAVAILABLE",
            "cannot reach the package index",
        ),
        ("echo 'OSError: [Errno 28] No space left on device'; exit 2", "RESOURCE_EXHAUSTED", "disk is full"),
        ("kill -9 $$", "UNAVAILABLE", "pip failed"),
        ("exit 0", "INTERNAL", "left none"),
        // The last argument but one is the folder for the wheel.
        (
            "while [ $# -gt 2 ]; do shift; done; echo wrong > \"$1/x.whl\"",
            "DATA_LOSS",
            "is not the wheel of lammps-jax-pjrt-cpu==0.11.2",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (script, code, words) in cases {
        let output = cyxla()
            .args(["install", "cpu", "--json", "--dir"])
            .arg(folder.path().join("plugins"))
            .env("CYXLA_PYTHON", python(folder.path(), script))
            .output()
            .unwrap();
        let error = error_json(&output);
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
        assert_eq!(wheel::leftovers(&folder.path().join("plugins")), 0, "{error}");
    }
    for missing in [folder.path().join("nosuch"), folder.path().join("plugins")] {
        let output = cyxla()
            .args(["install", "cpu", "--json", "--dir"])
            .arg(folder.path().join("plugins"))
            .env("CYXLA_PYTHON", missing)
            .output()
            .unwrap();
        let error = error_json(&output);
        assert_eq!(error["code"], "NOT_FOUND");
        assert!(error["message"].as_str().unwrap().starts_with("cannot run pip"), "{error}");
        assert!(error["details"]["hint"].as_str().unwrap().contains("python3-pip"), "{error}");
    }
}
