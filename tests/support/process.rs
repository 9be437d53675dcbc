//! Tests that need a process of their own: a process loads one plugin for good, and
//! some plugins end it.

use super::Folder;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// Names the test that a child process is to run.
const CHILD: &str = "CYXLA_TEST_ISOLATED";
/// Longer than any test takes, even under a memory checker on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// Runs `body` in a process of its own, which is this test program told to run the
/// test `name` alone, with some environment variables set. Fails when the body
/// fails, or the process ends in any way but well.
pub fn isolated(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if let Some(ended) = Isolated::new(name).variables(variables).run(body) {
        ended.assert_well();
    }
}

/// Runs `body` once for each case, each time in a process of its own with `variable`
/// set to the case's first part, and gives how each ended. All must end well. In those
/// other processes nothing is given.
pub fn each_isolated<T>(
    name: &str,
    variable: &str,
    cases: impl IntoIterator<Item = (String, T)>,
    body: impl Fn(&T),
) -> Vec<(T, Ended)> {
    let mut all = Vec::new();
    for (value, case) in cases {
        let mine = std::env::var(variable).is_ok_and(|wanted| wanted == value);
        if is_child(name) && !mine {
            continue;
        }
        let test = Isolated::new(name).variable(variable, &value);
        let Some(ended) = test.run(|| body(&case)) else {
            return Vec::new();
        };
        assert!(ended.status.success() && ended.finished, "with `{value}`: {ended}");
        all.push((case, ended));
    }
    all
}

fn is_child(name: &str) -> bool {
    std::env::var(CHILD).is_ok_and(|child| child == name)
}

/// A test in a process of its own, to be described and then run.
pub struct Isolated {
    name: String,
    variables: Vec<(OsString, OsString)>,
    wrapper: Vec<String>,
    folder: Option<PathBuf>,
}

/// How such a process ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    /// Whether the body began, and whether it came to its end.
    pub began: bool,
    pub finished: bool,
}

impl Isolated {
    /// `name` is the path of the calling test, as `cargo test` prints it.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), variables: Vec::new(), wrapper: Vec::new(), folder: None }
    }

    pub fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.into(), value.as_ref().into()));
        self
    }

    pub fn variables(self, variables: &[(&str, &str)]) -> Self {
        variables.iter().fold(self, |this, (name, value)| this.variable(name, value))
    }

    /// A command that gets the test program's command line as its last arguments.
    pub fn under(mut self, wrapper: &[&str]) -> Self {
        self.wrapper = wrapper.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// The working folder.
    pub fn in_folder(mut self, folder: PathBuf) -> Self {
        self.folder = Some(folder);
        self
    }

    /// In the test's first process, runs it again in another and says how that ended.
    /// In that other process runs `body` and gives `None`.
    pub fn run(self, body: impl FnOnce()) -> Option<Ended> {
        if is_child(&self.name) {
            say(&self.name, "began");
            body();
            say(&self.name, "finished");
            return None;
        }
        Some(self.spawn())
    }

    fn spawn(self) -> Ended {
        let this = std::env::current_exe().expect("the test program has a path");
        let mut words: Vec<OsString> = self.wrapper.iter().map(OsString::from).collect();
        words.push(this.into());
        let output = Folder::new("output");
        let file = |name: &str| File::create(output.path().join(name)).expect("a file for output");
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(["--exact", &self.name, "--nocapture", "--test-threads=1"])
            .env(CHILD, &self.name)
            .envs(self.variables)
            .stdout(file("stdout"))
            .stderr(file("stderr"));
        if let Some(folder) = self.folder {
            command.current_dir(folder);
        }
        let mut child = command.spawn().unwrap_or_else(|error| {
            panic!("cannot run {}: {error}: run `cargo xtask test`", words[0].display())
        });
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("the child can be waited for") {
                break status;
            }
            if start.elapsed() > PATIENCE {
                child.kill().expect("the child can be killed");
                child.wait().expect("the child can be waited for");
                panic!("{} did not end within {PATIENCE:?}", self.name);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let read = |name: &str| {
            let bytes = std::fs::read(output.path().join(name)).expect("the output can be read");
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (stdout, stderr) = (read("stdout"), read("stderr"));
        Ended {
            status,
            began: stdout.contains(&line(&self.name, "began")),
            finished: stdout.contains(&line(&self.name, "finished")),
            stdout,
            stderr,
        }
    }
}

impl Ended {
    pub fn assert_well(&self) {
        assert!(self.status.success() && self.finished, "{self}");
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { status, stdout, stderr, .. } = self;
        write!(f, "{status}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

fn line(name: &str, what: &str) -> String {
    format!("[isolated test {name} {what}]\n")
}

fn say(name: &str, what: &str) {
    let mut stdout = std::io::stdout();
    // On a line of its own, since the test runner leaves its own one open.
    write!(stdout, "\n{}", line(name, what)).expect("stdout takes text");
    stdout.flush().expect("stdout takes text");
}
