//! The inputs and outputs of an exported function: their types and shardings, which
//! the schema keeps once each and refers to by index, or, before JAX 0.10, one by one.

use std::sync::Arc;

use super::aval::Aval;
use super::flat::{Field, Table, damaged};
use super::sharding::{Sharding, show_mesh};
use super::tree::Tree;
use crate::error::Result;

const UNIQUE_AVALS: Field = Field(19, "unique_avals");
const UNIQUE_ABSTRACT_MESHES: Field = Field(20, "unique_abstract_meshes");
const UNIQUE_NAMED_SHARDINGS: Field = Field(21, "unique_named_shardings");

/// The fields about inputs, or those about outputs.
pub struct Side {
    pub tree: Field,
    avals: Field,
    shardings: Field,
    aval_indices: Field,
    sharding_indices: Field,
}

/// Of inputs.
pub const INPUTS: Side = Side {
    tree: Field(2, "in_tree"),
    avals: Field(3, "in_avals"),
    shardings: Field(7, "in_shardings"),
    aval_indices: Field(22, "in_avals_idxs"),
    sharding_indices: Field(24, "in_shardings_idxs"),
};

/// Of outputs.
pub const OUTPUTS: Side = Side {
    tree: Field(4, "out_tree"),
    avals: Field(5, "out_avals"),
    shardings: Field(8, "out_shardings"),
    aval_indices: Field(23, "out_avals_idxs"),
    sharding_indices: Field(25, "out_shardings_idxs"),
};

/// What inputs and outputs refer to by index.
pub struct Uniques {
    avals: Vec<Aval>,
    meshes: Vec<String>,
    shardings: Vec<Arc<Sharding>>,
}

impl Uniques {
    /// Reads an exported function's.
    pub fn read(table: Table<'_>) -> Result<Uniques> {
        let avals = table.list(UNIQUE_AVALS)?.tables();
        let meshes = table.list(UNIQUE_ABSTRACT_MESHES)?.tables();
        let meshes: Vec<String> = meshes.map(|mesh| show_mesh(mesh?)).collect::<Result<_>>()?;
        let shardings = table.list(UNIQUE_NAMED_SHARDINGS)?.tables();
        Ok(Uniques {
            avals: avals.map(|aval| Aval::read(aval?)).collect::<Result<_>>()?,
            shardings: shardings
                .map(|sharding| Sharding::read_named(sharding?, &meshes).map(Arc::new))
                .collect::<Result<_>>()?,
            meshes,
        })
    }
}

impl Side {
    /// How the values are nested.
    pub fn tree(&self, table: Table<'_>) -> Result<Tree> {
        let root = table.table(self.tree)?;
        Tree::read(root.ok_or_else(|| damaged(format_args!("it has no {}", self.tree.1)))?)
    }

    /// The values, as many as `tree` has leaves; they have no paths yet.
    pub fn values(&self, table: Table<'_>, tree: &Tree, uniques: &Uniques) -> Result<Vec<Aval>> {
        let mut values = self.avals(table, uniques)?;
        let shardings = self.shardings(table, uniques)?;
        if values.len() != tree.leaf_count() {
            let (leaves, values) = (tree.leaf_count(), values.len());
            let (tree, avals) = (self.tree.1, self.avals.1);
            return Err(damaged(format_args!("{tree} has {leaves} leaves, but there are {values} {avals}")));
        }
        if !shardings.is_empty() && shardings.len() != values.len() {
            let (count, name) = (shardings.len(), self.shardings.1);
            let (values, avals) = (values.len(), self.avals.1);
            return Err(damaged(format_args!("there are {count} {name} for {values} {avals}")));
        }
        for (value, sharding) in values.iter_mut().zip(shardings) {
            value.sharding = sharding;
        }
        Ok(values)
    }

    fn avals(&self, table: Table<'_>, uniques: &Uniques) -> Result<Vec<Aval>> {
        let indices = table.u32s(self.aval_indices)?;
        if indices.len() == 0 {
            return table.list(self.avals)?.tables().map(|aval| Aval::read(aval?)).collect();
        }
        let repeat = |index: u32| find(&uniques.avals, index, self.aval_indices)?.repeat(table.flat());
        indices.map(repeat).collect()
    }

    fn shardings(&self, table: Table<'_>, uniques: &Uniques) -> Result<Vec<Option<Arc<Sharding>>>> {
        let indices = table.u32s(self.sharding_indices)?;
        if indices.len() == 0 {
            let read = |sharding: Result<_>| Sharding::read(sharding?, &uniques.meshes);
            return table.list(self.shardings)?.tables().map(|one| Ok(read(one)?.map(Arc::new))).collect();
        }
        let share = |index: u32| match index.checked_sub(1) {
            None => Ok(None), // unspecified
            Some(index) => find(&uniques.shardings, index, self.sharding_indices).cloned().map(Some),
        };
        indices.map(share).collect()
    }
}

fn find<T>(uniques: &[T], index: u32, field: Field) -> Result<&T> {
    let found = usize::try_from(index).ok().and_then(|index| uniques.get(index));
    found.ok_or_else(|| {
        let (name, count) = (field.1, uniques.len());
        damaged(format_args!("{name} refers to number {index} of {count}"))
    })
}
