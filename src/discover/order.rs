//! Which of the plugins is taken, and why the others are not.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{Found, PluginList, Surroundings, devices};
use crate::env;
use crate::order;
use crate::platform::{KNOWN, answers, check_name};

/// Position of a platform in the order of preference. One that nobody declares was
/// named by the user and comes first; unknown ones come last.
fn preference(platform: &str) -> usize {
    if platform.is_empty() {
        return 0;
    }
    1 + KNOWN.iter().position(|&name| name == platform).unwrap_or(KNOWN.len())
}

impl PluginList {
    /// The best usable plugin for any of these platforms, or for any at all when
    /// none is named. One whose platform nobody declares was named by the user,
    /// and answers every request.
    ///
    /// A device that is visibly absent bars a plugin when no platform is named; among
    /// named ones it only comes behind those that may have one.
    pub fn choose(&self, platforms: &[String]) -> Option<&Found> {
        let answers = |found: &&Found| {
            found.platform.is_empty()
                || platforms.iter().any(|wanted| answers(&found.platform, wanted))
                || (platforms.is_empty() && found.absent_device.is_none() && found.may_be_default())
        };
        let usable = self.plugins.iter().filter(|found| found.problem.is_none());
        usable
            .filter(answers)
            .min_by_key(|found| (found.absent_device.is_some(), preference(&found.platform)))
    }
}

impl Found {
    /// A plugin for another platform is loaded unasked only when somebody declares it.
    fn may_be_default(&self) -> bool {
        self.rank.is_declared || KNOWN.contains(&self.platform.as_str())
    }

    /// Why it must not be loaded at all: libtpu without a TPU blocks for minutes.
    pub fn refusal(&self) -> Option<&str> {
        self.absent_device.as_deref().filter(|_| self.platform == "tpu")
    }
}

/// Puts the plugins in order and marks the default one.
pub fn finish(mut list: PluginList, surroundings: &Surroundings) -> PluginList {
    let mut absent = HashMap::new();
    for found in &mut list.plugins {
        let absent = absent.entry(found.platform.clone());
        let root = surroundings.system("/");
        found.absent_device = absent.or_insert_with(|| devices::absent(&found.platform, &root)).clone();
    }
    let key = |found: &Found| {
        let rank = &found.rank;
        (preference(&found.platform), rank.place, !rank.is_declared, Reverse(rank.generation))
    };
    order::sort_stably(&mut list.plugins, |one, other| key(one) < key(other));
    mark_default(&mut list, surroundings);
    list
}

fn mark_default(list: &mut PluginList, surroundings: &Surroundings) {
    let wanted = match wanted_platform(surroundings) {
        Ok(wanted) => wanted,
        Err(problem) => {
            let subject = format!("environment variable {}", env::PLATFORM);
            for found in &mut list.plugins {
                found.why_not_default = Some(format!("{subject} chooses, but {problem}"));
            }
            list.failures.push(super::Failure { subject, problem });
            return;
        }
    };
    let named = list.plugins.iter().position(|found| found.platform.is_empty());
    let chosen = match named {
        // A variable that is set but broken is an error at load, never a fallback.
        Some(named) => Some(named).filter(|&named| list.plugins[named].problem.is_none()),
        None => {
            let chosen = list.choose(wanted.as_slice()).filter(|found| found.refusal().is_none());
            chosen.and_then(|chosen| list.plugins.iter().position(|found| std::ptr::eq(found, chosen)))
        }
    };
    let winner = chosen.map(|index| list.plugins[index].clone());
    for (index, found) in list.plugins.iter_mut().enumerate() {
        found.is_default = chosen == Some(index);
        found.why_not_default = (!found.is_default)
            .then(|| why_not(found, winner.as_ref(), named.is_some(), wanted.first().map(String::as_str)));
    }
}

/// What CYXLA_PLATFORM asks for, as a list of at most one.
fn wanted_platform(surroundings: &Surroundings) -> Result<Vec<String>, String> {
    let Some(value) = surroundings.value(env::PLATFORM) else { return Ok(Vec::new()) };
    let text = value.to_str().ok_or_else(|| format!("it is not UTF-8: {value:?}"))?;
    check_name(text).map(|name| vec![name]).map_err(|error| error.message().to_owned())
}

fn why_not(found: &Found, winner: Option<&Found>, is_named: bool, wanted: Option<&str>) -> String {
    if let Some(problem) = &found.problem {
        return format!("it cannot be used: {problem}");
    }
    if is_named {
        return "the environment variable CYXLA_PLUGIN names the plugin to load".into();
    }
    if let Some(wanted) = wanted.filter(|wanted| !answers(&found.platform, wanted)) {
        return format!("the environment variable CYXLA_PLATFORM asks for {wanted}");
    }
    let absent = found.absent_device.as_ref().filter(|_| wanted.is_none() || found.refusal().is_some());
    if let Some(absent) = absent {
        return absent.clone();
    }
    if wanted.is_none() && !found.may_be_default() {
        return format!("a plugin for {} is loaded only when it is asked for", found.platform);
    }
    let Some(winner) = winner else { return "no plugin is the default".into() };
    let path = winner.path.display();
    if winner.platform != found.platform {
        if winner.absent_device != found.absent_device && found.absent_device.is_some() {
            return found.absent_device.clone().unwrap_or_default();
        }
        return format!("a plugin for {} is there, which comes before {}", winner.platform, found.platform);
    }
    if winner.rank.place != found.rank.place {
        return format!("{path} is found earlier in the search");
    }
    if winner.rank.is_declared != found.rank.is_declared {
        return format!("{path} is declared by its package, this one only found by its name");
    }
    if winner.rank.generation != found.rank.generation {
        return format!("{path} is of a newer generation");
    }
    format!("{path} comes before it in the same place")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::scratch::Scratch;
    use std::path::Path;

    fn found(platform: &str, problem: Option<&str>) -> Found {
        let mut found = Found::new(platform, format!("/{platform}.so").into(), "test");
        found.problem = problem.map(str::to_owned);
        found
    }

    fn list(plugins: Vec<Found>) -> PluginList {
        PluginList { plugins, ..PluginList::default() }
    }

    fn finished(plugins: Vec<Found>, root: &Path, variables: &[(&str, &str)]) -> PluginList {
        finish(list(plugins), &Surroundings::made_up(root, variables.iter().copied()))
    }

    fn default(list: &PluginList) -> Option<&str> {
        list.plugins.iter().find(|found| found.is_default).map(|found| found.platform.as_str())
    }

    fn why(list: &PluginList, platform: &str) -> String {
        let found = list.plugins.iter().find(|found| found.platform == platform).unwrap();
        found.why_not_default.clone().unwrap()
    }

    #[test]
    fn cpu_comes_before_cuda_before_the_unknown() {
        let list = list(["metal", "tpu", "rocm", "cuda", "cpu"].map(|name| found(name, None)).to_vec());
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
        let empty = Scratch::new("order");
        let plugins = || vec![found("cpu", Some("broken")), found("npu", None)];
        let list = finished(plugins(), empty.path(), &[]);
        assert_eq!(default(&list), Some("npu"));
        assert!(why(&list, "cpu").contains("broken"));

        let mut with_variable = plugins();
        with_variable.insert(0, found("", Some("broken")));
        let list = finished(with_variable, empty.path(), &[]);
        assert_eq!(default(&list), None);
        assert!(why(&list, "npu").contains("CYXLA_PLUGIN"));
    }

    #[test]
    fn absent_devices_are_passed_over_unless_asked_for() {
        let machine = Scratch::new("order");
        let plugins = || ["tpu", "rocm", "cuda"].map(|name| found(name, None)).to_vec();
        let list = finished(plugins(), machine.path(), &[]);
        assert_eq!(default(&list), None);
        assert_eq!(list.plugins[0].platform, "cuda");
        assert!(why(&list, "cuda").contains("NVIDIA"));
        assert_eq!(list.choose(&["gpu".into()]).unwrap().platform, "cuda");
        assert!(list.choose(&["tpu".into()]).unwrap().refusal().unwrap().contains("no TPU"));
        assert!(list.choose(&["cuda".into()]).unwrap().refusal().is_none());

        let asked = finished(plugins(), machine.path(), &[("CYXLA_PLATFORM", "cuda")]);
        assert_eq!(default(&asked), Some("cuda"));
        assert!(why(&asked, "rocm").contains("asks for cuda"));
        let asked = finished(plugins(), machine.path(), &[("CYXLA_PLATFORM", "tpu")]);
        assert_eq!(default(&asked), None);
        assert!(why(&asked, "tpu").contains("no TPU"));
        let asked = finished(plugins(), machine.path(), &[("CYXLA_PLATFORM", "No Name")]);
        assert_eq!(default(&asked), None);
        assert!(asked.failures[0].problem.contains("no platform name"));

        machine.write("sys/class/kfd/kfd/topology/nodes/1/properties", "simd_count 4");
        let list = finished(plugins(), machine.path(), &[]);
        assert_eq!(default(&list), Some("rocm"));
        assert_eq!(list.choose(&["gpu".into()]).unwrap().platform, "rocm");
    }

    #[test]
    fn place_then_declaration_then_generation() {
        let machine = Scratch::new("order");
        machine.write("dev/nvidia0", "");
        let of = |name: &str, place, generation: Option<u32>| {
            let mut found = Found::new("cuda", format!("/{name}").into(), "test");
            found.problem = None;
            found.rank.place = place;
            if let Some(generation) = generation { found.by_name(generation) } else { found }
        };
        let plugins = vec![
            of("later", 2, None),
            of("older", 1, Some(120)),
            of("newer", 1, Some(130)),
            of("declared", 1, None),
            of("declared too", 1, None),
        ];
        let list = finished(plugins, machine.path(), &[]);
        let names: Vec<_> = list.plugins.iter().map(|found| found.path.to_str().unwrap()).collect();
        assert_eq!(names, ["/declared", "/declared too", "/newer", "/older", "/later"]);
        let why = |index: usize| list.plugins[index].why_not_default.as_deref();
        assert_eq!(why(0), None);
        assert!(why(1).unwrap().contains("in the same place"));
        assert!(why(2).unwrap().contains("declared by its package"));
        assert!(why(4).unwrap().contains("found earlier"));
    }
}
