//! A module of HLO as it stands in memory: what there is of it, and where.

use memchr::memmem;

use super::shape::Shape;
use super::wire::{Content, Fields, Malformed};

/// Of parameters and computations alike; real programs have some thousands.
const MOST: usize = 1 << 20;

/// What Shardy's names begin with.
pub const SHARDY: &str = "xla.sdy.";

/// A program in HLO.
#[derive(Debug, Default)]
pub struct Module<'a> {
    /// Its name.
    pub name: &'a str,
    /// The computation that runs.
    pub entry_id: i64,
    /// Its computations, those that are called before those that call.
    pub computations: Vec<&'a [u8]>,
    /// What it takes and gives.
    pub shape: ProgramShape,
    /// Whether it says in which order its instructions run: it was compiled before.
    pub is_scheduled: bool,
    /// Parameters that share memory with results.
    pub aliases: Vec<Alias>,
    /// Parameters whose memory results may take.
    pub donors: Vec<Alias>,
    /// For how many replicas and partitions it was made, where it says so.
    pub devices: Option<(i64, i64)>,
    /// Whether Shardy is to divide it among devices.
    pub has_shardy: bool,
}

/// A function of a module.
#[derive(Debug, Default)]
pub struct Computation<'a> {
    /// Its number in the module.
    pub id: i64,
    /// The instruction whose value it gives.
    pub root_id: i64,
    /// Its instructions, operands before those that use them.
    pub instructions: Vec<&'a [u8]>,
    /// What it takes and gives.
    pub shape: ProgramShape,
}

/// An operation.
#[derive(Debug, Default)]
pub struct Instruction<'a> {
    /// Its own name.
    pub name: &'a str,
    /// What it does.
    pub opcode: &'a str,
    /// The type of its value.
    pub shape: Shape,
    /// What it is in the user's program; of a parameter, its name there.
    pub op_name: &'a [u8],
    /// Of a constant, the type of what it holds.
    pub literal: Option<Shape>,
    /// Of a parameter, its position.
    pub parameter_number: i64,
    /// Of a top-k, how many.
    pub k: i64,
    /// What a custom call calls.
    pub target: &'a str,
    /// Its number.
    pub id: i64,
    /// The numbers of its operands.
    pub operands: Vec<i64>,
    /// The numbers of what has to run before it.
    pub predecessors: Vec<i64>,
    /// The computations that it calls.
    pub called: Vec<i64>,
}

/// The types of a function's parameters and result.
#[derive(Debug, Default)]
pub struct ProgramShape {
    /// Those of its parameters.
    pub parameters: Vec<Shape>,
    /// That of its result.
    pub result: Shape,
}

/// A parameter, or a part of one, whose memory may be used for a result.
#[derive(Debug, Default)]
pub struct Alias {
    /// The parameter's position.
    pub parameter: i64,
    /// The way to the part of it.
    pub path: Vec<i64>,
    /// The way to the part of the result, where one is named.
    pub result_path: Vec<i64>,
    /// Whether the memory must be shared or may be.
    pub kind: i64,
}

impl<'a> Module<'a> {
    /// Reads a message of this type.
    pub fn read(bytes: &'a [u8]) -> Result<Module<'a>, Malformed> {
        let mut module = Module::default();
        let mut fields = Fields::of(bytes);
        while let Some((number, content)) = fields.next()? {
            match number {
                1 => module.name = content.text()?,
                3 => push(&mut module.computations, content.bytes()?)?,
                4 => module.shape.merge(content.bytes()?)?,
                6 => module.entry_id = content.number()?,
                7 => module.is_scheduled = true,
                8 => read_aliases(content.bytes()?, [2, 3, 1, 4], &mut module.aliases)?,
                15 => module.devices = Some(read_counts(content.bytes()?, 1, 2)?),
                18 => read_aliases(content.bytes()?, [1, 2, 0, 0], &mut module.donors)?,
                // Attributes by name, of which Shardy's hold its meshes.
                19 => module.has_shardy |= memmem::find(content.bytes()?, SHARDY.as_bytes()).is_some(),
                _ => {}
            }
        }
        Ok(module)
    }
}

impl<'a> Computation<'a> {
    /// Reads a message of this type.
    pub fn read(bytes: &'a [u8]) -> Result<Computation<'a>, Malformed> {
        let mut computation = Computation::default();
        let mut fields = Fields::of(bytes);
        while let Some((number, content)) = fields.next()? {
            match number {
                2 => match content.bytes()? {
                    [] => return Err(Malformed),
                    instruction => computation.instructions.push(instruction),
                },
                4 => computation.shape.merge(content.bytes()?)?,
                5 => computation.id = content.number()?,
                6 => computation.root_id = content.number()?,
                _ => {}
            }
        }
        Ok(computation)
    }
}

impl<'a> Instruction<'a> {
    /// Reads a message of this type.
    pub fn read(bytes: &'a [u8]) -> Result<Instruction<'a>, Malformed> {
        let mut instruction = Instruction::default();
        let mut fields = Fields::of(bytes);
        while let Some((number, content)) = fields.next()? {
            match number {
                1 => instruction.name = content.text()?,
                2 => instruction.opcode = content.text()?,
                3 => instruction.shape.merge(content.bytes()?)?,
                7 => {
                    let mut metadata = Fields::of(content.bytes()?);
                    while let Some((number, content)) = metadata.next()? {
                        if number == 2 {
                            instruction.op_name = content.bytes()?;
                        }
                    }
                }
                8 => {
                    let mut literal = Fields::of(content.bytes()?);
                    while let Some((number, content)) = literal.next()? {
                        if number == 1 {
                            instruction.literal.get_or_insert_default().merge(content.bytes()?)?;
                        }
                    }
                }
                9 => instruction.parameter_number = content.number()?,
                15 | 21 => check_window(content.bytes()?)?,
                28 => instruction.target = content.text()?,
                35 => instruction.id = content.number()?,
                36 => content.append_to(&mut instruction.operands)?,
                37 => content.append_to(&mut instruction.predecessors)?,
                38 => content.append_to(&mut instruction.called)?,
                81 => instruction.k = content.number()?,
                _ => {}
            }
        }
        Ok(instruction)
    }
}

impl ProgramShape {
    fn merge(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut fields = Fields::of(bytes);
        while let Some((number, content)) = fields.next()? {
            match number {
                1 => {
                    let mut parameter = Shape::default();
                    parameter.merge(content.bytes()?)?;
                    push(&mut self.parameters, parameter)?;
                }
                2 => self.result.merge(content.bytes()?)?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// A window or a padding: of each dimension some numbers, with which plugins calculate
/// before they look at them.
fn check_window(bytes: &[u8]) -> Result<(), Malformed> {
    const MOST: u64 = 1 << 35;
    let mut fields = Fields::of(bytes);
    while let Some((_, content)) = fields.next()? {
        let mut numbers = Fields::of(content.bytes()?);
        while let Some((_, content)) = numbers.next()? {
            if content.number()?.unsigned_abs() > MOST {
                return Err(Malformed);
            }
        }
    }
    Ok(())
}

fn push<T>(list: &mut Vec<T>, item: T) -> Result<(), Malformed> {
    if list.len() == MOST {
        return Err(Malformed);
    }
    list.push(item);
    Ok(())
}

/// Reads entries whose fields for the parameter, the path in it, the path in the result
/// and the kind have these numbers; no field has number 0.
fn read_aliases(bytes: &[u8], numbers: [u32; 4], list: &mut Vec<Alias>) -> Result<(), Malformed> {
    let [parameter, path, result_path, kind] = numbers;
    let mut fields = Fields::of(bytes);
    while let Some((number, content)) = fields.next()? {
        if number != 1 {
            continue;
        }
        let mut alias = Alias::default();
        let mut fields = Fields::of(content.bytes()?);
        while let Some((number, content)) = fields.next()? {
            match number {
                _ if number == parameter => alias.parameter = content.number()?,
                _ if number == path => content.append_to(&mut alias.path)?,
                _ if number == result_path => content.append_to(&mut alias.result_path)?,
                _ if number == kind => alias.kind = content.number()?,
                _ => {}
            }
        }
        push(list, alias)?;
    }
    Ok(())
}

/// Two numbers of a message, 0 where it leaves one out.
pub fn read_counts(bytes: &[u8], first: u32, second: u32) -> Result<(i64, i64), Malformed> {
    let mut counts = (0, 0);
    let mut fields = Fields::of(bytes);
    while let Some((number, content)) = fields.next()? {
        match content {
            Content::Number(_) if number == first => counts.0 = content.number()?,
            Content::Number(_) if number == second => counts.1 = content.number()?,
            _ => {}
        }
    }
    Ok(counts)
}
