//! The checks that speak to the library as its users do: from C and its kin.

use std::path::PathBuf;
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
    let (program, printed) = program_and_output(&readme)?;
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

/// The first block of the README, which is C, and the second, what it prints.
fn program_and_output(readme: &str) -> Result<(&str, &str)> {
    let mut blocks = readme.split("\n```").skip(1).step_by(2);
    let program = blocks.next().and_then(|block| block.strip_prefix("c\n"));
    let printed = blocks.next().and_then(|block| block.strip_prefix("text\n"));
    let program = program.ok_or("README.md must start with a block of C")?;
    Ok((program, printed.ok_or("README.md must say, in a block of text, what its program prints")?))
}

/// Each example does what it is there to show.
pub fn examples(project: &Project) -> Result<()> {
    let build = project.fresh_folder("examples")?;
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(project.root.join("examples/c")).arg("-B").arg(&build);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", package::moved_prefix(project).display()));
    process::run(&mut configure)?;
    process::run(Command::new("cmake").arg("--build").arg(&build))?;
    let plugin = plugins::newest()?;
    let (model, loss) = ("models/digits/digits.mlirbc", "examples/programs/line.jaxexport");
    let saved = build.join("digits.cyxla").display().to_string();
    let cache = build.join("cache").display().to_string();
    let runs: [(&str, &[&str], &str); 12] = [
        ("hello", &[], "11 22 33 44"),
        ("hello_explained", &[], "as expected, INVALID_ARGUMENT"),
        ("digits", &[], "355 of 360 digits right"),
        ("describe", &[loss], "args[0]['slope']"),
        ("describe", &[loss, &cache], "compiled: jit_loss, for 1 device\n"),
        ("describe", &[loss, &cache], "compiled: jit_loss, for 1 device, from the cache\n"),
        ("gradients", &[], "step 200: y = 3.0"),
        ("loop", &[], "10 14.1421 17.3205 20"),
        ("background", &[], "9 0 ... 9"),
        ("devices", &[], "device 3: 28 828 1628"),
        ("saved", &[model, &saved], "compiled in"),
        ("saved", &[model, &saved], "loaded in"),
    ];
    for (name, arguments, shown) in runs {
        let mut run = with_plugin(Command::new(build.join(name)), project, &plugin)?;
        run.env("CYXLA_PLUGIN", &plugin.path).args(arguments).current_dir(&project.root);
        let said = process::output(&mut run)?;
        if !said.contains(shown) {
            return Err(format!("the example {name} printed `{said}`, without `{shown}`"));
        }
    }
    println!("{} runs of the examples show what they should", runs.len());
    Ok(())
}

pub fn build_gcc(project: &Project) -> Result<()> {
    build_tests(project, "gcc", "g++")
}

pub fn tests_gcc(project: &Project) -> Result<()> {
    run_tests(project, "gcc", "-LE")
}

/// The tests with the label `valgrind`: those with the fake plugin.
pub fn tests_valgrind(project: &Project) -> Result<()> {
    run_tests(project, "gcc", "-L")
}

pub fn tests_clang(project: &Project) -> Result<()> {
    build_tests(project, "clang", "clang++")?;
    run_tests(project, "clang", "-LE")
}

fn build_folder(project: &Project, compiler: &str) -> PathBuf {
    project.target.join("xtask").join(format!("c-{compiler}"))
}

fn build_tests(project: &Project, cc: &str, cxx: &str) -> Result<()> {
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
    process::run(Command::new("cmake").arg("--build").arg(&build).args(["--parallel", "2"]))
}

fn run_tests(project: &Project, compiler: &str, with_label: &str) -> Result<()> {
    let mut ctest = with_plugin(Command::new("ctest"), project, &plugins::newest()?)?;
    ctest.current_dir(build_folder(project, compiler)).args([
        "--output-on-failure",
        "--no-tests=error",
        "--parallel",
        "2",
    ]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_must_have_a_program_and_its_output() {
        let readme = "# T\n\n```c\nint x;\n```\n\n```text\n1\n```\n";
        assert_eq!(program_and_output(readme), Ok(("int x;", "1")));
        assert!(program_and_output(&readme.replace("```c\n", "```sh\n")).is_err());
        assert!(program_and_output(&readme.replace("```text\n", "```sh\n")).is_err());
    }
}
