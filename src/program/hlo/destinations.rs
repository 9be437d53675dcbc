//! Destinations in HLO: parameters of the computation that runs, which share their
//! memory with results.

use super::check::LARGEST_NUMBER;
use super::damaged;
use super::flatten::{ALIASES, OTHERS, SHAPE};
use super::module::{Computation, Instruction, Module};
use super::shape::Shape;
use super::wire::{Fields, Malformed, int, message};
use crate::error::Result;
use crate::memory;
use crate::program::destinations::{cannot, choose, fits};

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
    let mut is_free: Vec<bool> = parts.iter().map(is_plain).collect();
    for alias in &module.aliases {
        let place = usize::try_from(alias.result_path.first().copied().unwrap_or(0)).ok();
        if let Some(is_free) = place.and_then(|place| is_free.get_mut(place)) {
            *is_free = false;
        }
    }
    let destinations = choose(results, is_free)?;
    let first_id = free_id(&module).map_err(malformed)?;
    let (mut parameters, mut shapes, mut aliases) = (Vec::new(), Vec::new(), Vec::new());
    for (count, &result) in destinations.iter().enumerate() {
        let (id, position) = (first_id + count as i64, (module.shape.parameters.len() + count) as i64);
        let number = id & 0xffff_ffff;
        if number > LARGEST_NUMBER {
            return Err(cannot("the numbers of its instructions are too large"));
        }
        let (name, shape) = (format!("{NAME}.{number}"), parts[result].write());
        let (name, of_type) = (name.as_bytes(), message(3, &shape));
        let parameter = [message(1, name), message(2, b"parameter"), of_type, int(9, position), int(35, id)];
        parameters.extend(message(2, &parameter.concat()));
        shapes.extend([message(1, &shape), message(3, name)].concat());
        // The only result is in no tuple.
        let path = if module.shape.result.is_tuple() { int(1, result as i64) } else { Vec::new() };
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
    out.extend(shape);
    out.extend(message(ALIASES.into(), &aliases));
    Ok((out, destinations))
}

/// Whether a plugin writes such an array as plain bytes.
fn is_plain(shape: &Shape) -> bool {
    let rank = shape.dims.len();
    shape.dtype().is_some_and(|dtype| fits(dtype, &shape.dims))
        && !shape.is_dynamic
        // Rows first: the last dimension is the fastest.
        && shape.layout.as_ref().is_some_and(|order| {
            order.len() == rank && order.iter().enumerate().all(|(place, &dim)| dim == (rank - 1 - place) as i64)
        })
}

/// A number above those of the instructions of the computation that runs. In older
/// programs all computations count together; in newer ones the upper half of a number is
/// that of its computation.
fn free_id(module: &Module<'_>) -> std::result::Result<i64, Malformed> {
    let (mut largest_of_all, mut largest_of_entry) = (0, 0);
    for bytes in &module.computations {
        let computation = Computation::read(bytes)?;
        let mut largest = 0;
        for bytes in computation.instructions {
            largest = Instruction::read(bytes)?.id.max(largest);
        }
        largest_of_all = largest.max(largest_of_all);
        if computation.id == module.entry_id {
            largest_of_entry = largest;
        }
    }
    let counts_all = largest_of_all >> 32 == 0;
    Ok(if counts_all { largest_of_all } else { largest_of_entry } + 1)
}
