//! Programs in XLA's own form, HLO, as serialized `HloModuleProto`s.

mod arrays;
mod check;
mod destinations;
mod flatten;
mod module;
mod opcodes;
pub(crate) mod proto;
mod recognize;
mod shape;
mod wire;

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::module::{Module, SHARDY};
use super::signature::Signature;
use crate::error::{Code, Error, Origin, Result};

pub use destinations::with_destinations;
pub(crate) use opcodes::host_transfer;
pub use recognize::looks_like_one;

/// What an HLO program says of itself.
#[derive(Debug)]
pub struct HloFacts {
    /// The module, in the bytes that were read: what plugins compile.
    pub module: Range<usize>,
    /// What they compile instead, where they do not take the module's parameters.
    pub rewritten: Option<Vec<u8>>,
    /// Its name.
    pub name: String,
    /// What it takes and gives; parts of tuples on their own.
    pub signature: Signature,
    /// The targets of its custom calls, each once, sorted.
    pub custom_calls: Vec<String>,
    /// Whether its one parameter is a tuple, of which `signature` has the parts.
    pub tuple_parameters: bool,
    /// For how many replicas and partitions it was made, where it says so.
    pub devices: Option<(i64, i64)>,
    /// Whether Shardy is to divide it among devices.
    pub has_shardy: bool,
}

/// Reads a serialized `HloModuleProto`, or one inside of an `HloProto`, an
/// `HloModuleProtoWithConfig` or an `HloSnapshot`, and checks what plugins do not.
pub fn read(bytes: &[u8]) -> Result<HloFacts> {
    let place = recognize::module(bytes).ok_or_else(|| damaged("it is cut off, or no module of HLO"))?;
    let module = Module::read(&bytes[place.range.clone()])
        .map_err(|_| damaged("it is cut off, or its fields are of the wrong kinds"))?;
    let checked = check::check(&module).map_err(|reason| damaged(&reason))?;
    // Of their own work plugins believe that it holds together, and end the process.
    let mark = match checked.compiled {
        Some(opcode) => Some(format!("it has the instruction '{opcode}'")),
        None => module.is_scheduled.then(|| "it says in which order its instructions run".to_owned()),
    };
    if let Some(mark) = mark {
        return Err(refused(format!("the program was compiled before: {mark}"))
            .hint("give the module as it was before; of JAX, lowered.compiler_ir(\"hlo\"), of XLA's dumps, before_optimizations"));
    }
    if let Some(error) = checked.host_transfer {
        return Err(error);
    }
    let arrays = arrays::read(&module, &checked)?;
    let tuple_parameters = arrays.is_one_tuple(&module);
    let rewritten = match tuple_parameters || !arrays.has_tuples(&module) {
        true => None,
        false => Some(flatten::rewrite(&bytes[place.range.clone()], &module, checked.last_id, &arrays)?),
    };
    Ok(HloFacts {
        module: place.range,
        rewritten,
        name: module.name.to_owned(),
        signature: arrays.signature,
        custom_calls: checked.custom_calls.iter().map(|target| (*target).to_owned()).collect(),
        tuple_parameters,
        devices: place.devices.or(module.devices),
        has_shardy: module.has_shardy || checked.custom_calls.iter().any(|target| target.starts_with(SHARDY)),
    })
}

fn damaged(reason: &str) -> Error {
    Error::invalid_argument(format!("the program is a damaged HLO proto: {reason}"))
        .hint("write the file again; if it was copied, compare the sizes")
}

fn refused(message: String) -> Error {
    Error::new(Code::Unimplemented, Origin::Library, message)
}
