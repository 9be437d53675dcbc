//! `cyxla run`: compiles a program, runs it once, shows or saves what it gives.

use std::fs;
use std::path::Path;

use cyxla::compile::TensorSpec;
use cyxla::error::{Code, Error, Origin, Result};
use cyxla::program::{Format, Program};
use cyxla::runtime::Executable;
use serde_json::{Value, json};

use crate::args::RunArgs;
use crate::console::{Console, note};
use crate::{arguments, npy, summary};

/// Outputs printed to a terminal; a program may have a thousand.
const MOST_PRINTED: usize = 20;
const LISTING: &str = "outputs.json";

/// Runs the program of the arguments.
pub fn run(args: &RunArgs, console: &mut Console) -> Result<()> {
    // What can be wrong without a plugin is told before one is loaded.
    let program = Program::from_file(&args.program, Format::Detect, None)?;
    let given = arguments::read(&args.inputs)?;
    if let Some(folder) = &args.output {
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    }
    super::info::initialize(&args.load)?;
    let executable = Executable::compile(&program, None)?;
    let arrays = arguments::assign(given, executable.inputs())?;

    let inputs: Vec<&[u8]> = arrays.iter().map(|array| array.bytes.as_slice()).collect();
    let mut results: Vec<Vec<u8>> = executable.outputs().iter().map(memory).collect::<Result<_>>()?;
    let mut outputs: Vec<&mut [u8]> = results.iter_mut().map(Vec::as_mut_slice).collect();
    executable.run(&inputs, &mut outputs)?;
    match &args.output {
        Some(folder) => save(folder, executable.outputs(), &results, console),
        None => show(executable.outputs(), &results, console),
    }
}

fn memory(spec: &TensorSpec) -> Result<Vec<u8>> {
    let size = spec.host_size();
    let mut memory = Vec::new();
    if memory.try_reserve_exact(size).is_err() {
        let message = format!("an output needs {size} bytes of memory, which are not there");
        return Err(Error::new(Code::ResourceExhausted, Origin::System, message));
    }
    memory.resize(size, 0);
    Ok(memory)
}

fn description(spec: &TensorSpec) -> Value {
    json!({ "name": spec.name, "dtype": spec.dtype.name(), "dims": spec.dims })
}

fn save(folder: &Path, specs: &[TensorSpec], results: &[Vec<u8>], console: &mut Console) -> Result<()> {
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
    if console.json() { console.print_json(&listing) } else { console.print(&text) }
}

fn show(specs: &[TensorSpec], results: &[Vec<u8>], console: &mut Console) -> Result<()> {
    let outputs = || specs.iter().zip(results);
    if console.json() {
        let listed: Vec<Value> = outputs()
            .map(|(spec, bytes)| {
                let mut entry = description(spec);
                // Large outputs are for files; null says so.
                entry["values"] = summary::json(spec.dtype, &spec.dims, bytes).into();
                entry
            })
            .collect();
        return console.print_json(&json!({ "outputs": listed }));
    }
    for (index, (spec, bytes)) in outputs().enumerate().take(MOST_PRINTED) {
        let name = spec.name.as_ref().map_or(String::new(), |name| format!(" {name}"));
        let values = summary::text(spec.dtype, &spec.dims, bytes);
        console.print(&format!("output {index}{name}: {}\n{values}\n", spec.array_type()))?;
    }
    if specs.is_empty() {
        note("the program ran; it has no outputs");
    }
    match specs.len().saturating_sub(MOST_PRINTED) {
        0 => Ok(()),
        more => console.print(&format!("... and {more} more outputs; --output DIR saves all\n")),
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    use std::io::ErrorKind as Kind;
    let shown = path.display();
    let (code, message) = match error.kind() {
        Kind::PermissionDenied => (Code::PermissionDenied, format!("you may not write {shown}")),
        Kind::StorageFull => (Code::ResourceExhausted, format!("the disk is full: cannot write {shown}")),
        Kind::AlreadyExists | Kind::NotADirectory => {
            (Code::InvalidArgument, format!("cannot write into {shown}: it is, or is inside, a file"))
        }
        _ => (Code::Unavailable, format!("cannot write {shown}: {error}")),
    };
    Error::new(code, Origin::System, message)
}
