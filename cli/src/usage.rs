//! Takes the command line apart, and says what is wrong with it: for people, or
//! with `--json` as one JSON value like any other error.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error as ClapError, Parser};
use cyxla::error::Error;
use cyxla::options::Options;
use serde_json::json;

use crate::args::{Args, Command};
use crate::error_json::to_json;

const WRONG_USAGE: u8 = 2;

/// The process's arguments; or else what was said of them, as an exit code.
pub fn parse() -> Result<Args, ExitCode> {
    let texts: Vec<OsString> = std::env::args_os().skip(1).collect();
    let parsed = Args::try_parse().map_err(|error| with_tip(error, &texts));
    parsed.and_then(check).map_err(|error| report(&error, &texts))
}

/// What no single argument tells.
fn check(args: Args) -> Result<Args, ClapError> {
    const NONE: &[String] = &[];
    let (of_plugin, of_compiling) = match &args.command {
        Command::Run(run) => (&run.load.options[..], &run.program.compile_options[..]),
        Command::Compile(compile) => (&compile.load.options[..], &compile.program.compile_options[..]),
        Command::Info(info) => (&info.load.options[..], NONE),
        _ => (NONE, NONE),
    };
    match duplicate(of_plugin).or_else(|| duplicate(of_compiling)) {
        None => Ok(args),
        Some(key) => {
            let message = format!("duplicate option '{key}': give each once");
            Err(Args::command().error(ErrorKind::ArgumentConflict, message))
        }
    }
}

/// The key that two options have. Those that are no options are for others to tell.
fn duplicate(texts: &[String]) -> Option<String> {
    let mut known: Vec<String> = Vec::new();
    for text in texts {
        let mut options = Options::new();
        if options.parse(text).is_err() {
            continue;
        }
        for (key, _) in options.iter() {
            if known.iter().any(|other| other == key) {
                return Some(key.to_owned());
            }
            known.push(key.to_owned());
        }
    }
    None
}

/// Files behind the program are mostly meant as its inputs, or as the one to write.
fn with_tip(mut error: ClapError, texts: &[OsString]) -> ClapError {
    let command = texts.iter().find(|text| !text.to_string_lossy().starts_with('-'));
    let is_file = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(text)) => !text.starts_with('-'),
        _ => false,
    };
    let tip = match command.and_then(|text| text.to_str()) {
        Some("run") => "give each input with --input",
        Some("compile") => "give the file to write with -o",
        _ => return error,
    };
    if error.kind() == ErrorKind::UnknownArgument && is_file {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

fn report(error: &ClapError, texts: &[OsString]) -> ExitCode {
    let is_json = texts.iter().take_while(|text| *text != "--").any(|text| text == OsStr::new("--json"));
    if error.use_stderr() && is_json {
        let value = json!({ "error": to_json(&in_words(error)) });
        // That nobody listens changes nothing: the exit code says it too.
        let _ = writeln!(io::stdout(), "{value:#}");
    } else {
        let _ = error.print();
    }
    if error.use_stderr() { ExitCode::from(WRONG_USAGE) } else { ExitCode::SUCCESS }
}

/// The error without the usage around it.
fn in_words(error: &ClapError) -> Error {
    // Their own words are the whole help, and the names of hidden subcommands.
    let missing = [ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, ErrorKind::MissingSubcommand];
    if missing.contains(&error.kind()) {
        return Error::invalid_argument("a subcommand is missing").hint("see cyxla --help");
    }
    let text = error.to_string();
    let mut paragraphs = text.split("\n\n");
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = line(paragraphs.next().unwrap_or_default());
    let result = Error::invalid_argument(first.strip_prefix("error: ").unwrap_or(&first));
    match paragraphs.find_map(|text| text.trim().strip_prefix("tip: ")) {
        Some(tip) => result.hint(line(tip)),
        None => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_that_two_options_have() {
        let duplicate =
            |texts: &[&str]| duplicate(&texts.iter().map(|&text| text.into()).collect::<Vec<_>>());
        assert_eq!(duplicate(&["a=1", "b=1"]), None);
        assert_eq!(duplicate(&["a=1", "b=1", " a =2"]).as_deref(), Some("a"));
        assert_eq!(duplicate(&["a=1;b=2", "b=1"]).as_deref(), Some("b"));
    }
}
