//! A buffer's contents as another library borrows them.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use super::abi::*;
use super::bits::pack;
use super::types;
use crate::dtype::{ArrayType, DType};
use crate::error::{Error, Result};
use crate::pjrt::{Buffer, HoldReleases, Layout, call, presence, sys};

/// The version whose codes are used here: that of the newest type.
const MINOR_VERSION: u32 = 1;

/// A buffer whose contents somebody outside uses: no program takes them, though they may
/// be donated to it, and the buffer stays.
pub struct Held(Arc<Buffer>);

/// Plugins count the uses of a buffer without a lock of their own.
static COUNTING: Mutex<()> = Mutex::new(());

/// Counts a use up or down, while nobody else does. What the plugin gives back meanwhile
/// waits until the lock is gone: the host's function may lend or end something itself.
fn counting<T>(count: impl FnOnce() -> T) -> T {
    let releases = HoldReleases::begin();
    let alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    let counted = count();
    drop(alone);
    drop(releases);
    counted
}

impl Held {
    /// From now on. The contents may still be about to come, or be gone already.
    pub fn new(buffer: Arc<Buffer>) -> Result<Held> {
        let mut args = sys::PJRT_Buffer_IncreaseExternalReferenceCount_Args::new();
        args.buffer = buffer.raw();
        // SAFETY: the buffer is alive.
        counting(|| unsafe { call!(buffer.api(), PJRT_Buffer_IncreaseExternalReferenceCount, &mut args) })?;
        Ok(Held(buffer))
    }

    /// The buffer.
    pub fn buffer(&self) -> &Buffer {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if presence::is_gone() {
            return;
        }
        let mut args = sys::PJRT_Buffer_DecreaseExternalReferenceCount_Args::new();
        args.buffer = self.0.raw();
        // SAFETY: the buffer is alive, and its count was increased.
        let _ = counting(|| unsafe {
            call!(self.0.api(), PJRT_Buffer_DecreaseExternalReferenceCount, &mut args)
        });
    }
}

/// What keeps the memory.
#[allow(dead_code, reason = "only kept")]
enum Memory {
    Buffer(Held),
    Copy(Vec<u8>),
}

/// An array that is about to be lent.
pub struct Outgoing {
    data: *mut c_void,
    device: DLDevice,
    dtype: DLDataType,
    dims: Vec<i64>,
    strides: Vec<i64>,
    flags: u64,
    #[allow(dead_code, reason = "only kept")]
    memory: Memory,
}

impl Outgoing {
    /// The contents of a buffer where they are; they have to be there by now.
    pub fn in_place(
        held: Held,
        array: ArrayType<'_>,
        layout: &Layout,
        device_type: i32,
        device_id: i32,
    ) -> Result<Outgoing> {
        let data = match array.host_size() {
            Some(0) => std::ptr::null_mut(),
            _ => held.buffer().address()?.cast_mut().cast(),
        };
        Ok(Outgoing {
            data,
            device: DLDevice { device_type, device_id },
            dtype: describe(array.0)?,
            dims: array.1.to_vec(),
            strides: strides(array.1, layout),
            flags: DLPACK_FLAG_BITMASK_READ_ONLY,
            memory: Memory::Buffer(held),
        })
    }

    /// An array of a type narrower than a byte, of which `elements` holds a byte each,
    /// row-major: packed, which is DLPack's default.
    pub fn packed(elements: &[u8], array: ArrayType<'_>) -> Result<Outgoing> {
        let dtype = describe(array.0)?;
        let mut copy = pack(elements, dtype.bits.into())?;
        Ok(Outgoing {
            data: if copy.is_empty() { std::ptr::null_mut() } else { copy.as_mut_ptr().cast() },
            device: DLDevice { device_type: kDLCPU, device_id: 0 },
            dtype,
            dims: array.1.to_vec(),
            strides: strides(array.1, &Layout::row_major(array.1.len())),
            flags: DLPACK_FLAG_BITMASK_IS_COPIED,
            memory: Memory::Copy(copy),
        })
    }

    /// The array as a tensor with a version, which ends with its deleter.
    pub fn into_versioned(self) -> *mut DLManagedTensorVersioned {
        let exported = Exported::new(self);
        // SAFETY: it was just made.
        unsafe { &raw mut (*exported).versioned }
    }

    /// The same without a version.
    pub fn into_legacy(self) -> *mut DLManagedTensor {
        let exported = Exported::new(self);
        // SAFETY: it was just made.
        unsafe { &raw mut (*exported).legacy }
    }
}

/// A tensor in both forms, of which one is given out, and what it points to.
struct Exported {
    versioned: DLManagedTensorVersioned,
    legacy: DLManagedTensor,
    #[allow(dead_code, reason = "only kept")]
    outgoing: Outgoing,
}

impl Exported {
    fn new(mut outgoing: Outgoing) -> *mut Exported {
        let dl_tensor = DLTensor {
            data: outgoing.data,
            device: outgoing.device,
            ndim: outgoing.dims.len() as i32, // at most `MOST_DIMS`
            dtype: outgoing.dtype,
            // The lists stay where they are when their owner moves.
            shape: outgoing.dims.as_mut_ptr(),
            strides: outgoing.strides.as_mut_ptr(),
            byte_offset: 0,
        };
        let versioned = DLManagedTensorVersioned {
            version: DLPackVersion { major: DLPACK_MAJOR_VERSION, minor: MINOR_VERSION },
            manager_ctx: std::ptr::null_mut(),
            deleter: Some(end_versioned),
            flags: outgoing.flags,
            dl_tensor,
        };
        let legacy =
            DLManagedTensor { dl_tensor, manager_ctx: std::ptr::null_mut(), deleter: Some(end_legacy) };
        let exported = Box::into_raw(Box::new(Exported { versioned, legacy, outgoing }));
        // SAFETY: it was just made, and nobody else has it.
        unsafe {
            (*exported).versioned.manager_ctx = exported.cast();
            (*exported).legacy.manager_ctx = exported.cast();
        }
        exported
    }
}

unsafe extern "C" fn end_versioned(tensor: *mut DLManagedTensorVersioned) {
    // SAFETY: the tensor is part of what `new` made; who borrowed it ends it once.
    drop(unsafe { Box::from_raw((*tensor).manager_ctx.cast::<Exported>()) });
}

unsafe extern "C" fn end_legacy(tensor: *mut DLManagedTensor) {
    // SAFETY: as above.
    drop(unsafe { Box::from_raw((*tensor).manager_ctx.cast::<Exported>()) });
}

/// No array is of the types that are not described.
fn describe(dtype: DType) -> Result<DLDataType> {
    types::to_dlpack(dtype).ok_or_else(|| Error::internal("a buffer of a type that DLPack has not"))
}

/// How many elements lie between one and the next of each dimension.
fn strides(dims: &[i64], layout: &Layout) -> Vec<i64> {
    let mut strides = vec![0; dims.len()];
    let mut step = 1i64;
    for &dimension in &layout.minor_to_major {
        strides[dimension as usize] = step;
        // Only the sizes of arrays with elements are known to be numbers.
        step = step.saturating_mul(dims[dimension as usize].max(1));
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_follow_the_order() {
        let column_major = Layout { minor_to_major: vec![0, 1], is_tiled: false };
        assert_eq!(strides(&[2, 3], &column_major), [1, 2]);
        assert_eq!(strides(&[2, 3, 4], &Layout::row_major(3)), [12, 4, 1]);
        assert_eq!(strides(&[], &Layout::row_major(0)), [0i64; 0]);
        assert_eq!(strides(&[i64::MAX, 0, i64::MAX], &Layout::row_major(3)), [i64::MAX, i64::MAX, 1]);
    }
}
