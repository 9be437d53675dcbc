//! Walks through the operations of a file.
//!
//! Operations hold regions, regions blocks, blocks operations. An explicit stack
//! stands in for recursion. Values are numbered from the start of the innermost
//! region that sees nothing of what is around it.

mod operations;

use super::cursor::{Cursor, to_index};
use super::damaged;
use super::encodings::attribute;
use super::entries::Entries;
use super::facts::{Facts, Role};
use super::ops::Shape;
use super::tables::{self, Tables};
use super::use_lists::UseLists;
use crate::error::{Error, Result};

/// Real plugins overflow a stack of 2 MiB at about 170 operations inside one another.
const DEEPEST: usize = 128;
/// The number of the sections that isolated regions stand in.
const REGIONS: u8 = 4;

/// Which parts an operation has.
pub const HAS_ATTRIBUTES: u8 = 1;
pub const HAS_RESULTS: u8 = 2;
pub const HAS_OPERANDS: u8 = 4;
pub const HAS_SUCCESSORS: u8 = 8;
pub const HAS_REGIONS: u8 = 0x10;
pub const HAS_USE_LISTS: u8 = 0x20;
pub const HAS_PROPERTIES: u8 = 0x40;

/// An operation, without its regions.
#[derive(Clone, Copy, Debug)]
pub struct Op<'a> {
    /// The position of its name.
    pub name: u32,
    /// A dictionary.
    pub attributes: Option<u32>,
    pub properties: Option<Cursor<'a>>,
    pub regions: usize,
}

/// A value that may be defined later than it is used.
#[derive(Clone, Copy, Default)]
pub struct Value {
    is_defined: bool,
    pub uses: u32,
    pub has_use_list: bool,
}

/// An operation whose regions are being walked through.
struct Frame<'a> {
    /// Where to read on behind its regions, if these are in a section of their own.
    behind: Option<Cursor<'a>>,
    /// Where values were counted from around it, if its regions see nothing of these.
    outer_scope: Option<usize>,
    regions: usize,
    /// What is left of the current region.
    blocks: usize,
    ops: u64,
    /// The blocks that the current region has in all.
    targets: usize,
    /// The values that are defined in the current region, and the next one.
    values: std::ops::Range<usize>,
    next_value: usize,
    role: Role,
    function: Option<usize>,
    is_first_block: bool,
}

/// Checks everything in the section of operations and collects what it says.
pub fn walk<'a>(tables: &'a Tables<'a>, entries: &'a Entries<'a>, ir: Cursor<'a>) -> Result<Facts<'a>> {
    let shapes =
        tables.ops.iter().map(|op| if op.dialect == b"vhlo" { Shape::of(op.name) } else { None }).collect();
    let facts = Facts::new(tables, entries);
    let mut walk = Walk {
        tables,
        entries,
        shapes,
        cursor: ir,
        frames: Vec::new(),
        values: Vec::new(),
        undefined: 0,
        scope: 0,
        use_lists: UseLists::default(),
        has_branches: false,
        results: Vec::new(),
        facts,
    };
    walk.run()?;
    Ok(walk.facts)
}

struct Walk<'a> {
    tables: &'a Tables<'a>,
    entries: &'a Entries<'a>,
    /// By the position of the operation's name.
    shapes: Vec<Option<Shape>>,
    cursor: Cursor<'a>,
    frames: Vec<Frame<'a>>,
    values: Vec<Value>,
    /// How many values were announced that are yet to be defined.
    undefined: usize,
    /// Where values are counted from.
    scope: usize,
    use_lists: UseLists<'a>,
    /// Whether a region of several blocks was met, in which a value may be used before
    /// the block that defines it.
    has_branches: bool,
    /// The types of the results of the current operation.
    results: Vec<u32>,
    facts: Facts<'a>,
}

fn broken() -> Error {
    damaged("its operations")
}

impl<'a> Walk<'a> {
    fn run(&mut self) -> Result<()> {
        self.frames.push(Frame {
            behind: None,
            outer_scope: None,
            regions: 0,
            blocks: 1,
            ops: 0,
            targets: 1,
            values: 0..0,
            next_value: 0,
            role: Role::Other,
            function: None,
            is_first_block: true,
        });
        while let Some(frame) = self.frames.last_mut() {
            if frame.ops > 0 {
                frame.ops -= 1;
                self.op()?;
            } else if frame.blocks > 0 {
                frame.blocks -= 1;
                self.block().ok_or_else(broken)?;
            } else {
                self.end_region().ok_or_else(broken)?;
            }
        }
        self.cursor.is_at_end().then_some(()).ok_or_else(broken)
    }

    /// Ends a region, and begins the next or goes on behind the operation.
    fn end_region(&mut self) -> Option<()> {
        let frame = self.frames.last_mut()?;
        let values = frame.values.clone();
        if frame.next_value != values.end {
            return None;
        }
        self.use_lists.check_from(values.start, &self.values)?;
        self.values.truncate(values.start);
        if frame.regions > 0 {
            frame.regions -= 1;
            return self.begin_region();
        }
        let frame = self.frames.pop()?;
        if let Some(behind) = frame.behind {
            if !self.cursor.is_at_end() {
                return None;
            }
            self.cursor = behind;
        }
        self.scope = frame.outer_scope.unwrap_or(self.scope);
        Some(())
    }

    fn begin_region(&mut self) -> Option<()> {
        let blocks = self.cursor.count()?;
        let values = if blocks > 0 { self.cursor.number()? } else { 0 };
        // Each takes a byte at least where it is defined, here or further out.
        let values = usize::try_from(values).ok()?;
        self.undefined = self.undefined.checked_add(values)?;
        self.cursor.bounded(values as u64)?;
        if self.undefined > self.cursor.position() + self.cursor.left() {
            return None;
        }
        let start = self.values.len();
        self.values.resize(start + values, Value::default());
        self.has_branches |= blocks > 1;
        let frame = self.frames.last_mut()?;
        (frame.blocks, frame.targets) = (blocks, blocks);
        (frame.values, frame.next_value) = (start..start + values, start);
        if frame.is_first_block && blocks > 0 && frame.role == Role::Function {
            self.facts.function_has_body(frame.function?);
        }
        Some(())
    }

    fn block(&mut self) -> Option<()> {
        let (ops, has_arguments) = self.cursor.flagged()?;
        self.cursor.bounded(ops)?;
        let frame = self.frames.last_mut()?;
        frame.ops = ops;
        let is_entry = std::mem::take(&mut frame.is_first_block) && frame.role == Role::Function;
        let function = frame.function.filter(|_| is_entry);
        let mut count = 0;
        if has_arguments {
            count = self.cursor.count()?;
            for position in 0..count {
                let (type_index, location) = self.argument()?;
                self.define()?;
                if let Some(function) = function {
                    self.facts.argument(function, position, type_index, location)?;
                }
            }
            if self.tables.version >= tables::USE_LISTS && self.cursor.byte()? != 0 {
                let first = self.frames.last()?.next_value - count;
                let values = self.values.get_mut(first..first + count)?;
                self.use_lists.read(&mut self.cursor, first, values)?;
            }
        }
        match function {
            Some(function) => self.facts.arguments_end(function, count),
            None => Some(()),
        }
    }

    fn argument(&mut self) -> Option<(u32, Option<u32>)> {
        let types = self.entries.types.len();
        let (type_index, has_location) = if self.tables.version < tables::NO_UNKNOWN_LOCATIONS {
            (self.cursor.index(types)?, true)
        } else {
            let (index, has_location) = self.cursor.flagged()?;
            (to_index(index, types)?, has_location)
        };
        if !self.entries.is_value(type_index) {
            return None;
        }
        let location = if has_location { Some(self.location()?) } else { None };
        Some((type_index, location))
    }

    fn location(&mut self) -> Option<u32> {
        let index = self.cursor.index(self.entries.codes.len())?;
        let code = self.entries.codes[index as usize];
        attribute::may_be_location(code).then_some(index)
    }

    fn define(&mut self) -> Option<()> {
        let frame = self.frames.last_mut()?;
        if frame.next_value >= frame.values.end {
            return None;
        }
        self.values[frame.next_value].is_defined = true;
        frame.next_value += 1;
        self.undefined -= 1;
        Some(())
    }

    fn op(&mut self) -> Result<()> {
        let (op, is_isolated) = self.read_op().ok_or_else(broken)?;
        let outer = self.frames.last().map(|frame| (frame.role, frame.function));
        let (outer_role, outer_function) = outer.unwrap_or((Role::Other, None));
        let is_outermost = self.frames.len() == 1;
        let (role, function) =
            self.facts.op(&op, outer_role, outer_function, is_outermost).ok_or_else(broken)?;
        if op.regions == 0 {
            return Ok(());
        }
        if self.frames.len() > DEEPEST {
            return Err(too_deep());
        }
        let mut behind = None;
        let mut outer_scope = None;
        if is_isolated {
            outer_scope = Some(std::mem::replace(&mut self.scope, self.values.len()));
            if self.tables.version >= tables::REGION_SECTIONS {
                let (number, inside) = self.cursor.section().ok_or_else(broken)?;
                if number != REGIONS {
                    return Err(broken());
                }
                behind = Some(std::mem::replace(&mut self.cursor, inside));
            }
        }
        let start = self.values.len();
        self.frames.push(Frame {
            behind,
            outer_scope,
            regions: op.regions,
            blocks: 0,
            ops: 0,
            targets: 0,
            values: start..start,
            next_value: start,
            role,
            function,
            is_first_block: true,
        });
        Ok(())
    }
}

fn too_deep() -> Error {
    Error::invalid_argument(format!(
        "the program's regions nest more than {DEEPEST} deep; plugins can parse {DEEPEST}"
    ))
    .hint("move inner regions into functions of their own")
}
