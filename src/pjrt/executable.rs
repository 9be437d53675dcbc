//! Compiled programs, ready to run.

use smallvec::SmallVec;

use super::{Api, Buffer, BufferRef, Device, Event, Executable, call, presence, sys};
use crate::error::{Code, Error, Origin, Result};

/// A compiled program that is ready to run.
pub struct LoadedExecutable {
    api: &'static Api,
    raw: *mut sys::PJRT_LoadedExecutable,
    /// Its results are in host memory.
    in_place: bool,
    /// How many results the plugin writes.
    output_count: usize,
    /// Where it runs, if it has no device of its own; else NULL.
    execute_device: *mut sys::PJRT_Device,
}

// SAFETY: PJRT executables may be used from any thread.
unsafe impl Send for LoadedExecutable {}
// SAFETY: as above.
unsafe impl Sync for LoadedExecutable {}

/// Most programs have no more arguments or results than this; longer lists go to
/// the heap.
pub const INLINE: usize = 16;

/// The results of a program, in order.
pub type Results = SmallVec<[Buffer; INLINE]>;

impl LoadedExecutable {
    /// Takes an executable over; an error for NULL.
    ///
    /// # Safety
    /// `raw` is NULL or an executable of this plugin that nobody else destroys.
    pub(super) unsafe fn from_raw(
        api: &'static Api,
        raw: *mut sys::PJRT_LoadedExecutable,
        in_place: bool,
    ) -> Result<LoadedExecutable> {
        if raw.is_null() {
            let message = "the plugin returned no executable, and no error either";
            return Err(Error::new(Code::Internal, Origin::Plugin, message));
        }
        let mut loaded =
            LoadedExecutable { api, raw, in_place, output_count: 0, execute_device: std::ptr::null_mut() };
        let output_count = loaded.executable()?.output_count()?;
        loaded.output_count = output_count;
        Ok(loaded)
    }

    pub(super) fn api(&self) -> &'static Api {
        self.api
    }

    pub(super) fn raw(&self) -> *mut sys::PJRT_LoadedExecutable {
        self.raw
    }

    pub(super) fn execute_device(&self) -> *mut sys::PJRT_Device {
        self.execute_device
    }

    pub(super) fn is_in_place(&self) -> bool {
        self.in_place
    }

    pub(super) fn output_count(&self) -> usize {
        self.output_count
    }

    /// The part that tells what was compiled.
    pub fn executable(&self) -> Result<Executable<'_>> {
        presence::check()?;
        let mut args = sys::PJRT_LoadedExecutable_GetExecutable_Args::new();
        args.loaded_executable = self.raw;
        // SAFETY: the executable is alive.
        unsafe { call!(self.api, PJRT_LoadedExecutable_GetExecutable, &mut args) }?;
        if args.executable.is_null() {
            let message = "the plugin returned no description of an executable, and no error either";
            return Err(Error::new(Code::Internal, Origin::Plugin, message));
        }
        Ok(Executable { loaded: self, raw: args.executable })
    }

    /// Says where a program runs that was compiled for any device. All others have a
    /// device of their own.
    pub fn run_on(&mut self, device: &Device) {
        let mut args = sys::PJRT_LoadedExecutable_AddressableDevices_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive.
        let asked = unsafe { call!(self.api, PJRT_LoadedExecutable_AddressableDevices, &mut args) };
        if asked.is_ok() && args.num_addressable_devices == 0 {
            // Devices live as long as the client, and so longer than this.
            self.execute_device = device.raw;
        }
    }

    /// Starts the program on its device.
    ///
    /// With `notify` the event says when the program has ended.
    pub fn execute(&self, arguments: &[BufferRef<'_>], notify: bool) -> Result<(Results, Option<Event>)> {
        let mut options = sys::PJRT_ExecuteOptions::new();
        let argument_list = arguments.as_ptr().cast::<*mut sys::PJRT_Buffer>();
        let mut results: SmallVec<[*mut sys::PJRT_Buffer; INLINE]> = SmallVec::new();
        results.resize(self.output_count, std::ptr::null_mut());
        let result_list = results.as_mut_ptr();
        let mut event = std::ptr::null_mut();
        let mut args = sys::PJRT_LoadedExecutable_Execute_Args::new();
        args.executable = self.raw;
        args.options = &mut options;
        args.argument_lists = &argument_list;
        args.num_devices = 1;
        args.num_args = arguments.len();
        args.output_lists = &result_list;
        args.execute_device = self.execute_device;
        if notify {
            args.device_complete_events = &mut event;
        }
        // SAFETY: a `BufferRef` is the plugin's pointer to a living buffer; all
        // lists have the lengths said and outlive the call.
        let result = unsafe { call!(self.api, PJRT_LoadedExecutable_Execute, &mut args) };
        // SAFETY: what the plugin wrote is ours, also when only part was written.
        let (event, buffers) = unsafe {
            let buffers = results.iter().filter_map(|&raw| Buffer::from_raw(self.api, raw, self.in_place));
            (Event::from_raw(self.api, event), buffers.collect::<Results>())
        };
        result?;
        if buffers.len() != self.output_count {
            let (got, due) = (buffers.len(), self.output_count);
            let message = format!("the plugin gave {got} of {due} results, and no error");
            return Err(Error::new(Code::Internal, Origin::Plugin, message));
        }
        Ok((buffers, event))
    }
}

impl Drop for LoadedExecutable {
    fn drop(&mut self) {
        if presence::is_gone() {
            return;
        }
        let mut args = sys::PJRT_LoadedExecutable_Destroy_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive and ours. An error changes nothing.
        let _ = unsafe { call!(self.api, PJRT_LoadedExecutable_Destroy, &mut args) };
    }
}
