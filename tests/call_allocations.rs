//! A step of a bound call takes no memory from the heap, and the counts of a soak stay
//! flat: a counting allocator sees all that the library allocates (the plugin has one of
//! its own).

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use cyxla::options::Options;
use cyxla::pjrt::{Callback, HostTarget};
use cyxla::program::{Format, Program};
use cyxla::runtime::{Call, Executable};
use support::{isolated, real_plugin};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Steps after which a call has found out how the plugin runs its program.
const WARM_UP: usize = 50;

#[global_allocator]
static COUNTING: Counting = Counting;

/// Takes sixteen arguments, gives them back, and has one that is donated and one of booleans.
fn program() -> String {
    let list = |item: &dyn Fn(usize) -> String| (0..16).map(item).collect::<Vec<_>>().join(", ");
    let ty = |index: usize| if index == 3 { "tensor<8xi1>" } else { "tensor<8xf32>" };
    let donated = |index: usize| if index == 5 { " {tf.aliasing_output = 5 : i32}" } else { "" };
    format!(
        "module @many {{ func.func @main({}) -> ({}) {{ return {} : {} }} }}",
        list(&|index| format!("%a{index}: {}{}", ty(index), donated(index))),
        list(&|index| ty(index).to_owned()),
        list(&|index| format!("%a{index}")),
        list(&|index| ty(index).to_owned()),
    )
}

#[test]
fn a_step_allocates_nothing() {
    isolated("a_step_allocates_nothing", &[], || {
        cyxla::runtime::initialize(Some(&real_plugin()), None, None).unwrap();
        let program = Program::from_bytes(program().as_bytes(), Format::StableHlo, None).unwrap();
        let executable = Executable::compile(&program, None).unwrap();
        let mut call = Call::new(&executable, None).unwrap();
        for index in 0..16 {
            call.input(0, index).unwrap();
        }
        let mut fed = Call::new(&executable, None).unwrap();
        for index in 0..16 {
            fed.input(0, index).unwrap();
        }
        fed.feed(0, 5, 5).unwrap();
        fed.feed(0, 0, 1).unwrap();
        let step = |call: &mut Call| {
            call.run().unwrap();
            for index in 0..16 {
                call.output(0, index).unwrap();
            }
        };
        for call in [&mut call, &mut fed] {
            (0..WARM_UP).for_each(|_| step(call)); // makes what is made once
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            (0..100).for_each(|_| step(call));
            assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0);
        }
    });
}

/// Steps that are started and waited for, with a callback, an output that is copied to the
/// host, and one that the program writes there itself.
#[test]
fn neither_do_steps_that_end_elsewhere() {
    isolated("neither_do_steps_that_end_elsewhere", &[], || {
        let mut two = Options::new();
        two.parse("cpu_device_count=2").unwrap();
        cyxla::runtime::initialize(Some(&real_plugin()), None, Some(&two)).unwrap();
        let text = "module { func.func @main(%a: tensor<65536xf32>) -> (tensor<65536xf32>, tensor<4xf32>) {
            %0 = stablehlo.add %a, %a : tensor<65536xf32>
            %1 = stablehlo.slice %0 [0:4] : (tensor<65536xf32>) -> tensor<4xf32>
            return %0, %1 : tensor<65536xf32>, tensor<4xf32> } }";
        let program = Program::from_bytes(text.as_bytes(), Format::StableHlo, None).unwrap();
        for options in ["results_in_place=true", "replicas=2"] {
            let mut compile = Options::new();
            compile.parse(options).unwrap();
            let executable = Executable::compile(&program, Some(&compile)).unwrap();
            let (mut large, mut small) = (vec![0f32; 65536 + 16], [0f32; 4]);
            let aligned = large.as_ptr().align_offset(64);
            let mut call = Call::new(&executable, None).unwrap();
            for device in 0..executable.device_count() {
                call.input(device, 0).unwrap();
            }
            // SAFETY: both live longer than the call, and nobody else uses them while a
            // step runs.
            let places = unsafe {
                [
                    HostTarget::from_raw(large[aligned..].as_mut_ptr().cast(), 65536 * 4),
                    HostTarget::from_raw(small.as_mut_ptr().cast(), 16),
                ]
            };
            for (index, place) in places.into_iter().enumerate() {
                call.bind_output(0, index, Some(place)).unwrap();
            }
            // SAFETY: the function uses nothing.
            let nothing = || Some(unsafe { Callback::from_raw(ended, std::ptr::null_mut(), None) });
            call.set_callback(nothing).unwrap();
            let step = |call: &mut Call| {
                call.start().unwrap();
                call.wait(None).unwrap();
                call.output(0, 0).unwrap();
            };
            (0..WARM_UP).for_each(|_| step(&mut call));
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            (0..100).for_each(|_| step(&mut call));
            assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0, "{options}");
        }
    });
}

unsafe extern "C" fn ended(_user_data: *mut std::ffi::c_void) {}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    drop(std::hint::black_box(vec![1u8; 100]));
    assert!(ALLOCATIONS.load(Ordering::Relaxed) > before);
}
