//! Checks of a module that plugins leave out.
//!
//! A plugin follows the numbers in a module: an instruction's number makes it reserve
//! as much memory, a missing order of dimensions or a parameter of another type ends
//! the process.

use std::collections::{HashMap, HashSet};

use super::module::{Alias, Computation, Instruction, Module, ProgramShape};
use super::opcodes;
use super::shape::Shape;
use super::wire::Malformed;
use crate::error::Error;
use crate::order;

/// Calls in calls; plugins follow them one inside the other.
const DEEPEST_CALL: usize = 128;
/// A plugin makes a table with a place for each number up to the largest; real ones
/// are not much larger than the number of instructions.
pub const LARGEST_NUMBER: i64 = 1 << 24;

/// Plugins copy a computation for each place that calls it: two calls in each of
/// twenty computations make a million copies. So many instructions more than there
/// are, with the second number of them in all, are taken for that.
const MOST_COPIES: u64 = 1000;
const MANY: u64 = 1 << 16;

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
    /// That an instruction waits for the host while the program runs.
    pub host_transfer: Option<Error>,
    /// The largest number of a computation.
    pub last_id: i64,
}

/// Whether the module holds together.
pub fn check<'a>(module: &Module<'a>) -> Result<Checked<'a>, Reason> {
    let mut checked = Checked::default();
    let mut callees: HashMap<i64, Callee> = HashMap::new();
    let mut has_entry = false;
    let mut count = 0;
    for bytes in &module.computations {
        let computation = Computation::read(bytes).map_err(malformed)?;
        let what = format!("computation {}", computation.id);
        if !(0..i64::from(i32::MAX)).contains(&computation.id) {
            return Err(format!("{what}: its number is not one of 31 bits"));
        }
        checked.last_id = checked.last_id.max(computation.id);
        let in_this = |reason: Reason| format!("{what}: {reason}");
        let parts = check_computation(&computation, &callees, &mut checked).map_err(in_this)?;
        count += computation.instructions.len() as u64;
        if parts.callee.expanded > MANY && parts.callee.expanded / MOST_COPIES > count {
            return Err(in_this("its calls of calls come to too many instructions".into()));
        }
        if callees.insert(computation.id, parts.callee).is_some() {
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
    order::sort(&mut checked.custom_calls);
    checked.custom_calls.dedup();
    Ok(checked)
}

fn malformed(_: Malformed) -> Reason {
    "it is cut off, or its fields are of the wrong kinds".into()
}

/// What those that call a computation have to know of it.
#[derive(Clone, Copy, Default)]
struct Callee {
    /// How many calls are inside each other below it.
    depth: usize,
    /// How many parameters it has.
    parameters: usize,
    /// How many instructions it has, with those that it calls.
    expanded: u64,
}

/// What is known of a computation.
#[derive(Default)]
struct Parts<'a> {
    callee: Callee,
    parameters: Vec<Instruction<'a>>,
    result: Shape,
}

fn check_computation<'a>(
    computation: &Computation<'a>,
    callees: &HashMap<i64, Callee>,
    checked: &mut Checked<'a>,
) -> Result<Parts<'a>, Reason> {
    let mut parts = Parts::default();
    let mut known = HashSet::new();
    let mut has_root = false;
    for bytes in &computation.instructions {
        let instruction = Instruction::read(bytes).map_err(malformed)?;
        let in_this = |reason| format!("instruction {} ({}) {reason}", instruction.id, instruction.opcode);
        check_instruction(&instruction, &known).map_err(in_this)?;
        add_calls(&mut parts.callee, &instruction, callees).map_err(in_this)?;
        known.insert(instruction.id);
        match instruction.opcode {
            "custom-call" => checked.custom_calls.push(instruction.target),
            "fusion" | "bitcast" => checked.compiled = Some(instruction.opcode),
            opcode => checked.host_transfer = checked.host_transfer.take().or(opcodes::host_transfer(opcode)),
        }
        if instruction.id == computation.root_id {
            has_root = true;
            parts.result = instruction.shape.clone();
        }
        if instruction.opcode == "parameter" {
            parts.parameters.push(instruction);
        }
    }
    if !has_root {
        return Err(format!("its result, instruction {}, is not there", computation.root_id));
    }
    order::sort_by(&mut parts.parameters, |one, other| one.parameter_number < other.parameter_number);
    for (position, parameter) in parts.parameters.iter().enumerate() {
        if parameter.parameter_number != position as i64 {
            let last = parts.parameters.len() - 1;
            return Err(format!("its parameters have numbers that are not 0 to {last}"));
        }
    }
    parts.callee.parameters = parts.parameters.len();
    check_shape(&computation.shape, &parts)?;
    Ok(parts)
}

/// Whether an instruction holds together; `known` are those before it.
fn check_instruction(instruction: &Instruction<'_>, known: &HashSet<i64>) -> Result<(), Reason> {
    let id = instruction.id;
    if instruction.opcode.is_empty() {
        return Err("does nothing".into());
    }
    if id < 0 || id & 0xffff_ffff > LARGEST_NUMBER {
        return Err("has a number that is too large".into());
    }
    if known.contains(&id) {
        return Err("has the number of another one".into());
    }
    if !instruction.shape.is_sound() {
        return Err("has a type that contradicts itself".into());
    }
    let mut before = instruction.operands.iter().chain(&instruction.predecessors);
    if let Some(missing) = before.find(|id| !known.contains(id)) {
        return Err(format!("uses the instruction {missing}, which does not stand before it"));
    }
    if opcodes::is_whole(instruction) { Ok(()) } else { Err("lacks a part, or has one too many".into()) }
}

/// Adds what an instruction calls to what is known of the computation around it.
fn add_calls(
    around: &mut Callee,
    instruction: &Instruction<'_>,
    callees: &HashMap<i64, Callee>,
) -> Result<(), Reason> {
    around.expanded = around.expanded.saturating_add(1);
    for id in &instruction.called {
        let called = callees.get(id);
        let called =
            called.ok_or_else(|| format!("calls the computation {id}, which does not stand before it"))?;
        around.depth = around.depth.max(called.depth + 1);
        around.expanded = around.expanded.saturating_add(called.expanded);
        let given = match instruction.opcode {
            "call" => instruction.operands.len(),
            "while" | "conditional" => 1,
            _ => continue,
        };
        if called.parameters != given {
            return Err(format!("gives {given} values to a computation that takes {}", called.parameters));
        }
    }
    if around.depth > DEEPEST_CALL {
        return Err("is the top of too many calls inside each other".into());
    }
    Ok(())
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
