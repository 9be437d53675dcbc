//! Calls: bind a program's arguments once, then run it again and again.
//!
//! The fast way. A call owns memory for inputs, which a CPU plugin reads in place; the
//! host writes it between steps. Each step is one crossing: nothing is allocated, looked
//! up or locked (but bound buffers that the program may take, and all on several devices).
//! Outputs are read in place. On other devices the same functions copy.
//!
//! A call is for one thread at a time (FAILED_PRECONDITION otherwise); for several
//! threads make one call each, of the same executable. While a step is in flight its
//! memory is the plugin's: the functions that would give it out refuse.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::buffer::cyxla_buffer;
use super::error::cyxla_error;
use super::executable::cyxla_executable;
use super::guard::{guard, guard_step, value, value_step};
use super::options::cyxla_options;
use super::pointer::{self, Out};
use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{Callback, HostTarget};
use crate::runtime::Call;

/// A prepared call of an executable. One thread at a time; keeps the executable alive.
pub struct cyxla_call {
    call: UnsafeCell<Call>,
    is_busy: AtomicBool,
}

impl cyxla_call {
    /// Uses the call, unless another thread does.
    #[inline]
    fn with<T>(&self, work: impl FnOnce(&mut Call) -> Result<T>) -> Result<T> {
        if self.is_busy.swap(true, Ordering::Acquire) {
            return Err(in_use());
        }
        let in_use = InUse(&self.is_busy);
        // SAFETY: whoever set the mark has the call alone until the mark is gone.
        let outcome = work(unsafe { &mut *self.call.get() });
        drop(in_use);
        outcome
    }
}

#[cold]
fn in_use() -> Error {
    let message = "the call is in use: by another thread, or by the function that runs this callback";
    Error::new(Code::FailedPrecondition, Origin::Caller, message).hint("make one call for each thread")
}

/// The mark that a call is in use; gone also after a panic.
struct InUse<'a>(&'a AtomicBool);

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Prepares an executable for being run again and again.
///
/// An executable for several devices has inputs and outputs on each of them; a step runs
/// all at once.
///
/// @param executable an executable.
/// @param options    NULL, or options: `device` (int), where to run an executable that was compiled with portable=true.
/// @param out        receives a call to free with cyxla_call_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (an option).
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_new(
    executable: *const cyxla_executable,
    options: *const cyxla_options,
    out: *mut *mut cyxla_call,
) -> *mut cyxla_error {
    guard("cyxla_call_new", || {
        // SAFETY: NULL or living handles; NULL or writable.
        let (executable, options, out) = unsafe {
            (pointer::reference(executable, "executable")?, pointer::optional(options), Out::new(out, "out")?)
        };
        let options = options.map(|options| &options.options);
        let call = UnsafeCell::new(Call::new(&executable.executable, options)?);
        out.set_handle(cyxla_call { call, is_busy: AtomicBool::new(false) });
        Ok(())
    })
}

/// Frees a call, waiting for a step in flight. Buffers that were taken live on.
///
/// @param call a call, or NULL.
/// @threads safe, once nobody uses the call.   @blocks until a step in flight has ended.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_free(call: *mut cyxla_call) {
    // SAFETY: NULL or a call that was not freed before.
    value((), || unsafe { pointer::free(call) });
}

/// Returns the memory of an input, to be written between steps.
///
/// The same address each time, aligned to 64 bytes, with zeros in it at first; row-major.
/// The input is read from there from now on, at each step: rewrite only what changes.
/// PRED elements are bytes of 0 and 1.
///
/// @param call   a call, or NULL.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param index  the input's position, from 0.
/// @param size   receives bytes; may be NULL.
/// @return memory of the call; NULL if there is no such input, no memory, or a step is in flight.
/// @threads one at a time.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_input(
    call: *mut cyxla_call,
    device: usize,
    index: usize,
    size: *mut usize,
) -> *mut c_void {
    // SAFETY: NULL or a living call.
    let call = unsafe { pointer::optional(call.cast_const()) };
    let found = value(None, || call?.with(|call| call.input(device, index)).ok());
    let Some((address, bytes)) = found else { return std::ptr::null_mut() };
    // SAFETY: NULL or writable.
    unsafe { pointer::set(size, bytes) };
    address.cast()
}

/// Uses a buffer for an input, from now on.
///
/// The buffer is kept alive. One that the program may take (see
/// cyxla_executable_input_is_donated) is gone after a step: bind another, or feed.
///
/// @param call   a call.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param index  the input's position, from 0.
/// @param buffer a buffer of the input's type, on the same device.
/// @return NULL, or an owned error: INVALID_ARGUMENT (no such input, type, device), FAILED_PRECONDITION (donated, or a step is in flight).
/// @threads one at a time.   @blocks no, unless the buffer is not row-major: while it is copied.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_bind(
    call: *mut cyxla_call,
    device: usize,
    index: usize,
    buffer: *const cyxla_buffer,
) -> *mut cyxla_error {
    guard("cyxla_call_bind", || {
        // SAFETY: NULL or living handles.
        let (call, buffer) = unsafe {
            (pointer::reference(call.cast_const(), "call")?, pointer::reference(buffer, "buffer")?)
        };
        call.with(|call| call.bind(device, index, &buffer.buffer))
    })
}

/// Says whether a bound buffer survives the steps of a program that may take it.
///
/// Such a program (see cyxla_executable_input_is_donated) then works on a copy. Holds
/// until the input is bound again; for several devices it holds on all as soon as it does
/// on one. What is fed is never kept.
///
/// @param call   a call.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param index  the input's position, from 0.
/// @param keep   whether the buffer is to stay.
/// @return NULL, or an owned error: INVALID_ARGUMENT (no such input), FAILED_PRECONDITION (no buffer is bound, or a step is in flight).
/// @threads one at a time.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_keep(
    call: *mut cyxla_call,
    device: usize,
    index: usize,
    keep: bool,
) -> *mut cyxla_error {
    guard("cyxla_call_keep", || {
        // SAFETY: NULL or a living call.
        let call = unsafe { pointer::reference(call.cast_const(), "call")? };
        call.with(|call| call.keep(device, index, keep))
    })
}

/// Makes an output of each step an input of the next, which stays on the device.
///
/// The first step takes what the input has: its memory, or the buffer that was bound.
/// Calling this again starts over from there, as is needed after a step that failed.
/// cyxla_call_input and cyxla_call_bind end it.
///
/// @param call   a call.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param output the output's position, from 0.
/// @param input  the input's position, from 0; of the same type.
/// @return NULL, or an owned error: INVALID_ARGUMENT (no such input or output, types, or one of them is fed already), FAILED_PRECONDITION (a step is in flight).
/// @threads one at a time.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_feed(
    call: *mut cyxla_call,
    device: usize,
    output: usize,
    input: usize,
) -> *mut cyxla_error {
    guard("cyxla_call_feed", || {
        // SAFETY: NULL or a living call.
        let call = unsafe { pointer::reference(call.cast_const(), "call")? };
        call.with(|call| call.feed(device, output, input))
    })
}

/// Makes each step write an output to memory of the caller.
///
/// The output is there when cyxla_call_run or cyxla_call_wait returns, row-major;
/// cyxla_call_output then gives the same memory. Nobody else may use the memory while a
/// step runs: a program compiled with results_in_place=true writes there from the start,
/// and what a step that failed leaves there is unspecified. Call this between steps, before
/// the next one: if the last step wrote to the old memory itself, its output is gone.
///
/// @param call   a call.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param index  the output's position, from 0.
/// @param data   memory that stays until another takes its place or the call is freed, at any address; NULL to end this.
/// @param size   in bytes: exactly cyxla_executable_output_size; 0 with NULL.
/// @return NULL, or an owned error: INVALID_ARGUMENT (no such output, size), FAILED_PRECONDITION (a step is in flight).
/// @threads one at a time.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_bind_output(
    call: *mut cyxla_call,
    device: usize,
    index: usize,
    data: *mut c_void,
    size: usize,
) -> *mut cyxla_error {
    guard("cyxla_call_bind_output", || {
        // SAFETY: NULL or a living call.
        let call = unsafe { pointer::reference(call.cast_const(), "call")? };
        // SAFETY: the memory is the caller's to give, until it is taken back.
        let target = (!data.is_null()).then(|| unsafe { HostTarget::from_raw(data, size) });
        if data.is_null() && size != 0 {
            return Err(Error::invalid_argument("data is NULL, and the size is not 0").parameter("size"));
        }
        call.with(|call| call.bind_output(device, index, target))
    })
}

/// Runs a step: cyxla_call_start and cyxla_call_wait in one.
///
/// @param call a call.
/// @return NULL, or an owned error: FAILED_PRECONDITION (an input was not set or was donated, a step is in flight, a forked child), INVALID_ARGUMENT (a PRED byte other than 0 and 1), or the plugin's own. Results of the step before are gone, also after an error.
/// @threads one at a time.   @blocks until the program has ended.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_run(call: *mut cyxla_call) -> *mut cyxla_error {
    guard_step("cyxla_call_run", || {
        // SAFETY: NULL or a living call.
        let call = unsafe { pointer::reference(call.cast_const(), "call")? };
        call.with(Call::run)
    })
}

/// Starts a step.
///
/// On a synchronous runtime (cyxla_runtime_info_is_synchronous) the program has ended
/// on return; cyxla_call_wait has to be called all the same.
///
/// @param call a call.
/// @return NULL, or an owned error, as cyxla_call_run.
/// @threads one at a time.   @blocks on a synchronous runtime, until the program has ended.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_start(call: *mut cyxla_call) -> *mut cyxla_error {
    guard_step("cyxla_call_start", || {
        // SAFETY: NULL or a living call.
        let call = unsafe { pointer::reference(call.cast_const(), "call")? };
        call.with(Call::start)
    })
}

/// Sets what is called when a step that cyxla_call_start started has ended.
///
/// Also when it has failed: cyxla_call_wait tells, and does not block any more. The
/// function may run inside cyxla_call_start or on a thread of the plugin, a little after
/// cyxla_call_wait has returned, and so after another function was set or the call freed.
/// It must not use the call, nor run, wait for or free anything: it should wake the thread
/// that does. Not called for cyxla_call_run, in a forked child or while the process ends.
///
/// @param call           a call.
/// @param done           called once for each step; NULL for nothing.
/// @param user_data      what both functions get.
/// @param free_user_data called once when `done` is not called any more, from any thread; at once if `done` is NULL; may be NULL. Not called after an error.
/// @return NULL, or an owned error: FAILED_PRECONDITION (a step is in flight).
/// @threads one at a time.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_set_done(
    call: *mut cyxla_call,
    done: Option<unsafe extern "C" fn(user_data: *mut c_void)>,
    user_data: *mut c_void,
    free_user_data: Option<unsafe extern "C" fn(user_data: *mut c_void)>,
) -> *mut cyxla_error {
    guard("cyxla_call_set_done", || {
        // SAFETY: NULL or a living call; functions as the contract says.
        unsafe {
            let call = pointer::reference(call.cast_const(), "call")?;
            let old = call.with(|call| {
                call.set_callback(|| done.map(|done| Callback::from_raw(done, user_data, free_user_data)))
            });
            drop(old?); // when the call can be used again, since the caller's function runs
            if let (None, Some(free)) = (done, free_user_data) {
                free(user_data);
            }
        }
        Ok(())
    })
}

/// Waits for the step that was started. Without one it returns at once.
///
/// @param call       a call.
/// @param timeout_ms how long to wait at most, in milliseconds; negative for ever.
/// @return NULL, or an owned error: DEADLINE_EXCEEDED (it is still running; wait again), or the plugin's own.
/// @threads one at a time.   @blocks until the program has ended or the time is over.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_wait(call: *mut cyxla_call, timeout_ms: i64) -> *mut cyxla_error {
    guard_step("cyxla_call_wait", || {
        // SAFETY: NULL or a living call.
        let call = unsafe { pointer::reference(call.cast_const(), "call")? };
        let limit = u64::try_from(timeout_ms).ok().map(Duration::from_millis);
        call.with(|call| call.wait(limit))
    })
}

/// Tells whether the step that was started has ended.
///
/// Its error comes from cyxla_call_wait, which does not block then.
///
/// @param call a call, or NULL.
/// @return true if no step is running; false while the call is in use by another thread.
/// @threads one at a time.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_is_done(call: *mut cyxla_call) -> bool {
    // SAFETY: NULL or a living call.
    let call = unsafe { pointer::optional(call.cast_const()) };
    value(true, || call.is_none_or(|call| call.with(|call| Ok(call.is_done())).unwrap_or(false)))
}

/// Returns an output of the last step.
///
/// In place where the device's memory is the host's, else a copy of the call's. Row-major;
/// elements narrower than a byte take one byte each.
///
/// @param call   a call, or NULL.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param index  the output's position, from 0.
/// @param size   receives bytes; may be NULL.
/// @return memory that is good until the next step, cyxla_call_take or cyxla_call_free; NULL if there is no such output, it has no elements, the last step failed or is in flight.
/// @threads one at a time.   @blocks while it is copied, if it is.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_output(
    call: *mut cyxla_call,
    device: usize,
    index: usize,
    size: *mut usize,
) -> *const c_void {
    // SAFETY: NULL or a living call.
    let call = unsafe { pointer::optional(call.cast_const()) };
    let found = value_step(None, || call?.with(|call| call.output(device, index)).ok());
    let Some((address, bytes)) = found else { return std::ptr::null() };
    // SAFETY: NULL or writable.
    unsafe { pointer::set(size, bytes) };
    address.cast()
}

/// Takes an output of the last step, as a buffer.
///
/// @param call   a call.
/// @param device position in the executable's list of devices; 0 if it has one.
/// @param index  the output's position, from 0.
/// @param out    receives a buffer to free with cyxla_buffer_free.
/// @return NULL, or an owned error: INVALID_ARGUMENT (no such output), FAILED_PRECONDITION (it was taken, it is fed to the next step, the last step failed or is in flight).
/// @threads one at a time.   @blocks while it is copied, if it was written in place.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_call_take(
    call: *mut cyxla_call,
    device: usize,
    index: usize,
    out: *mut *mut cyxla_buffer,
) -> *mut cyxla_error {
    guard("cyxla_call_take", || {
        // SAFETY: NULL or a living call; NULL or writable.
        let (call, out) = unsafe { (pointer::reference(call.cast_const(), "call")?, Out::new(out, "out")?) };
        let buffer = Arc::new(call.with(|call| call.take(device, index))?);
        out.set_handle(cyxla_buffer { buffer });
        Ok(())
    })
}
