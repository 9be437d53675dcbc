//! Tests of saved executables: what comes back, and that nothing else does.

use super::sample::{cpu, facts, surroundings};
use super::*;
use crate::compile::identity::{CpuFeatures, PluginFile};
use crate::error::Code;

fn code(bytes: &[u8]) -> Code {
    Saved::decode(bytes).map(|_| ()).unwrap_err().code()
}

/// A sequence of numbers that look random, the same in every run.
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state as usize
}

#[test]
fn places_of_results_come_back() {
    let mut with_place = facts();
    with_place.parameters.push(Parameter::Destination(0));
    let bytes = Saved::new(with_place.clone(), b"code").encode().unwrap();
    assert_eq!(Saved::decode(&bytes).unwrap().facts, with_place);
    for wrong in [Parameter::Destination(0), Parameter::Destination(1)] {
        let mut twice = with_place.clone();
        twice.parameters.push(wrong);
        let bytes = Saved::new(twice, b"code").encode().unwrap();
        assert_eq!(code(&bytes), Code::DataLoss, "{wrong:?}");
    }
}

#[test]
fn what_is_saved_comes_back() {
    let executable: Vec<u8> = (0..=255).collect();
    for cache_key in [None, Some(Hash([3; 32]))] {
        let saved = Saved::new(Facts { cache_key, ..facts() }, &executable);
        let bytes = saved.encode().unwrap();
        assert!(is_one(&bytes) && !is_one(&bytes[1..]));
        for read in [Saved::decode(&bytes).unwrap(), Saved::from_vec(bytes.clone()).unwrap()] {
            assert_eq!(read.facts, saved.facts);
            assert_eq!(read.executable(), executable);
            assert_eq!(read.encode().unwrap(), bytes);
            assert_eq!(read.into_owned().unwrap().encode().unwrap(), bytes);
        }
    }
    let empty = Saved::new(facts(), &[]).encode().unwrap();
    assert_eq!(Saved::decode(&empty).unwrap().executable(), b"");
}

/// What one version has written all later ones read. The file was written by the first.
#[test]
fn files_of_the_first_version_are_read() {
    let bytes = include_bytes!("../../../tests/fixtures/saved_v1.cyxla");
    let saved = Saved::decode(bytes).unwrap();
    assert_eq!(saved.facts, facts());
    assert_eq!(saved.executable(), b"machine code");
}

#[test]
fn every_flip_of_a_bit_is_noticed() {
    let bytes = Saved::new(facts(), b"machine code").encode().unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            assert_eq!(code(&flipped), Code::DataLoss, "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn every_other_length_is_noticed() {
    let mut bytes = Saved::new(facts(), b"machine code").encode().unwrap();
    for length in 0..bytes.len() {
        let error = Saved::decode(&bytes[..length]).map(|_| ()).unwrap_err();
        let due = if length < 6 { Code::InvalidArgument } else { Code::DataLoss };
        assert_eq!(error.code(), due, "{length}");
        assert!(length < 8 || error.message().contains("cut short"), "{length}: {error}");
    }
    bytes.push(0);
    let error = Saved::decode(&bytes).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), Code::DataLoss);
    assert!(error.message().contains("instead of"), "{error}");
}

#[test]
fn what_others_compiled_is_explained() {
    let told = |bytes: &[u8]| Saved::decode(bytes).map(|_| ()).unwrap_err();
    assert!(told(b"\x80\x04\x95\0\0jax").message().contains("pickle"));
    for bytes in [&b""[..], b"module {}"] {
        let error = told(bytes);
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains("no saved executable"), "{error}");
    }
}

#[test]
fn ten_thousand_damages_are_noticed() {
    let executable: Vec<u8> = (0..2000_u32).map(|number| (number * 7 / 8) as u8).collect();
    let bytes = Saved::new(facts(), &executable).encode().unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for round in 0..10_000 {
        let mut damaged = bytes.clone();
        match round % 5 {
            0 => damaged[random(&mut state) % bytes.len()] ^= 1 + (random(&mut state) % 255) as u8,
            1 => damaged.truncate(random(&mut state) % bytes.len()),
            2 => damaged.insert(random(&mut state) % bytes.len(), random(&mut state) as u8),
            3 => drop(damaged.remove(random(&mut state) % bytes.len())),
            _ => {
                let (from, to) = (random(&mut state) % bytes.len(), random(&mut state) % bytes.len());
                let length = (1 + random(&mut state) % 64).min(bytes.len() - from.max(to));
                damaged.copy_within(from..from + length, to);
            }
        }
        if damaged != bytes {
            let found = code(&damaged);
            assert!(matches!(found, Code::DataLoss | Code::InvalidArgument), "round {round}: {found}");
        }
    }
}

#[test]
fn a_newer_format_is_told_from_damage() {
    let message = convert::to_message(&facts()).encode_to_vec();
    let newer = envelope::seal_as(VERSION + 1, &message, b"code").unwrap();
    let error = Saved::decode(&newer).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented);
    assert!(error.message().contains("version 2") && error.message().contains("up to 1"), "{error}");
    assert_eq!(code(&envelope::seal_as(0, &message, b"code").unwrap()), Code::DataLoss);
}

/// Whoever writes a hash by hand can write anything else.
#[test]
fn a_message_that_makes_no_sense_is_refused() {
    let good = convert::to_message(&facts());
    let parameter =
        |input, platform_index| proto::Parameter { input, platform_index, ..proto::Parameter::default() };
    type Change = fn(&mut proto::Saved);
    let wrong: [(&str, Change); 8] = [
        ("surroundings", |message| message.made_in = None),
        ("plugin", |message| message.made_in.as_mut().unwrap().plugin = None),
        ("hash", |message| {
            message.made_in.as_mut().unwrap().plugin.as_mut().unwrap().hash.truncate(31);
        }),
        ("key", |message| message.cache_key = vec![1; 33]),
        ("devices", |message| message.devices = vec![0]),
        ("replicas", |message| message.replica_count = u64::MAX),
        ("dims", |message| message.inputs[0].dims = vec![i64::MAX, 16]),
        ("dims", |message| message.inputs[0].dims = vec![-1]),
    ];
    for (what, change) in wrong {
        let mut message = good.clone();
        change(&mut message);
        let bytes = envelope::seal(&message.encode_to_vec(), b"code").unwrap();
        assert!(Saved::decode(&bytes).is_err(), "{what}");
    }
    let both = [parameter(Some(3), None), parameter(Some(u64::MAX), None), parameter(None, None)];
    for wrong in both.into_iter().chain([parameter(Some(0), Some(0)), parameter(Some(0), None)]) {
        let mut message = good.clone();
        message.parameters.push(wrong);
        let bytes = envelope::seal(&message.encode_to_vec(), b"code").unwrap();
        assert!(Saved::decode(&bytes).is_err(), "{wrong:?}");
    }
    let garbage = envelope::seal(b"\xff\xff\xff", b"code").unwrap();
    assert_eq!(code(&garbage), Code::DataLoss);
}

#[test]
fn it_fits_where_nothing_that_matters_differs() {
    let saved = Saved::new(facts(), b"");
    saved.check_fits(&surroundings()).unwrap();
    let mut here = surroundings();
    here.plugin.name = "renamed.so".into();
    here.plugin.stat = None;
    here.cpu = cpu(&["avx", "avx2", "avx512f", "amx-tile", "avx10"]);
    here.device_count = 5;
    saved.check_fits(&here).unwrap();
}

#[test]
fn all_differences_are_told() {
    let saved = Saved::new(facts(), b"");
    let told = |change: fn(&mut Surroundings)| {
        let mut here = surroundings();
        change(&mut here);
        let error = saved.check_fits(&here).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition);
        assert!(error.detail("hint").unwrap().contains("cyxla compile"));
        error.message().to_owned()
    };
    let message = told(|here| {
        here.plugin = PluginFile { name: "new.so".into(), hash: Hash([0xab; 32]), stat: None };
        here.api_version = (0, 115);
        here.cpu = cpu(&["avx2"]);
    });
    assert_eq!(
        message,
        "the saved executable 'jit_step' was not made for this: it was compiled by libpjrt_cpu.so \
         (sha256 090909090909…, PJRT 0.106), and the loaded plugin is new.so (sha256 abababababab…, \
         PJRT 0.115); this CPU lacks amx-tile, avx512f"
    );
    assert!(
        told(|here| here.platform = "cuda".into()).contains("for cpu, and the loaded plugin is for cuda")
    );
    assert!(told(|here| here.platform_version = "cuda 12".into()).contains("'cuda 12'"));
    assert!(told(|here| here.api_version = (0, 107)).contains("PJRT 0.106, and this is PJRT 0.107"));
    assert!(told(|here| here.device_kind = "H100".into()).contains("these are 'H100'"));
    assert!(told(|here| here.device_count = 3).contains("device 3, counted from 0, and there are 3"));
    let arm = told(|here| here.cpu = CpuFeatures::new("aarch64", Vec::new()));
    assert!(arm.ends_with("it was compiled on x86_64, and this is aarch64"), "{arm}");
}
