//! The time from the start of a process to its first result, of the digits model.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::figures::{Figures, Row};
use super::programs;
use crate::Result;
use crate::peers::Peers;
use crate::process;
use crate::project::{self, Project};

/// Starts of each way, one after another in turn.
const STARTS: usize = 25;

/// Before those that count, so that the files are in memory.
const UNCOUNTED: usize = 2;

const RAW: &str = "raw PJRT C, saved";
const COLD: &str = "libcyxla, nothing cached";
const WARM: &str = "libcyxla, from its cache";
const ORT: &str = "ONNX Runtime C";

pub struct Starts {
    pub rows: Vec<Row>,
    /// Whether each start that counts as one from the cache was one.
    pub cache_was_used: bool,
}

/// A way to start, and the folder that is emptied before.
struct Way<'a> {
    name: &'static str,
    command: Command,
    emptied: Option<&'a Path>,
}

/// One start.
struct Started {
    /// Until the answer was there.
    nanoseconds: u64,
    answer: String,
    is_from_cache: bool,
}

/// Times the starts; `built` has the programs and `models` the ONNX model.
pub fn compare(project: &Project, peers: &Peers, built: &Path, models: &Path) -> Result<Starts> {
    let caches = project.fresh_folder("bench-start")?;
    let (cold, warm) = (caches.join("cold"), caches.join("warm"));
    let digits = project.root.join("models/digits");
    let cyxla = |cache: &Path| -> Result<Command> {
        let mut command = programs::command(&built.join("start_cyxla"))?;
        command.env("CYXLA_CACHE_DIR", cache).arg(digits.join("digits.mlirbc")).arg(digits.join("images.u8"));
        Ok(command)
    };
    let mut ort = Command::new(built.join("start_ort"));
    ort.arg(&peers.onnxruntime).arg(models.join("digits.onnx")).arg(digits.join("images.u8"));
    let saved = caches.join("digits.pjrt");
    let mut save = programs::command(&built.join("start_raw"))?;
    process::run(save.arg("save").arg(digits.join("digits.mlirbc")).arg(&saved))?;
    let mut raw = programs::command(&built.join("start_raw"))?;
    raw.arg("load").arg(&saved).arg(digits.join("images.u8"));
    let mut ways = [
        Way { name: RAW, command: raw, emptied: None },
        Way { name: COLD, command: cyxla(&cold)?, emptied: Some(&cold) },
        Way { name: WARM, command: cyxla(&warm)?, emptied: None },
        Way { name: ORT, command: ort, emptied: None },
    ];
    let mut times = vec![Vec::new(); ways.len()];
    let mut answers = Vec::new();
    let mut cache_was_used = true;
    for start in 0..UNCOUNTED + STARTS {
        for (way, times) in ways.iter_mut().zip(&mut times) {
            let started = way.start()?;
            answers.push(started.answer);
            if start >= UNCOUNTED {
                times.push(started.nanoseconds);
                cache_was_used &= way.name != WARM || started.is_from_cache;
            }
        }
    }
    answers.dedup();
    if answers.len() != 1 {
        return Err(format!("the ways to start give different answers: {}", answers.join(", ")));
    }
    let rows = ways.iter().zip(times);
    let rows = rows.map(|(way, times)| Row { way: way.name.to_string(), figures: Figures::new(times) });
    Ok(Starts { rows: rows.collect(), cache_was_used })
}

impl Way<'_> {
    fn start(&mut self) -> Result<Started> {
        if let Some(folder) = self.emptied {
            let _ = fs::remove_dir_all(folder);
            project::make_folder(folder)?;
        }
        let problem = |error: std::io::Error| format!("{}: {error}", self.name);
        let start = Instant::now();
        let mut child = self.command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(problem)?;
        let mut output = BufReader::new(child.stdout.take().ok_or("a child without its output")?);
        let mut answer = String::new();
        output.read_line(&mut answer).map_err(problem)?;
        let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut rest = String::new();
        output.read_to_string(&mut rest).map_err(problem)?;
        let status = child.wait().map_err(problem)?;
        if !status.success() {
            return Err(format!("{}: {status}", self.name));
        }
        Ok(Started {
            nanoseconds,
            answer: answer.trim_end().to_string(),
            is_from_cache: rest.trim() == "from the cache",
        })
    }
}

impl Starts {
    /// The median of a way in that of ONNX Runtime.
    pub fn ratio(&self, row: &Row) -> f64 {
        let ort = self.rows.iter().find(|row| row.way == ORT);
        row.figures.p50 / ort.map_or(f64::NAN, |row| row.figures.p50)
    }

    /// The same, of the start from the cache.
    pub fn warm_ratio(&self) -> f64 {
        self.rows.iter().find(|row| row.way == WARM).map_or(f64::NAN, |row| self.ratio(row))
    }

    pub fn print(&self) {
        println!(
            "\n{:<26} {:>8} {:>10} {:>10}   {:>8}",
            "start to first result", "starts", "p50 ms", "most ms", "p50"
        );
        for row in &self.rows {
            let figures = &row.figures;
            println!(
                "  {:<24} {:>8} {:>10.2} {:>10.2}   {:>7.2}x",
                row.way,
                figures.count,
                figures.p50 / 1e6,
                figures.most / 1e6,
                self.ratio(row)
            );
        }
        if !self.cache_was_used {
            println!("  (the cache was not used: `{WARM}` compiled)");
        }
    }

    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            json!({
                "way": row.way,
                "starts": row.figures.count,
                "p50_ms": row.figures.p50 / 1e6,
                "most_ms": row.figures.most / 1e6,
                "p50_ratio": self.ratio(row),
            })
        });
        json!({"cache_was_used": self.cache_was_used, "ways": rows.collect::<Vec<_>>()})
    }
}
