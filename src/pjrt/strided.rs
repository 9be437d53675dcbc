//! Arrays in host memory whose elements lie apart.

use std::ffi::c_void;
use std::marker::PhantomData;

use super::HostInput;
use crate::error::Result;
use crate::memory;

/// An array in host memory whose elements lie apart: bytes from one to the next in
/// each dimension, of any sign.
pub struct HostStrided<'a> {
    address: *const u8,
    dims: &'a [i64],
    byte_strides: &'a [i64],
    element_size: usize,
    lifetime: PhantomData<&'a [u8]>,
}

/// One dimension of what is copied: so many pieces, so far from one to the next in the
/// array and in the result.
#[derive(Clone, Copy)]
struct Axis {
    count: usize,
    from: isize,
    to: usize,
}

/// Bytes that come from memory at once: they are used together, before others come.
const LINE: usize = 64;
/// So many of them that a processor keeps them all even if they are a power of two apart.
const LINES: usize = 8;

impl<'a> HostStrided<'a> {
    /// The array whose element with index 0 in every dimension is at `address`.
    ///
    /// # Safety
    /// Every element is readable during `'a`; dims and strides are equally many, and
    /// no element is further away than memory goes.
    pub unsafe fn from_raw(
        address: *const c_void,
        dims: &'a [i64],
        byte_strides: &'a [i64],
        element_size: usize,
    ) -> HostStrided<'a> {
        let address = address.cast();
        HostStrided { address, dims, byte_strides, element_size, lifetime: PhantomData }
    }

    /// A dense array in the order that the strides give, all of it in `bytes`.
    pub fn dense(
        bytes: &'a [u8],
        dims: &'a [i64],
        byte_strides: &'a [i64],
        element_size: usize,
    ) -> HostStrided<'a> {
        let mut reach = element_size as i64;
        for (&dim, &stride) in dims.iter().zip(byte_strides) {
            assert!(stride >= 0, "no element is before the first");
            reach += (dim - 1) * stride;
        }
        assert!(dims.contains(&0) || reach as usize <= bytes.len(), "the last element is in the array");
        // SAFETY: the last element was just seen to be inside, as all before it are.
        unsafe { HostStrided::from_raw(bytes.as_ptr().cast(), dims, byte_strides, element_size) }
    }

    /// The memory as it is, if the elements lie in row-major order without a gap; `size` is
    /// how many bytes they are.
    pub fn as_dense(&self, size: usize) -> Option<HostInput<'a>> {
        let is_dense = size > 0 && self.axes().0.is_empty();
        // SAFETY: the elements are readable, and there is nothing between them.
        is_dense.then(|| unsafe { HostInput::from_raw(self.address.cast(), size) })
    }

    /// The elements in row-major order; `size` is how many bytes they are.
    pub fn gather(&self, size: usize) -> Result<Vec<u8>> {
        // A few bytes with strides of zero can stand for more than there is memory.
        let mut gathered = memory::room(size)?;
        if size == 0 {
            return Ok(gathered);
        }
        let (mut axes, piece) = self.axes();
        let inner = axes.pop().unwrap_or(Axis { count: 1, from: 0, to: 0 });
        // The dimension along which the array lies closest goes with the one along which
        // the result does.
        let closest = (0..axes.len()).min_by_key(|&index| axes[index].from.unsigned_abs());
        let outer = closest.map_or(Axis { count: 1, from: 0, to: 0 }, |index| axes.remove(index));
        let mut index = vec![0; axes.len()];
        let (mut from, mut to) = (self.address, gathered.as_mut_ptr());
        loop {
            // SAFETY: `from` and `to` are where the pieces with this index begin; all of
            // them are elements of the array, and inside the `size` bytes of the result.
            unsafe { copy_square(from, to, outer, inner, piece) };
            let Some(at) = (0..axes.len()).rev().find(|&at| index[at] + 1 < axes[at].count) else { break };
            // On to the next index: up by one here, and back to 0 in all that follow.
            index[at] += 1;
            (from, to) = (from.wrapping_offset(axes[at].from), to.wrapping_add(axes[at].to));
            for (index, axis) in index[at + 1..].iter_mut().zip(&axes[at + 1..]) {
                from = from.wrapping_offset(-axis.from * *index as isize);
                to = to.wrapping_sub(axis.to * *index);
                *index = 0;
            }
        }
        // SAFETY: every element of the result was written: there are `size` bytes of them.
        unsafe { gathered.set_len(size) };
        Ok(gathered)
    }

    /// The dimensions that matter, the last one innermost, and the size of the pieces that
    /// are copied whole. Dimensions of one element are left out, whatever their strides,
    /// and those along which the array goes on without a gap are made one.
    fn axes(&self) -> (Vec<Axis>, usize) {
        let mut axes: Vec<Axis> = Vec::with_capacity(self.dims.len());
        for (&dim, &stride) in self.dims.iter().zip(self.byte_strides).filter(|(dim, _)| **dim != 1) {
            let (count, from) = (dim as usize, stride as isize);
            match axes.last_mut() {
                Some(last) if last.from == from.wrapping_mul(dim as isize) => {
                    (last.count, last.from) = (last.count * count, from);
                }
                _ => axes.push(Axis { count, from, to: 0 }),
            }
        }
        let mut piece = self.element_size;
        if let Some(&Axis { count, from, .. }) = axes.last()
            && from == piece as isize
        {
            piece *= count;
            axes.pop();
        }
        let mut to = piece;
        for axis in axes.iter_mut().rev() {
            axis.to = to;
            to *= axis.count;
        }
        (axes, piece)
    }
}

/// # Safety
/// At each index, `piece` bytes of the array are readable at `from` and of the result
/// writable at `to`.
unsafe fn copy_square(from: *const u8, to: *mut u8, outer: Axis, inner: Axis, piece: usize) {
    // SAFETY: the caller's promise; the pieces have the size of the type.
    unsafe {
        match piece {
            1 => copy_pieces::<1>(from, to, outer, inner),
            2 => copy_pieces::<2>(from, to, outer, inner),
            4 => copy_pieces::<4>(from, to, outer, inner),
            8 => copy_pieces::<8>(from, to, outer, inner),
            _ => {
                for row in 0..outer.count {
                    let from = from.offset(outer.from * row as isize);
                    let to = to.add(outer.to * row);
                    for column in 0..inner.count {
                        let source = from.offset(inner.from * column as isize);
                        std::ptr::copy_nonoverlapping(source, to.add(inner.to * column), piece);
                    }
                }
            }
        }
    }
}

/// # Safety
/// As for [`copy_square`], with pieces of `N` bytes.
unsafe fn copy_pieces<const N: usize>(from: *const u8, to: *mut u8, outer: Axis, inner: Axis) {
    let is_turned = outer.from.unsigned_abs() < inner.from.unsigned_abs();
    let width = if is_turned { LINES } else { inner.count };
    let height = LINE / N;
    for first_row in (0..outer.count).step_by(height) {
        let rows = first_row..outer.count.min(first_row + height);
        for first_column in (0..inner.count).step_by(width) {
            let columns = inner.count.min(first_column + width) - first_column;
            for row in rows.clone() {
                // SAFETY: the caller's promise, of this row and these columns.
                unsafe {
                    let mut from =
                        from.offset(outer.from * row as isize + inner.from * first_column as isize);
                    let mut to = to.add(outer.to * row + N * first_column).cast::<[u8; N]>();
                    for _ in 0..columns {
                        to.write_unaligned(from.cast::<[u8; N]>().read_unaligned());
                        from = from.wrapping_offset(inner.from);
                        to = to.add(1);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn gather(data: &[u16], start: usize, dims: &[i64], byte_strides: &[i64]) -> Vec<u16> {
        let address = data[start..].as_ptr().cast();
        // SAFETY: the tests name elements of `data` only.
        let strided = unsafe { HostStrided::from_raw(address, dims, byte_strides, 2) };
        let size = 2 * dims.iter().product::<i64>() as usize;
        strided.gather(size).unwrap().chunks(2).map(|two| u16::from_ne_bytes([two[0], two[1]])).collect()
    }

    #[test]
    fn strides_of_any_sign() {
        let data = [0, 1, 2, 3, 4, 5];
        assert_eq!(gather(&data, 0, &[2, 3], &[6, 2]), data);
        assert_eq!(gather(&data, 0, &[3, 2], &[2, 6]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(gather(&data, 5, &[6], &[-2]), [5, 4, 3, 2, 1, 0]);
        assert_eq!(gather(&data, 2, &[3], &[0]), [2, 2, 2]);
        assert_eq!(gather(&data, 1, &[], &[]), [1]);
        assert_eq!(gather(&data, 0, &[3, 0], &[6, 2]), [0u16; 0]);
        assert_eq!(gather(&data, 0, &[2, 3], &[0, 2]), [0, 1, 2, 0, 1, 2]);
        assert_eq!(gather(&data, 0, &[4, 3], &[2, 2]), [0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5]);
    }

    #[test]
    fn without_gaps_nothing_is_gathered() {
        let bytes = [0; 24];
        let is_dense = |dims: &[i64], strides: &[i64]| {
            let size = 4 * dims.iter().product::<i64>() as usize;
            HostStrided::dense(&bytes, dims, strides, 4).as_dense(size).is_some()
        };
        assert!(is_dense(&[2, 3], &[12, 4]));
        assert!(is_dense(&[2, 1, 3], &[12, 0, 4]));
        assert!(is_dense(&[], &[]));
        assert!(!is_dense(&[2, 3], &[4, 8]));
        assert!(!is_dense(&[2, 2], &[12, 4]));
        assert!(!is_dense(&[2, 3], &[0, 4]));
        assert!(!is_dense(&[0, 3], &[12, 4]));
    }

    /// Every element where the definition says it is.
    fn expected(
        bytes: &[u8],
        start: i64,
        dims: &[i64],
        byte_strides: &[i64],
        element_size: usize,
    ) -> Vec<u8> {
        let mut gathered = Vec::new();
        for number in 0..dims.iter().product::<i64>() {
            let (mut rest, mut at) = (number, start);
            for (&dim, &stride) in dims.iter().zip(byte_strides).rev() {
                at += rest % dim * stride;
                rest /= dim;
            }
            gathered.extend_from_slice(&bytes[at as usize..at as usize + element_size]);
        }
        gathered
    }

    /// All that can be made of an array by transposing, reversing, skipping and repeating.
    #[test]
    fn every_element_from_its_place() {
        let bytes: Vec<u8> = (0..60_000u32).map(|number| (number * 7 + number / 251) as u8).collect();
        let mut random = 1u32;
        let mut below = |limit: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            i64::from((random >> 16) % limit)
        };
        for _ in 0..2000 {
            let element_size = [1, 2, 4, 8, 16, 3][below(6) as usize];
            let rank = below(5) as usize;
            let (mut dims, mut strides) = (Vec::new(), Vec::new());
            let mut step = element_size as i64;
            for _ in 0..rank {
                let dim = [1, 2, 3, 5, 9][below(5) as usize];
                let stride = if below(8) == 0 { 0 } else { step };
                if stride != 0 {
                    step *= dim + below(2); // a gap, or none
                }
                dims.push(dim);
                strides.push(if dim == 1 { i64::MIN + 1 } else { stride });
            }
            let mut order: Vec<usize> = (0..rank).collect();
            for index in 1..rank {
                order.swap(index, below(index as u32 + 1) as usize);
            }
            let dims: Vec<i64> = order.iter().map(|&index| dims[index]).collect();
            let mut strides: Vec<i64> = order.iter().map(|&index| strides[index]).collect();
            let mut start = 0;
            for (stride, dim) in strides.iter_mut().zip(&dims) {
                if *dim > 1 && below(2) == 0 {
                    start += *stride * (dim - 1);
                    *stride = -*stride;
                }
            }
            if step > bytes.len() as i64 {
                continue;
            }
            let address = bytes[start as usize..].as_ptr().cast();
            // SAFETY: all elements are in `bytes`, whose size is more than `step`.
            let strided = unsafe { HostStrided::from_raw(address, &dims, &strides, element_size) };
            let expected = expected(&bytes, start, &dims, &strides, element_size);
            assert_eq!(
                strided.gather(expected.len()).unwrap(),
                expected,
                "{dims:?} {strides:?} {element_size}"
            );
        }
    }

    #[test]
    fn a_large_array_transposed() {
        let bytes: Vec<u8> = (0..67 * 41 * 4u32).flat_map(|number| (number as u16).to_ne_bytes()).collect();
        for element_size in [1i64, 2, 4, 8] {
            let (dims, strides) = ([41, 67], [element_size, 41 * element_size]);
            let strided = HostStrided::dense(&bytes, &dims, &strides, element_size as usize);
            let expected = expected(&bytes, 0, &dims, &strides, element_size as usize);
            assert_eq!(strided.gather(expected.len()).unwrap(), expected);
        }
    }

    #[test]
    fn more_than_there_is_memory() {
        let dims = [1 << 30, 1 << 30];
        // SAFETY: an element with strides of zero is every element.
        let strided = unsafe { HostStrided::from_raw([7u8].as_ptr().cast(), &dims, &[0, 0], 1) };
        assert_eq!(strided.gather(1 << 60).unwrap_err().code(), Code::ResourceExhausted);
    }
}
