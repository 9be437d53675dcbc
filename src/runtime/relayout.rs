//! Puts the elements of an array in row-major order.

use crate::error::Result;
use crate::pjrt::{HostStrided, Layout};

/// The row-major form of a dense array whose memory has the order of `layout`.
pub fn to_row_major(source: &[u8], dims: &[i64], layout: &Layout, element_size: usize) -> Result<Vec<u8>> {
    // Bytes from one element to the next of each dimension, in the source.
    let mut strides = vec![0; dims.len()];
    let mut stride = element_size as i64;
    for dimension in layout.minor_to_major.iter().map(|&dimension| dimension as usize) {
        strides[dimension] = stride;
        stride *= dims[dimension];
    }
    HostStrided::dense(source, dims, &strides, element_size).gather(source.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders() {
        let layout = |order: &[i64]| Layout { minor_to_major: order.to_vec(), is_tiled: false };
        let column_major = [0, 6, 2, 8, 4, 10];
        assert_eq!(to_row_major(&column_major, &[2, 3], &layout(&[0, 1]), 1).unwrap(), [0, 2, 4, 6, 8, 10]);
        assert_eq!(to_row_major(&column_major, &[2, 3], &layout(&[1, 0]), 1).unwrap(), column_major);
        assert_eq!(to_row_major(&[1, 2, 3, 4], &[1, 2], &layout(&[0, 1]), 2).unwrap(), [1, 2, 3, 4]);
        assert_eq!(to_row_major(&[7], &[], &layout(&[]), 1).unwrap(), [7]);
        // [2,2,2] with dimension 0 fastest, then 2, then 1.
        let source: Vec<u8> = (0..8).collect();
        assert_eq!(
            to_row_major(&source, &[2, 2, 2], &layout(&[0, 2, 1]), 1).unwrap(),
            [0, 2, 4, 6, 1, 3, 5, 7]
        );
    }
}
