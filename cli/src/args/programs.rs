//! The arguments of the subcommands that take a program, and of the cache.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgAction, Args as ClapArgs};

const RUN_HELP: &str = "\
Examples:
  cyxla run add.mlir --input a.npy --input b.npy
  cyxla run add.mlir --input rhs=b.npy --input lhs=a.npy --output results
  cyxla run model.jaxexport -i \"args[0]['w']=w.npy\" -i \"args[1]=x.npy\"

Every input of the program is given, those too that it does not use (`cyxla
inspect FILE` lists them as dropped).

Element types that NumPy lacks (bf16, the 8-bit floats, s4, ...) are written as
unsigned integers of the same width, types narrower than a byte one element a
byte; outputs.json says the true type. Inputs of such types are taken in the
same form.";

/// Compile a program, run it once, and print or save its outputs
///
/// The plugin works in a child process, so that one that crashes gives an error like
/// any other. What `cyxla compile` wrote is run without being compiled.
#[derive(ClapArgs, Debug)]
#[command(after_help = RUN_HELP)]
pub struct RunArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    /// An input as a .npy file, once for each input, in order; NAME=X.npy gives
    /// the input of that name
    #[arg(long = "input", short = 'i', value_name = "[NAME=]X.npy")]
    pub inputs: Vec<String>,

    /// Write out_0.npy, out_1.npy, ... and outputs.json into this folder, which
    /// is made if need be, instead of printing the outputs
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub load: LoadArgs,
}

const COMPILE_HELP: &str = "\
Examples:
  cyxla compile model.jaxexport -o model.cyxla
  cyxla run model.cyxla --input x.npy

What is written is for the plugin that compiled it, in that very version, and for
CPUs that have all that this one has; under anything else it is refused. `cyxla
inspect` shows what it is for. From C it is loaded with
cyxla_executable_from_bytes.";

/// Compile a program and save it, to be loaded without being compiled
///
/// The plugin works in a child process, as for `run`. The file is written under
/// another name and then renamed, so that it is there whole or not at all.
#[derive(ClapArgs, Debug)]
#[command(after_help = COMPILE_HELP)]
// Here the letter is the output's.
#[command(mut_arg("options", |options| options.short(None)))]
pub struct CompileArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    /// The file to write
    #[arg(long, short = 'o', value_name = "OUT", value_parser = OsStringValueParser::new().try_map(saved_file))]
    pub output: PathBuf,

    #[command(flatten)]
    pub load: LoadArgs,
}

/// A program, and how it is compiled.
#[derive(ClapArgs, Debug)]
pub struct ProgramArgs {
    /// The program: a jax.export file, StableHLO (text or bytecode) or an HLO proto
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Take the program that computes its gradients (JAX's VJP), which a jax.export
    /// file may hold
    #[arg(long)]
    pub vjp: bool,

    /// An option for compiling, such as -c partitions=2; repeat for more
    #[arg(short = 'c', long = "compile-option", value_name = "KEY=VALUE", value_parser = key_value)]
    pub compile_options: Vec<String>,
}

impl ProgramArgs {
    /// The arguments as they are passed on to a child, the last of them.
    pub fn to_arguments(&self) -> Vec<OsString> {
        let vjp = self.vjp.then(|| OsString::from("--vjp"));
        let options = self.compile_options.iter().map(|option| format!("--compile-option={option}").into());
        vjp.into_iter().chain(options).chain(["--".into(), self.file.clone().into()]).collect()
    }
}

const INSPECT_HELP: &str = "\
A terminal gets the first inputs and outputs only; a pipe or a file gets all.

Exit codes: 0 the file was understood, even if its program cannot run; 1 it was
not; 2 wrong usage.";

/// Say what a program takes, gives and needs; loads no plugin and needs none
///
/// FILE is any program, or what `cyxla compile` wrote.
#[derive(ClapArgs, Debug)]
#[command(after_help = INSPECT_HELP)]
pub struct InspectArgs {
    /// A jax.export file, StableHLO (text or bytecode), an HLO proto or a saved
    /// executable
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Describe the program of its gradients (JAX's VJP), if the file holds one; give
    /// it twice for that one's own
    #[arg(long, action = ArgAction::Count)]
    pub vjp: u8,
}

/// Say what is in the executable cache, or clear it
///
/// The cache keeps compiled programs from one process to the next. It is on where
/// CYXLA_CACHE_DIR names a folder, or the compile option cache_dir does.
#[derive(ClapArgs, Debug)]
pub struct CacheArgs {
    /// Remove all executables from the cache
    #[arg(long)]
    pub clear: bool,

    /// The cache in this folder, instead of the one that CYXLA_CACHE_DIR names
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Which plugin to load, and how.
#[derive(ClapArgs, Debug)]
pub struct LoadArgs {
    /// The platform to run on: cpu, cuda, rocm, tpu, gpu (cuda or rocm), or
    /// another that a plugin declares
    #[arg(long, value_name = "NAME")]
    pub platform: Option<String>,

    /// Load this plugin library instead of searching for one
    #[arg(long, value_name = "PATH")]
    pub plugin: Option<PathBuf>,

    /// An option for the plugin, such as --option cpu_device_count=2; repeat for more
    #[arg(short = 'o', long = "option", value_name = "KEY=VALUE", value_parser = key_value)]
    pub options: Vec<String>,
}

fn key_value(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((key, _)) if !key.trim().is_empty() => Ok(text.to_owned()),
        _ => Err("an option is written key=value".to_owned()),
    }
}

/// The file to write, unless an option for the plugin is meant, for which other
/// subcommands have the same letter.
fn saved_file(text: OsString) -> Result<PathBuf, String> {
    let is_key =
        |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match text.to_str().and_then(|text| text.split_once('=')) {
        Some((key, _)) if is_key(key) => {
            Err("this names the file to write; an option for the plugin is given with --option".to_owned())
        }
        _ if text.is_empty() => Err("the name of the file to write is empty".to_owned()),
        _ => Ok(text.into()),
    }
}
