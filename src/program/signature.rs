//! What a program takes and gives.

use crate::dtype::{ArrayType, DType};
use crate::error::{Code, Error, Origin, Result};

/// One input or output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorSpec {
    /// Its name in the user's program, where that is known.
    pub name: Option<String>,
    /// The element type.
    pub dtype: DType,
    /// Elements in each dimension.
    pub dims: Vec<i64>,
    /// Whether the program may overwrite it (inputs only).
    pub is_donated: bool,
    host_size: usize,
}

impl TensorSpec {
    /// An error if no memory can hold such an array.
    pub fn new(name: Option<String>, dtype: DType, dims: Vec<i64>, is_donated: bool) -> Result<TensorSpec> {
        let Some(host_size) = ArrayType(dtype, &dims).host_size() else {
            let message = format!("an array of type {} does not fit into memory", ArrayType(dtype, &dims));
            return Err(Error::new(Code::Unimplemented, Origin::Library, message));
        };
        Ok(TensorSpec { name, dtype, dims, is_donated, host_size })
    }

    /// Bytes that it takes in host memory, row-major.
    pub fn host_size(&self) -> usize {
        self.host_size
    }

    /// Its type as messages write it.
    pub fn array_type(&self) -> ArrayType<'_> {
        ArrayType(self.dtype, &self.dims)
    }

    /// Whether an array of this type is what one device holds of a whole: of the same
    /// element type and rank, and nowhere longer.
    pub fn is_part_of(&self, whole: &TensorSpec) -> bool {
        self.dtype == whole.dtype
            && self.dims.len() == whole.dims.len()
            && self.dims.iter().zip(&whole.dims).all(|(part, whole)| part <= whole)
    }

    /// Whether both hold the same arrays, whatever their names.
    pub fn same_type(&self, other: &TensorSpec) -> bool {
        self.dtype == other.dtype && self.dims == other.dims
    }
}

/// The inputs and outputs of a program, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    /// What it takes.
    pub inputs: Vec<TensorSpec>,
    /// What it gives.
    pub outputs: Vec<TensorSpec>,
}
