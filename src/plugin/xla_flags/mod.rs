//! Checks the variable XLA_FLAGS before a plugin reads it.
//!
//! XLA ends the whole process when the variable is malformed, names a file that
//! cannot be read, or holds a flag that it does not know.

pub mod kinds;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use memchr::memmem::Finder;

use self::kinds::Kind;
use crate::env;
use crate::error::{Code, Error, Origin, Result};

/// Refuses a value that would make the plugin at `path` end the process.
pub fn check(path: &Path) -> Result<()> {
    let Some(value) = env::seen_by_plugin(env::XLA_FLAGS) else { return Ok(()) };
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
    let text = read(value).map_err(|reason| {
        format!("'{shown}' does not begin with '--', which makes it a file name, and the file cannot be read: {reason}")
    })?;
    names_in(&text)
}

/// Reads a file of flags. Anything but a regular file could block or never end.
fn read(path: &str) -> std::result::Result<String, String> {
    const MOST: u64 = 1 << 20;
    let found = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is not a regular file".into());
    }
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(MOST + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > MOST { Err("it is larger than 1 MiB".into()) } else { Ok(text) }
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
        if !name.starts_with("xla_") {
            return Err(format!("--{name} is no flag: all of them begin with --xla_"));
        }
        check_value(name, value)?;
        names.insert(name.to_owned());
    }
    Ok(names)
}

/// A flag of unknown kind, of a newer plugin perhaps, may take any value; without one,
/// only true or false flags are fine.
fn check_value(name: &str, value: Option<&str>) -> std::result::Result<(), String> {
    let fits = |good: fn(&str) -> bool| value.is_some_and(good);
    let is_bool = |value: &str| matches!(&*value.to_ascii_lowercase(), "true" | "1" | "false" | "0");
    let (fits, wanted) = match kinds::of(name) {
        Some(Kind::Bool) => (value.is_none_or(is_bool), "true or false"),
        Some(Kind::Int32) => (fits(|value| value.parse::<i32>().is_ok()), "an integer"),
        Some(Kind::Int64) => (fits(|value| value.parse::<i64>().is_ok()), "an integer"),
        Some(Kind::Float) => (fits(|value| value.parse::<f64>().is_ok()), "a number"),
        Some(Kind::Text) | None => (value.is_some(), "a value"),
        Some(Kind::NoFlag) => return Err(format!("--{name} is no flag")),
    };
    let shown = value.map_or("nothing".into(), |value| format!("'{value}'"));
    if fits { Ok(()) } else { Err(format!("--{name} takes {wanted}, not {shown}")) }
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
        assert_eq!(names("--xla_a=1  --xla_hlo_profile").unwrap(), ["xla_a", "xla_hlo_profile"]);
        assert_eq!(names(" --xla_a='x --y' --xla_c=\"1 2\"").unwrap(), ["xla_a", "xla_c"]);
        assert_eq!(names("--xla_a= stop --b").unwrap(), ["xla_a"]);
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
            ("--xla_a=1 --xla_b-c", "no flag"),
            ("--cpu=1", "begin with --xla_"),
            ("--xla_cpu=1", "--xla_cpu is no flag"),
            ("--xla_dump_to", "takes a value, not nothing"),
            ("--xla_unknown", "takes a value, not nothing"),
            ("--xla_cpu_prefer_vector_width=abc", "an integer"),
            ("--xla_cpu_prefer_vector_width=99999999999", "an integer"),
            ("--xla_gpu_autotune_gemm_rtol=", "a number"),
            ("--xla_hlo_profile=maybe", "true or false"),
            ("/dev/zero", "not a regular file"),
            ("--xla_force_host_platform_device_count=abc", "an integer, not 'abc'"),
            ("--xla_force_host_platform_device_count", "an integer, not nothing"),
            ("--xla_cpu_multi_thread_eigen=maybe", "true or false, not 'maybe'"),
            ("--xla_cpu_multi_thread_eigen=", "true or false"),
        ] {
            let reason = names(value).unwrap_err();
            assert!(reason.contains(part), "{value}: {reason}");
        }
    }

    #[test]
    fn files_have_a_limit() {
        let path = std::env::temp_dir().join(format!("cyxla-flags-{}", std::process::id()));
        let value = path.to_str().unwrap();
        std::fs::write(&path, "--xla_dump_to=/tmp").unwrap();
        assert_eq!(names(value).unwrap(), ["xla_dump_to"]);
        std::fs::write(&path, " ".repeat((1 << 20) + 1)).unwrap();
        let error = names(value).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert!(error.contains("larger than 1 MiB"), "{error}");
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
