//! `cargo xtask bench`: cyxla_run against the same steps in raw PJRT C.

use std::process::Command;

use crate::Result;
use crate::plugins;
use crate::process;
use crate::project::Project;
use crate::tools;

/// Builds and runs benches/run_vs_raw.c with the newest plugin; further
/// arguments go to it.
pub fn run(project: &Project, arguments: &[&str]) -> Result<()> {
    tools::need(&[&tools::CC, &tools::LIBC_HEADERS, &tools::PYTHON, &tools::PIP])?;
    project.build_release()?;
    plugins::ensure(project)?;
    let plugin = plugins::newest()?;
    let header = plugins::published_header()?;
    let program = project.kept_folder("bench")?.join("run_vs_raw");

    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O2", "-Wall", "-Wextra"]);
    cc.args(["run_vs_raw.c", "raw_pjrt.c", "programs.c"].map(|name| project.root.join("benches").join(name)));
    cc.arg("-I").arg(project.include());
    // The published header is not ours to keep free of warnings.
    cc.arg("-isystem").arg(header.parent().ok_or("the published header lies in no folder")?);
    cc.arg(project.library()).arg(format!("-Wl,-rpath,{}", project.release().display()));
    process::run(cc.args(["-ldl", "-lm", "-o"]).arg(&program))?;

    let mut bench = Command::new(&program);
    bench.current_dir(&project.root).env("CYXLA_PLUGIN", &plugin.path).env("CYXLA_TEST_PLUGIN", &plugin.path);
    process::run(bench.args(arguments))
}
