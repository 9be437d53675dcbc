//! Reading an output of a call.

use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{ArraySpec, Bound, Buffer, BufferRef, Device, HostTarget, OwnMemory};
use crate::program::TensorSpec;
use crate::runtime::executable::{Inner, ResultForm};
use crate::runtime::run::copy_row_major;

/// What is known of an output between steps.
pub struct Output {
    /// Bytes that it takes in host memory.
    size: usize,
    /// The step whose output was looked for last, and where it is; 0 for none.
    found_step: u64,
    found_address: usize,
    /// Whether the plugin's memory is what the host may read; known after the first look.
    in_place: Option<bool>,
    /// A copy for the host, where it may not.
    copy: Option<OwnMemory>,
    /// Memory of the host that each step writes it to.
    target: Option<HostTarget>,
    /// Memory that the program writes it to, where it is told; in turns, if a step reads
    /// what the step before has written.
    places: [Option<OwnMemory>; 2],
    /// Which of them has the result of the last step that went well.
    turn: usize,
}

impl Output {
    /// Nothing is known of it yet.
    pub fn new(spec: &TensorSpec) -> Output {
        Output {
            size: spec.host_size(),
            found_step: 0,
            found_address: 0,
            in_place: None,
            copy: None,
            target: None,
            places: [None, None],
            turn: 0,
        }
    }

    /// Bytes that it takes in host memory.
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The address of the output of a step, if it was looked for already.
    #[inline]
    pub fn found(&self, step: u64) -> Option<*const u8> {
        (self.found_step == step).then(|| std::ptr::with_exposed_provenance(self.found_address))
    }

    /// The address of the output of a step; NULL if it has no elements.
    #[inline]
    pub fn read(
        &mut self,
        executable: &Inner,
        bound: &Bound,
        position: usize,
        index: usize,
        step: u64,
    ) -> Result<*const u8> {
        let look = |result: &Buffer| self.look(executable, result, index);
        let Some(address) = bound.with_result(position, look) else { return Err(taken(index)) };
        let address = address?;
        self.found_step = step;
        self.found_address = address.expose_provenance();
        Ok(address)
    }

    /// Forgets the address, since the output is somebody else's now.
    pub fn forget(&mut self) {
        self.found_step = 0;
    }

    /// Says where each step writes the output, if it is to do so.
    pub fn store_to(&mut self, target: Option<HostTarget>) {
        self.found_step = 0;
        self.target = target;
    }

    /// Whether each step writes the output somewhere.
    pub fn is_stored(&self) -> bool {
        self.target.is_some()
    }

    /// Whether the last step wrote the output straight to the host's memory.
    pub fn is_lent(&self) -> bool {
        self.target.as_ref().is_some_and(|target| target.argument().is_some())
    }

    /// The memory that each step writes the output to.
    pub fn target_range(&self) -> Option<(*const u8, usize)> {
        self.target.as_ref().map(|target| (target.address().cast_const(), target.size()))
    }

    /// Gives the program memory to write the output of the next step to: that of the host
    /// if it may go straight there, else the call's own, and another one than the last
    /// where that is still read. No result but that one may be left in it.
    pub fn make_destination(
        &mut self,
        executable: &Inner,
        index: usize,
        device: &Device,
        goes_straight: bool,
        is_read: bool,
    ) -> Result<BufferRef<'_>> {
        let (client, spec) = (&executable.runtime.client, &executable.signature.outputs[index]);
        let array = ArraySpec { dtype: spec.dtype, dims: &spec.dims };
        let lost = || Error::internal("a destination was not made");
        if let Some(target) = &mut self.target {
            target.end_lending();
            if goes_straight && target.takes_in_place(client, spec.dtype) {
                target.make_destination(client, array, device)?;
                return target.argument().ok_or_else(lost);
            }
        }
        let turn = if is_read { 1 - self.turn } else { self.turn };
        let place = match &mut self.places[turn] {
            Some(place) => place,
            none => none.insert(OwnMemory::new(spec.host_size())?),
        };
        place.make_destination(client, array, device)?;
        place.argument().ok_or_else(lost)
    }

    /// The step went well that the last destination was for.
    pub fn use_destination(&mut self, is_read: bool) {
        if is_read && !self.is_lent() {
            self.turn = 1 - self.turn;
        }
    }

    /// Writes the output of a step to where the host wants it.
    pub fn store(&mut self, executable: &Inner, bound: &Bound, position: usize, step: u64) -> Result<()> {
        let Some(mut target) = self.target.take() else { return Ok(()) };
        let index = position % executable.signature.outputs.len();
        let stored =
            bound.with_result(position, |result| self.store_result(executable, result, index, &mut target));
        (self.found_step, self.found_address) = (step, target.address().expose_provenance());
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
        let form = ResultForm::of(result, spec)?;
        self.in_place = Some(form.is_readable);
        copy_row_major(result, spec.array_type(), &form.layout, &mut target.as_output())
    }

    #[inline]
    fn look(&mut self, executable: &Inner, result: &Buffer, index: usize) -> Result<*const u8> {
        if self.in_place == Some(true) {
            // A synchronous plugin gives no result before it is there.
            if !executable.is_synchronous() {
                result.wait()?;
            }
            return result.address();
        }
        self.look_closer(executable, result, index)
    }

    #[cold]
    fn look_closer(&mut self, executable: &Inner, result: &Buffer, index: usize) -> Result<*const u8> {
        let (spec, size) = (&executable.signature.outputs[index], self.size);
        if size == 0 {
            return Ok(std::ptr::null());
        }
        let form = ResultForm::of(result, spec)?;
        self.in_place = Some(form.is_readable);
        if form.is_readable {
            result.wait()?;
            return result.address();
        }
        let copy = match &mut self.copy {
            Some(copy) => copy,
            none => none.insert(OwnMemory::new(size)?),
        };
        copy_row_major(result, spec.array_type(), &form.layout, &mut copy.as_output())?;
        Ok(copy.address())
    }
}

/// The error for an output that is not there any more.
#[cold]
pub fn taken(index: usize) -> Error {
    let message = format!("output {index} of the last step was taken");
    Error::new(Code::FailedPrecondition, Origin::Caller, message)
}
