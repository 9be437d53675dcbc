//! Compiled programs.

use std::sync::{Arc, OnceLock};

use super::buffer::check_plugin_takes;
use super::compile_error::{Sides, explain};
use super::{Runtime, runtime};
use crate::compile::{CompileOptions, signature};
use crate::error::{Code, Error, Origin, Result};
use crate::options::Options;
use crate::pjrt::{Buffer, Device, Layout, LoadedExecutable, Results};
use crate::platform;
use crate::program::{Program, Signature, TensorSpec, written_by};
use crate::thread;

/// A compiled program. Immutable; clones are the same executable.
#[derive(Clone)]
pub struct Executable(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub runtime: &'static Runtime,
    pub loaded: LoadedExecutable,
    pub signature: Signature,
    /// Position of the device that it runs on.
    pub device: usize,
    name: String,
    /// The orders in which results come, known once there were some.
    layouts: OnceLock<Vec<Layout>>,
}

impl Executable {
    /// Compiles a program for the process's runtime, which is created for the
    /// program's platform when there is none.
    pub fn compile(program: &Program, options: Option<&Options>) -> Result<Executable> {
        let runtime = runtime(program.platforms())?;
        check_platform(program, &runtime.info.platform)?;
        let options = CompileOptions::new(options, runtime.devices.len())?;
        let serialized = CompileOptions::serialize(runtime.device(options.device)?.id);
        let loaded = thread::with_stack(|| runtime.client.compile(program.code(), "mlir", &serialized))
            .map_err(|error| {
                let accepted = runtime.plugin.stablehlo_range();
                explain(error, &Sides { accepted, writer: written_by(program.code()) })
            })
            .map_err(|error| error.with("plugin.path", runtime.plugin.path.to_string_lossy()))?;
        let (name, signature) = {
            let executable = loaded.executable()?;
            (executable.name()?, signature::read(&executable, 1)?)
        };
        for input in &signature.inputs {
            check_plugin_takes(runtime, input.dtype)?;
        }
        let layouts = OnceLock::new();
        Ok(Executable(Arc::new(Inner { runtime, loaded, signature, device: options.device, name, layouts })))
    }

    /// The program's own name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What it takes.
    pub fn inputs(&self) -> &[TensorSpec] {
        &self.0.signature.inputs
    }

    /// What it gives.
    pub fn outputs(&self) -> &[TensorSpec] {
        &self.0.signature.outputs
    }

    /// An error unless the program takes and gives so many arrays.
    pub fn check_counts(&self, inputs: usize, outputs: usize) -> Result<()> {
        self.0.check_input_count(inputs)?;
        self.0.check_output_count(outputs)
    }
}

impl Inner {
    /// The device that it runs on.
    pub fn target(&self) -> &Device {
        &self.runtime.devices[self.device]
    }

    /// The orders in which results come. A program's results always come in the
    /// same orders, so the first ones tell.
    pub fn layouts(&self, results: &Results) -> Result<&[Layout]> {
        if let Some(layouts) = self.layouts.get() {
            return Ok(layouts);
        }
        let specs = &self.signature.outputs;
        let layout = |(result, spec): (&Buffer, &TensorSpec)| result.layout(spec.dims.len());
        let layouts = results.iter().zip(specs).map(layout).collect::<Result<Vec<_>>>()?;
        Ok(self.layouts.get_or_init(|| layouts))
    }

    /// An error unless there are as many arguments as the program takes.
    fn check_input_count(&self, count: usize) -> Result<()> {
        check_count("input_count", "argument", self.signature.inputs.len(), count)
    }

    /// An error unless there is room for as many results as the program gives.
    fn check_output_count(&self, count: usize) -> Result<()> {
        check_count("output_count", "result", self.signature.outputs.len(), count)
    }
}

fn check_count(parameter: &str, what: &str, expected: usize, got: usize) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    let plural = if expected == 1 { "" } else { "s" };
    let message = format!("the program expects {expected} {what}{plural}, got {got}");
    Err(Error::invalid_argument(message)
        .parameter(parameter)
        .hint(format!("pass every {what} of the program, in its own order")))
}

fn check_platform(program: &Program, loaded: &str) -> Result<()> {
    let platforms = program.platforms();
    if platforms.is_empty() || platforms.iter().any(|wanted| platform::answers(loaded, wanted)) {
        return Ok(());
    }
    let message =
        format!("the program is for {}, but the loaded plugin is for {loaded}", platforms.join(" or "));
    Err(Error::new(Code::FailedPrecondition, Origin::Caller, message).hint(
        "a process has one plugin: run this program in a process of its own, or export it for this platform",
    ))
}
