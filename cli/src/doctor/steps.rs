//! The child's part: tries one thing with a plugin and prints what came of it.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use clap::ValueEnum;
use cyxla::error::{Code, Result};
use cyxla::options::{Options, Value as OptionValue};
use cyxla::pjrt::Client;
use cyxla::plugin::Plugin;
use cyxla::program::{Format, Program};
use cyxla::runtime::Executable;
use cyxla::runtime::known_options::{self, Known, Since};
use serde_json::{Value, json};

use crate::args::{AttemptArgs, LoadArgs, Step};
use crate::commands::info;
use crate::console::Console;
use crate::{error_json, supervise};

/// Runs the step that the arguments name.
pub fn attempt(args: &AttemptArgs, console: &mut Console) -> Result<()> {
    supervise::die_with_parent();
    let begin = Instant::now();
    let outcome = match args.step {
        Step::Describe => describe(&args.load),
        Step::Options => options(&args.load),
        Step::Client => client(&args.load),
        Step::Execution => execution(&args.load),
    };
    let answer = match outcome {
        Ok(facts) => json!({ "facts": facts, "seconds": begin.elapsed().as_secs_f64() }),
        Err(error) => json!({ "error": error_json::to_json(&error) }),
    };
    console.print(&format!("{answer}\n"))
}

/// The arguments of a child that tries a step.
pub fn arguments(step: Step, load: &LoadArgs) -> Vec<OsString> {
    let name = step.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    [vec!["attempt".into(), name.into()], info::load_arguments(load)].concat()
}

fn describe(load: &LoadArgs) -> Result<Value> {
    let plugin = Plugin::describe(load.plugin.as_deref().unwrap_or(Path::new("")))?;
    let (major, minor) = plugin.api.version();
    let (minimum, current) = plugin.stablehlo_range().unzip();
    Ok(json!({
        "pjrt": format!("{major}.{minor}"),
        "stablehlo_minimum": minimum,
        "stablehlo_current": current,
        "extensions": plugin.api.extensions(),
    }))
}

/// No plugin has an option of this name.
const UNKNOWN: &str = "cyxla_option_probe";

/// Which options the plugin takes. A plugin that refuses names that it does not
/// know is asked for each known one with a value of a wrong kind: it says that the
/// kind is wrong, or that it does not know the name, and makes no client.
fn options(load: &LoadArgs) -> Result<Value> {
    let path = load.plugin.as_deref().unwrap_or(Path::new(""));
    let plugin = Plugin::load(path, load.platform.as_deref(), Vec::new)?;
    let platform = load.platform.clone().unwrap_or_default();
    let refusal = |name: &str, value: OptionValue| -> Result<Option<String>> {
        let mut one = Options::new();
        one.set(name, value)?;
        let failed = Client::create(plugin.api, &one).err();
        let refused = failed.filter(|error| error.code() == Code::InvalidArgument);
        Ok(refused.map(|error| error.message().to_owned()))
    };
    let is_strict = refusal(UNKNOWN, OptionValue::Bool(true))?.is_some_and(|text| text.contains(UNKNOWN));
    if !is_strict {
        return Ok(json!({ "is_strict": false }));
    }
    let (mut accepted, mut refused, mut unclear) = (Vec::new(), Vec::new(), Vec::new());
    let is_plugins = |known: &&Known| known.since != Since::Library;
    for known in known_options::of(&platform).filter(is_plugins) {
        match refusal(known.name, known.kind.wrong_value())? {
            Some(text) if text.contains("Unexpected option name") => refused.push(known.name),
            Some(text) if text.contains(known.name) => accepted.push(known.name),
            _ => unclear.push(known.name),
        }
    }
    Ok(json!({ "is_strict": true, "accepted": accepted, "refused": refused, "unclear": unclear }))
}

fn client(load: &LoadArgs) -> Result<Value> {
    let info = info::initialize(load)?;
    Ok(serde_json::from_str(&info.json).unwrap_or_default())
}

const SIZE: usize = 512;
const RUNS: usize = 20;

/// Whether a program of some milliseconds has ended when the plugin returns from
/// starting it. Programs of under a thousand operations end there in any case.
fn execution(load: &LoadArgs) -> Result<Value> {
    let info = info::initialize(load)?;
    let matrix = format!("tensor<{SIZE}x{SIZE}xf32>");
    let text = format!(
        "module @doctor {{ func.func @main(%a: {matrix}, %b: {matrix}) -> {matrix} {{
            %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({matrix}, {matrix}) -> {matrix}
            return %c : {matrix} }} }}"
    );
    let program = Program::from_bytes(text.as_bytes(), Format::StableHlo, None)?;
    let executable = Executable::compile(&program, None)?;
    let ones = 1f32.to_ne_bytes().repeat(SIZE * SIZE);
    // The first run sets things up.
    executable.ends_within_call(&[&ones, &ones])?;
    let mut ended = 0;
    for _ in 0..RUNS {
        ended += usize::from(executable.ends_within_call(&[&ones, &ones])?);
    }
    Ok(json!({ "runs": RUNS, "ended_within_call": ended, "is_synchronous": info.is_synchronous }))
}
