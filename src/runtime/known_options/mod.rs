//! The create options that are known of each platform, in one table: the checks,
//! the defaults, `cyxla plugins --options` and `docs/options.md` come from it.
//!
//! Plugins check little: a wrong kind aborts some, a count of -1 aborts others.

mod check;
mod table;

use std::fmt;

pub use check::checked;
pub use table::KNOWN;

use crate::options::{Kind, Options, Value, nearest};

/// The value that libcyxla sets where the caller sets none.
pub enum Default {
    /// The plugin's own.
    Plugin,
    /// An integer.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// A text.
    Text(&'static str),
}

impl Default {
    /// The value; `None` when it is left to the plugin.
    pub fn value(&self) -> Option<Value> {
        match self {
            Default::Plugin => None,
            Default::Int(value) => Some(Value::Int(*value)),
            Default::Bool(value) => Some(Value::Bool(*value)),
            Default::Text(value) => Some(Value::String((*value).into())),
        }
    }
}

/// Which plugins of the platform have an option.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// All that are known.
    Always,
    /// Those of a newer PJRT version 0.x.
    Api {
        /// The newest version that was seen without it.
        last_without: u32,
        /// The oldest version that was seen with it.
        first_with: u32,
    },
    /// Some that were built from changed sources, and no published one.
    Patched,
    /// None: it is the library's own, and works with every plugin.
    Library,
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Since::Always | Since::Library => f.write_str("all"),
            Since::Api { last_without, first_with } => {
                write!(f, "PJRT 0.{first_with}, not 0.{last_without}")
            }
            Since::Patched => f.write_str("patched builds only"),
        }
    }
}

/// What is known of an option.
pub struct Known {
    /// The platforms that have it.
    pub platforms: &'static [&'static str],
    /// Its name.
    pub name: &'static str,
    /// Its kind and range.
    pub kind: Kind,
    /// What libcyxla sets.
    pub default: Default,
    /// What the plugin takes when it is not set, in words; empty when unknown.
    pub plugin_default: &'static str,
    /// What it does, in one line.
    pub meaning: &'static str,
    /// Which plugins have it.
    pub since: Since,
}

/// The platforms that the table describes.
pub const PLATFORMS: [&str; 4] = ["cpu", "cuda", "rocm", "tpu"];

/// What is known of one platform's options, in the table's order.
pub fn of(platform: &str) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.platforms.contains(&platform))
}

/// Whether the table describes the options of this platform.
pub fn describes(platform: &str) -> bool {
    of(platform).next().is_some()
}

/// Whether published plugins of this platform, though not all, have this option.
pub fn is_known(platform: &str, name: &str) -> bool {
    of(platform).any(|known| known.name == name && known.since != Since::Patched)
}

/// The known name that a wrong one most likely meant.
pub fn suggestion(platform: &str, wrong: &str) -> Option<&'static str> {
    nearest(wrong, of(platform).map(|known| known.name))
}

/// The platforms that have an option of this name.
pub fn platforms_with(name: &str) -> &'static [&'static str] {
    KNOWN.iter().find(|known| known.name == name).map_or(&[], |known| known.platforms)
}

/// What libcyxla sets for this platform.
pub fn defaults(platform: &str) -> Options {
    let mut options = Options::new();
    for known in of(platform) {
        if let Some(value) = known.default.value() {
            // The table's names are good names.
            let _ = options.set(known.name, value);
        }
    }
    options
}

/// What is set for a plugin when the caller sets nothing: libcyxla's defaults for the
/// platform, and over them what the plugin's package asks for.
pub fn defaults_of(platform: &str, asked_for: &Options) -> Options {
    let mut options = defaults(platform);
    for (key, value) in asked_for.iter() {
        // They were good options where they came from.
        let _ = options.set(key, value.clone());
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_pass_their_own_checks() {
        for platform in PLATFORMS {
            let defaults = defaults(platform);
            assert_eq!(checked(platform, &defaults).unwrap(), defaults);
        }
        assert_eq!(defaults("cpu").len(), 2);
        assert_eq!(defaults("cuda").get("preallocate"), Some(&Value::Bool(false)));
        assert_eq!(defaults("cuda").get("platform_name"), None);
        assert_eq!(defaults("rocm").get("platform_name"), Some(&Value::String("ROCM".into())));
        assert!(defaults("tpu").is_empty());
        assert_eq!(suggestion("cpu", "cpu_device_counts"), Some("cpu_device_count"));
    }

    #[test]
    fn the_table_is_sound() {
        for platform in PLATFORMS {
            let mut names: Vec<&str> = of(platform).map(|known| known.name).collect();
            assert!(!names.is_empty() && describes(platform), "{platform}");
            names.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{platform} has a name twice");
        }
        for known in KNOWN {
            assert!(known.platforms.iter().all(|platform| PLATFORMS.contains(platform)), "{}", known.name);
            assert!(!known.meaning.is_empty(), "{}", known.name);
            assert_ne!(known.kind.wrong_value().kind(), known.kind.name());
        }
        assert!(is_known("cpu", "asynchronous") && !is_known("cpu", "pooling_allocator"));
    }
}
