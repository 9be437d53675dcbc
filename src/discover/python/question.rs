//! What only an interpreter can answer: which plugin a module offers, and where the
//! interpreter behind a shim is.
//!
//! Answers are kept for the life of the process, as long as the files that they
//! came from stay the same.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::hash::Hash;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::discover::files::{self, Identity};
use crate::discover::json::Json;
use crate::options::Options;
use crate::platform::check_name;
use crate::plugin::child::{self, Limits, NoAnswer};

const ASK: &str = include_str!("ask.py");
const WHERE: &str = "import os, sys
os.write(0, b'ready\\n')
said = '{\"executable\": \"%s\", \"prefix\": \"%s\"}\\n'
os.write(0, (said % tuple(os.fsencode(path).hex() for path in (sys.executable, sys.prefix))).encode())
";
const LONGEST: usize = 64 * 1024;

/// What a module says of its plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub platform: String,
    pub library: PathBuf,
    pub options: Options,
}

/// Why a module says nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Silence {
    /// The interpreter does not even begin; no other module will do better.
    Interpreter(String),
    /// The module is at fault.
    Module(String),
}

/// How a folder joins an interpreter's search path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Way {
    /// Before all others, as those of PYTHONPATH.
    First,
    /// As a folder of packages, with its `.pth` files.
    Site,
    /// As a plain folder, which a `.pth` file named.
    Plain,
}

/// A module to ask, and by whom.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Question {
    pub interpreter: PathBuf,
    pub module: String,
    pub folder: PathBuf,
    pub way: Way,
    /// The files that the answer depends on, as far as they are known.
    pub files: [Option<Identity>; 2],
}

/// Asks, unless the answer is known. `None` when the time is up before it begins.
pub fn ask(question: &Question, patience: Duration) -> Option<Result<Said, Silence>> {
    static KNOWN: Mutex<Option<Known<Question, Result<Said, Silence>>>> = Mutex::new(None);
    remembered(&KNOWN, question, || {
        let way = match question.way {
            Way::First => "first",
            Way::Site => "site",
            Way::Plain => "plain",
        };
        let words = ["-I", "-B", "-c", ASK, &question.module, way].map(OsStr::new);
        let words = [&words[..], &[question.folder.as_os_str()]].concat();
        (!patience.is_zero()).then(|| run(&question.interpreter, &words, patience).and_then(understand))
    })
}

type Known<K, V> = HashMap<K, V>;

/// The answer from an earlier time, or a new one, which is kept.
fn remembered<K: Hash + Eq + Clone, V: Clone>(
    known: &Mutex<Option<Known<K, V>>>,
    key: &K,
    answer: impl FnOnce() -> Option<V>,
) -> Option<V> {
    let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(answer) = lock().get_or_insert_default().get(key) {
        return Some(answer.clone());
    }
    // Not under the lock: an answer takes its time, and others may be known.
    let answer = answer()?;
    lock().get_or_insert_default().insert(key.clone(), answer.clone());
    Some(answer)
}

fn run(interpreter: &Path, words: &[&OsStr], patience: Duration) -> Result<Vec<u8>, Silence> {
    let limits = Limits { start: b"ready\n", longest: LONGEST, patience };
    let seconds = patience.as_secs_f32();
    child::ask(interpreter, words, &limits).map_err(|none| match none {
        NoAnswer::NotStarted(why) => Silence::Interpreter(format!("it does not start: {why}")),
        NoAnswer::TooSlow { has_started: false } => {
            Silence::Interpreter(format!("it did not start within {seconds:.1} s and was stopped"))
        }
        NoAnswer::TooSlow { has_started: true } => {
            Silence::Module(format!("it gave no answer within {seconds:.1} s and was stopped"))
        }
        NoAnswer::Ended(why) => Silence::Module(format!("it ended the interpreter ({why})")),
        NoAnswer::Nonsense(what) => Silence::Module(what),
    })
}

/// Checks an answer as if anyone had written it.
fn understand(answer: Vec<u8>) -> Result<Said, Silence> {
    let understood = || {
        let answer = Json::parse(&answer)?;
        if let Ok(problem) = answer.text("problem") {
            return Err(problem.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        let platform = match answer.get("platform") {
            Some(Json::Text(empty)) if empty.is_empty() => return Err("its PLATFORM is empty".into()),
            _ => answer.text("platform")?,
        };
        let platform =
            check_name(platform).map_err(|error| format!("its PLATFORM is wrong: {}", error.message()))?;
        let library = path(answer.text("library")?)?;
        Ok(Said { platform, library, options: answer.options("create_options")? })
    };
    understood().map_err(Silence::Module)
}

/// Reads a path, which may be any bytes, from its hexadecimal form.
fn path(text: &str) -> Result<PathBuf, String> {
    let digits = text.as_bytes().chunks(2);
    let bytes = digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let bytes: Option<Vec<u8>> = bytes.collect();
    bytes
        .map(|bytes| OsString::from_vec(bytes).into())
        .ok_or_else(|| "its answer is not of the expected form".into())
}

/// The interpreter behind a shim, and its environment's folder. A shim is run once.
pub fn where_is(shim: &Path, patience: Duration) -> Result<(PathBuf, PathBuf), String> {
    type Shim = (PathBuf, Option<Identity>);
    type Place = Result<(PathBuf, PathBuf), String>;
    static KNOWN: Mutex<Option<Known<Shim, Place>>> = Mutex::new(None);
    let key = (shim.to_owned(), files::identity(shim));
    let place = remembered(&KNOWN, &key, || {
        let answer = run(shim, &["-I", "-B", "-c", WHERE].map(OsStr::new), patience);
        let place = answer
            .map_err(|silence| match silence {
                Silence::Interpreter(why) | Silence::Module(why) => why,
            })
            .and_then(|answer| {
                let answer = Json::parse(&answer)?;
                Ok((path(answer.text("executable")?)?, path(answer.text("prefix")?)?))
            });
        Some(place)
    });
    place.unwrap_or_else(|| Err("it was not asked".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(answer: &str) -> String {
        match understand(answer.as_bytes().to_vec()) {
            Err(Silence::Module(problem)) => problem,
            other => panic!("{answer}: {other:?}"),
        }
    }

    #[test]
    fn answers_are_checked() {
        let good = br#"{"platform": "cpu", "library": "2f61ff", "create_options": {"n": 1}}"#;
        let said = understand(good.to_vec()).unwrap();
        assert_eq!(said.library.as_os_str().as_encoded_bytes(), b"/a\xff");
        assert_eq!((said.platform.as_str(), said.options.len()), ("cpu", 1));
        assert_eq!(problem("{\"problem\": \"two\\n lines\"}"), "two lines");
        assert!(problem("{").contains("not JSON"));
        assert!(problem(r#"{"platform": ""}"#).contains("PLATFORM is empty"));
        assert!(problem(r#"{"platform": "../cpu"}"#).contains("no platform name"));
        assert!(problem(r#"{"platform": "cpu", "library": "/a"}"#).contains("expected form"));
        assert!(problem(r#"{"platform": "cpu"}"#).contains("no 'library'"));
        let bad_option = r#"{"platform": "cpu", "library": "2f61", "create_options": {"a b": 1}}"#;
        assert!(problem(bad_option).contains("white space"));
    }

    #[test]
    fn an_answer_is_remembered() {
        let known = Mutex::new(None);
        assert_eq!(remembered(&known, &1, || None::<u32>), None);
        assert_eq!(remembered(&known, &1, || Some(5)), Some(5));
        assert_eq!(remembered(&known, &1, || panic!("asked again")), Some(5));
        assert_eq!(remembered(&known, &2, || Some(6)), Some(6));
    }
}
