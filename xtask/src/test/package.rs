//! What CMake installs, used from another place than the one it was installed in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::process;
use crate::project::Project;

/// Where the installed files lie after they were moved.
pub fn moved_prefix(project: &Project) -> PathBuf {
    project.target.join("xtask/elsewhere/cyxla")
}

/// Configure, build, install, move; nothing installed may remember a path.
pub fn install_and_move(project: &Project) -> Result<()> {
    let folder = project.fresh_folder("package")?;
    project.fresh_folder("elsewhere")?;
    let (build, prefix) = (folder.join("build"), folder.join("prefix"));
    let mut configure = configure(&project.root, &build);
    configure.arg(format!("-DCYXLA_CARGO_TARGET_DIR={}", project.target.display()));
    // The folder is `lib` on every system, so that the tests find it.
    process::run(configure.arg("-DCMAKE_INSTALL_LIBDIR=lib"))?;
    process::run(Command::new("cmake").arg("--build").arg(&build))?;
    process::run(Command::new("cmake").arg("--install").arg(&build).arg("--prefix").arg(&prefix))?;
    for place in [&prefix, &build, &project.root] {
        refuse_mention(&prefix, place)?;
    }
    let moved = moved_prefix(project);
    fs::rename(&prefix, &moved).map_err(|error| format!("cannot move {}: {error}", prefix.display()))
}

/// `find_package`, shared and static, from C and C++, and pkg-config; wrong
/// versions are refused.
pub fn consumers(project: &Project) -> Result<()> {
    let folder = project.fresh_folder("consumers")?;
    let source = project.root.join("tests/cmake/consumer");
    let consumer = |name: &str, wanted: &str| {
        let mut command = configure(&source, &folder.join(name));
        command.arg(format!("-DCMAKE_PREFIX_PATH={}", moved_prefix(project).display()));
        command.arg(format!("-DWANTED_VERSION={wanted}"));
        command
    };
    let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
    let wanted = format!("{major}.{minor}");
    process::run(&mut consumer("right", &wanted))?;
    process::run(Command::new("cmake").arg("--build").arg(folder.join("right")))?;
    process::run(
        Command::new("ctest")
            .current_dir(folder.join("right"))
            .args(["--output-on-failure", "--no-tests=error"]),
    )?;

    for wrong in [format!("{major}.{minor}.99"), format!("{major}.99"), "99.0".into()] {
        let said = process::output_of_failure(&mut consumer("wrong", &wrong))?;
        if !said.contains("considered but not accepted") {
            return Err(format!(
                "find_package(cyxla {wrong}) failed for another reason than the version:\n{said}"
            ));
        }
        println!("find_package(cyxla {wrong}) is refused");
    }
    pkg_config(project, &source, &folder)
}

fn pkg_config(project: &Project, source: &Path, folder: &Path) -> Result<()> {
    // `-lcyxla` takes the shared library where both are, so the other is named.
    for (library, extra) in [("-lcyxla", &[][..]), ("-l:libcyxla.a", &["--static"][..])] {
        let mut ask = Command::new("pkg-config");
        ask.env("PKG_CONFIG_PATH", moved_prefix(project).join("lib/pkgconfig"));
        let flags = process::output(ask.args(extra).args(["--cflags", "--libs", "cyxla"]))?;
        let flags = flags.replace("-lcyxla", library);
        let binary = folder.join("pkg-config");
        let mut cc = Command::new("cc");
        cc.arg(source.join("consumer.c")).arg("-o").arg(&binary).args(flags.split_whitespace());
        process::run(&mut cc)?;
        process::run(Command::new(&binary).env("LD_LIBRARY_PATH", moved_prefix(project).join("lib")))?;
    }
    Ok(())
}

/// `add_subdirectory`, as FetchContent does it, in a debug build.
pub fn subdirectory(project: &Project) -> Result<()> {
    let build = project.fresh_folder("subdirectory")?;
    let mut command = configure(&project.root.join("tests/cmake/subdirectory"), &build);
    command.arg(format!("-DCYXLA_CARGO_TARGET_DIR={}", project.target.display()));
    process::run(&mut command)?;
    process::run(Command::new("cmake").arg("--build").arg(&build))?;
    process::run(Command::new("ctest").current_dir(&build).args(["--output-on-failure", "--no-tests=error"]))
}

/// Compiler arguments to use the installed library from where it lies.
pub fn link_with_prefix<'a>(cc: &'a mut Command, project: &Project) -> &'a mut Command {
    let prefix = moved_prefix(project);
    cc.arg("-I").arg(prefix.join("include")).arg("-L").arg(prefix.join("lib")).arg("-lcyxla");
    cc.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()))
}

fn configure(source: &Path, build: &Path) -> Command {
    let mut command = Command::new("cmake");
    command.arg("-S").arg(source).arg("-B").arg(build);
    command
}

/// No installed file may contain the path of `place`.
fn refuse_mention(folder: &Path, place: &Path) -> Result<()> {
    let text = place.to_string_lossy().into_owned();
    let mut grep = Command::new("grep");
    let output = grep
        .args(["--recursive", "--files-with-matches", "--fixed-strings", "--", &text])
        .arg(folder)
        .output();
    let output = output.map_err(|error| format!("cannot start grep: {error}"))?;
    let found = String::from_utf8_lossy(&output.stdout).trim().to_string();
    if found.is_empty() {
        Ok(())
    } else {
        Err(format!("these installed files contain the path {text}: {found}"))
    }
}
