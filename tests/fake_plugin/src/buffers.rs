//! Buffers: made from host memory, described, deleted.

use crate::client::{Client, Handle};
use crate::element::Element;
use crate::errors::Failure;
use crate::events::Work;
use crate::layout::{self, each_index};
use crate::ledger::{self, Object};
use crate::memories;
use crate::module_text::Tensor;
use crate::storage::{ALIGNMENT, Storage};
use crate::sys::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An array on a device.
pub struct Buffer {
    pub tensor: Tensor,
    pub device: Handle<PJRT_Device>,
    pub memory: Handle<PJRT_Memory>,
    /// Ends when the contents are there.
    pub ready: Arc<Work>,
    pub minor_to_major: Vec<i64>,
    contents: Mutex<Contents>,
}

impl Object for Buffer {
    const KIND: &'static str = "buffer";
}

/// A device and one of its memories.
pub type Place = (Handle<PJRT_Device>, Handle<PJRT_Memory>);

/// What changes during a buffer's life.
pub struct Contents {
    /// `None` once deleted or donated.
    storage: Option<Arc<Storage>>,
    pub external_references: usize,
    delete_wanted: bool,
}

impl Buffer {
    pub fn hand_out(
        tensor: Tensor,
        (device, memory): Place,
        storage: Arc<Storage>,
        ready: Arc<Work>,
        column_major: bool,
    ) -> *mut PJRT_Buffer {
        let rank = tensor.dims.len();
        let minor_to_major = if column_major { layout::column_major(rank) } else { layout::row_major(rank) };
        let contents = Contents { storage: Some(storage), external_references: 0, delete_wanted: false };
        ledger::hand_out(Arc::new(Self {
            tensor,
            device,
            memory,
            ready,
            minor_to_major,
            contents: Mutex::new(contents),
        }))
    }

    pub fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory, or the error that a deleted buffer gives.
    pub fn storage(&self) -> Result<Arc<Storage>, Failure> {
        self.contents().storage.clone().ok_or_else(|| Failure::invalid("Buffer has been deleted or donated."))
    }

    /// Gives the memory to an execution, and says whether it gave it away: as with the real
    /// plugins, the execution has to leave alone what somebody outside refers to.
    pub fn donate(&self) -> Result<(Arc<Storage>, bool), Failure> {
        let mut contents = self.contents();
        let shared = contents.external_references > 0;
        let storage = if shared { contents.storage.clone() } else { contents.storage.take() };
        let storage = storage.ok_or_else(|| Failure::invalid("Buffer has been deleted or donated."))?;
        Ok((storage, !shared))
    }
}

impl Contents {
    /// Deletes the memory as soon as nobody refers to it from outside.
    pub fn delete(&mut self) -> Option<Arc<Storage>> {
        self.delete_wanted = true;
        self.settle()
    }

    /// Gives out what is to be dropped, since that may call the host back, which must
    /// find this buffer unlocked.
    #[must_use]
    pub fn settle(&mut self) -> Option<Arc<Storage>> {
        let now = self.delete_wanted && self.external_references == 0;
        if now { self.storage.take() } else { None }
    }

    pub fn is_deleted(&self) -> bool {
        self.storage.is_none()
    }
}

/// A list that the caller describes by address and length.
///
/// # Safety
///
/// The address is valid for the length, or the length is 0.
unsafe fn list<T: Copy>(data: *const T, length: usize) -> Vec<T> {
    if length == 0 {
        return Vec::new();
    }
    // SAFETY: by contract.
    unsafe { std::slice::from_raw_parts(data, length) }.to_vec()
}

/// Where the caller's array is, and how it is laid out.
struct Host {
    data: *const u8,
    strides: Vec<i64>,
    dense: bool,
}

impl Host {
    fn read(args: &PJRT_Client_BufferFromHostBuffer_Args, tensor: &Tensor) -> Result<Self, Failure> {
        let dense = layout::strides(tensor, &layout::row_major(tensor.dims.len()));
        let strides = if args.byte_strides.is_null() {
            dense.clone()
        } else if args.num_byte_strides == tensor.dims.len() {
            // SAFETY: the caller describes the strides.
            unsafe { list(args.byte_strides, args.num_byte_strides) }
        } else {
            return Err(ledger::misuse("as many strides as there are no dimensions".to_owned()));
        };
        if args.data.is_null() && tensor.size() > 0 {
            return Err(ledger::misuse("NULL as data of an array".to_owned()));
        }
        Ok(Self { data: args.data.cast(), dense: strides == dense, strides })
    }

    /// Copies the array into memory of the plugin's own.
    fn copy(&self, tensor: &Tensor) -> Arc<Storage> {
        let size = tensor.element.size;
        let mut bytes = Vec::with_capacity(tensor.size());
        each_index(&tensor.dims, |index| {
            let offset = layout::offset(index, &self.strides);
            // SAFETY: the caller's strides lead to elements of its array.
            let element = unsafe { std::slice::from_raw_parts(self.data.offset(offset as isize), size) };
            bytes.extend_from_slice(element);
        });
        let storage = Storage::new(tensor.size());
        storage.write(&bytes);
        storage
    }
}

fn wanted_tensor(args: &PJRT_Client_BufferFromHostBuffer_Args) -> Result<Tensor, Failure> {
    let element = Element::of(args.r#type)
        .ok_or_else(|| ledger::misuse(format!("the element type {}", args.r#type)))?;
    // SAFETY: the caller describes the dimensions.
    let dims = unsafe { list(args.dims, args.num_dims) };
    if let Some(dim) = dims.iter().find(|&&dim| dim < 0) {
        return Err(Failure::invalid(format!("Invalid dimension size {dim}")));
    }
    let size = dims.iter().try_fold(element.size, |size, &dim| size.checked_mul(usize::try_from(dim).ok()?));
    if size.is_none_or(|size| size > 1 << 40) {
        return Err(Failure::new(PJRT_Error_Code_RESOURCE_EXHAUSTED, "Out of memory allocating the buffer."));
    }
    Ok(Tensor { element, dims })
}

entry! { PJRT_Client_BufferFromHostBuffer(args: PJRT_Client_BufferFromHostBuffer_Args) {
    let client = ledger::find::<Client, _>(args.client)?;
    let place = memories::place(args.device, args.memory)?;
    if !client.owns(place.0.0) {
        return Err(Failure::invalid("the device belongs to another client"));
    }
    let tensor = wanted_tensor(args)?;
    let host = Host::read(args, &tensor)?;
    let writable = args.host_buffer_semantics == PJRT_HostBufferSemantics_kMutableZeroCopy;
    let shares = writable
        || args.host_buffer_semantics == PJRT_HostBufferSemantics_kImmutableZeroCopy;
    let aligned = host.data.addr().is_multiple_of(ALIGNMENT) && !host.data.is_null();
    let shares = shares && !client.script.copy_views;
    let (storage, released) = if shares && host.dense && aligned && tensor.size() > 0 {
        let released = Arc::new(Work::default());
        let data = host.data.cast_mut();
        let storage = Storage::borrow(data, tensor.size(), writable, released.clone());
        (storage, released)
    } else {
        (host.copy(&tensor), Work::done())
    };
    args.done_with_host_buffer = released.event();
    args.buffer = Buffer::hand_out(tensor, place, storage, Work::done(), false);
    Ok(())
}}

entry! { PJRT_Client_CreateViewOfDeviceBuffer(args: PJRT_Client_CreateViewOfDeviceBuffer_Args) {
    let client = ledger::find::<Client, _>(args.client)?;
    let place = memories::place(args.device, args.memory)?;
    if !client.owns(place.0.0) {
        return Err(Failure::invalid("the device belongs to another client"));
    }
    let element = Element::of(args.element_type)
        .ok_or_else(|| ledger::misuse(format!("the element type {}", args.element_type)))?;
    // SAFETY: the caller describes the dimensions.
    let tensor = Tensor { element, dims: unsafe { list(args.dims, args.num_dims) } };
    // SAFETY: the caller passes a layout, or NULL.
    if let Some(layout) = unsafe { args.layout.as_ref() }
        && layout::wanted_strides(layout, &tensor)? != layout::strides(&tensor, &layout::row_major(tensor.dims.len()))
    {
        return Err(Failure::invalid("the fake plugin takes row-major views only"));
    }
    let data: *mut u8 = args.device_buffer_ptr.cast();
    if !data.addr().is_multiple_of(ALIGNMENT) {
        return Err(Failure::invalid("Can't create a view of buffer with unaligned data"));
    }
    let Some(on_delete) = args.on_delete_callback else {
        return Err(ledger::misuse("no callback for a view".to_owned()));
    };
    let storage = Storage::foreign(data, tensor.size(), on_delete, args.on_delete_callback_arg);
    args.buffer = Buffer::hand_out(tensor, place, storage, Work::done(), false);
    Ok(())
}}

entry! { PJRT_Buffer_Destroy(args: PJRT_Buffer_Destroy_Args) {
    ledger::destroy::<Buffer, _>(args.buffer).map(drop)
}}

entry! { PJRT_Buffer_ElementType(args: PJRT_Buffer_ElementType_Args) {
    args.r#type = ledger::find::<Buffer, _>(args.buffer)?.tensor.element.pjrt;
    Ok(())
}}

entry! { PJRT_Buffer_Dimensions(args: PJRT_Buffer_Dimensions_Args) {
    let buffer = ledger::find::<Buffer, _>(args.buffer)?;
    args.dims = buffer.tensor.dims.as_ptr();
    args.num_dims = buffer.tensor.dims.len();
    Ok(())
}}

entry! { PJRT_Buffer_GetMemoryLayout(args: PJRT_Buffer_GetMemoryLayout_Args) {
    let buffer = ledger::find::<Buffer, _>(args.buffer)?;
    let mut tiled = PJRT_Buffer_MemoryLayout_Tiled::new();
    tiled.minor_to_major = buffer.minor_to_major.as_ptr();
    tiled.minor_to_major_size = buffer.minor_to_major.len();
    args.layout = PJRT_Buffer_MemoryLayout::new();
    args.layout.r#type = PJRT_Buffer_MemoryLayout_Type_Tiled;
    args.layout.value.tiled = tiled;
    Ok(())
}}

entry! { PJRT_Buffer_OnDeviceSizeInBytes(args: PJRT_Buffer_OnDeviceSizeInBytes_Args) {
    args.on_device_size_in_bytes = ledger::find::<Buffer, _>(args.buffer)?.tensor.size();
    Ok(())
}}

entry! { PJRT_Buffer_Device(args: PJRT_Buffer_Device_Args) {
    args.device = ledger::find::<Buffer, _>(args.buffer)?.device.0;
    Ok(())
}}

entry! { PJRT_Buffer_Delete(args: PJRT_Buffer_Delete_Args) {
    let buffer = ledger::find::<Buffer, _>(args.buffer)?;
    let freed = buffer.contents().delete();
    drop(freed);
    Ok(())
}}

entry! { PJRT_Buffer_IsDeleted(args: PJRT_Buffer_IsDeleted_Args) {
    let buffer = ledger::find::<Buffer, _>(args.buffer)?;
    args.is_deleted = u8::from(buffer.contents().is_deleted());
    Ok(())
}}

entry! { PJRT_Buffer_IsOnCpu(args: PJRT_Buffer_IsOnCpu_Args) {
    ledger::find::<Buffer, _>(args.buffer)?;
    args.is_on_cpu = u8::from(crate::script::Script::current().platform == "cpu");
    Ok(())
}}
