//! The checks that speak to the library as its users do: from C and its kin.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::package;
use super::rust::with_plugin;
use crate::Result;
use crate::plugins;
use crate::process;
use crate::project::{self, Project};

/// A source that includes the header twice and uses one thing of each kind.
const HEADER_USE: &str = "\
#include <cyxla.h>
#include <cyxla.h>
#if CYXLA_VERSION != CYXLA_VERSION_MAJOR * 10000 + CYXLA_VERSION_MINOR * 100 + CYXLA_VERSION_PATCH
#error \"the version macros disagree\"
#endif
cyxla_code header_use(const cyxla_error *error, cyxla_buffer **buffers);
cyxla_code header_use(const cyxla_error *error, cyxla_buffer **buffers)
{
    cyxla_dtype dtype = CYXLA_DTYPE_F32;
    cyxla_buffer_free(buffers[0]);
    return cyxla_dtype_size(dtype) == sizeof(float) ? cyxla_error_code(error) : CYXLA_CODE_INTERNAL;
}
";

const STERN: [&str; 12] = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-pedantic-errors",
    "-Werror",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Wcast-qual",
    "-Wundef",
    "-Wmissing-declarations",
    "-Wredundant-decls",
];
const STERN_C: [&str; 4] =
    ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wold-style-definition", "-Wc++-compat"];
const STERN_CXX: [&str; 2] = ["-Wold-style-cast", "-Wzero-as-null-pointer-constant"];
/// All that clang knows, less what forbids C itself or the doc's own words.
const CLANG: [&str; 8] = [
    "-Weverything",
    "-Wno-unknown-warning-option",
    "-Wno-padded",
    "-Wno-documentation-unknown-command",
    "-Wno-c++98-compat",
    "-Wno-c++98-compat-pedantic",
    "-Wno-pre-c11-compat",
    "-Wno-unsafe-buffer-usage",
];

/// include/cyxla.h compiles in every dialect without a warning.
pub fn header_alone(project: &Project) -> Result<()> {
    let folder = project.fresh_folder("header")?;
    for (extension, standards) in [("c", ["c99", "c11", "c17"]), ("cpp", ["c++11", "c++17", "c++20"])] {
        let source = folder.join(format!("header_use.{extension}"));
        project::write(&source, HEADER_USE)?;
        let cxx = extension == "cpp";
        for (compiler, more) in
            [(if cxx { "g++" } else { "gcc" }, &[][..]), (if cxx { "clang++" } else { "clang" }, &CLANG[..])]
        {
            for standard in standards {
                let mut command = Command::new(compiler);
                command.arg(format!("-std={standard}")).args(STERN).args(if cxx {
                    &STERN_CXX[..]
                } else {
                    &STERN_C[..]
                });
                command.args(more).arg("-fsyntax-only").arg("-I").arg(project.include()).arg(&source);
                process::run_quietly(&mut command)?;
                println!("{compiler} -std={standard}: no warning");
            }
        }
    }
    Ok(())
}

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
    script.arg(project.root.join("tests/ffi/run.sh")).arg(prefix).current_dir(project.fresh_folder("ffi")?);
    process::run(&mut script)
}
