//! MLIR bytecode: checked as a whole, and what it says about the program.
//!
//! Plugins trust the numbers in a file. One that is wrong makes them write past their
//! tables, follow references for ever or end the process; each is checked here first.
//! What only a newer writer knows is passed over by the length that the file gives.

mod attribute_names;
mod cursor;
mod destinations;
mod encodings;
mod entries;
mod facts;
mod fields;
mod graph;
mod ops;
mod rewrite;
mod tables;
mod tokens;
mod types;
mod use_lists;
mod values;
mod walk;
mod write;

use cursor::Cursor;
pub use destinations::with_destinations;
use entries::Entries;
use tables::{Sections, Tables};
pub use tokens::without_tokens;

use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};
use crate::program::{tensors, text};

/// What every bytecode file begins with.
pub const MAGIC: &[u8] = b"ML\xefR";
/// The newest version of the encoding that this module reads.
const NEWEST: u64 = 6;

/// What a bytecode file says about its program.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Who wrote it: `StableHLO_v1.17.0`.
    pub producer: String,
    /// The version of the encoding.
    pub bytecode_version: u64,
    /// The module's own name.
    pub name: Option<String>,
    /// The function to run, where the dialect is known well enough to tell.
    pub main: Option<Function>,
    /// What it calls that is not part of XLA, by target, each once.
    pub custom_calls: Vec<CustomCall>,
    /// The element types that it mentions, by number. Older plugins end the process on
    /// some: [`DType::since_pjrt_minor`].
    pub dtypes: Vec<DType>,
    /// How many partitions it was written for.
    pub partitions: Option<i64>,
    /// How many replicas it was written for.
    pub replicas: Option<i64>,
    /// Whether anything in it is of the Shardy dialect, which divides programs among devices.
    pub has_shardy: bool,
    /// Whether anything in it calls the function to run.
    pub is_main_called: bool,
}

/// What a function takes and gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its arguments.
    pub inputs: Vec<Value>,
    /// Its results.
    pub outputs: Vec<Value>,
}

/// An argument or a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// What it holds.
    pub ty: ValueType,
    /// Whether its memory may be reused for a result.
    pub is_donated: bool,
    /// Its name in the source, as JAX writes it.
    pub name: Option<String>,
}

/// What a value holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValueType {
    /// An array.
    Array {
        /// Its element type.
        dtype: DType,
        /// Its dims; `None` for one that is not known.
        dims: Vec<Option<i64>>,
    },
    /// What orders side effects.
    Token,
    /// A tuple, or a type that this version does not know.
    Other,
}

/// A custom call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CustomCall {
    /// The name of what is called.
    pub target: String,
    /// How it is called, as StableHLO numbers it: 4 is the typed interface, which JAX
    /// writes in a way of its own.
    pub api_version: Option<i64>,
    /// Whether it does more than give results.
    pub has_side_effect: bool,
}

/// Who wrote the bytecode, as it records it: `StableHLO_v1.17.0`.
pub fn written_by(code: &[u8]) -> Option<&str> {
    let (_, producer, _) = header(code)?;
    std::str::from_utf8(producer).ok().filter(|text| !text.is_empty() && !text.contains(char::is_control))
}

/// Checks the whole of a bytecode file, and gives what it says.
pub fn read(code: &[u8]) -> Result<Module> {
    let (version, producer, rest) = header(code).ok_or_else(|| damaged("its header"))?;
    if version > NEWEST {
        let message =
            format!("the program is MLIR bytecode of version {version}; this version reads up to {NEWEST}");
        return Err(Error::new(Code::Unimplemented, Origin::Library, message)
            .hint("update libcyxla, or write the program for an older version of StableHLO"));
    }
    let (sections, tables) = tables_of(version, rest)?;
    let entries = entries_of(&sections, &tables)?;
    graph::check_nesting(&entries)?;
    check_texts(&entries)?;
    check_sizes(&entries)?;
    let ir = sections.ir().ok_or_else(|| damaged("its sections"))?;
    let mut facts = walk::walk(&tables, &entries, ir)?;
    facts.check_calls()?;
    Ok(Module {
        producer: String::from_utf8_lossy(producer).into_owned(),
        bytecode_version: version,
        main: facts.main()?,
        is_main_called: facts.is_main_called(),
        custom_calls: facts.custom_calls(),
        dtypes: entries.dtypes(),
        name: facts.name,
        partitions: facts.partitions,
        replicas: facts.replicas,
        has_shardy: tables.dialects.contains(&&b"sdy"[..]),
    })
}

/// The sections that follow the header, and the tables in them.
fn tables_of(version: u64, rest: Cursor<'_>) -> Result<(Sections<'_>, Tables<'_>)> {
    let sections = Sections::split(rest).ok_or_else(|| damaged("its sections"))?;
    let tables = Tables::read(version, &sections).ok_or_else(|| damaged("its tables"))?;
    Ok((sections, tables))
}

/// The attributes and types.
fn entries_of<'a>(sections: &Sections<'a>, tables: &Tables<'a>) -> Result<Entries<'a>> {
    let lists = sections.entries().and_then(|parts| tables::entries(tables, parts));
    lists.and_then(|lists| Entries::read(tables, lists)).ok_or_else(|| damaged("its attributes or types"))
}

/// The version, who wrote it, and what follows.
fn header(code: &[u8]) -> Option<(u64, &[u8], Cursor<'_>)> {
    let mut cursor = Cursor::new(code);
    if cursor.take(MAGIC.len())? != MAGIC {
        return None;
    }
    let version = cursor.number()?;
    let producer = cursor.c_string()?;
    Some((version, producer, cursor))
}

/// Attributes and types that are written as text are parsed as a program text is.
fn check_texts(entries: &Entries) -> Result<()> {
    for text in entries.texts() {
        let text = String::from_utf8_lossy(text);
        text::check_nesting(&text)?;
        tensors::check_sizes(&text)?;
    }
    Ok(())
}

/// Plugins end the process on a tensor whose size is no 64-bit number.
fn check_sizes(entries: &Entries) -> Result<()> {
    for index in 0..entries.types.len() as u32 {
        let Some((dims, _)) = entries.tensor(index) else { continue };
        let dims = entries.largest_dims(index, dims).ok_or_else(|| damaged("the bounds of a type"))?;
        // Zero counts as one: plugins multiply the others all the same.
        let elements = dims.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim.max(1)));
        if elements.is_none_or(|elements| elements > tensors::MOST_ELEMENTS) {
            let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
            let dtype = entries.types[index as usize].dtype.map_or("?", DType::name);
            return Err(tensors::too_large(&format!("tensor<{}x{dtype}>", dims.join("x"))));
        }
    }
    Ok(())
}

/// What is wrong with a file that no writer writes.
fn damaged(part: &str) -> Error {
    Error::invalid_argument(format!(
        "the program is damaged: its MLIR bytecode is cut off or inconsistent ({part})"
    ))
    .hint("write the file again; if it was copied, compare the sizes")
}

#[cfg(test)]
mod tests;
