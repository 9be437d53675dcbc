//! An array that another library lends.

use std::ffi::c_void;
use std::mem::transmute;

use super::abi::{self, *};
use super::bits::mask;
use super::types;
use crate::dtype::{ArrayType, DType, MOST_DIMS};
use crate::error::Result;
use crate::memory;
use crate::pjrt::{HostStrided, HostView};

/// Where an array is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Memory that the processor reads.
    Host,
    /// Memory of a device of this platform, by its number.
    Device(&'static str, i64),
}

/// An array that another library lends until the tensor's deleter is called. Dropping
/// this calls nothing: the tensor is then its owner's again.
pub struct Incoming {
    place: Place,
    dtype: DType,
    dims: Vec<i64>,
    /// In elements; row-major where the tensor tells none.
    strides: Vec<i64>,
    /// Bits from one element to the next where the stride is 1.
    bits: usize,
    /// The element with index 0 in every dimension.
    address: *mut u8,
    /// Bytes that the array takes with a byte at least for each element, row-major.
    size: usize,
    writable: bool,
    tensor: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut c_void)>,
}

impl Incoming {
    /// Reads and checks a versioned tensor.
    ///
    /// # Safety
    /// `tensor` is what DLPack says of its version, and nobody else ends it. Its memory
    /// holds the array, unchanged, until the deleter is called, which may be from any
    /// thread.
    pub unsafe fn versioned(tensor: *mut DLManagedTensorVersioned) -> Result<Incoming> {
        // SAFETY: every version begins with this field, which says what the rest is.
        let version = unsafe { (&raw const (*tensor).version).read() };
        if version.major != DLPACK_MAJOR_VERSION {
            let DLPackVersion { major, minor } = version;
            let message = format!("the tensor is of DLPack {major}.{minor}; this version reads DLPack 1");
            return Err(types::unknown(message)
                .hint("ask its producer for version 1; the tensor's deleter may be called"));
        }
        // SAFETY: a tensor of version 1 has all these fields.
        let managed = unsafe { tensor.read() };
        let known = DLPACK_FLAG_BITMASK_READ_ONLY
            | DLPACK_FLAG_BITMASK_IS_COPIED
            | DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
        if managed.flags & !known != 0 {
            let message = format!("the tensor has flags {:#x}, of which some are unknown", managed.flags);
            return Err(types::unknown(message));
        }
        let padded = managed.flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED != 0;
        // SAFETY: the caller's promise. Functions that take a pointer to one type may be
        // called as if it were one to another.
        unsafe {
            let mut incoming = Incoming::read(&managed.dl_tensor, padded)?;
            incoming.writable = managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY == 0;
            incoming.tensor = tensor.cast();
            incoming.deleter = transmute::<
                Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
                Option<unsafe extern "C" fn(*mut c_void)>,
            >(managed.deleter);
            Ok(incoming)
        }
    }

    /// Reads and checks a tensor without a version, which cannot say that it is read-only
    /// and is therefore taken to be.
    ///
    /// # Safety
    /// As for [`Incoming::versioned`].
    pub unsafe fn legacy(tensor: *mut DLManagedTensor) -> Result<Incoming> {
        // SAFETY: the caller's promise, and as above.
        unsafe {
            let managed = tensor.read();
            let mut incoming = Incoming::read(&managed.dl_tensor, false)?;
            incoming.tensor = tensor.cast();
            incoming.deleter = transmute::<
                Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
                Option<unsafe extern "C" fn(*mut c_void)>,
            >(managed.deleter);
            Ok(incoming)
        }
    }

    /// # Safety
    /// Shape and strides have as many numbers as the tensor says.
    unsafe fn read(tensor: &DLTensor, padded: bool) -> Result<Incoming> {
        let refuse = types::impossible;
        let rank = usize::try_from(tensor.ndim).ok().filter(|&rank| rank <= MOST_DIMS).ok_or_else(|| {
            refuse(format!("the tensor has {} dimensions; expected 0 to {MOST_DIMS}", tensor.ndim))
        })?;
        let dtype = types::from_dlpack(tensor.dtype)?;
        let place = place(tensor.device)?;
        // SAFETY: the caller's promise.
        let dims = unsafe { numbers(tensor.shape, rank, "shape") }?;
        let dims = dims.ok_or_else(|| refuse(format!("the tensor's shape of {rank} dimensions is NULL")))?;
        let size = ArrayType(dtype, &dims).check_host_size().map_err(|error| error.parameter("tensor"))?;
        let dense = row_major_strides(&dims);
        // SAFETY: the caller's promise.
        let strides = unsafe { numbers(tensor.strides, rank, "strides") }?.unwrap_or(dense);
        let packed = dtype.is_sub_byte() && !padded;
        let bits = if packed { usize::from(tensor.dtype.bits) } else { 8 * dtype.host_size() };
        let mut incoming = Incoming {
            place,
            dtype,
            dims,
            strides,
            bits,
            address: std::ptr::null_mut(),
            size,
            writable: false,
            tensor: std::ptr::null_mut(),
            deleter: None,
        };
        if size > 0 {
            if tensor.data.is_null() {
                return Err(refuse(format!("the tensor's data is NULL, but should hold {size} bytes")));
            }
            incoming.address = incoming.start(tensor).ok_or_else(|| {
                let (array, offset) = (incoming.array_type(), tensor.byte_offset);
                refuse(format!("the strides or the byte offset, {offset}, of {array} lead out of memory"))
            })?;
        }
        Ok(incoming)
    }

    /// The address of the first element; `None` if an element has none.
    fn start(&self, tensor: &DLTensor) -> Option<*mut u8> {
        let start = tensor.data.addr().checked_add(usize::try_from(tensor.byte_offset).ok()?)?;
        let (mut lowest, mut highest) = (0i64, 0i64);
        for (&dim, &stride) in self.dims.iter().zip(&self.strides) {
            let span = stride.checked_mul(dim - 1)?;
            let end = if span < 0 { &mut lowest } else { &mut highest };
            *end = end.checked_add(span)?;
        }
        let bits = self.bits as i128;
        let first = start as i128 + ((i128::from(lowest) * bits) >> 3);
        let end = start as i128 + ((i128::from(highest) * bits + bits + 7) >> 3);
        let fits = first > 0 && end <= isize::MAX as i128;
        fits.then(|| tensor.data.cast::<u8>().wrapping_add(start - tensor.data.addr()))
    }

    /// Where the array is.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The element type and dims.
    pub fn array_type(&self) -> ArrayType<'_> {
        ArrayType(self.dtype, &self.dims)
    }

    /// Whether the elements lie as in host memory of ours: row-major, a byte each at least.
    pub fn is_row_major(&self) -> bool {
        let dense = row_major_strides(&self.dims);
        let lies_so = |((&dim, &stride), &dense): ((&i64, &i64), &i64)| dim == 1 || stride == dense;
        self.size == 0
            || self.bits == 8 * self.dtype.host_size()
                && self.dims.iter().zip(&self.strides).zip(&dense).all(lies_so)
    }

    /// The elements in row-major order, a byte each at least; for memory of the host.
    pub fn gather(&self) -> Result<Vec<u8>> {
        assert!(self.place == Place::Host, "device memory is not read here");
        let element_size = self.dtype.host_size();
        if self.bits == 8 * element_size {
            let strides: Vec<i64> =
                self.strides.iter().map(|stride| stride.wrapping_mul(element_size as i64)).collect();
            // SAFETY: the constructor's promise; `start` found room for every element that
            // the strides lead to, so that none of them wraps but those never used.
            let strided =
                unsafe { HostStrided::from_raw(self.address.cast(), &self.dims, &strides, element_size) };
            return strided.gather(self.size);
        }
        let mut gathered = memory::room(self.size)?;
        if self.size > 0 {
            self.unpack_from(0, 0, &mut gathered);
        }
        Ok(gathered)
    }

    /// Appends the part of a packed array that begins `position` elements from the start
    /// and extends over the dimensions from `dimension` on.
    fn unpack_from(&self, dimension: usize, position: i64, unpacked: &mut Vec<u8>) {
        let Some(&size) = self.dims.get(dimension) else {
            unpacked.push(self.unpack(position));
            return;
        };
        for index in 0..size {
            self.unpack_from(dimension + 1, position + index * self.strides[dimension], unpacked);
        }
    }

    /// An element of a packed array.
    fn unpack(&self, position: i64) -> u8 {
        // Eight elements fill as many bytes as one has bits, so that nothing overflows.
        let (group, within) = (position >> 3, (position & 7) as usize * self.bits);
        let (byte, shift) = (group as isize * self.bits as isize + (within >> 3) as isize, within & 7);
        // SAFETY: the constructor's promise; the second byte is read only where the
        // element reaches into it.
        let two = unsafe {
            let first = u16::from(self.address.offset(byte).read());
            let reaches = shift + self.bits > 8;
            let second = if reaches { self.address.offset(byte + 1).read() } else { 0 };
            first | u16::from(second) << 8
        };
        (two >> shift) as u8 & mask(self.bits)
    }

    /// The memory of a row-major array, lent until it is released, which ends the tensor.
    pub fn into_view(self) -> HostView {
        assert!(self.place == Place::Host && self.is_row_major(), "other memory is not read as it is");
        self.into_lent()
    }

    /// The same for memory that is only given back, not read.
    pub(super) fn into_lent(self) -> HostView {
        // SAFETY: the constructor's promise.
        unsafe {
            HostView::from_raw(self.address.cast(), self.size, self.writable, self.deleter, self.tensor)
        }
    }

    /// The first element's address.
    pub(super) fn address(&self) -> *mut u8 {
        self.address
    }

    /// Ends the tensor, whose array is not needed any more.
    pub fn release(self) {
        self.into_lent().release();
    }
}

/// A copy of a list of a tensor; `None` for NULL, unless it is to be empty.
///
/// # Safety
/// NULL or `count` numbers.
unsafe fn numbers(first: *const i64, count: usize, name: &str) -> Result<Option<Vec<i64>>> {
    if count == 0 {
        return Ok(Some(Vec::new()));
    }
    if first.is_null() {
        return Ok(None);
    }
    if !first.is_aligned() {
        let message = format!("the tensor's {name} is {first:?}, which is not aligned to 8 bytes");
        return Err(types::impossible(message));
    }
    // SAFETY: the caller's promise.
    Ok(Some(unsafe { std::slice::from_raw_parts(first, count) }.to_vec()))
}

/// How many elements lie between one and the next of each dimension in row-major order.
fn row_major_strides(dims: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; dims.len()];
    for dimension in (1..dims.len()).rev() {
        // Only the sizes of arrays with elements are known to be numbers.
        strides[dimension - 1] = strides[dimension].saturating_mul(dims[dimension]);
    }
    strides
}

fn place(device: DLDevice) -> Result<Place> {
    let DLDevice { device_type, device_id } = device;
    match device_type {
        abi::kDLCPU | abi::kDLCUDAHost | abi::kDLROCMHost => Ok(Place::Host),
        abi::kDLCUDA => Ok(Place::Device("cuda", device_id.into())),
        abi::kDLROCM => Ok(Place::Device("rocm", device_id.into())),
        _ => {
            let message = format!(
                "the tensor is in memory of DLPack's device type {device_type}, which cannot be read here"
            );
            Err(types::unknown(message).hint("copy it to host memory first"))
        }
    }
}
