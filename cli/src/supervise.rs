//! Loads a plugin in a child process: a plugin is foreign code that may abort,
//! hang or print, and none of that may reach whoever asked about it.
//!
//! The child is this same program. It writes one line of JSON to the pipe that
//! is its standard output and moves that pipe out of the plugin's reach
//! ([`Console::take`](crate::console::Console::take)), so whatever the plugin
//! prints goes to standard error, which is kept apart too.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cyxla::error::{Code, Error, Origin, Result};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, set_parent_process_death_signal, waitid,
};
use serde_json::{Value, json};

use crate::console::Console;
use crate::quiet;

const POLL: Duration = Duration::from_millis(20);
/// How long a child that has answered may take to end by itself.
const GOODBYE: Duration = Duration::from_secs(2);
/// A child that ended may have left its answer, or what it printed, in the pipe.
const LAST_WORDS: Duration = Duration::from_millis(500);
const LONGEST_ANSWER: u64 = 1 << 30;
/// A plugin that never stops printing must not fill our memory.
const MOST_NOISE: usize = 64 << 10;
const NOISE_LINES: usize = 12;

/// Called first in the child: when the parent is killed, so is the child, which
/// may hang in the plugin for ever.
pub fn die_with_parent() {
    // It is a convenience; without it nothing else changes.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// What a child gave, and what it or the plugin printed.
pub struct Answer {
    pub outcome: Result<Value>,
    pub printed: String,
}

/// Called in the child: what the plugin does from now on, for the parent to tell if
/// the plugin ends the process meanwhile: "it {doing}".
pub fn begin(doing: &str, console: &mut Console) -> Result<()> {
    console.print(&format!("{}\n", json!({ "doing": doing })))
}

/// Runs this program with the given arguments and gives its one line of answer.
/// `set_up` may change the child's environment and standard streams.
pub fn ask(
    arguments: &[OsString],
    set_up: impl FnOnce(&mut Command),
    limit: Option<Duration>,
) -> Result<Value> {
    let answer = try_out(arguments, set_up, limit);
    if answer.outcome.is_ok() {
        // Warnings of a plugin that works are the user's to see.
        let _ = io::stderr().write_all(answer.printed.as_bytes());
    }
    answer.outcome
}

/// The same, for a report: nothing is passed on to standard error.
pub fn try_out(arguments: &[OsString], set_up: impl FnOnce(&mut Command), limit: Option<Duration>) -> Answer {
    let mut child = match start(arguments, set_up) {
        Ok(child) => child,
        Err(error) => return Answer { outcome: Err(error), printed: String::new() },
    };
    let (noise, silence) = listen(&mut child);
    let answers = answers(&mut child);
    let deadline = limit.map(|limit| Instant::now() + limit);
    let outcome = wait(&child, &answers, deadline);
    let patience = if matches!(outcome, Outcome::TimedOut) { Duration::ZERO } else { GOODBYE };
    let status = end(&mut child, patience);
    // Nobody sends: it ends with the pipe, which a process that got away may hold open.
    let _ = silence.recv_timeout(LAST_WORDS);
    let printed = noise.lock().map(|noise| noise.clone()).unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let failed = |code, message: String| {
        let error = Error::new(code, Origin::Plugin, message);
        if printed.trim().is_empty() { error } else { error.with("printed", gist(&printed)) }
    };
    let outcome = match outcome {
        Outcome::Answer(line) => serde_json::from_slice(&line)
            .map_err(|error| failed(Code::Internal, format!("the child process gave no answer: {error}"))),
        Outcome::Ended(doing) => Err(match status {
            Ok(status) => failed(Code::Aborted, how_it_ended(status, doing.as_deref())),
            Err(error) => failed(Code::Internal, format!("cannot wait for the child process: {error}")),
        }),
        Outcome::TimedOut => Err(failed(
            Code::DeadlineExceeded,
            format!(
                "the plugin did not finish loading within {} s and was stopped",
                limit.unwrap_or_default().as_secs()
            ),
        )
        .hint("give it more time with --timeout SECONDS, if it is only slow")),
    };
    Answer { outcome, printed }
}

enum Outcome {
    Answer(Vec<u8>),
    /// With what it had said that it does.
    Ended(Option<String>),
    TimedOut,
}

fn start(arguments: &[OsString], set_up: impl FnOnce(&mut Command)) -> Result<Child> {
    let started = std::env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        quiet::child(&mut command);
        // A group of its own, so that what the plugin starts ends with it.
        command.args(arguments).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        set_up(&mut command);
        command.spawn()
    });
    started.map_err(|error| {
        let message = format!("cannot start a child process to load the plugin in: {error}");
        Error::new(Code::Internal, Origin::System, message)
    })
}

/// Keeps the end of what the child prints to standard error; the channel ends when all
/// of it was read.
fn listen(child: &mut Child) -> (Arc<Mutex<Vec<u8>>>, Receiver<()>) {
    let noise = Arc::new(Mutex::new(Vec::new()));
    let (reading, silence) = channel();
    if let Some(mut pipe) = child.stderr.take() {
        let noise = Arc::clone(&noise);
        // Not joined: a process that the plugin started may hold the pipe open.
        std::thread::spawn(move || {
            let _reading: Sender<()> = reading;
            let mut block = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut block) {
                let Ok(mut noise) = noise.lock() else { return };
                noise.extend_from_slice(&block[..count]);
                let excess = noise.len().saturating_sub(MOST_NOISE);
                noise.drain(..excess);
            }
        });
    }
    (noise, silence)
}

/// Gives the child's whole lines, once they are there.
fn answers(child: &mut Child) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    if let Some(pipe) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut pipe = BufReader::new(pipe).take(LONGEST_ANSWER);
            loop {
                let mut line = Vec::new();
                let is_read = pipe.read_until(b'\n', &mut line).is_ok() && line.ends_with(b"\n");
                // Nobody listens any more once the time is up.
                if !is_read || sender.send(line).is_err() {
                    return;
                }
            }
        });
    }
    receiver
}

fn wait(child: &Child, answers: &Receiver<Vec<u8>>, deadline: Option<Instant>) -> Outcome {
    let mut doing = None;
    loop {
        let is_over = has_ended(child);
        match answers.recv_timeout(if is_over { LAST_WORDS } else { POLL }) {
            Ok(line) => match doing_of(&line) {
                Some(now) => doing = Some(now),
                None => return Outcome::Answer(line),
            },
            Err(_) if is_over => return Outcome::Ended(doing),
            // Its pipe is closed: it is about to end, if it has not.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(POLL),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Outcome::TimedOut;
        }
    }
}

/// What a line of [`begin`] says; `None` for an answer, which may be long.
fn doing_of(line: &[u8]) -> Option<String> {
    let line: Value = line.starts_with(b"{\"doing\":").then(|| serde_json::from_slice(line).ok())??;
    line["doing"].as_str().map(str::to_owned)
}

/// Whether the child has ended. It is left a zombie, so that its number is not
/// given to another process while its group may still have to be killed.
fn has_ended(child: &Child) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let Some(id) = Pid::from_raw(child.id() as i32) else { return false };
    // An error means that there is nothing to wait for.
    !matches!(waitid(WaitId::Pid(id), options), Ok(None))
}

/// Lets the child end by itself for a while, then ends it and all that it or the
/// plugin started.
fn end(child: &mut Child, patience: Duration) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + patience;
    while !has_ended(child) && Instant::now() < deadline {
        std::thread::sleep(POLL);
    }
    if let Some(group) = Pid::from_raw(child.id() as i32) {
        // Nobody may be left in it, which is as well.
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait()
}

fn how_it_ended(status: ExitStatus, doing: Option<&str>) -> String {
    let when = doing.map_or(String::new(), |doing| format!(" while it {doing}"));
    match (status.signal(), status.code()) {
        (Some(signal), _) => {
            let name =
                signal_hook::low_level::signal_name(signal).map_or(String::new(), |name| format!(", {name}"));
            format!("the plugin killed the process (signal {signal}{name}){when}")
        }
        (None, Some(code)) => format!("the plugin ended the process (exit code {code}){when}"),
        (None, None) => format!("the plugin ended the process ({status}){when}"),
    }
}

/// What matters of what was printed: all of it when it is short, else the errors in
/// it, as XLA marks them, or else its end.
pub fn gist(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let errors: Vec<&str> = lines.iter().copied().filter(|line| is_error(line)).collect();
    let chosen = if lines.len() > NOISE_LINES && !errors.is_empty() { errors } else { lines };
    chosen[chosen.len().saturating_sub(NOISE_LINES)..].join("\n")
}

/// Whether a line of a log begins with the letter for an error or a fatal one and a
/// date of four digits.
fn is_error(line: &str) -> bool {
    let mark = line.as_bytes().get(..5);
    mark.is_some_and(|mark| matches!(mark[0], b'E' | b'F') && mark[1..].iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_picked_out_of_a_long_log() {
        assert_eq!(gist("one\n\n two\n"), "one\n two");
        let long = "I0000 hello\n".repeat(20);
        assert_eq!(gist(&long).lines().count(), NOISE_LINES);
        let ill = format!("E1129 wrong\n{long}F0000 dead\nError\n");
        assert_eq!(gist(&ill), "E1129 wrong\nF0000 dead");
    }

    #[test]
    fn the_way_a_child_ended_is_told() {
        let told = |raw| how_it_ended(ExitStatus::from_raw(raw), None);
        assert_eq!(told(6), "the plugin killed the process (signal 6, SIGABRT)");
        assert_eq!(told(11), "the plugin killed the process (signal 11, SIGSEGV)");
        assert_eq!(told(3 << 8), "the plugin ended the process (exit code 3)");
        assert_eq!(told(0), "the plugin ended the process (exit code 0)");
        let told = how_it_ended(ExitStatus::from_raw(6), Some("slept"));
        assert_eq!(told, "the plugin killed the process (signal 6, SIGABRT) while it slept");
    }
}
