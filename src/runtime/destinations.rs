//! Memory for results of programs that were compiled to write them where they are told.
//!
//! Such programs run on one device. They write while they read their arguments, so what
//! they write to must be nothing that they read.

use smallvec::SmallVec;

use super::executable::Inner;
use super::run::Borrowed;
use crate::error::Result;
use crate::pjrt::{ArraySpec, Buffer, HostInput, HostOutput, OwnMemory};

/// Where programs write the results that have a destination, where that is not the host's
/// own memory; in the order of the destinations.
pub type Stand = SmallVec<[Option<OwnMemory>; 1]>;

/// Memory for the results that cannot go straight to the host: it is not aligned, or an
/// argument or another result lies there too.
pub fn stand_ins(executable: &Inner, inputs: &[HostInput<'_>], outputs: &[HostOutput<'_>]) -> Result<Stand> {
    let mut stand = Stand::new();
    for &index in executable.arguments.destinations() {
        let (output, spec) = (&outputs[index], &executable.signature.outputs[index]);
        let range = (output.address().cast_const(), output.size());
        let mut others = outputs.iter().enumerate().filter(|(other, _)| *other != index);
        let is_alone = executable.runtime.client.can_alias(output.address(), spec.dtype)
            && !inputs.iter().any(|input| overlap(range, (input.address(), input.size())))
            && !others.any(|(_, other)| overlap(range, (other.address().cast_const(), other.size())));
        stand.push(if is_alone { None } else { Some(OwnMemory::new(spec.host_size())?) });
    }
    Ok(stand)
}

/// Adds the memory for results to the arguments.
pub fn lend_all<'a>(
    executable: &Inner,
    outputs: &[HostOutput<'a>],
    stand_ins: &'a mut Stand,
    arguments: &mut Borrowed<'a>,
) -> Result<()> {
    let runtime = executable.runtime;
    for (&index, stand_in) in executable.arguments.destinations().iter().zip(stand_ins) {
        let spec = &executable.signature.outputs[index];
        let array = ArraySpec { dtype: spec.dtype, dims: &spec.dims };
        arguments.push(match stand_in {
            Some(memory) => runtime.client.lend_output(&memory.as_output(), array, executable.target())?,
            None => runtime.client.lend_output(&outputs[index], array, executable.target())?,
        });
    }
    Ok(())
}

/// Memory of the library's own for the results, which is freed with them.
pub fn make_all(executable: &Inner, device: usize, made: &mut SmallVec<[Buffer; 1]>) -> Result<()> {
    let runtime = executable.runtime;
    for &index in executable.arguments.destinations() {
        let spec = &executable.signature.outputs[index];
        let array = ArraySpec { dtype: spec.dtype, dims: &spec.dims };
        let memory = OwnMemory::new(spec.host_size())?;
        made.push(memory.into_buffer(&runtime.client, array, runtime.device(device)?)?);
    }
    Ok(())
}

/// Whether two pieces of memory share a byte.
pub fn overlap((one, one_size): (*const u8, usize), (other, other_size): (*const u8, usize)) -> bool {
    let (one, other) = (one.addr(), other.addr());
    one < other.saturating_add(other_size) && other < one.saturating_add(one_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_shared() {
        let at = |address: usize, size: usize| (std::ptr::without_provenance(address), size);
        assert!(
            overlap(at(64, 8), at(64, 8)) && overlap(at(64, 8), at(71, 1)) && overlap(at(64, 8), at(0, 65))
        );
        assert!(!overlap(at(64, 8), at(72, 8)) && !overlap(at(72, 8), at(64, 8)));
        assert!(!overlap(at(64, 0), at(64, 0)) && !overlap(at(64, 8), at(64, 0)));
        assert!(overlap(at(usize::MAX - 8, 8), at(usize::MAX - 1, 1)));
    }
}
