//! Checks the variable XLA_FLAGS before a plugin reads it.
//!
//! XLA ends the whole process when the variable is malformed, names a file that
//! cannot be read, or holds a flag that it does not know.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use memchr::memmem::Finder;

use crate::env;
use crate::error::{Code, Error, Origin, Result};

/// Refuses a value that would make the plugin at `path` end the process.
pub fn check(path: &Path) -> Result<()> {
    let Some(value) = env::value(env::XLA_FLAGS) else { return Ok(()) };
    let Some(value) = value.to_str() else {
        return refuse(format!("it is not UTF-8: {value:?}"));
    };
    let flags = flag_names(value).or_else(refuse)?;
    if flags.is_empty() {
        return Ok(());
    }
    let unknown = File::open(path).and_then(|file| missing_from(file, flags)).unwrap_or_default();
    match unknown.first() {
        None => Ok(()),
        Some(flag) => refuse(format!("the plugin {} does not know the flag --{flag}", path.display())),
    }
}

fn refuse<T>(reason: String) -> Result<T> {
    let message =
        format!("the environment variable XLA_FLAGS would make the plugin end this process: {reason}");
    Err(Error::new(Code::InvalidArgument, Origin::System, message)
        .hint("unset XLA_FLAGS, or set it to flags of this plugin: XLA_FLAGS=\"--flag=value --flag=value\""))
}

/// The names in a value of the variable, by XLA's rules: flags divided by white
/// space, or the name of a file that holds them.
fn flag_names(value: &str) -> std::result::Result<BTreeSet<String>, String> {
    if value.is_empty() {
        return Ok(BTreeSet::new());
    }
    let shown = value.trim();
    if shown.is_empty() {
        return Err("it is blank".into());
    }
    if shown.starts_with('-') {
        return names_in(value);
    }
    let text = std::fs::read_to_string(value).map_err(|error| {
        format!("'{shown}' does not begin with '--', which makes it a file name, and the file cannot be read: {error}")
    })?;
    names_in(&text)
}

fn names_in(text: &str) -> std::result::Result<BTreeSet<String>, String> {
    let mut names = BTreeSet::new();
    for word in words(text) {
        // XLA reads no further than a word that is no flag.
        if !word.starts_with('-') {
            break;
        }
        let flag = word.strip_prefix("--").unwrap_or("");
        let (name, value) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("'{word}' is no flag of the form --name=value"));
        }
        check_value(name, value)?;
        names.insert(name.to_owned());
    }
    Ok(names)
}

/// Flags that people set, whose value has to be an integer. A plugin does not tell the
/// types of its flags before it ends the process, so this cannot be complete.
const INTEGERS: [&str; 7] = [
    "xla_backend_optimization_level",
    "xla_cpu_parallel_codegen_split_count",
    "xla_dump_max_hlo_modules",
    "xla_force_host_platform_device_count",
    "xla_gpu_autotune_level",
    "xla_gpu_force_compilation_parallelism",
    "xla_gpu_graph_min_graph_size",
];
/// The same for true or false.
const BOOLS: [&str; 12] = [
    "xla_cpu_enable_fast_math",
    "xla_cpu_enable_fast_min_max",
    "xla_cpu_fast_math_honor_division",
    "xla_cpu_fast_math_honor_infs",
    "xla_cpu_fast_math_honor_nans",
    "xla_cpu_multi_thread_eigen",
    "xla_cpu_use_thunk_runtime",
    "xla_dump_hlo_as_proto",
    "xla_dump_hlo_as_text",
    "xla_gpu_deterministic_ops",
    "xla_gpu_enable_latency_hiding_scheduler",
    "xla_gpu_enable_triton_gemm",
];

fn check_value(name: &str, value: Option<&str>) -> std::result::Result<(), String> {
    let is_bool = |value| matches!(value, "true" | "True" | "1" | "false" | "False" | "0");
    let shown = value.unwrap_or("nothing");
    if INTEGERS.contains(&name) && value.is_none_or(|value| value.parse::<i32>().is_err()) {
        return Err(format!("--{name} takes an integer, not '{shown}'"));
    }
    if BOOLS.contains(&name) && !value.is_none_or(is_bool) {
        return Err(format!("--{name} takes true or false, not '{shown}'"));
    }
    Ok(())
}

/// Words divided by white space, which a value in quotes may hold.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => word.push(c),
            None if (c == '"' || c == '\'') && word.ends_with('=') => quote = Some(c),
            None if c.is_ascii_whitespace() => {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()))
            }
            None => word.push(c),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// Which of the names do not occur in a plugin's library. Flags are registered by
/// name, so each name that a plugin knows stands in it as a C string.
fn missing_from(mut file: impl Read, names: BTreeSet<String>) -> std::io::Result<Vec<String>> {
    const CHUNK: usize = 1 << 20;
    let mut wanted: Vec<(Vec<u8>, String)> =
        names.into_iter().map(|name| ([name.as_bytes(), b"\0"].concat(), name)).collect();
    let overlap = wanted.iter().map(|(text, _)| text.len()).max().unwrap_or(0);
    let mut buffer = vec![0; CHUNK + overlap];
    let mut kept = 0;
    loop {
        let count = match file.read(&mut buffer[kept..]) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let filled = kept + count;
        wanted.retain(|(text, _)| Finder::new(text).find(&buffer[..filled]).is_none());
        if wanted.is_empty() {
            break;
        }
        kept = overlap.min(filled);
        buffer.copy_within(filled - kept..filled, 0);
    }
    Ok(wanted.into_iter().map(|(_, name)| name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(value: &str) -> std::result::Result<Vec<String>, String> {
        flag_names(value).map(|names| names.into_iter().collect())
    }

    #[test]
    fn good_values() {
        assert_eq!(names("").unwrap(), [""; 0]);
        assert_eq!(names("--a=1  --b").unwrap(), ["a", "b"]);
        assert_eq!(names(" --a='x --y' --c=\"1 2\"").unwrap(), ["a", "c"]);
        assert_eq!(names("--a stop --b").unwrap(), ["a"]);
        assert_eq!(names("--xla_gpu_autotune_level=-1").unwrap().len(), 1);
        assert_eq!(names("--xla_cpu_multi_thread_eigen --xla_dump_hlo_as_text=False").unwrap().len(), 2);
    }

    #[test]
    fn bad_values() {
        for (value, part) in [
            ("   ", "blank"),
            ("/no/such/file", "cannot be read"),
            ("xla_dump_to=/tmp", "cannot be read"),
            ("-a=1", "no flag"),
            ("--=1", "no flag"),
            ("--a --b-c", "no flag"),
            ("--xla_force_host_platform_device_count=abc", "an integer, not 'abc'"),
            ("--xla_force_host_platform_device_count", "an integer"),
            ("--xla_cpu_multi_thread_eigen=maybe", "true or false, not 'maybe'"),
            ("--xla_cpu_multi_thread_eigen=", "true or false"),
        ] {
            let reason = names(value).unwrap_err();
            assert!(reason.contains(part), "{value}: {reason}");
        }
    }

    #[test]
    fn names_are_found_across_chunks() {
        let mut library = vec![b'x'; (1 << 20) - 3];
        library.extend(b"xla_dump_to\0rest xla_short\0");
        let wanted = ["xla_dump_to", "xla_short", "xla_dump"].map(str::to_owned);
        let missing = missing_from(&*library, wanted.into_iter().collect()).unwrap();
        assert_eq!(missing, ["xla_dump"]);
    }
}
