//! What is to come of each program on each plugin.

use cyxla::error::Code;

use crate::index::Entry;
use crate::support;

/// What is to come of a program.
#[derive(Debug)]
pub enum Expected {
    Runs,
    Refused(Refusal),
}

/// An error that has to come.
#[derive(Debug)]
pub struct Refusal {
    pub at: Stage,
    pub code: Code,
    /// What its message or its hint says.
    pub words: Vec<String>,
}

/// Who refuses a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Read,
    Compile,
}

/// The minor version of the PJRT interface of the plugin under test.
pub fn plugin_minor() -> u32 {
    let version = support::required("CYXLA_TEST_PLUGIN_API");
    let minor = version.to_str().and_then(|version| version.strip_prefix("0.")?.parse().ok());
    minor.unwrap_or_else(|| panic!("CYXLA_TEST_PLUGIN_API is {version:?}, expected 0.MINOR"))
}

/// What is to come of a program that JAX `version` exported.
pub fn of(entry: &Entry, version: &str, plugin_minor: u32) -> Expected {
    let refused = |at, code, words: &[&str]| {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        Expected::Refused(Refusal { at, code, words })
    };
    let program = entry.program.as_str();
    if plugin_minor < 106 && TOO_NEW.contains(&(version, program)) {
        let words = ["vhlo.composite_v2", "0.9.0 to 1.13.3", "StableHLO_v", "export it again"];
        return refused(Stage::Compile, Code::Unknown, &words);
    }
    if program == CALLS_ELSEWHERE {
        return refused(Stage::Compile, Code::NotFound, &["corpus.half", "avoid"]);
    }
    let names = |names: &'static [&str], more: &[String]| {
        names.iter().map(|&name| name.to_owned()).chain(more.iter().cloned()).collect()
    };
    let (at, code, words) = match entry.refused.as_deref() {
        None => return Expected::Runs,
        Some("custom calls") => (Stage::Compile, Code::NotFound, names(&["avoid"], &entry.custom_calls)),
        Some("symbolic dims") => {
            (Stage::Read, Code::Unimplemented, names(&["f32[b,3]", "args[0]", "jax.export"], &[]))
        }
        Some("platform") => {
            (Stage::Compile, Code::FailedPrecondition, names(&["cpu", "check_platform"], &entry.platforms))
        }
        Some("devices") => {
            (Stage::Compile, Code::FailedPrecondition, names(&["2 devices", "cpu_device_count=2"], &[]))
        }
        Some(reason) => panic!("unknown reason `{reason}`"),
    };
    Expected::Refused(Refusal { at, code, words })
}

/// Programs, with the version of JAX, whose StableHLO plugins of PJRT 0.81 cannot read.
const TOO_NEW: [(&str, &str); 2] = [("0.10.2", "top_k"), ("0.10.2", "more_mathematics")];

/// A custom call in the branch of another platform: plugins compile all branches.
const CALLS_ELSEWHERE: &str = "foreign_call_elsewhere";
