//! Files that JAX does not write: newer ones, and such as contradict themselves.

use super::super::flat::Flat;
use super::build::Item::*;
use super::build::{array, file, leaf, node, text, texts, with, without};
use super::*;

/// What a file with these fields is refused with.
fn refused(others: Vec<(u16, build::Item)>) -> String {
    said(read(&with(others)))
}

fn said(outcome: Result<Export>) -> String {
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert!(error.detail("hint").is_some());
    error.message().strip_prefix("the jax.export file is damaged: ").unwrap().to_owned()
}

#[test]
fn the_plain_one_is_read() {
    let export = read(&with(vec![])).unwrap();
    assert_eq!(described(&export), "f\n((*,), {})\n  args[0] f32[2]\n*\n  result f32[2]\n");
    assert!(looks_like_one(&with(vec![])));
}

#[test]
fn newer_files() {
    let types = List(vec![Table(vec![(2, Byte(99)), (1, texts(&["3"]))]), Table(vec![(0, Byte(7))])]);
    let tree = Table(vec![(0, Byte(9)), (1, List(vec![leaf(), leaf()]))]);
    let bytes = with(vec![
        (0, Short(40)),
        (4, tree),
        (5, types),
        (12, List(vec![Table(vec![(0, Byte(5))])])),
        (60, text("what is this")),
    ]);
    assert!(looks_like_one(&bytes));
    let export = read(&bytes).unwrap();
    assert_eq!(export.out_tree.to_string(), "Unknown(9, [*, *])");
    let shown: Vec<String> =
        export.outputs.iter().map(|output| format!("{} {output}", output.path)).collect();
    assert_eq!(shown, ["result[<flat index 0>] unknown<99>[3]", "result[<flat index 1>] unknown kind<7>"]);
    assert_eq!(export.outputs[0].physical(), None);
    assert_eq!(export.disabled_checks, [DisabledCheck::Unknown(5)]);

    // Where a newer file cannot be read, that is not called damage.
    let error = read(&with(vec![(0, Short(40)), (9, texts(&[]))])).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented);
    assert_eq!(
        error.message(),
        "cannot read the jax.export file of serialization version 40, newer than 12: the jax.export file is \
         damaged: it is for no platform"
    );
}

#[test]
fn only_indices() {
    // As newer JAX will write it: no lists beside the indices.
    let uniques = vec![
        (19, List(vec![array(&["b"]), array(&["2", "3"])])),
        (22, Words(vec![1])),
        (23, Words(vec![0])),
        (24, Words(vec![1])),
        (25, Words(vec![0])),
        (20, List(vec![Table(vec![(0, Words(vec![2])), (1, texts(&["x"])), (2, Text(vec![3]))])])),
        (21, List(vec![Table(vec![(1, Table(vec![(1, texts(&["x"]))]))])])),
        (3, List(vec![])),
        (5, List(vec![])),
    ];
    let export = read(&with(uniques.clone())).unwrap();
    assert_eq!(
        value(&export.inputs[0]),
        "args[0] f32[2,3] P(reduced={'x'}) on Mesh('x': 2, axis_types=(Manual,))"
    );
    assert_eq!(value(&export.outputs[0]), "result f32[b]");

    let with_one = |slot, item| {
        let mut uniques = uniques.clone();
        uniques.retain(|(other, _)| *other != slot);
        uniques.push((slot, item));
        refused(uniques)
    };
    assert_eq!(with_one(22, Words(vec![2])), "in_avals_idxs refers to number 2 of 2");
    assert_eq!(with_one(22, Words(vec![u32::MAX])), "in_avals_idxs refers to number 4294967295 of 2");
    assert_eq!(with_one(24, Words(vec![2])), "in_shardings_idxs refers to number 1 of 1");
    assert_eq!(with_one(25, Words(vec![0, 0])), "there are 2 out_shardings for 1 out_avals");
    assert_eq!(with_one(22, Words(vec![0, 0])), "in_tree has 1 leaves, but there are 2 in_avals");
    let elsewhere = Table(vec![(1, Table(vec![])), (3, Word(3))]);
    assert_eq!(with_one(21, List(vec![elsewhere])), "a named sharding is on mesh 3 of 1");
    let uneven = Table(vec![(0, Words(vec![2])), (1, texts(&["x", "y"]))]);
    assert_eq!(with_one(20, List(vec![uneven])), "a mesh has 2 names for 1 axes");
}

#[test]
fn devices_are_counted() {
    let count = |short: u16, long: u32| {
        read(&with(vec![(6, Short(short)), (18, Word(long))])).map(|e| e.device_count)
    };
    assert_eq!(count(3, 0).unwrap(), 3);
    assert_eq!(count(0, 70_000).unwrap(), 70_000);
    for short in [0, 0x8000, 0xffff] {
        assert_eq!(
            count(short, 0).unwrap_err().message(),
            "the jax.export file is damaged: it is for no number of devices"
        );
    }
}

#[test]
fn what_is_missing_is_named() {
    let message = |slot| said(read(&without(slot)));
    assert_eq!(message(1), "it has no function_name");
    assert_eq!(message(2), "it has no in_tree");
    assert_eq!(message(4), "it has no out_tree");
    assert_eq!(message(5), "out_tree has 1 leaves, but there are 0 out_avals");
    assert_eq!(message(9), "it is for no platform");
    assert_eq!(message(13), "it has no MLIR bytecode inside");
    assert_eq!(refused(vec![(13, Text(vec![]))]), "it has no MLIR bytecode inside");
    assert_eq!(refused(vec![(13, text("module {}"))]), "it has no MLIR bytecode inside");
    assert_eq!(said(read(&[])), "it is too short to hold anything");
    assert_eq!(said(read(&[4, 0, 0])), "it is too short to hold anything");
}

#[test]
fn what_is_wrong_is_named() {
    let shape = |shape: &[&str]| refused(vec![(3, List(vec![array(shape)]))]);
    assert_eq!(shape(&["-1"]), "a dimension is -1");
    assert_eq!(shape(&[""]), "a dimension is \"\", neither a number nor an expression");
    assert_eq!(
        shape(&["9223372036854775808"]),
        "a dimension is \"9223372036854775808\", neither a number nor an expression"
    );
    assert_eq!(shape(&["b\n"]), "a dimension is \"b\\n\", neither a number nor an expression");
    assert_eq!(
        shape(&["4294967296", "b", "4294967296"]),
        "no array can be as large as \"f32[4294967296,b,4294967296]\""
    );
    assert_eq!(refused(vec![(15, Shorts(vec![1]))]), "module_kept_var_idx refers to input 1 of 1");
    assert_eq!(refused(vec![(15, Shorts(vec![0, 0]))]), "module_kept_var_idx is not ascending");
    assert_eq!(refused(vec![(9, texts(&["cpu", "a b"]))]), "\"a b\" is no name of a platform");
    assert_eq!(refused(vec![(4, node(0, vec![leaf()]))]), "a leaf of a tree has children");
    assert_eq!(refused(vec![(4, node(4, vec![leaf()]))]), "a dict of a tree has 0 keys for 1 children");
    assert_eq!(refused(vec![(4, node(5, vec![leaf()]))]), "a custom node of a tree has no type");
    assert_eq!(refused(vec![(10, List(vec![leaf()]))]), "an effect has no type");
    assert_eq!(
        refused(vec![(12, List(vec![Table(vec![(0, Byte(1))])]))]),
        "a disabled check names no custom call"
    );
    let hlo = |proto: &[u8]| Table(vec![(0, Byte(1)), (1, Text(proto.to_vec()))]);
    assert_eq!(refused(vec![(7, List(vec![hlo(&[0xff])]))]), "an HLO sharding is no such proto");
    assert_eq!(
        refused(vec![(8, List(vec![hlo(&[]), hlo(&[])]))]),
        "there are 2 out_shardings for 1 out_avals"
    );
}

#[test]
fn names_are_utf_8_and_harmless() {
    for (slot, item) in
        [(1, Text(vec![0xff])), (9, List(vec![Text(vec![0xc3])])), (26, Text(vec![0xe2, 0x82]))]
    {
        let message = refused(vec![(slot, item)]);
        assert!(message.starts_with("a text in ") && message.ends_with(" is not UTF-8"), "{message}");
    }
    let keys = Table(vec![(0, Byte(4)), (1, List(vec![leaf()])), (2, List(vec![Text(vec![0xff])]))]);
    assert_eq!(refused(vec![(4, keys)]), "a text in the keys of a tree's dict is not UTF-8");
    let export = read(&with(vec![(1, text("a\0b\x1b")), (26, text("1\n"))])).unwrap();
    assert_eq!(
        (export.function_name.as_str(), export.jax_version.as_deref()),
        (r"a\u{0}b\u{1b}", Some(r"1\n"))
    );
}

#[test]
fn custom_nodes_with_other_data() {
    // The data of a type that is not a named tuple are for the type alone.
    let path = |data: &[u8]| {
        let custom = Table(vec![
            (0, Byte(5)),
            (1, List(vec![leaf()])),
            (3, text("My.Type")),
            (4, Text(data.to_vec())),
        ]);
        let export = read(&with(vec![(4, custom)])).unwrap();
        assert_eq!(export.out_tree.to_string(), "CustomNode(My.Type, [*])");
        export.outputs[0].path.clone()
    };
    assert_eq!(path(b"[\"x\"]"), "result.x");
    for data in [&b""[..], b"\xff", b"[\"x\", \"y\"]", b"[\"not a name\"]", b"[1]", b"{\"x\": 1}", b"[\"\"]"]
    {
        assert_eq!(path(data), "result[<flat index 0>]");
    }
}

#[test]
fn trees_that_are_no_arguments() {
    let export = read(&with(vec![(2, node(3, vec![leaf()]))])).unwrap();
    assert_eq!(export.inputs[0].path, "args[0]");
    let export = read(&with(vec![(2, leaf())])).unwrap();
    assert_eq!(export.inputs[0].path, "args");
}

#[test]
fn positions_of_gradients_are_checked() {
    let bytes = super::file("one");
    for position in [0, 1, bytes.len() - 1, bytes.len(), 1 << 32, usize::MAX] {
        assert!(read_at(&bytes, position).is_err(), "{position}");
    }
    assert_eq!(read_at(&bytes, Flat::new(&bytes).root().unwrap().position()).unwrap(), export("one"));
    let itself = file(&Table(vec![(17, Word(0))]));
    assert!(Flat::new(&itself).root().unwrap().table(VJP).is_err());
}
