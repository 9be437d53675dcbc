//! `cyxla run`: compiles a program, runs it once, shows or saves what it gives.
//!
//! All that is done in a child process, which the plugin may end. The child's
//! standard input and error are the command's own: an input may be a pipe, and what
//! the plugin says while it works is seen at once.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use cyxla::error::Result;
use cyxla::program::TensorSpec;
use serde_json::{Value, json};

use crate::args::RunArgs;
use crate::console::{Console, note};
use crate::output_file::cannot_write;
use crate::program::{self, Source};
use crate::whole::Whole;
use crate::words::plain;
use crate::{arguments, error_json, memory, npy, summary, supervise};

/// Outputs printed to a terminal; a program may have a thousand.
const MOST_PRINTED: usize = 20;
const LISTING: &str = "outputs.json";

/// The parent's part: lets a child do it and shows what it says.
pub fn run(args: &RunArgs, console: &mut Console) -> Result<()> {
    let passed_on = child_arguments(args, console.json());
    let answer = super::info::ask(
        &passed_on,
        || super::info::plugin_path(&args.load, &program::platforms(&args.program)),
        |command| {
            command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
        },
        None,
    )?;
    console.print(answer["text"].as_str().unwrap_or_default())
}

fn child_arguments(args: &RunArgs, json: bool) -> Vec<OsString> {
    let mut passed_on: Vec<OsString> = vec!["execute".into()];
    if json {
        passed_on.push("--json".into());
    }
    passed_on.extend(super::info::load_arguments(&args.load));
    passed_on.extend(args.inputs.iter().map(|input| format!("--input={input}").into()));
    if let Some(folder) = &args.output {
        let mut output = OsString::from("--output=");
        output.push(folder);
        passed_on.push(output);
    }
    passed_on.extend(args.program.to_arguments());
    passed_on
}

/// The child's part: runs the program and prints one line, the text to show.
pub fn execute(args: &RunArgs, console: &mut Console) -> Result<()> {
    supervise::die_with_parent();
    let answer = match outputs(args, console) {
        Ok(text) => json!({ "text": text }),
        Err(error) => json!({ "error": error_json::to_json(&error) }),
    };
    console.print(&format!("{answer}\n"))
}

/// Runs the program of the arguments and gives what is to be shown.
fn outputs(args: &RunArgs, console: &mut Console) -> Result<String> {
    // What can be wrong without a plugin is told before one is loaded.
    let source = Source::open(&args.program)?;
    let given = arguments::read(&args.inputs)?;
    if let Some(folder) = &args.output {
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    }
    supervise::begin("was loaded", console)?;
    source.initialize(&args.load)?;
    supervise::begin("compiled or ran the program", console)?;
    let executable = source.executable()?;
    let whole = Whole::new(&executable, source.signature())?;
    let arrays = arguments::assign(given, &whole.inputs)?;

    let inputs: Vec<&[u8]> = arrays.iter().map(|array| array.bytes.as_slice()).collect();
    let sizes = whole.outputs.iter().map(TensorSpec::host_size);
    let mut results: Vec<Vec<u8>> = sizes.map(memory::zeroed).collect::<Result<_>>()?;
    if executable.device_count() == 1 {
        let mut outputs: Vec<&mut [u8]> = results.iter_mut().map(Vec::as_mut_slice).collect();
        executable.run(&inputs, &mut outputs)?;
    } else {
        whole.run(&inputs, &mut results)?;
    }
    match &args.output {
        Some(folder) => save(folder, &whole.outputs, &results, console.json()),
        None => Ok(show(&whole.outputs, &results, console.json())),
    }
}

fn description(spec: &TensorSpec) -> Value {
    json!({ "name": spec.name, "dtype": spec.dtype.name(), "dims": spec.dims })
}

fn save(folder: &Path, specs: &[TensorSpec], results: &[Vec<u8>], json: bool) -> Result<String> {
    let mut listed = Vec::new();
    let mut text = String::new();
    for (index, (spec, bytes)) in specs.iter().zip(results).enumerate() {
        let file = format!("out_{index}.npy");
        let path = folder.join(&file);
        npy::write(&path, spec.dtype, &spec.dims, bytes)?;
        text.push_str(&format!("{}  {}\n", path.display(), spec.array_type()));
        let mut entry = description(spec);
        entry["file"] = file.into();
        listed.push(entry);
    }
    let listing = json!({ "outputs": listed });
    let path = folder.join(LISTING);
    fs::write(&path, format!("{listing:#}\n")).map_err(|error| cannot_write(&path, &error))?;
    Ok(if json { format!("{listing:#}\n") } else { text })
}

fn show(specs: &[TensorSpec], results: &[Vec<u8>], json: bool) -> String {
    let outputs = || specs.iter().zip(results);
    if json {
        let listed: Vec<Value> = outputs()
            .map(|(spec, bytes)| {
                let mut entry = description(spec);
                // Large outputs are for files; null says so.
                entry["values"] = summary::json(spec.dtype, &spec.dims, bytes).into();
                entry
            })
            .collect();
        return format!("{:#}\n", json!({ "outputs": listed }));
    }
    let mut text = String::new();
    for (index, (spec, bytes)) in outputs().enumerate().take(MOST_PRINTED) {
        let name = spec.name.as_ref().map_or(String::new(), |name| format!(" {}", plain(name)));
        let values = summary::text(spec.dtype, &spec.dims, bytes);
        text.push_str(&format!("output {index}{name}: {}\n{values}\n", spec.array_type()));
    }
    if specs.is_empty() {
        note("the program ran; it has no outputs");
    }
    if let more @ 1.. = specs.len().saturating_sub(MOST_PRINTED) {
        text.push_str(&format!("... and {more} more outputs; --output DIR saves all\n"));
    }
    text
}
