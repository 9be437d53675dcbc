//! Creates the client of a loaded plugin, with the options that it understands.

use super::known_options as known;
use super::pool::{self, THREADS};
use crate::error::{Code, Error, Origin, Result};
use crate::options::{Options, Value};
use crate::pjrt::Client;
use crate::plugin::Plugin;

/// A client and what became of the options.
pub struct Created {
    /// The client.
    pub client: Client,
    /// The options that the plugin was given and knows.
    pub in_force: Options,
    /// Options that had no effect: the plugin does not know them.
    pub ignored: Vec<String>,
    /// Whether the plugin said that it runs programs in the calling thread.
    pub is_synchronous: bool,
    /// What the caller had the client's pool of threads be, for which plugins generate
    /// code: text to tell other code from it, empty where the plugin chose.
    pub pool: String,
}

/// No plugin has an option of this name.
const PROBE: &str = "cyxla_option_probe";
/// How many devices a CPU client has, the one option that old CPU plugins know.
const CPU_DEVICE_COUNT: &str = "cpu_device_count";

/// Creates a client. `platform` decides the defaults; the caller's options, already
/// checked, come over them.
pub fn create(plugin: &Plugin, platform: &str, own_defaults: &Options, wanted: &Options) -> Result<Created> {
    if wanted.get(PROBE).is_some() {
        let message = format!("create option '{PROBE}' is the library's own");
        return Err(Error::invalid_argument(message).parameter("options"));
    }
    let mut options = known::defaults_of(platform, own_defaults);
    for (key, value) in wanted.iter() {
        options.set(key, value.clone())?;
    }
    let mut attempt = Attempt { plugin, platform, wanted, options, ignored: Vec::new() };
    let created = if platform == "cpu" { attempt.create_with_pool() } else { attempt.create(|_| false) };
    created.map_err(|error| {
        let error = no_device(error, platform);
        plugin.preload.iter().fold(error, |error, report| report.attach(error))
    })
}

/// Adds what to look at when a plugin found no device: its own words are few.
fn no_device(error: Error, platform: &str) -> Error {
    let advice = match (platform, error.code()) {
        ("cuda", Code::FailedPrecondition) => {
            "the plugin found no NVIDIA GPU that it can use: see whether nvidia-smi lists one, whether this process may open /dev/nvidiactl, and what CUDA_VISIBLE_DEVICES is set to"
        }
        ("rocm", Code::FailedPrecondition) => {
            "the plugin found no AMD GPU that it can use: see whether rocminfo lists one, whether this process may open /dev/kfd, and what HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES are set to"
        }
        ("tpu", Code::NotFound) => {
            "the plugin found no TPU: see whether lspci lists one (vendor 1ae0) and whether another process uses it"
        }
        _ => return error,
    };
    if error.detail("hint").is_some() { error } else { error.hint(advice) }
}

struct Attempt<'a> {
    plugin: &'a Plugin,
    platform: &'a str,
    wanted: &'a Options,
    options: Options,
    ignored: Vec<String>,
}

impl Attempt<'_> {
    /// The number of threads is arranged for by the library; the plugin knows no such
    /// option.
    fn create_with_pool(&mut self) -> Result<Created> {
        let pool = match pool::plan(&self.options) {
            // What a package asks for is left out where it cannot be had.
            Err(_) if self.wanted.get(THREADS).is_none() => {
                self.ignored.push(THREADS.to_owned());
                self.options.remove(THREADS);
                pool::Pool::Plugins
            }
            plan => plan?,
        };
        let Some(threads) = self.options.get(THREADS).cloned() else { return self.create_cpu() };
        self.options.remove(THREADS);
        let mut created = pool.create(|| self.create_cpu())?;
        created.pool = format!("pool={threads}\n");
        created.in_force.set(THREADS, threads)?;
        Ok(created)
    }

    /// CPU plugins of before about PJRT 0.110 ignore the options that they do not
    /// know without a word, so that `asynchronous=false` would seem to work. An
    /// option that nobody knows tells the two kinds apart: the strict refuse it
    /// before they make anything.
    fn create_cpu(&mut self) -> Result<Created> {
        self.options.set(PROBE, Value::Bool(true))?;
        match self.create(|message| message.contains(PROBE)) {
            Ok(created) => self.lenient(created),
            Err(error) if error.message().contains(PROBE) => {
                self.options.remove(PROBE);
                self.create(|_| false)
            }
            Err(error) => Err(error),
        }
    }

    /// What a client of a plugin that ignores unknown options amounts to.
    fn lenient(&mut self, mut created: Created) -> Result<Created> {
        created.in_force.remove(PROBE);
        created.is_synchronous = false;
        let names: Vec<String> = created.in_force.iter().map(|(key, _)| key.to_owned()).collect();
        for name in names.into_iter().filter(|name| name != CPU_DEVICE_COUNT) {
            if self.wanted.get(&name).is_some() && !known::is_known(self.platform, &name) {
                let (major, minor) = self.plugin.api.version();
                let message = format!(
                    "create option '{name}' is unknown: the plugin (PJRT {major}.{minor}) ignores it"
                );
                return Err(
                    self.with_suggestion(Error::invalid_argument(message).parameter("options"), &name)
                );
            }
            created.in_force.remove(&name);
            created.ignored.push(name);
        }
        Ok(created)
    }

    /// Creates a client; leaves out defaults that the plugin says it does not know.
    fn create(&mut self, is_final: impl Fn(&str) -> bool) -> Result<Created> {
        loop {
            let error = match Client::create(self.plugin.api, &self.options) {
                Ok(client) => {
                    let is_synchronous = self.options.get("asynchronous") == Some(&Value::Bool(false));
                    return Ok(Created {
                        client,
                        in_force: self.options.clone(),
                        ignored: std::mem::take(&mut self.ignored),
                        is_synchronous,
                        pool: String::new(),
                    });
                }
                Err(error) => error,
            };
            if error.code() != Code::InvalidArgument || is_final(error.message()) {
                return Err(self.explain(error));
            }
            let named = |key: &&str| names(error.message(), key);
            let left_out = (self.options.iter().map(|(key, _)| key).find(named))
                .filter(|key| self.wanted.get(key).is_none())
                .map(str::to_owned);
            let Some(left_out) = left_out else { return Err(self.explain(error)) };
            self.options.remove(&left_out);
            self.ignored.push(left_out);
        }
    }

    /// Adds which option of the caller the plugin refused.
    fn explain(&self, error: Error) -> Error {
        let refused = self.wanted.iter().map(|(key, _)| key).find(|key| names(error.message(), key));
        match refused {
            Some(key) if error.code() == Code::InvalidArgument => {
                let key = key.to_owned();
                self.with_suggestion(error.parameter("options"), &key)
            }
            _ => error,
        }
    }

    fn with_suggestion(&self, error: Error, name: &str) -> Error {
        let hint = match (known::suggestion(self.platform, name), known::platforms_with(name)) {
            // The table has it for this platform: the plugin is of another age.
            (_, platforms) if platforms.contains(&self.platform) => return error,
            (Some(near), []) => format!("did you mean '{near}'?"),
            (None, []) => {
                format!("`cyxla plugins --options {}` lists the options that are known", self.platform)
            }
            (_, platforms) => format!("'{name}' is an option for {}", platforms.join(" and ")),
        };
        error.hint(hint)
    }
}

/// Whether a message holds a name as a word of its own.
fn names(message: &str, name: &str) -> bool {
    message.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
}

/// Refuses a client that reports another platform than the caller named.
pub fn check_platform(reported: &str, wanted: &str, plugin: &Plugin) -> Result<()> {
    let is_known = |name: &str| crate::platform::KNOWN.contains(&name);
    let contradicts =
        if wanted == "gpu" { is_known(reported) } else { is_known(wanted) || is_known(reported) };
    if !contradicts || crate::platform::answers(reported, wanted) {
        return Ok(());
    }
    let message = format!(
        "the plugin {} is for the platform {reported}, but {wanted} was asked for",
        plugin.path.display()
    );
    Err(Error::new(Code::FailedPrecondition, Origin::Caller, message)
        .parameter("platform")
        .hint(format!("ask for {reported}, or name a plugin for {wanted}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_device_gets_advice() {
        let advice = |platform: &str, code| {
            let error = no_device(Error::new(code, Origin::Plugin, "No visible GPU devices."), platform);
            error.detail("hint").map(str::to_owned)
        };
        assert!(advice("cuda", Code::FailedPrecondition).unwrap().contains("nvidia-smi"));
        assert!(advice("rocm", Code::FailedPrecondition).unwrap().contains("/dev/kfd"));
        assert!(advice("tpu", Code::NotFound).unwrap().contains("lspci"));
        assert_eq!(advice("cpu", Code::FailedPrecondition), None);
        assert_eq!(advice("cuda", Code::Internal), None);
    }

    #[test]
    fn names_are_whole_words() {
        let message = "Unexpected option name passed to PJRT_Client_Create: asynchronous";
        assert!(names(message, "asynchronous"));
        assert!(!names(message, "async"));
        assert!(!names("process_id_x", "process_id"));
    }
}
