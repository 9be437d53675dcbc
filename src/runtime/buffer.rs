//! Device arrays.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::destinations::overlap;
use super::run::{check_bools, copy_row_major};
use super::{Runtime, in_place, runtime};
use crate::dtype::{ArrayType, DType, MOST_DIMS};
use crate::error::{Code, Error, Origin, Result};
use crate::memory;
use crate::pjrt::{self, ArraySpec, HostInput, HostOutput, HostStrided, HostView, Layout, presence};

/// An array in the memory of a device. Its contents never change, but a program
/// that it is donated to takes them.
pub struct Buffer {
    runtime: &'static Runtime,
    /// `None` once it was donated. Locked for writing only by a program that it may
    /// be donated to, so that nobody reads what that program overwrites.
    contents: RwLock<Option<Arc<pjrt::Buffer>>>,
    /// The same as whether `contents` is `None`, for those who must not wait.
    is_donated: AtomicBool,
    dtype: DType,
    dims: Vec<i64>,
    host_size: usize,
    device: usize,
    layout: Layout,
    pub(super) is_row_major: bool,
    is_view: bool,
}

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
        ArrayType(dtype, dims).check_host_size().map_err(|error| error.parameter("dims"))
    }

    /// Checks strides: whole elements, and no element further away than memory goes.
    pub fn check_strides(dtype: DType, dims: &[i64], byte_strides: &[i64]) -> Result<()> {
        let element = dtype.host_size() as i64;
        let refuse = |message: String| Err(Error::invalid_argument(message).parameter("byte_strides"));
        let mut reach = 0i64;
        if dims.contains(&0) {
            return Ok(());
        }
        for (index, (&dim, &stride)) in dims.iter().zip(byte_strides).enumerate() {
            // No element is reached by the stride of a dimension of one: NumPy has any there.
            if dim == 1 {
                continue;
            }
            if stride % element != 0 {
                let name = dtype.name();
                return refuse(format!(
                    "the stride of dimension {index} is {stride} bytes, no multiple of the {element} that an element of {name} takes"
                ));
            }
            let span = stride.checked_abs().and_then(|stride| stride.checked_mul(dim - 1));
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
        let layout = made.layout(dims.len())?;
        Ok(Buffer::new(runtime, made, layout, ArrayType(dtype, dims), device, false))
    }

    /// Copies an array whose elements lie apart, by strides that `check_strides` took.
    pub fn from_strided(device: usize, dtype: DType, dims: &[i64], data: &HostStrided<'_>) -> Result<Buffer> {
        let size = Buffer::check_type(dtype, dims)?;
        match data.as_dense(size) {
            Some(dense) => Buffer::from_host(device, dtype, dims, dense),
            None => Buffer::from_host(device, dtype, dims, HostInput::new(&data.gather(size)?)),
        }
    }

    /// Takes a row-major array that the host lends, of the size that `check_type`
    /// gave. After an error nothing is released.
    pub fn view_host(device: usize, dtype: DType, dims: &[i64], view: HostView) -> Result<Buffer> {
        Buffer::view(device, ArrayType(dtype, dims), view, false)
    }

    /// The same, but an error where the memory cannot be used in place.
    pub fn view_host_strict(device: usize, dtype: DType, dims: &[i64], view: HostView) -> Result<Buffer> {
        Buffer::view(device, ArrayType(dtype, dims), view, true)
    }

    fn view(device: usize, array: ArrayType<'_>, view: HostView, must_be_in_place: bool) -> Result<Buffer> {
        let ArrayType(dtype, dims) = array;
        let runtime = runtime(&[])?;
        check_plugin_takes(runtime, dtype)?;
        let target = runtime.device(device)?;
        if must_be_in_place {
            in_place::check(runtime, &array, view.address())?;
        }
        // Booleans are checked once, so nobody may change them afterwards; an array
        // without elements has no memory to lend.
        if dtype == DType::PRED || dims.contains(&0) {
            let buffer = Buffer::from_host(device, dtype, dims, view.as_input())?;
            view.release();
            return Ok(buffer);
        }
        let spec = ArraySpec { dtype, dims };
        let (made, layout, is_view) = runtime.client.view_host(view, spec, target, must_be_in_place)?;
        Ok(Buffer::new(runtime, made, layout, array, device, is_view))
    }

    /// Wraps a device array whose order the plugin has told.
    pub(super) fn new(
        runtime: &'static Runtime,
        made: pjrt::Buffer,
        layout: Layout,
        array: ArrayType<'_>,
        device: usize,
        is_view: bool,
    ) -> Buffer {
        let ArrayType(dtype, dims) = array;
        Buffer {
            runtime,
            contents: RwLock::new(Some(Arc::new(made))),
            is_donated: AtomicBool::new(false),
            dtype,
            dims: dims.to_vec(),
            // Its type was checked before it was made.
            host_size: array.host_size().unwrap_or(0),
            device,
            is_row_major: layout.is_row_major(dims),
            layout,
            is_view,
        }
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
        self.is_donated.load(Ordering::Acquire)
    }

    /// Blocks until the contents are there, or gives the error of the program that
    /// should have made them.
    pub fn wait(&self) -> Result<()> {
        presence::check()?;
        alive(&self.read())?.wait()
    }

    /// Copies the contents to host memory, row-major, and waits for that.
    pub fn to_host(&self, mut output: HostOutput<'_>) -> Result<()> {
        presence::check()?;
        if output.size() != self.host_size {
            let (array, size) = (self.array_type(), self.host_size);
            let message = format!("the buffer is {array} and takes {size} bytes, got {}", output.size());
            return Err(Error::invalid_argument(message).parameter("size"));
        }
        let contents = self.read();
        let buffer = alive(&contents)?;
        copy_row_major(buffer, self.array_type(), &self.layout, &mut output)
    }

    /// The contents in place, where they are in host memory, row-major, and ready
    /// or soon so. Valid until the buffer is freed or donated.
    pub fn data(&self) -> Option<*const c_void> {
        presence::check().ok()?;
        if self.host_size == 0 || self.dtype.is_sub_byte() || !self.is_row_major {
            return None;
        }
        let contents = self.read();
        let bytes = contents.as_ref()?.bytes(self.host_size).ok()??;
        Some(bytes.as_ptr().cast())
    }

    pub(super) fn runtime(&self) -> &'static Runtime {
        self.runtime
    }

    /// The order in which the device stores the elements.
    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The element type and dims.
    pub(super) fn array_type(&self) -> ArrayType<'_> {
        ArrayType(self.dtype, &self.dims)
    }

    /// Locks the contents for use. A panic under the lock leaves them as they are.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Option<Arc<pjrt::Buffer>>> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the contents for a program that may take them.
    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Option<Arc<pjrt::Buffer>>> {
        self.contents.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the contents, since a program has; they are to be destroyed once no lock
    /// is held, for the host's `release` may run then.
    pub(super) fn take(&self, contents: &mut Option<Arc<pjrt::Buffer>>) -> Option<Arc<pjrt::Buffer>> {
        self.is_donated.store(true, Ordering::Release);
        contents.take()
    }

    /// The contents in row-major order, to keep: they live as long as somebody keeps
    /// them, though a program that they are donated to takes what is in them.
    pub(super) fn share_row_major(&self) -> Result<Arc<pjrt::Buffer>> {
        presence::check()?;
        let contents = self.read();
        let contents = alive(&contents)?;
        match self.in_row_major(contents)? {
            Some(copy) => Ok(Arc::new(copy)),
            None => Ok(Arc::clone(contents)),
        }
    }

    /// Whether both use the same memory of the host in place.
    pub(super) fn shares_memory(&self, other: &Buffer) -> bool {
        let range = |buffer: &Buffer| {
            let contents = buffer.read();
            let address = contents.as_ref().filter(|_| buffer.is_view)?.address().ok()?;
            Some((address, buffer.host_size))
        };
        match (range(self), range(other)) {
            (Some(one), Some(other)) => overlap(one, other),
            _ => false,
        }
    }

    /// A copy in row-major order, where the buffer has another. Programs take any, and
    /// compute as if it were row-major.
    pub(super) fn in_row_major(&self, contents: &pjrt::Buffer) -> Result<Option<pjrt::Buffer>> {
        if self.is_row_major {
            return Ok(None);
        }
        let mut bytes = memory::zeroed(self.host_size)?;
        copy_row_major(contents, self.array_type(), &self.layout, &mut HostOutput::new(&mut bytes))?;
        let spec = ArraySpec { dtype: self.dtype, dims: &self.dims };
        let target = self.runtime.device(self.device)?;
        self.runtime.client.copy_from_host(HostInput::new(&bytes), spec, target).map(Some)
    }
}

/// The contents, unless they were donated.
pub(super) fn alive(contents: &Option<Arc<pjrt::Buffer>>) -> Result<&Arc<pjrt::Buffer>> {
    contents.as_ref().ok_or_else(donated)
}

/// The error for a buffer whose contents are gone.
pub(super) fn donated() -> Error {
    let message = "the buffer was donated to a program, which has taken its contents";
    Error::new(Code::FailedPrecondition, Origin::Caller, message).hint(
        "keep a copy of a buffer that is needed after it was donated, or export the program without donation",
    )
}

/// An error for an element type on which a plugin of this age would crash.
pub(super) fn check_plugin_takes(runtime: &Runtime, dtype: DType) -> Result<()> {
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
