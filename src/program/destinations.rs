//! Programs that write results into memory that the caller chose.
//!
//! A plugin writes a result to memory of its own, except where a parameter that is
//! donated shares its memory with that result. So a program is given such a parameter,
//! which it does not read, for each result: a destination.

mod text;

use std::collections::HashSet;

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
        let mut seen = HashSet::new();
        let wanted: Vec<usize> = results.iter().copied().filter(|&result| seen.insert(result)).collect();
        let code = self.code();
        let (mut bytes, destinations) = match self.contents().encoding {
            Encoding::Text => text::with_destinations(code, &wanted)?,
            Encoding::HloProto if self.contents().tuple_parameters => {
                return Err(cannot("it takes one tuple"));
            }
            Encoding::HloProto => hlo::with_destinations(code, &wanted)?,
            _ => mlir::with_destinations(code, &wanted)?,
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

/// Whether there are results at these positions.
pub(super) fn check_positions(results: &[usize], count: usize) -> Result<()> {
    match results.iter().find(|&&result| result >= count) {
        Some(wrong) => {
            Err(Error::invalid_argument(format!("there is no result {wrong}: the program gives {count}"))
                .hint("results are counted from 0"))
        }
        None => Ok(()),
    }
}

/// Whether a plugin writes an array of this type as plain bytes. `None` is a dim that is
/// not fixed.
pub(super) fn fits(dtype: DType, dims: impl IntoIterator<Item = Option<i64>>) -> bool {
    dtype.is_known_array()
        && !dtype.is_sub_byte()
        && dims.into_iter().all(|dim| dim.is_some_and(|dim| dim > 0))
}

/// Whether an attribute of a module says nothing of each parameter. Those of XLA's own
/// dialects can: which share memory, or how they are divided among devices.
pub(super) fn module_attribute_fits(name: &str) -> bool {
    const PLAIN: [&str; 4] = ["num_partitions", "num_replicas", "frontend_attributes", "is_dynamic"];
    name.strip_prefix("mhlo.").is_none_or(|name| PLAIN.contains(&name)) && !name.starts_with("xla")
}

#[cfg(test)]
mod tests;
