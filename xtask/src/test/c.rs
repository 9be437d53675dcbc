//! The checks that speak to the library as its users do: from C and its kin.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::package;
use super::rust::with_plugin;
use crate::Result;
use crate::plugins;
use crate::process;
use crate::project::{self, Project};

/// The README's first C program does what the README says.
pub fn readme_program(project: &Project) -> Result<()> {
    let readme = project::read(&project.root.join("README.md"))?;
    let mut blocks = readme.split("\n```").skip(1).step_by(2);
    let program = blocks
        .next()
        .and_then(|block| block.strip_prefix("c\n"))
        .ok_or("README.md must start with a C program")?;
    let printed = blocks.next().and_then(|block| block.strip_prefix("text\n"));
    let printed = printed.ok_or("README.md must say, in a block of text, what its program prints")?;

    let folder = project.fresh_folder("readme")?;
    let source = folder.join("add.c");
    let binary = folder.join("add");
    project::write(&source, program)?;
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]).arg(&source);
    process::run(package::link_with_prefix(&mut cc, project).arg("-o").arg(&binary))?;
    let mut run = with_plugin(Command::new(&binary), project, &plugins::newest()?)?;
    let said = process::output(run.env("CYXLA_PLUGIN", &plugins::newest()?.path))?;
    if said.trim() == printed.trim() {
        println!("it prints {}", said.trim());
        return Ok(());
    }
    Err(format!("README.md's program printed `{}`, not `{}` as README.md says", said.trim(), printed.trim()))
}

pub fn tests_gcc(project: &Project) -> Result<()> {
    let build = build_tests(project, "gcc", "g++")?;
    run_tests(project, &build, "-LE")
}

pub fn tests_clang(project: &Project) -> Result<()> {
    let build = build_tests(project, "clang", "clang++")?;
    run_tests(project, &build, "-LE")
}

/// The tests with the label `valgrind`, from gcc's build.
pub fn tests_valgrind(project: &Project) -> Result<()> {
    run_tests(project, &build_folder(project, "gcc"), "-L")
}

fn build_folder(project: &Project, compiler: &str) -> PathBuf {
    project.target.join("xtask").join(format!("c-{compiler}"))
}

fn build_tests(project: &Project, cc: &str, cxx: &str) -> Result<PathBuf> {
    project.fresh_folder(&format!("c-{cc}"))?;
    let build = build_folder(project, cc);
    let real = plugins::all()?
        .iter()
        .map(|plugin| format!("{}={}", plugin.version, plugin.path.display()))
        .collect::<Vec<_>>();
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(project.root.join("tests/c")).arg("-B").arg(&build);
    configure.args([format!("-DCMAKE_C_COMPILER={cc}"), format!("-DCMAKE_CXX_COMPILER={cxx}")]);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", package::moved_prefix(project).display()));
    configure.arg(format!("-DCYXLA_TEST_PLUGINS={}", real.join(";")));
    configure.arg(format!("-DCYXLA_TEST_FAKE={}", project.fake_plugin().display()));
    process::run(&mut configure)?;
    process::run(Command::new("cmake").arg("--build").arg(&build).args(["--parallel", "2"]))?;
    Ok(build)
}

fn run_tests(project: &Project, build: &Path, with_label: &str) -> Result<()> {
    let mut ctest = with_plugin(Command::new("ctest"), project, &plugins::newest()?)?;
    ctest.current_dir(build).args(["--output-on-failure", "--no-tests=error", "--parallel", "2"]);
    process::run(ctest.args([with_label, "valgrind"]))
}

/// Go, Julia and Python call the C ABI without any binding.
pub fn foreign_languages(project: &Project) -> Result<()> {
    let prefix = package::moved_prefix(project);
    let mut script = with_plugin(Command::new("sh"), project, &plugins::newest()?)?;
    script.env("CYXLA_PLUGIN", &plugins::newest()?.path);
    script.arg(project.root.join("tests/ffi/run.sh")).arg(prefix).current_dir(project.fresh_folder("ffi")?);
    process::run(&mut script)
}
