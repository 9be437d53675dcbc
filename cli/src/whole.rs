//! Programs for several devices, run on whole arrays: each is divided among the devices
//! before, and put together after.

use cyxla::error::{Code, Error, Origin, Result};
use cyxla::program::{Signature, TensorSpec};
use cyxla::runtime::Executable;

use crate::memory;

/// An executable, seen as one for whole arrays.
pub struct Whole<'a> {
    executable: &'a Executable,
    /// What the program takes and gives as a whole.
    pub inputs: Vec<TensorSpec>,
    pub outputs: Vec<TensorSpec>,
}

impl<'a> Whole<'a> {
    /// An error where the plugin does not tell how the arrays are divided. `told` is what
    /// the program says of itself: parts of the same size may be more than the whole.
    pub fn new(executable: &'a Executable, told: Option<&Signature>) -> Result<Whole<'a>> {
        type Offsets<'a, 'b> = &'b dyn Fn(usize, usize) -> Option<&'a [i64]>;
        let whole = |specs: &[TensorSpec], told: Option<&[TensorSpec]>, offsets: Offsets<'a, '_>| {
            let told = told.filter(|told| told.len() == specs.len());
            let of_one = |(index, part): (usize, &TensorSpec)| {
                let padded = of_parts(executable, index, part, offsets)?;
                without_padding(padded, part, told.map(|told| &told[index]))
            };
            specs.iter().enumerate().map(of_one).collect::<Result<Vec<_>>>()
        };
        Ok(Whole {
            inputs: whole(executable.inputs(), told.map(|told| &told.inputs[..]), &|device, index| {
                executable.input_offsets(device, index)
            })?,
            outputs: whole(executable.outputs(), told.map(|told| &told.outputs[..]), &|device, index| {
                executable.output_offsets(device, index)
            })?,
            executable,
        })
    }

    /// Runs the program: row-major arrays in and out, as many as there are inputs and
    /// outputs. Of what several replicas give, that of the first counts.
    pub fn run(&self, inputs: &[&[u8]], outputs: &mut [Vec<u8>]) -> Result<()> {
        let devices = self.executable.device_count();
        let mut parts_in = Vec::new();
        let mut parts_out = Vec::new();
        for device in 0..devices {
            for (index, (part, bytes)) in self.executable.inputs().iter().zip(inputs).enumerate() {
                let mut memory = memory::zeroed(part.host_size())?;
                let whole = &self.inputs[index];
                match self.executable.input_offsets(device, index) {
                    Some(offsets) => each_row(whole, part, offsets, |whole, part, size| {
                        memory[part..part + size].copy_from_slice(&bytes[whole..whole + size]);
                    }),
                    // All of it is another device's.
                    None if memory.len() == bytes.len() => memory.copy_from_slice(bytes),
                    None => {}
                }
                parts_in.push(memory);
            }
            for part in self.executable.outputs() {
                parts_out.push(memory::zeroed(part.host_size())?);
            }
        }
        let inputs: Vec<&[u8]> = parts_in.iter().map(Vec::as_slice).collect();
        let mut places: Vec<&mut [u8]> = parts_out.iter_mut().map(Vec::as_mut_slice).collect();
        self.executable.run(&inputs, &mut places)?;
        let count = self.executable.outputs().len();
        // Backwards, so that what the first devices give is what stays.
        for device in (0..devices).rev() {
            for (index, part) in self.executable.outputs().iter().enumerate() {
                let given = &parts_out[device * count + index];
                let Some(offsets) = self.executable.output_offsets(device, index) else { continue };
                each_row(&self.outputs[index], part, offsets, |whole, part, size| {
                    outputs[index][whole..whole + size].copy_from_slice(&given[part..part + size]);
                });
            }
        }
        Ok(())
    }
}

/// The whole array of which devices have such a part.
fn of_parts<'a>(
    executable: &Executable,
    index: usize,
    part: &TensorSpec,
    offsets: &dyn Fn(usize, usize) -> Option<&'a [i64]>,
) -> Result<TensorSpec> {
    // A device that has no part of it does not tell of one.
    let mut begins = (0..executable.device_count()).filter_map(|device| offsets(device, index)).peekable();
    if begins.peek().is_none() {
        let message = "the plugin does not tell how the program's arrays are divided among its devices";
        return Err(Error::new(Code::Unimplemented, Origin::Plugin, message)
            .hint("use a newer plugin, or run the program from C with a part for each device"));
    }
    let mut dims = part.dims.clone();
    for begin in begins {
        for ((whole, &begin), &size) in dims.iter_mut().zip(begin).zip(&part.dims) {
            *whole = (*whole).max(begin.saturating_add(size));
        }
    }
    TensorSpec::new(part.name.clone(), part.dtype, dims, part.is_donated)
}

/// The array that the program tells of, if it is what is left of the parts without the
/// padding that fills the last ones.
fn without_padding(padded: TensorSpec, part: &TensorSpec, told: Option<&TensorSpec>) -> Result<TensorSpec> {
    let Some(told) = told.filter(|told| told.dtype == part.dtype && told.dims.len() == part.dims.len())
    else {
        return Ok(padded);
    };
    let mut dims = told.dims.iter().zip(&padded.dims).zip(&part.dims);
    match dims.all(|((&told, &padded), &part)| is_padded(told, padded, part)) {
        true => TensorSpec::new(padded.name, padded.dtype, told.dims.clone(), padded.is_donated),
        false => Ok(padded),
    }
}

/// Whether parts of the smallest size that is enough for `told` come to `padded`.
fn is_padded(told: i64, padded: i64, part: i64) -> bool {
    let enough = |count: i64| told / count + i64::from(told % count > 0);
    told == padded || (part > 0 && told < padded && enough(padded / part) == part)
}

/// Calls `copy` for each row of a part that lies in one piece in the whole as well: with
/// where it begins in the whole, where in the part, and how many bytes it has. What is
/// outside of the whole is padding.
fn each_row(
    whole: &TensorSpec,
    part: &TensorSpec,
    offsets: &[i64],
    mut copy: impl FnMut(usize, usize, usize),
) {
    let (Some((&last, outer)), Some(&begin), Some(&end)) =
        (part.dims.split_last(), offsets.last(), whole.dims.last())
    else {
        return copy(0, 0, part.host_size());
    };
    let inside = last.min(end - begin);
    if part.host_size() == 0 || inside <= 0 {
        return;
    }
    let element = part.dtype.host_size();
    let row = last as usize * element;
    let mut index = vec![0; outer.len()];
    for number in 0..part.host_size() / row {
        let places =
            index.iter().zip(offsets).map(|(index, begin)| index + begin).chain([begin]).zip(&whole.dims);
        if places.clone().all(|(at, &dim)| at < dim) {
            let place = places.fold(0, |place, (at, dim)| place * dim + at);
            copy(place as usize * element, number * row, inside as usize * element);
        }
        for (at, &dim) in index.iter_mut().zip(outer).rev() {
            *at += 1;
            if *at < dim {
                break;
            }
            *at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyxla::dtype::DType;

    #[test]
    fn rows_of_a_part() {
        let spec = |dims: &[i64]| TensorSpec::new(None, DType::S16, dims.to_vec(), false).unwrap();
        let rows = |whole: &[i64], part: &[i64], offsets: &[i64]| {
            let mut rows = Vec::new();
            each_row(&spec(whole), &spec(part), offsets, |whole, part, size| rows.push((whole, part, size)));
            rows
        };
        assert_eq!(rows(&[4, 6], &[2, 3], &[2, 3]), [(30, 0, 6), (42, 6, 6)]);
        assert_eq!(rows(&[2, 2, 4], &[2, 1, 4], &[0, 1, 0]), [(8, 0, 8), (24, 8, 8)]);
        assert_eq!(rows(&[8], &[2], &[6]), [(12, 0, 4)]);
        assert_eq!(rows(&[], &[], &[]), [(0, 0, 2)]);
        assert_eq!(rows(&[0, 3], &[0, 3], &[0, 0]), []);
        // With padding: five rows of three in parts of two rows of two.
        assert_eq!(rows(&[5, 3], &[2, 2], &[2, 2]), [(16, 0, 2), (22, 4, 2)]);
        assert_eq!(rows(&[5, 3], &[2, 2], &[4, 0]), [(24, 0, 4)]);
        assert_eq!(rows(&[5, 3], &[2, 2], &[6, 0]), []);
        assert_eq!(rows(&[5], &[2], &[6]), []);
    }

    #[test]
    fn padding_is_no_part_of_the_whole() {
        let spec = |dims: &[i64]| TensorSpec::new(None, DType::F32, dims.to_vec(), false).unwrap();
        let whole = |padded: &[i64], part: &[i64], told: Option<&[i64]>| {
            without_padding(spec(padded), &spec(part), told.map(spec).as_ref()).unwrap().dims
        };
        assert_eq!(whole(&[6], &[3], Some(&[5])), [5]);
        assert_eq!(whole(&[8, 4], &[2, 4], Some(&[5, 4])), [5, 4]);
        assert_eq!(whole(&[4], &[1], Some(&[1])), [1]);
        assert_eq!(whole(&[0, 4], &[0, 2], Some(&[0, 3])), [0, 3]);
        // No parts of that.
        for told in [Some(&[4][..]), Some(&[7]), Some(&[5, 1]), None] {
            assert_eq!(whole(&[6], &[3], told), [6], "{told:?}");
        }
    }
}
