//! Makes the path of a plugin absolute without following its links.

use std::path::{Path, PathBuf};

use crate::error::{Code, Error, Origin, Result};

/// The absolute form of `path`, by the working folder of this moment.
///
/// Links stay: `$ORIGIN` in a plugin's search path follows the path that it was
/// opened by. A bare file name means a file in the working folder; it is never
/// searched in the system's library folders.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(Error::invalid_argument("the plugin path is empty").parameter("path"));
    }
    std::path::absolute(path).map_err(|error| {
        let message = format!("cannot make the plugin path {} absolute: {error}", path.display());
        Error::new(Code::FailedPrecondition, Origin::System, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_start_at_the_working_folder() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(absolute(Path::new("plugin.so")).unwrap(), here.join("plugin.so"));
        assert_eq!(absolute(Path::new("/a/b.so")).unwrap(), Path::new("/a/b.so"));
        assert!(absolute(Path::new("")).is_err());
    }
}
