//! Where plugins come from. Reads variables and small files; opens no library.

pub mod installed;

use std::path::PathBuf;

use crate::env;
use crate::options::Options;

/// A plugin that was found, usable or not.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The platform that it is declared for; empty when nothing declares it.
    pub platform: String,
    /// The library.
    pub path: PathBuf,
    /// What led to it: a variable or a file.
    pub origin: String,
    /// The version that its package declares.
    pub version: Option<String>,
    /// Create options that its package asks for.
    pub options: Options,
    /// Why it cannot be used; `None` when nothing speaks against it.
    pub problem: Option<String>,
    /// Whether it is loaded when nobody chooses.
    pub is_default: bool,
}

/// Something that is no plugin but went wrong while looking for them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The file or variable.
    pub subject: String,
    /// What is wrong with it.
    pub problem: String,
}

/// All that was found, the best first, and all that went wrong.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PluginList {
    /// The plugins in the order of selection.
    pub plugins: Vec<Found>,
    /// What is no plugin but went wrong.
    pub failures: Vec<Failure>,
    /// Every place that was looked at, in words.
    pub searched: Vec<String>,
}

/// Looks for plugins in every place that is known.
pub fn find() -> PluginList {
    let mut list = PluginList::default();
    from_variable(&mut list);
    installed::find(&mut list);
    mark_default(&mut list);
    list
}

fn from_variable(list: &mut PluginList) {
    let Some(path) = env::value(env::PLUGIN).map(PathBuf::from) else {
        list.searched.push("the environment variable CYXLA_PLUGIN (not set)".into());
        return;
    };
    list.searched.push(format!("the environment variable CYXLA_PLUGIN ({})", path.display()));
    let problem = problem_of(&path);
    list.plugins.push(Found {
        platform: String::new(),
        path,
        origin: "environment variable CYXLA_PLUGIN".into(),
        version: None,
        options: Options::new(),
        problem,
        is_default: false,
    });
}

/// Why a library file cannot be used, as far as its presence tells.
fn problem_of(path: &std::path::Path) -> Option<String> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some("there is no such file".into()),
        Err(error) => Some(error.to_string()),
        Ok(found) if found.is_dir() => Some("it is a directory".into()),
        Ok(found) if !found.is_file() => Some("it is not a regular file".into()),
        Ok(found) if found.len() == 0 => Some("the file is empty".into()),
        Ok(_) => None,
    }
}

/// Platforms in the order in which they are preferred when nobody chooses.
const PREFERENCE: [&str; 4] = ["cpu", "cuda", "rocm", "tpu"];

/// Position of a platform in the order of preference; unknown ones come last.
fn preference(platform: &str) -> usize {
    PREFERENCE.iter().position(|&name| name == platform).unwrap_or(PREFERENCE.len())
}

/// Whether a plugin for `platform` answers a request for `wanted`.
pub fn answers(platform: &str, wanted: &str) -> bool {
    platform == wanted || (wanted == "gpu" && (platform == "cuda" || platform == "rocm"))
}

impl PluginList {
    /// The best usable plugin for any of these platforms, or for any at all when
    /// none is named. One whose platform nobody declares was named by the user,
    /// and answers every request.
    pub fn choose(&self, platforms: &[String]) -> Option<&Found> {
        let answers = |found: &&Found| {
            platforms.is_empty()
                || found.platform.is_empty()
                || platforms.iter().any(|wanted| answers(&found.platform, wanted))
        };
        let usable = self.plugins.iter().filter(|found| found.problem.is_none());
        usable.filter(answers).min_by_key(|found| match found.platform.as_str() {
            "" => 0,
            platform => 1 + preference(platform),
        })
    }
}

fn mark_default(list: &mut PluginList) {
    // A variable that is set but broken is an error at load, never a fallback.
    if list.plugins.first().is_some_and(|first| first.platform.is_empty() && first.problem.is_some()) {
        return;
    }
    let chosen = list.choose(&[]).map(|found| found.path.clone());
    if let Some(found) = list.plugins.iter_mut().find(|found| Some(&found.path) == chosen.as_ref()) {
        found.is_default = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(platform: &str, problem: Option<&str>) -> Found {
        Found {
            platform: platform.into(),
            path: format!("/{platform}.so").into(),
            origin: "test".into(),
            version: None,
            options: Options::new(),
            problem: problem.map(str::to_owned),
            is_default: false,
        }
    }

    #[test]
    fn cpu_comes_before_cuda_before_the_unknown() {
        let mut list = PluginList::default();
        list.plugins = ["metal", "tpu", "rocm", "cuda", "cpu"].map(|name| found(name, None)).to_vec();
        let choose = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|&name| name.to_owned()).collect();
            list.choose(&wanted).map(|found| found.platform.clone())
        };
        assert_eq!(choose(&[]).unwrap(), "cpu");
        assert_eq!(choose(&["gpu"]).unwrap(), "cuda");
        assert_eq!(choose(&["tpu", "rocm"]).unwrap(), "rocm");
        assert_eq!(choose(&["metal"]).unwrap(), "metal");
        assert_eq!(choose(&["neuron"]), None);
    }

    #[test]
    fn broken_plugins_are_passed_over_but_not_a_broken_variable() {
        let mut list = PluginList::default();
        list.plugins = vec![found("cpu", Some("broken")), found("cuda", None)];
        mark_default(&mut list);
        assert!(list.plugins[1].is_default);

        let mut list = PluginList::default();
        list.plugins = vec![found("", Some("broken")), found("cuda", None)];
        mark_default(&mut list);
        assert!(list.plugins.iter().all(|found| !found.is_default));
    }
}
