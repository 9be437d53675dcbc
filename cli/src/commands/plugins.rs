//! `cyxla plugins`: what is there to run programs with.

use cyxla::discover::{self, Found, PluginList};
use cyxla::error::Result;
use cyxla::options::Options;
use cyxla::runtime::known_options;
use serde_json::{Value, json};

use crate::console::Console;
use crate::doctor::file;
use crate::table;

/// Lists the plugins, with what their files tell; loads none.
pub fn plugins(console: &mut Console) -> Result<()> {
    let mut list = discover::find();
    for found in &mut list.plugins {
        // What loading would say of the file. The choice of the default stays: the
        // library takes that plugin, and fails.
        found.problem = found.problem.take().or_else(|| file::problem(&found.path));
    }
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
                "is_default": is_working_default(found),
                "why_not_default": why_not_default(found),
                "options": found.options.to_json(),
                "default_options": default_options(found).to_json(),
                "problem": found.problem,
            })
        })
        .collect();
    let problems: Vec<Value> = list
        .failures
        .iter()
        .map(|failure| json!({ "subject": failure.subject, "problem": failure.problem }))
        .collect();
    json!({ "plugins": plugins, "problems": problems, "searched": list.searched })
}

/// Whether it is taken when nobody chooses, and its file does not tell that it fails.
fn is_working_default(found: &Found) -> bool {
    found.is_default && found.problem.is_none()
}

fn why_not_default(found: &Found) -> Option<String> {
    let failing = found.problem.as_ref().filter(|_| found.is_default);
    failing
        .map(|problem| format!("it would be taken, and would fail: {problem}"))
        .or(found.why_not_default.clone())
}

/// The options that a client is created with when the caller sets none: the known
/// defaults of the platform, with those of the package over them.
fn default_options(found: &Found) -> Options {
    known_options::defaults_of(&found.platform, &found.options)
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
        text.push_str(&verdict(list));
        text.push_str(&section("Not the default", list, |found| match found.problem {
            // The table says it.
            Some(_) => None,
            None => found.why_not_default.clone(),
        }));
        text.push_str(&section("Default options", list, |found| {
            let options = default_options(found);
            let pairs: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
            (found.problem.is_none() && !pairs.is_empty()).then(|| pairs.join(", "))
        }));
    }
    if !list.failures.is_empty() {
        text.push_str("\nProblems:\n");
        for failure in &list.failures {
            text.push_str(&format!("  {}: {}\n", failure.subject, failure.problem));
        }
    }
    text
}

/// Which of them is used.
fn verdict(list: &PluginList) -> String {
    // One that nobody declares a platform for is that of the variable.
    let named = list.plugins.iter().find(|found| found.platform.is_empty());
    let is_any_usable = list.plugins.iter().any(|found| found.problem.is_none());
    let default = list.plugins.iter().find(|found| found.is_default);
    match (default, named) {
        (Some(default), _) if default.problem.is_none() => {
            "* is used when nothing else is asked for.\n".to_owned()
        }
        (_, Some(named)) if named.problem.is_some() => format!(
            "The environment variable CYXLA_PLUGIN names {}, which cannot be used: it would fail ({}). No \
             other is taken in its place.\nCorrect the variable or unset it.\n",
            named.path.display(),
            named.problem.as_deref().unwrap_or_default()
        ),
        (Some(default), _) => format!(
            "{} would be taken when nothing else is asked for, and would fail: {}.\nRemove it or install it \
             again, or name another with --platform or --plugin.\n",
            default.path.display(),
            default.problem.as_deref().unwrap_or_default()
        ),
        (None, _) if is_any_usable => "None of them is used unless it is asked for.\n".to_owned(),
        _ => "None of them is usable. Install one for the CPU with: cyxla install cpu\n".to_owned(),
    }
}

/// What there is to say of some of the plugins, by their paths.
fn section(title: &str, list: &PluginList, of: impl Fn(&Found) -> Option<String>) -> String {
    let line = |found: &Found| of(found).map(|words| format!("  {}: {words}\n", found.path.display()));
    let lines: String = list.plugins.iter().filter_map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{title}:\n{lines}") }
}

fn row(found: &Found) -> Vec<String> {
    let or = |text: &str, other: &str| if text.is_empty() { other } else { text }.to_owned();
    vec![
        if is_working_default(found) { "*" } else { "" }.to_owned(),
        or(&found.platform, "?"),
        found.version.clone().unwrap_or_else(|| "?".to_owned()),
        found.problem.clone().unwrap_or_else(|| "ok".to_owned()),
        found.path.display().to_string(),
    ]
}
