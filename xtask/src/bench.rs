//! `cargo xtask bench`: cyxla_run against the same steps in raw PJRT C, and the time
//! that listing plugins takes.

use std::process::Command;

use crate::Result;
use crate::plugins;
use crate::process;
use crate::project::Project;
use crate::tools;

/// Builds and runs the programs of benches/ with the newest plugin; further
/// arguments go to run_vs_raw.
pub fn run(project: &Project, arguments: &[&str]) -> Result<()> {
    tools::need(&[&tools::CC, &tools::LIBC_HEADERS, &tools::PYTHON, &tools::PIP])?;
    project.build_release()?;
    plugins::ensure(project)?;
    compile_and_run(project, arguments)?;
    process::run(project.cargo().args(["bench", "--package", "libcyxla", "--bench", "listing", "--locked"]))
}

/// Few calls, to see that it still works and stays within the limit.
pub fn check(project: &Project) -> Result<()> {
    compile_and_run(project, &["--calls", "5000", "--check"])
}

fn compile_and_run(project: &Project, arguments: &[&str]) -> Result<()> {
    let header = plugins::published_header()?;
    let program = project.kept_folder("bench")?.join("run_vs_raw");
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic"]);
    for source in ["run_vs_raw.c", "raw_pjrt.c", "programs.c"] {
        cc.arg(project.root.join("benches").join(source));
    }
    cc.arg("-I").arg(project.include());
    // The published header is not ours to keep free of warnings.
    cc.arg("-isystem").arg(header.parent().ok_or("the published header lies in no folder")?);
    cc.arg(project.library()).arg(format!("-Wl,-rpath,{}", project.release().display()));
    process::run(cc.args(["-ldl", "-lm", "-o"]).arg(&program))?;

    let mut bench = Command::new(&program);
    bench.current_dir(&project.root).env("CYXLA_PLUGIN", plugins::newest()?.path);
    process::run(bench.args(arguments))
}
