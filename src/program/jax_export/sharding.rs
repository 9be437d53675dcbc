//! Shardings: how an array is spread over devices. They are only told, the plugin
//! reads them in the program inside.

use std::fmt::{self, Write};

use super::flat::{Field, List, Table, damaged};
use super::repr::{Repr, plain};
use crate::error::Result;
use crate::program::hlo_sharding;

// Sharding
const KIND: Field = Field(0, "the kind of a sharding");
const HLO_SHARDING_PROTO: Field = Field(1, "an HLO sharding");
const NAMED_SHARDING: Field = Field(2, "a named sharding");
// NamedSharding
const MESH: Field = Field(0, "the mesh of a sharding");
const SPEC: Field = Field(1, "the partition spec of a sharding");
const MEMORY_KIND: Field = Field(2, "the memory kind of a sharding");
const ABSTRACT_MESH_IDX: Field = Field(3, "the mesh index of a sharding");
// AbstractMesh
const AXIS_SIZES: Field = Field(0, "the axis sizes of a mesh");
const AXIS_NAMES: Field = Field(1, "the axis names of a mesh");
const AXIS_TYPES: Field = Field(2, "the axis types of a mesh");
const ABSTRACT_DEVICE: Field = Field(3, "the device of a mesh");
// AbstractDevice
const DEVICE_KIND: Field = Field(0, "the kind of a mesh's device");
// PartitionSpec and PartitionSpecOneAxis
const PARTITIONS: Field = Field(0, "the partitions of a sharding");
const REDUCED: Field = Field(1, "the reduced axes of a sharding");
const UNREDUCED: Field = Field(2, "the unreduced axes of a sharding");
const AXES: Field = Field(0, "the axes of a partition");

/// How an array is spread over devices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sharding {
    /// JAX's partition spec and mesh, `P('x', None) on Mesh('x': 4)`; from JAX before
    /// 0.9 XLA's form, `{devices=[2,1]<=[2]}`.
    pub text: String,
    /// The kind of memory, such as `pinned_host`, when one is asked for.
    pub memory_kind: Option<String>,
}

impl fmt::Display for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match &self.memory_kind {
            Some(kind) => write!(f, " in {kind}"),
            None => Ok(()),
        }
    }
}

impl Sharding {
    /// Reads what a sharding of the schema holds; `None` when it is unspecified.
    /// `meshes` are those that named shardings may refer to by index.
    pub(super) fn read(table: Table<'_>, meshes: &[String]) -> Result<Option<Sharding>> {
        if let Some(named) = table.table(NAMED_SHARDING)? {
            return Sharding::read_named(named, meshes).map(Some);
        }
        let proto = table.bytes(HLO_SHARDING_PROTO)?;
        let text = match table.i8(KIND)? {
            _ if !proto.is_empty() => {
                hlo_sharding::show(proto).ok_or_else(|| damaged("an HLO sharding is no such proto"))?
            }
            // 1 without a proto: of the proto's default, whose serialized form is empty.
            1 => "{replicated}".to_owned(),
            0 | 2 => return Ok(None),
            kind => format!("unknown kind {kind}"),
        };
        table.flat().make(text.len())?;
        Ok(Some(Sharding { text, memory_kind: None }))
    }

    /// Reads a named sharding.
    pub(super) fn read_named(table: Table<'_>, meshes: &[String]) -> Result<Sharding> {
        let spec = table.table(SPEC)?.ok_or_else(|| damaged("a named sharding has no partition spec"))?;
        let mut text = show_spec(spec)?;
        let index = table.u32(ABSTRACT_MESH_IDX)?;
        let mesh = match (usize::try_from(index).ok().and_then(|index| meshes.get(index)), table.table(MESH)?)
        {
            (Some(mesh), _) => mesh.clone(),
            (None, Some(mesh)) if meshes.is_empty() => show_mesh(mesh)?,
            _ => {
                let count = meshes.len();
                return Err(damaged(format_args!("a named sharding is on mesh {index} of {count}")));
            }
        };
        text.push_str(" on ");
        text.push_str(&mesh);
        table.flat().make(text.len())?;
        Ok(Sharding { text, memory_kind: table.string(MEMORY_KIND)?.map(plain) })
    }
}

/// A mesh by its axes: `Mesh('x': 2, 'y': 4)`.
pub fn show_mesh(table: Table<'_>) -> Result<String> {
    let sizes = table.u32s(AXIS_SIZES)?;
    let names = table.list(AXIS_NAMES)?;
    if names.len() != sizes.len() {
        let (names, sizes) = (names.len(), sizes.len());
        return Err(damaged(format_args!("a mesh has {names} names for {sizes} axes")));
    }
    let axes = names.strings().zip(sizes).map(|(name, size)| Ok(format!("{}: {size}", Repr(name?))));
    let mut mesh = format!("Mesh({}", joined(axes)?);
    let bytes = table.bytes(AXIS_TYPES)?;
    // The type that axes have when nobody says, so it goes without saying.
    if bytes.iter().any(|&kind| kind > 1) {
        let types = bytes.iter().map(|kind| Ok(axis_type(*kind)));
        let trailing = if bytes.len() == 1 { "," } else { "" };
        append(&mut mesh, format_args!(", axis_types=({}{trailing})", joined(types)?));
    }
    mesh.push(')');
    if let Some(device) = table.table(ABSTRACT_DEVICE)?
        && let Some(kind) = device.string(DEVICE_KIND)?
    {
        append(&mut mesh, format_args!(" of {}", plain(kind)));
    }
    table.flat().make(mesh.len())?;
    Ok(mesh)
}

fn axis_type(number: u8) -> String {
    match number {
        0 | 1 => "Auto".to_owned(),
        2 => "Explicit".to_owned(),
        3 => "Manual".to_owned(),
        other => format!("unknown<{other}>"),
    }
}

/// A partition spec as JAX writes it: `P('x', None, ('y', 'z'), unreduced={'w'})`.
fn show_spec(table: Table<'_>) -> Result<String> {
    let mut parts = Vec::new();
    for partition in table.list(PARTITIONS)?.tables() {
        let axes = partition?.list(AXES)?;
        parts.push(match axes.len() {
            0 => "None".to_owned(),
            1 => names(axes)?,
            _ => format!("({})", names(axes)?),
        });
    }
    let is_one = parts.len() == 1; // Python writes a comma after the only element of a tuple
    for (name, field) in [("unreduced", UNREDUCED), ("reduced", REDUCED)] {
        let axes = table.list(field)?;
        if axes.len() > 0 {
            parts.push(format!("{name}={{{}}}", names(axes)?));
        }
    }
    let trailing = if is_one && parts.len() == 1 { "," } else { "" };
    Ok(format!("P({}{trailing})", parts.join(", ")))
}

fn names(list: List<'_>) -> Result<String> {
    joined(list.strings().map(|name| Ok(Repr(name?).to_string())))
}

fn joined(parts: impl Iterator<Item = Result<String>>) -> Result<String> {
    Ok(parts.collect::<Result<Vec<_>>>()?.join(", "))
}

fn append(text: &mut String, more: fmt::Arguments<'_>) {
    let written = text.write_fmt(more);
    debug_assert!(written.is_ok(), "writing to a string does not fail");
}
