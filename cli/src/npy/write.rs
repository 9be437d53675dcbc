//! Writes an array to a `.npy` file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use cyxla::dtype::DType;
use cyxla::error::{Code, Error, Origin, Result};
use npyz::{WriteOptions, WriterBuilder};

/// Writes row-major memory. Types that NumPy lacks become unsigned integers of
/// the same width.
pub fn write(path: &Path, dtype: DType, dims: &[i64], bytes: &[u8]) -> Result<()> {
    let Some(type_string) = super::type_string(dtype) else {
        let message = format!("cannot write {}: a {} is no array", path.display(), dtype.name());
        return Err(Error::new(Code::Unimplemented, Origin::Library, message));
    };
    let failed = |error: io::Error| {
        let shown = path.display();
        let (code, message) = match error.kind() {
            io::ErrorKind::StorageFull => {
                (Code::ResourceExhausted, format!("the disk is full: cannot write {shown}"))
            }
            io::ErrorKind::PermissionDenied => (Code::PermissionDenied, format!("you may not write {shown}")),
            _ => (Code::Unavailable, format!("cannot write {shown}: {error}")),
        };
        Error::new(code, Origin::System, message)
    };
    let element = type_string
        .parse()
        .map_err(|error| Error::internal(format!("{type_string} is no NumPy type: {error}")))?;
    let dims: Vec<u64> = dims.iter().map(|dim| dim.unsigned_abs()).collect();
    // The header goes through memory: written to the file it would be some
    // twenty small writes.
    let header = WriteOptions::new_header_only()
        .dtype(npyz::DType::Plain(element))
        .shape(&dims)
        .writer(Vec::new())
        .write_header_only()
        .map_err(failed)?;
    let mut file = File::create(path).map_err(failed)?;
    file.write_all(&header).and_then(|()| file.write_all(bytes)).map_err(failed)
}

#[cfg(test)]
mod tests {
    use cyxla::dtype::ALL;

    use super::super::read;
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn every_type_comes_back() {
        let folder = folder();
        for &dtype in ALL {
            let path = folder.path().join(format!("{}.npy", dtype.name()));
            let dims = [2, 3];
            let bytes: Vec<u8> = (0..6 * dtype.host_size()).map(|i| (i * 37 % 251) as u8).collect();
            let written = write(&path, dtype, &dims, &bytes);
            if dtype == DType::TOKEN {
                assert_eq!(written.unwrap_err().code(), Code::Unimplemented);
                assert!(!path.exists());
                continue;
            }
            written.unwrap();
            let array = read(&path).unwrap();
            assert_eq!(array.bytes, bytes, "{}", dtype.name());
            assert_eq!(array.dims, dims);
            assert!(array.can_be(dtype), "{}", dtype.name());
        }
    }

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let folder = folder();
        let path = folder.path().join("x.npy");
        write(&path, DType::F32, &[2], &[0, 0, 128, 63, 0, 0, 0, 64]).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, ), }";
        assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let text = std::str::from_utf8(&bytes[10..128]).unwrap();
        assert_eq!(text.trim_end(), header);
        assert!(text.ends_with('\n'));
        assert_eq!(&bytes[128..], [0, 0, 128, 63, 0, 0, 0, 64]);
    }

    #[test]
    fn scalars_and_empty_arrays_come_back() {
        let folder = folder();
        for (dims, count) in [(vec![], 1), (vec![0], 0), (vec![3, 0, 5], 0), (vec![1; 32], 1)] {
            let path = folder.path().join("x.npy");
            let bytes = vec![7; count * 4];
            write(&path, DType::S32, &dims, &bytes).unwrap();
            let array = read(&path).unwrap();
            assert_eq!((array.dims, array.bytes), (dims, bytes));
        }
    }
}
