//! A program with its arguments in place, to be run again and again: a step is one
//! call of the plugin for the program and one for each result of the step before.

use std::mem::ManuallyDrop;

use super::executable::LoadedExecutable;
use super::notice::{Callback, Notice};
use super::{Api, Buffer, BufferRef, Device, Event, presence, sys};
use crate::error::{Code, Error, Origin, Result};

/// The lists that a plugin reads and writes at each step, for one device or several.
///
/// It holds no buffer and no executable: whoever sets an argument keeps it alive until
/// another one is in its place, and the executable as long as this.
pub struct Bound {
    /// The arguments of the first device, then those of the next.
    arguments: Vec<*mut sys::PJRT_Buffer>,
    /// The results of the last step, in the same order; NULL for none.
    results: Vec<*mut sys::PJRT_Buffer>,
    /// When each device ends, where somebody waits for that.
    events: Vec<*mut sys::PJRT_Event>,
    /// Parameters whose memory the program must leave alone.
    kept: Vec<i64>,
    argument_count: usize,
    request: Box<Request>,
    api: &'static Api,
    in_place: bool,
}

/// What the plugin is told at each step, at a place that stays.
struct Request {
    args: sys::PJRT_LoadedExecutable_Execute_Args,
    options: sys::PJRT_ExecuteOptions,
    argument_lists: Vec<*const *mut sys::PJRT_Buffer>,
    result_lists: Vec<*mut *mut sys::PJRT_Buffer>,
}

// SAFETY: PJRT buffers may be used from any thread, and the lists are the struct's own.
unsafe impl Send for Bound {}

impl Bound {
    /// Lists for so many devices and arguments each; `target` is the first of the devices.
    /// With `notify` there is something to wait for after each start, else the program
    /// has ended by then.
    pub fn new(
        loaded: &LoadedExecutable,
        device_count: usize,
        argument_count: usize,
        target: &Device,
        notify: bool,
    ) -> Bound {
        let result_count = loaded.output_count();
        let arguments: Vec<*mut sys::PJRT_Buffer> = vec![std::ptr::null_mut(); device_count * argument_count];
        let mut results: Vec<*mut sys::PJRT_Buffer> = vec![std::ptr::null_mut(); device_count * result_count];
        let mut events: Vec<*mut sys::PJRT_Event> = vec![std::ptr::null_mut(); device_count];
        let kept = Vec::with_capacity(argument_count);
        // The lists stay where they are: nothing is ever added beyond their room.
        let (first_argument, first_result) = (arguments.as_ptr(), results.as_mut_ptr());
        let devices = 0..device_count;
        let argument_list = |device| first_argument.wrapping_add(device * argument_count);
        let result_list = |device| first_result.wrapping_add(device * result_count);
        let mut request = Box::new(Request {
            args: sys::PJRT_LoadedExecutable_Execute_Args::new(),
            options: sys::PJRT_ExecuteOptions::new(),
            argument_lists: devices.clone().map(argument_list).collect(),
            result_lists: devices.map(result_list).collect(),
        });
        request.options.non_donatable_input_indices = kept.as_ptr();
        let args = &mut request.args;
        args.executable = loaded.raw();
        args.num_devices = device_count;
        args.num_args = argument_count;
        args.execute_device = loaded.execute_device(target);
        if notify {
            args.device_complete_events = events.as_mut_ptr();
        }
        Bound {
            arguments,
            results,
            events,
            kept,
            argument_count,
            request,
            api: loaded.api(),
            in_place: loaded.is_in_place(),
        }
    }

    /// Puts an argument in its place. It has to live until another takes that place.
    pub fn set_argument(&mut self, device: usize, index: usize, argument: BufferRef<'_>) {
        self.arguments[device * self.argument_count + index] = argument.raw();
    }

    /// Says whether the memory of a parameter is to be left alone, where the program
    /// could take it.
    pub fn set_kept(&mut self, parameter: usize, keep: bool) {
        let number = parameter as i64;
        match self.kept.iter().position(|&kept| kept == number) {
            // There is room for every parameter.
            None if keep => self.kept.push(number),
            Some(place) if !keep => {
                self.kept.swap_remove(place);
            }
            _ => {}
        }
        self.request.options.num_non_donatable_input_indices = self.kept.len();
    }

    /// Whether there is something to wait for after each start.
    pub fn notifies(&self) -> bool {
        !self.request.args.device_complete_events.is_null()
    }

    /// From now on the program has ended when a step was started, and there is nothing to
    /// wait for.
    pub fn stop_notifying(&mut self) {
        self.request.args.device_complete_events = std::ptr::null_mut();
    }

    /// Starts a step; the results of the one before are gone. Nothing of the plugin may be
    /// gone: the caller has asked [`presence::check`].
    pub fn start(&mut self) -> Result<()> {
        self.destroy_results();
        let Some(execute) = self.api.table().PJRT_LoadedExecutable_Execute else {
            return Err(self.api.missing("PJRT_LoadedExecutable_Execute"));
        };
        let request = &mut *self.request;
        request.args.options = &mut request.options;
        request.args.argument_lists = request.argument_lists.as_ptr();
        request.args.output_lists = request.result_lists.as_ptr();
        // SAFETY: every argument is a living buffer, as `set_argument` demands; all
        // lists have the lengths said and outlive the call.
        self.api.check(unsafe { execute(&mut request.args) })?;
        for result in &self.results {
            if result.is_null() {
                return Err(incomplete());
            }
        }
        Ok(())
    }

    /// Whether every device has ended.
    pub fn is_ready(&self) -> Result<bool> {
        let mut events = self.events.iter().filter(|event| !event.is_null());
        events.try_fold(true, |all, &raw| {
            // SAFETY: the plugin wrote it for this step; the wrapper does not destroy it.
            let event = unsafe { Event::from_raw(self.api, raw) }.map(ManuallyDrop::new);
            Ok(all && event.map_or(Ok(true), |event| event.is_ready())?)
        })
    }

    /// Waits for every device, also when one has failed: the others use the same memory.
    pub fn wait(&mut self) -> Result<()> {
        let mut outcome = Ok(());
        for device in 0..self.events.len() {
            if let Some(event) = self.take_event(device) {
                outcome = outcome.and(event.wait());
            }
        }
        outcome
    }

    /// What [`Bound::notify`] takes.
    pub fn notice(&self, callback: Callback) -> Notice {
        Notice::new(self.api, callback)
    }

    /// Calls the host back when every device has ended; at once if they have.
    pub fn notify(&self, notice: &mut Notice) -> Result<()> {
        let mut events = self.events.iter().filter(|event| !event.is_null());
        let step = notice.step(events.clone().count() + 1);
        let asked = events.try_for_each(|&raw| {
            // SAFETY: as in `is_ready`.
            let event = unsafe { Event::from_raw(self.api, raw) }.map(ManuallyDrop::new);
            event.map_or(Ok(()), |event| event.notify_when_ready(&step))
        });
        step.one_ended(); // the one more that nobody else counts down
        asked
    }

    fn take_event(&mut self, device: usize) -> Option<Event> {
        let raw = std::mem::replace(&mut self.events[device], std::ptr::null_mut());
        // SAFETY: the plugin wrote it for this step, and it is taken once.
        unsafe { Event::from_raw(self.api, raw) }
    }

    /// A result of the last step, to keep; there is none in its place then. Those of the
    /// first device stand first, then those of the next.
    pub fn take_result(&mut self, position: usize) -> Option<Buffer> {
        let raw = std::mem::replace(&mut self.results[position], std::ptr::null_mut());
        // SAFETY: the plugin wrote it, and it is taken once.
        unsafe { Buffer::from_raw(self.api, raw, self.in_place) }
    }

    /// Looks at a result of the last step.
    #[inline]
    pub fn with_result<T>(&self, position: usize, look: impl FnOnce(&Buffer) -> T) -> Option<T> {
        // SAFETY: the plugin wrote it; the wrapper does not destroy it.
        let buffer = unsafe { Buffer::from_raw(self.api, self.results[position], self.in_place) }?;
        let buffer = ManuallyDrop::new(buffer);
        Some(look(&buffer))
    }

    /// Destroys the results of the last step. Nothing of the plugin may be gone.
    pub fn destroy_results(&mut self) {
        for event in &mut self.events {
            if !event.is_null() {
                let raw = std::mem::replace(event, std::ptr::null_mut());
                // SAFETY: the plugin wrote it for a step that nobody waited for.
                drop(unsafe { Event::from_raw(self.api, raw) });
            }
        }
        let Some(destroy) = self.api.table().PJRT_Buffer_Destroy else { return };
        let mut args = sys::PJRT_Buffer_Destroy_Args::new();
        for result in &mut self.results {
            let raw = std::mem::replace(result, std::ptr::null_mut());
            if raw.is_null() {
                continue;
            }
            args.buffer = raw;
            // SAFETY: the plugin wrote the buffer, which nobody took.
            let error = unsafe { destroy(&mut args) };
            if !error.is_null() {
                let _ = self.api.check(error); // it changes nothing
            }
        }
    }
}

#[cold]
fn incomplete() -> Error {
    let message = "the plugin did not give every result, and no error";
    Error::new(Code::Internal, Origin::Plugin, message)
}

impl Drop for Bound {
    fn drop(&mut self) {
        if !presence::is_gone() {
            self.destroy_results();
        }
    }
}
