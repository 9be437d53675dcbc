//! Bounds the sizes of the shaped types in a program text.
//!
//! Plugins end the process on a type whose size in bytes is no 64-bit number.

use super::lexer::{Lexer, Token};
use crate::error::{Error, Result};

/// More than any machine computes with in one array. Some plugins divide by zero on
/// arrays of 512 GiB, and all end the process where a size is no 64-bit number.
pub const MOST_ELEMENTS: u64 = 1 << 35;

/// Whether every shaped type in the text has a size that plugins can compute.
pub fn check_sizes(text: &str) -> Result<()> {
    let bounds = largest_bounds(text)?;
    let mut tokens = Lexer::new(text).peekable();
    while let Some(token) = tokens.next() {
        let Token::Word(kind @ ("tensor" | "vector" | "memref")) = token else { continue };
        if tokens.next_if_eq(&Token::Open(b'<')).is_none() {
            continue;
        }
        // Vectors have brackets around dims that scale, which change nothing here.
        let mut dims = String::new();
        while let Some(token) = tokens.next_if(|token| is_part_of_dims(token)) {
            if let Token::Word(part) | Token::Number(part) | Token::Other(part) = token {
                dims.push_str(part);
            }
        }
        let unknown = if dims.contains('?') { bounds } else { 1 };
        if !is_small_enough(&dims, unknown) {
            return Err(too_large(&format!("{kind}<{dims}>")));
        }
    }
    Ok(())
}

fn is_part_of_dims(token: &Token) -> bool {
    matches!(
        token,
        Token::Word(_) | Token::Number(_) | Token::Other("?" | "*") | Token::Open(b'[') | Token::Close(b']')
    )
}

/// What is wrong with a type, such as `tensor<9223372036854775807xi8>`.
pub fn too_large(kind: &str) -> Error {
    let shown: String = kind.chars().take(80).collect();
    Error::invalid_argument(format!("the program's type {shown} is larger than memory can be"))
}

/// What the unknown dims of a type multiply to at most, by the largest of the text's
/// `bounds<4, ?>` and `bounds = [4, ?]`: which of them belongs to a type, an alias
/// can hide.
fn largest_bounds(text: &str) -> Result<u64> {
    let mut largest = 1;
    let mut tokens = Lexer::new(text).peekable();
    while let Some(token) = tokens.next() {
        let (Token::Word(name) | Token::Attribute(name)) = token else { continue };
        if name.rsplit('.').next() != Some("bounds") {
            continue;
        }
        let _ = tokens.next_if_eq(&Token::Other("="));
        if tokens.next_if(|token| matches!(token, Token::Open(b'<' | b'['))).is_none() {
            continue;
        }
        let mut product = 1;
        while let Some(token) = tokens.next_if(|token| !matches!(token, Token::Close(_))) {
            if let Token::Number(number) = token {
                product = times(product, number).ok_or_else(|| too_large("of these bounds"))?;
            }
        }
        largest = largest.max(product);
    }
    Ok(largest)
}

/// Zero counts as one: plugins multiply the others all the same.
fn times(elements: u64, dim: &str) -> Option<u64> {
    let product = dim.parse::<u64>().ok()?.max(1).checked_mul(elements)?;
    (product <= MOST_ELEMENTS).then_some(product)
}

/// Whether the dims of a type, as `4x8xf32`, make no more elements than can be;
/// `elements` is what the unknown ones make.
fn is_small_enough(dims: &str, mut elements: u64) -> bool {
    let mut rest = dims;
    loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, behind) = rest.split_at(digits);
        let behind = if digits == 0 { behind.strip_prefix('?').unwrap_or(behind) } else { behind };
        if digits > 0 {
            match times(elements, number) {
                Some(product) => elements = product,
                None => return false,
            }
        }
        match behind.strip_prefix('x') {
            Some(next) => rest = next,
            None => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for fine in [
            "tensor<f32>",
            "tensor<4xf32>",
            "tensor<2x3xcomplex<f64>>",
            "tensor<0x4xi8>",
            "tensor<?x4xf32>",
            "tensor<*xf32>",
            "tensor<34359738368xi8>",
            "tensor<",
            "tensor<4x",
            "tensor 4611686018427387904",
            "\"tensor<4611686018427387904xf32>\"",
            "// tensor<4611686018427387904xf32>",
            "dense<4611686018427387904> : tensor<i64>",
            "tensor<?xf32, #stablehlo.bounds<34359738368>>",
        ] {
            assert!(check_sizes(fine).is_ok(), "{fine}");
        }
        for huge in [
            "tensor<4611686018427387904xf32>",
            "tensor<34359738369xi8>",
            "tensor<4294967296x4294967296xf32>",
            "tensor<9223372036854775807x0xf32>",
            "tensor<?x9223372036854775807xi8>",
            "tensor<99999999999999999999999xi8>",
            "tensor <4611686018427387904xf32>",
            "tensor<\n// c\n4611686018427387904xf32>",
            "tensor<4294967296 x // c\n 4294967296\nx f32>",
            "vector<[4611686018427387904]xf32>",
            "tensor<4xf32> tensor<4611686018427387904xcomplex<f32>>",
            "!t = tensor<4611686018427387904x!e>",
            "tensor<?xf32, #stablehlo.bounds<4611686018427387904>>",
            "#b = #stablehlo<bounds<4294967296, ?>> tensor<?x4294967296xf32, #b>",
            "tensor<?x?xf32, #mhlo.type_extensions<bounds = [4294967296, 4294967296]>>",
        ] {
            assert!(check_sizes(huge).is_err(), "{huge}");
        }
    }

    #[test]
    fn the_type_is_named() {
        let error = check_sizes("tensor<4xf32> tensor <4294967296 x4294967296xf32>").unwrap_err();
        assert!(error.message().contains("tensor<4294967296x4294967296xf32>"));
    }
}
