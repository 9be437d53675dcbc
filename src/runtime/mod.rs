//! The process's one runtime: a plugin, its client, and what runs on it.

mod arguments;
mod buffer;
mod cached;
mod call;
mod compile;
mod compile_error;
mod create;
mod destinations;
mod dlpack;
mod executable;
mod execute;
mod in_place;
mod info;
mod inline;
pub mod known_options;
mod locks;
mod memories;
mod pool;
mod relayout;
mod run;
mod saving;
mod selection;
mod shards;

use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use once_cell::sync::OnceCell;

pub use buffer::Buffer;
pub use call::Call;
pub use executable::Executable;
pub use info::{DeviceInfo, RuntimeInfo};

use crate::compile::identity::{self, FileStat, Surroundings};
use crate::discover::{self, Found};
use crate::env;
use crate::error::{Code, Error, Origin, Result};
use crate::options::Options;
use crate::pjrt::{Client, Device, presence};
use crate::platform::check_name;
use crate::plugin::Plugin;
use crate::thread;

/// The runtime: made once, never destroyed, since the plugin's threads live on.
pub struct Runtime {
    plugin: Plugin,
    client: Client,
    devices: Vec<Device>,
    info: RuntimeInfo,
    /// What the plugin's file looked like just before it was loaded.
    plugin_stat: Result<FileStat>,
    /// What of the environment the plugin's compiler heeds, as it was then.
    environment: String,
    /// Found out when it is first needed, since it may mean reading the plugin's file.
    surroundings: OnceCell<Surroundings>,
    /// Orders the starts of programs that take buffers among those that only read some.
    starts: RwLock<()>,
}

static RUNTIME: OnceCell<Runtime> = OnceCell::new();

/// What a caller, or else the environment, asks for.
#[derive(Default)]
struct Request {
    path: Option<(PathBuf, String)>,
    platforms: Vec<String>,
    options: Options,
}

/// Loads a plugin and creates its client, unless the process has one: then this
/// changes nothing. Gives the details of the runtime that there is.
///
/// A failure leaves the process as it was. Threads that race wait for the first.
pub fn initialize(
    path: Option<&Path>,
    platform: Option<&str>,
    options: Option<&Options>,
) -> Result<&'static RuntimeInfo> {
    if let Some(runtime) = RUNTIME.get() {
        presence::check()?;
        return Ok(&runtime.info);
    }
    let platforms = platform.map(check_name).transpose()?;
    let path = path.map(|path| (path.to_owned(), "the caller".to_owned()));
    get_or_create(path, platforms.into_iter().collect(), options).map(|runtime| &runtime.info)
}

/// The details of the runtime; makes the default one when there is none.
pub fn get() -> Result<&'static RuntimeInfo> {
    runtime(&[]).map(|runtime| &runtime.info)
}

/// Whether the process has a runtime.
pub fn is_initialized() -> bool {
    RUNTIME.get().is_some()
}

/// The runtime, for work to be done now; made for one of `platforms` when there is
/// none (for any when the list is empty).
fn runtime(platforms: &[String]) -> Result<&'static Runtime> {
    let runtime = match RUNTIME.get() {
        Some(runtime) => runtime,
        None => get_or_create(None, platforms.to_vec(), None)?,
    };
    presence::check()?;
    Ok(runtime)
}

fn get_or_create(
    path: Option<(PathBuf, String)>,
    platforms: Vec<String>,
    options: Option<&Options>,
) -> Result<&'static Runtime> {
    // In a child that was forked meanwhile nobody would end the wait below.
    presence::check()?;
    RUNTIME.get_or_try_init(|| {
        let _in_use = presence::use_in_this_process();
        let request = Request::new(path, platforms, options)?;
        let created = thread::with_stack(|| create_runtime(request));
        match &created {
            // Options that the caller did not give are the variable's.
            Err(error) if options.is_none() && error.detail("parameter") == Some("options") => {
                named(env::OPTIONS, created)
            }
            _ => created,
        }
    })
}

impl Request {
    /// Fills what the caller left open from the environment: the library if the
    /// caller gives no path, the platform if the caller gives neither, the options if
    /// the caller gives none.
    fn new(
        path: Option<(PathBuf, String)>,
        platforms: Vec<String>,
        options: Option<&Options>,
    ) -> Result<Request> {
        let mut request = Request { path, platforms, options: options.cloned().unwrap_or_default() };
        if request.path.is_none() {
            let variable = env::value(env::PLUGIN).map(PathBuf::from);
            request.path = variable.map(|path| (path, "environment variable CYXLA_PLUGIN".to_owned()));
            if request.platforms.is_empty()
                && let Some(platform) = env::text(env::PLATFORM)?
            {
                request.platforms = vec![named(env::PLATFORM, check_name(&platform))?];
            }
        }
        if options.is_none()
            && let Some(text) = env::text(env::OPTIONS)?
        {
            named(env::OPTIONS, request.options.parse(&text))?;
        }
        Ok(request)
    }
}

/// Says of an error that a variable is its cause.
fn named<T>(variable: &str, result: Result<T>) -> Result<T> {
    result.map_err(|error| {
        error
            .map_message(|message| format!("environment variable {variable}: {message}"))
            .with("origin", "system")
    })
}

fn create_runtime(request: Request) -> Result<Runtime> {
    let Request { path, platforms, options } = request;
    match path {
        Some((path, origin)) => {
            let declared = match &platforms[..] {
                [platform] => Some(platform.as_str()),
                _ => None,
            };
            let folders = || discover::find().python_folders;
            load(&path, origin, declared, &platforms, &Options::new(), &options, folders)
        }
        None => {
            let list = discover::find();
            let found = list.choose(&platforms).ok_or_else(|| selection::none_found(&list, &platforms))?;
            selection::check_device(found)?;
            let Found { path, origin, platform, .. } = found;
            let own_defaults = selection::checked_defaults(found)?;
            let folders = || list.python_folders.clone();
            load(path, origin.clone(), Some(platform), &platforms, &own_defaults, &options, folders)
        }
    }
}

/// Loads one plugin. `declared` is the platform that it is said to be for;
/// `wanted` are those that will do.
fn load(
    path: &Path,
    origin: String,
    declared: Option<&str>,
    wanted: &[String],
    own_defaults: &Options,
    options: &Options,
    folders: impl Fn() -> Vec<PathBuf>,
) -> Result<Runtime> {
    if let Some(declared) = declared {
        // Before anything is loaded: a wrong value needs no plugin to be wrong.
        known_options::checked(declared, options)?;
    }
    let plugin_stat = FileStat::of(path);
    let mut environment = identity::environment();
    let plugin = Plugin::load(path, declared, folders)?;
    // One that took its place meanwhile may be what was loaded.
    let plugin_stat = plugin_stat.and_then(|stat| stat.unchanged(path));
    let with_path = |error: Error| error.with("plugin.path", plugin.path.to_string_lossy());
    let platform = match declared.filter(|&declared| declared != "gpu") {
        Some(declared) => declared.to_owned(),
        None => guess_platform(&plugin),
    };
    let checked = known_options::checked(&platform, options)?;
    let mut made = create::create(&plugin, &platform, own_defaults, &checked).map_err(with_path)?;
    environment += &made.pool;
    let reported = made.client.platform_name().map_err(with_path)?.to_lowercase();
    let fits = |wanted: &String| create::check_platform(&reported, wanted, &plugin);
    if let Some(first) = wanted.first().filter(|_| !wanted.iter().any(|wanted| fits(wanted).is_ok())) {
        fits(first).map_err(with_path)?;
    }
    let version = made.client.platform_version().map_err(with_path)?;
    let devices = made.client.devices().map_err(with_path)?;
    if devices.is_empty() {
        let message = "the plugin's client has no devices";
        return Err(with_path(Error::new(Code::FailedPrecondition, Origin::Plugin, message)));
    }
    let in_place = reported == "cpu"; // its devices' memory is the host's
    let is_synchronous = made.is_synchronous && in_place;
    made.client.set_in_place(in_place);
    let info = RuntimeInfo::new(
        &plugin,
        origin,
        reported,
        version,
        is_synchronous,
        in_place,
        &devices,
        &made.in_force,
        &made.ignored,
    );
    let surroundings = OnceCell::new();
    let starts = RwLock::new(());
    Ok(Runtime { client: made.client, devices, info, plugin, plugin_stat, environment, surroundings, starts })
}

/// The platform that a plugin is most likely for, as long as it has no client to
/// ask: it decides the defaults, of which the plugin takes those that it knows.
fn guess_platform(plugin: &Plugin) -> String {
    if plugin.attributes.iter().any(|attribute| attribute.name == "cuda_version") {
        return "cuda".into();
    }
    let name = plugin.file_name().to_string_lossy().to_lowercase();
    let known = [("cuda", "cuda"), ("rocm", "rocm"), ("tpu", "tpu"), ("gpu", "cuda")];
    known.iter().find(|(part, _)| name.contains(part)).map_or("cpu", |(_, platform)| platform).into()
}

/// Held while a program starts.
#[allow(dead_code, reason = "only held")]
enum Start<'a> {
    Reads(RwLockReadGuard<'a, ()>),
    Takes(RwLockWriteGuard<'a, ()>),
}

impl Runtime {
    /// To be held while a program starts on buffers, of which it takes some or only reads
    /// them. An asynchronous plugin of PJRT 0.81 loses an end where one thread starts to
    /// read what another thread's program is taking. Starts are short there; a synchronous
    /// plugin runs the whole program in one, and needs no order.
    fn start(&self, takes: bool) -> Option<Start<'_>> {
        match (self.info.is_synchronous, takes) {
            (true, _) => None,
            (_, true) => Some(Start::Takes(self.starts.write().unwrap_or_else(PoisonError::into_inner))),
            (_, false) => Some(Start::Reads(self.starts.read().unwrap_or_else(PoisonError::into_inner))),
        }
    }

    /// The plugin's numbers of the devices, by position.
    fn device_ids(&self) -> Vec<i64> {
        self.devices.iter().map(|device| device.id).collect()
    }

    /// The device at a position.
    fn device(&self, position: usize) -> Result<&Device> {
        self.devices.get(position).ok_or_else(|| {
            let count = self.devices.len();
            let message = format!("device {position} does not exist; there are {count}, counted from 0");
            Error::invalid_argument(message).parameter("device")
        })
    }
}
