//! Programs whose function to run takes and gives tokens.

use super::file::{BUILTIN, File, VHLO, isolated, number, numbers, region};
use super::*;

/// `main(token, f32, token, f32)` that adds what is no token, makes a token of both, and
/// gives token, sum, token, second summand; the first summand's memory is for the sum.
fn two_tokens() -> File {
    let mut file = File::new();
    let element = file.type_of(VHLO, number(4));
    let scalar = file.tensor(&[], element);
    let token = file.type_of(VHLO, number(22));
    let integer = file.type_of(VHLO, number(13));
    let types = [token, scalar, token, scalar];
    let list = [&[4][..], &types].concat();
    let function_type = file.type_of(VHLO, numbers(&[&[8], &list[..], &list[..]].concat()));
    let function_type = file.attribute(VHLO, numbers(&[17, function_type]));
    let nothing = file.attribute(VHLO, numbers(&[6, 0]));
    let (key, one) = (file.text("tf.aliasing_output"), file.attribute(VHLO, numbers(&[9, integer, 2])));
    let donated = file.attribute(VHLO, numbers(&[6, 1, key, one]));
    let facts = file.attribute(VHLO, numbers(&[1, 4, nothing, donated, nothing, nothing]));
    let no_facts = file.attribute(VHLO, numbers(&[1, 0]));
    let (main, public) = (file.text("main"), file.text("public"));
    let mut add = file.op(VHLO, "add_v1", 2 | 4, None);
    add.extend(numbers(&[1, scalar, 2, 1, 3]));
    let mut both = file.op(VHLO, "after_all_v1", 2 | 4, None);
    both.extend(numbers(&[1, token, 2, 0, 2]));
    let mut end = file.op(VHLO, "return_v1", 4, None);
    end.extend(numbers(&[4, 5, 4, 2, 3]));
    let properties = numbers(&[facts, function_type, no_facts, main, public]);
    let function = file.op(VHLO, "func_v1", 0x10, Some(properties));
    let function = [function, isolated(&region(6, &types, &[add, both, end]))].concat();
    let module = file.op(BUILTIN, "module", 0x10, Some(numbers(&[0, 0])));
    file.outermost.push([module, isolated(&region(0, &[], &[function]))].concat());
    file
}

fn contains(whole: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(whole, part).is_some()
}

#[test]
fn tokens_are_made_inside() {
    let file = two_tokens();
    let code = file.write();
    let before = read(&code).unwrap().main.unwrap();
    assert_eq!(before.inputs.iter().filter(|input| input.ty == ValueType::Token).count(), 2);
    let rewritten = without_tokens(&code).unwrap();
    let main = read(&rewritten).unwrap().main.unwrap();
    let scalar = array(DType::F32, &[]);
    let types = |values: &[Value]| values.iter().map(|value| value.ty.clone()).collect::<Vec<_>>();
    assert_eq!(types(&main.inputs), [scalar.clone(), scalar.clone()]);
    assert_eq!(types(&main.outputs), [scalar.clone(), scalar]);
    assert_eq!((main.inputs[0].is_donated, main.inputs[1].is_donated), (true, false));
    // The sum of the first two values, and the tokens behind them.
    let scalar_type = 1;
    assert!(contains(&rewritten, &numbers(&[1, scalar_type, 2, 0, 1])));
    assert!(contains(&rewritten, &numbers(&[1, 2, 2, 2, 3])));
    // What is given: the sum and the second summand.
    assert!(contains(&rewritten, &[&[4][..], &numbers(&[0, 2, 4, 1])].concat()));
    // The sum is now the first result.
    assert!(contains(&rewritten, &numbers(&[9, 3, 0])));
    assert_eq!(without_tokens(&rewritten).unwrap(), rewritten);
}

#[test]
fn nothing_to_change() {
    for code in [NAMES, DTYPES, DIGITS] {
        assert_eq!(without_tokens(code).unwrap(), code);
    }
    assert!(without_tokens(&NAMES[..100]).is_err());
    assert_eq!(without_tokens(&File::new().write()).unwrap_err().code(), Code::Unimplemented);
}

#[test]
fn only_tokens() {
    let mut file = two_tokens();
    // All four are tokens, and a sum is none of them.
    file.types[1] = (VHLO, number(22));
    let add = file.ops.iter().position(|&(_, name)| file.strings[name as usize] == "add_v1").unwrap();
    let name = file.ops[add].1 as usize;
    file.strings[name] = "other_v1".into();
    // Whose memory the result is for, is told of what is no token.
    let facts = file.attributes.iter().position(|(_, encoding)| encoding[..] == numbers(&[1, 0])[..]);
    let properties = file.properties.len() - 2;
    let mut parts = file.properties[properties].clone();
    parts[0] = number(facts.unwrap() as u64)[0];
    file.properties[properties] = parts;
    let main = read(&without_tokens(&file.write()).unwrap()).unwrap().main.unwrap();
    assert_eq!((main.inputs.len(), main.outputs.len()), (0, 0));
}

/// Whatever is accepted, gives a file that is accepted.
#[test]
fn any_byte_wrong() {
    let whole = two_tokens().write();
    for position in 0..whole.len() {
        for value in [0, 1, 3, 5, 7, 9, 11, 0xff, whole[position].wrapping_add(2)] {
            let mut wrong = whole.clone();
            wrong[position] = value;
            if let Ok(rewritten) = without_tokens(&wrong) {
                let main = read(&rewritten).unwrap().main.unwrap();
                assert!(main.inputs.iter().all(|input| input.ty != ValueType::Token));
            }
        }
    }
}
