//! Many steps, whose results stay right and whose memory does not grow.

use std::path::Path;

use serde_json::{Value, json};

use super::programs;
use crate::Result;
use crate::plugins::{self, Plugin};
use crate::process;

/// What resident memory may grow by, in kilobytes.
pub const LIMIT: f64 = 1024.0;

/// All of them.
pub const STEPS: u64 = 10_000_000;

/// So many as a test has time for, on each plugin.
const FEW_STEPS: u64 = 200_000;

pub struct Soak {
    steps: u64,
    /// By how many kilobytes resident memory grew after the first steps.
    pub growth: f64,
    seconds: f64,
}

/// Runs the steps on the newest plugin; `built` has the program, which ends with a failure
/// when a result is wrong.
pub fn run(built: &Path) -> Result<Soak> {
    steps_on(&plugins::newest()?, built, STEPS)
}

/// Results stay right and memory as it is on every plugin.
pub fn check(built: &Path) -> Result<()> {
    for plugin in plugins::all()? {
        println!("PJRT {}", plugin.version);
        let soak = steps_on(&plugin, built, FEW_STEPS)?;
        soak.print();
        if soak.growth > LIMIT {
            return Err(format!("resident memory grew by {} KB; at most {LIMIT}", soak.growth));
        }
    }
    Ok(())
}

fn steps_on(plugin: &Plugin, built: &Path, steps: u64) -> Result<Soak> {
    let mut command = programs::command(&built.join("soak"))?;
    let said = process::output(command.env("CYXLA_PLUGIN", &plugin.path).arg(steps.to_string()))?;
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
}
