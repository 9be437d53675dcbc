//! `cargo xtask bench`: libcyxla against raw PJRT C, ONNX Runtime, JAX and pypjrt, and the
//! time that listing plugins takes.

mod figures;
mod machine;
mod peer;
mod plot;
mod programs;
mod request;
mod round_trip;
mod start;

use std::path::PathBuf;

use serde_json::json;

use crate::Result;
use crate::peers::{self, Peers};
use crate::plugins;
use crate::process;
use crate::project::{self, Project};
use crate::tools::{self, Tool};

use machine::Machine;
use peer::Peer;
use plot::{Bar, Group};
use request::Request;
use round_trip::Comparison;
use start::Starts;

/// What cyxla_run on the MLP may take, in the time of the same steps in raw PJRT C, for
/// the check. The aim is 1.25; other work on the machine may cost the rest.
const RUN_LIMIT: f64 = 1.5;
/// The same for a bound call, in the time of the floor. The aim is 1.05.
const BOUND_LIMIT: f64 = 1.25;

/// What a start from the cache may take, in the time of ONNX Runtime's start, for the
/// check. The aim is 1.0.
const START_LIMIT: f64 = 1.1;

/// Of the plot.
const TITLE: &str = "Time of a call, in that of raw PJRT C, bound (median; logarithmic)";

/// What building and comparing needs.
pub const TOOLS: &[&Tool] = &[
    &tools::GCC,
    &tools::CLANG,
    &tools::LIBC_HEADERS,
    &tools::CMAKE,
    &tools::MAKE,
    &tools::PYTHON,
    &tools::PIP,
];

/// Measures; writes the figures into the build folder and, with --write, into docs.
pub fn run(project: &Project, arguments: &[&str]) -> Result<()> {
    let request = Request::parse(arguments)?;
    if request.wants("round-trip") || request.wants("start") {
        let tools =
            [&tools::GCC, &tools::LIBC_HEADERS, &tools::CMAKE, &tools::MAKE, &tools::PYTHON, &tools::PIP];
        tools::need(&tools)?;
        project.build_release()?;
        plugins::ensure(project)?;
        match (request.checks, request.wants("start")) {
            (false, _) => compare(project, &request)?,
            (true, false) => check(project)?,
            (true, true) => check_start(project)?,
        }
    }
    if request.wants("listing") {
        process::run(project.cargo().args([
            "bench",
            "--package",
            "libcyxla",
            "--bench",
            "listing",
            "--locked",
        ]))?;
    }
    Ok(())
}

fn compare(project: &Project, request: &Request) -> Result<()> {
    let site = Site::prepare(project)?;
    let machine = Machine::look();
    let mut comparisons = Vec::new();
    if request.wants("round-trip") {
        let mut peers = site.peers(project)?;
        for program in round_trip::programs(&site.folder)? {
            let comparison = round_trip::compare(&mut peers, &program, request.calls)?;
            comparison.print();
            comparisons.push(comparison);
        }
    }
    let starts = if request.wants("start") { Some(site.starts(project)?) } else { None };
    starts.iter().for_each(Starts::print);
    machine.print();
    let figures = json!({
        "machine": machine.json(),
        "round_trip": comparisons.iter().map(Comparison::json).collect::<Vec<_>>(),
        "start": starts.as_ref().map(Starts::json),
    });
    let figures = format!("{figures:#}\n");
    let path = project.kept_folder("bench")?.join("bench.json");
    project::write(&path, &figures)?;
    println!("written to {}", path.display());
    if request.writes {
        let groups: Vec<Group> =
            comparisons.iter().map(group).chain(starts.as_ref().map(start_group)).collect();
        let plot = plot::svg(TITLE, &machine.line(), &groups);
        project::write(&project.root.join("docs/bench.json"), &figures)?;
        project::write(&project.root.join("docs/bench.svg"), &plot)?;
        println!("written to docs/bench.json and docs/bench.svg");
    }
    Ok(())
}

/// Everything that comparing needs, made and installed.
struct Site {
    built: PathBuf,
    folder: PathBuf,
    peers: Peers,
}

impl Site {
    fn prepare(project: &Project) -> Result<Self> {
        let peers = peers::ensure()?;
        let built = programs::build(project, "gcc")?;
        let folder = programs::write(project, &built)?;
        programs::write_models(project, &peers, &folder)?;
        Ok(Self { built, folder, peers })
    }

    fn peers(&self, project: &Project) -> Result<Vec<Peer>> {
        let mut in_c = programs::command(&self.built.join("round_trip"))?;
        in_c.arg("serve").arg(&self.folder).arg(&self.peers.onnxruntime);
        let mut jax = programs::peer(project, &self.peers, "jax_bench.py");
        jax.arg(&self.folder);
        let mut pypjrt = programs::peer(project, &self.peers, "pypjrt_bench.py");
        pypjrt.arg(&self.folder).arg(plugins::newest()?.path);
        [in_c, jax, pypjrt].iter_mut().map(Peer::start).collect()
    }

    fn starts(&self, project: &Project) -> Result<Starts> {
        start::compare(project, &self.peers, &self.built, &self.folder)
    }
}

/// Few calls, to see that the programs in C still work with every compiler, and that
/// cyxla_run and a bound call stay within their limits.
pub fn check(project: &Project) -> Result<()> {
    programs::build(project, "clang")?;
    let built = programs::build(project, "gcc")?;
    let folder = programs::write(project, &built)?;
    let mut peers = [Peer::start(programs::command(&built.join("round_trip"))?.arg("serve"))?];
    let mut mlp = None;
    for program in round_trip::programs(&folder)? {
        let comparison = round_trip::compare(&mut peers, &program, 5000)?;
        comparison.print();
        mlp.get_or_insert(comparison);
    }
    let mlp = mlp.ok_or("there is no program to time")?;
    for (way, floor, limit) in
        [("cyxla_run", "raw PJRT C", RUN_LIMIT), ("cyxla_call_run", "raw PJRT C, bound", BOUND_LIMIT)]
    {
        let ratio = mlp.ratio(way, floor)?;
        if ratio > limit {
            return Err(format!(
                "{way} takes {ratio:.2} times the same steps in C on the MLP; at most {limit} is allowed"
            ));
        }
    }
    Ok(())
}

/// The start from the cache stays level with ONNX Runtime's.
pub fn check_start(project: &Project) -> Result<()> {
    let starts = Site::prepare(project)?.starts(project)?;
    starts.print();
    if !starts.cache_was_used {
        return Err("a start that should have found its executable in the cache compiled it".into());
    }
    let (time, processor) = starts.warm_ratios();
    // Other work on the machine lengthens one or the other, by chance.
    if time.min(processor) <= START_LIMIT {
        return Ok(());
    }
    Err(format!(
        "a start from the cache takes {time:.2} times that of ONNX Runtime; at most {START_LIMIT} is allowed"
    ))
}

fn group(comparison: &Comparison) -> Group {
    let bars = comparison.rows.iter().map(|row| {
        let (ratio, _) = comparison.ratios(row);
        bar(&row.way, ratio, &format!("{:.1} us", row.figures.p50 / 1e3))
    });
    Group { title: comparison.program.clone(), bars: bars.collect() }
}

fn start_group(starts: &Starts) -> Group {
    let bars = starts.medians().map(|(way, time, ratio)| bar(way, ratio, &format!("{time:.1} ms")));
    Group {
        title: "Start of a process to its first result, in that of ONNX Runtime".into(),
        bars: bars.collect(),
    }
}

fn bar(way: &str, ratio: f64, time: &str) -> Bar {
    Bar { label: way.into(), ratio, text: format!("{ratio:.2}x  ({time})"), is_ours: way.contains("cyxla") }
}
