//! Programs with destinations for their results.

use super::file::File;
use super::*;

/// Three programs in each version of the encoding that the library reads, as plain
/// StableHLO and as portable artifacts.
macro_rules! programs {
    ($($version:literal)*) => {
        [$(
            (3, include_bytes!(concat!("../../../../tests/fixtures/bytecode/steps_", $version, ".mlirbc"))),
            (2, include_bytes!(concat!("../../../../tests/fixtures/bytecode/donated_", $version, ".mlirbc"))),
            (1, include_bytes!(concat!("../../../../tests/fixtures/bytecode/constant_", $version, ".mlirbc"))),
        )*]
    };
}

/// How many results can have a destination, and the program.
const PROGRAMS: [(usize, &[u8]); 30] = programs!("0" "1" "2" "3" "4" "5" "6" "0.9.0" "0.14.0" "1.13.0");

fn all_results(code: &[u8]) -> Result<(Vec<u8>, Vec<usize>)> {
    let outputs = read(code)?.main.map_or(0, |main| main.outputs.len());
    with_destinations(code, &(0..outputs).collect::<Vec<_>>())
}

/// Whether destinations stand behind the inputs that there were, and nothing else changed.
fn check(before: &[u8], after: &[u8], destinations: &[usize]) {
    let (before, after) = (read(before).unwrap(), read(after).unwrap());
    let (old, new) = (before.main.unwrap(), after.main.unwrap());
    assert_eq!(old.outputs, new.outputs);
    assert_eq!(old.inputs, new.inputs[..old.inputs.len()]);
    let added: Vec<&Value> = new.inputs[old.inputs.len()..].iter().collect();
    assert_eq!(added.len(), destinations.len());
    for (added, &result) in added.iter().zip(destinations) {
        assert!(added.is_donated && added.ty == old.outputs[result].ty && added.name.is_none());
    }
    assert_eq!((before.name, before.bytecode_version), (after.name, after.bytecode_version));
    assert_eq!(before.custom_calls, after.custom_calls);
}

#[test]
fn every_version_of_the_encoding() {
    let mut versions = std::collections::BTreeSet::new();
    for (count, code) in PROGRAMS {
        let version = read(code).unwrap().bytecode_version;
        versions.insert(version);
        let (rewritten, destinations) = all_results(code).unwrap();
        let first = read(code).unwrap().main.unwrap().outputs.len() - count;
        assert_eq!(destinations, (first..first + count).collect::<Vec<_>>(), "version {version}");
        check(code, &rewritten, &destinations);
        // Each result shares memory now.
        assert_eq!(all_results(&rewritten).unwrap(), (rewritten, vec![]));
    }
    assert_eq!(versions, (0..=NEWEST).collect());
}

#[test]
fn only_those_wanted() {
    let (_, code) = PROGRAMS[0];
    assert_eq!(with_destinations(code, &[]).unwrap(), (code.to_vec(), vec![]));
    let (rewritten, destinations) = with_destinations(code, &[2, 0]).unwrap();
    assert_eq!(destinations, [2, 0]);
    check(code, &rewritten, &destinations);
    assert_eq!(with_destinations(code, &[3]).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(with_destinations(&File::new().write(), &[]).unwrap_err().code(), Code::Unimplemented);
}

/// An attribute of the module that the library does not know may be about parameters.
#[test]
fn attributes_of_the_module() {
    for (_, code) in PROGRAMS {
        let mut code = code.to_vec();
        let place = memchr::memmem::find(&code, b"mhlo.num_replicas").unwrap();
        code[place..place + 17].copy_from_slice(b"mhlo.num_repliken");
        let error = all_results(&code).unwrap_err();
        assert!(error.message().contains("has the attribute mhlo.num_repliken"), "{error}");
    }
}

#[test]
fn element_types_of_whole_bytes() {
    let module = read(DTYPES).unwrap().main.unwrap();
    let (rewritten, destinations) = all_results(DTYPES).unwrap();
    check(DTYPES, &rewritten, &destinations);
    for (result, output) in module.outputs.iter().enumerate() {
        let ValueType::Array { dtype, .. } = output.ty else { panic!("{output:?}") };
        assert_eq!(destinations.contains(&result), !dtype.is_sub_byte(), "{dtype:?}");
    }
}

/// Marsaglia's xorshift: the same numbers in every run.
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state as usize
}

/// Whatever is accepted, gives a file that is accepted.
#[test]
fn random_changes() {
    let mut state = 0x2545_f491_4f6c_dd1d;
    let mut rewritten_well = 0;
    for round in 0..10_000 {
        let mut code = PROGRAMS[round % PROGRAMS.len()].1.to_vec();
        for _ in 0..1 + random(&mut state) % 3 {
            let position = random(&mut state) % code.len();
            code[position] = match random(&mut state) % 3 {
                0 => code[position].wrapping_add(2),
                1 => code[position].wrapping_sub(2),
                _ => random(&mut state) as u8,
            };
        }
        if let Ok((rewritten, destinations)) = all_results(&code) {
            check(&code, &rewritten, &destinations);
            rewritten_well += 1;
        }
    }
    assert!((500..9_500).contains(&rewritten_well), "{rewritten_well}");
}
