//! `cyxla run` on the real plugin.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use support::{
    cyxla, error_json, f32s, failure_text, file, npy, plugin, read_npy, stderr, stdout, success_json,
};

const ADD: &str = "module @add {
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}";

/// A program that gives back its arguments of these types.
fn identity(types: &[&str]) -> String {
    let names: Vec<String> = (0..types.len()).map(|index| format!("%a{index}")).collect();
    let parameters: Vec<String> =
        names.iter().zip(types).map(|(name, one)| format!("{name}: tensor<{one}>")).collect();
    let results: Vec<String> = types.iter().map(|one| format!("tensor<{one}>")).collect();
    let (parameters, results) = (parameters.join(", "), results.join(", "));
    let names = names.join(", ");
    format!("module @m {{ func.func @main({parameters}) -> ({results}) {{ return {names} : {results} }} }}")
}

fn start(program: &Path, inputs: &[PathBuf], more: &[&str]) -> Output {
    let mut command = cyxla();
    command.arg("run").arg(program).arg("--plugin").arg(plugin()).args(more);
    for input in inputs {
        command.arg("--input").arg(input);
    }
    command.output().unwrap()
}

struct Adder {
    folder: tempfile::TempDir,
    program: PathBuf,
    a: PathBuf,
    b: PathBuf,
}

fn adder() -> Adder {
    let folder = tempfile::tempdir().unwrap();
    let program = file(folder.path(), "add.mlir", ADD);
    let a = npy(folder.path(), "a.npy", "<f4", "(4,)", false, &f32s(&[1.0, 2.0, 3.0, 4.0]));
    let b = npy(folder.path(), "b.npy", "<f4", "(4,)", false, &f32s(&[0.5, 0.25, 0.125, 10.0]));
    Adder { folder, program, a, b }
}

#[test]
fn outputs_are_printed() {
    let add = adder();
    let output = start(&add.program, &[add.a.clone(), add.b.clone()], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "output 0: f32[4]\n[ 1.5    2.25   3.125 14.   ]\n");

    let output = start(&add.program, &[add.a.clone(), add.b.clone()], &["--json"]);
    let value = success_json(&output);
    let expected = serde_json::json!({"outputs": [
        {"name": null, "dtype": "f32", "dims": [4], "values": [1.5, 2.25, 3.125, 14.0]}]});
    assert_eq!(value, expected);
}

#[test]
fn outputs_are_saved() {
    let add = adder();
    let results = add.folder.path().join("not/there/yet");
    let more = ["--output", results.to_str().unwrap()];
    let output = start(&add.program, &[add.a.clone(), add.b.clone()], &more);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (header, data) = read_npy(&results.join("out_0.npy"));
    assert_eq!(header.trim_end(), "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }");
    assert_eq!(data, f32s(&[1.5, 2.25, 3.125, 14.0]));
    let listing: serde_json::Value =
        serde_json::from_slice(&std::fs::read(results.join("outputs.json")).unwrap()).unwrap();
    let expected = serde_json::json!({"outputs": [
        {"name": null, "dtype": "f32", "dims": [4], "file": "out_0.npy"}]});
    assert_eq!(listing, expected);
    assert!(stdout(&output).contains("out_0.npy"));
    let more = ["--json", "--output", results.to_str().unwrap()];
    let output = start(&add.program, &[add.a.clone(), add.b.clone()], &more);
    assert_eq!(success_json(&output), expected);
}

/// An element type as MLIR and as NumPy write it, its name here, and its bytes.
const TYPES: &[(&str, &str, &str, usize)] = &[
    ("i1", "|b1", "pred", 1),
    ("i8", "|i1", "s8", 1),
    ("i16", "<i2", "s16", 2),
    ("i32", "<i4", "s32", 4),
    ("i64", "<i8", "s64", 8),
    ("ui8", "|u1", "u8", 1),
    ("ui16", "<u2", "u16", 2),
    ("ui32", "<u4", "u32", 4),
    ("ui64", "<u8", "u64", 8),
    ("f16", "<f2", "f16", 2),
    ("f32", "<f4", "f32", 4),
    ("f64", "<f8", "f64", 8),
    ("bf16", "<u2", "bf16", 2),
    ("complex<f32>", "<c8", "c64", 8),
    ("complex<f64>", "<c16", "c128", 16),
    ("f8E5M2", "|u1", "f8e5m2", 1),
    ("f8E4M3FN", "|u1", "f8e4m3fn", 1),
    ("f8E4M3B11FNUZ", "|u1", "f8e4m3b11fnuz", 1),
    ("f8E5M2FNUZ", "|u1", "f8e5m2fnuz", 1),
    ("f8E4M3FNUZ", "|u1", "f8e4m3fnuz", 1),
    ("f8E4M3", "|u1", "f8e4m3", 1),
    ("f8E3M4", "|u1", "f8e3m4", 1),
    ("f8E8M0FNU", "|u1", "f8e8m0fnu", 1),
    ("f4E2M1FN", "|u1", "f4e2m1fn", 1),
    ("i4", "|u1", "s4", 1),
    ("ui4", "|u1", "u4", 1),
    ("i2", "|u1", "s2", 1),
    ("ui2", "|u1", "u2", 1),
];

/// Six elements of a type, of whose bit patterns none is invalid.
fn elements(name: &str, size: usize) -> Vec<u8> {
    let limit = match name {
        "pred" => 2,
        "s4" | "u4" | "f4e2m1fn" => 16,
        "s2" | "u2" => 4,
        _ => 251,
    };
    (0..6 * size).map(|index| ((index * 37 + 1) % limit) as u8).collect()
}

#[test]
fn every_type_goes_in_and_comes_out() {
    for (mlir, descr, name, size) in TYPES {
        let folder = tempfile::tempdir().unwrap();
        let program = file(folder.path(), "m.mlir", identity(&[&format!("2x3x{mlir}")]));
        let data = elements(name, *size);
        let input = npy(folder.path(), "x.npy", descr, "(2, 3)", false, &data);
        let results = folder.path().join("out");
        let more = ["--output", results.to_str().unwrap(), "--json"];
        let listing = success_json(&start(&program, &[input], &more));
        assert_eq!(listing["outputs"][0]["dtype"], *name);
        let (header, result) = read_npy(&results.join("out_0.npy"));
        assert!(header.contains(&format!("'descr': '{descr}'")), "{header}");
        assert!(header.contains("'shape': (2, 3,)"), "{header}");
        // Values narrower than a byte count in their low bits only.
        let bits = |bytes: &[u8]| -> Vec<u8> {
            let low = match *name {
                "s4" | "u4" | "f4e2m1fn" => 0x0f,
                "s2" | "u2" => 0x03,
                _ => 0xff,
            };
            bytes.iter().map(|byte| byte & low).collect()
        };
        assert_eq!(bits(&result), data, "{name}");
    }
}

#[test]
fn numpys_raw_bytes_stand_for_types_that_numpy_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let program = file(folder.path(), "m.mlir", identity(&["2xbf16", "2xi4"]));
    // What numpy.save makes of ml_dtypes' arrays.
    let wide = npy(folder.path(), "b.npy", "<V2", "(2,)", false, &[0x80, 0x3f, 0x00, 0xc0]);
    let narrow = npy(folder.path(), "n.npy", "|i1", "(2,)", false, &[0xff, 0x07]);
    let output = start(&program, &[wide, narrow], &["--json"]);
    let value = success_json(&output);
    assert_eq!(value["outputs"][0]["values"], serde_json::json!([1.0, -2.0]));
    assert_eq!(value["outputs"][1]["values"], serde_json::json!([-1, 7]));
}

#[test]
fn other_byte_and_memory_orders_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    let types = ["2x3xi16", "2x3xf32", "complex<f32>", "2x2x2xi8"];
    let program = file(folder.path(), "m.mlir", identity(&types));
    // By columns: 1 4 2 5 3 6 is [[1, 2, 3], [4, 5, 6]].
    let big: Vec<u8> = [1i16, 4, 2, 5, 3, 6].iter().flat_map(|value| value.to_be_bytes()).collect();
    let columns = f32s(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let complex = [1.5f32.to_be_bytes(), (-2.0f32).to_be_bytes()].concat();
    let inputs = [
        npy(folder.path(), "a.npy", ">i2", "(2, 3)", true, &big),
        npy(folder.path(), "b.npy", "<f4", "(2, 3)", true, &columns),
        npy(folder.path(), "c.npy", ">c8", "()", false, &complex),
        npy(folder.path(), "d.npy", "|i1", "(2, 2, 2)", true, &[0, 1, 2, 3, 4, 5, 6, 7]),
    ];
    let value = success_json(&start(&program, &inputs, &["--json"]));
    let values: Vec<_> = (0..4).map(|index| value["outputs"][index]["values"].clone()).collect();
    let expected = [
        serde_json::json!([[1, 2, 3], [4, 5, 6]]),
        serde_json::json!([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        serde_json::json!([1.5, -2.0]),
        serde_json::json!([[[0, 4], [2, 6]], [[1, 5], [3, 7]]]),
    ];
    assert_eq!(values, expected);
}

#[test]
fn scalars_and_empty_arrays_go_through() {
    let folder = tempfile::tempdir().unwrap();
    let program = file(folder.path(), "m.mlir", identity(&["f32", "0x3xf32"]));
    let scalar = npy(folder.path(), "s.npy", "<f4", "()", false, &f32s(&[2.5]));
    let empty = npy(folder.path(), "e.npy", "<f4", "(0, 3)", false, &[]);
    let output = start(&program, &[scalar, empty], &[]);
    assert_eq!(stdout(&output), "output 0: f32[]\n2.5\noutput 1: f32[0,3]\n[]\n", "{}", stderr(&output));
}

#[test]
fn an_argument_that_does_not_fit_is_named() {
    let add = adder();
    let folder = add.folder.path();
    let wrong = [
        (npy(folder, "i.npy", "<i4", "(4,)", false, &[0; 16]), "s32[4]"),
        (npy(folder, "r.npy", "<f4", "(2, 2)", false, &[0; 16]), "f32[2,2]"),
        (npy(folder, "u.npy", "<u4", "(4,)", false, &[0; 16]), "u32[4]"),
        (npy(folder, "v.npy", "|V1", "(4,)", false, &[0; 4]), "V1[4]"),
    ];
    for (path, got) in wrong {
        let output = start(&add.program, &[add.a.clone(), path.clone()], &["--json"]);
        let error = error_json(&output);
        assert_eq!(error["code"], "INVALID_ARGUMENT");
        let message = error["message"].as_str().unwrap();
        for part in ["argument 1", "f32[4]", got, path.to_str().unwrap()] {
            assert!(message.contains(part), "{message} lacks {part}");
        }
    }
    let output = start(&add.program, std::slice::from_ref(&add.a), &[]);
    let text = failure_text(&output);
    assert!(text.starts_with("cyxla: the program expects 2 arguments, got 1\n  hint: "), "{text}");
    let three = [add.a.clone(), add.b.clone(), add.b.clone()];
    let text = failure_text(&start(&add.program, &three, &[]));
    assert!(text.contains("expects 2 arguments, got 3"), "{text}");
    let named = PathBuf::from(format!("x={}", add.a.display()));
    let text = failure_text(&start(&add.program, &[named, add.b.clone()], &[]));
    assert!(text.contains("no input named 'x'"), "{text}");
}

#[test]
fn values_too_wide_for_their_type_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let program = file(folder.path(), "m.mlir", identity(&["3xui4"]));
    let input = npy(folder.path(), "x.npy", "|u1", "(3,)", false, &[15, 0, 16]);
    let error = error_json(&start(&program, &[input], &["--json"]));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("argument 0") && message.contains("element 2"), "{message}");
    assert!(message.contains("16") && message.contains("4 bits"), "{message}");
}

#[test]
fn files_that_are_no_arrays_are_refused_before_a_plugin_is_loaded() {
    let add = adder();
    let folder = add.folder.path();
    let good = std::fs::read(&add.a).unwrap();
    let deep = format!("{{'descr': {}", "(".repeat(9000));
    let deep = [b"\x93NUMPY\x01\x00", &(deep.len() as u16).to_le_bytes()[..], deep.as_bytes()].concat();
    let long = [b"\x93NUMPY\x02\x00", &u32::MAX.to_le_bytes()[..], b"x"].concat();
    let cases: Vec<(PathBuf, &str)> = vec![
        (folder.join("nosuch.npy"), "there is no file"),
        (folder.to_owned(), "is a folder"),
        (file(folder, "empty.npy", ""), "is empty"),
        (file(folder, "text.npy", "hello, this is text"), "is not a .npy file"),
        (file(folder, "zip.npy", "PK\x03\x04..."), "archive"),
        (file(folder, "cut0.npy", &good[..7]), "ends inside its header"),
        (file(folder, "cut1.npy", &good[..50]), "ends inside its header"),
        (file(folder, "cut2.npy", &good[..good.len() - 1]), "cut short"),
        (file(folder, "more.npy", [&good[..], b"x"].concat()), "more than the 16 bytes"),
        (file(folder, "version.npy", b"\x93NUMPY\x09\x00\x00\x00"), "version 9"),
        (file(folder, "deep.npy", deep), "header that cannot be read"),
        (file(folder, "long.npy", long), "which no array has"),
        (npy(folder, "object.npy", "|O", "(4,)", false, &[0; 32]), "Python objects"),
        (npy(folder, "text8.npy", "<U2", "(4,)", false, &[0; 32]), "text"),
        (npy(folder, "time.npy", "<M8[ns]", "(4,)", false, &[0; 32]), "dates or times"),
        (npy(folder, "wide.npy", "<f16", "(1,)", false, &[0; 16]), "f16"),
        (npy(folder, "lie.npy", "<f4", "(4611686018427387904,)", false, &[0; 16]), "impossible shape"),
        (
            npy(folder, "wrap.npy", "<f4", "(4294967296, 4294967296)", false, &[]),
            "impossible shape [4294967296, 4294967296]",
        ),
        (npy(folder, "void.npy", "<f4", "(4294967296, 4294967296, 0)", true, &[]), "impossible shape"),
        (npy(folder, "wide0.npy", "<f8", "(0, 2305843009213693952)", true, &[]), "impossible shape"),
        (npy(folder, "big.npy", "<f4", "(1000000000000,)", false, &[0; 16]), "cut short"),
        (npy(folder, "minus.npy", "<f4", "(-4,)", false, &[0; 16]), "header that cannot be read"),
    ];
    for (path, words) in cases {
        let mut command = cyxla();
        // There is no plugin at this path, and nobody comes to find that out.
        command.arg("run").arg(&add.program).args(["--plugin", "/nonexistent", "--json", "--input"]);
        let error = error_json(&command.arg(&path).output().unwrap());
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(words), "{message} lacks {words}");
        assert!(message.contains(path.to_str().unwrap()), "{message}");
    }
}

#[test]
fn programs_that_are_none_are_refused() {
    let add = adder();
    let folder = add.folder.path();
    for (path, words) in [
        (folder.join("nosuch.mlir"), "nosuch.mlir"),
        (file(folder, "empty.mlir", ""), "empty"),
        (add.a.clone(), "a.npy"),
    ] {
        let text = failure_text(&start(&path, &[], &[]));
        assert!(text.starts_with("cyxla: ") && text.contains(words), "{text}");
    }
    let broken = file(folder, "broken.mlir", ADD.replace("stablehlo.add", "stablehlo.sub_tract"));
    let error = error_json(&start(&broken, &[add.a.clone(), add.b.clone()], &["--json"]));
    assert!(error["message"].as_str().unwrap().contains("sub_tract"), "{error}");
}

#[test]
fn outputs_that_cannot_be_saved_are_an_error() {
    let add = adder();
    let inputs = [add.a.clone(), add.b.clone()];
    let text = failure_text(&start(&add.program, &inputs, &["--output", add.a.to_str().unwrap()]));
    assert!(text.contains("is, or is inside, a file"), "{text}");
    let results = add.folder.path().join("out");
    std::fs::create_dir_all(results.join("out_0.npy")).unwrap();
    let text = failure_text(&start(&add.program, &inputs, &["--output", results.to_str().unwrap()]));
    assert!(text.contains("out_0.npy"), "{text}");
}

#[test]
fn large_outputs_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let program = file(folder.path(), "m.mlir", identity(&["100000xi32"]));
    let data: Vec<u8> = (0..100_000i32).flat_map(i32::to_le_bytes).collect();
    let input = npy(folder.path(), "x.npy", "<i4", "(100000,)", false, &data);
    let text = stdout(&start(&program, std::slice::from_ref(&input), &[]));
    assert_eq!(text, "output 0: s32[100000]\n[    0     1     2 ... 99997 99998 99999]\n");
    let value = success_json(&start(&program, &[input], &["--json"]));
    assert_eq!(value["outputs"][0]["values"], serde_json::Value::Null);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let add = adder();
    let mut child = cyxla()
        .arg("run")
        .arg(&add.program)
        .arg("--plugin")
        .arg(plugin())
        .arg("--input")
        .arg(&add.a)
        .arg("--input")
        .arg(&add.b)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}
