//! What the library is to reach, and whether it does.

use serde_json::{Value, json};

use super::instructions::Instructions;
use super::round_trip::{BOUND, Comparison, FLOOR, ONNX_RUNTIME, RAW, RUN};
use super::scaling::Scaling;
use super::soak::{self, Soak};
use super::start::Starts;
use crate::Result;

/// Programs of which the plugin's own work is small.
const SMALL: [&str; 4] = ["mlp", "tanh", "arguments", "outputs"];

/// A bound call in the floor's time, at the median and at the 99th percentile.
const BOUND_P50: f64 = 1.05;
const BOUND_P99: f64 = 1.2;
/// A bound call on a large array, which is read and written in place.
const IN_PLACE: f64 = 1.02;
/// cyxla_run in the time of the same steps in raw PJRT C.
const RUN_P50: f64 = 1.25;
/// A bound call on the MLP, in the time of others.
const IN_ONNX_RUNTIME: f64 = 1.0;
const IN_JAX: f64 = 0.1;
/// A start from the cache, in the time of ONNX Runtime's.
const START: f64 = 1.0;
/// Calls of two threads in those of one.
const THREADS: f64 = 1.9;

/// One of them.
pub struct Target {
    what: String,
    reached: f64,
    limit: f64,
    /// Whether more is better.
    at_least: bool,
}

impl Target {
    fn at_most(what: impl Into<String>, reached: f64, limit: f64) -> Target {
        Target { what: what.into(), reached, limit, at_least: false }
    }

    fn at_least(what: impl Into<String>, reached: f64, limit: f64) -> Target {
        Target { what: what.into(), reached, limit, at_least: true }
    }

    fn is_met(&self) -> bool {
        // NaN, where nothing was timed, meets nothing.
        if self.at_least { self.reached >= self.limit } else { self.reached <= self.limit }
    }

    fn json(&self) -> Value {
        json!({
            "target": self.what,
            "reached": self.reached,
            (if self.at_least { "at_least" } else { "at_most" }): self.limit,
            "is_met": self.is_met(),
        })
    }
}

/// Those of calls.
pub fn of_calls(comparisons: &[Comparison]) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    for comparison in comparisons {
        let (id, name) = (comparison.id.as_str(), &comparison.program);
        let mut add = |what: &str, way: &str, to: &str, at_p99: bool, limit: f64| -> Result<()> {
            let (p50, p99) = comparison.ratio(way, to)?;
            targets.push(Target::at_most(format!("{name}: {what}"), if at_p99 { p99 } else { p50 }, limit));
            Ok(())
        };
        if SMALL.contains(&id) {
            add("bound call in raw PJRT C, p50", BOUND, FLOOR, false, BOUND_P50)?;
            add("bound call in raw PJRT C, p99", BOUND, FLOOR, true, BOUND_P99)?;
            add("cyxla_run in the same raw steps, p50", RUN, RAW, false, RUN_P50)?;
        }
        if id == "double" {
            add("bound call in raw PJRT C in place, p50", BOUND, FLOOR, false, IN_PLACE)?;
        }
        if id == "mlp" {
            add("bound call in ONNX Runtime C, p50", BOUND, ONNX_RUNTIME, false, IN_ONNX_RUNTIME)?;
            let jax = comparison.rows.iter().find(|row| row.way.starts_with("JAX"));
            let jax = jax.map(|row| row.way.clone()).ok_or("JAX took no part")?;
            add("bound call in JAX, p50", BOUND, &jax, false, IN_JAX)?;
        }
    }
    Ok(targets)
}

pub fn of_threads(scaling: &Scaling) -> Option<Target> {
    let (ratio, share) = scaling.ours()?;
    Some(Target::at_least(format!("2 threads in one, each with {share:.2} of a processor"), ratio, THREADS))
}

pub fn of_starts(starts: &Starts) -> Target {
    Target::at_most("start from the cache in ONNX Runtime's, p50", starts.warm_ratios().0, START)
}

pub fn of_instructions(instructions: &Instructions) -> Vec<Target> {
    let target = |(program, count, limit): (&str, u64, u64)| {
        Target::at_most(format!("{program}: own instructions of a bound step"), count as f64, limit as f64)
    };
    instructions.bound().map(target).collect()
}

pub fn of_soak(soak: &Soak) -> Target {
    Target::at_most("10 million steps: growth of resident memory, KB", soak.growth, soak::LIMIT)
}

/// Prints each, with `pass` or `FAIL`.
pub fn print(targets: &[Target]) {
    println!("\n{:<74} {:>9} {:>10}", "target", "reached", "limit");
    for target in targets {
        let (bound, digits) =
            (if target.at_least { ">=" } else { "<=" }, if target.limit < 10.0 { 3 } else { 0 });
        println!(
            "  {} {:<67} {:>9.digits$} {bound} {:>7}",
            if target.is_met() { "pass" } else { "FAIL" },
            target.what,
            target.reached,
            target.limit
        );
    }
}

/// An error if one of them is missed.
pub fn judge(targets: &[Target]) -> Result<()> {
    let missed = targets.iter().filter(|target| !target.is_met()).count();
    if missed == 0 { Ok(()) } else { Err(format!("{missed} of {} targets are missed", targets.len())) }
}

pub fn json(targets: &[Target]) -> Value {
    targets.iter().map(Target::json).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_from_above_or_from_below() {
        assert!(Target::at_most("a", 1.0, 1.0).is_met() && !Target::at_most("a", 1.1, 1.0).is_met());
        assert!(Target::at_least("a", 1.9, 1.9).is_met() && !Target::at_least("a", 1.8, 1.9).is_met());
        assert!(
            !Target::at_most("a", f64::NAN, 1.0).is_met() && !Target::at_least("a", f64::NAN, 1.0).is_met()
        );
        assert!(judge(&[Target::at_most("a", 1.0, 1.0)]).is_ok());
        assert!(judge(&[Target::at_most("a", 2.0, 1.0)]).unwrap_err().starts_with("1 of 1"));
    }
}
