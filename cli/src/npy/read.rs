//! Reads an array from a `.npy` file.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use cyxla::dtype::DType;
use cyxla::error::{Code, Error, Origin, Result};
use npyz::{Endianness, NpyHeader, Order, TypeChar, TypeStr};

use super::order::{row_major, swap_bytes};

const MAGIC: &[u8] = b"\x93NUMPY";
/// NumPy itself reads no longer header unless told to; a longer one would only
/// be a way to keep its parser busy.
const LONGEST_HEADER: usize = 10_000;

/// An array: little-endian, row-major.
#[derive(Debug)]
pub struct Array {
    pub path: PathBuf,
    pub dims: Vec<i64>,
    pub bytes: Vec<u8>,
    letter: TypeChar,
    width: usize,
}

impl Array {
    /// The element type that the file's elements have by themselves; None for
    /// raw bytes (NumPy's `V`), which only stand for types that NumPy lacks.
    pub fn natural_dtype(&self) -> Option<DType> {
        super::natural(self.letter, self.width)
    }

    /// Whether the elements can stand for this type: they are of it, or it is
    /// one that NumPy lacks and they have its width and no meaning of their
    /// own (unsigned integers, or the raw bytes that NumPy makes of such types).
    pub fn can_be(&self, dtype: DType) -> bool {
        if self.natural_dtype() == Some(dtype) {
            return true;
        }
        let lacking = super::SHARED.iter().all(|(shared, ..)| *shared != dtype);
        let signed = [DType::S4, DType::S2, DType::S1].contains(&dtype);
        lacking
            && self.width == dtype.host_size()
            && match self.letter {
                TypeChar::Uint | TypeChar::RawData => true,
                TypeChar::Int => signed,
                _ => false,
            }
    }

    /// NumPy's name of the element type, such as `u2` or `V2`.
    pub fn type_name(&self) -> String {
        format!("{}{}", self.letter.to_str(), self.width)
    }
}

/// Reads a file whole.
pub fn read(path: &Path) -> Result<Array> {
    let open = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (facts, file) = open.map_err(|error| unreadable(path, &error))?;
    if facts.is_dir() {
        return Err(wrong(path, "is a folder, not a .npy file"));
    }
    let mut file = BufReader::new(file);
    let header = read_header(path, &mut file)?;
    let npyz::DType::Plain(element) = header.dtype() else {
        return Err(wrong(path, "holds records (a structured dtype); save one field alone"));
    };
    let (letter, width) = (element.type_char(), element_width(path, &element)?);
    let (Some(size), Some(dims)) = (size(header.shape(), width), signed(header.shape())) else {
        return Err(impossible(path, header.shape()));
    };
    let mut bytes = read_data(path, &mut file, size, facts.is_file().then_some(facts.len()))?;
    if element.endianness() == Endianness::Big {
        let parts = if letter == TypeChar::Complex { 2 } else { 1 };
        swap_bytes(&mut bytes, width / parts);
    }
    if header.order() == Order::Fortran && dims.len() > 1 {
        let dims: Vec<usize> = dims.iter().map(|dim| *dim as usize).collect();
        bytes = row_major(&bytes, &dims, width);
    }
    Ok(Array { path: path.to_owned(), dims, bytes, letter, width })
}

fn read_header(path: &Path, file: &mut impl Read) -> Result<NpyHeader> {
    let cut = |error: std::io::Error| match error.kind() {
        ErrorKind::UnexpectedEof => wrong(path, "ends inside its header"),
        _ => unreadable(path, &error),
    };
    let mut start = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut start).map_err(cut)?;
    if start.is_empty() {
        return Err(wrong(path, "is empty, not a .npy file"));
    }
    if start.starts_with(b"PK") {
        let message = "is an archive (.npz), not a .npy file";
        return Err(wrong(path, message).hint("save each array alone with numpy.save"));
    }
    if start != MAGIC {
        return Err(wrong(path, "is not a .npy file").hint("make one with numpy.save"));
    }
    let mut version = [0; 2];
    file.read_exact(&mut version).map_err(cut)?;
    // Version 1 counts the header's bytes in two bytes, 2 and 3 in four.
    let mut length = [0; 4];
    let counted = match version[0] {
        1 => 2,
        2 | 3 => 4,
        other => {
            return Err(wrong(path, &format!("has version {other} of the .npy format; 1 to 3 are known")));
        }
    };
    file.read_exact(&mut length[..counted]).map_err(cut)?;
    let header_size = u32::from_le_bytes(length) as usize;
    if header_size > LONGEST_HEADER {
        return Err(wrong(path, &format!("has a header of {header_size} bytes, which no array has")));
    }
    let mut header = vec![0; header_size];
    file.read_exact(&mut header).map_err(cut)?;
    if let Some(dims) = overflowing(&header) {
        return Err(impossible(path, &dims));
    }
    let whole = [MAGIC, &version[..], &length[..counted], &header].concat();
    NpyHeader::from_reader(whole.as_slice())
        .map_err(|error| wrong(path, &format!("has a header that cannot be read: {error}")))
}

fn element_width(path: &Path, element: &TypeStr) -> Result<usize> {
    let letter = element.type_char();
    let unusable = match letter {
        TypeChar::Object => "Python objects (pickled)",
        TypeChar::DateTime | TypeChar::TimeDelta => "dates or times",
        TypeChar::ByteStr | TypeChar::UnicodeStr => "text",
        _ => {
            let width = element.num_bytes().unwrap_or(0);
            let known = super::natural(letter, width).is_some();
            // Raw bytes are what NumPy writes for types that it lacks.
            if known || (letter == TypeChar::RawData && (1..=2).contains(&width)) {
                return Ok(width);
            }
            let message = format!("holds elements of type {element}, which no program takes");
            return Err(wrong(path, &message));
        }
    };
    Err(wrong(path, &format!("holds {unusable}, which no program takes")))
}

/// The bytes that an array takes. Like NumPy's, an empty one has to be addressable
/// but for its zeros.
fn size(dims: &[u64], width: usize) -> Option<usize> {
    let mut extent = dims.iter().filter(|dim| **dim > 0);
    let extent = extent.try_fold(width as u64, |product, dim| product.checked_mul(*dim))?;
    let extent = isize::try_from(extent).ok()?;
    Some(if dims.contains(&0) { 0 } else { extent.unsigned_abs() })
}

/// The first list of numbers in a header whose product is more than memory holds:
/// its parser multiplies without looking.
fn overflowing(header: &[u8]) -> Option<Vec<u64>> {
    let text = String::from_utf8_lossy(header);
    let lists = text.split(['(', '[']).skip(1).map(|list| list.split([')', ']']).next().unwrap_or_default());
    let numbers = |list: &str| list.split(',').filter_map(|item| item.trim().parse().ok()).collect();
    lists.map(numbers).find(|dims: &Vec<u64>| size(dims, 1).is_none())
}

fn impossible(path: &Path, dims: &[u64]) -> Error {
    wrong(path, &format!("has the impossible shape {dims:?}"))
}

fn signed(dims: &[u64]) -> Option<Vec<i64>> {
    dims.iter().map(|dim| i64::try_from(*dim).ok()).collect()
}

/// Reads exactly `size` bytes. The length of a real file is compared first, so
/// that a header that lies about it does not make us ask for that much memory.
fn read_data(path: &Path, file: &mut impl Read, size: usize, file_size: Option<u64>) -> Result<Vec<u8>> {
    let short = |got: u64| {
        wrong(path, &format!("is cut short: its header speaks of {size} bytes of data, {got} are there"))
    };
    if let Some(file_size) = file_size.filter(|file_size| *file_size < size as u64) {
        return Err(short(file_size));
    }
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(size).is_err() {
        let message = format!("{} needs {size} bytes of memory, which are not there", path.display());
        return Err(Error::new(Code::ResourceExhausted, Origin::System, message));
    }
    // One byte more than promised shows a file that holds more than its header
    // says.
    file.take((size as u64).saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() < size {
        return Err(short(bytes.len() as u64));
    }
    if bytes.len() > size {
        let message = format!("holds more than the {size} bytes of data that its header speaks of");
        return Err(wrong(path, &message));
    }
    Ok(bytes)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    let shown = path.display();
    let (code, message) = match error.kind() {
        ErrorKind::NotFound => (Code::NotFound, format!("there is no file {shown}")),
        ErrorKind::PermissionDenied => (Code::PermissionDenied, format!("you may not read {shown}")),
        _ => (Code::Unavailable, format!("cannot read {shown}: {error}")),
    };
    Error::new(code, Origin::System, message)
}

fn wrong(path: &Path, what: &str) -> Error {
    Error::invalid_argument(format!("{} {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_computed_without_overflow() {
        let large = 1 << 32;
        assert_eq!(size(&[2, 3], 4), Some(24));
        assert_eq!(size(&[], 8), Some(8));
        assert_eq!(size(&[0, large], 8), Some(0));
        for dims in [[large, large, 1], [large, large, 0], [0, large, large], [large, large / 4, 8]] {
            assert_eq!(size(&dims, 1), None, "{dims:?}");
        }
        assert_eq!(size(&[1 << 60, 0], 16), None);
    }

    #[test]
    fn lists_that_overflow_are_found_in_a_header() {
        let found = |text: &str| overflowing(text.as_bytes());
        assert_eq!(found("{'descr': '<f4', 'shape': (2, 3, ), }"), None);
        assert_eq!(found("{'shape': (4294967296, 4294967296, 0), }"), Some(vec![1 << 32, 1 << 32, 0]));
        assert_eq!(found("{'descr': [('a', '<f4', (2,))], 'shape': (-1, x, 4)}"), None);
    }
}
