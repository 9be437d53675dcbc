//! Inputs and outputs in a table.

use serde_json::Value;

use super::text::Limits;
use crate::{table, words};

/// A longer name or type pushes what is behind it to the right, in its own row only.
const WIDEST: usize = 60;

/// A heading, and a row for each.
pub fn section(title: &str, tensors: Option<&Vec<Value>>, limits: Limits) -> String {
    let Some(tensors) = tensors else {
        return format!("{title}: known once it is compiled\n");
    };
    if tensors.is_empty() {
        return format!("{title}: none\n");
    }
    let text = format!("{title}: {}\n", summary(tensors));
    let shown = &tensors[..tensors.len().min(limits.rows)];
    let mut text = text + &rows(shown, limits);
    if let more @ 1.. = tensors.len() - shown.len() {
        text.push_str(&format!("  ... and {more} more; --json has all\n"));
    }
    text
}

/// How many, how large, and how many of them are special.
fn summary(tensors: &[Value]) -> String {
    let sizes: Option<Vec<u64>> = tensors.iter().map(|tensor| tensor["size"].as_u64()).collect();
    let mut parts = vec![tensors.len().to_string()];
    let total = |sizes: Vec<u64>| sizes.into_iter().fold(0_u64, u64::saturating_add);
    parts.push(sizes.map_or("of unknown size".to_owned(), |sizes| words::exact_size(total(sizes))));
    for (key, due, word) in [("is_donated", true, "donated"), ("is_kept", false, "dropped")] {
        match tensors.iter().filter(|tensor| tensor[key] == due).count() {
            0 => {}
            count => parts.push(format!("{count} {word}")),
        }
    }
    parts.join(", ")
}

fn rows(tensors: &[Value], limits: Limits) -> String {
    let has_names = tensors.iter().any(|tensor| tensor["name"].is_string());
    let has_notes = tensors.iter().any(|tensor| !notes(tensor).is_empty());
    let sizes: Vec<(String, String)> = tensors.iter().map(sizes).collect();
    let width = |of: fn(&(String, String)) -> usize| sizes.iter().map(of).max().unwrap_or(0);
    let (size_width, bytes_width) = (width(|pair| pair.0.len()).max(4), width(|pair| pair.1.len()).max(5));
    let index_width = (tensors.len() - 1).to_string().len().max(5);
    let row = |index: &str, name: &str, kind: &str, size: &str, bytes: &str, notes: &str| {
        let mut row = vec![format!("  {index:>index_width$}")];
        row.extend(has_names.then(|| name.to_owned()));
        row.push(kind.to_owned());
        row.extend([format!("{size:>size_width$}"), format!("{bytes:>bytes_width$}")]);
        row.extend(has_notes.then(|| notes.to_owned()));
        row
    };
    let mut rows = vec![row("INDEX", "NAME", "TYPE", "SIZE", "BYTES", "NOTES")];
    for (index, (tensor, (size, bytes))) in tensors.iter().zip(&sizes).enumerate() {
        let short = |text: &str| words::shortened(text, limits.characters);
        let name = short(tensor["name"].as_str().unwrap_or_default());
        rows.push(row(
            &index.to_string(),
            &name,
            &short(&array_type(tensor)),
            size,
            bytes,
            &short(&notes(tensor)),
        ));
    }
    table::columns_up_to(&rows, WIDEST)
}

/// The type as messages write it: `f32[4,8]`.
fn array_type(tensor: &Value) -> String {
    let dims = tensor["dims"].as_array().map(Vec::as_slice).unwrap_or_default();
    let dims = dims.iter().map(|dim| dim.as_str().map_or_else(|| dim.to_string(), str::to_owned));
    format!("{}[{}]", tensor["dtype"].as_str().unwrap_or("?"), dims.collect::<Vec<_>>().join(","))
}

/// The size for people and in bytes.
fn sizes(tensor: &Value) -> (String, String) {
    match tensor["size"].as_u64() {
        Some(size) => (words::size(size), size.to_string()),
        None => ("?".to_owned(), "?".to_owned()),
    }
}

fn notes(tensor: &Value) -> String {
    let mut notes = Vec::new();
    if tensor["is_donated"] == true {
        notes.push("donated".to_owned());
    }
    if tensor["is_kept"] == false {
        notes.push("dropped".to_owned());
    }
    notes.extend(tensor["sharding"].as_str().map(|sharding| format!("sharding {sharding}")));
    notes.join(", ")
}
