//! A description as text for people.

use serde_json::Value;

use super::tensors;
use crate::{table, words};

/// How much of what may be endless is shown.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Inputs, and outputs.
    pub rows: usize,
    /// Characters of a value.
    pub characters: usize,
}

impl Limits {
    /// For a person at a terminal.
    pub const TERMINAL: Limits = Limits { rows: 40, characters: 400 };
    /// For a file or another program.
    pub const NONE: Limits = Limits { rows: usize::MAX, characters: usize::MAX };
}

/// All that is known, and what keeps it from running.
pub fn all(description: &Value, limits: Limits) -> String {
    let rows =
        [general(description), surroundings_of(description), of_module(description), of_jax(description)];
    let mut text = table(&rows.concat(), limits);
    for (title, key) in [("inputs", "inputs"), ("outputs", "outputs")] {
        text.push('\n');
        text.push_str(&tensors::section(title, description[key].as_array(), limits));
    }
    let problem = &description["problem"];
    if let Some(message) = problem["message"].as_str() {
        text.push_str(&format!("\ncannot run: {}\n", words::plain(message)));
        if let Some(hint) = problem["hint"].as_str() {
            text.push_str(&format!("  hint: {}\n", words::plain(hint)));
        }
    }
    text
}

/// What a saved executable was compiled by and for.
pub fn surroundings(description: &Value) -> String {
    table(&surroundings_of(description), Limits::TERMINAL)
}

type Row = (&'static str, String);

/// Titles and values in two columns, long values in several lines.
fn table(rows: &[Row], limits: Limits) -> String {
    let mut lines = Vec::new();
    for (title, value) in rows {
        let value = words::shortened(value, limits.characters);
        for (index, line) in words::wrapped(&value).into_iter().enumerate() {
            lines.push(vec![if index == 0 { (*title).to_owned() } else { String::new() }, line]);
        }
    }
    table::columns(&lines)
}

fn general(description: &Value) -> Vec<Row> {
    let number = |key: &str| description[key].as_u64();
    let mut rows: Vec<Row> = Vec::new();
    rows.push(("format", description["encoding"].as_str().unwrap_or_default().to_owned()));
    rows.extend(description["name"].as_str().map(|name| ("name", name.to_owned())));
    if let Some(size) = number("size") {
        let code = number("code_size").filter(|code| *code != size);
        let code = code.map_or(String::new(), |code| format!(", of which the code {}", words::size(code)));
        rows.push(("size", words::exact_size(size) + &code));
    }
    let platforms = list(&description["platforms"]);
    rows.push(("platforms", platforms.unwrap_or_else(|| "not recorded".to_owned())));
    rows.extend(number("device_count").map(|count| ("devices", count.to_string())));
    rows
}

fn of_module(description: &Value) -> Vec<Row> {
    let text = |key: &str| description[key].as_str().map(str::to_owned);
    let mut rows: Vec<Row> = Vec::new();
    match text("stablehlo") {
        Some(version) => rows.push(("StableHLO", version)),
        None => rows.extend(text("written_by").map(|writer| ("written by", writer))),
    }
    if description["custom_calls"].is_array() {
        let calls = list(&description["custom_calls"]);
        rows.push(("custom calls", calls.unwrap_or_else(|| "none".to_owned())));
    }
    rows
}

fn of_jax(description: &Value) -> Vec<Row> {
    let export = &description["jax_export"];
    if !export.is_object() {
        return Vec::new();
    }
    let jax = export["jax_version"].as_str().unwrap_or("version not recorded");
    let convention = &export["calling_convention_version"];
    let form = &export["serialization_version"];
    let mut rows = vec![("JAX", format!("{jax}; calling convention {convention}, serialization {form}"))];
    for (title, key) in [("arguments", "in_tree"), ("result", "out_tree")] {
        rows.extend(export[key].as_str().map(|tree| (title, tree.to_owned())));
    }
    for (title, key) in [
        ("ordered effects", "ordered_effects"),
        ("unordered effects", "unordered_effects"),
        ("disabled checks", "disabled_checks"),
    ] {
        rows.extend(list(&export[key]).map(|items| (title, items)));
    }
    if export["uses_global_constants"] == true {
        rows.push(("global constants", "used".to_owned()));
    }
    let vjp = if export["has_vjp"] == true { "inside; --vjp describes it" } else { "none" };
    rows.push(("VJP", vjp.to_owned()));
    rows
}

fn surroundings_of(description: &Value) -> Vec<Row> {
    let saved = &description["saved_executable"];
    if !saved.is_object() {
        return Vec::new();
    }
    let text = |key: &str| saved[key].as_str().unwrap_or_default();
    let features = list(&saved["cpu_features"]).map_or(String::new(), |list| format!(", with {list}"));
    let device_kind = Some(text("device_kind")).filter(|kind| !kind.is_empty()).unwrap_or("unknown");
    let positions = list(&saved["devices"]).unwrap_or_default();
    let platform = description["platforms"][0].as_str().unwrap_or_default();
    let version = Some(text("platform_version")).filter(|version| *version != platform);
    let platform = version.map_or(platform.to_owned(), |version| format!("{platform} ({version})"));
    let (replicas, partitions) = (&saved["replicas"], &saved["partitions"]);
    let options = Some(text("options")).filter(|options| !options.is_empty()).unwrap_or("none");
    vec![
        ("for plugin", format!("{}, PJRT {}", text("plugin"), text("api_version"))),
        ("", format!("sha256 {}", text("plugin_sha256"))),
        ("for platform", platform),
        ("for CPU", format!("{}{features}", text("cpu"))),
        (
            "on devices",
            format!("{positions} of kind {device_kind}; replicas {replicas}, partitions {partitions}"),
        ),
        ("options", options.to_owned()),
        ("saved by", format!("libcyxla {}", text("library_version"))),
    ]
}

/// A list in words; `None` if it is empty or none.
fn list(value: &Value) -> Option<String> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    let words = items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
    Some(words.collect::<Vec<_>>().join(", "))
}
