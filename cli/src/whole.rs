//! Programs for several devices, run on whole arrays: each is divided among the devices
//! before, and put together after.

use cyxla::error::{Code, Error, Origin, Result};
use cyxla::program::TensorSpec;
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
    /// An error where the plugin does not tell how the arrays are divided.
    pub fn new(executable: &'a Executable) -> Result<Whole<'a>> {
        let whole = |specs: &[TensorSpec], offsets: &dyn Fn(usize, usize) -> Option<&'a [i64]>| {
            specs
                .iter()
                .enumerate()
                .map(|(index, part)| of_parts(executable, index, part, offsets))
                .collect::<Result<Vec<_>>>()
        };
        Ok(Whole {
            inputs: whole(executable.inputs(), &|device, index| executable.input_offsets(device, index))?,
            outputs: whole(executable.outputs(), &|device, index| executable.output_offsets(device, index))?,
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
                let offsets = self.executable.input_offsets(device, index).unwrap_or_default();
                each_row(&self.inputs[index], part, offsets, |whole, part, size| {
                    memory[part..part + size].copy_from_slice(&bytes[whole..whole + size]);
                });
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
                let offsets = self.executable.output_offsets(device, index).unwrap_or_default();
                each_row(&self.outputs[index], part, offsets, |whole, part, size| {
                    outputs[index][whole..whole + size].copy_from_slice(&given[part..part + size]);
                });
            }
        }
        Ok(())
    }
}

/// The whole array of which every device has such a part.
fn of_parts<'a>(
    executable: &Executable,
    index: usize,
    part: &TensorSpec,
    offsets: &dyn Fn(usize, usize) -> Option<&'a [i64]>,
) -> Result<TensorSpec> {
    let mut dims = part.dims.clone();
    for device in 0..executable.device_count() {
        let Some(begin) = offsets(device, index) else {
            let message = "the plugin does not tell how the program's arrays are divided among its devices";
            return Err(Error::new(Code::Unimplemented, Origin::Plugin, message)
                .hint("use a newer plugin, or run the program from C with a part for each device"));
        };
        for ((whole, &begin), &size) in dims.iter_mut().zip(begin).zip(&part.dims) {
            *whole = (*whole).max(begin.saturating_add(size));
        }
    }
    TensorSpec::new(part.name.clone(), part.dtype, dims, part.is_donated)
}

/// Calls `copy` for each row of a part that lies in one piece in the whole as well: with
/// where it begins in the whole, where in the part, and how many bytes it has.
fn each_row(
    whole: &TensorSpec,
    part: &TensorSpec,
    offsets: &[i64],
    mut copy: impl FnMut(usize, usize, usize),
) {
    let Some((&last, outer)) = part.dims.split_last() else {
        return copy(0, 0, part.host_size());
    };
    if part.host_size() == 0 {
        return;
    }
    let element = part.dtype.host_size();
    let row = last as usize * element;
    let mut index = vec![0; outer.len()];
    for number in 0..part.host_size() / row {
        let place = (index.iter().zip(offsets).map(|(index, begin)| index + begin))
            .chain(offsets.last().copied())
            .zip(&whole.dims)
            .fold(0, |place, (at, dim)| place * dim + at);
        copy(place as usize * element, number * row, row);
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
    }
}
