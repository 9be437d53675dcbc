//! Rules that keep the sources readable and `unsafe` in few places.

use std::fs;
use std::path::{Path, PathBuf};

/// A file does one thing; past this length it does two.
const LINES: usize = 400;
/// Where foreign code is called or calls us; `env` asks the C library, since
/// Rust's own reader does not heed privileged processes.
const UNSAFE: [&str; 4] = ["src/capi/", "src/pjrt/", "src/plugin/", "src/env.rs"];

/// The sources of the library and of the command, by their path in the tree.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["src", "cli/src"] {
        collect(&root.join(folder), &mut paths);
    }
    assert!(paths.len() > 10, "only {} source files found", paths.len());
    paths
        .iter()
        .map(|path| {
            let name = path.strip_prefix(root).expect("a path below the root").display().to_string();
            (name, fs::read_to_string(path).expect("a source file"))
        })
        .collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

fn too_long(text: &str) -> bool {
    text.lines().count() > LINES
}

/// The first mark of unfinished work. Put together here, so that this file
/// itself holds none.
fn unfinished(text: &str) -> Option<String> {
    let marks = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"], ["todo", "!("], ["unimplemented", "!("]];
    marks.iter().map(|parts| parts.concat()).find(|mark| text.contains(mark.as_str()))
}

/// Whether code (not a comment) has the word `unsafe`.
fn is_unsafe(text: &str) -> bool {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(|line| line.split(|letter: char| !letter.is_alphanumeric() && letter != '_'))
        .any(|word| word == "unsafe")
}

#[test]
fn files_are_short() {
    let long: Vec<String> = sources()
        .iter()
        .filter(|(_, text)| too_long(text))
        .map(|(name, text)| format!("{name} ({} lines)", text.lines().count()))
        .collect();
    assert!(long.is_empty(), "over {LINES} lines, split them: {}", long.join(", "));
}

#[test]
fn nothing_is_left_unfinished() {
    for (name, text) in sources() {
        assert_eq!(unfinished(&text), None, "in {name}");
    }
}

#[test]
fn unsafe_stays_where_foreign_code_is() {
    let sources = sources();
    let elsewhere = sources.iter().filter(|(name, _)| !UNSAFE.iter().any(|folder| name.starts_with(folder)));
    let names: Vec<&str> =
        elsewhere.filter(|(_, text)| is_unsafe(text)).map(|(name, _)| name.as_str()).collect();
    assert!(names.is_empty(), "`unsafe` outside {}: {}", UNSAFE.join(", "), names.join(", "));
}

#[test]
fn each_rule_can_be_broken() {
    assert!(too_long(&"\n".repeat(LINES + 1)) && !too_long(&"\n".repeat(LINES)));
    assert!(unfinished(&["// TO", "DO later"].concat()).is_some());
    assert!(unfinished(&["todo", "!()"].concat()).is_some());
    assert!(unfinished("// all done").is_none());
    assert!(is_unsafe("let a = unsafe { b() };"));
    assert!(is_unsafe("#[unsafe(no_mangle)]"));
    assert!(!is_unsafe("// an unsafe comment") && !is_unsafe("let not_unsafe_at_all = 1;"));
}

/// The layers, the lowest first; each calls only those before it.
const LAYERS: [&str; 7] = ["pjrt", "plugin", "discover", "program", "compile", "runtime", "capi"];

/// The first layer above its own that a source file calls.
fn calls_up(path: &str, text: &str) -> Option<&'static str> {
    let own = LAYERS.iter().position(|layer| path.starts_with(&format!("src/{layer}/")))?;
    LAYERS[own + 1..].iter().find(|above| text.contains(&format!("crate::{above}"))).copied()
}

#[test]
fn layers_only_call_down() {
    for (path, text) in sources() {
        let above = calls_up(&path, &text);
        assert_eq!(above, None, "{path} calls a layer above its own");
    }
}

#[test]
fn a_call_up_is_noticed() {
    assert_eq!(calls_up("src/discover/mod.rs", "use crate::program::Program;"), Some("program"));
    assert_eq!(calls_up("src/program/mod.rs", "use crate::discover::find;"), None);
    assert_eq!(calls_up("src/error.rs", "use crate::capi;"), None);
}
