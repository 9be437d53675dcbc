//! Files of `jax.export`: what `Exported.serialize()` writes.
//!
//! A file is a FlatBuffer around a program in MLIR bytecode. It says what the program
//! does not: how arguments and results are nested, which arguments were dropped, for
//! which platforms it is. JAX numbers its schema's versions: 2 (JAX 0.4.30 to 0.8.1),
//! 5 to 11 (0.8.2 to 0.11), 12 (after that); files from before 12 all claim to be 2
//! or 3. Each version adds fields at the end and stops writing others, so that this
//! reader takes what it finds instead of going by the number.

mod aval;
mod detect;
mod flat;
mod repr;
mod sharding;
mod tree;
mod values;

use std::fmt;
use std::ops::Range;

pub use aval::{Aval, AvalType, Dim, MemorySpace};
pub use detect::looks_like_one;
pub use sharding::Sharding;
pub use tree::Tree;

use crate::error::{Code, Error, Origin, Result};
use crate::platform;
use flat::{Field, Flat, Table, damaged};
use repr::{plain, shorten};
use values::{INPUTS, OUTPUTS, Uniques};

/// The newest version of the schema that is known here.
const NEWEST: u16 = 12;
/// What MLIR bytecode begins with.
const BYTECODE: &[u8] = b"ML\xefR";

// Exported; those about inputs and outputs are in `values`.
const SERIALIZATION_VERSION: Field = Field(0, "serialization_version");
const FUNCTION_NAME: Field = Field(1, "function_name");
const NR_DEVICES_SHORT: Field = Field(6, "nr_devices_short");
const PLATFORMS: Field = Field(9, "platforms");
const ORDERED_EFFECTS: Field = Field(10, "ordered_effects");
const UNORDERED_EFFECTS: Field = Field(11, "unordered_effects");
const DISABLED_CHECKS: Field = Field(12, "disabled_checks");
const MLIR_MODULE_SERIALIZED: Field = Field(13, "mlir_module_serialized");
const CALLING_CONVENTION_VERSION: Field = Field(14, "calling_convention_version");
const MODULE_KEPT_VAR_IDX: Field = Field(15, "module_kept_var_idx");
const USES_GLOBAL_CONSTANTS: Field = Field(16, "uses_global_constants");
const VJP: Field = Field(17, "vjp");
const NR_DEVICES: Field = Field(18, "nr_devices");
const JAX_VERSION: Field = Field(26, "jax_version");
// Effect and DisabledSafetyCheck
const TYPE_NAME: Field = Field(0, "the type of an effect");
const CHECK_KIND: Field = Field(0, "the kind of a disabled check");
const CUSTOM_CALL_TARGET: Field = Field(1, "the custom call of a disabled check");

/// An exported function: what its file says beside the program inside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// The Python function's name.
    pub function_name: String,
    /// The version of the schema, as the file claims it: 2, 3 or from 12 on the true one.
    pub serialization_version: u16,
    /// What the program inside expects of its caller, see JAX's `export`.
    pub calling_convention_version: u16,
    /// The version of JAX that wrote the file, when it says so.
    pub jax_version: Option<String>,
    /// The platforms that the program was lowered for, never none. A program for
    /// several takes the position of its own in this list as first argument.
    pub platforms: Vec<String>,
    /// How the arguments are nested: a tuple of the positional ones and a dict.
    pub in_tree: Tree,
    /// How the results are nested.
    pub out_tree: Tree,
    /// The leaves of `in_tree`, with those that the program does not take.
    pub inputs: Vec<Aval>,
    /// The leaves of `out_tree`.
    pub outputs: Vec<Aval>,
    /// How many devices the program runs on at once.
    pub device_count: u32,
    /// The positions in `inputs` that the program takes, ascending.
    pub kept_inputs: Vec<usize>,
    /// The types of the effects that the program takes and returns tokens for.
    pub ordered_effects: Vec<String>,
    /// The types of the other effects.
    pub unordered_effects: Vec<String>,
    /// What the exporter was told not to check.
    pub disabled_checks: Vec<DisabledCheck>,
    /// Whether the program takes the platform index or variables of its dimensions.
    pub uses_global_constants: bool,
    /// Where the program's MLIR bytecode is in the file.
    pub module: Range<usize>,
    /// Where the gradient's function is in the file, for [`read_at`]; always further
    /// on than this one.
    pub vjp: Option<usize>,
}

/// A check that the exporter was told to leave out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DisabledCheck {
    /// That the program runs on a platform that it was lowered for.
    Platform,
    /// That JAX promises to keep this custom call working.
    CustomCall(String),
    /// That the dimensions satisfy their constraints.
    ShapeAssertions,
    /// A check that came after this library, by its number in the schema.
    Unknown(i8),
}

impl fmt::Display for DisabledCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DisabledCheck::Platform => f.write_str("platform"),
            DisabledCheck::CustomCall(target) => write!(f, "custom call {target}"),
            DisabledCheck::ShapeAssertions => f.write_str("shape assertions"),
            DisabledCheck::Unknown(number) => write!(f, "unknown<{number}>"),
        }
    }
}

/// Reads the function that a file is about. The program inside is only found, not
/// read.
pub fn read(bytes: &[u8]) -> Result<Export> {
    let flat = Flat::new(bytes);
    read_table(flat.root()?, bytes)
}

/// Reads the function whose table is at `position`, an [`Export::vjp`].
pub fn read_at(bytes: &[u8], position: usize) -> Result<Export> {
    let flat = Flat::new(bytes);
    read_table(flat.table(position, VJP.1)?, bytes)
}

fn read_table(table: Table<'_>, bytes: &[u8]) -> Result<Export> {
    let version = table.u16(SERIALIZATION_VERSION)?;
    read_fields(table, bytes, version).map_err(|error| {
        if version <= NEWEST {
            return error;
        }
        // What looks like damage is more likely a change of the schema.
        let message = format!(
            "cannot read the jax.export file of serialization version {version}, newer than {NEWEST}: {}",
            error.message()
        );
        Error::new(Code::Unimplemented, Origin::Library, message)
            .hint("update libcyxla, or export with an older JAX")
    })
}

fn read_fields(table: Table<'_>, bytes: &[u8], serialization_version: u16) -> Result<Export> {
    let uniques = Uniques::read(table)?;
    let in_tree = INPUTS.tree(table)?;
    let mut inputs = INPUTS.values(table, &in_tree, &uniques)?;
    for (input, path) in inputs.iter_mut().zip(in_tree.argument_paths(table.flat())?) {
        input.path = path;
    }
    let out_tree = OUTPUTS.tree(table)?;
    let mut outputs = OUTPUTS.values(table, &out_tree, &uniques)?;
    for (output, path) in outputs.iter_mut().zip(out_tree.result_paths(table.flat())?) {
        output.path = path;
    }
    let module = table.range(MLIR_MODULE_SERIALIZED)?;
    if !bytes.get(module.clone()).is_some_and(|module| module.starts_with(BYTECODE)) {
        return Err(damaged("it has no MLIR bytecode inside"));
    }
    let function_name = table.string(FUNCTION_NAME)?.ok_or_else(|| damaged("it has no function_name"))?;
    let checks = table.list(DISABLED_CHECKS)?.tables();
    Ok(Export {
        function_name: plain(function_name),
        serialization_version,
        calling_convention_version: table.u16(CALLING_CONVENTION_VERSION)?,
        jax_version: table.string(JAX_VERSION)?.map(plain),
        platforms: platforms(table)?,
        kept_inputs: kept_inputs(table, inputs.len())?,
        in_tree,
        out_tree,
        inputs,
        outputs,
        device_count: device_count(table)?,
        ordered_effects: effects(table, ORDERED_EFFECTS)?,
        unordered_effects: effects(table, UNORDERED_EFFECTS)?,
        disabled_checks: checks.map(|check| disabled_check(check?)).collect::<Result<_>>()?,
        uses_global_constants: table.i8(USES_GLOBAL_CONSTANTS)? != 0,
        module,
        vjp: table.table(VJP)?.map(|vjp| vjp.position()),
    })
}

fn platforms(table: Table<'_>) -> Result<Vec<String>> {
    let names: Vec<&str> = table.list(PLATFORMS)?.strings().collect::<Result<_>>()?;
    if names.is_empty() {
        return Err(damaged("it is for no platform"));
    }
    // A program for several takes the position of its own, which has to be one.
    if let Some(twice) = (1..names.len()).find(|&index| names[..index].contains(&names[index])) {
        return Err(damaged(format_args!("its platform {} is there twice", shorten(names[twice]))));
    }
    match names.iter().find(|name| platform::check_name(name).is_err()) {
        Some(name) => Err(damaged(format_args!("{} is no name of a platform", shorten(name)))),
        None => Ok(names.into_iter().map(str::to_owned).collect()),
    }
}

fn kept_inputs(table: Table<'_>, input_count: usize) -> Result<Vec<usize>> {
    let kept: Vec<usize> = table.u16s(MODULE_KEPT_VAR_IDX)?.map(usize::from).collect();
    if !kept.is_sorted_by(|one, next| one < next) {
        return Err(damaged("module_kept_var_idx is not ascending"));
    }
    match kept.last() {
        Some(last) if *last >= input_count => {
            Err(damaged(format_args!("module_kept_var_idx refers to input {last} of {input_count}")))
        }
        _ => Ok(kept),
    }
}

/// Of 32 bits; before 2025-11 of 16, with a sign.
fn device_count(table: Table<'_>) -> Result<u32> {
    let count = match table.u32(NR_DEVICES)? {
        0 => u32::from(table.u16(NR_DEVICES_SHORT)?),
        count => return Ok(count),
    };
    if (1..0x8000).contains(&count) { Ok(count) } else { Err(damaged("it is for no number of devices")) }
}

fn effects(table: Table<'_>, field: Field) -> Result<Vec<String>> {
    let read = |effect: Table<'_>| {
        let name = effect.string(TYPE_NAME)?.ok_or_else(|| damaged("an effect has no type"))?;
        // JAX writes what Python shows of the type: <class 'jax.Effect'>
        let name = name.strip_prefix("<class '").and_then(|name| name.strip_suffix("'>")).unwrap_or(name);
        Ok(plain(name))
    };
    table.list(field)?.tables().map(|effect| read(effect?)).collect()
}

fn disabled_check(table: Table<'_>) -> Result<DisabledCheck> {
    Ok(match table.i8(CHECK_KIND)? {
        0 => DisabledCheck::Platform,
        1 => {
            let target = table.string(CUSTOM_CALL_TARGET)?;
            DisabledCheck::CustomCall(plain(
                target.ok_or_else(|| damaged("a disabled check names no custom call"))?,
            ))
        }
        2 => DisabledCheck::ShapeAssertions,
        other => DisabledCheck::Unknown(other),
    })
}

#[cfg(test)]
mod tests;
