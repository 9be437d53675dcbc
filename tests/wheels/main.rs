//! The real wheels for CUDA and TPUs, on a machine that has neither. They are
//! hundreds of megabytes, so only `cargo xtask test --wheels` runs this.
//!
//! `CYXLA_TEST_WHEELS` is a folder like one of Python packages with jax-cuda12-pjrt
//! 0.10.2 and libtpu 0.0.52 in it.

#[path = "../support/mod.rs"]
mod support;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cyxla::discover::{self, Found};
use cyxla::error::Code;
use cyxla::options::Options;
use cyxla::runtime;
use support::{Ended, Isolated, add_on_real_plugin, required};

fn site() -> PathBuf {
    required("CYXLA_TEST_WHEELS").into()
}

/// Runs a test in a process of its own that finds the wheels as Python would.
fn with_wheels(name: &str, body: impl FnOnce()) {
    let ended = Isolated::new(name)
        .variable("PYTHONPATH", site())
        .variable("XDG_DATA_HOME", "/nonexistent")
        .run(body);
    if let Some(ended) = ended {
        Ended::assert_well(&ended);
    }
}

fn found(platform: &str) -> Found {
    let list = discover::find();
    let found =
        list.plugins.iter().find(|found| found.platform == platform && found.path.starts_with(site()));
    found.unwrap_or_else(|| panic!("no wheel for {platform} in {list:#?}")).clone()
}

#[test]
fn both_wheels_are_listed_and_opened_by_nobody() {
    with_wheels("both_wheels_are_listed_and_opened_by_nobody", || {
        let cuda = found("cuda");
        assert_eq!(cuda.path, site().join("jax_plugins/xla_cuda12/xla_cuda_plugin.so"));
        assert_eq!(cuda.version.as_deref(), Some("0.10.2"));
        assert_eq!((&cuda.problem, cuda.is_default), (&None, false));
        assert!(cuda.absent_device.is_some(), "this test wants a machine without an NVIDIA GPU");
        let tpu = found("tpu");
        assert_eq!(tpu.path, site().join("libtpu/libtpu.so"));
        assert_eq!(tpu.version.as_deref(), Some("0.0.52"));
        assert!(tpu.refusal().is_some() && !tpu.is_default);
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        assert!(!maps.contains("xla_cuda_plugin.so") && !maps.contains("libtpu.so"));
    });
}

#[test]
fn cuda_without_a_gpu_is_told_and_the_cpu_still_works() {
    with_wheels("cuda_without_a_gpu_is_told_and_the_cpu_still_works", || {
        let error = runtime::initialize(None, Some("cuda"), None).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
        assert_eq!(error.message(), "No visible GPU devices.");
        assert!(error.detail("hint").unwrap().contains("nvidia-smi"), "{error:?}");
        assert_eq!(error.detail("pjrt.code"), Some("9"));
        let report = error.detail("preload").unwrap();
        assert!(report.contains("libcudnn.so.9") && !report.contains("libcudart.so.13"), "{report}");
        assert!(error.detail("plugin.path").unwrap().ends_with("xla_cuda_plugin.so"));
        assert!(!runtime::is_initialized());
        add_on_real_plugin();
    });
}

#[test]
fn cuda_checks_options_before_it_looks_for_devices() {
    with_wheels("cuda_checks_options_before_it_looks_for_devices", || {
        let attempt = |text: &str| {
            let mut options = Options::new();
            options.parse(text).unwrap();
            runtime::initialize(None, Some("cuda"), Some(&options)).unwrap_err()
        };
        // What libcyxla refuses, the plugin would refuse or misunderstand.
        for (text, part) in [
            ("preallocate=no", "is a string ('no'), expected a bool"),
            ("memory_fraction=100", "expected a number above 0 and not above 1"),
            ("allocator=best", "expected one of default"),
        ] {
            let error = attempt(text);
            assert_eq!(error.code(), Code::InvalidArgument, "{error}");
            assert!(error.message().contains(part), "{error}");
        }
        // Every known option is one that the plugin knows, of the kind in the table.
        let all = "memory_fraction=1;preallocate=false;allocator=bfc;platform_name=CUDA;visible_devices=0;\
                   collective_memory_size=0;node_id=0;num_nodes=1;partition_index=0;\
                   should_stage_host_to_device_transfers=true;abort_collectives_on_failure=false;\
                   use_tfrt_gpu_client=false;enable_mock_nccl=false;mock_gpu_topology=1x1x1";
        assert_eq!(attempt(all).message(), "No visible GPU devices.");
        let unknown = attempt("preallocat=false");
        assert_eq!(unknown.code(), Code::InvalidArgument);
        assert_eq!(unknown.detail("hint"), Some("did you mean 'preallocate'?"));
    });
}

#[test]
fn a_tpu_that_is_not_there_is_refused_at_once() {
    with_wheels("a_tpu_that_is_not_there_is_refused_at_once", || {
        let begin = Instant::now();
        let error = runtime::initialize(None, Some("tpu"), None).unwrap_err();
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
        assert!(error.message().contains("no TPU"), "{error}");
        add_on_real_plugin();
    });
}

#[test]
fn a_path_loads_libtpu_all_the_same() {
    // Without the variable this would take minutes.
    let name = "a_path_loads_libtpu_all_the_same";
    let ended = Isolated::new(name).variable("TPU_SKIP_MDS_QUERY", "1").run(|| {
        let path = site().join("libtpu/libtpu.so");
        let error = runtime::initialize(Some(&path), Some("tpu"), None).unwrap_err();
        assert_eq!(error.code(), Code::NotFound, "{error}");
        assert!(error.message().contains("TPU initialization failed"), "{error}");
        assert!(error.detail("hint").unwrap().contains("lspci"), "{error:?}");
        add_on_real_plugin();
    });
    if let Some(ended) = ended {
        ended.assert_well();
    }
}
