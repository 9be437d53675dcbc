//! Byte order and memory order: whatever a file has, a program gets
//! little-endian row-major memory.

/// Reverses the bytes of every `width`-byte number.
pub fn swap_bytes(bytes: &mut [u8], width: usize) {
    if width > 1 {
        bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
}

/// Rewrites column-major (Fortran) memory as row-major memory.
pub fn row_major(column_major: &[u8], dims: &[usize], width: usize) -> Vec<u8> {
    let mut result = Vec::with_capacity(column_major.len());
    let mut strides = Vec::with_capacity(dims.len());
    let mut stride = width;
    for dim in dims {
        strides.push(stride);
        stride *= dim;
    }
    let mut index = vec![0; dims.len()];
    let mut offset = 0;
    while result.len() < column_major.len() {
        result.extend_from_slice(&column_major[offset..offset + width]);
        // The last axis moves fastest, like the digits of a counter.
        for axis in (0..dims.len()).rev() {
            index[axis] += 1;
            offset += strides[axis];
            if index[axis] < dims[axis] {
                break;
            }
            offset -= strides[axis] * dims[axis];
            index[axis] = 0;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows() {
        // [[1, 2, 3], [4, 5, 6]] is stored 1 4 2 5 3 6 by columns.
        assert_eq!(row_major(&[1, 4, 2, 5, 3, 6], &[2, 3], 1), [1, 2, 3, 4, 5, 6]);
        let wide = [1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 0];
        assert_eq!(row_major(&wide, &[2, 3], 2), [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
        assert_eq!(row_major(&[7], &[], 1), [7]);
        assert_eq!(row_major(&[1, 2], &[2], 1), [1, 2]);
        assert!(row_major(&[], &[3, 0, 2], 4).is_empty());
        // Element (i, j, k) of a 2x2x2 array is i + 2j + 4k in column order.
        let cube: Vec<u8> = (0..8).collect();
        assert_eq!(row_major(&cube, &[2, 2, 2], 1), [0, 4, 2, 6, 1, 5, 3, 7]);
    }

    #[test]
    fn bytes_are_swapped_in_their_numbers() {
        let mut bytes = [1, 2, 3, 4];
        swap_bytes(&mut bytes, 2);
        assert_eq!(bytes, [2, 1, 4, 3]);
        swap_bytes(&mut bytes, 1);
        assert_eq!(bytes, [2, 1, 4, 3]);
        swap_bytes(&mut bytes, 4);
        assert_eq!(bytes, [3, 4, 1, 2]);
    }
}
