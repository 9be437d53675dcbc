//! `cyxla doctor`: what is wrong with the plugins of this machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cyxla::discover::{self, Found, PluginList};
use cyxla::error::{Code, Error, Origin, Result};
use cyxla::options::Options;
use cyxla::platform::answers;
use serde_json::{Value, json};

use crate::args::DoctorArgs;
use crate::console::Console;
use crate::doctor::{self, Report, Subject, text};

/// What the user asks about.
enum Wanted<'a> {
    Everything,
    Platform(&'a str),
    Library(&'a Path),
}

/// Looks at the plugins that the arguments choose, prints a report, and says whether
/// the one that would be used is usable.
pub fn doctor(args: &DoctorArgs, console: &mut Console) -> Result<bool> {
    let limit = Duration::from_secs(args.timeout);
    let wanted = Wanted::of(args.subject.as_deref());
    let list = discover::find();
    let subjects = subjects(&list, &wanted);
    let problems = problems(&list, &wanted);
    if subjects.is_empty() {
        return none(&list, &wanted, &problems, console);
    }
    let mut reports = Vec::new();
    for subject in subjects {
        let report = doctor::examine(subject, &list.python_folders, limit);
        if !console.json() {
            // As soon as it is known: an attempt may take its time.
            console.print(&format!("{}\n", text::report(&report)))?;
        }
        reports.push(report);
    }
    let chosen = reports.iter().find(|report| report.subject.is_chosen);
    let usable = chosen.is_some_and(Report::is_usable);
    if console.json() {
        let reports: Vec<Value> = reports.iter().map(Report::to_json).collect();
        console.print_json(&json!({ "plugins": reports, "problems": problems, "is_usable": usable }))?;
    } else {
        let advice = variable(&wanted).filter(|_| !usable);
        let advice = advice.map_or(String::new(), |name| format!("Correct or unset {name}.\n"));
        console.print(&(ending(chosen, &reports, &problems) + &advice))?;
    }
    Ok(usable)
}

impl Wanted<'_> {
    /// A name is a platform unless it has a folder or an ending, or is a file.
    fn of(subject: Option<&Path>) -> Wanted<'_> {
        match subject.map(|path| (path, path.to_str())) {
            None => Wanted::Everything,
            Some((path, Some(name))) if !name.contains(['/', '.']) && !path.is_file() => {
                Wanted::Platform(name)
            }
            Some((path, _)) => Wanted::Library(path),
        }
    }
}

/// The plugins to look at; that which would be used is marked.
fn subjects(list: &PluginList, wanted: &Wanted<'_>) -> Vec<Subject> {
    let chosen = |platform: &str| list.choose(&[platform.to_owned()]).map(|found| found.path.clone());
    match wanted {
        Wanted::Everything => list.plugins.iter().map(of_default).collect(),
        Wanted::Platform(platform) => {
            let chosen = chosen(platform);
            let fits = |found: &&Found| found.platform.is_empty() || answers(&found.platform, platform);
            let fitting = list.plugins.iter().filter(fits);
            fitting.map(|found| subject(found, Some(&found.path) == chosen.as_ref())).collect()
        }
        Wanted::Library(path) => {
            let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
            let known = list.plugins.iter().find(|found| found.path == absolute);
            vec![known.map_or_else(|| unlisted(path), |found| subject(found, true))]
        }
    }
}

/// With the reason why it is not the default, where it is not.
fn of_default(found: &Found) -> Subject {
    Subject { why_not: found.why_not_default.clone(), ..subject(found, found.is_default) }
}

fn subject(found: &Found, is_chosen: bool) -> Subject {
    Subject {
        platform: found.platform.clone(),
        path: found.path.clone(),
        origin: found.origin.clone(),
        version: found.version.clone(),
        options: found.options.clone(),
        is_chosen,
        why_not: None,
        absent_device: found.absent_device.clone(),
        problem: found.problem.clone(),
    }
}

fn unlisted(path: &Path) -> Subject {
    Subject {
        platform: String::new(),
        path: PathBuf::from(path),
        origin: "the command line".to_owned(),
        version: None,
        options: Options::new(),
        is_chosen: true,
        why_not: None,
        absent_device: None,
        problem: None,
    }
}

/// What went wrong while looking for plugins.
fn problems(list: &PluginList, wanted: &Wanted<'_>) -> Vec<Value> {
    if matches!(wanted, Wanted::Library(_)) {
        return Vec::new();
    }
    let failures = list.failures.iter();
    failures.map(|failure| json!({ "subject": failure.subject, "problem": failure.problem })).collect()
}

/// The variable of the environment that chooses the plugin in place of the user.
fn variable(wanted: &Wanted<'_>) -> Option<&'static str> {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let choosing: &[&str] = match wanted {
        Wanted::Everything => &["CYXLA_PLUGIN", "CYXLA_PLATFORM"],
        Wanted::Platform(_) => &["CYXLA_PLUGIN"],
        Wanted::Library(_) => &[],
    };
    choosing.iter().copied().find(is_set)
}

fn none(list: &PluginList, wanted: &Wanted<'_>, problems: &[Value], console: &mut Console) -> Result<bool> {
    if console.json() {
        console.print_json(&json!({ "plugins": [], "problems": problems, "is_usable": false }))?;
        return Ok(false);
    }
    let mut message = match wanted {
        Wanted::Platform(platform) => format!("no plugin for {platform} was found"),
        _ => "no plugin was found".to_owned(),
    };
    message += &format!("; searched: {}", list.searched.join("; "));
    for problem in problems {
        message += &format!("; {}: {}", words(&problem["subject"]), words(&problem["problem"]));
    }
    Err(Error::new(Code::NotFound, Origin::System, message).hint(match variable(wanted) {
        Some(name) => format!("correct or unset {name}, and install a plugin with `cyxla install cpu`"),
        None => "install a plugin with `cyxla install cpu`, or name the path of one".to_owned(),
    }))
}

fn ending(chosen: Option<&Report>, reports: &[Report], problems: &[Value]) -> String {
    let mut text = String::new();
    if !problems.is_empty() {
        text += "Problems with finding plugins:\n";
        for problem in problems {
            text += &format!("  {}: {}\n", words(&problem["subject"]), words(&problem["problem"]));
        }
        text += "\n";
    }
    let usable = reports.iter().filter(|report| report.is_usable()).count();
    text + &match chosen {
        Some(report) if report.is_usable() => "The plugin that would be used is usable.\n".to_owned(),
        Some(report) => {
            let why =
                report.problem().map_or(String::new(), |check| format!(" ({}: {})", check.name, check.text));
            format!("The plugin that would be used is NOT usable{why}.\n")
        }
        None if usable > 0 => format!(
            "None of these would be used by itself; {usable} of them can be used by name, with --platform or --plugin.\n"
        ),
        None if std::env::var_os("CYXLA_PLUGIN").is_some_and(|value| !value.is_empty()) => {
            "No plugin would be used.\n".to_owned()
        }
        None => "No plugin would be used. Install one for the CPU with: cyxla install cpu\n".to_owned(),
    }
}

fn words(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
