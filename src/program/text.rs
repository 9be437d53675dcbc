//! Bounds how deep the brackets of a program text nest, and refuses a dialect.
//!
//! Plugins parse by recursion and overflow the stack on deep nesting.

use super::lexer::{Lexer, Token};
use crate::error::{Code, Error, Origin, Result};

/// Real plugins overflow a stack of 2 MiB at about 350 brackets of the kind that
/// costs most; programs that people write stay far below 100.
const DEEPEST: usize = 256;

/// Whether the text nests no deeper than plugins can parse.
pub fn check_nesting(text: &str) -> Result<()> {
    let depth = deepest(text);
    if depth <= DEEPEST {
        return Ok(());
    }
    let message = format!("the program's brackets nest {depth} deep; plugins can parse {DEEPEST}");
    Err(Error::new(Code::InvalidArgument, Origin::Caller, message)
        .hint("move inner regions into functions of their own, or give the program as bytecode"))
}

/// Refuses the text of VHLO, the form of StableHLO in portable artifacts. It is for the
/// eyes of compiler writers, and names functions and types in its own way.
pub fn check_dialect(text: &str) -> Result<()> {
    let mut tokens = Lexer::new(text).peekable();
    while let Some(token) = tokens.next() {
        let is_vhlo = match &token {
            Token::Word(name) | Token::Attribute(name) => name.starts_with("vhlo."),
            Token::Text(name) => name.starts_with("vhlo.") && tokens.peek() == Some(&Token::Open(b'(')),
            _ => false,
        };
        if is_vhlo {
            return Err(Error::invalid_argument("the program is VHLO text")
                .hint("give it as StableHLO text, or as the portable artifact that it is the text of"));
        }
    }
    Ok(())
}

fn deepest(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for token in Lexer::new(text) {
        match token {
            Token::Open(_) => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            Token::Close(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_counted_where_they_are_brackets() {
        for (text, depth) in [
            ("", 0),
            ("module { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { } }", 3),
            ("\"((((\" ( // ((((\n )", 1),
            ("\"\\\"(((\" [", 1),
            ("-> -> -> (", 1),
            (")))) (", 1),
            ("\"open ((\n {", 1),
        ] {
            assert_eq!(deepest(text), depth, "{text}");
        }
    }

    #[test]
    fn vhlo_is_told_by_its_names() {
        for vhlo in [
            "\"vhlo.func_v1\"() ",
            "tensor<4x!vhlo.f32_v1>",
            "#vhlo.string_v1<\"a\">",
            "\"vhlo.call\\5Fv1\" (",
        ] {
            assert!(check_dialect(vhlo).is_err(), "{vhlo}");
        }
        for other in ["\"vhlo.a\"", "module @vhlo.m // vhlo.x", "stablehlo.add"] {
            assert!(check_dialect(other).is_ok(), "{other}");
        }
    }

    #[test]
    fn the_bound() {
        assert!(check_nesting(&"(".repeat(DEEPEST)).is_ok());
        assert!(check_nesting(&"({".repeat(DEEPEST)).is_err());
    }
}
