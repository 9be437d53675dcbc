//! The project's own commands. `cargo xtask help` lists them.

mod bench;
mod demo;
mod dlpack;
mod header;
mod peers;
mod pinned;
mod plugins;
mod process;
mod project;
mod symbols;
mod test;
mod tools;

use std::process::ExitCode;

use project::Project;

/// What goes wrong here is told in one sentence that says what to do.
type Result<T> = std::result::Result<T, String>;

const HELP: &str = "\
cargo xtask COMMAND: the project's own commands

  demo                    fetch a plugin, build everything, and recognize handwritten digits from C
  test [--quick] [FILTER] run every check (about a quarter of an hour); installs the tools it lacks
                          --quick   leave out the slow steps
                          FILTER    only the steps whose name contains it, and what they need
                          --wheels  only the tests on the real wheels for CUDA and TPUs (a download of 311 MB)
                          --list    print the steps instead of running them
  header [--check]        write include/cyxla.h from src/capi, or only check that it is up to date
  symbols                 compare what the shared library exports with what the header declares
  bench [PART]            compare with raw PJRT C, ONNX Runtime, JAX and pypjrt, which it installs (170 MB to fetch)
                          PART      only `round-trip`, `scaling` (with threads), `start`, `listing` (of plugins),
                                    `instructions` (of a step) or `soak` (10 million steps)
                          --calls N at most N calls of each program (20000)
                          --check   fail if a target is missed; needs a machine without other work
                          --write   write docs/bench.json and docs/bench.svg;
                                    with `instructions`: benches/instructions.json, what the tests compare with
  help                    print this

Plugins for tests are kept in $XDG_CACHE_HOME/libcyxla/plugins (~/.cache by default), outside the build folder.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let project = Project::find()?;
    match arguments.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        ["demo"] => demo::run(&project),
        ["test", rest @ ..] => test::run(&project, &test::Selection::parse(rest)?),
        ["header"] => header::write(&project),
        ["header", "--check"] => header::check(&project),
        ["symbols"] => test::symbols(&project),
        ["bench", rest @ ..] => bench::run(&project, rest),
        other => Err(format!("`{}` is no command; `cargo xtask help` lists them", other.join(" "))),
    }
}
