//! The words of `CYXLA_FAKE_PLUGIN`; the crate's documentation lists them.

use crate::broken::Mode;
use crate::sys;
use std::sync::{Arc, Mutex, PoisonError};

/// What the plugin was told.
#[derive(Clone, Debug)]
pub struct Script {
    pub mode: Mode,
    pub lenient: bool,
    pub platform: String,
    pub devices: usize,
    pub api_major: i32,
    pub api_minor: i32,
    pub slots: usize,
    pub lack: Vec<String>,
    pub fail: Vec<String>,
    pub fail_code: i32,
    pub threads: Threads,
    pub delay_ms: u64,
    pub execute_error: bool,
    pub await_error: bool,
    pub column_major: bool,
    pub memories: Vec<String>,
    pub default_memory: usize,
    pub alias_copies: bool,
    pub copy_views: bool,
}

/// Where an execution runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    Caller,
    OwnUnlessSynchronous,
    Own,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            mode: Mode::Works,
            lenient: false,
            platform: "cpu".to_owned(),
            devices: 4,
            api_major: 0,
            api_minor: 115,
            slots: sys::SLOTS.len(),
            lack: Vec::new(),
            fail: Vec::new(),
            fail_code: sys::PJRT_Error_Code_INTERNAL,
            threads: Threads::Caller,
            delay_ms: 0,
            execute_error: false,
            await_error: false,
            column_major: false,
            memories: Vec::new(),
            default_memory: 0,
            alias_copies: false,
            copy_views: false,
        }
    }
}

/// The memories of a device of the real CPU plugins.
const MEMORIES: [&str; 3] = ["device", "pinned_host", "unpinned_host"];

/// The script read last, for functions that are given no client.
static CURRENT: Mutex<Option<Arc<Script>>> = Mutex::new(None);

impl Script {
    /// Reads the variable and makes its script the current one.
    pub fn read() -> Arc<Self> {
        let script = Arc::new(Self::parse(&Self::text()));
        *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = Some(script.clone());
        script
    }

    /// The script read last.
    pub fn current() -> Arc<Self> {
        CURRENT.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    /// What the variable holds now.
    pub fn text() -> String {
        std::env::var("CYXLA_FAKE_PLUGIN").unwrap_or_default()
    }

    /// Understands `text`, or panics: a plugin that does something else than its
    /// test asked for would make the test pass for nothing.
    pub fn parse(text: &str) -> Self {
        let mut script = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            match key {
                "lenient" => script.lenient = true,
                "platform" => script.platform = value.to_owned(),
                "devices" => script.devices = number(word, value),
                "api_major" => script.api_major = number(word, value),
                "api_minor" => script.api_minor = number(word, value),
                "slots" => script.slots = number(word, value),
                "lack" => script.lack.push(function(value)),
                "fail" => script.fail.push(function(value)),
                "fail_code" => script.fail_code = number(word, value),
                "async" => script.threads = Threads::OwnUnlessSynchronous,
                "always_async" => script.threads = Threads::Own,
                "delay_ms" => script.delay_ms = number(word, value),
                "execute_error" => script.execute_error = true,
                "await_error" => script.await_error = true,
                "column_major" => script.column_major = true,
                "memory" => script.memories.push(value.to_owned()),
                "default_memory" => script.default_memory = number(word, value),
                "alias_copies" => script.alias_copies = true,
                "copy_views" => script.copy_views = true,
                name => match Mode::named(name) {
                    Some(mode) => script.mode = mode,
                    None => panic!("CYXLA_FAKE_PLUGIN: unknown word `{word}`"),
                },
            }
        }
        if script.memories.is_empty() {
            script.memories = MEMORIES.map(str::to_owned).to_vec();
        }
        assert!(
            script.default_memory < script.memories.len(),
            "CYXLA_FAKE_PLUGIN: there is no memory {}",
            script.default_memory
        );
        script
    }
}

fn number<T: std::str::FromStr>(word: &str, value: &str) -> T {
    value.parse().unwrap_or_else(|_| panic!("CYXLA_FAKE_PLUGIN: `{word}` needs a number"))
}

fn function(name: &str) -> String {
    assert!(
        sys::SLOTS.iter().any(|slot| slot.name == name),
        "CYXLA_FAKE_PLUGIN: `{name}` is no function of the PJRT table"
    );
    name.to_owned()
}
