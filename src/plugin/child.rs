//! Asks another program a question: starts it, reads its answer from a pipe of its
//! own, and ends it with everything that it started.
//!
//! The program finds the pipe as its standard input, the one stream that nothing
//! writes to by accident; what it prints is thrown away. It runs in a session of
//! its own. What counts is the answer and not how the program ends: a host that
//! ignores SIGCHLD or waits for all children never learns that.

use std::ffi::{CString, OsStr};
use std::io::{self, PipeReader, PipeWriter, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::time::{Duration, Instant};

/// What an answer is: it begins with `start`, ends with a line break, and is not
/// longer than `longest` bytes.
pub struct Limits {
    /// The first thing that the program writes, before it does anything else.
    pub start: &'static [u8],
    /// In bytes.
    pub longest: usize,
    /// How long the program may take.
    pub patience: Duration,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The program did not come to its first word.
    NotStarted(String),
    /// It ended, or closed the pipe, without an answer.
    Ended(String),
    /// It took too long. Whether it had come to its first word.
    TooSlow {
        /// Whether the first word came.
        has_started: bool,
    },
    /// It answered with too much, or with something else.
    Nonsense(String),
}

/// Runs `program` and gives its answer, without the first word and the line break.
pub fn ask(program: &Path, arguments: &[&OsStr], limits: &Limits) -> Result<Vec<u8>, NoAnswer> {
    let not_started = |error: io::Error| NoAnswer::NotStarted(error.to_string());
    let deadline = Instant::now() + limits.patience;
    let (mut reader, writer) = io::pipe().map_err(not_started)?;
    let child = Child::start(program, arguments, writer).map_err(not_started)?;
    let heard = listen(&mut reader, limits, deadline);
    let has_hung_up = matches!(heard, Heard::Nothing { .. });
    let ended = child.end(if has_hung_up { GOODBYE } else { Duration::ZERO });
    match heard {
        Heard::Answer(answer) => Ok(answer),
        Heard::TooSlow { has_started } => Err(NoAnswer::TooSlow { has_started }),
        Heard::Nothing { has_started: false } => Err(NoAnswer::NotStarted(ended)),
        Heard::Nothing { has_started: true } => Err(NoAnswer::Ended(ended)),
        Heard::Nonsense(what) => Err(NoAnswer::Nonsense(what)),
    }
}

enum Heard {
    Answer(Vec<u8>),
    Nothing { has_started: bool },
    TooSlow { has_started: bool },
    Nonsense(String),
}

/// Reads up to the end mark: a process that the program leaves behind may hold the
/// pipe open for ever.
fn listen(reader: &mut PipeReader, limits: &Limits, deadline: Instant) -> Heard {
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let has_started = answer.starts_with(limits.start);
        match wait_readable(reader.as_raw_fd(), deadline) {
            Ok(true) => {}
            Ok(false) => return Heard::TooSlow { has_started },
            Err(error) => return Heard::Nonsense(error.to_string()),
        }
        match reader.read(&mut buffer) {
            Ok(0) => return Heard::Nothing { has_started },
            Ok(count) => answer.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Heard::Nonsense(error.to_string()),
        }
        if answer.len() >= limits.start.len() && !answer.starts_with(limits.start) {
            return Heard::Nonsense("its answer is not of the expected form".into());
        }
        if answer.len() > limits.longest {
            return Heard::Nonsense(format!("its answer is longer than {} bytes", limits.longest));
        }
        if answer.len() > limits.start.len() && answer.ends_with(b"\n") {
            answer.pop();
            return Heard::Answer(answer.split_off(limits.start.len()));
        }
    }
}

/// Waits until there is something to read, or nobody left to write it.
fn wait_readable(fd: RawFd, deadline: Instant) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let milliseconds = i32::try_from(left.as_millis()).unwrap_or(i32::MAX);
        let mut watched = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one pollfd, as told.
        match unsafe { libc::poll(&raw mut watched, 1, milliseconds) } {
            0 if left.is_zero() => return Ok(false),
            0 => {}
            count if count > 0 => return Ok(true),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

/// A running program, the first of its own session and process group.
struct Child(libc::pid_t);

/// A process that is ending closes its pipe a little before it is gone.
const GOODBYE: Duration = Duration::from_millis(300);
/// How long a killed process may take to be gone; only a broken disk makes it wait.
const LONGEST_DYING: Duration = Duration::from_secs(1);

impl Child {
    fn start(program: &Path, arguments: &[&OsStr], pipe: PipeWriter) -> io::Result<Child> {
        let program = c_string(program.as_os_str())?;
        let mut words = vec![program.clone()];
        for argument in arguments {
            words.push(c_string(argument)?);
        }
        // A variable that C cannot hold would be a fault of the standard library.
        let variables = std::env::vars_os().filter_map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            c_string(&name).ok()
        });
        let variables: Vec<CString> = variables.collect();
        let settings = Settings::new(pipe.as_raw_fd())?;
        let mut pid = 0;
        // SAFETY: every pointer is to something that lives past the call; both
        // lists end in NULL; posix_spawn does not write to the strings.
        let code = unsafe {
            libc::posix_spawn(
                &raw mut pid,
                program.as_ptr(),
                settings.actions.as_ptr(),
                settings.attributes.as_ptr(),
                pointers(&words).as_ptr(),
                pointers(&variables).as_ptr(),
            )
        };
        check(code)?;
        Ok(Child(pid))
    }

    /// Kills the process and its group, and says how it ended, as far as that can
    /// be known. It may end by itself first, which tells more.
    fn end(self, grace: Duration) -> String {
        let mut status = self.wait(grace);
        // SAFETY: the group is the child's own; it lasts as long as any member.
        unsafe { libc::kill(-self.0, libc::SIGKILL) };
        if matches!(status, Waited::Running) {
            status = self.wait(LONGEST_DYING);
        }
        match status {
            Waited::Ended(status) if libc::WIFEXITED(status) => {
                format!("it ended with exit code {}", libc::WEXITSTATUS(status))
            }
            Waited::Ended(status) => format!("it was ended by signal {}", libc::WTERMSIG(status)),
            Waited::Running | Waited::Unknown => "it ended".into(),
        }
    }

    fn wait(&self, limit: Duration) -> Waited {
        let deadline = Instant::now() + limit;
        loop {
            let mut status = 0;
            // SAFETY: waits for our own child; `status` is writable.
            match unsafe { libc::waitpid(self.0, &raw mut status, libc::WNOHANG) } {
                0 if Instant::now() >= deadline => return Waited::Running,
                0 => std::thread::sleep(Duration::from_millis(1)),
                pid if pid == self.0 => return Waited::Ended(status),
                _ => return Waited::Unknown,
            }
        }
    }
}

enum Waited {
    Running,
    Ended(i32),
    /// The host waits for all children, or for none.
    Unknown,
}

/// What a child begins with: its streams, its session, and signals as usual.
struct Settings {
    actions: Box<MaybeUninit<libc::posix_spawn_file_actions_t>>,
    attributes: Box<MaybeUninit<libc::posix_spawnattr_t>>,
}

impl Settings {
    fn new(pipe: RawFd) -> io::Result<Settings> {
        let mut actions = Box::new(MaybeUninit::uninit());
        let mut attributes = Box::new(MaybeUninit::uninit());
        let mut signals = MaybeUninit::uninit();
        let mut none = MaybeUninit::uninit();
        // SAFETY: each object is initialized before it is used, and only here.
        unsafe {
            check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            let settings = Settings { actions, attributes };
            let actions = settings.actions.as_ptr().cast_mut();
            let attributes = settings.attributes.as_ptr().cast_mut();
            // The pipe first: its number may be one that is closed here otherwise.
            check(libc::posix_spawn_file_actions_adddup2(actions, pipe, 0))?;
            for stream in [1, 2] {
                let null = c"/dev/null".as_ptr();
                check(libc::posix_spawn_file_actions_addopen(actions, stream, null, libc::O_WRONLY, 0))?;
            }
            // Whatever the host does with signals is not the program's concern.
            libc::sigfillset(signals.as_mut_ptr());
            libc::sigemptyset(none.as_mut_ptr());
            check(libc::posix_spawnattr_setsigdefault(attributes, signals.as_ptr()))?;
            check(libc::posix_spawnattr_setsigmask(attributes, none.as_ptr()))?;
            let flags =
                libc::POSIX_SPAWN_SETSID as i32 | libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
            check(libc::posix_spawnattr_setflags(attributes, flags as libc::c_short))?;
            Ok(settings)
        }
    }
}

impl Drop for Settings {
    fn drop(&mut self) {
        // SAFETY: both were initialized, and are not used again.
        unsafe {
            libc::posix_spawn_file_actions_destroy(self.actions.as_mut_ptr());
            libc::posix_spawnattr_destroy(self.attributes.as_mut_ptr());
        }
    }
}

fn check(code: i32) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}

fn pointers(texts: &[CString]) -> Vec<*mut libc::c_char> {
    texts.iter().map(|text| text.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { start: b"ready\n", longest: 100, patience: Duration::from_secs(20) };

    fn shell(script: &str, patience: Duration) -> Result<String, NoAnswer> {
        let arguments = ["-c", script].map(OsStr::new);
        let limits = Limits { patience, ..LIMITS };
        ask(Path::new("/bin/sh"), &arguments, &limits).map(|answer| String::from_utf8(answer).unwrap())
    }

    fn patient(script: &str) -> Result<String, NoAnswer> {
        shell(script, LIMITS.patience)
    }

    #[test]
    fn the_answer_counts_and_nothing_else() {
        assert_eq!(patient("printf 'ready\\nyes\\n' >&0").unwrap(), "yes");
        assert_eq!(
            patient("echo noise; echo noise >&2; printf 'ready\\nyes\\n' >&0; exit 3").unwrap(),
            "yes"
        );
        // A process left behind holds the pipe, and is ended with its parent.
        let start = Instant::now();
        let script = "sleep 1000 & printf 'ready\\n%s\\n' $! >&0; sleep 1000";
        let left_behind = patient(script).unwrap();
        assert!(start.elapsed() < Duration::from_secs(15));
        let gone = || !Path::new(&format!("/proc/{left_behind}/stat")).exists() || is_zombie(&left_behind);
        while !gone() {
            assert!(start.elapsed() < Duration::from_secs(15), "{left_behind} still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn is_zombie(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_none_or(|rest| rest.starts_with('Z') || rest.is_empty())
    }

    #[test]
    fn a_session_of_its_own() {
        let script = "printf 'ready\\n%s %s\\n' $$ \"$(cut -d' ' -f6 /proc/self/stat)\" >&0";
        let answer = patient(script).unwrap();
        let (pid, session) = answer.split_once(' ').unwrap();
        assert_eq!(pid, session);
    }

    #[test]
    fn each_way_of_giving_none() {
        assert_eq!(patient("exit 3"), Err(NoAnswer::NotStarted("it ended with exit code 3".into())));
        assert_eq!(
            patient("printf 'ready\\nhalf' >&0; kill -9 $$"),
            Err(NoAnswer::Ended("it was ended by signal 9".into()))
        );
        assert!(matches!(patient("printf 'hello world\\n' >&0"), Err(NoAnswer::Nonsense(_))));
        let long = "printf 'ready\\n' >&0; while :; do printf 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' >&0; done";
        assert!(matches!(patient(long), Err(NoAnswer::Nonsense(why)) if why.contains("100 bytes")));
        let short = Duration::from_millis(300);
        assert_eq!(shell("sleep 1000", short), Err(NoAnswer::TooSlow { has_started: false }));
        let started = shell("printf 'ready\\n' >&0; trap '' TERM; sleep 1000", short);
        assert_eq!(started, Err(NoAnswer::TooSlow { has_started: true }));
        let missing = ask(Path::new("/no/such/program"), &[], &LIMITS);
        assert!(matches!(missing, Err(NoAnswer::NotStarted(why)) if why.contains("No such file")));
    }
}
