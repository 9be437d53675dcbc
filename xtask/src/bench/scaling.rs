//! How many calls two threads make, in those of one.

use std::path::Path;

use serde_json::{Value, json};

use super::programs;
use crate::Result;
use crate::process;

const THREADS: usize = 2;
const TURNS: usize = 15;

/// The way that the target speaks of.
pub const OURS: &str = "cyxla_call_run";

/// One way to call, in medians.
struct Row {
    way: String,
    one: Speed,
    all: Speed,
}

/// Of all threads together.
struct Speed {
    /// Calls each second.
    calls: f64,
    /// How much of a processor each thread had.
    share: f64,
    /// Calls each second, had every thread a processor for itself.
    undisturbed: f64,
}

pub struct Scaling {
    rows: Vec<Row>,
}

/// Times the threads; `built` has the program.
pub fn measure(built: &Path) -> Result<Scaling> {
    let mut command = programs::command(&built.join("scaling"))?;
    parse(&process::output(command.args([THREADS, TURNS].map(|number| number.to_string())))?)
}

/// `text` is what benches/scaling.c prints.
fn parse(text: &str) -> Result<Scaling> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let number = |index: usize| words.get(index).and_then(|word| word.parse::<f64>().ok());
        let (Some(threads), Some(calls), Some(share)) = (number(1), number(2), number(3)) else {
            return Err(format!("`{line}` should be a way, threads, calls and a share"));
        };
        lines.push((words[0], threads as usize, calls, share));
    }
    let mut ways: Vec<&str> = Vec::new();
    for (way, ..) in &lines {
        if !ways.contains(way) {
            ways.push(way);
        }
    }
    let speed = |way: &str, threads: usize| {
        let of = || lines.iter().filter(|line| (line.0, line.1) == (way, threads));
        Speed {
            calls: median(of().map(|line| line.2)),
            share: median(of().map(|line| line.3)),
            undisturbed: median(of().map(|line| line.2 / line.3)),
        }
    };
    let row = |way: &&str| Row { way: way.to_string(), one: speed(way, 1), all: speed(way, THREADS) };
    Ok(Scaling { rows: ways.iter().map(row).collect() })
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Row {
    /// By the clock.
    fn ratio(&self) -> f64 {
        self.all.calls / self.one.calls
    }

    /// By the time that the threads had a processor.
    fn undisturbed_ratio(&self) -> f64 {
        self.all.undisturbed / self.one.undisturbed
    }
}

impl Scaling {
    /// Of our own way: by the clock, and how much of a processor each thread had.
    pub fn ours(&self) -> Option<(f64, f64)> {
        let row = self.rows.iter().find(|row| row.way == OURS)?;
        Some((row.ratio(), row.all.share))
    }

    pub fn print(&self) {
        println!(
            "\n{:<26} {:>12} {:>12} {:>8} {:>8} {:>12}",
            "threads calling the mlp",
            "1: calls/s",
            format!("{THREADS}: calls/s"),
            "ratio",
            "share",
            "undisturbed"
        );
        for row in &self.rows {
            println!(
                "  {:<24} {:>12.0} {:>12.0} {:>7.2}x {:>8.2} {:>11.2}x",
                row.way,
                row.one.calls,
                row.all.calls,
                row.ratio(),
                row.all.share,
                row.undisturbed_ratio()
            );
        }
        println!(
            "  (share: how much of a processor each of the {THREADS} had; undisturbed: had each had one for itself)"
        );
    }

    pub fn json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "way": row.way,
                "threads": THREADS,
                "calls_per_second_of_one": row.one.calls,
                "calls_per_second_of_all": row.all.calls,
                "ratio": row.ratio(),
                "share_of_a_processor": row.all.share,
                "undisturbed_ratio": row.undisturbed_ratio(),
            })
        };
        self.rows.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_are_compared_with_one() {
        let text = "a\t1\t100\t1\na\t2\t100\t0.5\ncyxla_call_run\t1\t50\t1\ncyxla_call_run\t2\t95\t1\n";
        let scaling = parse(text).unwrap();
        assert_eq!(scaling.rows.len(), 2);
        assert_eq!(scaling.rows[0].ratio(), 1.0);
        assert_eq!(scaling.rows[0].undisturbed_ratio(), 2.0);
        assert_eq!(scaling.ours(), Some((1.9, 1.0)));
        assert!(parse("a\t1\t100").is_err() && parse("a\tb\t1\t1").is_err());
    }
}
