//! What a shared library exports, against what the header declares.
//!
//! Used by `cargo xtask symbols` and, through `#[path]`, by tests/exports.rs.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The names in the dynamic symbol table that the library defines.
pub fn exported(library: &Path) -> Result<BTreeSet<String>, String> {
    let output = Command::new("nm")
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(library)
        .output()
        .map_err(|error| format!("cannot start nm (package binutils): {error}"))?;
    if !output.status.success() {
        return Err(format!("nm {}: {}", library.display(), String::from_utf8_lossy(&output.stderr).trim()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_string).collect())
}

/// The functions that a header declares: each name that starts with `cyxla_`
/// and is followed by `(`, outside comments.
pub fn declared(header: &str) -> BTreeSet<String> {
    let code = without_comments(header);
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices('(') {
        let before = &code[..at];
        let start =
            before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |index| index + 1);
        if before[start..].starts_with("cyxla_") {
            names.insert(before[start..].to_string());
        }
    }
    names
}

/// Nothing when both are the same, else a sentence that names each difference.
pub fn compare(exported: &BTreeSet<String>, declared: &BTreeSet<String>) -> Result<(), String> {
    let missing: Vec<&str> = declared.difference(exported).map(String::as_str).collect();
    let extra: Vec<&str> = exported.difference(declared).map(String::as_str).collect();
    if declared.is_empty() {
        return Err("the header declares no function".into());
    }
    match (missing.is_empty(), extra.is_empty()) {
        (true, true) => Ok(()),
        (false, true) => Err(format!("declared in the header, not exported: {}", missing.join(", "))),
        (true, false) => Err(format!("exported, not declared in the header: {}", extra.join(", "))),
        (false, false) => Err(format!(
            "declared in the header, not exported: {}; exported, not declared: {}",
            missing.join(", "),
            extra.join(", ")
        )),
    }
}

fn without_comments(header: &str) -> String {
    let mut code = String::new();
    let mut rest = header;
    while let Some(start) = rest.find("/*") {
        code.push_str(&rest[..start]);
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    code.push_str(rest);
    code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}
