//! Writes the primitives of MLIR bytecode.

/// A number, in as few bytes as it needs: the first tells by its trailing zeros how
/// many follow.
pub fn number(out: &mut Vec<u8>, value: u64) {
    let bits = u64::BITS - value.leading_zeros();
    match bits.div_ceil(7).max(1) {
        length @ 1..=8 => {
            let marked = (u128::from(value) << length) | (1 << (length - 1));
            out.extend_from_slice(&marked.to_le_bytes()[..length as usize]);
        }
        _ => {
            out.push(0);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// A number whose lowest bit is its sign.
pub fn signed(out: &mut Vec<u8>, value: i64) {
    number(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Several numbers.
pub fn numbers<const COUNT: usize>(values: [u64; COUNT]) -> Vec<u8> {
    numbers_in(&values)
}

/// Several numbers of a list, without how many they are.
pub fn numbers_in(values: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    for &value in values {
        number(&mut out, value);
    }
    out
}

/// How many there are, and then each of them.
pub fn list(values: &[u64]) -> Vec<u8> {
    let mut out = numbers([values.len() as u64]);
    out.extend(numbers_in(values));
    out
}

/// A section that need not be aligned.
pub fn section(out: &mut Vec<u8>, kind: u8, data: &[u8]) {
    out.push(kind);
    number(out, data.len() as u64);
    out.extend_from_slice(data);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::mlir::cursor::Cursor;

    #[test]
    fn what_is_written_is_read() {
        for bits in 0..64 {
            for value in [1u64 << bits, (1 << bits) - 1, u64::MAX >> bits] {
                let bytes = numbers([value]);
                let mut cursor = Cursor::new(&bytes);
                assert_eq!((cursor.number(), cursor.is_at_end()), (Some(value), true), "{value}");
                let mut bytes = Vec::new();
                signed(&mut bytes, value as i64);
                assert_eq!(Cursor::new(&bytes).signed(), Some(value as i64));
            }
        }
        assert_eq!(numbers([127, 128]), [0xff, 0x02, 0x02]);
    }
}
