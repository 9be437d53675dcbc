//! Compiles programs for the process's runtime.

use std::sync::{Arc, OnceLock};

use super::arguments::{Arguments, user_signature};
use super::buffer::check_plugin_takes;
use super::compile_error::{Sides, explain};
use super::executable::{Executable, Inner};
use super::{Runtime, runtime};
use crate::compile::{CompileOptions, signature};
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};
use crate::options::Options;
use crate::pjrt::LoadedExecutable;
use crate::platform;
use crate::program::{Parameter, Program, Signature};
use crate::thread;

impl Executable {
    /// Compiles a program for the process's runtime, which is created for the
    /// program's platform when there is none.
    pub fn compile(program: &Program, options: Option<&Options>) -> Result<Executable> {
        let runtime = runtime(program.platforms())?;
        check_platform(program, &runtime.info.platform)?;
        let options = CompileOptions::new(options, runtime.devices.len())?;
        check_device_count(program, 1)?;
        let serialized = CompileOptions::serialize(runtime.device(options.device)?.id);
        let loaded =
            thread::with_stack(|| runtime.client.compile(program.code(), program.code_format(), &serialized))
                .map_err(|error| {
                    let accepted = runtime.plugin.stablehlo_range();
                    let contents = program.contents();
                    let sides = Sides {
                        accepted,
                        writer: contents.written_by.as_deref(),
                        custom_calls: &contents.custom_calls,
                    };
                    explain(error, &sides)
                })
                .map_err(|error| error.with("plugin.path", runtime.plugin.path.to_string_lossy()))?;
        describe(runtime, program, loaded, &options)
    }
}

/// Puts together what is known of a program that was just compiled.
fn describe(
    runtime: &'static Runtime,
    program: &Program,
    loaded: LoadedExecutable,
    options: &CompileOptions,
) -> Result<Executable> {
    let device_count = 1;
    let (name, compiled) = {
        let executable = loaded.executable()?;
        (executable.name()?, signature::read(&executable, device_count)?)
    };
    for input in &compiled.inputs {
        check_plugin_takes(runtime, input.dtype)?;
    }
    let device = options.device;
    let (signature, arguments) = match program.parameters(&runtime.info.platform)? {
        None => (with_names(program, compiled), Arguments::all()),
        Some(parameters) => {
            let index_type = match (parameters.first(), compiled.inputs.first()) {
                (Some(Parameter::PlatformIndex(_)), Some(first)) => first.dtype,
                _ => DType::S32,
            };
            let told = program.signature().ok_or_else(|| Error::internal("an export without a signature"))?;
            let signature = user_signature(told, &parameters, compiled)?;
            let on = runtime.device(device)?;
            let count = signature.inputs.len();
            (signature, Arguments::new(runtime, on, &parameters, index_type, count)?)
        }
    };
    Ok(Executable(Arc::new(Inner {
        runtime,
        loaded,
        signature,
        arguments,
        devices: vec![options.device],
        replica_count: 1,
        partition_count: 1,
        name,
        options: String::new(),
        from_cache: false,
        layouts: OnceLock::new(),
    })))
}

/// The compiled signature with names that only the program's text tells.
fn with_names(program: &Program, mut compiled: Signature) -> Signature {
    let Some(told) = program.signature() else { return compiled };
    let pairs =
        (compiled.inputs.iter_mut().zip(&told.inputs)).chain(compiled.outputs.iter_mut().zip(&told.outputs));
    for (compiled, told) in pairs {
        if compiled.name.is_none() && compiled.same_type(told) {
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
