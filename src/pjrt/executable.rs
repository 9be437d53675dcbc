//! Compiled programs: what they tell of themselves, and running them.

use std::ffi::c_char;

use smallvec::SmallVec;

use super::{Api, Buffer, BufferRef, Event, call, list, owned_text, presence, sys};
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};
use crate::memory;

/// A compiled program that is ready to run.
pub struct LoadedExecutable {
    api: &'static Api,
    raw: *mut sys::PJRT_LoadedExecutable,
    /// Its results are in host memory.
    in_place: bool,
    /// How many results the plugin writes.
    output_count: usize,
}

// SAFETY: PJRT executables may be used from any thread.
unsafe impl Send for LoadedExecutable {}
// SAFETY: as above.
unsafe impl Sync for LoadedExecutable {}

/// The type and shape of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The element type.
    pub dtype: DType,
    /// Elements in each dimension.
    pub dims: Vec<i64>,
}

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
        let mut loaded = LoadedExecutable { api, raw, in_place, output_count: 0 };
        let output_count = loaded.executable()?.output_count()?;
        loaded.output_count = output_count;
        Ok(loaded)
    }

    /// The part that tells what was compiled.
    pub fn executable(&self) -> Result<Executable<'_>> {
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

/// What a compiled program tells of itself. Must not outlive what it came from.
pub struct Executable<'a> {
    loaded: &'a LoadedExecutable,
    raw: *mut sys::PJRT_Executable,
}

impl Executable<'_> {
    /// The program's name.
    pub fn name(&self) -> Result<String> {
        let mut args = sys::PJRT_Executable_Name_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive; the text is copied at once.
        unsafe {
            call!(self.loaded.api, PJRT_Executable_Name, &mut args)?;
            Ok(owned_text(args.executable_name, args.executable_name_size))
        }
    }

    fn output_count(&self) -> Result<usize> {
        let mut args = sys::PJRT_Executable_NumOutputs_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive.
        unsafe { call!(self.loaded.api, PJRT_Executable_NumOutputs, &mut args) }?;
        Ok(args.num_outputs)
    }

    /// Types and shapes of the results.
    pub fn output_shapes(&self) -> Result<Vec<Shape>> {
        let api = self.loaded.api;
        let mut types = sys::PJRT_Executable_OutputElementTypes_Args::new();
        types.executable = self.raw;
        let mut dims = sys::PJRT_Executable_OutputDimensions_Args::new();
        dims.executable = self.raw;
        // SAFETY: the executable is alive and owns the lists, which are as long
        // as they say; dims holds the sum of all ranks.
        let (types, ranks, mut dims) = unsafe {
            call!(api, PJRT_Executable_OutputElementTypes, &mut types)?;
            call!(api, PJRT_Executable_OutputDimensions, &mut dims)?;
            let types = list(types.output_types, types.num_output_types);
            let ranks = list(dims.dim_sizes, dims.num_outputs);
            (types, ranks, list(dims.dims, ranks.iter().sum()))
        };
        if types.len() != ranks.len() {
            let message = format!("the plugin tells {} result types and {} shapes", types.len(), ranks.len());
            return Err(Error::new(Code::Internal, Origin::Plugin, message));
        }
        let shapes = types.iter().zip(ranks).map(|(&dtype, &rank)| {
            let (own, rest) = dims.split_at(rank);
            dims = rest;
            Shape { dtype: DType(dtype), dims: own.to_vec() }
        });
        Ok(shapes.collect())
    }

    /// The program after optimization, in the format that the plugin names:
    /// `(format, bytes)`.
    pub fn optimized_program(&self) -> Result<(String, Vec<u8>)> {
        let mut program = sys::PJRT_Program::new();
        let mut args = sys::PJRT_Executable_OptimizedProgram_Args::new();
        args.executable = self.raw;
        args.program = &mut program;
        let mut code;
        // SAFETY: the executable is alive. The first call tells the size, the
        // second fills memory of that size; the format's text is copied at once.
        unsafe {
            call!(self.loaded.api, PJRT_Executable_OptimizedProgram, &mut args)?;
            code = memory::zeroed(program.code_size)?;
            program.code = code.as_mut_ptr().cast::<c_char>();
            if !code.is_empty() {
                call!(self.loaded.api, PJRT_Executable_OptimizedProgram, &mut args)?;
            }
            Ok((owned_text(program.format, program.format_size), code))
        }
    }
}

impl Drop for Executable<'_> {
    fn drop(&mut self) {
        if presence::is_gone() {
            return;
        }
        let mut args = sys::PJRT_Executable_Destroy_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive and ours, and goes before the loaded
        // one. An error changes nothing.
        let _ = unsafe { call!(self.loaded.api, PJRT_Executable_Destroy, &mut args) };
    }
}
