//! `cyxla info`: what a plugin offers, found out in a child process.

use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use cyxla::discover;
use cyxla::error::{Error, Result};
use cyxla::options::Options;
use cyxla::runtime::{self, RuntimeInfo};
use serde_json::{Value, json};

use crate::args::{InfoArgs, LoadArgs};
use crate::console::Console;
use crate::{error_json, supervise, table};

/// Loads the plugin that the arguments choose, in this process.
pub fn initialize(args: &LoadArgs) -> Result<&'static RuntimeInfo> {
    initialize_for(args, args.platform.as_deref())
}

/// The same for a platform.
pub fn initialize_for(args: &LoadArgs, platform: Option<&str>) -> Result<&'static RuntimeInfo> {
    let mut options = Options::new();
    for text in &args.options {
        options.parse(text)?;
    }
    // No options at all lets the library take those of CYXLA_OPTIONS.
    let options = (!options.is_empty()).then_some(&options);
    runtime::initialize(args.plugin.as_deref(), platform, options)
}

/// The child's part: loads the plugin and prints one line.
pub fn load(args: &LoadArgs, console: &mut Console) -> Result<()> {
    supervise::die_with_parent();
    let answer = match initialize(args) {
        Ok(info) => format!("{{\"info\":{}}}\n", one_line(&info.json)?),
        Err(error) => format!("{}\n", json!({ "error": error_json::to_json(&error) })),
    };
    console.print(&answer)
}

fn one_line(text: &str) -> Result<String> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Error::internal(format!("the library's details are no JSON: {error}")))?;
    Ok(value.to_string())
}

/// The parent's part: asks a child and shows its answer.
pub fn info(args: &InfoArgs, console: &mut Console) -> Result<()> {
    let arguments = [vec!["load".into()], load_arguments(&args.load)].concat();
    let limit = Duration::from_secs(args.timeout);
    let info = ask(&arguments, || plugin_path(&args.load, &[]), |_| (), Some(limit))?["info"].take();
    if console.json() { console.print_json(&info) } else { console.print(&text(&info)) }
}

/// Asks a child that loads a plugin, of which `path` tells where it is.
pub fn ask(
    arguments: &[OsString],
    path: impl FnOnce() -> Option<String>,
    set_up: impl FnOnce(&mut Command),
    limit: Option<Duration>,
) -> Result<Value> {
    let answer = supervise::ask(arguments, set_up, limit).map_err(|error| match path() {
        Some(path) => error.with("plugin.path", path),
        None => error,
    })?;
    if answer["error"].is_object() {
        return Err(error_json::from_json(&answer["error"]));
    }
    Ok(answer)
}

/// The arguments as they are passed on to a child.
pub fn load_arguments(args: &LoadArgs) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    // The form with "=" keeps a value that begins with a dash a value.
    let mut pass = |flag: &str, value: &std::ffi::OsStr| {
        let mut argument = OsString::from(flag);
        argument.push(value);
        arguments.push(argument);
    };
    if let Some(platform) = &args.platform {
        pass("--platform=", platform.as_ref());
    }
    if let Some(plugin) = &args.plugin {
        pass("--plugin=", plugin.as_ref());
    }
    for option in &args.options {
        pass("--option=", option.as_ref());
    }
    arguments
}

/// The library that the child tries to load, for one of these platforms if the arguments
/// name none, as far as it is known beforehand.
pub fn plugin_path(args: &LoadArgs, platforms: &[String]) -> Option<String> {
    if let Some(path) = &args.plugin {
        return Some(path.display().to_string());
    }
    let wanted = args.platform.as_ref().map_or(platforms, std::slice::from_ref);
    discover::find().choose(wanted).map(|found| found.path.display().to_string())
}

/// What a person looks for first.
const FIRST: [&str; 6] =
    ["platform", "platform_version", "api_version", "plugin_path", "plugin_origin", "devices"];

/// The details as text: a line for each value, a table for each list of things.
fn text(info: &Value) -> String {
    let Some(info) = info.as_object() else { return format!("{info}\n") };
    let first = FIRST.iter().filter_map(|key| info.get_key_value(*key));
    // Extensions are bare numbers, which mean something to programs only.
    // A plugin that needs no CUDA libraries has nothing to say of them.
    let is_shown = |key: &str, value: &Value| match key {
        "plugin_extensions" => false,
        "preload" => !value.is_null(),
        _ => !FIRST.contains(&key),
    };
    let rest = info.iter().filter(|(key, value)| is_shown(key, value));
    let mut rows = Vec::new();
    let mut tables = String::new();
    for (key, value) in first.chain(rest) {
        let title = key.replace('_', " ");
        match value.as_array() {
            Some(items) if items.iter().any(Value::is_object) => {
                tables.push_str(&format!("\n{title}:\n{}", table_of(items)));
            }
            _ => rows.push(vec![title, words(value)]),
        }
    }
    table::columns(&rows) + &tables
}

fn table_of(items: &[Value]) -> String {
    let objects: Vec<_> = items.iter().filter_map(Value::as_object).collect();
    let mut keys: Vec<&String> = Vec::new();
    for key in objects.iter().flat_map(|object| object.keys()) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let heading = [String::new()].into_iter().chain(keys.iter().map(|key| key.to_uppercase()));
    let mut rows = vec![heading.collect::<Vec<_>>()];
    for object in objects {
        let cells = keys.iter().map(|key| object.get(*key).map_or(String::new(), words));
        rows.push([String::new()].into_iter().chain(cells).collect());
    }
    table::columns(&rows)
}

fn words(value: &Value) -> String {
    match value {
        Value::Null => "unknown".to_owned(),
        Value::Bool(truth) => if *truth { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Object(object) if object.is_empty() => "none".to_owned(),
        Value::Object(object) => {
            let pairs = object.iter().map(|(key, value)| format!("{key}={}", plain(value)));
            pairs.collect::<Vec<_>>().join(", ")
        }
    }
}

/// An option's value as it is written after `-o key=`.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
