//! In what order an array's elements lie in memory.

use crate::errors::Failure;
use crate::module_text::Tensor;
use crate::sys::*;

/// The dimensions from the one that varies fastest to the slowest.
pub fn row_major(rank: usize) -> Vec<i64> {
    (0..rank as i64).rev().collect()
}

/// The other order of a matrix, and of whatever has more dimensions.
pub fn column_major(rank: usize) -> Vec<i64> {
    (0..rank as i64).collect()
}

/// Byte strides of a dense array in this order.
pub fn strides(tensor: &Tensor, minor_to_major: &[i64]) -> Vec<i64> {
    let mut strides = vec![0; tensor.dims.len()];
    let mut step = tensor.element.size as i64;
    for &dim in minor_to_major {
        strides[dim as usize] = step;
        step = step.saturating_mul(tensor.dims[dim as usize]); // of any size beside a 0
    }
    strides
}

/// Calls `visit` with the index of each element, in row-major order.
pub fn each_index(dims: &[i64], mut visit: impl FnMut(&[i64])) {
    if dims.contains(&0) {
        return;
    }
    let mut index = vec![0; dims.len()];
    loop {
        visit(&index);
        let Some(at) = (0..dims.len()).rev().find(|&at| index[at] + 1 < dims[at]) else {
            return;
        };
        index[at] += 1;
        index[at + 1..].fill(0);
    }
}

/// Where the element at `index` lies, in bytes.
pub fn offset(index: &[i64], strides: &[i64]) -> i64 {
    index.iter().zip(strides).map(|(at, stride)| at * stride).sum()
}

/// The same array in another order.
pub fn reorder(tensor: &Tensor, bytes: &[u8], from: &[i64], to: &[i64]) -> Vec<u8> {
    let size = tensor.element.size;
    let mut reordered = vec![0; bytes.len()];
    each_index(&tensor.dims, |index| {
        let (from, to) = (offset(index, from) as usize, offset(index, to) as usize);
        reordered[to..to + size].copy_from_slice(&bytes[from..from + size]);
    });
    reordered
}

/// The order that a caller asks for in a layout of its own, which must be dense.
pub fn wanted_strides(layout: &PJRT_Buffer_MemoryLayout, tensor: &Tensor) -> Result<Vec<i64>, Failure> {
    let rank = tensor.dims.len();
    if layout.r#type != PJRT_Buffer_MemoryLayout_Type_Tiled {
        return Err(Failure::new(PJRT_Error_Code_UNIMPLEMENTED, "the fake plugin knows tiled layouts only"));
    }
    // SAFETY: the type says that this is the member.
    let tiled = unsafe { layout.value.tiled };
    if tiled.num_tiles != 0 || tiled.minor_to_major_size != rank {
        return Err(Failure::invalid("the layout does not fit the array"));
    }
    if rank == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the caller describes its list.
    let order = unsafe { std::slice::from_raw_parts(tiled.minor_to_major, rank) };
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if sorted != column_major(rank) {
        return Err(Failure::invalid("the layout does not fit the array"));
    }
    Ok(strides(tensor, order))
}
