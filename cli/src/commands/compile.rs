//! `cyxla compile`: compiles a program and saves what the plugin made of it.

use std::ffi::OsString;
use std::process::Stdio;

use cyxla::compile::saved::Saved;
use cyxla::error::{Error, Result};
use serde_json::json;

use crate::args::CompileArgs;
use crate::console::Console;
use crate::description::{saved, text};
use crate::output_file::OutputFile;
use crate::program::{self, Source};
use crate::{error_json, supervise, words};

/// The parent's part: lets a child do it and shows what it says.
pub fn compile(args: &CompileArgs, console: &mut Console) -> Result<()> {
    let mut passed_on: Vec<OsString> = vec!["save".into()];
    if console.json() {
        passed_on.push("--json".into());
    }
    passed_on.extend(super::info::load_arguments(&args.load));
    let mut output = OsString::from("--output=");
    output.push(&args.output);
    passed_on.push(output);
    passed_on.extend(args.program.to_arguments());
    let answer = super::info::ask(
        &passed_on,
        || super::info::plugin_path(&args.load, &program::platforms(&args.program)),
        |command| {
            command.stderr(Stdio::inherit());
        },
        None,
    )?;
    console.print(answer["text"].as_str().unwrap_or_default())
}

/// The child's part: compiles, writes the file and prints one line, the text to show.
pub fn save(args: &CompileArgs, console: &mut Console) -> Result<()> {
    supervise::die_with_parent();
    let answer = match saved_as(args, console) {
        Ok(text) => json!({ "text": text }),
        Err(error) => json!({ "error": error_json::to_json(&error) }),
    };
    console.print(&format!("{answer}\n"))
}

fn saved_as(args: &CompileArgs, console: &mut Console) -> Result<String> {
    let file = OutputFile::new(&args.output, &args.program.file)?;
    let source = Source::open(&args.program)?;
    if let Source::Saved(_) = source {
        return Err(Error::invalid_argument(format!("{} is compiled already", args.program.file.display()))
            .hint("copy it, or compile the program that it was made from"));
    }
    supervise::begin("was loaded", console)?;
    source.initialize(&args.load)?;
    supervise::begin("compiled the program", console)?;
    let bytes = source.executable()?.to_bytes()?;
    file.write(&bytes)?;
    let saved_executable = Saved::decode(&bytes)?;
    let mut description = saved::describe(&saved_executable, bytes.len());
    if console.json() {
        description["path"] = args.output.to_string_lossy().into();
        return Ok(format!("{description:#}\n"));
    }
    let (path, size) = (args.output.display(), words::exact_size(bytes.len() as u64));
    Ok(format!("{path}: {size}\n{}", text::surroundings(&description)))
}
