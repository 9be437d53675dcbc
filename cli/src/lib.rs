//! The command `cyxla`: the way to try libcyxla from a shell.
//!
//! | module | job |
//! |---|---|
//! | `args` | the command line and its help |
//! | `usage` | takes the command line apart, says what is wrong with it |
//! | `console` | standard output, errors, `--json` |
//! | `commands` | one file a subcommand |
//! | `supervise` | loads a plugin in a child process that may die |
//! | `program` | the program that the arguments name, to be compiled or loaded |
//! | `kind` | what a file that is no program looks like |
//! | `description` | what is known of a program, as JSON and as text |
//! | `output_file` | writes a file whole or not at all |
//! | `doctor` | finds out what is wrong with a plugin |
//! | `quiet` | keeps a plugin's progress messages off the terminal |
//! | `npy` | reads and writes `.npy` files |
//! | `arguments` | which file goes to which input, and whether it fits |
//! | `element`, `decimal`, `summary` | values of every element type, printed as NumPy prints them |
//! | `table`, `words` | text in columns; sizes, times and foreign text in words |
//! | [`install`] | fetches a pinned plugin and puts it in place |

#![forbid(unsafe_code)]

mod args;
mod arguments;
mod commands;
mod console;
mod decimal;
mod description;
mod doctor;
mod element;
mod error_json;
pub mod install;
mod kind;
mod memory;
mod npy;
mod output_file;
mod program;
mod quiet;
mod summary;
mod supervise;
mod table;
mod usage;
mod whole;
mod words;

use std::process::ExitCode;

use args::Command;
use console::Console;

/// Runs the command with the process's arguments.
pub fn main() -> ExitCode {
    let args = match usage::parse() {
        Ok(args) => args,
        Err(code) => return code,
    };
    let mut console = match Console::take(args.json) {
        Ok(console) => console,
        Err(error) => return console::report_without_output(&error),
    };
    let outcome = match args.command {
        Command::Run(args) => commands::run::run(&args, &mut console),
        Command::Execute(args) => commands::run::execute(&args, &mut console),
        Command::Inspect(args) => commands::inspect::inspect(&args, &mut console),
        Command::Compile(args) => commands::compile::compile(&args, &mut console),
        Command::Save(args) => commands::compile::save(&args, &mut console),
        Command::Cache(args) => commands::cache::cache(&args, &mut console),
        Command::Info(args) => commands::info::info(&args, &mut console),
        Command::Plugins(args) => match &args.options {
            Some(platform) => commands::options::options(platform, &mut console),
            None => commands::plugins::plugins(&mut console),
        },
        Command::Doctor(args) => match commands::doctor::doctor(&args, &mut console) {
            Ok(true) => Ok(()),
            // The report has said what is wrong.
            Ok(false) => return ExitCode::FAILURE,
            Err(error) => Err(error),
        },
        Command::Install(args) => commands::install::install(&args, &mut console),
        Command::Load(args) => commands::info::load(&args, &mut console),
        Command::Attempt(args) => doctor::steps::attempt(&args, &mut console),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => console.report(&error),
    }
}
