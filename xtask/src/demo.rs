//! `cargo xtask demo`: from a clone to digits that a program in C recognizes.

use std::process::Command;

use crate::Result;
use crate::plugins;
use crate::process;
use crate::project::Project;
use crate::tools;

pub fn run(project: &Project) -> Result<()> {
    run_with(project, None)
}

/// As a test: in a data folder of its own, and twice, since the second time
/// finds what the first one left.
pub fn run_twice(project: &Project) -> Result<()> {
    let folder = project.kept_folder("demo-data")?;
    for _ in 0..2 {
        run_with(project, Some(&folder))?;
    }
    Ok(())
}

fn run_with(project: &Project, data_folder: Option<&std::path::Path>) -> Result<()> {
    let in_data_folder = |mut command: Command| {
        if let Some(folder) = data_folder {
            command.env("XDG_DATA_HOME", folder).env_remove("CYXLA_PLUGIN");
        }
        command
    };
    say(1, "Looking for a C compiler and for Python's pip, which fetches the plugin.");
    tools::need(&[&tools::CC, &tools::LIBC_HEADERS, &tools::PYTHON, &tools::PIP])?;

    say(2, "Building the library and the command cyxla (a minute or two the first time).");
    project.build_release()?;

    say(3, &format!("Installing XLA's CPU plugin, PJRT {} (63 MB to fetch, once).", plugins::NEWEST));
    process::run(in_data_folder(project.cyxla()).args(["install", "cpu"]))?;

    say(4, "Compiling examples/c/digits.c against include/cyxla.h and libcyxla.so.");
    let program = project.kept_folder("demo")?.join("digits");
    compile(project, &program)?;

    say(5, "Running it: a classifier trained in JAX reads handwritten digits.");
    let model = project.root.join("models/digits");
    let mut digits = in_data_folder(Command::new(&program));
    digits.current_dir(&project.root);
    for file in ["digits.mlirbc", "images.u8", "labels.u8"] {
        digits.arg(model.join(file));
    }
    process::run(&mut digits)
}

fn compile(project: &Project, program: &std::path::Path) -> Result<()> {
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-O2", "-Wall", "-Wextra"]).arg(project.root.join("examples/c/digits.c"));
    cc.arg("-I").arg(project.include());
    cc.arg(project.library()).arg(format!("-Wl,-rpath,{}", project.release().display()));
    process::run(cc.args(["-lm", "-o"]).arg(program))
}

fn say(number: u32, text: &str) {
    println!("\n[{number}/5] {text}");
}
