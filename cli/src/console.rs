//! What the command prints: results on standard output, errors on standard
//! error, and with `--json` one JSON value on standard output for either.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use cyxla::error::{Code, Error, Origin, Result};
use serde_json::{Value, json};

use crate::error_json::to_json;
use crate::words::plain;

/// The process's standard output, kept for the command alone.
pub struct Console {
    out: File,
    json: bool,
    closed: bool,
}

impl Console {
    /// Takes standard output over. Whatever else in this process writes there,
    /// such as a plugin that prints when it is loaded, lands on standard error.
    pub fn take(json: bool) -> Result<Console> {
        let taken = || -> io::Result<File> {
            let out = io::stdout().as_fd().try_clone_to_owned()?;
            rustix::stdio::dup2_stdout(io::stderr())?;
            Ok(File::from(out))
        };
        match taken() {
            Ok(out) => Ok(Console { out, json, closed: false }),
            Err(error) => Err(cannot_write(&error)),
        }
    }

    /// Whether the user asked for JSON.
    pub fn json(&self) -> bool {
        self.json
    }

    /// Whether a person is likely to read what is written at once.
    pub fn is_terminal(&self) -> bool {
        self.out.is_terminal()
    }

    /// Writes text. A reader that went away, as `head` does, is no error:
    /// what it did not want to read is dropped.
    pub fn print(&mut self, text: &str) -> Result<()> {
        if self.closed {
            return Ok(());
        }
        match self.out.write_all(text.as_bytes()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => Err(cannot_write(&error)),
        }
    }

    /// Writes a JSON value, indented, with a final newline.
    pub fn print_json(&mut self, value: &Value) -> Result<()> {
        self.print(&format!("{value:#}\n"))
    }

    /// Tells the user of an error; the exit code says that the command failed.
    pub fn report(&mut self, error: &Error) -> ExitCode {
        if !self.json {
            return report_without_output(error);
        }
        if let Err(second) = self.print_json(&json!({ "error": to_json(error) })) {
            report_without_output(&second);
        }
        ExitCode::FAILURE
    }
}

/// Tells the user of an error on standard error only.
pub fn report_without_output(error: &Error) -> ExitCode {
    note(&error_text(error));
    ExitCode::FAILURE
}

/// Writes a line to standard error. That nobody listens there is no error.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

fn error_text(error: &Error) -> String {
    // These speak of C functions and numbers, not of this command.
    const FOR_PROGRAMS: [&str; 4] = ["origin", "function", "parameter", "pjrt.code"];
    let mut text = format!("cyxla: {}", error.message());
    let hint = error.detail("hint").map(|value| ("hint", value));
    let others = error.details().filter(|(key, _)| *key != "hint" && !FOR_PROGRAMS.contains(key));
    for (key, value) in hint.into_iter().chain(others) {
        let value = value.trim_end().replace('\n', "\n    ");
        let start = if value.contains('\n') { "\n    " } else { " " };
        text.push_str(&format!("\n  {key}:{start}{value}"));
    }
    // Names in files and what plugins print must not steer the terminal.
    let lines = text.split('\n').map(|line| line.split('\t').map(plain).collect::<Vec<_>>().join("\t"));
    lines.collect::<Vec<_>>().join("\n")
}

fn cannot_write(error: &io::Error) -> Error {
    let message = format!("cannot write to standard output: {error}");
    Error::new(Code::Unavailable, Origin::System, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_its_hint_first_and_hides_what_programs_need() {
        let error = Error::invalid_argument("no such thing")
            .with("pip", "one\n\ttwo\x1b[2J\n")
            .with("plugin.path", "/x.so")
            .hint("make one")
            .parameter("dims");
        assert_eq!(
            error_text(&error),
            "cyxla: no such thing\n  hint: make one\n  pip:\n    one\n    \ttwo\\u{1b}[2J\n  plugin.path: /x.so"
        );
    }
}
