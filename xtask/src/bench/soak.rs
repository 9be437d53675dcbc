//! Many steps, whose results stay right and whose memory does not grow.

use std::path::Path;

use serde_json::{Value, json};

use super::programs;
use crate::Result;
use crate::process;

/// What resident memory may grow by, in kilobytes.
pub const LIMIT: f64 = 1024.0;

/// All of them, and so many as a test has time for.
pub const STEPS: u64 = 10_000_000;
pub const FEW_STEPS: u64 = 300_000;

pub struct Soak {
    steps: u64,
    /// By how many kilobytes resident memory grew after the first steps.
    pub growth: f64,
    seconds: f64,
}

/// Runs the steps; `built` has the program, which ends with a failure when a result is wrong.
pub fn run(built: &Path, steps: u64) -> Result<Soak> {
    let said = process::output(programs::command(&built.join("soak"))?.arg(steps.to_string()))?;
    let mut numbers = said.split_whitespace().map(str::parse);
    let (Some(Ok(growth)), Some(Ok(seconds))) = (numbers.next(), numbers.next()) else {
        return Err(format!("`{said}` should be kilobytes and seconds"));
    };
    Ok(Soak { steps, growth, seconds })
}

impl Soak {
    pub fn print(&self) {
        println!(
            "\n{} steps, all with the right results, in {:.1} s; resident memory grew by {} KB",
            self.steps, self.seconds, self.growth
        );
    }

    pub fn json(&self) -> Value {
        json!({"steps": self.steps, "growth_kb": self.growth, "seconds": self.seconds})
    }

    pub fn judge(&self) -> Result<()> {
        if self.growth <= LIMIT {
            return Ok(());
        }
        Err(format!("resident memory grew by {} KB in {} steps; at most {LIMIT}", self.growth, self.steps))
    }
}
