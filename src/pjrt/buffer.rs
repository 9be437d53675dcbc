//! Arrays in device memory.

use std::marker::PhantomData;

use super::{Api, Event, HostOutput, call, list, presence, sys};
use crate::error::{Code, Error, Origin, Result};

/// A device array of the plugin.
pub struct Buffer {
    pub(super) api: &'static Api,
    pub(super) raw: *mut sys::PJRT_Buffer,
    /// Its memory is host memory.
    pub(super) in_place: bool,
}

// SAFETY: PJRT buffers may be used from any thread.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

/// A buffer as an argument list holds it: just the plugin's pointer.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct BufferRef<'a> {
    raw: *mut sys::PJRT_Buffer,
    lifetime: PhantomData<&'a Buffer>,
}

impl BufferRef<'_> {
    pub(super) fn raw(self) -> *mut sys::PJRT_Buffer {
        self.raw
    }
}

/// The order in which a device array stores its elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Logical dimensions, the one that varies fastest in memory first.
    pub minor_to_major: Vec<i64>,
    /// Whether elements are grouped in tiles, an order that only the plugin knows.
    pub is_tiled: bool,
}

impl Layout {
    /// Row-major order of this many dimensions.
    pub fn row_major(rank: usize) -> Layout {
        Layout { minor_to_major: (0..rank as i64).rev().collect(), is_tiled: false }
    }

    /// The order that a plugin tells, which must name each dimension once: computing
    /// with any other would give wrong numbers.
    pub fn new(minor_to_major: &[i64], is_tiled: bool, rank: usize) -> Result<Layout> {
        let named = |dimension| minor_to_major.contains(&dimension);
        if minor_to_major.len() == rank && (0..rank as i64).all(named) {
            return Ok(Layout { minor_to_major: minor_to_major.to_vec(), is_tiled });
        }
        let message = format!("the plugin orders the {rank} dimensions of an array as {minor_to_major:?}");
        Err(Error::new(Code::Internal, Origin::Plugin, message))
    }

    /// An order without tiles in PJRT's form, which points into this.
    pub(super) fn describe(&self) -> sys::PJRT_Buffer_MemoryLayout {
        let mut tiled = sys::PJRT_Buffer_MemoryLayout_Tiled::new();
        tiled.minor_to_major = self.minor_to_major.as_ptr();
        tiled.minor_to_major_size = self.minor_to_major.len();
        let mut layout = sys::PJRT_Buffer_MemoryLayout::new();
        layout.r#type = sys::PJRT_Buffer_MemoryLayout_Type_Tiled;
        layout.value.tiled = tiled;
        layout
    }

    /// Whether the order is row-major for arrays of these dims. Dimensions of one
    /// element may stand anywhere, and an array without elements has every order.
    pub fn is_row_major(&self, dims: &[i64]) -> bool {
        if self.is_tiled {
            return false;
        }
        let long = |&&dim: &&i64| dims.get(dim as usize).is_none_or(|&size| size != 1);
        dims.contains(&0) || self.minor_to_major.iter().filter(long).is_sorted_by(|a, b| a > b)
    }
}

impl Buffer {
    /// Takes a buffer over; `None` for NULL.
    ///
    /// # Safety
    /// `raw` is NULL or a buffer of this plugin that nobody else destroys.
    pub(super) unsafe fn from_raw(
        api: &'static Api,
        raw: *mut sys::PJRT_Buffer,
        in_place: bool,
    ) -> Option<Buffer> {
        if raw.is_null() { None } else { Some(Buffer { api, raw, in_place }) }
    }

    /// The buffer as an argument.
    pub fn as_argument(&self) -> BufferRef<'_> {
        BufferRef { raw: self.raw, lifetime: PhantomData }
    }

    pub(super) fn api(&self) -> &'static Api {
        self.api
    }

    pub(super) fn raw(&self) -> *mut sys::PJRT_Buffer {
        self.raw
    }

    /// Blocks until the contents are there, and gives the error of the
    /// computation that should have made them.
    pub fn wait(&self) -> Result<()> {
        let mut args = sys::PJRT_Buffer_ReadyEvent_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive; the event is ours.
        let event = unsafe {
            call!(self.api, PJRT_Buffer_ReadyEvent, &mut args)?;
            Event::from_raw(self.api, args.event)
        };
        event.map_or(Ok(()), |event| event.wait())
    }

    /// Where the contents are, for a device whose memory is host memory.
    #[inline]
    pub fn address(&self) -> Result<*const u8> {
        let mut args = sys::PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive.
        unsafe { call!(self.api, PJRT_Buffer_OpaqueDeviceMemoryDataPointer, &mut args) }?;
        Ok(args.device_memory_ptr.cast_const().cast())
    }

    /// The contents in place, `size` bytes of them, once they are ready; `None`
    /// where device memory is not host memory.
    pub fn bytes(&self, size: usize) -> Result<Option<&[u8]>> {
        // Asking for the address does not wait, also for contents that failed.
        if self.in_place {
            self.wait()?;
        }
        // SAFETY: the plugin's memory is host memory, holds an array of this size,
        // and is ready; it stays until the buffer is destroyed or donated, which
        // takes the buffer itself.
        let bytes = |address| unsafe { std::slice::from_raw_parts(address, size) };
        Ok(self.place(size)?.map(bytes))
    }

    /// Where the contents are in host memory, `size` bytes of them, which may not be ready
    /// yet; `None` where device memory is not host memory.
    pub fn place(&self, size: usize) -> Result<Option<*const u8>> {
        if !self.in_place {
            return Ok(None);
        }
        let refuse = |message: String| Err(Error::new(Code::Internal, Origin::Plugin, message));
        let there = self.device_size()?;
        if there < size {
            return refuse(format!("the plugin made a buffer of {there} bytes where {size} were due"));
        }
        if size == 0 {
            return Ok(Some(std::ptr::dangling()));
        }
        match self.address()? {
            address if address.is_null() => {
                refuse("the plugin gave no address for a buffer in host memory".into())
            }
            address => Ok(Some(address)),
        }
    }

    /// Copies the contents in place to `destination`; gives false where device memory
    /// is not host memory. The two may overlap: a host may read a view of its own
    /// memory into that same memory.
    pub fn copy_in_place(&self, destination: &mut HostOutput<'_>) -> Result<bool> {
        let size = destination.size();
        let Some(source) = self.bytes(size)?.map(<[u8]>::as_ptr) else { return Ok(false) };
        if size > 0 && !std::ptr::eq(source, destination.address()) {
            // SAFETY: `bytes` just gave the source, of this size; the destination is
            // as large and writable.
            unsafe { std::ptr::copy(source, destination.address(), size) };
        }
        Ok(true)
    }

    /// The same for contents that are ready, of a buffer of which [`Buffer::bytes`] has
    /// shown that it is in host memory and as large as the destination.
    #[inline]
    pub fn copy_in_place_now(&self, destination: &mut HostOutput<'_>) -> Result<()> {
        let source = self.address()?;
        assert!(self.in_place && !source.is_null(), "in host memory");
        if std::ptr::eq(source, destination.address()) {
            return Ok(()); // the program wrote it there
        }
        // SAFETY: as above; the memory is ready, and of the destination's size as the
        // caller says of every such result.
        unsafe { std::ptr::copy(source, destination.address(), destination.size()) };
        Ok(())
    }

    fn device_size(&self) -> Result<usize> {
        let mut args = sys::PJRT_Buffer_OnDeviceSizeInBytes_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive.
        unsafe { call!(self.api, PJRT_Buffer_OnDeviceSizeInBytes, &mut args) }?;
        Ok(args.on_device_size_in_bytes)
    }

    /// How the elements are ordered; `rank` is how many dimensions the buffer has.
    pub fn layout(&self, rank: usize) -> Result<Layout> {
        let mut args = sys::PJRT_Buffer_GetMemoryLayout_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive and owns the lists; the type says which
        // member of the union the plugin wrote.
        unsafe {
            call!(self.api, PJRT_Buffer_GetMemoryLayout, &mut args)?;
            if args.layout.r#type == sys::PJRT_Buffer_MemoryLayout_Type_Tiled {
                let tiled = args.layout.value.tiled;
                let order = list(tiled.minor_to_major, tiled.minor_to_major_size);
                return Layout::new(order, tiled.num_tiles > 0, rank);
            }
        }
        let message = "the plugin describes a buffer's layout by strides, which no known plugin does";
        Err(Error::new(Code::Unimplemented, Origin::Plugin, message))
    }

    /// Copies the contents to `destination` and waits for that. In the buffer's
    /// own order of dimensions, or in row-major order when `row_major` gives the
    /// rank (plugins on host memory may ignore that).
    pub fn copy_to_host(&self, destination: &mut HostOutput<'_>, row_major: Option<usize>) -> Result<()> {
        let order = row_major.map(Layout::row_major);
        let mut layout = order.as_ref().map(Layout::describe);
        let mut args = sys::PJRT_Buffer_ToHostBuffer_Args::new();
        args.src = self.raw;
        args.dst = destination.address().cast();
        args.dst_size = destination.size();
        if let Some(layout) = &mut layout {
            args.host_layout = layout;
        }
        // SAFETY: the buffer is alive; the destination outlives the wait below.
        let event = unsafe {
            call!(self.api, PJRT_Buffer_ToHostBuffer, &mut args)?;
            Event::from_raw(self.api, args.event)
        };
        event.map_or(Ok(()), |event| event.wait())
    }

    /// Whether the contents are gone, because the buffer was donated.
    pub fn is_deleted(&self) -> Result<bool> {
        let mut args = sys::PJRT_Buffer_IsDeleted_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive.
        unsafe { call!(self.api, PJRT_Buffer_IsDeleted, &mut args) }?;
        Ok(args.is_deleted != 0)
    }
}

impl Buffer {
    /// Destroys the buffer, unless nothing of the plugin may be called any more;
    /// tells whether it did.
    fn destroy(self) -> bool {
        let destroyed = self.tell_plugin();
        std::mem::forget(self);
        destroyed
    }

    fn tell_plugin(&self) -> bool {
        if presence::is_gone() {
            return false;
        }
        let mut args = sys::PJRT_Buffer_Destroy_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive and ours, and nobody uses it after this. An
        // error changes nothing.
        let _ = unsafe { call!(self.api, PJRT_Buffer_Destroy, &mut args) };
        true
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.tell_plugin();
    }
}

/// A buffer over memory that is the caller's. Destroying it waits until the plugin
/// is done with the memory.
pub struct BorrowedBuffer<'a> {
    buffer: Option<Buffer>,
    done: Option<Event>,
    lifetime: PhantomData<&'a [u8]>,
}

impl BorrowedBuffer<'_> {
    /// `done` is ready when the plugin no longer uses the memory.
    pub(super) fn new(buffer: Buffer, done: Option<Event>) -> Self {
        BorrowedBuffer { buffer: Some(buffer), done, lifetime: PhantomData }
    }

    /// The buffer as an argument.
    pub fn as_argument(&self) -> BufferRef<'_> {
        let raw = self.buffer.as_ref().map_or(std::ptr::null_mut(), |buffer| buffer.raw);
        BufferRef { raw, lifetime: PhantomData }
    }
}

impl Drop for BorrowedBuffer<'_> {
    fn drop(&mut self) {
        // The event of memory in use becomes ready when the buffer is gone. A process
        // that ends destroys nothing more, and would wait for ever.
        let destroyed = self.buffer.take().is_some_and(Buffer::destroy);
        if let Some(done) = self.done.take().filter(|_| destroyed) {
            let _ = done.wait(); // its error is the transfer's, which the program reported
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_name_each_dimension_once() {
        assert!(Layout::new(&[1, 0], false, 2).is_ok());
        assert!(Layout::new(&[], false, 0).is_ok());
        for (order, rank) in [(&[][..], 2), (&[0, 0], 2), (&[0, 2], 2), (&[0, 1, 2], 2), (&[-1, 0], 2)] {
            assert_eq!(Layout::new(order, false, rank).unwrap_err().code(), Code::Internal);
        }
    }

    #[test]
    fn row_major_is_recognized() {
        let layout = |order: &[i64]| Layout { minor_to_major: order.to_vec(), is_tiled: false };
        assert!(layout(&[1, 0]).is_row_major(&[2, 3]));
        assert!(!layout(&[0, 1]).is_row_major(&[2, 3]));
        assert!(layout(&[0, 1]).is_row_major(&[1, 3]));
        assert!(layout(&[0, 1]).is_row_major(&[0, 3]));
        assert!(layout(&[]).is_row_major(&[]));
        assert!(layout(&[1, 2, 0]).is_row_major(&[4, 1, 5]));
        assert!(!layout(&[1, 2, 0]).is_row_major(&[4, 5, 6]));
        let tiled = Layout { is_tiled: true, ..Layout::row_major(2) };
        assert!(!tiled.is_row_major(&[2, 3]));
    }
}
