//! Device arrays, and running programs on them.

use std::ffi::c_void;
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use smallvec::SmallVec;

use super::executable::Inner;
use super::run::{check_bools, copy_row_major};
use super::{Executable, Runtime, runtime};
use crate::compile::host_size;
use crate::dtype::{ArrayType, DType};
use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{
    self, ArraySpec, BufferRef, HostInput, HostOutput, HostStrided, HostView, INLINE, Layout, fork,
};

/// An array in the memory of a device. Its contents never change, but a program
/// that it is donated to takes them.
pub struct Buffer {
    runtime: &'static Runtime,
    /// `None` once it was donated. Locked for writing only by a program that it may
    /// be donated to, so that nobody reads what that program overwrites.
    contents: RwLock<Option<pjrt::Buffer>>,
    dtype: DType,
    dims: Vec<i64>,
    host_size: usize,
    device: usize,
    layout: Layout,
    is_view: bool,
}

/// NumPy's own limit; plugins have none and use stack for each dimension.
const MOST_DIMS: usize = 64;

impl Buffer {
    /// Checks how many dimensions an array has.
    pub fn check_rank(rank: usize) -> Result<()> {
        if rank <= MOST_DIMS {
            return Ok(());
        }
        let message = format!("an array of {rank} dimensions; at most {MOST_DIMS} are possible");
        Err(Error::invalid_argument(message).parameter("rank"))
    }

    /// Checks the type of an array in host memory: its size there, in bytes.
    pub fn check_type(dtype: DType, dims: &[i64]) -> Result<usize> {
        if dtype.host_size() == 0 {
            let message = format!("dtype {} is no element type that a buffer can have", dtype.0);
            return Err(Error::invalid_argument(message).parameter("dtype"));
        }
        Buffer::check_rank(dims.len())?;
        host_size(dtype, dims).ok_or_else(|| {
            let array = ArrayType(dtype, dims);
            let message = if dims.iter().any(|&dim| dim < 0) {
                format!("{array} has a negative dimension")
            } else {
                format!("{array} does not fit into memory")
            };
            Error::invalid_argument(message).parameter("dims")
        })
    }

    /// Checks strides: whole elements, and no element further away than memory goes.
    pub fn check_strides(dtype: DType, dims: &[i64], byte_strides: &[i64]) -> Result<()> {
        let element = dtype.host_size() as i64;
        let refuse = |message: String| Err(Error::invalid_argument(message).parameter("byte_strides"));
        let mut reach = 0i64;
        for (index, (&dim, &stride)) in dims.iter().zip(byte_strides).enumerate() {
            if stride % element != 0 {
                let name = dtype.name();
                return refuse(format!(
                    "the stride of dimension {index} is {stride} bytes, no multiple of the {element} that an element of {name} takes"
                ));
            }
            let span = stride.checked_abs().and_then(|stride| stride.checked_mul((dim - 1).max(0)));
            match span.and_then(|span| reach.checked_add(span)) {
                Some(sum) if sum <= isize::MAX as i64 - element => reach = sum,
                _ => {
                    return refuse(format!(
                        "the stride of dimension {index}, {stride} bytes, leads out of memory"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Copies a row-major array from host memory, of the size that `check_type` gave.
    pub fn from_host(device: usize, dtype: DType, dims: &[i64], data: HostInput<'_>) -> Result<Buffer> {
        let runtime = runtime(&[])?;
        check_plugin_takes(runtime, dtype)?;
        if dtype == DType::PRED {
            check_bools(&data).map_err(|error| error.parameter("data"))?;
        }
        let made = runtime.client.copy_from_host(data, ArraySpec { dtype, dims }, runtime.device(device)?)?;
        Buffer::new(runtime, made, dtype, dims, device, false)
    }

    /// Copies an array whose elements lie apart.
    pub fn from_strided(device: usize, dtype: DType, dims: &[i64], data: &HostStrided<'_>) -> Result<Buffer> {
        let size = Buffer::check_type(dtype, dims)?;
        Buffer::from_host(device, dtype, dims, HostInput::new(&data.gather(size)?))
    }

    /// Takes a row-major array that the host lends; `size` is what `check_type`
    /// gave. After an error nothing is released.
    pub fn view_host(
        device: usize,
        dtype: DType,
        dims: &[i64],
        size: usize,
        view: HostView,
    ) -> Result<Buffer> {
        let runtime = runtime(&[])?;
        check_plugin_takes(runtime, dtype)?;
        let target = runtime.device(device)?;
        // Booleans are checked once, so nobody may change them afterwards; an array
        // without elements has no memory to lend.
        if dtype == DType::PRED || size == 0 {
            let buffer = Buffer::from_host(device, dtype, dims, view.as_input(size))?;
            view.release();
            return Ok(buffer);
        }
        let (made, is_view) = runtime.client.view_host(view, ArraySpec { dtype, dims }, target)?;
        Buffer::new(runtime, made, dtype, dims, device, is_view)
    }

    fn new(
        runtime: &'static Runtime,
        made: pjrt::Buffer,
        dtype: DType,
        dims: &[i64],
        device: usize,
        is_view: bool,
    ) -> Result<Buffer> {
        let layout = made.layout()?;
        let host_size = Buffer::check_type(dtype, dims)?;
        Ok(Buffer {
            runtime,
            contents: RwLock::new(Some(made)),
            dtype,
            dims: dims.to_vec(),
            host_size,
            device,
            layout,
            is_view,
        })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Elements in each dimension.
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// Bytes that it takes in host memory, row-major.
    pub fn host_size(&self) -> usize {
        self.host_size
    }

    /// Position of its device.
    pub fn device(&self) -> usize {
        self.device
    }

    /// Whether it uses the host's memory in place.
    pub fn is_view(&self) -> bool {
        self.is_view
    }

    /// Whether a program has taken its contents.
    pub fn is_donated(&self) -> bool {
        self.read().is_none()
    }

    /// Blocks until the contents are there, or gives the error of the program that
    /// should have made them.
    pub fn wait(&self) -> Result<()> {
        fork::check()?;
        alive(&self.read())?.wait()
    }

    /// Copies the contents to host memory, row-major, and waits for that.
    pub fn to_host(&self, mut output: HostOutput<'_>) -> Result<()> {
        fork::check()?;
        if output.size() != self.host_size {
            let (array, size) = (ArrayType(self.dtype, &self.dims), self.host_size);
            let message = format!("the buffer is {array} and takes {size} bytes, got {}", output.size());
            return Err(Error::invalid_argument(message).parameter("size"));
        }
        let contents = self.read();
        let buffer = alive(&contents)?;
        copy_row_major(buffer, ArrayType(self.dtype, &self.dims), &self.layout, &mut output)
    }

    /// The contents in place, where they are in host memory, row-major, and ready
    /// or soon so. Valid until the buffer is freed or donated.
    pub fn data(&self) -> Option<*const c_void> {
        fork::check().ok()?;
        if self.host_size == 0 || self.dtype.is_sub_byte() || !self.layout.is_row_major(&self.dims) {
            return None;
        }
        let contents = self.read();
        let bytes = contents.as_ref()?.bytes(self.host_size).ok()??;
        Some(bytes.as_ptr().cast())
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<pjrt::Buffer>> {
        // Nothing that can panic runs while it is locked for writing.
        self.contents.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<pjrt::Buffer>> {
        self.contents.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The contents as bytes in row-major order.
    fn row_major_bytes(&self, buffer: &pjrt::Buffer) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.host_size];
        copy_row_major(
            buffer,
            ArrayType(self.dtype, &self.dims),
            &self.layout,
            &mut HostOutput::new(&mut bytes),
        )?;
        Ok(bytes)
    }
}

fn alive(contents: &Option<pjrt::Buffer>) -> Result<&pjrt::Buffer> {
    contents.as_ref().ok_or_else(|| {
        let message = "the buffer was donated to a program, which has taken its contents";
        Error::new(Code::FailedPrecondition, Origin::Caller, message)
            .hint("keep a copy of a buffer that is needed after it was donated, or export the program without donation")
    })
}

fn check_plugin_takes(runtime: &Runtime, dtype: DType) -> Result<()> {
    let (major, minor) = runtime.plugin.api.version();
    if minor >= dtype.since_pjrt_minor() {
        return Ok(());
    }
    let (name, since) = (dtype.name(), dtype.since_pjrt_minor());
    let message = format!(
        "the plugin (PJRT {major}.{minor}) has no element type {name}; plugins of PJRT 0.{since} or newer do"
    );
    Err(Error::new(Code::Unimplemented, Origin::Plugin, message).parameter("dtype"))
}

/// A lock on an argument: for writing where the program may take its contents.
enum Lock<'a> {
    Shared(RwLockReadGuard<'a, Option<pjrt::Buffer>>),
    Exclusive(RwLockWriteGuard<'a, Option<pjrt::Buffer>>),
}

impl Lock<'_> {
    fn contents(&self) -> Result<&pjrt::Buffer> {
        match self {
            Lock::Shared(guard) => alive(guard),
            Lock::Exclusive(guard) => alive(guard),
        }
    }
}

impl Executable {
    /// Runs the program on device arrays. It may still be running on return; the
    /// results can be used at once all the same.
    pub fn execute(&self, inputs: &[&Buffer], output_count: usize) -> Result<Vec<Buffer>> {
        let executable = &*self.0;
        fork::check()?;
        self.check_counts(inputs.len(), output_count)?;
        check_arguments(executable, inputs)?;

        let mut locks = lock_all(executable, inputs);
        let converted = convert_orders(inputs, &locks)?;
        let mut arguments: SmallVec<[BufferRef<'_>; INLINE]> = SmallVec::new();
        for (index, input) in inputs.iter().enumerate() {
            let argument = match &converted[index] {
                Some(row_major) => row_major.as_argument(),
                None => contents_of(input, &locks).map_err(|error| of_argument(error, index))?.as_argument(),
            };
            arguments.push(argument);
        }
        let outcome = executable.loaded.execute(&arguments, output_count, false);
        drop(arguments);
        take_donated(&mut locks, &converted, inputs)?;
        drop(locks);

        let (results, _) = outcome?;
        executable.layouts(&results)?;
        let specs = &executable.signature.outputs;
        let wrap = |(result, spec): (pjrt::Buffer, &crate::compile::TensorSpec)| {
            Buffer::new(executable.runtime, result, spec.dtype, &spec.dims, executable.device, false)
        };
        results.into_iter().zip(specs).map(wrap).collect()
    }
}

fn of_argument(error: Error, index: usize) -> Error {
    error.map_message(|message| format!("argument {index}: {message}")).parameter("inputs")
}

fn check_arguments(executable: &Inner, inputs: &[&Buffer]) -> Result<()> {
    let specs = &executable.signature.inputs;
    for (index, (input, spec)) in inputs.iter().zip(specs).enumerate() {
        let got = ArrayType(input.dtype, &input.dims);
        if input.dtype != spec.dtype || input.dims != spec.dims {
            let message = format!("argument {index}: the program expects {}, got {got}", spec.array_type());
            return Err(Error::invalid_argument(message).parameter("inputs"));
        }
        if input.device != executable.device {
            let message = format!(
                "argument {index} is on device {}, but the program runs on device {}",
                input.device, executable.device
            );
            return Err(Error::invalid_argument(message).parameter("inputs"));
        }
        let again = inputs
            .iter()
            .enumerate()
            .position(|(other, buffer)| other != index && std::ptr::eq(*buffer, *input));
        if let Some(other) = again.filter(|_| spec.is_donated) {
            let message = format!("argument {index} is donated and is the same buffer as argument {other}");
            return Err(Error::invalid_argument(message).parameter("inputs"));
        }
    }
    Ok(())
}

/// Each buffer with the lock on it, by the buffer's address.
type Locks<'a> = SmallVec<[(*const Buffer, Lock<'a>); INLINE]>;

/// Locks every buffer once, in the order of their addresses: two programs that run
/// at once on the same buffers cannot wait for each other.
fn lock_all<'a>(executable: &Inner, inputs: &[&'a Buffer]) -> Locks<'a> {
    let specs = &executable.signature.inputs;
    let mut wanted: SmallVec<[(&'a Buffer, bool); INLINE]> =
        inputs.iter().zip(specs).map(|(&input, spec)| (input, spec.is_donated)).collect();
    wanted.sort_by_key(|(input, _)| std::ptr::from_ref::<Buffer>(input));
    wanted.dedup_by_key(|(input, _)| std::ptr::from_ref::<Buffer>(input));
    let lock = |(input, donated): (&'a Buffer, bool)| {
        let lock = if donated { Lock::Exclusive(input.write()) } else { Lock::Shared(input.read()) };
        (std::ptr::from_ref(input), lock)
    };
    wanted.into_iter().map(lock).collect()
}

fn position_of(input: &Buffer, locks: &Locks<'_>) -> Option<usize> {
    locks.binary_search_by_key(&std::ptr::from_ref(input), |(address, _)| *address).ok()
}

fn contents_of<'a>(input: &Buffer, locks: &'a Locks<'_>) -> Result<&'a pjrt::Buffer> {
    let position = position_of(input, locks).ok_or_else(|| Error::internal("an argument was not locked"))?;
    locks[position].1.contents()
}

/// Row-major copies of the arguments that have another order. Plugins take any and
/// compute as if it were row-major.
fn convert_orders(inputs: &[&Buffer], locks: &Locks<'_>) -> Result<SmallVec<[Option<pjrt::Buffer>; INLINE]>> {
    let convert = |(index, input): (usize, &&Buffer)| {
        if input.layout.is_row_major(&input.dims) {
            return Ok(None);
        }
        let contents = contents_of(input, locks).map_err(|error| of_argument(error, index))?;
        let bytes = input.row_major_bytes(contents)?;
        let spec = ArraySpec { dtype: input.dtype, dims: &input.dims };
        let target = input.runtime.device(input.device)?;
        input.runtime.client.copy_from_host(HostInput::new(&bytes), spec, target).map(Some)
    };
    inputs.iter().enumerate().map(convert).collect()
}

/// Empties the buffers whose contents the program took. Only the plugin knows
/// which of those that it may take it took.
fn take_donated(locks: &mut Locks<'_>, converted: &[Option<pjrt::Buffer>], inputs: &[&Buffer]) -> Result<()> {
    for (address, lock) in locks.iter_mut() {
        let Lock::Exclusive(contents) = lock else { continue };
        let index = inputs.iter().position(|input| std::ptr::eq(*input, *address));
        let copy = index.and_then(|index| converted[index].as_ref());
        let taken = match copy.or(contents.as_ref()) {
            Some(argument) => argument.is_deleted()?,
            None => false,
        };
        if taken {
            **contents = None;
        }
    }
    Ok(())
}
