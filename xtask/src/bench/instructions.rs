//! How many instructions of the library's own a step takes, as callgrind counts them:
//! the same on every machine that has the same compiler.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::callgrind::Counts;
use super::programs;
use crate::Result;
use crate::process;
use crate::project::{self, Project};

/// Steps that are counted, of each kind.
const STEPS: u64 = 20;

/// What a bound step may take, with the reading of one output. Each further output is one
/// more that the plugin is told to destroy.
const LIMIT: u64 = 300;
const LIMIT_PER_ARGUMENT: u64 = 10;
const LIMIT_PER_FURTHER_OUTPUT: u64 = 20;

/// How much more than recorded is a failure, in percent.
const GROWTH: u64 = 5;
/// How much less is one too: later growth up to an old record would go unseen.
const SHRINKAGE: u64 = 15;

const RECORDS: &str = " (`cargo xtask bench instructions --write` records it, if it is meant)";

/// Functions that are shown of each, where the library has their names.
const SHOWN: usize = 12;

/// One way to run one program.
struct Row {
    way: String,
    program: String,
    /// Of a step.
    count: u64,
    /// At most; the simple way has none.
    limit: Option<u64>,
    functions: Vec<(String, u64)>,
}

pub struct Instructions {
    rows: Vec<Row>,
}

/// What was counted before; benches/instructions.json.
type Record = BTreeMap<String, u64>;

/// Counts; `built` has the programs.
pub fn count(project: &Project, built: &std::path::Path) -> Result<Instructions> {
    let folder = project.fresh_folder("bench-instructions")?;
    let mut valgrind = programs::under(Command::new("valgrind"))?;
    valgrind.args(["--quiet", "--tool=callgrind", "--instr-atstart=no"]);
    valgrind.args(["--compress-strings=no", "--compress-pos=no"]);
    valgrind.arg(format!("--callgrind-out-file={}", folder.join("counts").display()));
    process::run_quietly(valgrind.arg(built.join("instructions")).arg(STEPS.to_string()))?;
    let mut rows = Vec::new();
    for number in 1.. {
        let path = folder.join(format!("counts.{number}"));
        if !path.is_file() {
            break;
        }
        rows.push(Row::new(&Counts::read(&project::read(&path)?, "libcyxla.so"))?);
    }
    if rows.is_empty() {
        return Err(format!("callgrind wrote nothing into {}", folder.display()));
    }
    Ok(Instructions { rows })
}

impl Row {
    fn new(counts: &Counts) -> Result<Row> {
        let words: Vec<&str> = counts.name.split(' ').collect();
        let &[way, program, arguments, outputs] = words.as_slice() else {
            return Err(format!("callgrind counted `{}`, which is no way, program and numbers", counts.name));
        };
        let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` should be a number"));
        let (arguments, further) = (number(arguments)?, number(outputs)?.saturating_sub(1));
        let is_bound = way == "cyxla_call_run";
        let of_a_step = |(name, cost): &(String, u64)| (name.clone(), cost / STEPS);
        Ok(Row {
            way: way.into(),
            program: program.into(),
            count: counts.total().div_ceil(STEPS),
            limit: is_bound
                .then_some(LIMIT + LIMIT_PER_ARGUMENT * arguments + LIMIT_PER_FURTHER_OUTPUT * further),
            functions: counts.functions.iter().take(SHOWN).map(of_a_step).collect(),
        })
    }

    fn name(&self) -> String {
        format!("{} {}", self.way, self.program)
    }

    /// What is wrong with it, if something is.
    fn problem(&self, record: &Record) -> Option<String> {
        let (name, count) = (self.name(), self.count);
        if let Some(limit) = self.limit.filter(|&limit| count > limit) {
            return Some(format!("{name}: {count} instructions, over the limit of {limit}"));
        }
        match record.get(&name) {
            None => Some(format!("{name}: nothing is recorded{RECORDS}")),
            Some(&before) if 100 * count > (100 + GROWTH) * before => {
                Some(format!("{name}: {count} instructions, and {before} before{RECORDS}"))
            }
            Some(&before) if 100 * count < (100 - SHRINKAGE) * before => {
                Some(format!("{name}: {count} instructions, far fewer than the {before} before{RECORDS}"))
            }
            Some(_) => None,
        }
    }
}

impl Instructions {
    /// The bound steps: their programs, counts and limits.
    pub fn bound(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        self.rows.iter().filter_map(|row| Some((row.program.as_str(), row.count, row.limit?)))
    }

    pub fn print(&self) {
        println!("\n{:<26} {:>8} {:>8}", "own instructions of a step", "count", "limit");
        for row in &self.rows {
            let limit = row.limit.map_or("-".into(), |limit| limit.to_string());
            println!("  {:<24} {:>8} {:>8}", row.name(), row.count, limit);
        }
    }

    /// Where they are spent, if the library has symbols.
    pub fn print_functions(&self) {
        let has_names = |row: &&Row| row.functions.iter().any(|(name, _)| name.contains("::"));
        if !self.rows.iter().any(|row| has_names(&row)) {
            return println!("\nset CARGO_PROFILE_RELEASE_STRIP=none to see the functions");
        }
        for row in self.rows.iter().filter(has_names) {
            println!("\n{}", row.name());
            row.functions.iter().for_each(|(name, count)| println!("  {count:>8}  {name}"));
        }
    }

    pub fn json(&self) -> Value {
        let row = |row: &Row| json!({"way": row.way, "program": row.program, "count": row.count, "limit": row.limit});
        self.rows.iter().map(row).collect()
    }

    /// Keeps the counts, to be compared with later ones.
    pub fn record(&self, project: &Project) -> Result<()> {
        let record: Record = self.rows.iter().map(|row| (row.name(), row.count)).collect();
        let text = serde_json::to_string_pretty(&record).map_err(|error| error.to_string())?;
        project::write(&record_path(project), &(text + "\n"))?;
        println!("written to benches/instructions.json");
        Ok(())
    }

    /// Within the limits, not more than was recorded, and not much less.
    pub fn judge(&self, project: &Project) -> Result<()> {
        let path = record_path(project);
        let bytes = fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let record: Record =
            serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        let problems: Vec<String> = self.rows.iter().filter_map(|row| row.problem(&record)).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
    }
}

fn record_path(project: &Project) -> PathBuf {
    project.root.join("benches/instructions.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, cost: u64) -> Row {
        Row::new(&Counts { name: name.into(), functions: vec![("f".into(), cost * STEPS)] }).unwrap()
    }

    #[test]
    fn growth_shrinkage_and_the_limit_are_found() {
        let record = Record::from([("cyxla_call_run mlp".into(), 300), ("cyxla_run mlp".into(), 2000)]);
        for (row, is_fine) in [
            (row("cyxla_call_run mlp 1 1", 310), true),
            (row("cyxla_call_run mlp 1 1", 311), false),
            (row("cyxla_call_run mlp 16 1", 316), false),
            (row("cyxla_call_run mlp 1 2", 311), true),
            (row("cyxla_run mlp 1 1", 2100), true),
            (row("cyxla_run mlp 1 1", 2101), false),
            (row("cyxla_run mlp 1 1", 1700), true),
            (row("cyxla_run mlp 1 1", 1699), false),
            (row("cyxla_run tanh 1 1", 1), false),
        ] {
            assert_eq!(row.problem(&record).is_none(), is_fine, "{}: {}", row.name(), row.count);
        }
    }

    #[test]
    fn what_callgrind_says_must_be_four_words() {
        let counts = |name: &str| Counts { name: name.into(), functions: Vec::new() };
        assert!(Row::new(&counts("")).is_err() && Row::new(&counts("a b 1 c")).is_err());
    }
}
