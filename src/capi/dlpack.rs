//! DLPack: arrays lent to and by other libraries, such as NumPy, JAX and PyTorch.
//!
//! A tensor of DLPack is an array and a function, its deleter, that is called once by
//! whoever borrowed it, when the array is not needed any more. The structs are those
//! of dlpack.h, which need not be included. docs/dlpack.md has more.

use std::sync::Arc;

use super::buffer::cyxla_buffer;
use super::error::cyxla_error;
use super::guard::guard;
use super::pointer::{self, Out};
use crate::pjrt::dlpack::Incoming;
use crate::pjrt::dlpack::abi::{DLManagedTensor, DLManagedTensorVersioned};
use crate::runtime::Buffer;

/// Makes a buffer of another library's array, without a copy where that is possible.
///
/// Host memory is used in place on device 0 of a CPU plugin if the first element's
/// address is a multiple of 64, the elements lie row-major without gaps, and their
/// type takes whole bytes and is not bool; it is copied otherwise, to device 0, with
/// strides of any sign. Memory of a CUDA or ROCm device is used in place, and
/// its contents must be there already. cyxla_buffer_is_view tells.
///
/// On success the tensor is the library's, which calls its deleter once, from any
/// thread, when nothing uses the memory any more: at once if it was copied. Until then
/// the memory has to stay unchanged. A program that the buffer is donated to may
/// write its result there unless the tensor's flags say that it is read-only. After an
/// error the tensor is still the caller's. The deleter is not called in a forked
/// child or while the process ends; what it may do is as for cyxla_buffer_view_host.
///
/// @param tensor   a tensor of DLPack 1.
/// @param out      receives a buffer to free with cyxla_buffer_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (NULL, a tensor that cannot be, a bool other than 0 and 1, a device that the runtime does not use), UNIMPLEMENTED (another major version, unknown flags, an element type or a device that has no equivalent here, a type that the plugin is too old for), RESOURCE_EXHAUSTED (no memory), or as cyxla_initialize.
/// @threads safe.   @blocks while it is copied, if it is.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_from_dlpack(
    tensor: *mut DLManagedTensorVersioned,
    out: *mut *mut cyxla_buffer,
) -> *mut cyxla_error {
    guard("cyxla_buffer_from_dlpack", || {
        // SAFETY: NULL or a tensor as the contract says; NULL or writable.
        unsafe {
            let out = Out::new(out, "out")?;
            pointer::check(tensor, "tensor")?;
            let buffer = Arc::new(Buffer::from_dlpack(Incoming::versioned(tensor)?)?);
            out.set_handle(cyxla_buffer { buffer });
        }
        Ok(())
    })
}

/// Makes a buffer of an array that a library lends in DLPack's older form.
///
/// All is as for cyxla_buffer_from_dlpack, but that this form cannot say whether the
/// memory may be written. It is taken to be read-only: no program writes its result
/// there.
///
/// @param tensor   a tensor without a version.
/// @param out      receives a buffer to free with cyxla_buffer_free.
/// @return NULL, or an owned error (as cyxla_buffer_from_dlpack).
/// @threads safe.   @blocks while it is copied, if it is.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_from_dlpack_legacy(
    tensor: *mut DLManagedTensor,
    out: *mut *mut cyxla_buffer,
) -> *mut cyxla_error {
    guard("cyxla_buffer_from_dlpack_legacy", || {
        // SAFETY: NULL or a tensor as the contract says; NULL or writable.
        unsafe {
            let out = Out::new(out, "out")?;
            pointer::check(tensor, "tensor")?;
            let buffer = Arc::new(Buffer::from_dlpack(Incoming::legacy(tensor)?)?);
            out.set_handle(cyxla_buffer { buffer });
        }
        Ok(())
    })
}

/// Lends a buffer's contents to another library.
///
/// The tensor shows the contents where they are, in the order in which the device
/// stores them, and is flagged as read-only. Types narrower than a byte are copied to
/// host memory and packed. The contents stay until the tensor's deleter is called, also
/// if the buffer is freed. A program that the buffer is donated to meanwhile computes
/// from the contents and leaves them alone, so that the buffer is not donated then.
///
/// The tensor is the caller's or whoever it gives it to: its deleter has to be called
/// once, from any thread, also in a forked child or while the process ends, where it
/// does nothing to the plugin.
///
/// @param buffer   a buffer.
/// @param out      receives a tensor of DLPack 1 that ends with its deleter.
/// @return NULL, or an owned error: FAILED_PRECONDITION (donated, a forked child), UNIMPLEMENTED (an order or a platform that DLPack has no words for), RESOURCE_EXHAUSTED (no memory), INVALID_ARGUMENT (NULL), or the error of the program that should have made the buffer.
/// @threads safe.   @blocks until the contents are there.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_to_dlpack(
    buffer: *const cyxla_buffer,
    out: *mut *mut DLManagedTensorVersioned,
) -> *mut cyxla_error {
    guard("cyxla_buffer_to_dlpack", || {
        // SAFETY: NULL or a living buffer; NULL or writable.
        unsafe {
            let out = Out::new(out, "out")?;
            let buffer = &pointer::reference(buffer, "buffer")?.buffer;
            out.set(buffer.to_dlpack()?.into_versioned());
        }
        Ok(())
    })
}

/// Lends a buffer's contents to a library that knows DLPack's older form only.
///
/// All is as for cyxla_buffer_to_dlpack, but that this form cannot say that the memory
/// is read-only: it must not be written all the same.
///
/// @param buffer   a buffer.
/// @param out      receives a tensor without a version that ends with its deleter.
/// @return NULL, or an owned error (as cyxla_buffer_to_dlpack).
/// @threads safe.   @blocks until the contents are there.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_buffer_to_dlpack_legacy(
    buffer: *const cyxla_buffer,
    out: *mut *mut DLManagedTensor,
) -> *mut cyxla_error {
    guard("cyxla_buffer_to_dlpack_legacy", || {
        // SAFETY: NULL or a living buffer; NULL or writable.
        unsafe {
            let out = Out::new(out, "out")?;
            let buffer = &pointer::reference(buffer, "buffer")?.buffer;
            out.set(buffer.to_dlpack()?.into_legacy());
        }
        Ok(())
    })
}
