//! The parent's part: tries a plugin in child processes, one for each step, and
//! puts into words what came of it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cyxla::discover::devices;
use cyxla::error::{Error, Result};
use cyxla::runtime::known_options;
use serde_json::Value;

use super::{Check, State, Subject, steps};
use crate::args::{LoadArgs, Step};
use crate::{error_json, supervise};

/// Keeps libtpu from asking the machine's cloud about its TPUs, for minutes.
const SKIP_QUERY: &str = "TPU_SKIP_MDS_QUERY";
const XLA_FLAGS: &str = "XLA_FLAGS";

/// What is tried with one plugin, and how.
pub struct Tries {
    load: LoadArgs,
    limit: Duration,
    without_flags: bool,
    skip_query: bool,
}

/// What a try gave, and what the plugin printed meanwhile.
struct Outcome {
    facts: Result<Value>,
    seconds: f64,
    printed: String,
}

impl Tries {
    pub fn new(subject: &Subject, limit: Duration, without_flags: bool) -> Tries {
        let options = subject.options.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let platform = Some(subject.platform.clone()).filter(|platform| !platform.is_empty());
        let plugin = Some(std::path::absolute(&subject.path).unwrap_or_else(|_| subject.path.clone()));
        let name = subject.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_for_tpu = subject.platform == "tpu" || name.contains("tpu");
        Tries {
            load: LoadArgs { platform, plugin, options },
            limit,
            without_flags,
            skip_query: is_for_tpu && devices::absent("tpu", Path::new("/")).is_some(),
        }
    }

    /// Every step; those that cannot go well after one that failed are skipped.
    pub fn run(&self) -> Vec<Check> {
        let described = self.attempt(Step::Describe);
        let mut checks = vec![version(&described)];
        if described.facts.is_err() {
            let skipped = ["options", "client", "execution"];
            checks.extend(skipped.map(|name| Check::new(name, State::Skipped, "it cannot be loaded")));
            return checks;
        }
        let client = self.attempt(Step::Client);
        checks.push(self.options(&client));
        let created = self.client(&client);
        let is_created = client.facts.is_ok();
        checks.push(created);
        checks.push(if is_created {
            let check = execution(&self.attempt(Step::Execution));
            if check.state == State::Problem { self.blame_flags(check, Step::Execution) } else { check }
        } else {
            Check::new("execution", State::Skipped, "there is no client to run a program with")
        });
        checks
    }

    fn attempt(&self, step: Step) -> Outcome {
        self.attempt_as(step, &self.load, self.without_flags)
    }

    fn attempt_as(&self, step: Step, load: &LoadArgs, without_flags: bool) -> Outcome {
        let set_up = |command: &mut Command| {
            if without_flags {
                command.env_remove(XLA_FLAGS);
            }
            if self.skip_query && std::env::var_os(SKIP_QUERY).is_none() {
                command.env(SKIP_QUERY, "1");
            }
        };
        let answer = supervise::try_out(&steps::arguments(step, load), set_up, Some(self.limit));
        let (facts, seconds) = match answer.outcome {
            Ok(mut value) if value["error"].is_null() => {
                (Ok(value["facts"].take()), value["seconds"].as_f64().unwrap_or_default())
            }
            Ok(value) => (Err(error_json::from_json(&value["error"])), 0.0),
            Err(error) => (Err(error), 0.0),
        };
        Outcome { facts, seconds, printed: answer.printed }
    }

    /// Asks for the options of the platform that is declared, or else reported, or
    /// else named in the file's name.
    fn options(&self, client: &Outcome) -> Check {
        let reported = client.facts.as_ref().ok().and_then(|info| info["platform"].as_str());
        let name = self.load.plugin.as_deref().and_then(Path::file_name).unwrap_or_default();
        let name = name.to_string_lossy();
        let named = known_options::PLATFORMS.into_iter().find(|platform| name.contains(platform));
        let platform = self.load.platform.as_deref().or(reported).or(named).unwrap_or_default();
        let load = LoadArgs {
            platform: Some(platform.to_owned()),
            plugin: self.load.plugin.clone(),
            options: Vec::new(),
        };
        options(&self.attempt_as(Step::Options, &load, self.without_flags), platform)
    }

    /// Says of a step that went wrong that XLA_FLAGS is the reason, when it goes well
    /// without: the shape of a flag does not show that XLA refuses its value.
    fn blame_flags(&self, mut check: Check, step: Step) -> Check {
        let has_flags = std::env::var_os(XLA_FLAGS).is_some() && !self.without_flags;
        if has_flags && self.attempt_as(step, &self.load, true).facts.is_ok() {
            check.text = format!("XLA_FLAGS is to blame, without it this goes well: {}", check.text);
        }
        check
    }

    fn client(&self, outcome: &Outcome) -> Check {
        match &outcome.facts {
            Ok(info) => {
                let devices = info["devices"].as_array().map_or(0, Vec::len);
                let platform = text(&info["platform"]);
                let plural = if devices == 1 { "" } else { "s" };
                let took = outcome.seconds * 1000.0;
                let words = format!("created in {took:.0} ms: platform {platform}, {devices} device{plural}");
                let mut check = Check::new("client", State::Ok, words).fact("info", info.clone());
                let ignored = words_of(&info["options_ignored"]);
                if !ignored.is_empty() {
                    check = check.note(format!("default options that it does not know: {ignored}"));
                }
                with_printed(check, &outcome.printed)
            }
            Err(error) => self.blame_flags(failed("client", error, &outcome.printed), Step::Client),
        }
    }
}

fn version(outcome: &Outcome) -> Check {
    match &outcome.facts {
        Ok(facts) => {
            let mut words = format!("PJRT {}", text(&facts["pjrt"]));
            if let (Some(least), Some(most)) =
                (facts["stablehlo_minimum"].as_str(), facts["stablehlo_current"].as_str())
            {
                words += &format!(", StableHLO {least} to {most}");
            }
            let check = Check::new("version", State::Ok, words);
            let check = ["pjrt", "stablehlo_minimum", "stablehlo_current", "extensions"]
                .iter()
                .fold(check, |check, key| check.fact(key, facts[*key].clone()));
            with_printed(check, &outcome.printed)
        }
        Err(error) => failed("version", error, &outcome.printed),
    }
}

fn options(outcome: &Outcome, platform: &str) -> Check {
    let facts = match &outcome.facts {
        Ok(facts) => facts,
        // Nothing is lost by not knowing; what is wrong shows in the next check.
        Err(error) => {
            let mut check = failed("options", error, "");
            check.state = State::Note;
            check.text = format!("could not be asked for: {}", check.text);
            check.notes.clear();
            return check;
        }
    };
    if facts["is_strict"] == false {
        let words = "ignores those that it does not know, so it cannot be asked which it takes";
        return Check::new("options", State::Note, words).fact("is_strict", false);
    }
    let accepted = words_of(&facts["accepted"]);
    let words = match (known_options::describes(platform), accepted.is_empty()) {
        (false, _) => "refuses those that it does not know; none are known of its platform".to_owned(),
        (true, true) => format!("takes none of those that are known of {platform}"),
        _ => format!("takes {accepted}"),
    };
    let mut check = Check::new("options", State::Ok, words);
    let unclear = words_of(&facts["unclear"]);
    if !unclear.is_empty() {
        check = check.note(format!("it did not say whether it takes {unclear}"));
    }
    ["is_strict", "accepted", "refused"].iter().fold(check, |check, key| check.fact(key, facts[*key].clone()))
}

fn execution(outcome: &Outcome) -> Check {
    let facts = match &outcome.facts {
        Ok(facts) => facts,
        Err(error) => return failed("execution", error, &outcome.printed),
    };
    let runs = facts["runs"].as_u64().unwrap_or_default();
    let ended = facts["ended_within_call"].as_u64().unwrap_or_default();
    let promised = facts["is_synchronous"] == true;
    let count = format!("{ended} of {runs} runs had ended when the call returned");
    let (state, words) = match (promised, ended == runs) {
        (true, true) => (State::Ok, format!("in the calling thread ({count})")),
        (true, false) => {
            (State::Problem, format!("it promised to run in the calling thread and does not: {count}"))
        }
        (false, true) => (State::Ok, format!("{count}, though it does not promise that")),
        (false, false) => (State::Ok, format!("on threads of its own ({count})")),
    };
    let check = Check::new("execution", state, words);
    let check = ["runs", "ended_within_call", "is_synchronous"]
        .iter()
        .fold(check, |check, key| check.fact(key, facts[*key].clone()));
    with_printed(check, &outcome.printed)
}

fn failed(name: &'static str, error: &Error, printed: &str) -> Check {
    let check = Check::of_error(name, error);
    // A child that died brings it along.
    if error.detail("printed").is_some() { check } else { with_printed(check, printed) }
}

fn with_printed(check: Check, printed: &str) -> Check {
    match printed.trim_end() {
        "" => check,
        printed => check.note(format!("printed: {}", supervise::gist(printed))),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

fn words_of(value: &Value) -> String {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}
