//! Programs that write results into memory that the caller chose.
//!
//! A plugin writes a result to memory of its own, except where a parameter that is
//! donated shares its memory with that result. So a program is given such a parameter,
//! which it does not read, for each result: a destination.

mod text;

use super::{Encoding, Program, hlo, mlir};
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};
use crate::memory;

/// A program with destinations.
#[derive(Debug)]
pub struct Rewritten {
    /// With a NUL at the end that is not part of the program.
    bytes: Vec<u8>,
    /// The results that have a destination, in the order of these.
    pub destinations: Vec<usize>,
}

impl Rewritten {
    /// What a plugin compiles, in the form that [`Program::code_format`] tells.
    pub fn code(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - 1]
    }
}

impl Program {
    /// The program with a destination for each of `results`, by their positions: a
    /// parameter behind all others, of the result's type.
    ///
    /// Left out is a result that shares memory with an input already, and one that a
    /// plugin might not write as plain bytes: of a size that is not fixed or 0, of
    /// elements below a byte, or of another layout than the usual one.
    pub fn with_destinations(&self, results: &[usize]) -> Result<Rewritten> {
        if self.contents().device_count.is_some_and(|count| count != 1) {
            return Err(cannot("it is for several devices"));
        }
        let (contents, code) = (self.contents(), self.code());
        let outputs = contents.function.as_ref().map(|(_, outputs)| &outputs[..]);
        let (mut bytes, destinations) = match contents.encoding {
            Encoding::Text => text::with_destinations(code, outputs, results)?,
            Encoding::HloProto if contents.tuple_parameters => return Err(cannot("it takes one tuple")),
            Encoding::HloProto => hlo::with_destinations(code, results)?,
            _ => mlir::with_destinations(code, results)?,
        };
        memory::push(&mut bytes, 0)?;
        Ok(Rewritten { bytes, destinations })
    }
}

/// Why a program gets no destinations.
pub(super) fn cannot(why: &str) -> Error {
    let message = format!("this version cannot give the program destinations for its results: {why}");
    Error::new(Code::Unimplemented, Origin::Library, message)
        .hint("have the results copied to where they are wanted")
}

/// Those of the results that are free to get a destination, each once.
pub(super) fn choose(results: &[usize], mut is_free: Vec<bool>) -> Result<Vec<usize>> {
    let mut chosen = Vec::with_capacity(results.len());
    for &result in results {
        let Some(is_free) = is_free.get_mut(result) else {
            let message = format!("there is no result {result}: the program gives {}", is_free.len());
            return Err(Error::invalid_argument(message).hint("results are counted from 0"));
        };
        if std::mem::take(is_free) {
            chosen.push(result);
        }
    }
    Ok(chosen)
}

/// Whether a plugin writes arrays of this type as plain bytes. A dim that is not
/// fixed is below 0.
pub(super) fn fits(dtype: DType, dims: &[i64]) -> bool {
    dtype.is_known_array() && !dtype.is_sub_byte() && dims.iter().all(|&dim| dim > 0)
}

/// Whether an attribute of a module says nothing of each parameter. Those of XLA's own
/// dialects can: which share memory, or how they are divided among devices.
pub(super) fn module_attribute_fits(name: &str) -> bool {
    const PLAIN: [&str; 4] = ["num_partitions", "num_replicas", "frontend_attributes", "is_dynamic"];
    name.strip_prefix("mhlo.").is_none_or(|name| PLAIN.contains(&name)) && !name.starts_with("xla")
}

#[cfg(test)]
mod tests;
