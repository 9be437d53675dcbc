//! Buffers of other libraries' arrays, and the other way round.

use std::sync::Arc;

use super::buffer::{Buffer, alive, check_plugin_takes, donated};
use super::run::copy_row_major;
use super::{Runtime, runtime};
use crate::dtype::ArrayType;
use crate::error::{Code, Error, Origin, Result};
use crate::memory;
use crate::pjrt::dlpack::{Held, Incoming, Outgoing, Place, abi, impossible, unknown};
use crate::pjrt::{HostInput, HostOutput, presence};

impl Buffer {
    /// Takes another library's array: in place where that is possible, else as a copy. Its
    /// tensor ends when nothing uses it any more. After an error it is its owner's still.
    pub fn from_dlpack(incoming: Incoming) -> Result<Buffer> {
        let taken = match incoming.place() {
            Place::Host => from_host_memory(incoming),
            Place::Device(platform, number) => from_device_memory(incoming, platform, number),
        };
        // What is wrong with a part of the tensor is wrong with the tensor.
        taken.map_err(|error| match error.detail("parameter") {
            Some(_) => error.parameter("tensor"),
            None => error,
        })
    }

    /// Lends the contents to another library: in place, or for types narrower than a byte
    /// as a copy. As long as they are lent, no program takes them; one that they are
    /// donated to computes from them and leaves them.
    pub fn to_dlpack(&self) -> Result<Outgoing> {
        presence::check()?;
        let array = self.array_type();
        let contents = Arc::clone(alive(&self.read())?);
        // First, so that no program takes the contents between this and the lending.
        let held = Held::new(Arc::clone(&contents)).map_err(|error| match contents.is_deleted() {
            Ok(true) => donated(),
            _ => error,
        })?;
        held.buffer().wait()?;
        if array.0.is_sub_byte() {
            let mut elements = memory::zeroed(self.host_size())?;
            copy_row_major(held.buffer(), array, self.layout(), &mut HostOutput::new(&mut elements))?;
            return Outgoing::packed(&elements, self.array_type());
        }
        if self.layout().is_tiled {
            let message = format!("the device stores {array} in tiles, which DLPack cannot describe");
            return Err(Error::new(Code::Unimplemented, Origin::Plugin, message)
                .parameter("buffer")
                .hint("copy it to host memory with cyxla_buffer_to_host"));
        }
        let (device_type, number) = self.runtime().dlpack_device(self.device())?;
        Outgoing::in_place(held, array, self.layout(), device_type, number)
    }
}

fn from_host_memory(incoming: Incoming) -> Result<Buffer> {
    let ArrayType(dtype, dims) = incoming.array_type();
    if incoming.is_row_major() {
        let dims = dims.to_vec();
        return Buffer::view_host(0, dtype, &dims, incoming.into_view());
    }
    check_plugin_takes(runtime(&[])?, dtype)?; // before the work
    let elements = incoming.gather()?;
    let buffer = Buffer::from_host(0, dtype, dims, HostInput::new(&elements))?;
    incoming.release();
    Ok(buffer)
}

fn from_device_memory(incoming: Incoming, platform: &str, number: i64) -> Result<Buffer> {
    let runtime = runtime(&[])?;
    let ArrayType(dtype, dims) = incoming.array_type();
    let own = &runtime.info.platform;
    if own != platform {
        let message =
            format!("the tensor is in memory of a device of {platform}, and the runtime's platform is {own}");
        return Err(impossible(message)
            .hint(format!("copy it to host memory first, or load a plugin for {platform}")));
    }
    let position = runtime.devices.iter().position(|device| device.local_hardware_id == number);
    let Some(position) = position else {
        let message =
            format!("the tensor is on device {number} of {platform}, which the runtime does not use");
        return Err(impossible(message));
    };
    check_plugin_takes(runtime, dtype)?;
    let dims = dims.to_vec();
    let array = ArrayType(dtype, &dims);
    if dims.contains(&0) {
        let buffer = Buffer::from_host(position, dtype, &dims, HostInput::new(&[]))?;
        incoming.release();
        return Ok(buffer);
    }
    if !incoming.is_row_major() {
        let message = format!(
            "{array} is in memory of a device and not row-major, or packed; such tensors are not taken"
        );
        return Err(unknown(message).hint("make it contiguous first"));
    }
    let (made, layout) = runtime.client.view_device(incoming, &runtime.devices[position])?;
    Ok(Buffer::new(runtime, made, layout, array, position, true))
}

impl Runtime {
    /// The device at a position as DLPack names it.
    fn dlpack_device(&self, position: usize) -> Result<(i32, i32)> {
        let hardware = i32::try_from(self.device(position)?.local_hardware_id).unwrap_or(-1);
        match &*self.info.platform {
            "cpu" => Ok((abi::kDLCPU, 0)),
            "cuda" => Ok((abi::kDLCUDA, hardware)),
            "rocm" => Ok((abi::kDLROCM, hardware)),
            other => {
                let message = format!("DLPack has no name for memory of the platform {other}");
                Err(Error::new(Code::Unimplemented, Origin::Caller, message)
                    .parameter("buffer")
                    .hint("copy it to host memory with cyxla_buffer_to_host"))
            }
        }
    }
}
