//! Tests of the text for people.

use serde_json::{Value, json};

use super::text::{Limits, all};

fn tensor(name: Option<&str>, dims: Value, size: Option<u64>) -> Value {
    json!({"name": name, "dtype": "f32", "dims": dims, "size": size,
        "is_donated": false, "is_kept": true, "sharding": null})
}

fn described(inputs: Value) -> Value {
    json!({"format": "hlo", "encoding": "an HLO proto", "size": 2048, "code_size": 2048, "name": "f",
        "platforms": [], "custom_calls": ["a", "b"], "inputs": inputs, "outputs": null, "problem": null})
}

#[test]
fn large_numbers_stand_below_each_other() {
    let mut donated = tensor(Some("w"), json!([1024, 1024]), Some(4 << 20));
    donated["is_donated"] = true.into();
    donated["sharding"] = "P('x')".into();
    let mut dropped = tensor(Some("state"), json!([]), Some(4));
    dropped["is_kept"] = false.into();
    let text = all(&described(json!([donated, dropped])), Limits::NONE);
    let expected = "\
format        an HLO proto
name          f
size          2.0 KiB (2048 bytes)
platforms     not recorded
custom calls  a, b

inputs: 2, 4.0 MiB (4194308 bytes), 1 donated, 1 dropped
  INDEX  NAME   TYPE               SIZE    BYTES  NOTES
      0  w      f32[1024,1024]  4.0 MiB  4194304  donated, sharding P('x')
      1  state  f32[]               4 B        4  dropped

outputs: known once it is compiled
";
    assert_eq!(text, expected);
}

#[test]
fn a_long_name_moves_its_own_row_only() {
    let long = "x".repeat(70);
    let inputs = json!([tensor(Some(&long), json!(["n"]), None), tensor(Some("y"), json!([1]), Some(4))]);
    let text = all(&described(inputs), Limits::NONE);
    assert!(text.contains(&format!("{long}  f32[n]     ?      ?\n")), "{text}");
    assert!(text.contains("      1  y     f32[1]   4 B      4\n"), "{text}");
}

#[test]
fn names_and_notes_have_no_column_where_there_are_none() {
    let text = all(&described(json!([tensor(None, json!([2]), Some(8))])), Limits::NONE);
    assert!(text.contains("  INDEX  TYPE    SIZE  BYTES\n      0  f32[2]   8 B      8\n"), "{text}");
    assert!(all(&described(json!([])), Limits::NONE).contains("inputs: none\n"));
}

#[test]
fn what_is_endless_is_cut_for_a_terminal() {
    let inputs: Vec<Value> = (0..45).map(|_| tensor(Some(&"n".repeat(1000)), json!([]), Some(4))).collect();
    let mut description = described(inputs.into());
    description["name"] = "long ".repeat(1000).into();
    let text = all(&description, Limits::TERMINAL);
    assert!(text.contains("inputs: 45, 180 bytes\n") && text.contains("  ... and 5 more; --json has all\n"));
    assert!(text.len() < 40_000, "{}", text.len());
    assert!(all(&description, Limits::NONE).len() > 50_000);
}
