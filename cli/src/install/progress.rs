//! How an install shows that it is alive: a bar on a terminal, plain lines
//! elsewhere, nothing for programs. All of it goes to standard error.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use crate::console::note;

/// Where progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A bar that is redrawn.
    Bar,
    /// A line at the start of each long step.
    Lines,
    /// Nothing.
    Silent,
}

/// Steps shorter than this many bytes are not worth a line of their own.
const WORTH_A_LINE: u64 = 1 << 20;

impl Progress {
    /// What suits this process's standard error.
    pub fn for_stderr(json: bool) -> Progress {
        match (json, std::io::stderr().is_terminal()) {
            (true, _) => Progress::Silent,
            (false, true) => Progress::Bar,
            (false, false) => Progress::Lines,
        }
    }

    /// Tells something that is not a step.
    pub fn say(&self, line: &str) {
        if *self != Progress::Silent {
            note(line);
        }
    }

    /// Begins a step over a number of bytes.
    pub fn step(&self, label: &str, bytes: u64) -> Step {
        match self {
            Progress::Bar => {
                let bar = ProgressBar::new(bytes).with_message(label.to_owned());
                // Fits into 80 columns.
                let template = "{msg:22} [{bar:26}] {decimal_bytes:>9} of {decimal_total_bytes:9} {eta:>4}";
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style.progress_chars("=> "));
                }
                Step(Some(bar))
            }
            Progress::Lines => {
                if bytes >= WORTH_A_LINE {
                    note(&format!("{label} ({} MB)", bytes.div_ceil(1_000_000)));
                }
                Step(None)
            }
            Progress::Silent => Step(None),
        }
    }
}

/// A step in progress; its bar goes away when the step is dropped.
#[derive(Debug)]
pub struct Step(Option<ProgressBar>);

impl Step {
    /// So many more bytes are done.
    pub fn add(&self, bytes: u64) {
        if let Some(bar) = &self.0 {
            bar.inc(bytes);
        }
    }

    /// So many bytes are done in all.
    pub fn set(&self, bytes: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(bytes);
        }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
