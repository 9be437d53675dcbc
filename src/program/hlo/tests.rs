use super::module::Instruction;
use super::*;
use crate::program::signature::TensorSpec;

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/fixtures/hlo/", $name, ".pb"))
    };
}

const STEPS: &[u8] = fixture!("steps");
const TUPLE: &[u8] = fixture!("tuple");
const ALL: [&[u8]; 10] = [
    STEPS,
    TUPLE,
    fixture!("empty_tuple_parameter"),
    fixture!("mixed"),
    fixture!("nested_parameter"),
    fixture!("nested_result"),
    fixture!("empty_result"),
    fixture!("column_major_result"),
    fixture!("custom_call"),
    fixture!("token"),
];

/// Types and names: `f32[4]! x` is donated.
fn told(specs: &[TensorSpec]) -> Vec<String> {
    let tell = |spec: &TensorSpec| {
        let donated = if spec.is_donated { "!" } else { "" };
        format!("{}{donated} {}", spec.array_type(), spec.name.as_deref().unwrap_or("-"))
    };
    specs.iter().map(tell).collect()
}

/// A field of bytes.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let size = content.len();
    [&[number << 3 | 2, size as u8 | 0x80, (size >> 7) as u8][..], content].concat()
}

#[test]
fn names_types_and_donation() {
    let facts = read(STEPS).unwrap();
    assert_eq!((facts.name.as_str(), facts.module), ("jit_steps", 0..STEPS.len()));
    assert_eq!(told(&facts.signature.inputs), ["f32[] params['scale']", "f32[4]! x"]);
    assert_eq!(told(&facts.signature.outputs), ["f32[4] -", "f32[] -"]);
    assert!(!facts.tuple_parameters && facts.custom_calls.is_empty() && facts.devices.is_none());
}

#[test]
fn one_tuple_is_taken_apart() {
    let facts = read(TUPLE).unwrap();
    assert!(facts.tuple_parameters);
    assert_eq!(told(&facts.signature.inputs), ["f32[2,3] pair[0]", "f32[2,3]! pair[1]"]);
    assert_eq!(told(&facts.signature.outputs), ["f32[2,3] -"]);
    let facts = read(fixture!("empty_tuple_parameter")).unwrap();
    assert!(facts.tuple_parameters && facts.signature.inputs.is_empty());
    let facts = read(fixture!("empty_result")).unwrap();
    assert_eq!((told(&facts.signature.inputs).len(), facts.signature.outputs.len()), (1, 0));
}

/// What plugins compile instead is a program that takes the same arrays.
#[test]
fn other_tuples_are_put_together_by_a_new_entry() {
    for (bytes, inputs, donated) in [
        (&fixture!("mixed")[..], &["f32[4] x", "f32[4] pair[0]", "f32[4]! pair[1]"][..], 2),
        (fixture!("nested_parameter"), &["f32[4]! all[0][0]", "f32[4] all[0][1]", "f32[4] all[1]"], 0),
    ] {
        let facts = read(bytes).unwrap();
        assert_eq!(told(&facts.signature.inputs), inputs);
        assert!(!facts.tuple_parameters);
        let rewritten = facts.rewritten.unwrap();
        let again = read(&rewritten).unwrap();
        assert!(again.rewritten.is_none() && !again.tuple_parameters);
        for (one, other) in again.signature.inputs.iter().zip(&facts.signature.inputs) {
            assert!(one.same_type(other) && one.is_donated == other.is_donated);
        }
        assert_eq!(again.signature.outputs, facts.signature.outputs);
        assert!(again.signature.inputs[donated].is_donated);
        // Where nobody knows what the parameters' numbers in a field stand for.
        let error = read(&[bytes, &field(14, b"")].concat()).unwrap_err();
        assert_eq!(error.code(), Code::Unimplemented, "{error}");
    }
}

#[test]
fn custom_calls_are_listed_once() {
    assert_eq!(read(fixture!("custom_call")).unwrap().custom_calls, ["first", "second"]);
}

#[test]
fn what_plugins_cannot_run_is_refused() {
    for (bytes, part) in [
        (&fixture!("nested_result")[..], "result 0 of the program is a tuple"),
        (fixture!("token"), "is a token"),
    ] {
        let error = read(bytes).unwrap_err();
        assert_eq!(error.code(), Code::Unimplemented);
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn a_module_is_found_inside_of_others() {
    // HloModuleProtoWithConfig with the numbers of replicas and partitions.
    let with_config = [field(1, STEPS), field(2, &[0x20, 2, 0x28, 4])].concat();
    let snapshot = field(1, &[field(1, STEPS), field(3, b"")].concat());
    for (bytes, devices) in [(&with_config, Some((2, 4))), (&field(1, STEPS), None), (&snapshot, None)] {
        let facts = read(bytes).unwrap();
        assert!(looks_like_one(bytes));
        assert_eq!((&bytes[facts.module], facts.devices), (STEPS, devices));
    }
    assert!(!looks_like_one(&field(1, &snapshot)));
}

#[test]
fn shardy_is_noticed() {
    let meshes = field(2, &field(1, b"..xla.sdy.meshes.."));
    let attributes = [&[0x9a, 1, meshes.len() as u8][..], &meshes].concat();
    assert!(read(&[STEPS, &attributes].concat()).unwrap().has_shardy);
    assert!(!read(STEPS).unwrap().has_shardy);
}

#[test]
fn what_was_compiled_before_is_refused() {
    let scheduled = [STEPS, &field(7, &[8, 1])].concat();
    let mut fused = STEPS.to_vec();
    let opcode = STEPS.windows(8).position(|bytes| bytes == b"multiply").unwrap();
    // A shorter word, and a field that nobody knows for what is left of its place.
    fused[opcode - 1] = 6;
    fused[opcode..opcode + 8].copy_from_slice(b"fusion\x68\x00");
    for (bytes, part) in [(&scheduled, "in which order"), (&fused, "the instruction 'fusion'")] {
        let error = read(bytes).unwrap_err();
        assert_eq!(error.code(), Code::Unimplemented, "{error}");
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn other_files_are_not_taken_for_one() {
    let numpy = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
    for other in [
        &b""[..],
        b"\n",
        b"hello",
        b"\x7fELF\x02\x01\x01",
        numpy,
        b"HloModule m",
        b"ML\xefR\x0d",
        b"\x08\x00\x00\x00TFL3",
    ] {
        assert!(!looks_like_one(other));
    }
    // Bytes without any order in them.
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    for _ in 0..20_000 {
        let bytes: [u8; 64] = std::array::from_fn(|_| random());
        assert!(!looks_like_one(&bytes) && !looks_like_one(&[&[0x0a, 3][..], &bytes].concat()));
    }
}

#[test]
fn what_is_cut_off_is_said_to_be_damaged() {
    for whole in ALL {
        for length in 0..whole.len() {
            let cut = &whole[..length];
            match read(cut) {
                Err(error) => {
                    assert!([Code::InvalidArgument, Code::Unimplemented].contains(&error.code()))
                }
                // What stands last may be missing: donation, the lines of the source.
                Ok(facts) => {
                    let whole = read(whole).unwrap().signature;
                    assert_eq!(facts.signature.outputs, whole.outputs);
                    assert!(
                        facts
                            .signature
                            .inputs
                            .iter()
                            .zip(&whole.inputs)
                            .all(|(one, other)| one.same_type(other))
                    );
                }
            }
            assert!(length < 96 || looks_like_one(cut), "{length} of {}", whole.len());
        }
    }
}

/// Damage gives an error or other facts, and nothing worse.
#[test]
fn damage_does_no_harm() {
    for whole in ALL {
        for position in (0..whole.len()).step_by(1 + whole.len() / 1000) {
            for change in [1, 0x80] {
                let mut bytes = whole.to_vec();
                bytes[position] ^= change;
                let _ = looks_like_one(&bytes);
                let _ = read(&bytes);
            }
        }
    }
}

#[test]
fn windows_have_a_limit() {
    let instruction = |stride: &[u8]| {
        let window = field(1, &field(1, &[&[8, 2, 0x10][..], stride].concat()));
        let window = [&[0x7a, (window.len() - 3) as u8][..], &window[3..]].concat();
        Instruction::read(&window).map(|_| ())
    };
    assert_eq!(instruction(&[3]), Ok(()));
    assert!(instruction(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]).is_err());
    assert!(instruction(&[0xff; 10]).is_err());
}

#[test]
fn names_that_were_made_up_are_none() {
    let told = |name| name_of(name, b"");
    for (own, expected) in [("x", Some("x")), ("x.1", Some("x")), ("a.b.12", Some("a.b")), ("p", Some("p"))] {
        assert_eq!(told(own).as_deref(), expected, "{own}");
    }
    for made_up in ["Arg_0.1", "p0", "param_1.2", "parameter.3", "arg12", ""] {
        assert_eq!(told(made_up), None, "{made_up}");
    }
    assert_eq!(name_of("x", b"params['w']").as_deref(), Some("params['w']"));
    assert_eq!(name_of("x", b"\xff").as_deref(), Some("\u{fffd}"));
}

fn name_of(name: &str, op_name: &[u8]) -> Option<String> {
    arrays::name(&Instruction { name, op_name, ..Instruction::default() })
}
