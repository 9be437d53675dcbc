//! Modules with functions that call one another.

use super::file::{BUILTIN, File, VHLO, isolated, number, numbers, region};
use super::*;

/// A module of functions without arguments; each calls others by name.
fn module(functions: &[(&str, &[&str])], hollow: Option<&str>) -> File {
    let mut file = File::new();
    let nothing = file.type_of(VHLO, numbers(&[8, 0, 0]));
    let function_type = file.attribute(VHLO, numbers(&[17, nothing]));
    let facts = file.attribute(VHLO, numbers(&[1, 0]));
    let visibility = file.text("public");
    let mut ops = Vec::new();
    for (name, callees) in functions {
        let name = file.text(name);
        let mut body = Vec::new();
        for callee in *callees {
            let callee = file.text(callee);
            body.push(file.op(VHLO, "call_v1", 0, Some(number(callee))));
        }
        body.push(file.op(VHLO, "return_v1", 0, None));
        let properties = numbers(&[facts, function_type, facts, name, visibility]);
        let function = file.op(VHLO, "func_v1", 0x10, Some(properties));
        ops.push([function, isolated(&region(0, &[], &body))].concat());
    }
    if let Some(name) = hollow {
        let name = file.text(name);
        let properties = numbers(&[facts, function_type, facts, name, visibility]);
        let function = file.op(VHLO, "func_v1", 0x10, Some(properties));
        ops.push([function, isolated(&number(0))].concat());
    }
    let name = file.string("m");
    let name = file.attribute(BUILTIN, numbers(&[2, name]));
    let module = file.op(BUILTIN, "module", 0x10, Some(numbers(&[name << 1 | 1, 0])));
    file.outermost.push([module, isolated(&region(0, &[], &ops))].concat());
    file
}

fn refused(file: &File, part: &str) {
    let error = read(&file.write()).expect_err(part);
    assert!(error.message().contains(part), "{error}");
}

#[test]
fn the_function_to_run() {
    let module = read(&module(&[("main", &["f"]), ("f", &[])], None).write()).unwrap();
    assert_eq!(module.name.as_deref(), Some("m"));
    assert_eq!(module.main, Some(Function { inputs: vec![], outputs: vec![] }));
    let other = read(&super::functions::module(&[("f", &[])], None).write()).unwrap();
    assert_eq!(other.main, None);
}

#[test]
fn calls_end() {
    refused(&module(&[("main", &["main"])], None), "call themselves: @main -> @main");
    refused(&module(&[("main", &["f"]), ("f", &["g"]), ("g", &["f"])], None), "call themselves");
    refused(&module(&[("main", &["f"])], Some("f")), "@f has no body");
    let names: Vec<String> = (0..5000).map(|number| format!("f{number}")).collect();
    let callees: Vec<[&str; 1]> = (0..5000).map(|at| [names[(at + 1) % 5000].as_str()]).collect();
    let ring: Vec<(&str, &[&str])> =
        names.iter().zip(&callees).map(|(name, callees)| (name.as_str(), &callees[..])).collect();
    refused(&module(&ring, None), "… 5001 …");
}

#[test]
fn long_names_and_lists_that_many_calls_share_cost_little() {
    let mut file = module(&[("main", &[])], None);
    let long = file.text(&"n".repeat(4 << 20));
    let call = file.op(VHLO, "call_v1", 0, Some(number(long)));
    file.outermost.clear();
    let nothing = file.types.len() as u64 - 1;
    let function_type = file.attribute(VHLO, numbers(&[17, nothing]));
    let facts = file.attribute(VHLO, numbers(&[1, 0]));
    let visibility = file.text("public");
    let properties = numbers(&[facts, function_type, facts, long, visibility]);
    let function = file.op(VHLO, "func_v1", 0x10, Some(properties));
    let end = file.op(VHLO, "return_v1", 0, None);
    let other = file.text("other");
    let properties = numbers(&[facts, function_type, facts, other, visibility]);
    let caller = file.op(VHLO, "func_v1", 0x10, Some(properties));
    let body = [vec![call; 100_000], vec![end.clone()]].concat();
    file.outermost.push([function, isolated(&region(0, &[], &[end]))].concat());
    file.outermost.push([caller, isolated(&region(0, &[], &body))].concat());
    read(&file.write()).unwrap();
}

#[test]
fn the_parts_of_a_function() {
    let mut file = module(&[("main", &[])], None);
    let properties = file.properties.len();
    // Another attribute where the name is to be, and one too few.
    for wrong in [numbers(&[2, 1, 2, 1, 3]), numbers(&[2, 1, 2, 3])] {
        file.properties[properties - 2] = wrong;
        refused(&file, "its operations");
    }
}

#[test]
fn custom_calls_are_listed_once() {
    let mut file = module(&[("main", &[]), ("f", &[])], None);
    let original = file.attribute(VHLO, numbers(&[5, 1]));
    let nothing = file.text("");
    let (yes, no) = (file.attribute(VHLO, numbers(&[2, 1])), file.attribute(VHLO, numbers(&[2, 0])));
    let list = file.attribute(VHLO, numbers(&[1, 0]));
    let (b, a) = (file.text("b"), file.text("a"));
    for (target, has_side_effect) in [(b, no), (a, no), (b, yes)] {
        let properties = numbers(&[original, nothing, target, list, has_side_effect, list, list, list]);
        let op = file.op(VHLO, "custom_call_v1", 0, Some(properties));
        file.outermost.push(op);
    }
    let call = |target: &str, has_side_effect| CustomCall {
        target: target.to_owned(),
        api_version: Some(1),
        has_side_effect,
    };
    assert_eq!(read(&file.write()).unwrap().custom_calls, [call("a", false), call("b", true)]);
    // One that calls back what is not there.
    let missing = file.text("missing");
    let computations = file.attribute(VHLO, numbers(&[1, 1, missing]));
    let properties = numbers(&[original, nothing, b, computations, no, list, list, list]);
    let op = file.op(VHLO, "custom_call_v1", 0, Some(properties));
    file.outermost.push(op);
    refused(&file, "calls the computation @missing");
}
