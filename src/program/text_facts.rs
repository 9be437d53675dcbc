//! What a program in StableHLO text tells of itself: the types of its entry function
//! and the custom calls that it makes.
//!
//! Read from the tokens alone. What the text hides behind an alias, or writes in
//! MLIR's generic form, stays unknown: a plugin reads the program anyway.

use std::collections::BTreeSet;
use std::iter::Peekable;

use super::contents::{Dim, Element, Tensor};
use super::lexer::{Lexer, Token};
use crate::dtype::DType;

/// What the entry function takes and gives.
pub type Function = (Vec<Tensor>, Vec<Tensor>);

type Tokens<'a> = Peekable<Lexer<'a>>;

/// The types of the function `main`, if they are written out.
pub fn main_function(text: &str) -> Option<Function> {
    let mut tokens = Lexer::new(text).peekable();
    while let Some(token) = tokens.next() {
        if !matches!(token, Token::Word("func.func" | "func")) {
            continue;
        }
        let _ = tokens.next_if(|token| matches!(token, Token::Word("public" | "private" | "nested")));
        if tokens.next_if(|token| matches!(token, Token::Symbol(name) if name == "main")).is_some() {
            return function(&mut tokens);
        }
    }
    None
}

/// The name of the module, if it has one.
pub fn module_name(text: &str) -> Option<String> {
    let mut tokens = Lexer::new(text);
    tokens.find(|token| matches!(token, Token::Word("module" | "builtin.module")))?;
    match tokens.next() {
        Some(Token::Symbol(name)) => Some(name.into_owned()),
        _ => None,
    }
}

/// The targets of the custom calls, sorted, each once.
pub fn custom_calls(text: &str) -> Vec<String> {
    let mut targets = BTreeSet::new();
    let mut tokens = Lexer::new(text).peekable();
    while let Some(token) = tokens.next() {
        let target = match token {
            Token::Word("stablehlo.custom_call" | "mhlo.custom_call") => {
                tokens.next_if(|token| matches!(token, Token::Symbol(_)))
            }
            Token::Word("call_target_name") if tokens.next_if_eq(&Token::Other("=")).is_some() => {
                tokens.next_if(|token| matches!(token, Token::Text(_)))
            }
            _ => None,
        };
        if let Some(Token::Symbol(target) | Token::Text(target)) = target {
            targets.insert(target.into_owned());
        }
    }
    targets.into_iter().collect()
}

/// Element types that not every plugin knows and that the text may have: older plugins
/// end the process on them.
pub fn rare_dtypes(text: &str) -> Vec<DType> {
    let rare = [("f6E2M3FN", DType::F6E2M3FN), ("f6E3M2FN", DType::F6E3M2FN)];
    rare.iter().filter(|(name, _)| text.contains(name)).map(|&(_, dtype)| dtype).collect()
}

/// Reads on behind the function's name.
fn function(tokens: &mut Tokens<'_>) -> Option<Function> {
    let inputs = list(tokens, true)?;
    if tokens.next_if_eq(&Token::Other("->")).is_none() {
        return Some((inputs, Vec::new()));
    }
    let outputs = match tokens.peek() {
        Some(Token::Open(b'(')) => list(tokens, false)?,
        _ => vec![tensor(tokens)?],
    };
    Some((inputs, outputs))
}

/// A list in parentheses: `%name: type attributes`, or without the name.
fn list(tokens: &mut Tokens<'_>, named: bool) -> Option<Vec<Tensor>> {
    tokens.next_if_eq(&Token::Open(b'('))?;
    let mut items = Vec::new();
    while tokens.next_if_eq(&Token::Close(b')')).is_none() {
        if named
            && tokens.next_if(|token| matches!(token, Token::Other(name) if name.starts_with('%'))).is_some()
        {
            tokens.next_if_eq(&Token::Other(":"))?;
        }
        let mut item = tensor(tokens)?;
        if tokens.peek() == Some(&Token::Open(b'{')) {
            attributes(tokens, &mut item)?;
        }
        if tokens.next_if_eq(&Token::Word("loc")).is_some() {
            location(tokens, &mut item)?;
        }
        let _ = tokens.next_if_eq(&Token::Other(","));
        items.push(item);
    }
    Some(items)
}

fn tensor(tokens: &mut Tokens<'_>) -> Option<Tensor> {
    if tokens.next_if_eq(&Token::Word("tensor")).is_none() {
        // `!stablehlo.token`, or an alias.
        tokens.next_if_eq(&Token::Other("!"))?;
        let Token::Word(name) = tokens.next()? else { return None };
        let element = if name.ends_with(".token") { Element::Token } else { return None };
        return Some(Tensor { element, ..Tensor::default() });
    }
    tokens.next_if_eq(&Token::Open(b'<'))?;
    let mut written = String::new();
    while let Some(Token::Word(part) | Token::Number(part) | Token::Other(part @ "?")) =
        tokens.next_if(|token| matches!(token, Token::Word(_) | Token::Number(_) | Token::Other("?")))
    {
        written.push_str(part);
    }
    // The parts of a complex type follow in brackets of their own.
    if tokens.next_if_eq(&Token::Open(b'<')).is_some() {
        let Token::Word(part) = tokens.next()? else { return None };
        tokens.next_if_eq(&Token::Close(b'>'))?;
        written.push_str(part);
    }
    if tokens.next_if_eq(&Token::Other(",")).is_some() {
        skip_until_closed(tokens)?; // the encoding: bounds of dynamic dims
    } else {
        tokens.next_if_eq(&Token::Close(b'>'))?;
    }
    let (dims, element) = split(&written)?;
    Some(Tensor { element: Element::Array(element), dims, ..Tensor::default() })
}

/// Dims and element type of `4x?x8xf32`.
fn split(written: &str) -> Option<(Vec<Dim>, DType)> {
    let mut dims = Vec::new();
    let mut rest = written;
    while rest.starts_with(|c: char| c.is_ascii_digit() || c == '?') {
        let (dim, behind) = rest.split_once('x')?;
        dims.push(match dim {
            "?" => Dim::Symbolic("?".to_owned()),
            _ => Dim::Fixed(dim.parse().ok()?),
        });
        rest = behind;
    }
    Some((dims, DType::from_mlir(rest)?))
}

/// Reads `{name = value, ...}` for what it says of donation and names.
fn attributes(tokens: &mut Tokens<'_>, item: &mut Tensor) -> Option<()> {
    let mut depth = 0usize;
    loop {
        match tokens.next()? {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.checked_sub(1)?,
            Token::Word("tf.aliasing_output") if depth == 1 => item.is_donated = true,
            Token::Word("jax.buffer_donor") if depth == 1 => {
                let _ = tokens.next_if_eq(&Token::Other("="));
                item.is_donated |= tokens.next_if_eq(&Token::Word("false")).is_none();
            }
            Token::Word("jax.result_info") if depth == 1 => {
                tokens.next_if_eq(&Token::Other("="))?;
                if let Some(Token::Text(name)) = tokens.next_if(|token| matches!(token, Token::Text(_))) {
                    item.name = Some(name.into_owned()).filter(|name| !name.is_empty());
                }
            }
            _ => {}
        }
        if depth == 0 {
            return Some(());
        }
    }
}

/// Reads `("name")` or `("name"(...))`; other locations tell no name.
fn location(tokens: &mut Tokens<'_>, item: &mut Tensor) -> Option<()> {
    tokens.next_if_eq(&Token::Open(b'('))?;
    if let Some(Token::Text(name)) = tokens.next_if(|token| matches!(token, Token::Text(_))) {
        let is_file = tokens.peek() == Some(&Token::Other(":"));
        if !is_file {
            item.name = Some(name.into_owned());
        }
    }
    skip_until_closed(tokens)
}

/// Skips to behind the bracket that closes the one before here.
fn skip_until_closed(tokens: &mut Tokens<'_>) -> Option<()> {
    let mut depth = 1usize;
    while depth > 0 {
        match tokens.next()? {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth -= 1,
            _ => {}
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let (inputs, outputs) = main_function(text)?;
        let list = |items: &[Tensor]| {
            let item = |item: &Tensor| {
                let name = item.name.as_ref().map_or(String::new(), |name| format!("{name}: "));
                format!("{name}{item}{}", if item.is_donated { "!" } else { "" })
            };
            items.iter().map(item).collect::<Vec<_>>().join(", ")
        };
        Some(format!("({}) -> ({})", list(&inputs), list(&outputs)))
    }

    #[test]
    fn functions() {
        let cases = [
            ("func.func @main() { return }", Some("() -> ()")),
            (
                "module @m { func.func public @main(%a: tensor<4x8xf32>) -> tensor<i1> {",
                Some("(f32[4,8]) -> (pred[])"),
            ),
            (
                "func.func private @f(%x: tensor<f32>) {} func.func @main(%arg0: tensor<2xcomplex<f32>> {tf.aliasing_output = 0 : i32} loc(\"x['w']\"), %b: tensor<?x3xbf16, #stablehlo.bounds<4, ?>> {jax.buffer_donor = true, mhlo.sharding = \"{x}\"} loc(\"f.py\":1:2)) -> (tensor<ui4> {jax.result_info = \"result[0]\"}, !stablehlo.token)",
                Some("(x['w']: c64[2]!, bf16[?,3]!) -> (result[0]: u4[], token[])"),
            ),
            ("func.func @main(tensor<3xf8E4M3FN>) -> ()", Some("(f8e4m3fn[3]) -> ()")),
            ("func.func @main(%a: !alias) -> ()", None),
            ("func.func @main(%a: tensor<4xindex>)", None),
            ("func.func @main(%a: tensor<4xf32>", None),
            ("func.func @other() { return }", None),
            ("\"func.func\"() <{sym_name = \"main\"}>", None),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn types_of_few_plugins() {
        assert_eq!(rare_dtypes("tensor<4xf6E3M2FN>"), [DType::F6E3M2FN]);
        assert_eq!(rare_dtypes("tensor<4xf8E4M3FN>"), []);
        let rare = [DType::F6E2M3FN, DType::F6E3M2FN];
        assert!(rare.iter().all(|dtype| dtype.since_pjrt_minor() > 106));
    }

    #[test]
    fn names_and_targets() {
        assert_eq!(module_name("// module @no\nmodule @jit_f attributes {} {}").as_deref(), Some("jit_f"));
        assert_eq!(module_name("module {}"), None);
        let text = "%1 = stablehlo.custom_call @b(%0) \"stablehlo.custom_call\"(%0) {call_target_name = \"a\"} stablehlo.custom_call @b";
        assert_eq!(custom_calls(text), ["a", "b"]);
    }
}
