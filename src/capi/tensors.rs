//! Inputs and outputs as C sees them: what programs and executables have in common.

use std::ffi::{CString, c_char};

use super::dtype::{CYXLA_DTYPE_INVALID, cyxla_dtype};
use super::error::c_text;
use super::pointer;
use crate::program::{Signature, TensorSpec};

/// The names of inputs and outputs as C strings, made once.
#[derive(Default)]
pub(super) struct Names {
    inputs: Vec<Option<CString>>,
    outputs: Vec<Option<CString>>,
}

impl Names {
    pub(super) fn of(signature: &Signature) -> Names {
        let names =
            |specs: &[TensorSpec]| specs.iter().map(|spec| spec.name.as_deref().map(c_text)).collect();
        Names { inputs: names(&signature.inputs), outputs: names(&signature.outputs) }
    }

    /// The input at a position of the signature that the names are of.
    pub(super) fn input<'a>(&'a self, signature: &'a Signature, index: usize) -> Option<Tensor<'a>> {
        let spec = signature.inputs.get(index)?;
        Some(Tensor { spec, name: self.inputs.get(index)?.as_ref() })
    }

    /// The output at a position of the signature that the names are of.
    pub(super) fn output<'a>(&'a self, signature: &'a Signature, index: usize) -> Option<Tensor<'a>> {
        let spec = signature.outputs.get(index)?;
        Some(Tensor { spec, name: self.outputs.get(index)?.as_ref() })
    }
}

/// An input or output: its type, and its name as a C string.
pub(super) struct Tensor<'a> {
    spec: &'a TensorSpec,
    name: Option<&'a CString>,
}

/// What the getters give, of a tensor or of none.
pub(super) trait Getters<'a> {
    fn name(&self) -> *const c_char;
    fn dtype(&self) -> cyxla_dtype;
    fn dims(&self) -> &'a [i64];
    fn size(&self) -> usize;
    fn is_donated(&self) -> bool;
}

impl<'a> Getters<'a> for Option<Tensor<'a>> {
    fn name(&self) -> *const c_char {
        pointer::optional_c_text(self.as_ref().and_then(|tensor| tensor.name))
    }

    fn dtype(&self) -> cyxla_dtype {
        self.as_ref().map_or(CYXLA_DTYPE_INVALID, |tensor| cyxla_dtype(tensor.spec.dtype.0))
    }

    fn dims(&self) -> &'a [i64] {
        self.as_ref().map_or(&[], |tensor| tensor.spec.dims.as_slice())
    }

    fn size(&self) -> usize {
        self.as_ref().map_or(0, |tensor| tensor.spec.host_size())
    }

    fn is_donated(&self) -> bool {
        self.as_ref().is_some_and(|tensor| tensor.spec.is_donated)
    }
}
