//! `cyxla inspect`: what a file says, without a plugin.

use cyxla::compile::saved::Saved;
use cyxla::error::{Code, Error, Origin, Result};
use cyxla::program::{self, Inspection};
use serde_json::Value;

use crate::args::InspectArgs;
use crate::console::Console;
use crate::description::{saved, text};
use crate::kind;
use crate::program::{in_file, is_saved};

/// Describes the file of the arguments.
pub fn inspect(args: &InspectArgs, console: &mut Console) -> Result<()> {
    let description = description(args)?;
    if console.json() {
        return console.print_json(&description);
    }
    let limits = if console.is_terminal() { text::Limits::TERMINAL } else { text::Limits::NONE };
    console.print(&text::all(&description, limits))
}

fn description(args: &InspectArgs) -> Result<Value> {
    let bytes = program::read_file(&args.file)?;
    if is_saved(&args.file) {
        let saved = Saved::decode(&bytes).map_err(|error| in_file(error, &args.file))?;
        if args.vjp > 0 {
            let message = "a saved executable holds no VJP";
            return Err(in_file(Error::new(Code::NotFound, Origin::Caller, message), &args.file));
        }
        return Ok(saved::describe(&saved, bytes.len()));
    }
    let read = || {
        let mut inspection = Inspection::of(&bytes)?;
        for _ in 0..args.vjp {
            inspection = inspection.vjp()?;
        }
        Ok(inspection.to_json())
    };
    read().map_err(|error| kind::explained_by(in_file(error, &args.file), &args.file, &bytes))
}
