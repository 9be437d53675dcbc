//! `cargo xtask test`: every check, each a named and timed step.

mod c;
mod corpus;
mod library;
mod package;
mod rust;
mod selection;
mod tsan;
mod wheels;

use std::time::{Duration, Instant};

pub use library::symbols;
pub use selection::Selection;

use crate::Result;
use crate::bench;
use crate::demo;
use crate::header;
use crate::plugins;
use crate::project::Project;
use crate::tools::{self, Tool};

/// One check.
pub struct Step {
    name: &'static str,
    /// Left out by --quick.
    slow: bool,
    /// Only run by --wheels, which runs no other but what it needs.
    wheels: bool,
    /// Steps whose results this one uses.
    needs: &'static [&'static str],
    tools: &'static [&'static Tool],
    run: fn(&Project) -> Result<()>,
}

const BUILD: &str = "release build";
const TEST_BUILD: &str = "test build";
const PLUGINS: &str = "plugins";
const PACKAGE: &str = "cmake package";
const C_BUILD: &str = "build of the C tests, gcc";

const fn step(name: &'static str, run: fn(&Project) -> Result<()>) -> Step {
    Step { name, slow: false, wheels: false, needs: &[], tools: &[], run }
}

/// The steps, in an order that fails early and builds each thing once.
const STEPS: &[Step] = &[
    Step { tools: &[&tools::RUSTFMT], ..step("format", rust::format) },
    step("header up to date", header::check),
    Step { tools: &[&tools::PIP], ..step("licences of dependencies", rust::licences) },
    step("rust version of dependencies", rust::rust_version),
    Step { tools: &[&tools::CC, &tools::LIBC_HEADERS], ..step(BUILD, Project::build_release) },
    Step { needs: &[BUILD], tools: &[&tools::NM], ..step("shape of the library", library::shape) },
    Step { needs: &[BUILD], tools: &[&tools::NM], ..step("exported symbols", library::symbols) },
    Step { tools: &[&tools::CLIPPY, &tools::LIBCLANG], ..step("clippy", rust::clippy) },
    step("rust documentation", rust::documentation),
    Step { needs: &[BUILD], tools: &[&tools::PYTHON, &tools::PIP], ..step(PLUGINS, plugins::ensure) },
    Step { tools: &[&tools::LIBCLANG], ..step(TEST_BUILD, rust::test_build) },
    Step { needs: &[PLUGINS, TEST_BUILD], ..step("unit tests", rust::unit_tests) },
    Step { needs: &[PLUGINS, TEST_BUILD], ..step("tests on PJRT 0.81", rust::tests_0_81) },
    Step { needs: &[PLUGINS, TEST_BUILD], ..step("tests on PJRT 0.106", rust::tests_0_106) },
    Step { needs: &[PLUGINS, TEST_BUILD], ..step("tests on PJRT 0.115", rust::tests_0_115) },
    Step {
        needs: &[BUILD],
        tools: &[&tools::CMAKE, &tools::MAKE, &tools::GCC, &tools::GXX, &tools::PKG_CONFIG],
        ..step(PACKAGE, package::install_and_move)
    },
    Step { needs: &[PACKAGE], ..step("cmake consumers", package::consumers) },
    Step {
        slow: true,
        needs: &[BUILD],
        tools: &[&tools::CMAKE],
        ..step("cmake subdirectory", package::subdirectory)
    },
    Step { needs: &[PACKAGE, PLUGINS], ..step("program of the README", c::readme_program) },
    Step { needs: &[PACKAGE, PLUGINS], ..step("examples in C", c::examples) },
    Step {
        needs: &[PACKAGE, PLUGINS, TEST_BUILD],
        tools: &[&tools::GCC, &tools::GXX, &tools::VALGRIND],
        ..step(C_BUILD, c::build_gcc)
    },
    Step { needs: &[C_BUILD], ..step("C tests, gcc", c::tests_gcc) },
    Step { slow: true, needs: &[C_BUILD], ..step("C tests under valgrind", c::tests_valgrind) },
    Step {
        slow: true,
        needs: &[PACKAGE, PLUGINS, TEST_BUILD],
        tools: &[&tools::CLANG, &tools::VALGRIND],
        ..step("C tests, clang", c::tests_clang)
    },
    Step {
        slow: true,
        tools: &[&tools::CLANG, &tools::GXX, &tools::RUST_SOURCES],
        ..step("races (ThreadSanitizer)", tsan::tests)
    },
    Step { slow: true, needs: &[BUILD, PLUGINS], tools: bench::TOOLS, ..step("bench", bench::check) },
    Step {
        slow: true,
        needs: &[BUILD, PLUGINS],
        tools: bench::TOOLS,
        ..step("instructions of a step", bench::check_instructions)
    },
    Step { slow: true, needs: &[BUILD, PLUGINS], tools: bench::TOOLS, ..step("soak", bench::check_soak) },
    Step {
        slow: true,
        needs: &[BUILD, PLUGINS],
        tools: bench::TOOLS,
        ..step("start compared with ONNX Runtime", bench::check_start)
    },
    Step {
        slow: true,
        needs: &[BUILD, PLUGINS],
        tools: &[&tools::CC, &tools::LIBC_HEADERS, &tools::PYTHON, &tools::PIP],
        ..step("exports of 10 and 100 MB", corpus::large_exports)
    },
    Step {
        slow: true,
        needs: &[PACKAGE, PLUGINS],
        tools: &[&tools::GO, &tools::JULIA, &tools::PYTHON, &tools::PKG_CONFIG],
        ..step("go, julia, python", c::foreign_languages)
    },
    Step {
        slow: true,
        needs: &[BUILD],
        tools: &[&tools::PYTHON, &tools::PIP],
        ..step("demo", demo::run_twice)
    },
    Step {
        wheels: true,
        needs: &[PLUGINS, TEST_BUILD],
        tools: &[&tools::PYTHON, &tools::PIP],
        ..step("wheels for CUDA and TPUs", wheels::tests)
    },
];

struct Outcome {
    name: &'static str,
    time: Duration,
    problem: Option<String>,
}

pub fn run(project: &Project, selection: &Selection) -> Result<()> {
    let steps = selection.of(STEPS)?;
    if selection.only_list() {
        steps.iter().for_each(|step| println!("{}", step.name));
        return Ok(());
    }
    let start = Instant::now();
    let mut outcomes = vec![install_tools(&steps)];
    for (index, step) in steps.iter().enumerate() {
        println!("\n=== {} of {}: {}", index + 1, steps.len(), step.name);
        let outcome = attempt(project, step, &outcomes);
        match &outcome.problem {
            None => println!("=== {} passed in {:.1} s", step.name, outcome.time.as_secs_f64()),
            Some(problem) => println!("=== {} FAILED: {problem}", step.name),
        }
        outcomes.push(outcome);
    }
    summarize(&outcomes, start.elapsed())
}

fn install_tools(steps: &[&Step]) -> Outcome {
    let wanted: Vec<&Tool> = steps.iter().flat_map(|step| step.tools).copied().collect();
    println!("=== tools");
    let start = Instant::now();
    let problem = tools::need(&wanted).err();
    if let Some(problem) = &problem {
        println!("=== tools FAILED: {problem}");
    }
    Outcome { name: "tools", time: start.elapsed(), problem }
}

fn attempt(project: &Project, step: &Step, before: &[Outcome]) -> Outcome {
    let start = Instant::now();
    let failed =
        |name: &&&str| before.iter().any(|outcome| outcome.name == **name && outcome.problem.is_some());
    let problem = match step.needs.iter().find(failed) {
        Some(name) => Some(format!("it needs the step `{name}`, which failed")),
        None => tools::check(step.tools).and_then(|()| (step.run)(project)).err(),
    };
    Outcome { name: step.name, time: start.elapsed(), problem }
}

fn summarize(outcomes: &[Outcome], total: Duration) -> Result<()> {
    println!("\n=== summary");
    for outcome in outcomes {
        let word = if outcome.problem.is_some() { "FAILED" } else { "passed" };
        println!("{word}  {:7.1} s  {}", outcome.time.as_secs_f64(), outcome.name);
    }
    println!("        {:7.1} s  in all\n", total.as_secs_f64());
    for outcome in outcomes {
        if let Some(problem) = &outcome.problem {
            println!("{}: {problem}", outcome.name);
        }
    }
    let failed = outcomes.iter().filter(|outcome| outcome.problem.is_some()).count();
    println!("{} passed, {failed} failed", outcomes.len() - failed);
    if failed == 0 { Ok(()) } else { Err(format!("{failed} of {} steps failed", outcomes.len())) }
}
