//! Compiles programs for the process's runtime.

use std::sync::{Arc, OnceLock};

use super::arguments::{Arguments, user_signature};
use super::buffer::check_plugin_takes;
use super::compile_error::{Sides, explain};
use super::executable::{Executable, Inner, Timing};
use super::{Runtime, cached, runtime};
use crate::compile::options::{self, ProgramTraits};
use crate::compile::{CompileOptions, signature};
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};
use crate::options::{Options, Value};
use crate::pjrt::LoadedExecutable;
use crate::platform;
use crate::program::{Parameter, Program, Rewritten, Signature, TensorSpec};
use crate::thread;

/// Bytes from which on copying a result costs more than telling the plugin where to write
/// it, which is about a microsecond.
const SMALLEST_IN_PLACE: usize = 32 << 10;

impl Executable {
    /// Compiles a program for the process's runtime, which is created for the
    /// program's platform when there is none.
    pub fn compile(program: &Program, options: Option<&Options>) -> Result<Executable> {
        let check = checks_platform(options);
        let runtime = runtime(if check { program.platforms() } else { &[] })?;
        if check {
            check_platform(program, &runtime.info.platform)?;
        }
        let options = CompileOptions::new(options, program.contents().counts, &runtime.device_ids())?;
        check_device_count(program, options.devices.len())?;
        for &dtype in &program.contents().dtypes {
            check_plugin_takes(runtime, dtype)?;
        }
        let serialized = options.serialize(traits(program, options.devices.len()));
        let place = cached::place(runtime, program, &options, &serialized)?;
        if let Some(executable) = place.as_ref().and_then(|place| place.get(runtime)) {
            return Ok(executable);
        }
        let rewritten = with_destinations(runtime, program, &options)?;
        let code = rewritten.as_ref().map_or(program.code(), Rewritten::code);
        let loaded = thread::with_stack(|| runtime.client.compile(code, program.code_format(), &serialized))
            .map_err(|error| {
                let contents = program.contents();
                let sides = Sides {
                    accepted: runtime.plugin.stablehlo_range(),
                    writer: contents.written_by.as_deref(),
                    custom_calls: &contents.custom_calls,
                };
                options::explain(explain(error, &sides))
            })
            .map_err(|error| error.with("plugin.path", runtime.plugin.path.to_string_lossy()))?;
        let destinations = rewritten.map(|rewritten| rewritten.destinations).unwrap_or_default();
        let executable = describe(runtime, program, loaded, &options, destinations)?;
        if let Some(place) = place {
            place.keep(&executable);
        }
        Ok(executable)
    }
}

/// Whether a program for other platforms is to be refused: asked before there is a
/// runtime, when the other options cannot be checked yet.
fn checks_platform(options: Option<&Options>) -> bool {
    options.and_then(|options| options.get("check_platform")) != Some(&Value::Bool(false))
}

/// What the plugin has to be told of a program beside the caller's options.
fn traits(program: &Program, device_count: usize) -> ProgramTraits {
    let contents = program.contents();
    let has_shardy = contents.has_shardy && device_count > 1;
    ProgramTraits { has_shardy, has_tuple_parameter: contents.tuple_parameters }
}

/// The program with a place for each large result, if the caller wants that and a plugin
/// can write there.
fn with_destinations(
    runtime: &Runtime,
    program: &Program,
    options: &CompileOptions,
) -> Result<Option<Rewritten>> {
    if !options.results_in_place || !runtime.client.is_in_place() {
        return Ok(None);
    }
    if options.devices.len() > 1 {
        let message = "compile option 'results_in_place' is for programs that run on one device";
        return Err(Error::invalid_argument(message).parameter("options"));
    }
    let outputs = program.contents().function.as_ref().map(|(_, outputs)| &outputs[..]);
    let is_large =
        |index: &usize| outputs.is_some_and(|all| all[*index].host_size() >= Some(SMALLEST_IN_PLACE));
    let large: Vec<usize> = (0..outputs.map_or(0, <[_]>::len)).filter(is_large).collect();
    if large.is_empty() {
        return Ok(None);
    }
    program.with_destinations(&large).map(Some)
}

/// Takes the places of results out of what a compiled program takes.
fn take_destinations(compiled: &mut Signature, destinations: &[usize]) -> Result<()> {
    let count = compiled.inputs.len().checked_sub(destinations.len());
    let places = count.map(|count| compiled.inputs.split_off(count)).unwrap_or_default();
    let fits = |(place, &output): (&TensorSpec, &usize)| {
        place.is_donated && compiled.outputs.get(output).is_some_and(|result| result.same_type(place))
    };
    if places.len() == destinations.len() && places.iter().zip(destinations).all(fits) {
        return Ok(());
    }
    let message = "the plugin compiled a program with places for its results, and does not show them";
    Err(Error::new(Code::Internal, Origin::Plugin, message)
        .hint("leave the compile option results_in_place out"))
}

/// Puts together what is known of a program that was just compiled.
fn describe(
    runtime: &'static Runtime,
    program: &Program,
    loaded: LoadedExecutable,
    options: &CompileOptions,
    destinations: Vec<usize>,
) -> Result<Executable> {
    let device_count = options.devices.len();
    let (name, mut compiled) = {
        let executable = loaded.executable()?;
        (executable.name()?, signature::read(&executable, device_count, program.contents().tuple_parameters)?)
    };
    for input in &compiled.inputs {
        check_plugin_takes(runtime, input.dtype)?;
    }
    take_destinations(&mut compiled, &destinations)?;
    let devices = may_run_on(runtime, &loaded, &options.devices);
    let (signature, arguments) = match program.parameters(&runtime.info.platform)? {
        None => (with_names(program, compiled, device_count), Arguments::all()),
        Some(parameters) => {
            let index_type = match (parameters.first(), compiled.inputs.first()) {
                (Some(Parameter::PlatformIndex(_)), Some(first)) => first.dtype,
                _ => DType::S32,
            };
            let told = program.signature().ok_or_else(|| Error::internal("an export without a signature"))?;
            let signature = user_signature(told, &parameters, compiled, device_count)?;
            let count = signature.inputs.len();
            (signature, Arguments::new(runtime, &devices, &parameters, index_type, count)?)
        }
    };
    Ok(Executable(Arc::new(Inner {
        runtime,
        loaded,
        signature,
        arguments: arguments.with_destinations(destinations),
        devices: options.devices.clone(),
        replica_count: options.replicas,
        partition_count: options.partitions,
        name,
        options: options.to_text(),
        from_cache: false,
        saved: None,
        timing: Timing::default(),
        shards: OnceLock::new(),
        forms: OnceLock::new(),
    })))
}

/// The devices that an executable which was compiled for `devices` may run on.
pub(super) fn may_run_on(runtime: &Runtime, loaded: &LoadedExecutable, devices: &[usize]) -> Vec<usize> {
    match loaded.is_portable() {
        true => (0..runtime.devices.len()).collect(),
        false => devices.to_vec(),
    }
}

/// The compiled signature with names that only the program's text tells.
fn with_names(program: &Program, mut compiled: Signature, device_count: usize) -> Signature {
    let Some(told) = program.signature() else { return compiled };
    let pairs =
        (compiled.inputs.iter_mut().zip(&told.inputs)).chain(compiled.outputs.iter_mut().zip(&told.outputs));
    for (compiled, told) in pairs {
        let fits = compiled.same_type(told) || (device_count > 1 && compiled.is_part_of(told));
        if compiled.name.is_none() && fits {
            compiled.name.clone_from(&told.name);
        }
    }
    compiled
}

fn check_platform(program: &Program, loaded: &str) -> Result<()> {
    let platforms = program.platforms();
    if program.runs_anywhere() || platforms.iter().any(|wanted| platform::answers(loaded, wanted)) {
        return Ok(());
    }
    let message =
        format!("the program is for {}, but the loaded plugin is for {loaded}", platforms.join(" or "));
    Err(Error::new(Code::FailedPrecondition, Origin::Caller, message).hint(
        "a process has one plugin: run this program in a process of its own, or export it for this platform; the compile option check_platform=false compiles it all the same",
    ))
}

fn check_device_count(program: &Program, count: usize) -> Result<()> {
    let Some(wanted) = program.contents().export.as_ref().map(|export| export.device_count) else {
        return Ok(());
    };
    if usize::try_from(wanted) == Ok(count) {
        return Ok(());
    }
    let message = format!("the program was exported for {wanted} devices, and is compiled for {count}");
    Err(Error::new(Code::FailedPrecondition, Origin::Caller, message)
        .hint(format!("set the compile option partitions={wanted}, or export it for {count}")))
}
