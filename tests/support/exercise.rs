//! Everything that the library can ask of a plugin, in one go.

use cyxla::dtype::DType;
use cyxla::error::Result;
use cyxla::pjrt::{HostInput, HostOutput, HostView};
use cyxla::program::{Format, Program};
use cyxla::runtime::{self, Buffer, Executable};
use std::ffi::c_void;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Adds the two arguments, of which it may take the first one's memory.
const DONATING: &str = "module @donating {
    func.func @main(%a: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<2x3xf32>)
            -> tensor<2x3xf32> {
        %c = stablehlo.add %a, %b : tensor<2x3xf32>
        return %c : tensor<2x3xf32> } }";

const DIMS: [i64; 2] = [2, 3];

fn bytes(values: [f32; 6]) -> Vec<u8> {
    values.map(f32::to_ne_bytes).concat()
}

/// Loads the plugin, runs programs on host memory and on buffers, and checks the
/// results. The first error ends it; a wrong result panics.
pub fn exercise(plugin: &Path) -> Result<()> {
    let info = runtime::initialize(Some(plugin), Some("cpu"), None)?;
    assert!(!info.devices.is_empty());
    super::run_add()?;
    let program = Program::from_bytes(DONATING.as_bytes(), Format::StableHlo, None)?;
    let executable = Executable::compile(&program, None)?;
    assert_eq!(executable.name(), "donating");
    assert!(executable.inputs()[0].is_donated && !executable.inputs()[1].is_donated);
    on_host_memory(&executable)?;
    on_buffers(&executable)?;
    views()
}

fn on_host_memory(executable: &Executable) -> Result<()> {
    let (a, b) = (bytes([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), bytes([0.5; 6]));
    let kept = a.clone();
    let mut sum = vec![0; 24];
    executable.run(&[&a, &b], &mut [&mut sum])?;
    assert_eq!(sum, bytes([1.5, 2.5, 3.5, 4.5, 5.5, 6.5]));
    assert_eq!(a, kept, "the caller's own memory is never given away");
    Ok(())
}

fn on_buffers(executable: &Executable) -> Result<()> {
    let make = |value| Buffer::from_host(0, DType::F32, &DIMS, HostInput::new(&bytes([value; 6])));
    let (a, b) = (make(1.0)?, make(2.0)?);
    let mut results = executable.execute(&[&a, &b])?;
    let sum = results.remove(0);
    sum.wait()?;
    assert!(a.is_donated() && !b.is_donated());
    assert_eq!((sum.dtype(), sum.dims()), (DType::F32, &DIMS[..]));
    let mut read = vec![0; sum.host_size()];
    sum.to_host(HostOutput::new(&mut read))?;
    assert_eq!(read, bytes([3.0; 6]));
    Ok(())
}

/// Lends aligned memory, which is used in place, and memory that has to be copied.
fn views() -> Result<()> {
    #[repr(align(64))]
    struct Aligned([f32; 7]);
    let mut memory = Aligned([7.0; 7]);
    for (start, in_place) in [(0, true), (1, false)] {
        let released = AtomicUsize::new(0);
        let outcome = view(&mut memory.0[start..start + 6], &released, in_place);
        // After an error the memory was the host's all along.
        let due = usize::from(outcome.is_ok());
        assert_eq!(released.load(Ordering::SeqCst), due, "{outcome:?}");
        outcome?;
    }
    Ok(())
}

fn view(values: &mut [f32], released: &AtomicUsize, in_place: bool) -> Result<()> {
    unsafe extern "C" fn count(released: *mut c_void) {
        // SAFETY: the counter outlives the buffer.
        unsafe { &*released.cast::<AtomicUsize>() }.fetch_add(1, Ordering::SeqCst);
    }
    let counter = std::ptr::from_ref(released).cast_mut().cast();
    // SAFETY: the memory stays until the buffer is gone, at the end of this function.
    let lent = unsafe { HostView::from_raw(values.as_mut_ptr().cast(), 24, false, Some(count), counter) };
    let buffer = Buffer::view_host(0, DType::F32, &DIMS, lent)?;
    assert_eq!(buffer.is_view(), in_place);
    let mut read = vec![0; 24];
    let outcome = buffer.to_host(HostOutput::new(&mut read));
    drop(buffer);
    assert_eq!(released.swap(0, Ordering::SeqCst), 1, "lent memory came back at once or at the end");
    outcome?;
    released.store(1, Ordering::SeqCst);
    assert_eq!(read, bytes([7.0; 6]));
    Ok(())
}
