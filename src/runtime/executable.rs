//! Compiled programs.

use std::sync::{Arc, OnceLock};

use serde_json::json;

use super::Runtime;
use super::arguments::Arguments;
use crate::compile::saved::Saved;
use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{Buffer, Device, Layout, LoadedExecutable, Results};
use crate::program::{Signature, TensorSpec};

/// A compiled program. Immutable; clones are the same executable.
#[derive(Clone)]
pub struct Executable(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub runtime: &'static Runtime,
    pub loaded: LoadedExecutable,
    /// What the user passes and gets.
    pub signature: Signature,
    /// What of it the plugin takes.
    pub arguments: Arguments,
    /// Positions of the devices that it runs on at once.
    pub devices: Vec<usize>,
    pub replica_count: usize,
    pub partition_count: usize,
    pub name: String,
    /// The compile options, as text.
    pub options: String,
    pub from_cache: bool,
    /// What it was loaded from, if it was: plugins cannot save what they have loaded.
    pub saved: Option<Saved<'static>>,
    /// The orders in which results come, known once there were some.
    pub layouts: OnceLock<Vec<Layout>>,
}

impl Executable {
    /// The program's own name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What it takes and gives.
    pub fn signature(&self) -> &Signature {
        &self.0.signature
    }

    /// What it takes.
    pub fn inputs(&self) -> &[TensorSpec] {
        &self.0.signature.inputs
    }

    /// What it gives.
    pub fn outputs(&self) -> &[TensorSpec] {
        &self.0.signature.outputs
    }

    /// On how many devices it runs at once.
    pub fn device_count(&self) -> usize {
        self.0.devices.len()
    }

    /// Whether it came from the cache, so that nothing had to be compiled.
    pub fn is_from_cache(&self) -> bool {
        self.0.from_cache
    }

    /// A text that names the program; empty if the plugin has none.
    pub fn fingerprint(&self) -> String {
        let fingerprint = self.0.loaded.executable().and_then(|executable| executable.fingerprint());
        fingerprint.unwrap_or_default()
    }

    /// Bytes of its code; 0 where the plugin does not tell.
    pub fn generated_code_size(&self) -> usize {
        let size = self.0.loaded.executable().and_then(|executable| executable.generated_code_size());
        size.ok().and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
    }

    /// Bytes that it takes on each device, as JSON; null where the plugin does not tell.
    pub fn memory_json(&self) -> serde_json::Value {
        match self.0.loaded.executable().and_then(|executable| executable.memory_use()) {
            Err(_) => serde_json::Value::Null,
            Ok(used) => json!({
                "arguments": used.arguments,
                "outputs": used.outputs,
                "aliased": used.aliased,
                "temporary": used.temporary,
                "generated_code": used.generated_code,
                "peak": used.peak,
            }),
        }
    }

    /// The program as the plugin optimized it, in the plugin's own form.
    pub fn optimized_program(&self) -> Result<Vec<u8>> {
        self.0.loaded.executable()?.optimized_program().map(|(_format, bytes)| bytes)
    }

    /// An error unless the program takes and gives so many arrays.
    pub fn check_counts(&self, inputs: usize, outputs: usize) -> Result<()> {
        self.0.check_input_count(inputs)?;
        self.0.check_output_count(outputs)
    }
}

impl Inner {
    /// Position of the device that it runs on, the first of them if there are several.
    pub fn device(&self) -> usize {
        self.devices.first().copied().unwrap_or(0)
    }

    /// The device that it runs on, the first of them if there are several.
    pub fn target(&self) -> &Device {
        &self.runtime.devices[self.device()]
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

    /// An error if the program needs several devices at once.
    pub fn check_runs_alone(&self) -> Result<()> {
        if self.devices.len() == 1 {
            return Ok(());
        }
        let message = format!(
            "the program was compiled for {} devices; this version runs programs on one",
            self.devices.len()
        );
        Err(Error::new(Code::Unimplemented, Origin::Library, message)
            .hint("compile it with replicas=1 and partitions=1"))
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
