//! The programs in C, built by benches/CMakeLists.txt, and what they and the peers read.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::peers::Peers;
use crate::plugins;
use crate::process;
use crate::project::Project;

/// Builds the programs with all warnings as errors; gives the folder they are in.
pub fn build(project: &Project, compiler: &str) -> Result<PathBuf> {
    let header = plugins::published_header()?;
    let header_folder = header.parent().ok_or("the published header lies in no folder")?;
    let build = project.kept_folder(&format!("bench-{compiler}"))?;
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(project.root.join("benches")).arg("-B").arg(&build);
    configure.arg(format!("-DCMAKE_C_COMPILER={compiler}"));
    configure.arg(format!("-DCYXLA_LIBRARY={}", project.library().display()));
    configure.arg(format!("-DCYXLA_INCLUDE={}", project.include().display()));
    configure.arg(format!("-DPJRT_INCLUDE={}", header_folder.display()));
    process::run_quietly(&mut configure)?;
    process::run_quietly(Command::new("cmake").arg("--build").arg(&build))?;
    Ok(build)
}

/// A program that loads the newest plugin, and keeps quiet about its options.
pub fn command(program: &Path) -> Result<Command> {
    under(Command::new(program))
}

/// The same, under a program that watches it.
pub fn under(mut command: Command) -> Result<Command> {
    command.env("CYXLA_PLUGIN", plugins::newest()?.path).env("TF_CPP_MIN_LOG_LEVEL", "1");
    Ok(command)
}

/// Writes what is timed into a folder: programs, their inputs and their results.
pub fn write(project: &Project, built: &Path) -> Result<PathBuf> {
    let folder = project.fresh_folder("bench-programs")?;
    process::run(command(&built.join("round_trip"))?.arg("write").arg(&folder))?;
    Ok(folder)
}

/// Adds the same programs, and the digits model, as ONNX models.
pub fn write_models(project: &Project, peers: &Peers, folder: &Path) -> Result<()> {
    let mut models = peer(project, peers, "models.py");
    process::run(models.arg(folder).arg(project.root.join("models/digits/digits.mlirbc")))
}

/// A script of benches/peers.
pub fn peer(project: &Project, peers: &Peers, script: &str) -> Command {
    let mut command = Command::new(&peers.python);
    // The sources stay as they are, without what Python compiles of them.
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("JAX_PLATFORMS", "cpu").env("TF_CPP_MIN_LOG_LEVEL", "1");
    command.arg(project.root.join("benches/peers").join(script));
    command
}
