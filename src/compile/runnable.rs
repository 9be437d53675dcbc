//! Refuses compiled programs that would hang, abort or compute wrong numbers on
//! the devices that they were compiled for.
//!
//! Plugins compile them without complaint: a program that waits for data from an
//! infeed waits for ever, and one that talks to devices which do not exist aborts
//! or returns its own input as if it were everybody's sum.

use crate::error::{Code, Error, Origin, Result};
use crate::program::hlo::host_transfer;
use crate::program::hlo::proto::{Computation, HloModule, Instruction};

/// Whether the program can run on so many devices and without anybody else.
pub fn check(module: &HloModule, device_count: usize) -> Result<()> {
    let all = module.computations.iter().flat_map(|computation| {
        computation.instructions.iter().map(move |instruction| (computation, instruction))
    });
    for (computation, instruction) in all {
        let opcode = instruction.opcode.as_str();
        if let Some(error) = host_transfer(opcode) {
            return Err(error);
        }
        let alone = device_count == 1;
        if needs_other_devices(instruction, device_count) || (alone && changes_size(instruction, computation))
        {
            let message = format!(
                "the program is written for more devices (its {opcode} names others) than it was compiled for, which is {device_count}"
            );
            return Err(Error::new(Code::Unimplemented, Origin::Library, message).hint(
                "export the program for one device, or set the compile options replicas and partitions",
            ));
        }
    }
    Ok(())
}

/// Whether a collective gives more or less than it takes, as it only does among
/// several devices. Alone it leaves what is missing as it was in memory.
fn changes_size(instruction: &Instruction, computation: &Computation) -> bool {
    const RESIZING: [&str; 3] = ["all-gather", "reduce-scatter", "all-to-all"];
    if !RESIZING.contains(&instruction.opcode.as_str()) {
        return false;
    }
    let dims = |instruction: &Instruction| {
        let shape = instruction.shape.clone().unwrap_or_default();
        let parts = if shape.tuple_shapes.is_empty() { vec![shape] } else { shape.tuple_shapes };
        parts.into_iter().map(|part| part.dimensions).collect::<Vec<_>>()
    };
    let taken = instruction
        .operand_ids
        .iter()
        .flat_map(|id| computation.instructions.iter().filter(move |one| one.id == *id).flat_map(dims));
    taken.collect::<Vec<_>>() != dims(instruction)
}

/// Whether an instruction names a device that is none of the first `count`.
fn needs_other_devices(instruction: &Instruction, count: usize) -> bool {
    // The short form of the groups is only used where there are several devices.
    if count == 1 && instruction.collective_device_list.as_ref().is_some_and(|list| list.iota.is_some()) {
        return true;
    }
    let is_other = |id: i64| !usize::try_from(id).is_ok_and(|id| id < count);
    let newer = instruction.collective_device_list.iter().flat_map(|list| &list.replica_groups);
    let mut members = newer.chain(&instruction.replica_groups).flat_map(|group| &group.replica_ids);
    let mut pairs = instruction.source_target_pairs.iter();
    members.any(|&id| is_other(id)) || pairs.any(|pair| is_other(pair.source) || is_other(pair.target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::hlo::proto::{CollectiveDeviceList, ReplicaGroup, Shape, SourceTarget};

    fn outcome(instruction: Instruction) -> std::result::Result<(), Code> {
        let computation = Computation { instructions: vec![instruction], id: 1 };
        check(&HloModule { computations: vec![computation], ..Default::default() }, 1)
            .map_err(|error| error.code())
    }

    fn array(id: i64, opcode: &str, operands: &[i64], dims: &[i64]) -> Instruction {
        let shape = Some(Shape { element_type: 11, dimensions: dims.to_vec(), ..Default::default() });
        Instruction { id, opcode: opcode.into(), operand_ids: operands.to_vec(), shape, ..Default::default() }
    }

    #[test]
    fn a_collective_that_changes_the_size_needs_others() {
        for opcode in ["all-gather", "reduce-scatter"] {
            for (dims, expected) in [(&[4][..], Ok(())), (&[8], Err(Code::Unimplemented))] {
                let instructions = vec![array(1, "parameter", &[], &[4]), array(2, opcode, &[1], dims)];
                let module = HloModule {
                    computations: vec![Computation { instructions, id: 1 }],
                    ..Default::default()
                };
                assert_eq!(check(&module, 1).map_err(|error| error.code()), expected, "{opcode} {dims:?}");
            }
        }
    }

    fn groups(ids: &[i64]) -> Vec<ReplicaGroup> {
        vec![ReplicaGroup { replica_ids: ids.to_vec() }]
    }

    #[test]
    fn what_one_device_can_run() {
        let opcode = |opcode: &str| Instruction { opcode: opcode.into(), ..Default::default() };
        assert_eq!(outcome(opcode("add")), Ok(()));
        assert_eq!(outcome(Instruction { replica_groups: groups(&[0]), ..opcode("all-reduce") }), Ok(()));
        for host in ["infeed", "outfeed", "send", "recv"] {
            assert_eq!(outcome(opcode(host)), Err(Code::Unimplemented));
        }
        let older = Instruction { replica_groups: groups(&[0, 1]), ..opcode("all-reduce") };
        let list = CollectiveDeviceList { replica_groups: groups(&[0, 1, 2, 3]), iota: None };
        let newer = Instruction { collective_device_list: Some(list), ..opcode("all-reduce") };
        let pairs = vec![SourceTarget { source: 0, target: 1 }];
        let permute = Instruction { source_target_pairs: pairs, ..opcode("collective-permute") };
        for several in [older, newer, permute] {
            assert_eq!(outcome(several), Err(Code::Unimplemented));
        }
    }
}
