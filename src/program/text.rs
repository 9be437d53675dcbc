//! Bounds how deep the brackets of a program text nest.
//!
//! Plugins parse by recursion and overflow the stack on deep nesting.

use crate::error::{Code, Error, Origin, Result};

/// Real plugins overflow a stack of 2 MiB at about 350 brackets of the kind that
/// costs most; programs that people write stay far below 100.
const DEEPEST: usize = 256;

/// Whether the text nests no deeper than plugins can parse.
pub fn check_nesting(text: &str) -> Result<()> {
    let depth = deepest(text.as_bytes());
    if depth <= DEEPEST {
        return Ok(());
    }
    let message = format!("the program's brackets nest {depth} deep; plugins can parse {DEEPEST}");
    Err(Error::new(Code::InvalidArgument, Origin::Caller, message)
        .hint("move inner regions into functions of their own, or give the program as bytecode"))
}

fn deepest(text: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => at = end_of_string(text, at),
            b'/' if text.get(at + 1) == Some(&b'/') => {
                at += memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at);
            }
            b'-' if text.get(at + 1) == Some(&b'>') => at += 1, // an arrow closes nothing
            b'(' | b'[' | b'{' | b'<' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// Where the string that begins at `at` ends: its closing quote, or the line's end
/// when it has none.
fn end_of_string(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < text.len() && text[end] != b'"' && text[end] != b'\n' {
        end += if text[end] == b'\\' { 2 } else { 1 };
    }
    end
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
            assert_eq!(deepest(text.as_bytes()), depth, "{text}");
        }
    }

    #[test]
    fn the_bound() {
        assert!(check_nesting(&"(".repeat(DEEPEST)).is_ok());
        assert!(check_nesting(&"({".repeat(DEEPEST)).is_err());
    }
}
