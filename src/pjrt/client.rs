//! The client and its devices.

use std::ffi::c_char;
use std::sync::Once;

use super::attribute::NamedValues;
use super::{
    Api, BorrowedBuffer, Buffer, Device, Event, HostInput, HostOutput, HostView, Layout, LoadedExecutable,
    Memory, call, list, owned_text, presence, sys,
};
use crate::dtype::{ArrayType, DType};
use crate::error::{Code, Error, Origin, Result};
use crate::options::Options;

/// A plugin's client.
pub struct Client {
    pub(super) api: &'static Api,
    pub(super) raw: *mut sys::PJRT_Client,
    /// Device memory is host memory.
    pub(super) in_place: bool,
}

// SAFETY: PJRT clients may be used from any thread.
unsafe impl Send for Client {}
// SAFETY: as above.
unsafe impl Sync for Client {}

/// The type of an array, in the form that PJRT takes.
#[derive(Clone, Copy)]
pub struct ArraySpec<'a> {
    /// The element type.
    pub dtype: DType,
    /// Elements in each dimension.
    pub dims: &'a [i64],
}

impl Client {
    /// Creates a client. From now on children of this process are refused.
    pub fn create(api: &'static Api, options: &Options) -> Result<Client> {
        let in_use = presence::use_in_this_process();
        let options = NamedValues::new(options);
        let mut args = sys::PJRT_Client_Create_Args::new();
        args.create_options = options.as_slice().as_ptr();
        args.num_options = options.as_slice().len();
        // SAFETY: the options live until the call returns.
        unsafe { call!(api, PJRT_Client_Create, &mut args) }?;
        if args.client.is_null() {
            return Err(plugin_fault("the plugin returned no client, and no error either"));
        }
        in_use.keep(); // a client leaves threads behind, even one that is destroyed
        static CREATED: Once = Once::new();
        presence::watch_end(&CREATED);
        Ok(Client { api, raw: args.client, in_place: false })
    }

    /// Says whether device memory is host memory, which follows from the platform;
    /// holds for what is made from now on.
    pub fn set_in_place(&mut self, in_place: bool) {
        self.in_place = in_place;
    }

    /// The platform's name, such as `cpu`.
    pub fn platform_name(&self) -> Result<String> {
        let mut args = sys::PJRT_Client_PlatformName_Args::new();
        args.client = self.raw;
        // SAFETY: the client is alive; the text is copied at once.
        unsafe {
            call!(self.api, PJRT_Client_PlatformName, &mut args)?;
            Ok(owned_text(args.platform_name, args.platform_name_size))
        }
    }

    /// What the platform says of its version.
    pub fn platform_version(&self) -> Result<String> {
        let mut args = sys::PJRT_Client_PlatformVersion_Args::new();
        args.client = self.raw;
        // SAFETY: as in `platform_name`.
        unsafe {
            call!(self.api, PJRT_Client_PlatformVersion, &mut args)?;
            Ok(owned_text(args.platform_version, args.platform_version_size))
        }
    }

    /// The devices that this process can use.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let mut args = sys::PJRT_Client_AddressableDevices_Args::new();
        args.client = self.raw;
        // SAFETY: the client is alive, and its devices live as long as it.
        let raw = unsafe {
            call!(self.api, PJRT_Client_AddressableDevices, &mut args)?;
            list(args.addressable_devices, args.num_addressable_devices)
        };
        raw.iter().map(|&raw| Device::describe(self.api, raw)).collect()
    }

    /// Compiles a program in one of PJRT's formats; `options` is a serialized
    /// `CompileOptionsProto`.
    pub fn compile(&self, code: &[u8], format: &str, options: &[u8]) -> Result<LoadedExecutable> {
        // Plugins read through the pointer of an empty program.
        assert!(!code.is_empty() && !options.is_empty(), "checked when the program was made");
        let mut program = sys::PJRT_Program::new();
        program.code = code.as_ptr().cast::<c_char>().cast_mut();
        program.code_size = code.len();
        program.format = format.as_ptr().cast();
        program.format_size = format.len();
        let mut args = sys::PJRT_Client_Compile_Args::new();
        args.client = self.raw;
        args.program = &program;
        args.compile_options = options.as_ptr().cast();
        args.compile_options_size = options.len();
        // SAFETY: the program and the options live until the call returns, and
        // compiling only reads them.
        unsafe { call!(self.api, PJRT_Client_Compile, &mut args) }?;
        static COMPILED: Once = Once::new();
        presence::watch_end(&COMPILED);
        // SAFETY: the plugin gave the executable, which is ours.
        unsafe { LoadedExecutable::from_raw(self.api, args.executable, self.in_place) }
    }

    /// Loads what [`Executable::serialize`](super::Executable::serialize) gave.
    ///
    /// Plugins check next to nothing: bytes of another plugin, or damaged ones, may
    /// load and compute wrong numbers, or end the process.
    pub fn load(&self, serialized: &[u8]) -> Result<LoadedExecutable> {
        let mut args = sys::PJRT_Executable_DeserializeAndLoad_Args::new();
        args.client = self.raw;
        args.serialized_executable = serialized.as_ptr().cast();
        args.serialized_executable_size = serialized.len();
        // SAFETY: the bytes live until the call returns, which only reads them.
        unsafe { call!(self.api, PJRT_Executable_DeserializeAndLoad, &mut args) }?;
        static LOADED: Once = Once::new();
        presence::watch_end(&LOADED);
        // SAFETY: the plugin gave the executable, which is ours.
        unsafe { LoadedExecutable::from_raw(self.api, args.loaded_executable, self.in_place) }
    }

    /// Makes a device array by copying row-major host memory, which the caller has
    /// again on return.
    pub fn copy_from_host(
        &self,
        data: HostInput<'_>,
        spec: ArraySpec<'_>,
        device: &Device,
    ) -> Result<Buffer> {
        self.copy_from_host_to(data, spec, device, None)
    }

    /// The same into one of the device's memories, or into its default one.
    pub fn copy_from_host_to(
        &self,
        data: HostInput<'_>,
        spec: ArraySpec<'_>,
        device: &Device,
        memory: Option<&Memory>,
    ) -> Result<Buffer> {
        check_size(&data, spec)?;
        // SAFETY: the memory holds the array; the plugin reads it during the call only.
        let made = unsafe { self.make_buffer(data.address(), spec, COPY, device, memory) };
        made.map(|(buffer, _done)| buffer)
    }

    /// Makes a device array of row-major host memory for as long as the result
    /// lives: in place where the memory is aligned for it, else as a copy.
    pub fn borrow_from_host<'a>(
        &self,
        data: HostInput<'a>,
        spec: ArraySpec<'_>,
        device: &Device,
    ) -> Result<BorrowedBuffer<'a>> {
        let size = ArrayType(spec.dtype, spec.dims).host_size().unwrap_or(usize::MAX);
        self.borrow_sized(data, spec, size, device)
    }

    /// The same where the array is known to take `size` bytes.
    #[inline]
    pub fn borrow_sized<'a>(
        &self,
        data: HostInput<'a>,
        spec: ArraySpec<'_>,
        size: usize,
        device: &Device,
    ) -> Result<BorrowedBuffer<'a>> {
        if data.size() != size {
            return Err(wrong_size(&data, spec));
        }
        let semantics = if self.can_alias(data.address(), spec.dtype) { ZERO_COPY } else { COPY };
        // SAFETY: the memory holds the array during 'a; the result's drop waits until
        // the plugin is done with it.
        let (buffer, done) = unsafe { self.make_buffer(data.address(), spec, semantics, device, None) }?;
        let done = done.filter(|_| semantics != COPY);
        Ok(BorrowedBuffer::new(buffer, done))
    }

    /// Makes a device array of row-major host memory that the host lends until it
    /// is released: in place where the memory is aligned for it, else as a copy.
    /// Gives the array, its order, and whether it is in place. After an error nothing
    /// is released, and the memory is the host's again; it is one that the array is not
    /// in place if it `must_be`.
    pub fn view_host(
        &self,
        view: HostView,
        spec: ArraySpec<'_>,
        device: &Device,
        must_be: bool,
    ) -> Result<(Buffer, Layout, bool)> {
        check_size(&view.as_input(), spec)?;
        let address = view.address();
        let semantics = match self.can_alias(address, spec.dtype) {
            false => COPY,
            true if view.is_writable() => MUTABLE_ZERO_COPY,
            true => ZERO_COPY,
        };
        // SAFETY: the host lends memory that holds the array, writable where it says
        // so, until the release below, which the plugin's event triggers.
        let (buffer, done) = unsafe { self.make_buffer(address, spec, semantics, device, None) }?;
        // All that can fail comes before the memory is given back.
        let described = buffer.layout(spec.dims.len()).and_then(|layout| {
            let in_place = semantics != COPY && buffer.address()? == address;
            if must_be && !in_place {
                let message = "the plugin copied the memory, though it could be used in place";
                return Err(Error::new(Code::Unimplemented, Origin::Plugin, message));
            }
            Ok((layout, in_place))
        });
        let handed_over = described.and_then(|described| {
            match done.as_ref().filter(|_| semantics != COPY) {
                Some(done) => done.release_when_ready(view)?,
                None => view.release(), // copied before the call returned
            }
            Ok(described)
        });
        match handed_over {
            Ok((layout, in_place)) => Ok((buffer, layout, in_place)),
            Err(error) => {
                // The plugin has to be done before the host has the memory again.
                drop(BorrowedBuffer::new(buffer, done));
                Err(error)
            }
        }
    }

    /// Makes a device array over memory that a program is to write a result to: in place
    /// where the memory is aligned for it, else of no use.
    pub fn lend_output<'a>(
        &self,
        output: &HostOutput<'a>,
        spec: ArraySpec<'_>,
        device: &Device,
    ) -> Result<BorrowedBuffer<'a>> {
        if ArrayType(spec.dtype, spec.dims).host_size() != Some(output.size()) {
            return Err(Error::internal("memory of another size than the result's"));
        }
        // SAFETY: the memory holds the array and is writable during 'a; the result's drop
        // waits until the plugin is done with it. What is in it is copied at most, not
        // looked at.
        let made = unsafe { self.make_buffer(output.address(), spec, MUTABLE_ZERO_COPY, device, None) }?;
        let (buffer, done) = made;
        Ok(BorrowedBuffer::new(buffer, done))
    }

    /// Whether device memory is host memory.
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Whether plugins use memory at this address in place, as an array of such elements.
    pub fn can_alias(&self, address: *const u8, dtype: DType) -> bool {
        // Types narrower than a byte are packed, so never the same bytes.
        self.in_place
            && address.addr().is_multiple_of(VIEW_ALIGNMENT)
            && !address.is_null()
            && !dtype.is_sub_byte()
    }

    /// # Safety
    /// `data` is the address of a row-major array of this type, readable until
    /// this returns, or, with zero copy, until the event is ready, and writable
    /// too where it is mutable. NULL only for an array without elements.
    unsafe fn make_buffer(
        &self,
        data: *const u8,
        spec: ArraySpec<'_>,
        semantics: sys::PJRT_HostBufferSemantics,
        device: &Device,
        memory: Option<&Memory>,
    ) -> Result<(Buffer, Option<Event>)> {
        let mut args = sys::PJRT_Client_BufferFromHostBuffer_Args::new();
        args.client = self.raw;
        args.data = data.cast();
        args.r#type = spec.dtype.0;
        args.dims = spec.dims.as_ptr();
        args.num_dims = spec.dims.len();
        args.host_buffer_semantics = semantics;
        args.device = device.raw;
        args.memory = memory.map_or(std::ptr::null_mut(), Memory::raw);
        // SAFETY: client and device are alive, the rest is the caller's promise.
        let (made, done) = unsafe {
            call!(self.api, PJRT_Client_BufferFromHostBuffer, &mut args)?;
            let done = Event::from_raw(self.api, args.done_with_host_buffer);
            (Buffer::from_raw(self.api, args.buffer, self.in_place), done)
        };
        match made {
            None => Err(plugin_fault("the plugin returned no buffer, and no error either")),
            // Nobody could tell when the memory is free again.
            Some(_) if done.is_none() && semantics != COPY => {
                Err(plugin_fault("the plugin uses memory in place and does not say until when"))
            }
            Some(buffer) => Ok((buffer, done)),
        }
    }
}

/// What plugins ask of the address of memory that they use in place.
pub const VIEW_ALIGNMENT: usize = 64;

const COPY: sys::PJRT_HostBufferSemantics = sys::PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
const ZERO_COPY: sys::PJRT_HostBufferSemantics = sys::PJRT_HostBufferSemantics_kImmutableZeroCopy;
const MUTABLE_ZERO_COPY: sys::PJRT_HostBufferSemantics = sys::PJRT_HostBufferSemantics_kMutableZeroCopy;

impl Drop for Client {
    fn drop(&mut self) {
        if presence::is_gone() {
            return;
        }
        let mut args = sys::PJRT_Client_Destroy_Args::new();
        args.client = self.raw;
        // SAFETY: the client is alive and ours. An error changes nothing.
        let _ = unsafe { call!(self.api, PJRT_Client_Destroy, &mut args) };
    }
}

/// A last check, where the memory is about to be read: whoever made `data` should
/// have compared it with the array before.
fn check_size(data: &HostInput<'_>, spec: ArraySpec<'_>) -> Result<()> {
    let array = ArrayType(spec.dtype, spec.dims);
    if array.host_size() == Some(data.size()) {
        return Ok(());
    }
    Err(wrong_size(data, spec))
}

#[cold]
fn wrong_size(data: &HostInput<'_>, spec: ArraySpec<'_>) -> Error {
    let array = ArrayType(spec.dtype, spec.dims);
    Error::internal(format!("{} bytes of host memory for {array}", data.size()))
}

pub(super) fn plugin_fault(message: &str) -> Error {
    Error::new(Code::Internal, Origin::Plugin, message)
}
