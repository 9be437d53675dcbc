//! Getting at what a buffer holds: when it is ready, where it is, a copy of it.

use crate::buffers::Buffer;
use crate::client::Handle;
use crate::errors::Failure;
use crate::events::Work;
use crate::layout;
use crate::ledger;
use crate::sys::*;
use std::ffi::c_void;
use std::sync::Arc;

entry! { PJRT_Buffer_ReadyEvent(args: PJRT_Buffer_ReadyEvent_Args) {
    let buffer = ledger::find::<Buffer, _>(args.buffer)?;
    buffer.storage()?;
    args.event = buffer.ready.event();
    Ok(())
}}

entry! { PJRT_Buffer_UnsafePointer(args: PJRT_Buffer_UnsafePointer_Args) {
    let storage = ledger::find::<Buffer, _>(args.buffer)?.storage()?;
    args.buffer_pointer = storage.data().expose_provenance();
    Ok(())
}}

entry! { PJRT_Buffer_OpaqueDeviceMemoryDataPointer(
    args: PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args
) {
    let storage = ledger::find::<Buffer, _>(args.buffer)?.storage()?;
    args.device_memory_ptr = storage.data().cast();
    Ok(())
}}

entry! { PJRT_Buffer_IncreaseExternalReferenceCount(
    args: PJRT_Buffer_IncreaseExternalReferenceCount_Args
) {
    let buffer = ledger::find::<Buffer, _>(args.buffer)?;
    buffer.storage()?;
    buffer.contents().external_references += 1;
    Ok(())
}}

entry! { PJRT_Buffer_DecreaseExternalReferenceCount(
    args: PJRT_Buffer_DecreaseExternalReferenceCount_Args
) {
    let buffer = ledger::find::<Buffer, _>(args.buffer)?;
    let mut contents = buffer.contents();
    if contents.external_references == 0 {
        return Err(Failure::invalid(
            "Attempting to decrease reference on a buffer with zero reference count.",
        ));
    }
    contents.external_references -= 1;
    let freed = contents.settle();
    drop(contents);
    drop(freed);
    Ok(())
}}

/// Copies into the caller's memory, in the order of `wanted` strides or else as the
/// array is stored, which is what the real plugins do when no host layout is given.
fn copy(buffer: &Buffer, wanted: Option<Vec<i64>>, dst: Handle<c_void>) -> Result<(), Failure> {
    buffer.ready.wait()?;
    let mut bytes = buffer.storage()?.read();
    if let Some(wanted) = wanted {
        let stored = layout::strides(&buffer.tensor, &buffer.minor_to_major);
        bytes = layout::reorder(&buffer.tensor, &bytes, &stored, &wanted);
    }
    // SAFETY: the caller's memory was seen to be large enough, and stays its word until
    // the event.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), dst.0.cast(), bytes.len()) };
    Ok(())
}

entry! { PJRT_Buffer_ToHostBuffer(args: PJRT_Buffer_ToHostBuffer_Args) {
    let buffer = ledger::find::<Buffer, _>(args.src)?;
    // SAFETY: the caller passes a layout, or NULL.
    let wanted = unsafe { args.host_layout.as_ref() }
        .map(|wanted| layout::wanted_strides(wanted, &buffer.tensor))
        .transpose()?;
    let size = buffer.storage()?.size();
    if args.dst.is_null() {
        args.dst_size = size;
        return Ok(());
    }
    if args.dst_size < size {
        let given = args.dst_size;
        return Err(Failure::invalid(format!("`dst_size` must be >= {size}, got {given}.")));
    }
    let dst = Handle(args.dst);
    let copied = Arc::new(Work::default());
    args.event = copied.event();
    // Never in the caller's thread, so that a caller that does not wait shows.
    std::thread::spawn(move || copied.end(copy(&buffer, wanted, dst)));
    Ok(())
}}
