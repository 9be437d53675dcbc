mod damage;
mod destinations;
mod file;
mod functions;
mod tokens;

use super::*;

const NAMES: &[u8] = include_bytes!("../../../../tests/fixtures/names.mlirbc");
const DTYPES: &[u8] = include_bytes!("../../../../tests/fixtures/dtypes.mlirbc");
const TOPK: &[u8] = include_bytes!("../../../../tests/fixtures/topk.mlirbc");
const DIGITS: &[u8] = include_bytes!("../../../../models/digits/digits.mlirbc");

fn array(dtype: DType, dims: &[i64]) -> ValueType {
    ValueType::Array { dtype, dims: dims.iter().copied().map(Some).collect() }
}

#[test]
fn who_wrote_it() {
    assert_eq!(written_by(DIGITS), Some("StableHLO_v1.0.0"));
    for bad in [MAGIC, b"module {}", b"ML\xefR\x0dabc", b"ML\xefR\x0d\0", b"ML\xefR\x0d\n\0"] {
        assert_eq!(written_by(bad), None);
    }
}

#[test]
fn names_and_types() {
    let module = read(NAMES).unwrap();
    assert_eq!((module.producer.as_str(), module.bytecode_version), ("StableHLO_v1.15.0", 6));
    assert_eq!(module.name.as_deref(), Some("jit_dense"));
    assert_eq!((module.partitions, module.replicas), (Some(1), Some(1)));
    let main = module.main.unwrap();
    let names: Vec<_> = main.inputs.iter().map(|input| input.name.as_deref().unwrap_or("")).collect();
    assert_eq!(names, ["params['b']", "params['w']", "x", "unused"]);
    assert_eq!(main.inputs[1].ty, array(DType::F32, &[4, 3]));
    assert!(main.outputs.iter().all(|output| output.name.as_deref().unwrap().starts_with("result")));
}

#[test]
fn every_element_type() {
    let main = read(DTYPES).unwrap().main.unwrap();
    let dtypes: Vec<DType> = main
        .inputs
        .iter()
        .map(|input| match &input.ty {
            ValueType::Array { dtype, .. } => *dtype,
            other => panic!("{other:?}"),
        })
        .collect();
    let names: Vec<&str> = dtypes.iter().map(|dtype| dtype.name()).collect();
    assert_eq!(
        names.join(" "),
        "pred pred s8 s16 s32 s64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 \
         f8e4m3fn f8e5m2 f8e4m3b11fnuz f8e4m3fnuz f8e5m2fnuz s4 u4"
    );
}

#[test]
fn the_digits_model() {
    let main = read(DIGITS).unwrap().main.unwrap();
    assert_eq!(main.inputs[0].ty, array(DType::F32, &[1, 64]));
    let dtypes = read(DIGITS).unwrap().dtypes;
    assert!(dtypes.contains(&DType::F32) && !dtypes.contains(&DType::F6E2M3FN), "{dtypes:?}");
    assert_eq!(main.outputs[0].ty, array(DType::F32, &[1, 10]));
}

#[test]
fn custom_calls() {
    assert_eq!(read(TOPK).unwrap().custom_calls, []);
}

#[test]
fn a_newer_version() {
    let mut newer = NAMES.to_vec();
    newer[MAGIC.len()] = 7 << 1 | 1;
    let error = read(&newer).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented);
    assert!(error.message().contains("version 7"));
}
