//! The devices of a client.

use super::client::plugin_fault;
use super::{Api, Memory, call, owned_text, sys};
use crate::error::Result;

/// A device of a client. Lives as long as the client.
pub struct Device {
    pub(super) raw: *mut sys::PJRT_Device,
    /// The plugin's number of the device.
    pub id: i64,
    /// What it is, such as `cpu` or `NVIDIA H200`.
    pub kind: String,
    /// One line about it.
    pub description: String,
    /// The number of the hardware behind it, or -1.
    pub local_hardware_id: i64,
    /// Its memories, the default one first; none if the plugin does not tell.
    pub memories: Vec<Memory>,
}

// SAFETY: PJRT devices may be used from any thread.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    pub(super) fn describe(api: &'static Api, raw: *mut sys::PJRT_Device) -> Result<Device> {
        if raw.is_null() {
            return Err(plugin_fault("the plugin listed a device that is NULL"));
        }
        // SAFETY: the client that gave the device is alive; texts are copied.
        unsafe {
            let mut get = sys::PJRT_Device_GetDescription_Args::new();
            get.device = raw;
            call!(api, PJRT_Device_GetDescription, &mut get)?;
            let mut id = sys::PJRT_DeviceDescription_Id_Args::new();
            id.device_description = get.device_description;
            call!(api, PJRT_DeviceDescription_Id, &mut id)?;
            let mut kind = sys::PJRT_DeviceDescription_Kind_Args::new();
            kind.device_description = get.device_description;
            call!(api, PJRT_DeviceDescription_Kind, &mut kind)?;
            let mut text = sys::PJRT_DeviceDescription_ToString_Args::new();
            text.device_description = get.device_description;
            call!(api, PJRT_DeviceDescription_ToString, &mut text)?;
            let mut hardware = sys::PJRT_Device_LocalHardwareId_Args::new();
            hardware.device = raw;
            call!(api, PJRT_Device_LocalHardwareId, &mut hardware)?;
            Ok(Device {
                raw,
                id: id.id.into(),
                kind: owned_text(kind.device_kind, kind.device_kind_size),
                description: owned_text(text.to_string, text.to_string_size),
                local_hardware_id: hardware.local_hardware_id.into(),
                memories: Memory::of_device(api, raw),
            })
        }
    }
}
