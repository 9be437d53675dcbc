//! `cyxla plugins`: which one is used, why the others are not, and with which options.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{cyxla, fake_plugin, file, stdout, success_json};

/// The command in a home that has two plugins for the CPU, one with an option.
fn plugins(home: &Path, arguments: &[&str]) -> Command {
    let folder = home.join("cyxla/plugins.d");
    fs::create_dir_all(&folder).unwrap();
    for (name, options) in [("a", r#"{"cpu_device_count": 3, "own": [1, 2]}"#), ("b", "{}")] {
        fs::copy(fake_plugin(), folder.join(format!("{name}.so"))).unwrap();
        let manifest = format!(
            r#"{{"format": 1, "platform": "cpu", "library": "{name}.so", "create_options": {options}}}"#
        );
        fs::write(folder.join(format!("{name}.json")), manifest).unwrap();
    }
    let mut command = cyxla();
    command.arg("plugins").args(arguments).env("XDG_DATA_HOME", home).env("CYXLA_PYTHON", home);
    command
}

#[test]
fn each_says_why_it_is_not_the_default_and_what_it_is_created_with() {
    let home = tempfile::tempdir().unwrap();
    let value = success_json(&plugins(home.path(), &["--json"]).output().unwrap());
    let (first, second) = (&value["plugins"][0], &value["plugins"][1]);
    assert_eq!((&first["is_default"], &first["why_not_default"]), (&true.into(), &serde_json::Value::Null));
    let why = second["why_not_default"].as_str().unwrap();
    assert!(why.contains("a.so") && why.contains("in the same place"), "{why}");
    assert_eq!(first["options"], serde_json::json!({"cpu_device_count": 3, "own": [1, 2]}));
    let options = serde_json::json!({"asynchronous": false, "cpu_device_count": 3, "own": [1, 2]});
    assert_eq!(first["default_options"], options);
    let options = serde_json::json!({"asynchronous": false, "cpu_device_count": 1});
    assert_eq!(second["default_options"], options);

    let text = stdout(&plugins(home.path(), &[]).output().unwrap());
    let lines: Vec<&str> = text.lines().collect();
    let follows = |title: &str, parts: [&str; 2]| {
        let at = lines.iter().position(|line| *line == title).unwrap_or_else(|| panic!("{text}"));
        assert!(parts.iter().all(|part| lines[at + 1].contains(part)), "{text}");
    };
    follows("Not the default:", ["/b.so: ", "in the same place"]);
    follows("Default options:", ["/a.so: ", "cpu_device_count=3, asynchronous=false, own=1,2"]);
    assert!(lines.contains(&"* is used when nothing else is asked for."), "{text}");
}

#[test]
fn a_broken_variable_is_not_said_to_break_all() {
    let home = tempfile::tempdir().unwrap();
    let text = stdout(&plugins(home.path(), &[]).env("CYXLA_PLUGIN", "/no/such.so").output().unwrap());
    assert!(text.contains("variable CYXLA_PLUGIN names /no/such.so, which cannot be used"), "{text}");
    assert!(!text.contains("None of them"), "{text}");

    let text = stdout(&plugins(home.path(), &[]).env("CYXLA_PLATFORM", "npu").output().unwrap());
    assert!(text.contains("None of them is used unless it is asked for."), "{text}");
    assert!(text.contains("CYXLA_PLATFORM asks for npu"), "{text}");

    for name in ["a", "b"] {
        fs::remove_file(home.path().join(format!("cyxla/plugins.d/{name}.json"))).unwrap();
    }
    let folder = home.path().join("cyxla/plugins.d");
    let manifest = r#"{"format": 1, "platform": "cpu", "library": "gone.so"}"#;
    fs::write(folder.join("gone.json"), manifest).unwrap();
    let mut command = cyxla();
    command.arg("plugins").env("XDG_DATA_HOME", home.path()).env("CYXLA_PYTHON", home.path());
    let text = stdout(&command.output().unwrap());
    assert!(text.contains("None of them is usable. Install one"), "{text}");
    assert!(!text.contains("Not the default") && !text.contains("Default options"), "{text}");
}

#[test]
fn a_file_that_is_no_plugin_is_not_ok_and_not_the_default() {
    let home = tempfile::tempdir().unwrap();
    let text_file = file(home.path(), "notes.so", "no library");
    for (path, reason) in [("/bin/ls", "no PJRT plugin"), (text_file.to_str().unwrap(), "not an ELF file")] {
        let list =
            |arguments: &[&str]| plugins(home.path(), arguments).env("CYXLA_PLUGIN", path).output().unwrap();
        let value = success_json(&list(&["--json"]));
        let named = &value["plugins"][0];
        assert_eq!((&named["path"], &named["is_default"]), (&path.into(), &false.into()));
        assert!(named["problem"].as_str().unwrap().contains(reason), "{value}");
        assert!(named["why_not_default"].as_str().unwrap().contains("would fail: "), "{value}");
        let text = stdout(&list(&[]));
        assert!(text.contains("would fail (") && text.contains(reason), "{text}");
        assert!(!text.lines().any(|line| line.starts_with('*')), "{text}");
    }

    // Found by itself: the library takes it, so no other is said to be used.
    plugins(home.path(), &[]);
    fs::write(home.path().join("cyxla/plugins.d/a.so"), "x").unwrap();
    let mut command = cyxla();
    command.arg("plugins").env("XDG_DATA_HOME", home.path()).env("CYXLA_PYTHON", home.path());
    let text = stdout(&command.output().unwrap());
    assert!(text.contains("a.so would be taken when nothing else is asked for, and would fail: "), "{text}");
    assert!(!text.lines().any(|line| line.starts_with('*')), "{text}");
}
