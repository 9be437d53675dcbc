//! Reads what the plugin needs of StableHLO text: the module's name, the types of
//! `@main`, which arguments are donated, and whether anything is added.

use crate::element::Element;
use crate::errors::Failure;
use crate::sys::*;

/// The type of an argument or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub element: &'static Element,
    pub dims: Vec<i64>,
}

impl Tensor {
    pub fn count(&self) -> usize {
        self.dims.iter().map(|&dim| dim as usize).product()
    }

    pub fn size(&self) -> usize {
        self.count() * self.element.size
    }
}

/// What a program's text says.
#[derive(Debug)]
pub struct Module {
    pub name: String,
    pub inputs: Vec<Tensor>,
    pub outputs: Vec<Tensor>,
    /// For each input the output that may take its memory.
    pub donated_to: Vec<Option<usize>>,
    /// Whether the body has a `stablehlo.add`.
    pub adds: bool,
}

const TOO_NEW: &str = "Failed to parse using StableHLO v1.20.0, this could indicate forward \
    incompatibility, >12w old unsupported plugin, or a portable artifact that needs to be \
    further downgraded.";

fn unparsable(what: &str) -> Failure {
    let text = format!("-:1:1: error: {what}\n<unknown>:0: error: {TOO_NEW}\n");
    Failure::new(PJRT_Error_Code_UNKNOWN, text)
}

/// Reads a module.
pub fn parse(text: &str) -> Result<Module, Failure> {
    let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    let first = text.split(|c: char| !c.is_alphanumeric() && c != '.').next().unwrap_or("");
    if !text.is_empty() && !["module", "func.func", "builtin.module"].contains(&first) {
        return Err(unparsable(&format!("custom op '{first}' is unknown")));
    }
    let Some(start) = main_signature(text) else {
        return Err(Failure::new(
            PJRT_Error_Code_UNKNOWN,
            "-:1:1: error: conversion requires module with `main` function\n",
        ));
    };
    let arguments = bracketed(&text[start..]).ok_or_else(|| unparsable("expected ')'"))?;
    let mut inputs = Vec::new();
    let mut wishes = Vec::new();
    for argument in split(arguments) {
        let (_, described) = argument.split_once(':').ok_or_else(|| unparsable("expected ':'"))?;
        inputs.push(tensor(described)?);
        wishes.push(donation(described)?);
    }
    let rest = text[start + arguments.len() + 2..].trim_start();
    let outputs = results(rest)?;
    let donated_to = settle(&wishes, &inputs, &outputs);
    Ok(Module {
        name: module_name(text).to_owned(),
        inputs,
        outputs,
        donated_to,
        adds: rest.contains("stablehlo.add") || rest.contains("mhlo.add"),
    })
}

/// Where the `(` of a public `@main` stands.
fn main_signature(text: &str) -> Option<usize> {
    for (at, _) in text.match_indices("@main") {
        let rest = &text[at + "@main".len()..];
        let before = text[..at].trim_end();
        let declared = before.ends_with("func.func") || before.ends_with("public");
        if declared && rest.trim_start().starts_with('(') {
            return Some(text.len() - rest.trim_start().len());
        }
    }
    None
}

fn module_name(text: &str) -> &str {
    let rest = text.strip_prefix("builtin.").unwrap_or(text);
    rest.strip_prefix("module")
        .and_then(|rest| rest.trim_start().strip_prefix('@'))
        .and_then(|rest| rest.split(|c: char| !c.is_alphanumeric() && !"_-.$".contains(c)).next())
        .unwrap_or("main")
}

fn results(rest: &str) -> Result<Vec<Tensor>, Failure> {
    let Some(rest) = rest.strip_prefix("->") else {
        return Ok(Vec::new());
    };
    let rest = rest.trim_start();
    if rest.starts_with('(') {
        let all = bracketed(rest).ok_or_else(|| unparsable("expected ')'"))?;
        return split(all).into_iter().map(tensor).collect();
    }
    Ok(vec![tensor(rest)?])
}

/// What stands between the `(` that `text` begins with and its `)`.
fn bracketed(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, c) in outside_strings(text) {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(&text[1..at]),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Splits at the commas that stand in no bracket and no string.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    for (at, c) in outside_strings(text) {
        match c {
            '(' | '{' | '[' | '<' => depth += 1,
            ')' | '}' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

fn outside_strings(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quoted = false;
    let mut escaped = false;
    text.char_indices().filter(move |&(_, c)| {
        let was_quoted = quoted;
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        !was_quoted && c != '"'
    })
}

/// Reads `tensor<4x8xf32>` at the beginning of `text`.
fn tensor(text: &str) -> Result<Tensor, Failure> {
    let shape = text
        .trim_start()
        .strip_prefix("tensor<")
        .and_then(|rest| rest.split(['>', ',']).next())
        .ok_or_else(|| unparsable(&format!("the fake plugin knows no type `{text}`")))?;
    let mut parts: Vec<&str> = shape.split('x').map(str::trim).collect();
    let name = parts.pop().unwrap_or("");
    let element = Element::named(name)
        .ok_or_else(|| unparsable(&format!("the fake plugin knows no element type `{name}`")))?;
    let dims = parts.into_iter().map(|part| match part {
        "?" => Err(Failure::invalid("Unbounded dynamism is disabled for instruction")),
        _ => part.parse().map_err(|_| unparsable("invalid dimension")),
    });
    Ok(Tensor { element, dims: dims.collect::<Result<_, _>>()? })
}

/// What an argument's attributes say about its memory.
#[derive(Clone, Copy)]
enum Donation {
    Kept,
    To(usize),
    ToAny,
}

fn donation(argument: &str) -> Result<Donation, Failure> {
    if let Some((_, rest)) = argument.split_once("tf.aliasing_output") {
        let digits: String = rest.chars().filter(|c| !" =".contains(*c)).collect();
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        return digits[..end].parse().map(Donation::To).map_err(|_| unparsable("invalid tf.aliasing_output"));
    }
    let donor = argument.contains("jax.buffer_donor = true");
    Ok(if donor { Donation::ToAny } else { Donation::Kept })
}

/// Gives each donated input an output; one donated to any takes the first of its type
/// that nobody has.
fn settle(wishes: &[Donation], inputs: &[Tensor], outputs: &[Tensor]) -> Vec<Option<usize>> {
    let mut taken: Vec<usize> = wishes
        .iter()
        .filter_map(|wish| match wish {
            Donation::To(output) => Some(*output),
            _ => None,
        })
        .collect();
    wishes
        .iter()
        .zip(inputs)
        .map(|(wish, input)| match wish {
            Donation::Kept => None,
            Donation::To(output) => Some(*output),
            Donation::ToAny => {
                let free = outputs
                    .iter()
                    .enumerate()
                    .find(|(at, output)| *output == input && !taken.contains(at))?;
                taken.push(free.0);
                Some(free.0)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_as_jax_writes_it() {
        let text = r#"module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {jax.buffer_donor = true, note = "a, (b"},
      %arg1: tensor<i32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<0x4xbf16>)
      -> (tensor<2x3xf32> {jax.result_info = "[0]"}, tensor<i32>) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2x3xf32>
    return %0, %arg1 : tensor<2x3xf32>, tensor<i32>
  }
}"#;
        let module = parse(text).expect("a good module");
        let types: Vec<_> = module.inputs.iter().map(|t| (t.element.name, &t.dims[..])).collect();
        assert_eq!(types, [("f32", &[2, 3][..]), ("i32", &[]), ("bf16", &[0, 4])]);
        assert_eq!(module.name, "jit_f");
        assert_eq!(module.outputs, module.inputs[..2]);
        assert_eq!(module.donated_to, [Some(0), Some(1), None]);
        assert!(module.adds);
    }

    #[test]
    fn other_modules() {
        let module = parse("func.func @main() { return }\0").expect("a good module");
        assert_eq!((module.name.as_str(), module.inputs.len()), ("main", 0));
        assert!(module.outputs.is_empty() && !module.adds);
        for bad in [
            "",
            "module {}",
            "this is no program",
            "module { func.func private @main() { return } }",
            "func.func @main(%a: tensor<?xf32>) { return }",
            "func.func @main(%a: tensor<4xf32",
            "func.func @main(%a: tensor<4xnothing>) { return }",
            "func.func @main(%a) { return }",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
