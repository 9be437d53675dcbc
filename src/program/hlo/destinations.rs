//! Destinations in HLO: parameters of the computation that runs, which share their
//! memory with results.

use std::collections::HashSet;

use super::check::LARGEST_NUMBER;
use super::damaged;
use super::flatten::{ALIASES, OTHERS, SHAPE};
use super::module::{Computation, Instruction, Module};
use super::shape::Shape;
use super::wire::{Fields, Malformed, int, message};
use crate::error::Result;
use crate::memory;
use crate::program::destinations::{cannot, check_positions, fits};

/// The name of a destination begins so.
const NAME: &str = "cyxla_destination";
/// The field of a module that computations stand in.
const COMPUTATION: u32 = 3;
/// That a result takes the memory of a parameter, where that is donated.
const MAY_ALIAS: i64 = 1;

/// The same module with destinations for those of the results that can have one, and
/// which these are.
pub fn with_destinations(code: &[u8], results: &[usize]) -> Result<(Vec<u8>, Vec<usize>)> {
    let malformed = |Malformed| damaged("its fields are of the wrong kinds");
    let module = Module::read(code).map_err(malformed)?;
    let result = &module.shape.result;
    let parts = if result.is_tuple() { &result.parts[..] } else { std::slice::from_ref(result) };
    check_positions(results, parts.len())?;
    let path = |result: usize| if module.shape.result.is_tuple() { vec![result as i64] } else { Vec::new() };
    let aliased: HashSet<&[i64]> = module.aliases.iter().map(|alias| &alias.result_path[..]).collect();
    let takes = |&result: &usize| is_plain(&parts[result]) && !aliased.contains(&path(result)[..]);
    let destinations: Vec<usize> = results.iter().copied().filter(takes).collect();
    let first_id = free_id(&module).map_err(malformed)?;
    let (mut parameters, mut shapes, mut aliases) = (Vec::new(), Vec::new(), Vec::new());
    for (count, &result) in destinations.iter().enumerate() {
        let (id, position) = (first_id + count as i64, module.shape.parameters.len() + count);
        if id & 0xffff_ffff > LARGEST_NUMBER {
            return Err(cannot("the numbers of its instructions are too large"));
        }
        let (name, shape) = (format!("{NAME}.{}", id & 0xffff_ffff), parts[result].write());
        let position = position as i64;
        let head = [message(1, name.as_bytes()), message(2, b"parameter"), message(3, &shape)].concat();
        parameters.extend(message(2, &[head, int(9, position), int(35, id)].concat()));
        shapes.extend([message(1, &shape), message(3, name.as_bytes())].concat());
        let path: Vec<u8> = path(result).iter().flat_map(|&part| int(1, part)).collect();
        aliases.extend(message(1, &[path, int(2, position), int(4, MAY_ALIAS)].concat()));
    }
    if destinations.is_empty() {
        return Ok((code.to_vec(), destinations));
    }
    // Where a message stands in a field twice, the second adds to the first.
    let shape = message(SHAPE.into(), &shapes);
    let mut out = memory::room(code.len() + parameters.len() + 2 * shape.len() + aliases.len() + 32)?;
    let mut fields = Fields::of(code);
    loop {
        let start = code.len() - fields.left();
        let Some((number, content)) = fields.next().map_err(malformed)? else { break };
        if OTHERS.contains(&number) {
            return Err(cannot(&format!("it has the field {number}")));
        }
        let computation = if number == COMPUTATION { content.bytes().map_err(malformed)? } else { b"" };
        if number == COMPUTATION && Computation::read(computation).map_err(malformed)?.id == module.entry_id {
            out.extend(message(COMPUTATION.into(), &[computation, &parameters, &shape].concat()));
        } else {
            out.extend_from_slice(&code[start..code.len() - fields.left()]);
        }
    }
    out.extend([shape, message(ALIASES.into(), &aliases)].concat());
    Ok((out, destinations))
}

/// Whether a plugin writes such an array as plain bytes.
fn is_plain(shape: &Shape) -> bool {
    let rows_first = (0..shape.dims.len() as i64).rev();
    shape.dtype().is_some_and(|dtype| fits(dtype, shape.dims.iter().copied().map(Some)))
        && !shape.is_dynamic
        && shape.layout.as_ref().is_some_and(|order| rows_first.eq(order.iter().copied()))
}

/// A number above those of the instructions of the computation that runs. In older
/// programs all computations count together; in newer ones the upper half of a number is
/// that of its computation.
fn free_id(module: &Module<'_>) -> std::result::Result<i64, Malformed> {
    let mut computations = Vec::new();
    for bytes in &module.computations {
        let computation = Computation::read(bytes)?;
        let mut ids = Vec::with_capacity(computation.instructions.len());
        for bytes in computation.instructions {
            ids.push(Instruction::read(bytes)?.id);
        }
        computations.push((computation.id, ids));
    }
    let entry = computations.iter().find(|(id, _)| *id == module.entry_id);
    let largest = entry.and_then(|(_, ids)| ids.iter().max()).copied().unwrap_or(0);
    let all = computations.iter().flat_map(|(_, ids)| ids);
    Ok(all.copied().filter(|id| id >> 32 == largest >> 32).max().unwrap_or(largest) + 1)
}
