//! Files that are cut, changed, or made to take for ever: always an answer, and soon.

use std::time::{Duration, Instant};

use super::build::Item::*;
use super::build::{array, leaf, node, text, texts, with};
use super::*;

/// Reads everything that can be read, as a user of the reader does. Most changes make
/// an error; those that only change what is said do not.
fn attempt(bytes: &[u8]) -> bool {
    looks_like_one(bytes);
    let mut outcome = read(bytes);
    let mut depth = 0;
    loop {
        match outcome {
            Ok(export) => {
                assert!(export.module.end <= bytes.len());
                assert!(export.kept_inputs.iter().all(|kept| *kept < export.inputs.len()));
                assert_eq!(export.in_tree.leaf_count(), export.inputs.len());
                let Some(vjp) = export.vjp else { return true };
                depth += 1;
                assert!(depth < 1000, "gradients without end");
                outcome = read_at(bytes, vjp);
            }
            Err(error) => {
                assert!(error.message().len() < 400 && error.detail("hint").is_some(), "{error}");
                return false;
            }
        }
    }
}

#[test]
fn cut_at_every_length() {
    for name in NAMES {
        let bytes = file(name);
        let mut looks = false;
        for end in 0..bytes.len() {
            let outcome = read(&bytes[..end]);
            // The end of a file may be padding.
            assert!(outcome.is_err() || end + 8 > bytes.len(), "{name} at {end}");
            // Once its root is whole it is told as what it is.
            looks |= looks_like_one(&bytes[..end]);
            assert_eq!(looks_like_one(&bytes[..end]), looks, "{name} at {end}");
            assert!(looks || end < 600, "{name} at {end}");
        }
        assert!(looks_like_one(&bytes), "{name}");
    }
}

#[test]
fn every_byte_changed() {
    for name in ["trees", "sharding4", "old_0_6_2_sharding", "effects", "vjp1", "newest"] {
        let mut bytes = file(name);
        let module = read(&bytes).unwrap().module;
        for position in (0..bytes.len()).filter(|position| !module.contains(position)) {
            let byte = bytes[position];
            for changed in [byte ^ 1, byte ^ 0x80, byte.wrapping_add(4), 0, 0xff] {
                bytes[position] = changed;
                attempt(&bytes);
            }
            bytes[position] = byte;
        }
        assert!(attempt(&bytes));
    }
}

/// Marsaglia's xorshift: the same numbers in every run.
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state as usize
}

#[test]
fn random_changes() {
    let mut state = 0x2545_f491_4f6c_dd1d;
    let files = ["one", "trees", "sharding2", "old_0_4_30_sharding"].map(file);
    let mut read_well = 0;
    for round in 0..100_000 {
        let mut bytes = files[round % files.len()].clone();
        for _ in 0..1 + random(&mut state) % 4 {
            let position = random(&mut state) % bytes.len();
            let value = random(&mut state) as u32 >> (random(&mut state) % 32);
            for (byte, value) in bytes[position..].iter_mut().zip(value.to_le_bytes()) {
                *byte = value;
            }
        }
        read_well += usize::from(attempt(&bytes));
    }
    assert!((10_000..90_000).contains(&read_well), "{read_well}");
}

#[test]
fn random_bytes() {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for round in 0..20_000 {
        let mut bytes: Vec<u8> = (0..random(&mut state) % 600).map(|_| random(&mut state) as u8).collect();
        // Half of them with offsets that are not all far too large.
        if round % 2 == 0 {
            bytes.iter_mut().enumerate().filter(|(index, _)| index % 4 != 0).for_each(|(_, byte)| *byte = 0);
        }
        assert!(!looks_like_one(&bytes) && read(&bytes).is_err());
    }
}

#[test]
fn offsets_that_lead_anywhere() {
    let good = with(vec![]);
    for at in (0..good.len() - 4).step_by(2) {
        for value in
            [0u32, 1, 3, 4, 0x7fff_ffff, 0x8000_0000, u32::MAX - 3, u32::MAX, (at as u32).wrapping_neg()]
        {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            attempt(&bytes);
        }
    }
}

/// A chain of tree nodes, each with `fan` children that are all the next one; the last
/// is a leaf. Each takes 16 bytes and 4 for each child.
fn chain(length: usize, fan: usize, kind: u8) -> build::Item {
    let mut bytes = Vec::new();
    bytes.extend([8u16, 12, 4, 8].iter().flat_map(|entry| entry.to_le_bytes()));
    bytes.extend([4u16, 4].iter().flat_map(|entry| entry.to_le_bytes()));
    let size = 16 + 4 * fan;
    for index in 0..length {
        let start = bytes.len();
        bytes.extend((start as u32).to_le_bytes());
        bytes.extend([kind, 0, 0, 0]);
        bytes.extend(4u32.to_le_bytes());
        bytes.extend((fan as u32).to_le_bytes());
        let next = 12 + (index + 1) * size;
        for _ in 0..fan {
            bytes.extend(((next - bytes.len()) as u32).to_le_bytes());
        }
    }
    bytes.extend((bytes.len() as u32 - 8).to_le_bytes());
    Raw(bytes, 12)
}

fn fails_soon(bytes: &[u8]) -> String {
    let start = Instant::now();
    let error = read(bytes).unwrap_err();
    // Slow machines and debug builds included.
    assert!(start.elapsed() < Duration::from_secs(2), "{error}: {:?}", start.elapsed());
    error.message().strip_prefix("the jax.export file is damaged: ").unwrap().to_owned()
}

#[test]
fn deep_nesting() {
    let read_depth = |length| read(&with(vec![(4, chain(length, 1, 3))]));
    assert_eq!(read_depth(199).unwrap().outputs[0].path, format!("result{}", "[0]".repeat(199)));
    let deep = with(vec![(4, chain(100_000, 1, 3))]);
    assert_eq!(fails_soon(&deep), "a tree is nested more than 200 levels deep");
}

#[test]
fn the_same_again_and_again() {
    let too_many = "the children of a tree's node has more parts than the file has room for";
    for (length, fan) in [(40, 2), (150, 3), (10, 1000), (2, 30_000)] {
        assert_eq!(fails_soon(&with(vec![(4, chain(length, fan, 2))])), too_many, "{length} {fan}");
    }
    // A long name on the way to many leaves.
    let key = "k".repeat(50_000);
    let leaves = node(2, (0..20_000).map(|_| leaf()).collect());
    let named = Table(vec![(0, Byte(4)), (1, List(vec![leaves])), (2, texts(&[&key]))]);
    let shapes = (0..20_000).map(|_| Table(vec![(0, Byte(1))])).collect();
    let message = fails_soon(&with(vec![(4, named), (5, List(shapes))]));
    assert_eq!(message, "it says the same things more often than it has room for");
    // A type of many dimensions, used often.
    let wide = array(&vec!["1"; 20_000]);
    let message = fails_soon(&with(vec![
        (19, List(vec![wide])),
        (23, Words(vec![0; 20_000])),
        (4, node(2, (0..20_000).map(|_| leaf()).collect())),
    ]));
    assert_eq!(message, "it says the same things more often than it has room for");
    // Many shardings on one large mesh.
    let mesh = Table(vec![(0, Words(vec![1; 5000])), (1, texts(&vec!["axis"; 5000]))]);
    let on_it = || Table(vec![(1, Table(vec![]))]);
    let message =
        fails_soon(&with(vec![(20, List(vec![mesh])), (21, List((0..5000).map(|_| on_it()).collect()))]));
    assert_eq!(message, "it says the same things more often than it has room for");
}

#[test]
fn counts_of_4_gb() {
    for (slot, name) in [
        (2, "in_tree"),
        (3, "in_avals"),
        (9, "platforms"),
        (13, "mlir_module_serialized"),
        (15, "module_kept_var_idx"),
    ] {
        // A vector that claims to be as long as can be.
        let message = fails_soon(&with(vec![(slot, Raw(u32::MAX.to_le_bytes().to_vec(), 0))]));
        let expected = if slot == 2 { "is no table" } else { "reaches past the end of the file" };
        assert_eq!(message, format!("{name} {expected}"));
    }
}

#[test]
fn many_inputs_are_not_slow() {
    let count = 20_000;
    let inputs = node(2, (0..count).map(|_| leaf()).collect());
    let tree = node(2, vec![inputs, Table(vec![(0, Byte(4))])]);
    let bytes = with(vec![
        (2, tree),
        (19, List(vec![array(&["2", "3"])])),
        (22, Words(vec![0; count])),
        (23, Words(vec![0])),
    ]);
    let start = Instant::now();
    let export = read(&bytes).unwrap();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(export.inputs[count - 1].path, "args[19999]");
}

#[test]
fn the_program_inside_is_not_looked_at() {
    let mut program = b"ML\xefR".to_vec();
    program.resize(100 << 20, 0xff);
    let bytes = with(vec![(13, Text(program))]);
    let start = Instant::now();
    assert!(looks_like_one(&bytes));
    assert_eq!(read(&bytes).unwrap().module.len(), 100 << 20);
    // Looking at every byte takes a debug build far longer.
    assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
}

#[test]
fn other_files() {
    // Other FlatBuffers: a TFLite model's root; one with sixteen texts; a plain table.
    let mut model = build::file(&Table(vec![(0, Word(3)), (1, List(vec![leaf()])), (3, text("model"))]));
    assert!(!looks_like_one(&model));
    model.splice(4..4, *b"TFL3");
    model[0] += 4;
    assert!(!looks_like_one(&model));
    let sixteen: Vec<_> =
        (1..20).map(|slot| (slot, text("ML\u{ef}R a text"))).chain([(0, Short(3))]).collect();
    assert!(!looks_like_one(&build::file(&Table(sixteen))));
    assert!(!looks_like_one(&build::file(&leaf())));
    // An export without its program, or with a program as text.
    assert!(!looks_like_one(&with(vec![(13, Text(vec![]))])));
    assert!(!looks_like_one(&with(vec![(13, text("module {}"))])));
    // A program itself, and other things.
    let one = file("one");
    assert!(!looks_like_one(&one[read(&one).unwrap().module]));
    for other in [
        &b""[..],
        b"module {}",
        b"HloModule m",
        b"\x7fELF\x02\x01\x01",
        b"PK\x03\x04",
        &[0; 1000],
        &[0xff; 1000],
    ] {
        assert!(!looks_like_one(other), "{other:?}");
    }
}
