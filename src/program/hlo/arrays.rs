//! What a program takes and gives as arrays: tuples are taken apart.

use std::collections::HashSet;

use super::check::Checked;
use super::module::{Alias, Instruction, Module};
use super::refused;
use super::shape::Shape;
use crate::error::Result;
use crate::program::signature::{Signature, TensorSpec};

/// A longer name is left out where it would stand in the names of many parts.
const LONGEST_NAME: usize = 256;

/// The arrays of a program.
#[derive(Debug, Default)]
pub struct Arrays {
    /// What it takes and gives.
    pub signature: Signature,
    /// Of each input the parameter, and the way to the part of it.
    pub places: Vec<(usize, Vec<i64>)>,
}

impl Arrays {
    /// Whether the one parameter is a tuple of arrays, which plugins take apart.
    pub fn is_one_tuple(&self, module: &Module<'_>) -> bool {
        matches!(&module.shape.parameters[..], [only] if only.is_tuple())
            && self.places.iter().all(|(_, path)| path.len() == 1)
    }

    /// Whether any parameter is a tuple.
    pub fn has_tuples(&self, module: &Module<'_>) -> bool {
        module.shape.parameters.iter().any(Shape::is_tuple)
    }
}

/// Takes the parameters and the result of a program apart.
pub fn read(module: &Module<'_>, checked: &Checked<'_>) -> Result<Arrays> {
    let donors = module.aliases.iter().chain(&module.donors);
    let donated: HashSet<(i64, &[i64])> =
        donors.map(|Alias { parameter, path, .. }| (*parameter, &path[..])).collect();
    let mut arrays = Arrays::default();
    for (index, parameter) in checked.parameters.iter().enumerate() {
        let whole = name(parameter);
        for (path, shape) in leaves(&parameter.shape) {
            let parts: String = path.iter().map(|part| format!("[{part}]")).collect();
            let fits = |name: &&String| path.is_empty() || name.len() <= LONGEST_NAME;
            let name = whole.as_ref().filter(fits).map(|name| format!("{name}{parts}"));
            let what = match path.is_empty() {
                true => format!("input {index}"),
                false => format!("part {parts} of parameter {index}"),
            };
            let is_donated = donated.contains(&(index as i64, &path[..]));
            arrays.signature.inputs.push(spec(shape, &what, name, is_donated)?);
            arrays.places.push((index, path));
        }
    }
    let result = &module.shape.result;
    let results = if result.is_tuple() { &result.parts[..] } else { std::slice::from_ref(result) };
    for (index, shape) in results.iter().enumerate() {
        let output = spec(shape, &format!("result {index}"), None, false)?;
        arrays.signature.outputs.push(output);
    }
    Ok(arrays)
}

/// The parts of a type that are no tuples, with the ways to them.
fn leaves(shape: &Shape) -> Vec<(Vec<i64>, &Shape)> {
    if !shape.is_tuple() {
        return vec![(Vec::new(), shape)];
    }
    let below = |(part, shape)| {
        leaves(shape).into_iter().map(move |(path, leaf)| ([&[part as i64], &path[..]].concat(), leaf))
    };
    shape.parts.iter().enumerate().flat_map(below).collect()
}

/// A parameter's name in the user's program, or its own where a person gave it one.
pub fn name(parameter: &Instruction<'_>) -> Option<String> {
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
