//! Elements narrower than a byte, which DLPack packs: the first one in the lowest bits.

use crate::error::Result;
use crate::memory;

/// Packs elements that have a byte each, `bits` of which count.
pub fn pack(elements: &[u8], bits: usize) -> Result<Vec<u8>> {
    let mut packed = memory::zeroed((elements.len() * bits).div_ceil(8))?;
    for (index, &element) in elements.iter().enumerate() {
        let at = index * bits;
        let two = u16::from(element & mask(bits)) << (at % 8);
        packed[at / 8] |= two as u8;
        if at % 8 + bits > 8 {
            packed[at / 8 + 1] |= (two >> 8) as u8;
        }
    }
    Ok(packed)
}

/// The bits of an element.
pub fn mask(bits: usize) -> u8 {
    ((1u16 << bits) - 1) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_is_lowest() {
        assert_eq!(pack(&[1, 2, 0xf3], 4).unwrap(), [0x21, 0x03]);
        assert_eq!(pack(&[1, 2, 3, 0, 2], 2).unwrap(), [0b0011_1001, 0b10]);
        assert_eq!(pack(&[1, 0, 1, 1, 0, 0, 0, 1, 1], 1).unwrap(), [0b1000_1101, 1]);
        assert_eq!(pack(&[0x3f, 0, 0x3f, 0], 6).unwrap(), [0b0011_1111, 0b1111_0000, 0b0000_0011]);
        assert_eq!(pack(&[], 4).unwrap(), [0u8; 0]);
    }
}
