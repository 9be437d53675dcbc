//! The time from the start of a process to its first result, of the digits model.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::figures::Figures;
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

/// One way to start, and how long it takes.
struct Row {
    way: &'static str,
    time: Figures,
    /// Of the processors, which other work on the machine changes less.
    processor: Figures,
}

pub struct Starts {
    rows: Vec<Row>,
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
    /// Nanoseconds until the answer was there, by the clock and of the processors.
    time: u64,
    processor: u64,
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
    let mut times = vec![(Vec::new(), Vec::new()); ways.len()];
    let mut answers = Vec::new();
    let mut cache_was_used = true;
    for start in 0..UNCOUNTED + STARTS {
        for (way, times) in ways.iter_mut().zip(&mut times) {
            let started = way.start()?;
            answers.push(started.answer);
            if start >= UNCOUNTED {
                times.0.push(started.time);
                times.1.push(started.processor);
                cache_was_used &= way.name != WARM || started.is_from_cache;
            }
        }
    }
    answers.dedup();
    if answers.len() != 1 {
        return Err(format!("the ways to start give different answers: {}", answers.join(", ")));
    }
    let rows = ways.iter().zip(times).map(|(way, (time, processor))| Row {
        way: way.name,
        time: Figures::new(time),
        processor: Figures::new(processor),
    });
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
        let time = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut rest = String::new();
        output.read_to_string(&mut rest).map_err(problem)?;
        let status = child.wait().map_err(problem)?;
        if !status.success() {
            return Err(format!("{}: {status}", self.name));
        }
        let mut lines = rest.lines();
        let microseconds: Option<u64> = lines.next().and_then(|line| line.parse().ok());
        let microseconds = microseconds.ok_or_else(|| format!("{} says no processor time", self.name))?;
        Ok(Started {
            time,
            processor: 1000 * microseconds,
            answer: answer.trim_end().to_string(),
            is_from_cache: lines.next() == Some("from the cache"),
        })
    }
}

impl Starts {
    fn find(&self, way: &str) -> &Row {
        self.rows.iter().find(|row| row.way == way).expect("each way has a row")
    }

    /// The medians in those of ONNX Runtime: by the clock, and of the processors.
    fn ratios(&self, row: &Row) -> (f64, f64) {
        let ort = self.find(ORT);
        (row.time.p50 / ort.time.p50, row.processor.p50 / ort.processor.p50)
    }

    /// The same, of the start from the cache.
    pub fn warm_ratios(&self) -> (f64, f64) {
        self.ratios(self.find(WARM))
    }

    /// Each way: its name, its median in milliseconds, and that in the median of ONNX Runtime.
    pub fn medians(&self) -> impl Iterator<Item = (&'static str, f64, f64)> {
        self.rows.iter().map(|row| (row.way, row.time.p50 / 1e6, self.ratios(row).0))
    }

    pub fn print(&self) {
        println!(
            "\n{:<26} {:>8} {:>10} {:>10}   {:>8}   {:>10} {:>8}",
            "start to first result", "starts", "p50 ms", "most ms", "p50", "cpu p50 ms", "p50"
        );
        for row in &self.rows {
            let (time, processor) = self.ratios(row);
            println!(
                "  {:<24} {:>8} {:>10.2} {:>10.2}   {:>7.2}x   {:>10.2} {:>7.2}x",
                row.way,
                row.time.count,
                row.time.p50 / 1e6,
                row.time.most / 1e6,
                time,
                row.processor.p50 / 1e6,
                processor
            );
        }
        if !self.cache_was_used {
            println!("  (the cache was not used: `{WARM}` compiled)");
        }
    }

    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let (time, processor) = self.ratios(row);
            json!({
                "way": row.way,
                "starts": row.time.count,
                "p50_ms": row.time.p50 / 1e6,
                "most_ms": row.time.most / 1e6,
                "p50_ratio": time,
                "cpu_p50_ms": row.processor.p50 / 1e6,
                "cpu_p50_ratio": processor,
            })
        });
        json!({"cache_was_used": self.cache_was_used, "ways": rows.collect::<Vec<_>>()})
    }
}
