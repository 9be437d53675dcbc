//! Saving what plugins cannot load again is refused, and the cache does not keep it.

mod support;

use cyxla::error::Code;
use cyxla::options::{Options, Value};
use cyxla::program::{Format, Program};
use cyxla::runtime::{self, Executable};
use support::{Folder, isolated, real_plugin};

/// A program with this many branches inside each other, all of which may be taken.
fn nested(depth: usize) -> String {
    let mut body = "%r = stablehlo.negate %x : tensor<4xf32> stablehlo.return %r : tensor<4xf32>".to_owned();
    for _ in 0..depth {
        body = format!(
            "%r = \"stablehlo.if\"(%p) ({{ {body} }}, {{ stablehlo.return %x : tensor<4xf32> }}) : (tensor<i1>) -> tensor<4xf32> stablehlo.return %r : tensor<4xf32>"
        );
    }
    let body = body.strip_suffix("stablehlo.return %r : tensor<4xf32>").unwrap_or(&body);
    format!(
        "module @nested {{ func.func @main(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {{ {body} return %r : tensor<4xf32> }} }}"
    )
}

fn check(depth: usize, folder: &Folder) -> bool {
    let program = Program::from_bytes(nested(depth).as_bytes(), Format::StableHlo, None).unwrap();
    let mut options = Options::new();
    options.set("cache_dir", Value::String(folder.path().to_str().unwrap().to_owned())).unwrap();
    let executable = Executable::compile(&program, Some(&options)).unwrap();
    let again = Executable::compile(&program, Some(&options)).unwrap();
    let input: Vec<u8> = [1f32, 2.0, 3.0, 4.0].iter().flat_map(|value| value.to_ne_bytes()).collect();
    let mut results = [vec![0; 16], vec![0; 16]];
    for (executable, result) in [&executable, &again].into_iter().zip(&mut results) {
        executable.run(&[&[1], &input], &mut [result]).unwrap();
    }
    assert_eq!(results[0], results[1]);
    match executable.to_bytes() {
        Ok(bytes) => {
            assert!(again.is_from_cache(), "{depth}");
            Executable::from_bytes(&bytes).unwrap();
            true
        }
        Err(error) => {
            assert_eq!(error.code(), Code::Unimplemented, "{error}");
            assert!(error.detail("hint").unwrap().contains("compile"), "{error:?}");
            assert!(!again.is_from_cache(), "{depth}");
            false
        }
    }
}

#[test]
fn what_does_not_load_again_is_not_saved() {
    isolated("what_does_not_load_again_is_not_saved", &[], || {
        runtime::initialize(Some(&real_plugin()), None, None).unwrap();
        let folder = Folder::new("saving");
        assert!(check(2, &folder));
        // Plugins write programs that nest deeper than they can read.
        let mut saved = (20..=60).step_by(20).map(|depth| check(depth, &folder)).collect::<Vec<_>>();
        saved.dedup();
        assert_eq!(saved.last(), Some(&false), "{saved:?}");
    });
}
