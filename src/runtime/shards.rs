//! Which part of a whole array each device of a program has.

use super::Executable;
use crate::error::Result;
use crate::pjrt::presence;
use crate::program::{TensorSpec, hlo_sharding};

/// Where the parts of all inputs and outputs begin.
pub struct Shards {
    inputs: Parts,
    outputs: Parts,
}

/// For the first device, then for the next: the index of the first element of each array's
/// part in the whole array; `None` where the plugin does not tell, or it has no part.
type Parts = Vec<Option<Vec<i64>>>;

impl Executable {
    /// The index in the whole input of the first element that a device has; `None` where
    /// that is not known, it has none of it, or there is no such device or input. `place` is a position in
    /// the executable's list of devices.
    pub fn input_offsets(&self, place: usize, index: usize) -> Option<&[i64]> {
        let count = self.inputs().len();
        self.shards()?.inputs.get(place_of(place, index, count)?)?.as_deref()
    }

    /// The same of an output.
    pub fn output_offsets(&self, place: usize, index: usize) -> Option<&[i64]> {
        let count = self.outputs().len();
        self.shards()?.outputs.get(place_of(place, index, count)?)?.as_deref()
    }

    /// `None` where they cannot be read now; another attempt may go better.
    fn shards(&self) -> Option<&Shards> {
        if let Some(known) = self.0.shards.get() {
            return Some(known);
        }
        let read = self.read_shards().ok()?;
        Some(self.0.shards.get_or_init(|| read))
    }

    fn read_shards(&self) -> Result<Shards> {
        let inner = &*self.0;
        let (inputs, outputs) = match inner.partition_count {
            1 => (None, None),
            _ => {
                presence::check()?;
                let executable = inner.loaded.executable()?;
                (executable.parameter_shardings()?, executable.output_shardings()?)
            }
        };
        let leading = usize::from(inner.arguments.has_platform_index());
        let specs = self.inputs();
        // What the compiler dropped is not divided.
        let mut of_inputs = vec![inputs.as_ref().map(|_| Vec::new()); specs.len()];
        if let Some(shardings) = inputs {
            for (position, (input, _)) in inner.arguments.select(specs).enumerate() {
                of_inputs[input] = shardings.get(leading + position).cloned();
            }
        }
        let mut of_outputs: Vec<_> = outputs.unwrap_or_default().into_iter().map(Some).collect();
        of_outputs.resize(self.outputs().len(), None);
        Ok(Shards { inputs: self.parts(specs, &of_inputs), outputs: self.parts(self.outputs(), &of_outputs) })
    }

    fn parts(&self, specs: &[TensorSpec], shardings: &[Option<Vec<u8>>]) -> Parts {
        let partitions = self.0.partition_count;
        let mut parts = Parts::new();
        for place in 0..self.device_count() {
            for (spec, sharding) in specs.iter().zip(shardings) {
                let rank = spec.dims.len();
                let part = match (partitions, sharding) {
                    (1, _) => Some(vec![0; rank]), // each device has its own whole arrays
                    (_, None) => None,
                    (_, Some(sharding)) => {
                        hlo_sharding::part_of(sharding, place % partitions, partitions, rank)
                    }
                };
                let begin = |(part, &dim): (u64, &i64)| i64::try_from(part).ok()?.checked_mul(dim);
                parts.push(part.and_then(|part| part.into_iter().zip(&spec.dims).map(begin).collect()));
            }
        }
        parts
    }
}

fn place_of(place: usize, index: usize, count: usize) -> Option<usize> {
    if index < count { place.checked_mul(count)?.checked_add(index) } else { None }
}
