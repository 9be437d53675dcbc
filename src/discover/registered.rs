//! Plugins that the host program found itself and handed over.
//!
//! A host that is Python knows its own packages better than any search of files:
//! it asks them in its own interpreter and registers what they say.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Found, Search};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::platform::check_name;

#[derive(Clone)]
struct Registered {
    platform: String,
    path: PathBuf,
    options: Options,
    origin: String,
}

static REGISTERED: Mutex<Vec<Registered>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<Registered>> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a plugin to what every later search of this process finds. Registering the
/// same library for the same platform again replaces its options and origin.
pub fn register(platform: &str, path: &Path, options: Option<&Options>, origin: Option<&str>) -> Result<()> {
    let platform = check_name(platform)?;
    if path.as_os_str().is_empty() {
        return Err(Error::invalid_argument("the plugin path is empty").parameter("path"));
    }
    let path = std::path::absolute(path).map_err(|error| {
        let message = format!("cannot make the plugin path {} absolute: {error}", path.display());
        Error::invalid_argument(message).parameter("path")
    })?;
    let options = options.cloned().unwrap_or_default();
    let origin = origin.filter(|origin| !origin.is_empty()).unwrap_or("the host program").to_owned();
    let new = Registered { platform, path, options, origin };
    let mut all = all();
    match all.iter_mut().find(|old| old.platform == new.platform && old.path == new.path) {
        Some(old) => *old = new,
        None => all.push(new),
    }
    Ok(())
}

/// Adds what was registered to a search.
pub(super) fn find(search: &mut Search) {
    search.next_place();
    let all = all().clone();
    search.searched(format!("plugins that the host program registered ({})", all.len()));
    for Registered { platform, path, options, origin } in all {
        let mut found = Found::new(platform.clone(), path.clone(), origin);
        found.options = options;
        search.add(found);
        search.registered.push((platform, path));
    }
}
