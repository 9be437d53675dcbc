//! What the figures depend on besides the code: they are ratios of one run, on one machine.

use std::fs;
use std::thread;

use serde_json::{Value, json};

use crate::plugins;

pub struct Machine {
    cpu: String,
    cores: usize,
    load_before: String,
}

impl Machine {
    /// As it is before anything is timed.
    pub fn look() -> Self {
        let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        Self {
            cpu: model.map_or("unknown", |(_, name)| name).to_string(),
            cores: thread::available_parallelism().map_or(0, usize::from),
            load_before: load(),
        }
    }

    pub fn print(&self) {
        println!(
            "\n{}, {} cores, load {} before and {} after",
            self.cpu,
            self.cores,
            self.load_before,
            load()
        );
    }

    pub fn json(&self) -> Value {
        json!({
            "cpu": self.cpu,
            "cores": self.cores,
            "load_before": self.load_before,
            "load_after": load(),
            "plugin": plugins::NEWEST,
            "cyxla": env!("CARGO_PKG_VERSION"),
        })
    }

    /// One line for a plot.
    pub fn line(&self) -> String {
        format!(
            "libcyxla {}, CPU plugin {}; {}, {} cores, load {}",
            env!("CARGO_PKG_VERSION"),
            plugins::NEWEST,
            self.cpu,
            self.cores,
            self.load_before
        )
    }
}

/// How many threads wanted to run, in the mean of the last minute.
fn load() -> String {
    let loads = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    loads.split_whitespace().next().unwrap_or("unknown").to_string()
}
