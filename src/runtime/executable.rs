//! Compiled programs.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::json;

use super::Runtime;
use super::arguments::Arguments;
use super::shards::Shards;
use crate::compile::saved::Saved;
use crate::error::{Error, Result};
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
    /// Whether the plugin ends the program before it returns from running it.
    pub timing: Timing,
    /// Which part of its arrays each device has, read when it is asked for.
    pub shards: OnceLock<Shards>,
    /// What the results are like, known once there were some.
    pub forms: OnceLock<Vec<ResultForm>>,
}

/// Whether a program has ended when the plugin returns from running it. A plugin's word is
/// not enough: to read results early would give wrong numbers. Nor is one look, since what
/// runs on another thread may happen to be quick.
#[derive(Default)]
pub(super) struct Timing(AtomicU8);

impl Timing {
    /// How often it has to be seen before nobody looks any more.
    const LOOKS: u8 = 32;
    const LATER: u8 = u8::MAX;

    fn is_within(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Timing::LOOKS
    }

    fn note(&self, is_within: bool) {
        let next = |seen| match (seen, is_within) {
            (Timing::LATER, _) | (_, false) => Some(Timing::LATER),
            (seen, true) => Some((seen + 1).min(Timing::LOOKS)),
        };
        // The function always gives a value.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }
}

/// What a program's result is like, each time.
pub(super) struct ResultForm {
    /// The order of its elements.
    pub layout: Layout,
    /// Its memory on the device is what the host is to get.
    pub is_readable: bool,
}

impl ResultForm {
    /// What a result is like. Does not wait for it.
    pub fn of(result: &Buffer, spec: &TensorSpec) -> Result<ResultForm> {
        let layout = result.layout(spec.dims.len())?;
        let is_whole = spec.host_size() > 0 && !spec.dtype.is_sub_byte() && layout.is_row_major(&spec.dims);
        let is_readable = is_whole && result.place(spec.host_size())?.is_some();
        Ok(ResultForm { layout, is_readable })
    }
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

    /// Positions of the devices that it runs on at once: all partitions of the first
    /// replica, then those of the next.
    pub fn devices(&self) -> &[usize] {
        &self.0.devices
    }

    /// An error unless the program takes and gives so many arrays, those of all devices
    /// together.
    pub fn check_counts(&self, inputs: usize, outputs: usize) -> Result<()> {
        let Signature { inputs: takes, outputs: gives } = &self.0.signature;
        let devices = self.0.devices.len();
        if inputs == takes.len() * devices && outputs == gives.len() * devices {
            return Ok(());
        }
        check_count("input_count", "argument", takes.len(), devices, inputs)?;
        check_count("output_count", "result", gives.len(), devices, outputs)
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

    /// Whether the results are there when the plugin returns from running it, as was seen.
    #[inline]
    pub fn is_synchronous(&self) -> bool {
        self.timing.is_within()
    }

    /// Whether that can be: the plugin says so, and the parts of a program for several
    /// devices run on threads of its own.
    pub fn may_be_synchronous(&self) -> bool {
        self.runtime.info.is_synchronous && self.devices.len() == 1
    }

    /// Notes whether the program had ended when the plugin returned.
    pub fn note_timing(&self, had_ended: bool) {
        if self.may_be_synchronous() {
            self.timing.note(had_ended);
        }
    }

    /// How messages name an item of a list of `count` items a device.
    pub fn name_of(&self, what: &str, position: usize, count: usize) -> String {
        name_of(what, position, count, self.devices.len())
    }

    /// What the results are like. A program's results always come in the same form, on
    /// every device, so the first ones tell.
    pub fn result_forms(&self, results: &Results) -> Result<&[ResultForm]> {
        if let Some(forms) = self.forms.get() {
            return Ok(forms);
        }
        let each = results.iter().zip(&self.signature.outputs);
        let forms = each.map(|(result, spec)| ResultForm::of(result, spec)).collect::<Result<Vec<_>>>()?;
        Ok(self.forms.get_or_init(|| forms))
    }
}

/// How messages name an item of a list of `count` items for each of so many devices.
pub(super) fn name_of(what: &str, position: usize, count: usize, devices: usize) -> String {
    match devices {
        1 => format!("{what} {position}"),
        _ => format!("{what} {} of device {}", position % count.max(1), position / count.max(1)),
    }
}

#[cold]
fn check_count(parameter: &str, what: &str, each: usize, devices: usize, got: usize) -> Result<()> {
    let expected = each.saturating_mul(devices);
    if got == expected {
        return Ok(());
    }
    let plural = if expected == 1 { "" } else { "s" };
    let split = if devices == 1 { String::new() } else { format!(" ({each} for each of {devices} devices)") };
    let message = format!("the program expects {expected} {what}{plural}{split}, got {got}");
    let order = if devices == 1 { "" } else { ": those of the first device, then those of the next" };
    Err(Error::invalid_argument(message)
        .parameter(parameter)
        .hint(format!("pass every {what} of the program, in its own order{order}")))
}
