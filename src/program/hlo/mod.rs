//! Programs in XLA's own form, HLO, as serialized `HloModuleProto`s.

mod check;
mod module;
pub(crate) mod proto;
mod recognize;
mod shape;
mod wire;

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::check::Checked;
use self::module::{Alias, Instruction, Module, SHARDY};
use self::shape::Shape;
use super::signature::{Signature, TensorSpec};
use crate::error::{Code, Error, Origin, Result};

pub use recognize::looks_like_one;

/// What an HLO program says of itself.
#[derive(Debug)]
pub struct HloFacts {
    /// The module, in the bytes that were read: what plugins compile.
    pub module: Range<usize>,
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
    let (signature, tuple_parameters) = signature(&module, &checked)?;
    Ok(HloFacts {
        module: place.range,
        name: module.name.to_owned(),
        signature,
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

/// What the program takes and gives as arrays, and whether its one parameter is a tuple.
fn signature(module: &Module<'_>, checked: &Checked<'_>) -> Result<(Signature, bool)> {
    let donated = |parameter: usize, part: Option<usize>| {
        let is_it = |alias: &Alias| {
            let path = part.map(|part| part as i64);
            alias.parameter == parameter as i64 && alias.path.first().copied() == path
        };
        module.aliases.iter().chain(&module.donors).any(is_it)
    };
    let has_tuple = matches!(&checked.parameters[..], [only] if only.shape.is_tuple());
    let mut inputs = Vec::new();
    for (index, parameter) in checked.parameters.iter().enumerate() {
        let name = name(parameter);
        if !has_tuple {
            if parameter.shape.is_tuple() {
                return Err(refused(format!(
                    "the program takes {} parameters, of which parameter {index} is a tuple; libcyxla passes arrays, or the parts of one tuple",
                    checked.parameters.len()
                ))
                .hint("make the parts parameters of their own, or all parameters parts of one tuple"));
            }
            inputs.push(spec(&parameter.shape, &format!("input {index}"), name, donated(index, None))?);
            continue;
        }
        for (part, shape) in parameter.shape.parts.iter().enumerate() {
            let name = name.as_ref().map(|name| format!("{name}[{part}]"));
            let what = format!("input {part} (part {part} of its tuple)");
            inputs.push(spec(shape, &what, name, donated(0, Some(part)))?);
        }
    }
    let result = &module.shape.result;
    let results = if result.is_tuple() { &result.parts[..] } else { std::slice::from_ref(result) };
    let outputs = results.iter().enumerate();
    let outputs = outputs.map(|(index, shape)| spec(shape, &format!("result {index}"), None, false));
    Ok((Signature { inputs, outputs: outputs.collect::<Result<_>>()? }, has_tuple))
}

/// A parameter's name in the user's program, or its own where a person gave it one.
fn name(parameter: &Instruction<'_>) -> Option<String> {
    if !parameter.op_name.is_empty() {
        return Some(String::from_utf8_lossy(parameter.op_name).into_owned());
    }
    // XLA numbers names: x.1 was x. Those that it makes up itself tell nothing.
    let name = parameter.name;
    let name = name.rsplit_once('.').filter(|(_, tail)| is_number(tail)).map_or(name, |(name, _)| name);
    let made_up = ["Arg_", "arg", "param", "param_", "parameter", "parameter_", "p"];
    let is_made_up = made_up.iter().any(|prefix| name.strip_prefix(prefix).is_some_and(is_number))
        || ["", "param", "parameter"].contains(&name);
    (!is_made_up).then(|| name.to_owned())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn spec(shape: &Shape, what: &str, name: Option<String>, is_donated: bool) -> Result<TensorSpec> {
    let Some(dtype) = shape.dtype() else {
        let error =
            refused(format!("{what} of the program is {}; programs take and give arrays", shape.kind()));
        return Err(match shape.is_tuple() {
            true => error.hint("plugins run no tuples inside of tuples: give their parts on their own"),
            false => error,
        });
    };
    if shape.is_dynamic {
        return Err(refused(format!("{what} of the program has a dynamic shape"))
            .hint("export the program with fixed shapes"));
    }
    TensorSpec::new(name, dtype, shape.dims.clone(), is_donated)
        .map_err(|error| error.map_message(|message| format!("{what} of the program: {message}")))
}
