//! Gives a program an entry of arrays, where its own takes tuples.
//!
//! Plugins take apart one parameter that is a tuple of arrays. Other tuples end the
//! process. A new entry takes all arrays on their own, puts the tuples together and
//! calls the old one.

use std::collections::HashMap;

use super::arrays::Arrays;
use super::module::{Alias, Module};
use super::shape::Shape;
use super::wire::{Fields, int, message};
use super::{damaged, refused};
use crate::error::Result;
use crate::memory;

/// The name of the new entry and of its instructions.
const NAME: &str = "cyxla_entry";

/// Fields of the module that the new entry replaces.
pub const SHAPE: u32 = 4;
pub const ALIASES: u32 = 8;
const DONORS: u32 = 18;
/// Fields that name parameters in ways that are not known here: what is fetched
/// before a program runs, and how a divided program is divided.
pub const OTHERS: [u32; 3] = [10, 12, 14];

/// The module in `bytes` with an entry that takes the arrays of `arrays`; `last_id` is
/// the largest number of a computation.
pub fn rewrite(bytes: &[u8], module: &Module<'_>, last_id: i64, arrays: &Arrays) -> Result<Vec<u8>> {
    let added = Entry::new(module, last_id + 1).fields(module, arrays);
    let mut code = memory::room(bytes.len() + added.len())?;
    let mut fields = Fields::of(bytes);
    loop {
        let start = bytes.len() - fields.left();
        let Some((number, _)) = fields.next().map_err(|_| damaged("it is cut off"))? else { break };
        if OTHERS.contains(&number) {
            return Err(refused(format!(
                "the program takes tuples besides other parameters, and has the field {number}, with which libcyxla cannot take them apart"
            ))
            .hint("make the parts of the tuples parameters of their own"));
        }
        if ![SHAPE, ALIASES, DONORS].contains(&number) {
            code.extend_from_slice(&bytes[start..bytes.len() - fields.left()]);
        }
    }
    code.extend(added);
    Ok(code)
}

/// The new entry in the making.
struct Entry<'a> {
    id: i64,
    body: Vec<u8>,
    /// The number of the last instruction.
    last: i64,
    parameters: Vec<&'a Shape>,
}

impl<'a> Entry<'a> {
    fn new(module: &'a Module<'_>, id: i64) -> Entry<'a> {
        let mut entry = Entry { id, body: Vec::new(), last: id << 32, parameters: Vec::new() };
        let operands: Vec<i64> = module.shape.parameters.iter().map(|shape| entry.value(shape)).collect();
        entry.add("call", &module.shape.result, &operands, &int(38, module.entry_id));
        entry
    }

    /// What makes the module run this entry: the fields that it replaces, and itself.
    fn fields(self, module: &Module<'_>, arrays: &Arrays) -> Vec<u8> {
        let positions: HashMap<(i64, &[i64]), i64> = (arrays.places.iter().enumerate())
            .map(|(position, (parameter, path))| ((*parameter as i64, &path[..]), position as i64))
            .collect();
        let position = |alias: &Alias| positions.get(&(alias.parameter, &alias.path[..])).copied();
        let aliases = module.aliases.iter().filter_map(|alias| {
            let path: Vec<u8> = alias.result_path.iter().flat_map(|&part| int(1, part)).collect();
            Some(message(1, &[path, int(2, position(alias)?), int(4, alias.kind)].concat()))
        });
        let donors = module.donors.iter().filter_map(|alias| Some(message(1, &int(1, position(alias)?))));
        let names = (0..self.parameters.len()).flat_map(|index| message(3, format!("p{index}").as_bytes()));
        let shapes = self.parameters.iter().flat_map(|shape| message(1, &shape.write()));
        let shape: Vec<u8> = shapes.chain(message(2, &module.shape.result.write())).chain(names).collect();
        let tail = [message(4, &shape), int(5, self.id), int(6, self.last)].concat();
        // Of a field that stands in a message twice the last one counts.
        [
            message(2, NAME.as_bytes()),
            message(3, &[message(1, NAME.as_bytes()), self.body, tail].concat()),
            message(SHAPE.into(), &shape),
            int(6, self.id),
            message(ALIASES.into(), &aliases.flatten().collect::<Vec<u8>>()),
            message(DONORS.into(), &donors.flatten().collect::<Vec<u8>>()),
        ]
        .concat()
    }

    /// Adds instructions that make a value of this type, and gives the last one's number.
    fn value(&mut self, shape: &'a Shape) -> i64 {
        if shape.is_tuple() {
            let operands: Vec<i64> = shape.parts.iter().map(|part| self.value(part)).collect();
            return self.add("tuple", shape, &operands, b"");
        }
        let position = self.parameters.len() as i64;
        self.parameters.push(shape);
        self.add("parameter", shape, &[], &int(9, position))
    }

    fn add(&mut self, opcode: &str, shape: &Shape, operands: &[i64], more: &[u8]) -> i64 {
        self.last += 1;
        let name = format!("{NAME}.{}", self.last & 0xffff_ffff);
        let operands: Vec<u8> = operands.iter().flat_map(|&id| int(36, id)).collect();
        let head = [message(1, name.as_bytes()), message(2, opcode.as_bytes()), message(3, &shape.write())];
        let parts = [&head.concat()[..], more, &int(35, self.last), &operands];
        self.body.extend(message(2, &parts.concat()));
        self.last
    }
}
