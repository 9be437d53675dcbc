//! `cargo xtask bench`: libcyxla against raw PJRT C, ONNX Runtime, JAX and pypjrt, alone and
//! with threads; the time that a start and listing plugins take; the instructions of a step;
//! and whether millions of steps leave memory as it is.

mod callgrind;
mod figures;
mod instructions;
mod machine;
mod peer;
mod plot;
mod programs;
mod request;
mod round_trip;
mod scaling;
mod soak;
mod start;
mod targets;

use std::path::PathBuf;

use serde_json::json;

use crate::Result;
use crate::peers::{self, Peers};
use crate::plugins;
use crate::process;
use crate::project::{self, Project};
use crate::tools::{self, Tool};

use instructions::Instructions;
use machine::Machine;
use peer::Peer;
use plot::{Bar, Group};
use request::Request;
use round_trip::Comparison;
use scaling::Scaling;
use soak::Soak;
use start::Starts;
use targets::Target;

/// What the tests demand. Other work on their machine may cost more than targets allow,
/// which `cargo xtask bench --check` watches.
const RUN_LIMIT: f64 = 1.5;
const BOUND_LIMIT: f64 = 1.25;
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
    &tools::VALGRIND,
];

/// Measures; writes the figures into the build folder and, with --write, into docs. With
/// --check a target that is missed is an error.
pub fn run(project: &Project, arguments: &[&str]) -> Result<()> {
    let request = Request::parse(arguments)?;
    if !request.only("listing") {
        tools::need(TOOLS)?;
        project.build_release()?;
        plugins::ensure(project)?;
        measure(project, &request)?;
    }
    if request.wants("listing") && !request.checks {
        let listing = ["bench", "--package", "libcyxla", "--bench", "listing", "--locked"];
        process::run(project.cargo().args(listing))?;
    }
    Ok(())
}

/// What was measured; parts that nobody wanted are missing.
#[derive(Default)]
struct Measured {
    comparisons: Vec<Comparison>,
    scaling: Option<Scaling>,
    starts: Option<Starts>,
    instructions: Option<Instructions>,
    soak: Option<Soak>,
}

fn measure(project: &Project, request: &Request) -> Result<()> {
    let machine = Machine::look();
    let measured = Measured::all(project, request)?;
    machine.print();
    if let Some(instructions) = measured.instructions.as_ref().filter(|_| request.only("instructions")) {
        instructions.print_functions();
        if request.writes {
            return instructions.record(project);
        }
    }
    let targets = measured.targets()?;
    targets::print(&targets);
    measured.write(project, request, &machine, &targets)?;
    if request.checks { targets::judge(&targets) } else { Ok(()) }
}

impl Measured {
    /// Measures what is wanted, and prints it.
    fn all(project: &Project, request: &Request) -> Result<Self> {
        let mut measured = Self::default();
        let built = programs::build(project, "gcc")?;
        if request.wants("round-trip") || request.wants("start") {
            let site = Site::prepare(project, built.clone())?;
            if request.wants("round-trip") {
                let mut peers = site.peers(project)?;
                for program in round_trip::programs(&site.folder)? {
                    let comparison = round_trip::compare(&mut peers, &program, request.calls)?;
                    comparison.print();
                    measured.comparisons.push(comparison);
                }
            }
            if request.wants("start") {
                measured.starts = Some(site.starts(project)?);
            }
            measured.starts.iter().for_each(Starts::print);
        }
        if request.wants("scaling") {
            measured.scaling = Some(scaling::measure(&built)?);
            measured.scaling.iter().for_each(Scaling::print);
        }
        if request.wants("instructions") {
            measured.instructions = Some(instructions::count(project, &built)?);
            measured.instructions.iter().for_each(Instructions::print);
        }
        if request.wants("soak") {
            measured.soak = Some(soak::run(&built)?);
            measured.soak.iter().for_each(Soak::print);
        }
        Ok(measured)
    }

    fn targets(&self) -> Result<Vec<Target>> {
        let mut all = targets::of_calls(&self.comparisons)?;
        all.extend(self.scaling.as_ref().and_then(targets::of_threads));
        all.extend(self.starts.as_ref().map(targets::of_starts));
        all.extend(self.instructions.iter().flat_map(targets::of_instructions));
        all.extend(self.soak.as_ref().map(targets::of_soak));
        Ok(all)
    }

    fn write(
        &self,
        project: &Project,
        request: &Request,
        machine: &Machine,
        targets: &[Target],
    ) -> Result<()> {
        let figures = json!({
            "machine": machine.json(),
            "round_trip": self.comparisons.iter().map(Comparison::json).collect::<Vec<_>>(),
            "scaling": self.scaling.as_ref().map(Scaling::json),
            "start": self.starts.as_ref().map(Starts::json),
            "instructions": self.instructions.as_ref().map(Instructions::json),
            "soak": self.soak.as_ref().map(Soak::json),
            "targets": targets::json(targets),
        });
        let figures = format!("{figures:#}\n");
        let path = project.kept_folder("bench")?.join("bench.json");
        project::write(&path, &figures)?;
        println!("written to {}", path.display());
        if request.writes {
            let groups: Vec<Group> =
                self.comparisons.iter().map(group).chain(self.starts.as_ref().map(start_group)).collect();
            let plot = plot::svg(TITLE, &machine.line(), &groups);
            project::write(&project.root.join("docs/bench.json"), &figures)?;
            project::write(&project.root.join("docs/bench.svg"), &plot)?;
            println!("written to docs/bench.json and docs/bench.svg");
        }
        Ok(())
    }
}

/// Everything that comparing needs, made and installed.
struct Site {
    built: PathBuf,
    folder: PathBuf,
    peers: Peers,
}

impl Site {
    fn prepare(project: &Project, built: PathBuf) -> Result<Self> {
        let peers = peers::ensure()?;
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
        [(round_trip::RUN, round_trip::RAW, RUN_LIMIT), (round_trip::BOUND, round_trip::FLOOR, BOUND_LIMIT)]
    {
        let (ratio, _) = mlp.ratio(way, floor)?;
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
    let starts = Site::prepare(project, programs::build(project, "gcc")?)?.starts(project)?;
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

/// A step takes no more instructions than it may, and than it did.
pub fn check_instructions(project: &Project) -> Result<()> {
    let instructions = instructions::count(project, &programs::build(project, "gcc")?)?;
    instructions.print();
    instructions.judge(project)
}

/// Results stay right and memory as it is, for as many steps as there is time for.
pub fn check_soak(project: &Project) -> Result<()> {
    soak::check(&programs::build(project, "gcc")?)
}

fn group(comparison: &Comparison) -> Group {
    let bars = comparison.rows.iter().map(|row| {
        let (ratio, p99) = comparison.ratios(row);
        bar(&row.way, ratio, &format!("{:.1} us; p99 {}", row.figures.p50 / 1e3, times(p99)))
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
    Bar {
        label: way.into(),
        ratio,
        text: format!("{}  ({time})", times(ratio)),
        is_ours: way.contains("cyxla"),
    }
}

/// A ratio, with as many digits as say something.
fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}x") } else { format!("{ratio:.0}x") }
}
