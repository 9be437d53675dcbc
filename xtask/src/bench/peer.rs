//! A process that times calls when it is asked to; benches/round_trip.c says how.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::Result;

pub struct Peer {
    child: Child,
    answers: BufReader<ChildStdout>,
    /// The ways to run a program that it knows.
    pub ways: Vec<String>,
}

impl Peer {
    pub fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {name}: {error}"))?;
        let output = child.stdout.take().ok_or("a child without its output")?;
        let mut peer = Self { child, answers: BufReader::new(output), ways: Vec::new() };
        peer.ways = peer.answer()?.split('\t').map(str::to_string).collect();
        Ok(peer)
    }

    /// The nanoseconds of each call, for each way.
    pub fn turn(&mut self, program: &str, calls: usize) -> Result<Vec<Vec<u64>>> {
        let asked = self.child.stdin.as_mut().map(|input| writeln!(input, "{program} {calls}"));
        if !matches!(asked, Some(Ok(()))) {
            return Err(self.gone());
        }
        (0..self.ways.len()).map(|_| times(&self.answer()?)).collect()
    }

    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(length) if length > 0 => Ok(line.trim_end().to_string()),
            _ => Err(self.gone()),
        }
    }

    fn gone(&mut self) -> String {
        let _ = self.child.kill();
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        format!("a program that is compared ended early ({status}); what it said stands above")
    }
}

impl Drop for Peer {
    /// Ends it: there is nothing more to read on its input.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn times(line: &str) -> Result<Vec<u64>> {
    let numbers = line.split_whitespace().map(str::parse);
    numbers.collect::<std::result::Result<_, _>>().map_err(|_| format!("`{line}` should be nanoseconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Peer> {
        Peer::start(Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn each_way_answers() {
        let mut peer = shell("printf 'a\\tb c\\n'; while read p n; do echo $n 20; echo 3; done").unwrap();
        assert_eq!(peer.ways, ["a", "b c"]);
        assert_eq!(peer.turn("mlp", 7), Ok(vec![vec![7, 20], vec![3]]));
        assert_eq!(peer.turn("mlp", 8), Ok(vec![vec![8, 20], vec![3]]));
    }

    #[test]
    fn a_peer_that_ends_or_babbles_is_an_error() {
        assert!(shell("exit 3").err().unwrap().contains("exit status: 3"));
        let mut peer = shell("echo a; read line; exit 0").unwrap();
        assert!(peer.turn("mlp", 1).unwrap_err().contains("ended early"));
        let mut peer = shell("echo a; read line; echo hello").unwrap();
        assert!(peer.turn("mlp", 1).unwrap_err().contains("hello"));
    }
}
