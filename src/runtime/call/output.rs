//! Reading an output of a call.

use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{Bound, Buffer, OwnMemory};
use crate::runtime::executable::Inner;
use crate::runtime::run::copy_row_major;

/// What is known of an output between steps.
#[derive(Default)]
pub struct Output {
    /// Where the output of this step is, by the count of steps.
    found: Option<(u64, usize)>,
    /// Whether the plugin's memory is what the host may read; known after the first look.
    in_place: Option<bool>,
    /// A copy for the host, where it may not.
    copy: Option<OwnMemory>,
}

impl Output {
    /// The address of the output of a step; NULL if it has no elements.
    pub fn read(&mut self, executable: &Inner, bound: &Bound, index: usize, step: u64) -> Result<*const u8> {
        if let Some((found, address)) = self.found
            && found == step
        {
            return Ok(std::ptr::with_exposed_provenance(address));
        }
        let look = |result: &Buffer| self.look(executable, result, index);
        let address = bound.with_result(0, index, look).unwrap_or_else(|| Err(taken(index)))?;
        self.found = Some((step, address.expose_provenance()));
        Ok(address)
    }

    /// Forgets the address, since the output is somebody else's now.
    pub fn forget(&mut self) {
        self.found = None;
    }

    fn look(&mut self, executable: &Inner, result: &Buffer, index: usize) -> Result<*const u8> {
        let spec = &executable.signature.outputs[index];
        let size = spec.host_size();
        if size == 0 {
            return Ok(std::ptr::null());
        }
        if self.in_place == Some(true) {
            // A synchronous plugin gives no result before it is there.
            if !executable.runtime.info.is_synchronous {
                result.wait()?;
            }
            return result.address();
        }
        let layout = result.layout(spec.dims.len())?;
        let is_readable = layout.is_row_major(&spec.dims) && !spec.dtype.is_sub_byte();
        if self.in_place.is_none()
            && is_readable
            && let Some(bytes) = result.bytes(size)?
        {
            self.in_place = Some(true);
            return Ok(bytes.as_ptr());
        }
        self.in_place = Some(false);
        let copy = match &mut self.copy {
            Some(copy) => copy,
            none => none.insert(OwnMemory::new(size)?),
        };
        copy_row_major(result, spec.array_type(), &layout, &mut copy.as_output())?;
        Ok(copy.address())
    }
}

/// The error for an output that is not there any more.
pub fn taken(index: usize) -> Error {
    let message = format!("output {index} of the last step was taken");
    Error::new(Code::FailedPrecondition, Origin::Caller, message)
}
