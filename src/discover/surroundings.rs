//! What a search looks at: the variables and folders of this process, or others
//! that a test makes up.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::env;

/// How long a package may take to answer where its plugin is.
const ONE_ANSWER: Duration = Duration::from_secs(5);
/// How long all packages of one search may take together.
const ALL_ANSWERS: Duration = Duration::from_secs(15);

/// Variables, the root of the file system, and how patient a search is.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// `None` for those of this process.
    variables: Option<HashMap<OsString, OsString>>,
    root: PathBuf,
    is_privileged: bool,
    pub(super) one_answer: Duration,
    pub(super) all_answers: Duration,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_process() -> Surroundings {
        Surroundings {
            variables: None,
            root: "/".into(),
            is_privileged: env::is_privileged(),
            one_answer: ONE_ANSWER,
            all_answers: ALL_ANSWERS,
        }
    }

    /// Made-up ones: exactly these variables, and another folder in place of `/`
    /// for the devices and for the folders that belong to the system.
    pub fn made_up<K: Into<OsString>, V: Into<OsString>>(
        root: &Path,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Surroundings {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Surroundings {
            variables: Some(variables.collect()),
            root: root.to_owned(),
            is_privileged: false,
            ..Surroundings::of_process()
        }
    }

    /// The same as a privileged process sees them.
    pub fn privileged(self) -> Surroundings {
        Surroundings { is_privileged: true, ..self }
    }

    /// The same with other limits on asking packages: for one, and for all.
    pub fn patience(self, one_answer: Duration, all_answers: Duration) -> Surroundings {
        Surroundings { one_answer, all_answers, ..self }
    }

    /// Whether variables and the user's folders are not to be trusted.
    pub(super) fn is_privileged(&self) -> bool {
        self.is_privileged
    }

    /// The value of a variable; unset, empty and privileged all read as `None`.
    pub(super) fn value(&self, name: &str) -> Option<OsString> {
        match &self.variables {
            _ if self.is_privileged => None,
            None => env::value(name),
            Some(given) => given.get(std::ffi::OsStr::new(name)).cloned().filter(|value| !value.is_empty()),
        }
    }

    /// The parts of a variable that is a list divided by colons, without empty ones.
    pub(super) fn list(&self, name: &str) -> Option<Vec<PathBuf>> {
        let value = self.value(name)?.into_vec();
        let parts = value.split(|&byte| byte == b':').filter(|part| !part.is_empty());
        Some(parts.map(|part| PathBuf::from(std::ffi::OsStr::from_bytes(part))).collect())
    }

    /// A folder of the system, such as `/etc`.
    pub(super) fn system(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The user's home folder.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.folder(env::HOME)
    }

    /// The user's data folder: `XDG_DATA_HOME`, else `~/.local/share`.
    pub(super) fn data_home(&self) -> Option<PathBuf> {
        self.folder(env::XDG_DATA_HOME).or_else(|| self.home().map(|home| home.join(".local/share")))
    }

    /// The user's configuration folder: `XDG_CONFIG_HOME`, else `~/.config`.
    pub(super) fn config_home(&self) -> Option<PathBuf> {
        self.folder(env::XDG_CONFIG_HOME).or_else(|| self.home().map(|home| home.join(".config")))
    }

    /// The folders of an XDG list, or of the system when it is not set.
    pub(super) fn xdg_list(&self, name: &str, otherwise: &[&str]) -> Vec<PathBuf> {
        match self.list(name) {
            Some(folders) => folders.into_iter().filter(|folder| folder.is_absolute()).collect(),
            None => otherwise.iter().map(|folder| self.system(folder)).collect(),
        }
    }

    /// A relative value counts as unset, as the XDG rules say.
    fn folder(&self, name: &str) -> Option<PathBuf> {
        self.value(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_as_given_and_none_in_a_privileged_process() {
        let made_up = Surroundings::made_up(
            Path::new("/r"),
            [("HOME", "/h"), ("XDG_DATA_HOME", "relative"), ("EMPTY", ""), ("LIST", ":/a::/b:")],
        );
        assert_eq!(made_up.data_home().unwrap(), Path::new("/h/.local/share"));
        assert_eq!(made_up.value("EMPTY"), None);
        assert_eq!(made_up.list("LIST").unwrap(), [Path::new("/a"), Path::new("/b")]);
        assert_eq!(made_up.system("/etc"), Path::new("/r/etc"));
        let privileged = made_up.privileged();
        assert_eq!(privileged.data_home(), None);
        assert_eq!(privileged.xdg_list("LIST", &["/etc/xdg"]), [Path::new("/r/etc/xdg")]);
    }
}
