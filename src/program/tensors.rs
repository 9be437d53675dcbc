//! Bounds the sizes of the tensor types in a program text.
//!
//! Plugins end the process on a type whose size in bytes is no 64-bit number.

use memchr::memmem;

use crate::error::{Error, Result};

/// Elements of 16 bytes, the widest, then fit into a 64-bit size.
const MOST_ELEMENTS: u64 = 1 << 59;

/// Whether every tensor type in the text has a size that plugins can compute.
pub fn check_sizes(text: &str) -> Result<()> {
    const TYPE: &[u8] = b"tensor<";
    for start in memmem::find_iter(text.as_bytes(), TYPE) {
        let described = &text[start + TYPE.len()..];
        if !is_small_enough(described) {
            let shown = described.split(['>', ',']).next().unwrap_or("");
            let shown: String = shown.chars().take(80).collect();
            let message = format!("the program's type tensor<{shown}> is larger than memory can be");
            return Err(Error::invalid_argument(message));
        }
    }
    Ok(())
}

/// `described` begins behind `tensor<`, as in `4x8xf32>`. Zero counts as one: plugins
/// multiply the others all the same.
fn is_small_enough(described: &str) -> bool {
    let mut elements = 1u64;
    let mut rest = described;
    loop {
        rest = rest.trim_ascii_start();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, behind) = rest.split_at(digits);
        let behind = behind.trim_ascii_start();
        let behind = if digits == 0 { behind.strip_prefix('?').unwrap_or(behind) } else { behind };
        if digits > 0 {
            let product = number.parse::<u64>().ok().and_then(|dim| elements.checked_mul(dim.max(1)));
            match product {
                Some(product) if product <= MOST_ELEMENTS => elements = product,
                _ => return false,
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
        for fine in
            ["f32>", "4xf32>", "2x3xcomplex<f64>>", "0x4xi8>", "?x4xf32>", "576460752303423488xi8>", "", "4x"]
        {
            assert!(is_small_enough(fine), "{fine}");
        }
        for huge in [
            "4611686018427387904xf32>",
            "4294967296x4294967296xf32>",
            "9223372036854775807x0xf32>",
            "?x9223372036854775807xi8>",
            "99999999999999999999999xi8>",
            "4294967296 x 4294967296 x f32>",
        ] {
            assert!(!is_small_enough(huge), "{huge}");
        }
    }

    #[test]
    fn every_type_of_a_text_counts() {
        assert!(check_sizes("module { func.func @main(%a: tensor<4xf32>) -> tensor<8xf32>").is_ok());
        let error = check_sizes("tensor<4xf32> tensor<4294967296x4294967296xf32>").unwrap_err();
        assert!(error.message().contains("tensor<4294967296x4294967296xf32>"));
    }
}
