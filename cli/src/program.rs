//! The program that the arguments name, to be compiled or loaded.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use cyxla::compile::{CompileOptions, saved};
use cyxla::discover;
use cyxla::error::{Error, Result};
use cyxla::options::{Options, Value};
use cyxla::program::saved_magic::{SAVED_MAGIC, is_damaged_magic};
use cyxla::program::{self, Format, Program, Signature};
use cyxla::runtime::Executable;

use crate::args::{LoadArgs, ProgramArgs};
use crate::commands::info;
use crate::kind;

/// More than any client has.
const MOST_DEVICES: i64 = 1 << 16;

/// What a file holds that can be run.
pub enum Source {
    /// To be compiled, with these options.
    Program(Box<Program>, Options),
    /// The bytes of a saved executable.
    Saved(Vec<u8>),
}

impl Source {
    /// Reads the file. What can be wrong without a plugin is told here.
    pub fn open(args: &ProgramArgs) -> Result<Source> {
        let mut options = Options::new();
        for text in &args.compile_options {
            options.parse(text)?;
        }
        // Whether there are such devices is known later.
        let mut devices: Vec<i64> = (0..MOST_DEVICES).collect();
        if let Some(Value::Ints(ids)) = options.get("device_ids") {
            devices.extend(ids.iter().filter(|id| !(0..MOST_DEVICES).contains(*id)));
        }
        if is_saved(&args.file) {
            let bytes = program::read_file(&args.file)?;
            return saved_executable(args, bytes).map_err(|error| in_file(error, &args.file));
        }
        let program = Program::from_file(&args.file, Format::Detect, None)
            .map_err(|error| kind::explained(error, &args.file))?;
        let program = match args.vjp {
            true => program.vjp().map_err(|error| in_file(error, &args.file))?,
            false => program,
        };
        CompileOptions::new(Some(&options), program.contents().counts, &devices)?;
        Ok(Source::Program(Box::new(program), options))
    }

    /// The platforms that it was made for; empty when it does not say.
    pub fn platforms(&self) -> Vec<String> {
        match self {
            Source::Program(_, options) if options.get("check_platform") == Some(&Value::Bool(false)) => {
                Vec::new()
            }
            Source::Program(program, _) => program.platforms().to_vec(),
            Source::Saved(bytes) => {
                let saved = saved::Saved::decode(bytes);
                saved.map_or_else(|_| Vec::new(), |saved| vec![saved.facts.made_in.platform])
            }
        }
    }

    /// Loads the plugin that the arguments choose, or else one for the program.
    pub fn initialize(&self, args: &LoadArgs) -> Result<()> {
        let platforms = self.platforms();
        let is_chosen = args.platform.is_some() || args.plugin.is_some();
        let platform = match &platforms[..] {
            _ if is_chosen => args.platform.clone(),
            [] => None,
            [platform] => Some(platform.clone()),
            // One that a variable names may have no platform that is known.
            _ => match discover::find().choose(&platforms) {
                Some(found) => Some(found.platform.clone()).filter(|platform| !platform.is_empty()),
                None => platforms.first().cloned(),
            },
        };
        info::initialize_for(args, platform.as_deref()).map(|_| ())
    }

    /// What the program says that it takes and gives; `None` where it does not say.
    pub fn signature(&self) -> Option<&Signature> {
        match self {
            Source::Program(program, _) => program.signature(),
            Source::Saved(_) => None,
        }
    }

    /// Makes it ready to run.
    pub fn executable(&self) -> Result<Executable> {
        match self {
            Source::Program(program, options) => Executable::compile(program, Some(options)),
            Source::Saved(bytes) => Executable::from_bytes(bytes),
        }
    }
}

/// The platforms of the program that the arguments name, if it can be read.
pub fn platforms(args: &ProgramArgs) -> Vec<String> {
    Source::open(args).map_or_else(|_| Vec::new(), |source| source.platforms())
}

/// Whether a file is, or was, a saved executable.
pub fn is_saved(path: &Path) -> bool {
    // A pipe would block; the library refuses it.
    if !std::fs::metadata(path).is_ok_and(|facts| facts.is_file()) {
        return false;
    }
    let mut start = Vec::new();
    let Ok(file) = File::open(path) else { return false };
    let is_read = file.take(SAVED_MAGIC.len() as u64).read_to_end(&mut start).is_ok();
    is_read && (saved::is_one(&start) || is_damaged_magic(&start))
}

fn saved_executable(args: &ProgramArgs, bytes: Vec<u8>) -> Result<Source> {
    saved::Saved::decode(&bytes)?;
    let surplus = match (args.vjp, args.compile_options.is_empty()) {
        (true, _) => "there is no VJP in it",
        (_, false) => "compile options come too late",
        _ => return Ok(Source::Saved(bytes)),
    };
    Err(Error::invalid_argument(format!("this is a saved executable, which is compiled already: {surplus}"))
        .hint("compile the program again with `cyxla compile`"))
}

/// Says in which file something is wrong.
pub fn in_file(error: Error, path: &Path) -> Error {
    error.map_message(|message| format!("{}: {message}", path.display()))
}
