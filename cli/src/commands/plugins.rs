//! `cyxla plugins`: what is there to run programs with.

use cyxla::discover::{self, Found, PluginList};
use cyxla::error::Result;
use serde_json::{Value, json};

use crate::console::Console;
use crate::table;

/// Lists the plugins without opening any.
pub fn plugins(console: &mut Console) -> Result<()> {
    let list = discover::find();
    if console.json() { console.print_json(&json(&list)) } else { console.print(&text(&list)) }
}

fn json(list: &PluginList) -> Value {
    let plugins: Vec<Value> = list
        .plugins
        .iter()
        .map(|found| {
            json!({
                "platform": found.platform,
                "path": found.path.to_string_lossy(),
                "origin": found.origin,
                "version": found.version,
                "is_default": found.is_default,
                "options": found.options.to_json(),
                "problem": found.problem,
            })
        })
        .collect();
    let problems: Vec<Value> = list
        .failures
        .iter()
        .map(|failure| json!({ "subject": failure.subject, "problem": failure.problem }))
        .collect();
    json!({ "plugins": plugins, "problems": problems })
}

fn text(list: &PluginList) -> String {
    let mut text = String::new();
    if list.plugins.is_empty() {
        text.push_str("No plugin found. Looked at:\n");
        for place in &list.searched {
            text.push_str(&format!("  {place}\n"));
        }
        text.push_str("Install one for the CPU with: cyxla install cpu\n");
    } else {
        let mut rows = vec![["", "PLATFORM", "VERSION", "STATE", "PATH"].map(str::to_owned).to_vec()];
        rows.extend(list.plugins.iter().map(row));
        text.push_str(&table::columns(&rows));
        text.push('\n');
        text.push_str(match list.plugins.iter().find(|found| found.is_default) {
            Some(_) => "* is used when nothing else is asked for.\n",
            None => "None of them is usable. Install one for the CPU with: cyxla install cpu\n",
        });
    }
    if !list.failures.is_empty() {
        text.push_str("\nProblems:\n");
        for failure in &list.failures {
            text.push_str(&format!("  {}: {}\n", failure.subject, failure.problem));
        }
    }
    text
}

fn row(found: &Found) -> Vec<String> {
    let or = |text: &str, other: &str| if text.is_empty() { other } else { text }.to_owned();
    vec![
        if found.is_default { "*" } else { "" }.to_owned(),
        or(&found.platform, "?"),
        found.version.clone().unwrap_or_else(|| "?".to_owned()),
        found.problem.clone().unwrap_or_else(|| "ok".to_owned()),
        found.path.display().to_string(),
    ]
}
