//! Exports with constants of 10 and 100 MB, made with JAX: reading one costs about what
//! its file costs, and every plugin runs one.

use std::process::Command;

use super::rust::with_plugin;
use crate::Result;
use crate::peers;
use crate::plugins;
use crate::process;
use crate::project::Project;

pub fn large_exports(project: &Project) -> Result<()> {
    let sources = project.root.join("tests/corpus");
    let folder = project.fresh_folder("large-exports")?;
    let mut make = Command::new(peers::ensure()?.python);
    make.env("PYTHONDONTWRITEBYTECODE", "1").arg(sources.join("large.py"));
    process::run(make.arg(&folder))?;

    let program = folder.join("large");
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-D_POSIX_C_SOURCE=200809L"]);
    cc.arg(sources.join("large.c")).arg("-I").arg(project.include()).arg(project.library());
    cc.arg(format!("-Wl,-rpath,{}", project.release().display()));
    process::run(cc.arg("-o").arg(&program))?;

    let file = |name: &str| folder.join(name);
    process::run(Command::new(&program).arg("read").arg(file("100.jaxexport")))?;
    for plugin in plugins::all()? {
        let mut run = with_plugin(Command::new(&program), project, &plugin)?;
        run.env("CYXLA_PLUGIN", &plugin.path).arg("run");
        process::run(run.args(["10.jaxexport", "10.in", "10.out"].map(file)))?;
    }
    Ok(())
}
