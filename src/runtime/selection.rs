//! Words for a search that ends without a plugin to load.

use super::known_options;
use crate::discover::{Found, PluginList};
use crate::error::{Code, Error, Origin, Result};
use crate::options::Options;

/// An error lists so many plugins and failures; the rest is a number.
const MOST_LISTED: usize = 20;

/// What to install, by platform.
const ADVICE: [(&str, &str); 4] = [
    ("cpu", "`cyxla install cpu`"),
    ("cuda", "`pip install \"jax-cuda13-pjrt[with-cuda]\"` (or jax-cuda12-pjrt)"),
    ("rocm", "`pip install jax-rocm7-pjrt`, beside ROCm itself"),
    ("tpu", "`pip install libtpu`, on a machine with a TPU"),
];

/// The error of a search that found nothing to load: each place that was looked at,
/// each thing that was there and why it does not do, and what to install.
pub fn none_found(list: &PluginList, platforms: &[String]) -> Error {
    let what = match platforms {
        [] => "no usable PJRT plugin was found".to_owned(),
        platforms => format!("no usable PJRT plugin for {} was found", platforms.join(" or ")),
    };
    let advice = advice(list, platforms);
    // The advice first: what was searched is long, and many hosts show the message only.
    let mut message = format!("{what}: {advice}; searched: {}", list.searched.join("; "));
    for found in list.plugins.iter().take(MOST_LISTED) {
        let platform = if found.platform.is_empty() { "platform unknown" } else { &found.platform };
        message += &format!("; found {} ({platform}): {}", found.path.display(), reason(found, platforms));
    }
    for failure in list.failures.iter().take(MOST_LISTED) {
        message += &format!("; {}: {}", failure.subject, failure.problem);
    }
    let more =
        list.plugins.len().saturating_sub(MOST_LISTED) + list.failures.len().saturating_sub(MOST_LISTED);
    if more > 0 {
        message += &format!("; and {more} more, which `cyxla plugins` lists");
    }
    Error::new(Code::NotFound, Origin::System, message).hint(advice)
}

fn reason<'a>(found: &'a Found, platforms: &[String]) -> &'a str {
    let of_device = found.absent_device.as_deref().filter(|_| platforms.is_empty());
    found.problem.as_deref().or(of_device).unwrap_or("it is for another platform")
}

fn advice(list: &PluginList, platforms: &[String]) -> String {
    let wanted = |name: &str| platforms.iter().any(|wanted| crate::platform::answers(name, wanted));
    let known: Vec<&str> =
        ADVICE.iter().filter(|(name, _)| wanted(name)).map(|(_, advice)| *advice).collect();
    let mut advice = match (known.is_empty(), platforms.is_empty()) {
        (false, _) => format!("install a plugin with {}", known.join(" or ")),
        (true, true) => "install a plugin with `cyxla install cpu`".to_owned(),
        (true, false) => format!("install a plugin for {}", platforms.join(" or ")),
    };
    advice += ", or set CYXLA_PLUGIN to the path of one";
    let passed_over =
        list.plugins.iter().find(|found| found.problem.is_none() && found.absent_device.is_some());
    if let Some(found) = passed_over.filter(|_| platforms.is_empty()) {
        advice += &format!("; to load the plugin for {} all the same, ask for it by name", found.platform);
    }
    advice
}

/// Refuses a plugin that would block for minutes in search of a device that is
/// visibly not there.
pub fn check_device(found: &Found) -> Result<()> {
    let Some(reason) = found.refusal() else { return Ok(()) };
    let message = format!("the plugin for {} was not loaded: {reason}", found.platform);
    Err(Error::new(Code::FailedPrecondition, Origin::System, message)
        .with("plugin.path", found.path.to_string_lossy())
        .hint("the plugin would look for a TPU for minutes; to load it all the same, give its path"))
}

/// The create options that a plugin's package asks for. A wrong one would make the
/// plugin abort, no matter who wrote it.
pub fn checked_defaults(found: &Found) -> Result<Options> {
    known_options::checked(&found.platform, &found.options).map_err(|error| {
        let message = format!("{} declares wrong options: {}", found.origin, error.message());
        Error::new(Code::FailedPrecondition, Origin::System, message)
            .with("plugin.path", found.path.to_string_lossy())
            .hint("tell the author of the package, or give the plugin's path to load it without them")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::{Surroundings, find_in};
    use std::path::Path;

    fn list(variables: &[(&str, &str)]) -> PluginList {
        find_in(&Surroundings::made_up(Path::new("/no/such/root"), variables.iter().copied()))
    }

    /// This test program, as a file that is there.
    fn there() -> String {
        std::env::current_exe().unwrap().display().to_string()
    }

    #[test]
    fn an_error_tells_where_it_looked_and_what_to_install() {
        let nothing = none_found(&list(&[]), &[]);
        assert_eq!(nothing.code(), Code::NotFound);
        for place in [
            "CYXLA_PLUGIN ",
            "PJRT_NAMES",
            "plugins.d",
            "CYXLA_PLUGIN_DIRS",
            "Python",
            "TPU_LIBRARY",
            "install",
        ] {
            assert!(nothing.message().contains(place), "{place}: {nothing}");
        }
        assert!(nothing.detail("hint").unwrap().contains("cyxla install cpu"));
        let gpu = none_found(&list(&[]), &["gpu".into()]);
        assert!(gpu.detail("hint").unwrap().contains("jax-cuda13-pjrt"));
        assert!(gpu.detail("hint").unwrap().contains("jax-rocm7-pjrt"));
        let other = none_found(&list(&[]), &["npu".into()]);
        assert!(other.detail("hint").unwrap().contains("a plugin for npu"));
    }

    #[test]
    fn what_was_passed_over_is_named_with_its_reason() {
        let names = format!("cuda:{},cpu:/no/such/cpu.so", there());
        let found = list(&[("PJRT_NAMES_AND_LIBRARY_PATHS", &names)]);
        let error = none_found(&found, &[]);
        assert!(error.message().contains("(cuda): this machine shows no NVIDIA GPU"), "{error}");
        assert!(error.message().contains("/no/such/cpu.so (cpu): there is no such file"), "{error}");
        assert!(error.detail("hint").unwrap().contains("for cuda all the same"));
        let error = none_found(&found, &["tpu".into()]);
        assert!(error.message().contains("(cuda): it is for another platform"), "{error}");
    }

    #[test]
    fn long_lists_end_with_a_number() {
        let names: Vec<String> = (0..30).map(|number| format!("x{number}:/no/{number}.so")).collect();
        let found = list(&[("PJRT_NAMES_AND_LIBRARY_PATHS", &names.join(","))]);
        let error = none_found(&found, &[]);
        assert!(error.message().contains("and 10 more"), "{error}");
    }

    #[test]
    fn a_tpu_that_is_not_there_is_refused_at_once() {
        let found = list(&[("TPU_LIBRARY_PATH", &there())]);
        let error = check_device(found.choose(&["tpu".into()]).unwrap()).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition);
        assert!(error.message().contains("no TPU"), "{error}");
        let found = list(&[("PJRT_NAMES_AND_LIBRARY_PATHS", &format!("cuda:{}", there()))]);
        check_device(found.choose(&["cuda".into()]).unwrap()).unwrap();
    }

    #[test]
    fn options_of_a_package_are_checked_like_any() {
        let mut found = list(&[("PJRT_NAMES_AND_LIBRARY_PATHS", "cpu:/a.so")]).plugins.remove(0);
        found.options.parse("cpu_device_count=two;other=1").unwrap();
        let error = checked_defaults(&found).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition);
        assert!(error.message().contains("declares wrong options"), "{error}");
        found.options.parse("cpu_device_count=2").unwrap();
        assert_eq!(checked_defaults(&found).unwrap().len(), 2);
    }
}
