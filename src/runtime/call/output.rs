//! Reading an output of a call.

use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{Bound, Buffer, HostTarget, OwnMemory};
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
    /// Memory of the host that each step writes it to.
    target: Option<HostTarget>,
}

impl Output {
    /// The address of the output of a step; NULL if it has no elements.
    pub fn read(
        &mut self,
        executable: &Inner,
        bound: &Bound,
        position: usize,
        step: u64,
    ) -> Result<*const u8> {
        if let Some((found, address)) = self.found
            && found == step
        {
            return Ok(std::ptr::with_exposed_provenance(address));
        }
        let index = position % executable.signature.outputs.len();
        let look = |result: &Buffer| self.look(executable, result, index);
        let address = bound.with_result(position, look).unwrap_or_else(|| Err(taken(index)))?;
        self.found = Some((step, address.expose_provenance()));
        Ok(address)
    }

    /// Forgets the address, since the output is somebody else's now.
    pub fn forget(&mut self) {
        self.found = None;
    }

    /// Says where each step writes the output, if it is to do so.
    pub fn store_to(&mut self, target: Option<HostTarget>) {
        self.found = None;
        self.target = target;
    }

    /// Whether each step writes the output somewhere.
    pub fn is_stored(&self) -> bool {
        self.target.is_some()
    }

    /// Writes the output of a step to where the host wants it.
    pub fn store(&mut self, executable: &Inner, bound: &Bound, position: usize, step: u64) -> Result<()> {
        let Some(mut target) = self.target.take() else { return Ok(()) };
        let index = position % executable.signature.outputs.len();
        let stored =
            bound.with_result(position, |result| self.store_result(executable, result, index, &mut target));
        self.found = Some((step, target.address().expose_provenance()));
        self.target = Some(target);
        stored.unwrap_or_else(|| Err(taken(index)))
    }

    fn store_result(
        &mut self,
        executable: &Inner,
        result: &Buffer,
        index: usize,
        target: &mut HostTarget,
    ) -> Result<()> {
        let spec = &executable.signature.outputs[index];
        if self.in_place == Some(true) {
            result.copy_in_place(&mut target.as_output())?;
            return Ok(());
        }
        let layout = result.layout(spec.dims.len())?;
        let is_readable = layout.is_row_major(&spec.dims) && !spec.dtype.is_sub_byte();
        if is_readable && spec.host_size() > 0 && result.bytes(spec.host_size())?.is_some() {
            self.in_place = Some(true);
        }
        copy_row_major(result, spec.array_type(), &layout, &mut target.as_output())
    }

    fn look(&mut self, executable: &Inner, result: &Buffer, index: usize) -> Result<*const u8> {
        let spec = &executable.signature.outputs[index];
        let size = spec.host_size();
        if size == 0 {
            return Ok(std::ptr::null());
        }
        if self.in_place == Some(true) {
            // A synchronous plugin gives no result before it is there.
            if !executable.is_synchronous() {
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
