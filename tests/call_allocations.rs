//! A step of a bound call takes no memory from the heap, and the counts of a soak stay
//! flat: a counting allocator sees all that the library allocates (the plugin has one of
//! its own).

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

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
            (0..3).for_each(|_| step(call)); // makes what is made once
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            (0..100).for_each(|_| step(call));
            assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0);
        }
    });
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    drop(std::hint::black_box(vec![1u8; 100]));
    assert!(ALLOCATIONS.load(Ordering::Relaxed) > before);
}
