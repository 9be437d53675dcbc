//! Tests on real exports, made by tests/fixtures/make_exports.py. What is expected was
//! written by hand from what JAX prints of them.

mod build;
mod crafted;
mod damaged;

use std::fmt::Write;
use std::path::Path;

use super::*;
use crate::dtype::DType;

/// Every fixture.
const NAMES: [&str; 23] = [
    "checks",
    "donation",
    "dtypes",
    "effects",
    "keys",
    "memory",
    "newest",
    "nothing",
    "old_0_4_30",
    "old_0_4_30_sharding",
    "old_0_6_2",
    "old_0_6_2_sharding",
    "old_0_9_0",
    "old_0_9_0_sharding",
    "one",
    "platforms_x32",
    "platforms_x64",
    "sharding2",
    "sharding4",
    "symbolic",
    "trees",
    "vjp1",
    "vjp2",
];

fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/exports");
    std::fs::read(folder.join(name).with_extension("jaxexport")).unwrap()
}

fn export(name: &str) -> Export {
    read(&file(name)).unwrap()
}

/// The function of a fixture, its inputs and its outputs.
fn described(export: &Export) -> String {
    let mut text = format!("{}\n{}\n", export.function_name, export.in_tree);
    for (index, input) in export.inputs.iter().enumerate() {
        let dropped = if export.kept_inputs.contains(&index) { "" } else { " dropped" };
        writeln!(text, "  {}{dropped}", value(input)).unwrap();
    }
    writeln!(text, "{}", export.out_tree).unwrap();
    for output in &export.outputs {
        writeln!(text, "  {}", value(output)).unwrap();
    }
    text
}

fn value(value: &Aval) -> String {
    let mut text = format!("{} {value}", value.path);
    if let Some(space) = value.memory_space.filter(|space| *space != MemorySpace::Device) {
        write!(text, " <{space}>").unwrap();
    }
    if let Some(sharding) = &value.sharding {
        write!(text, " {sharding}").unwrap();
    }
    text
}

#[test]
fn trees() {
    let export = export("trees");
    let expected = r#"trees
(({'größe\n': (*,), 'w1': [*, *]}, CustomNode(fixtures.Point, [*, *]), [*], None), {'more': CustomNode(collections.OrderedDict, [*, CustomNode(fixtures.Pair, [*, None])]), 'scale': *})
  args[0]['größe\n'][0] s32[] dropped
  args[0]['w1'][0] f32[2]
  args[0]['w1'][1] f32[2]
  args[1].x f32[1]
  args[1].y f32[2,0]
  args[2][0] s32[5] dropped
  kwargs['more']['b'] pred[3]
  kwargs['more']['a'][<flat index 0>] f32[] dropped
  kwargs['scale'] f32[2]
{'empty': ((), {}), "it's": (*,), 'none': None, 'order': CustomNode(collections.OrderedDict, [*, *]), 'pair': CustomNode(fixtures.Pair, [*, *]), 'y': [*, *]}
  result["it's"][0] pred[3]
  result['order']['z'] f32[1]
  result['order']['a'] pred[3]
  result['pair'][<flat index 0>] f32[2]
  result['pair'][<flat index 1>] f32[2]
  result['y'][0] f32[2]
  result['y'][1] f32[2,0]
"#;
    assert_eq!(described(&export), expected);
    assert_eq!(export.in_tree.leaf_count(), 9);
}

#[test]
fn the_rest_of_a_plain_export() {
    let bytes = file("one");
    let export = read(&bytes).unwrap();
    assert_eq!(described(&export), "<lambda>\n((*,), {})\n  args[0] f32[2]\n*\n  result f32[2]\n");
    assert_eq!((export.serialization_version, export.calling_convention_version), (3, 10));
    assert_eq!((&export.platforms[..], export.device_count), (&["cpu".to_owned()][..], 1));
    assert_eq!((export.jax_version, export.vjp, export.uses_global_constants), (None, None, false));
    assert!(export.ordered_effects.is_empty() && export.unordered_effects.is_empty());
    assert!(export.disabled_checks.is_empty());
    assert!(bytes[export.module.clone()].starts_with(b"ML\xefR"));
    assert_eq!(export.inputs[0].dims, [Dim::Fixed(2)]);
    assert_eq!(export.inputs[0].dtype, AvalType::Array(DType::F32));
    assert_eq!(export.inputs[0].memory_space, Some(MemorySpace::Device));
    assert_eq!(described(&super::tests::export("nothing")), "<lambda>\n((), {})\n()\n");
}

#[test]
fn platforms_and_effects_and_checks() {
    for name in ["platforms_x32", "platforms_x64"] {
        let export = export(name);
        assert_eq!(export.platforms, ["tpu", "cpu", "cuda"]);
        assert!(export.uses_global_constants);
        assert_eq!(export.kept_inputs, [0]);
    }
    let effects = export("effects");
    assert_eq!(effects.ordered_effects, ["fixtures.FirstEffect"]);
    assert_eq!(effects.unordered_effects, ["fixtures.SecondEffect"]);
    let checks = export("checks").disabled_checks;
    assert_eq!(checks, [DisabledCheck::Platform, DisabledCheck::CustomCall("a_target".to_owned())]);
    let shown: Vec<String> = checks.iter().map(DisabledCheck::to_string).collect();
    assert_eq!(shown, ["platform", "custom call a_target"]);
    assert_eq!(export("donation").kept_inputs, [0, 1]);
}

#[test]
fn symbolic_dimensions() {
    let export = export("symbolic");
    let dims = |text: &str| vec![Dim::Symbolic(text.to_owned()), Dim::Fixed(4)];
    assert_eq!(export.inputs[0].dims, dims("b"));
    assert_eq!(export.inputs[1].dims, dims("2*b"));
    assert_eq!(export.outputs[0].dims, dims("3*b"));
    assert_eq!(export.outputs[1].to_string(), "f32[b - 1,4]");
    assert!(export.uses_global_constants);
}

#[test]
fn gradients() {
    let bytes = file("vjp1");
    let export = read(&bytes).unwrap();
    assert_eq!(
        described(&export),
        "cube\n((*, *), {})\n  args[0] f32[3]\n  args[1] s32[]\n{'z': *}\n  result['z'] f32[3]\n"
    );
    let vjp = read_at(&bytes, export.vjp.unwrap()).unwrap();
    let expected = "\
fun_vjp_jax
((*, *, *), {})
  args[0] f32[3]
  args[1] s32[]
  args[2] f32[3]
(*, *)
  result[0] f32[3]
  result[1] float0[]
";
    assert_eq!(described(&vjp), expected);
    assert_eq!(vjp.outputs[1].physical(), Some((DType::PRED, Vec::new())));
    assert_eq!(vjp.vjp, None);
    assert_ne!(vjp.module, export.module);
    assert!(bytes[vjp.module].starts_with(b"ML\xefR"));

    let bytes = file("vjp2");
    let first = read_at(&bytes, read(&bytes).unwrap().vjp.unwrap()).unwrap();
    let second = read_at(&bytes, first.vjp.unwrap()).unwrap();
    assert_eq!((first.inputs.len(), first.outputs.len()), (3, 2));
    assert_eq!((second.inputs.len(), second.outputs.len(), second.vjp), (5, 3, None));
}

#[test]
fn shardings() {
    let four = export("sharding4");
    let expected = "\
<lambda>
((*, *, *), {})
  args[0] f32[4,4] P('x', 'y') on Mesh('x': 2, 'y': 2) of cpu in device
  args[1] f32[4,8] P(None, ('x', 'y')) on Mesh('x': 2, 'y': 2) of cpu in device
  args[2] f32[2]
(*, *)
  result[0] f32[4,8] P('x', 'y') on Mesh('x': 2, 'y': 2) of cpu in device
  result[1] f32[2]
";
    assert_eq!((described(&four).as_str(), four.device_count), (expected, 4));
    let two = export("sharding2");
    let sharding = "P('data', None) on Mesh('data': 2, axis_types=(Explicit,)) of cpu";
    assert_eq!((two.inputs[0].sharding.as_ref().unwrap().text.as_str(), two.device_count), (sharding, 2));
    let memory = export("memory");
    assert_eq!(memory.inputs[0].memory_space, Some(MemorySpace::Host));
    assert_eq!(memory.outputs[0].memory_space, Some(MemorySpace::Device));
    let kinds = [&memory.inputs[0], &memory.outputs[0]].map(|value| value.sharding.clone().unwrap());
    assert_eq!(kinds[0].memory_kind.as_deref(), Some("pinned_host"));
    assert_eq!(kinds[1].memory_kind.as_deref(), Some("device"));
}

#[test]
fn older_jax() {
    for (name, schema, convention, has_space) in
        [("old_0_4_30", 2, 9, false), ("old_0_6_2", 2, 9, false), ("old_0_9_0", 3, 10, true)]
    {
        let export = export(name);
        let expected = "\
<lambda>
(({'w': *}, *, *), {})
  args[0]['w'] f32[2,3]
  args[1] f32[3]
  args[2] f32[1] dropped
(*, [None, *])
  result[0] f32[2]
  result[1][1] f32[3]
";
        assert_eq!((described(&export).as_str(), export.device_count), (expected, 1), "{name}");
        assert_eq!((export.serialization_version, export.calling_convention_version), (schema, convention));
        assert_eq!(export.inputs[0].memory_space.is_some(), has_space, "{name}");
    }
    for name in ["old_0_4_30_sharding", "old_0_6_2_sharding"] {
        let expected = "\
<lambda>
((*, *, *), {})
  args[0] f32[4,4] {devices=[2,2]<=[4]}
  args[1] f32[4,4] {devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  args[2] f32[3] {replicated}
(*, *)
  result[0] f32[4,4] {devices=[1,2,2]<=[4] last_tile_dim_replicate}
  result[1] f32[3]
";
        assert_eq!((described(&export(name)).as_str(), export(name).device_count), (expected, 4), "{name}");
    }
    // This one writes both forms of a sharding.
    let sharding =
        |index: usize| export("old_0_9_0_sharding").inputs[index].sharding.clone().unwrap().to_string();
    assert_eq!(sharding(0), "P('x', 'y') on Mesh('x': 2, 'y': 2) in device");
    assert_eq!(sharding(2), "P() on Mesh('x': 2, 'y': 2) in device");
}

#[test]
fn newest_schema() {
    let export = export("newest");
    let expected = "\
<lambda>
(({'b': *, 'w': *}, *, *), {})
  args[0]['b'] f32[3]
  args[0]['w'] f32[2,3]
  args[1] f32[4,2]
  args[2] s32[] dropped
(*,)
  result[0] f32[4,3]
";
    assert_eq!(described(&export), expected);
    assert_eq!((export.serialization_version, export.jax_version.as_deref()), (12, Some("0.10.2")));
}

#[test]
fn keys_of_random_numbers() {
    let keys = export("keys");
    let shown: Vec<String> = keys.inputs.iter().chain(&keys.outputs).map(Aval::to_string).collect();
    let expected =
        ["key<fry>[2,3]", "key<rbg>[]", "key<urbg>[]", "key<fry>[3]", "key<rbg>[]", "key<urbg>[]", "u32[4]"];
    assert_eq!(shown, expected);
    let dims = |sizes: &[i64]| Some((DType::U32, sizes.iter().copied().map(Dim::Fixed).collect()));
    assert_eq!(keys.inputs[0].physical(), dims(&[2, 3, 2]));
    assert_eq!(keys.inputs[1].physical(), dims(&[4]));
    assert_eq!(keys.inputs[2].physical(), dims(&[4]));
}

#[test]
fn every_dtype() {
    let shown: Vec<String> = export("dtypes").inputs.iter().map(|input| input.dtype.to_string()).collect();
    let expected = "pred s8 s16 s32 s64 u8 u16 u32 u64 f16 f32 f64 c64 c128 bf16 s4 u4 f8e4m3b11fnuz f8e4m3fn \
                    f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e4m3 f8e3m4 f8e8m0fnu f4e2m1fn";
    assert_eq!(shown.join(" "), expected);
}
