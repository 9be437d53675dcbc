//! The time of a call, from host memory to host memory, in every way that takes part.

use std::path::Path;

use serde_json::{Value, json};

use super::figures::Figures;
use super::peer::Peer;
use crate::Result;
use crate::project;

/// A program's calls are spread over so many turns of each peer.
const TURNS: usize = 10;

/// What one way may take for a program, in nanoseconds; long programs get fewer calls.
const BUDGET: u64 = 4_000_000_000;

/// The ways of benches/round_trip.c.
pub const FLOOR: &str = "raw PJRT C, bound";
pub const RAW: &str = "raw PJRT C";
pub const BOUND: &str = "cyxla_call_run";
pub const RUN: &str = "cyxla_run";
pub const ONNX_RUNTIME: &str = "ONNX Runtime C";

/// A program that is timed.
pub struct Program {
    id: String,
    name: String,
}

/// What `round_trip write` wrote into the folder.
pub fn programs(folder: &Path) -> Result<Vec<Program>> {
    let path = folder.join("programs.json");
    let list: Vec<Value> = serde_json::from_str(&project::read(&path)?)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let text = |program: &Value, key: &str| program[key].as_str().unwrap_or_default().to_string();
    Ok(list.iter().map(|program| Program { id: text(program, "id"), name: text(program, "name") }).collect())
}

/// One way to run a program, and how long a call takes.
pub struct Row {
    pub way: String,
    pub figures: Figures,
}

/// A program, and a row for each way to run it. The first is the floor.
pub struct Comparison {
    pub id: String,
    pub program: String,
    pub rows: Vec<Row>,
}

/// Times the program in every way, the peers in turn.
pub fn compare(peers: &mut [Peer], program: &Program, calls: usize) -> Result<Comparison> {
    let mut each = Vec::new();
    for peer in peers.iter_mut() {
        each.push(calls_in_budget(peer, program, calls)?.div_ceil(TURNS));
    }
    let mut times: Vec<Vec<Vec<u64>>> = peers.iter().map(|peer| vec![Vec::new(); peer.ways.len()]).collect();
    for _ in 0..TURNS {
        for ((peer, count), times) in peers.iter_mut().zip(&each).zip(&mut times) {
            for (all, turn) in times.iter_mut().zip(peer.turn(&program.id, *count)?) {
                all.extend(turn);
            }
        }
    }
    let ways = peers.iter().flat_map(|peer| peer.ways.iter().cloned());
    let rows = ways.zip(times.into_iter().flatten().map(Figures::new));
    Ok(Comparison {
        id: program.id.clone(),
        program: program.name.clone(),
        rows: rows.map(|(way, figures)| Row { way, figures }).collect(),
    })
}

fn calls_in_budget(peer: &mut Peer, program: &Program, calls: usize) -> Result<usize> {
    const TRIED: usize = 20;
    peer.turn(&program.id, TRIED)?;
    let slowest = peer.turn(&program.id, TRIED)?.iter().map(|times| times.iter().sum::<u64>()).max();
    let possible = BUDGET * TRIED as u64 / slowest.unwrap_or(1).max(1);
    Ok(calls.min(usize::try_from(possible).unwrap_or(usize::MAX)))
}

impl Comparison {
    /// The time of a way in that of the floor: at the median, and at the 99th percentile.
    pub fn ratios(&self, row: &Row) -> (f64, f64) {
        let floor = &self.rows[0].figures;
        (row.figures.p50 / floor.p50, row.figures.p99 / floor.p99)
    }

    pub fn print(&self) {
        println!(
            "\n{:<26} {:>8} {:>10} {:>10}   {:>8} {:>8}",
            self.program, "calls", "p50 us", "p99 us", "p50", "p99"
        );
        for row in &self.rows {
            let (p50, p99) = self.ratios(row);
            let figures = &row.figures;
            println!(
                "  {:<24} {:>8} {:>10.2} {:>10.2}   {:>7.2}x {:>7.2}x",
                row.way,
                figures.count,
                figures.p50 / 1e3,
                figures.p99 / 1e3,
                p50,
                p99
            );
        }
    }

    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let (p50_ratio, p99_ratio) = self.ratios(row);
            json!({
                "way": row.way,
                "calls": row.figures.count,
                "p50_us": row.figures.p50 / 1e3,
                "p99_us": row.figures.p99 / 1e3,
                "p50_ratio": p50_ratio,
                "p99_ratio": p99_ratio,
            })
        });
        json!({"program": self.program, "ways": rows.collect::<Vec<_>>()})
    }

    /// The time of one way in that of another: at the median, and at the 99th percentile.
    pub fn ratio(&self, way: &str, to: &str) -> Result<(f64, f64)> {
        let find = |way: &str| {
            let row = self.rows.iter().find(|row| row.way == way);
            row.map(|row| &row.figures).ok_or_else(|| format!("{way} took no part"))
        };
        let (way, to) = (find(way)?, find(to)?);
        Ok((way.p50 / to.p50, way.p99 / to.p99))
    }
}
