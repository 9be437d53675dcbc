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
    /// It has no devices of its own: each run says where.
    is_portable: bool,
}

// SAFETY: PJRT executables may be used from any thread.
unsafe impl Send for LoadedExecutable {}
// SAFETY: as above.
unsafe impl Sync for LoadedExecutable {}

/// Most programs have no more arguments or results than this; longer lists go to
/// the heap.
pub const INLINE: usize = 16;

/// The results of a program, in order: those of the first device, then those of the next.
pub type Results = SmallVec<[Buffer; INLINE]>;

/// What says that a program has ended, one for each device at most.
pub type Events = SmallVec<[Event; 1]>;

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
        let mut loaded = LoadedExecutable { api, raw, in_place, output_count: 0, is_portable: false };
        let output_count = loaded.executable()?.output_count()?;
        loaded.output_count = output_count;
        loaded.is_portable = loaded.has_no_devices();
        Ok(loaded)
    }

    pub(super) fn api(&self) -> &'static Api {
        self.api
    }

    pub(super) fn raw(&self) -> *mut sys::PJRT_LoadedExecutable {
        self.raw
    }

    /// What the plugin is told of where to run: only an executable without devices of
    /// its own is told. Devices live as long as the client, and so longer than this.
    pub(super) fn execute_device(&self, target: &Device) -> *mut sys::PJRT_Device {
        if self.is_portable { target.raw } else { std::ptr::null_mut() }
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

    /// Whether it was compiled for any device. All others have devices of their own.
    pub fn is_portable(&self) -> bool {
        self.is_portable
    }

    fn has_no_devices(&self) -> bool {
        let mut args = sys::PJRT_LoadedExecutable_AddressableDevices_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive.
        let asked = unsafe { call!(self.api, PJRT_LoadedExecutable_AddressableDevices, &mut args) };
        asked.is_ok() && args.num_addressable_devices == 0
    }

    /// Starts the program on its devices, of which there are so many, or on `target` if
    /// it is portable. `arguments` are those of the first device, then those of the next.
    /// `results` are added in the same order, after an error those that there are.
    ///
    /// With `events` the plugin says there when each device has ended.
    pub fn execute(
        &self,
        arguments: &[BufferRef<'_>],
        device_count: usize,
        target: &Device,
        results: &mut Results,
        events: Option<&mut Events>,
    ) -> Result<()> {
        assert!(device_count > 0 && arguments.len().is_multiple_of(device_count), "equal lists");
        let argument_count = arguments.len() / device_count;
        let result_count = device_count * self.output_count;
        let mut made: SmallVec<[*mut sys::PJRT_Buffer; INLINE]> = SmallVec::new();
        made.resize(result_count, std::ptr::null_mut());
        let (first_argument, first_result) =
            (arguments.as_ptr().cast::<*mut sys::PJRT_Buffer>(), made.as_mut_ptr());
        let mut argument_lists: SmallVec<[_; 1]> = SmallVec::new();
        let mut result_lists: SmallVec<[_; 1]> = SmallVec::new();
        for device in 0..device_count {
            argument_lists.push(first_argument.wrapping_add(device * argument_count));
            result_lists.push(first_result.wrapping_add(device * self.output_count));
        }
        let mut options = sys::PJRT_ExecuteOptions::new();
        let mut args = sys::PJRT_LoadedExecutable_Execute_Args::new();
        args.executable = self.raw;
        args.options = &mut options;
        args.argument_lists = argument_lists.as_ptr();
        args.num_devices = device_count;
        args.num_args = argument_count;
        args.output_lists = result_lists.as_ptr();
        args.execute_device = self.execute_device(target);
        let mut ends: SmallVec<[*mut sys::PJRT_Event; 1]> = SmallVec::new();
        if events.is_some() {
            ends.resize(device_count, std::ptr::null_mut());
            args.device_complete_events = ends.as_mut_ptr();
        }
        // SAFETY: a `BufferRef` is the plugin's pointer to a living buffer; all
        // lists have the lengths said and outlive the call.
        let outcome = unsafe { call!(self.api, PJRT_LoadedExecutable_Execute, &mut args) };
        for &raw in &made {
            // SAFETY: what the plugin wrote is ours, also when only part was written.
            if let Some(buffer) = unsafe { Buffer::from_raw(self.api, raw, self.in_place) } {
                results.push(buffer);
            }
        }
        if let Some(events) = events {
            // SAFETY: as above.
            events.extend(ends.iter().filter_map(|&raw| unsafe { Event::from_raw(self.api, raw) }));
        }
        outcome?;
        if results.len() != result_count {
            let message =
                format!("the plugin gave {} of {result_count} results, and no error", results.len());
            return Err(Error::new(Code::Internal, Origin::Plugin, message));
        }
        Ok(())
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
