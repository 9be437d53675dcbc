//! Compile options on a real plugin with several devices.

mod support;

use cyxla::error::{Code, Error, Result};
use cyxla::options::Options;
use cyxla::program::{Format, Program};
use cyxla::runtime::{self, Executable};
use support::real_plugin;

fn options(text: &str) -> Options {
    let mut options = Options::new();
    options.parse(text).expect("options");
    options
}

fn compile(text: &str) -> Result<Executable> {
    runtime::initialize(Some(&real_plugin()), Some("cpu"), Some(&options("cpu_device_count=4")))
        .expect("the plugin under test");
    let program = "module @m { func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
        %b = stablehlo.exponential %a : tensor<8xf32>
        %c = stablehlo.divide %b, %a : tensor<8xf32>
        return %c : tensor<8xf32> } }";
    let program = Program::from_bytes(program.as_bytes(), Format::Detect, None).expect("a program");
    Executable::compile(&program, Some(&options(text)))
}

fn refused(text: &str) -> Error {
    let Err(error) = compile(text) else { panic!("{text}: compiled") };
    error
}

fn run(executable: &Executable) -> Vec<u8> {
    let input: Vec<u8> = (1..9_u8).flat_map(|number| f32::from(number).to_ne_bytes()).collect();
    let mut output = vec![0; 32];
    executable.run(&[&input], &mut [&mut output]).expect("a run");
    output
}

#[test]
fn each_device_computes_the_same() {
    let expected = run(&compile("").unwrap());
    for text in ["device=3", "device_ids=2", "profile_version=1", "portable=true", "portable=true;device=2"] {
        assert_eq!(run(&compile(text).unwrap()), expected, "{text}");
    }
}

#[test]
fn programs_for_several_devices_tell_how_many() {
    for (text, count) in [
        ("replicas=4", 4),
        ("replicas=2;device_ids=3,1", 2),
        ("partitions=2", 2),
        ("partitions=2;use_shardy_partitioner=true", 2),
        ("replicas=2;partitions=2;device_ids=3,2,1,0", 4),
    ] {
        assert_eq!(compile(text).unwrap().device_count(), count, "{text}");
    }
    assert!(refused("replicas=5").message().contains("there are 4"));
    assert!(refused("device_ids=4").message().contains("there are 0, 1, 2, 3"));
}

#[test]
fn debug_options_reach_the_plugin() {
    let expected = run(&compile("").unwrap());
    for text in [
        "xla.xla_backend_optimization_level=0",
        "xla.cpu_enable_fast_math=false",
        "xla.xla_gpu_autotune_gemm_rtol=0",
        "xla.xla_disable_hlo_passes=algsimp,dce",
        "xla.xla_cpu_parallel_codegen_split_count=1",
    ] {
        assert_eq!(run(&compile(text).unwrap()), expected, "{text}");
    }
    let folder = std::env::temp_dir().join(format!("cyxla-dump-{}", std::process::id()));
    compile(&format!("xla.xla_dump_to={}", folder.display())).unwrap();
    let dumped = std::fs::read_dir(&folder).map(Iterator::count).unwrap_or(0);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(dumped > 0);
}

#[test]
fn unknown_debug_options_get_advice() {
    let error = refused("xla.xla_cpu_enable_fast_maths=true");
    assert_eq!(error.code(), Code::InvalidArgument);
    let hint = error.detail("hint").unwrap_or_default();
    assert!(hint.contains("did you mean 'xla.xla_cpu_enable_fast_math'?"), "{error}: {hint}");
    assert!(refused("xla.nothing_like_it=1").detail("hint").is_some());
}
