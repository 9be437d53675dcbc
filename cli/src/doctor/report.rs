//! What was found out about a plugin.

use cyxla::error::Error;
use serde_json::{Map, Value, json};

use super::Subject;

/// How a check went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Ok,
    /// Worth knowing; the plugin can be used.
    Note,
    /// The plugin cannot be used, or not as asked.
    Problem,
    /// Not tried, since an earlier check went wrong.
    Skipped,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Note => "note",
            State::Problem => "problem",
            State::Skipped => "skipped",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct Check {
    pub name: &'static str,
    pub state: State,
    pub text: String,
    /// More lines, such as advice and what the plugin printed.
    pub notes: Vec<String>,
    /// What was found, for programs.
    pub facts: Map<String, Value>,
}

/// Details of an error that say no more than the report does.
const KNOWN_DETAILS: [&str; 6] = ["origin", "function", "parameter", "pjrt.code", "plugin.path", "hint"];

impl Check {
    pub fn new(name: &'static str, state: State, text: impl Into<String>) -> Check {
        Check { name, state, text: text.into(), notes: Vec::new(), facts: Map::new() }
    }

    /// A check that ended in an error.
    pub fn of_error(name: &'static str, error: &Error) -> Check {
        let mut check = Check::new(name, State::Problem, error.message());
        check.notes.extend(error.detail("hint").map(str::to_owned));
        for (key, value) in error.details().filter(|(key, _)| !KNOWN_DETAILS.contains(key)) {
            check.notes.push(format!("{key}: {}", value.trim_end()));
        }
        check.fact("code", error.code().name())
    }

    pub fn note(mut self, text: impl Into<String>) -> Check {
        self.notes.push(text.into());
        self
    }

    pub fn fact(mut self, key: &str, value: impl Into<Value>) -> Check {
        self.facts.insert(key.to_owned(), value.into());
        self
    }

    fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("name".into(), self.name.into());
        object.insert("state".into(), self.state.name().into());
        object.insert("text".into(), self.text.clone().into());
        object.insert("notes".into(), self.notes.clone().into());
        object.extend(self.facts.clone());
        object.into()
    }
}

/// All that was found out about a plugin.
pub struct Report {
    pub subject: Subject,
    pub checks: Vec<Check>,
}

impl Report {
    /// Whether a program can be run with it, here and now.
    pub fn is_usable(&self) -> bool {
        self.checks.iter().all(|check| matches!(check.state, State::Ok | State::Note))
    }

    /// The first thing that is wrong with it.
    pub fn problem(&self) -> Option<&Check> {
        self.checks.iter().find(|check| check.state == State::Problem)
    }

    /// The platform that is declared, or else what its client reported.
    pub fn platform(&self) -> Option<&str> {
        let declared = Some(self.subject.platform.as_str()).filter(|platform| !platform.is_empty());
        let reported = || self.checks.iter().find_map(|check| check.facts.get("info")?["platform"].as_str());
        declared.or_else(reported)
    }

    pub fn to_json(&self) -> Value {
        let subject = &self.subject;
        json!({
            "platform": self.platform(),
            "path": subject.path.to_string_lossy(),
            "origin": subject.origin,
            "version": subject.version,
            "is_chosen": subject.is_chosen,
            "why_not_chosen": subject.why_not,
            "is_usable": self.is_usable(),
            "checks": self.checks.iter().map(Check::to_json).collect::<Vec<_>>(),
        })
    }
}
