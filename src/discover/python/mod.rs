//! Plugins in Python packages, found without Python: its folders are read as it
//! would read them.

mod declared;
mod distribution;
mod entry_points;
mod environment;
mod path;
mod prefix;
mod question;
mod wheels;

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use super::Search;
use distribution::Distribution;
use environment::Environment;
use path::Folder;

/// Adds what the packages of the Python environments offer.
pub fn find(search: &mut Search) {
    // Whoever starts a privileged process must not choose which code it runs.
    if search.surroundings.is_privileged() {
        search.searched("no Python environment (this process is privileged)");
        return;
    }
    let deadline = Instant::now() + search.surroundings.all_answers;
    let mut environments = environment::all(search);
    let first = path::of_variable(search);
    if environments.is_empty() {
        let from = "CYXLA_PYTHON";
        environments.push(Environment { from, root: "/".into(), interpreter: None, sites: Vec::new() });
    }
    let mut seen = HashSet::new();
    for environment in environments {
        let folders = path::of_environment(&first, &environment);
        // PYTHONPATH comes before each of them, but is listed once.
        let new: Vec<bool> = folders.iter().map(|folder| seen.insert(folder.number)).collect();
        in_environment(search, &environment, &folders, &new, deadline);
    }
}

fn in_environment(
    search: &mut Search,
    environment: &Environment,
    folders: &[Folder],
    new: &[bool],
    deadline: Instant,
) {
    let shown: Vec<String> = folders.iter().map(|folder| folder.path.display().to_string()).collect();
    let shown = if shown.is_empty() { "no folder of packages".to_owned() } else { shown.join(", ") };
    search.searched(format!("Python packages ({}: {shown})", environment.from));
    let mut asked = declared::Asking::new(environment, folders, deadline);
    let mut packages = HashSet::new();
    let mut modules = HashSet::new();
    for (folder, is_new) in folders.iter().zip(new) {
        search.next_place();
        let mut distributions = distribution::in_folder(&folder.path);
        // The first of a name on the path is the one that Python sees.
        distributions.retain(|distribution| packages.insert(distribution.key.clone()));
        if *is_new {
            search.list.python_folders.push(folder.path.clone());
            asked.add(search, folder, &mut distributions);
            wheels::add(search, &folder.path, &mut distributions, &mut modules, None);
        }
    }
    asked.report_interpreter(search);
}

/// Adds the wheels that are known by their files, in a folder that is like one of
/// packages.
pub fn wheels_in(search: &mut Search, folder: &Path, from: &str) {
    let mut distributions = distribution::in_folder(folder);
    wheels::add(search, folder, &mut distributions, &mut HashSet::new(), Some(from));
}

/// The name of a package in the form that all its spellings share.
fn normalized(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '-' | '_' | '.' if key.ends_with('-') => {}
            '-' | '_' | '.' => key.push('-'),
            letter => key.extend(letter.to_lowercase()),
        }
    }
    key
}

/// The folder that a package is in, for people.
fn described(distribution: Option<&Distribution>, folder: &Path) -> String {
    match distribution {
        Some(distribution) => format!("package {} in {}", distribution.name, folder.display()),
        None => format!("file name in {}", folder.display()),
    }
}
