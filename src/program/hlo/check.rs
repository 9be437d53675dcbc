//! Checks of a module that plugins leave out.
//!
//! A plugin follows the numbers in a module: an instruction's number makes it reserve
//! as much memory, a missing order of dimensions or a parameter of another type ends
//! the process.

use std::collections::HashMap;

use super::module::{Alias, Computation, Instruction, Module, ProgramShape};
use super::shape::Shape;
use super::wire::Malformed;

/// Calls in calls; plugins follow them one inside the other.
const DEEPEST_CALL: usize = 128;
/// A plugin makes a table with a place for each number up to the largest; real ones
/// are not much larger than the number of instructions.
const LARGEST_NUMBER: i64 = 1 << 24;

/// What is wrong with a module.
pub type Reason = String;

/// A module that holds together.
#[derive(Debug, Default)]
pub struct Checked<'a> {
    /// The parameters of the computation that runs, in order.
    pub parameters: Vec<Instruction<'a>>,
    /// The targets of the custom calls, sorted.
    pub custom_calls: Vec<&'a str>,
    /// An instruction that only compilers put into programs.
    pub compiled: Option<&'a str>,
}

/// Whether the module holds together.
pub fn check<'a>(module: &Module<'a>) -> Result<Checked<'a>, Reason> {
    let mut checked = Checked::default();
    let mut depths: HashMap<i64, usize> = HashMap::new();
    let mut has_entry = false;
    for bytes in &module.computations {
        let computation = Computation::read(bytes).map_err(malformed)?;
        let what = format!("computation {}", computation.id);
        let in_this = |reason: Reason| format!("{what}: {reason}");
        let parts = check_computation(&computation, &depths, &mut checked).map_err(in_this)?;
        if depths.insert(computation.id, parts.depth).is_some() {
            return Err(format!("two computations have the number {}", computation.id));
        }
        if computation.id == module.entry_id {
            has_entry = true;
            check_entry(module, &parts).map_err(in_this)?;
            checked.parameters = parts.parameters;
        }
    }
    if !has_entry {
        return Err(format!("its entry computation, number {}, is not there", module.entry_id));
    }
    checked.custom_calls.sort_unstable();
    checked.custom_calls.dedup();
    Ok(checked)
}

fn malformed(_: Malformed) -> Reason {
    "it is cut off, or its fields are of the wrong kinds".into()
}

/// What is known of a computation.
struct Parts<'a> {
    /// How many calls are inside each other below it.
    depth: usize,
    parameters: Vec<Instruction<'a>>,
    result: Shape,
}

fn check_computation<'a>(
    computation: &Computation<'a>,
    depths: &HashMap<i64, usize>,
    checked: &mut Checked<'a>,
) -> Result<Parts<'a>, Reason> {
    let mut parts = Parts { depth: 0, parameters: Vec::new(), result: Shape::default() };
    let mut known: HashMap<i64, ()> = HashMap::with_capacity(computation.instructions.len());
    let mut has_root = false;
    for bytes in &computation.instructions {
        let mut instruction = Instruction::read(bytes).map_err(malformed)?;
        let id = instruction.id;
        let in_this = |reason: &str| format!("instruction {id} ({}) {reason}", instruction.opcode);
        if instruction.opcode.is_empty() {
            return Err(in_this("does nothing"));
        }
        if id < 0 || id & 0xffff_ffff > LARGEST_NUMBER {
            return Err(in_this("has a number that is too large"));
        }
        if !instruction.shape.is_sound() {
            return Err(in_this("has a type that contradicts itself"));
        }
        let before = instruction.operands.iter().chain(&instruction.predecessors);
        if let Some(missing) = before.into_iter().find(|id| !known.contains_key(id)) {
            return Err(in_this(&format!("uses the instruction {missing}, which does not stand before it")));
        }
        for called in &instruction.called {
            let Some(depth) = depths.get(called) else {
                return Err(in_this(&format!(
                    "calls the computation {called}, which does not stand before it"
                )));
            };
            parts.depth = parts.depth.max(depth + 1);
        }
        if parts.depth > DEEPEST_CALL {
            return Err(in_this("is the top of too many calls inside each other"));
        }
        if known.insert(id, ()).is_some() {
            return Err(in_this("has the number of another one"));
        }
        match instruction.opcode {
            "custom-call" => checked.custom_calls.push(instruction.target),
            "fusion" | "bitcast" => checked.compiled = Some(instruction.opcode),
            _ => {}
        }
        if id == computation.root_id {
            has_root = true;
            parts.result = instruction.shape.clone();
        }
        if instruction.opcode == "parameter" {
            parts.parameters.push(std::mem::take(&mut instruction));
        }
    }
    if !has_root {
        return Err(format!("its result, instruction {}, is not there", computation.root_id));
    }
    parts.parameters.sort_by_key(|parameter| parameter.parameter_number);
    for (position, parameter) in parts.parameters.iter().enumerate() {
        if parameter.parameter_number != position as i64 {
            return Err(format!(
                "its parameters have numbers that are not 0 to {}",
                parts.parameters.len() - 1
            ));
        }
    }
    check_shape(&computation.shape, &parts)?;
    Ok(parts)
}

/// Whether a computation takes and gives what it says.
fn check_shape(shape: &ProgramShape, parts: &Parts<'_>) -> Result<(), Reason> {
    let same = |one: &Shape, other: &Shape| one.is_like(other) && one.is_sound();
    if shape.parameters.len() != parts.parameters.len() {
        let (said, got) = (shape.parameters.len(), parts.parameters.len());
        return Err(format!("it says that it has {said} parameters, and has {got}"));
    }
    let pairs = shape.parameters.iter().zip(&parts.parameters);
    if let Some(position) = pairs.into_iter().position(|(said, got)| !same(said, &got.shape)) {
        return Err(format!("its parameter {position} has another type than it says"));
    }
    if !same(&shape.result, &parts.result) {
        return Err("its result has another type than it says".into());
    }
    Ok(())
}

fn check_entry(module: &Module<'_>, parts: &Parts<'_>) -> Result<(), Reason> {
    check_shape(&module.shape, parts).map_err(|reason| format!("as the program's entry, {reason}"))?;
    let parameter = |alias: &Alias| {
        let parameter = parts.parameters.get(usize::try_from(alias.parameter).ok()?)?;
        parameter.shape.at(&alias.path).filter(|shape| !shape.is_tuple())
    };
    for alias in module.aliases.iter().chain(&module.donors) {
        if parameter(alias).is_none() {
            return Err(format!(
                "the parameter {} is to be overwritten, which is not there",
                alias.parameter
            ));
        }
    }
    for alias in &module.aliases {
        if parts.result.at(&alias.result_path).is_none_or(Shape::is_tuple) {
            return Err(format!(
                "the parameter {} shares memory with a result that is not there",
                alias.parameter
            ));
        }
    }
    Ok(())
}
