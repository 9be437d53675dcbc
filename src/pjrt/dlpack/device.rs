//! Another library's array in the memory of a device, used in place.

use std::ffi::c_void;

use super::Incoming;
use crate::dtype::ArrayType;
use crate::error::Result;
use crate::pjrt::client::plugin_fault;
use crate::pjrt::event::give_back;
use crate::pjrt::{Buffer, Client, Device, HostView, Layout, call, sys};

impl Client {
    /// Makes a device array of row-major memory of that device, which is given back when
    /// the plugin is done with it. After an error it is not given back.
    pub fn view_device(&self, lent: Incoming, device: &Device) -> Result<(Buffer, Layout)> {
        assert!(lent.is_row_major(), "the caller asks before");
        let ArrayType(dtype, dims) = lent.array_type();
        let dims = dims.to_vec();
        let order = Layout::row_major(dims.len());
        let mut layout = order.describe();
        let mut args = sys::PJRT_Client_CreateViewOfDeviceBuffer_Args::new();
        args.client = self.raw;
        args.device_buffer_ptr = lent.address().cast();
        args.dims = dims.as_ptr();
        args.num_dims = dims.len();
        args.element_type = dtype.0;
        args.layout = &mut layout;
        args.device = device.raw;
        let lent = Box::into_raw(Box::new(lent.into_lent()));
        args.on_delete_callback = Some(done); // plugins call it also where the header says that it is optional
        args.on_delete_callback_arg = lent.cast();
        // SAFETY: client and device are alive, the lists outlive the call, and the memory
        // holds the array until the callback, as the tensor's constructor was promised.
        let made = unsafe { call!(self.api, PJRT_Client_CreateViewOfDeviceBuffer, &mut args) };
        if let Err(error) = made {
            // SAFETY: there is no buffer whose end would call the callback.
            drop(unsafe { Box::from_raw(lent) });
            return Err(error);
        }
        // SAFETY: the plugin gave the buffer, which is ours.
        let buffer = unsafe { Buffer::from_raw(self.api, args.buffer, self.in_place) };
        let buffer = buffer
            .ok_or_else(|| plugin_fault("the plugin returned no view of memory, and no error either"))?;
        Ok((buffer, order))
    }
}

unsafe extern "C" fn done(_memory: *mut c_void, lent: *mut c_void) {
    // SAFETY: the plugin calls this once, with the pointer that it was given.
    give_back(*unsafe { Box::from_raw(lent.cast::<HostView>()) });
}
