//! Which Python environments there are: those that variables name, else the one of
//! the `python3` on the PATH.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::prefix::{self, Config};
use super::question;
use crate::discover::{Search, Surroundings, files};
use crate::env;

/// An environment: where its packages are, and who may be asked about them.
#[derive(Debug, PartialEq, Eq)]
pub struct Environment {
    /// What led to it: a variable or the PATH.
    pub from: &'static str,
    /// Its folder.
    pub root: PathBuf,
    /// Its interpreter, if it has one.
    pub interpreter: Option<PathBuf>,
    /// Its folders of packages, in Python's order.
    pub sites: Vec<PathBuf>,
}

/// The environments to search, the first first.
pub fn all(search: &mut Search) -> Vec<Environment> {
    if search.surroundings.value(env::PYTHON).is_some() {
        return named(search).into_iter().collect();
    }
    let mut found = Vec::new();
    for variable in [env::VIRTUAL_ENV, env::CONDA_PREFIX] {
        let Some(folder) = search.surroundings.value(variable).map(PathBuf::from) else { continue };
        match at(&folder, None, variable, search.surroundings) {
            Ok(environment) => found.push(environment),
            Err(problem) => search.fail(format!("{} ({variable})", folder.display()), problem),
        }
    }
    // An active environment hides the packages of other ones, as it does in Python.
    if found.is_empty() {
        found.push(on_path(search));
    }
    found
}

/// The one that CYXLA_PYTHON names: an interpreter, or the folder of an environment.
fn named(search: &mut Search) -> Option<Environment> {
    let value = search.surroundings.value(env::PYTHON)?;
    let mut path = PathBuf::from(&value);
    if path.components().count() == 1 && !path.exists() {
        path = programs(search.surroundings, &value).next().unwrap_or(path);
    }
    let path = std::path::absolute(&path).unwrap_or(path);
    let found = if path.is_dir() {
        at(&path, None, env::PYTHON, search.surroundings)
    } else if path.exists() {
        of_interpreter(&path, env::PYTHON, search.surroundings)
    } else {
        Err("there is no such file".into())
    };
    match found {
        Ok(environment) => Some(environment),
        Err(problem) => {
            search.fail(format!("{} ({})", value.display(), env::PYTHON), problem);
            None
        }
    }
}

/// The environment in a folder.
fn at(
    folder: &Path,
    interpreter: Option<PathBuf>,
    from: &'static str,
    surroundings: &Surroundings,
) -> Result<Environment, String> {
    if !folder.is_absolute() {
        return Err("it is not an absolute path, so it was not searched".into());
    }
    match std::fs::metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err("it is no Python environment: it is not a folder".into()),
        Err(error) => return Err(files::Unreadable::from(error).reason()),
    }
    let config = Config::read(folder);
    let version = config.as_ref().and_then(|config| config.version.as_deref());
    let mut sites = prefix::sites(folder, version, surroundings);
    if sites.is_empty() {
        return Err("it is no Python environment: it has no lib/python3.*/site-packages".into());
    }
    match &config {
        // Python looks at the user's packages before those of a whole installation.
        None => drop(sites.splice(..0, prefix::user_sites(version, surroundings))),
        Some(Config { sees_system: true, home: Some(home), .. }) => {
            sites.extend(prefix::user_sites(version, surroundings));
            let base = home.parent().unwrap_or(home);
            sites.extend(prefix::sites(base, version, surroundings));
        }
        Some(_) => {}
    }
    let in_folder = || {
        let places = ["bin/python3", "bin/python"].map(|name| folder.join(name));
        places.into_iter().find(|path| is_program(path))
    };
    Ok(Environment { from, root: folder.to_owned(), interpreter: interpreter.or_else(in_folder), sites })
}

/// The one of the first `python3` on the PATH that tells where it is; else the
/// folders of the system's own Python.
fn on_path(search: &mut Search) -> Environment {
    let surroundings = search.surroundings;
    for program in programs(surroundings, OsStr::new("python3")) {
        match of_interpreter(&program, env::PATH, surroundings) {
            Ok(environment) => return environment,
            Err(problem) => search.fail_at(&program, problem),
        }
    }
    let mut sites = prefix::user_sites(None, surroundings);
    sites.extend(prefix::system_sites(None, surroundings));
    Environment { from: "the system", root: "/usr".into(), interpreter: None, sites }
}

/// The programs of a name on the PATH. Relative folders, such as `.`, are left out.
fn programs(surroundings: &Surroundings, name: &OsStr) -> impl Iterator<Item = PathBuf> {
    let folders = surroundings.list(env::PATH).unwrap_or_default().into_iter();
    let absolute = folders.filter(|folder| folder.is_absolute());
    let name = name.to_owned();
    absolute.map(move |folder| folder.join(&name)).filter(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The environment of an interpreter. Its files tell, unless it is a shim: a script or
/// another program in its place, which only running it sees through.
fn of_interpreter(
    path: &Path,
    from: &'static str,
    surroundings: &Surroundings,
) -> Result<Environment, String> {
    if let Some(environment) = by_files(path, from, surroundings) {
        return Ok(environment);
    }
    let cannot = |problem: String| format!("cannot tell where its packages are: {problem}");
    let (executable, folder) = question::where_is(path, surroundings.one_answer).map_err(cannot)?;
    by_files(&executable, from, surroundings)
        .map_or_else(|| at(&folder, Some(executable), from, surroundings), Ok)
        .map_err(cannot)
}

fn by_files(path: &Path, from: &'static str, surroundings: &Surroundings) -> Option<Environment> {
    let folder = path.parent()?;
    // The way that leads to the interpreter decides, before links are followed.
    for folder in [Some(folder), folder.parent()].into_iter().flatten() {
        if Config::read(folder).is_some() {
            return at(folder, Some(path.to_owned()), from, surroundings).ok();
        }
    }
    let real = std::fs::canonicalize(path).ok()?;
    let name = real.file_name()?.to_str()?;
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"))?;
    let is_binary = files::read_start(&real, 4).is_ok_and(|start| start == b"\x7fELF");
    let base = real.parent()?.parent()?;
    if !is_binary || !prefix::is_prefix(base) {
        return None;
    }
    let version = prefix::short_version(version);
    let version = version.as_deref();
    let mut sites = prefix::user_sites(version, surroundings);
    // Some distributions of Python keep the packages where the link is.
    sites.extend(folder.parent().into_iter().flat_map(|prefix| prefix::sites(prefix, version, surroundings)));
    sites.extend(prefix::sites(base, version, surroundings));
    Some(Environment { from, root: base.to_owned(), interpreter: Some(path.to_owned()), sites })
}
