//! The CUDA libraries that are loaded before a CUDA plugin: which, in which order,
//! and what is told of it.

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use cyxla::plugin::preload::{LIBRARIES, Report};
use cyxla::plugin::{Plugin, preload};
use cyxla::runtime;
use support::{Folder, fake_plugin, isolated};

const SCRIPT: &str = "CYXLA_FAKE_PLUGIN";
/// Where the libraries below write that they were loaded.
const LOG: &str = "CYXLA_TEST_PRELOAD_LOG";

/// JAX's order, written down a second time: a slip in the table must not pass.
const ORDER: [&str; 19] = [
    "cuda_runtime/lib/libcudart.so.12",
    "cu13/lib/libcudart.so.13",
    "cuda_nvrtc/lib/libnvrtc.so.12",
    "cu13/lib/libnvrtc.so.13",
    "cublas/lib/libcublas.so.12",
    "cublas/lib/libcublasLt.so.12",
    "cu13/lib/libcublas.so.13",
    "cu13/lib/libcublasLt.so.13",
    "nccl/lib/libnccl.so.2",
    "cuda_cupti/lib/libcupti.so.12",
    "cu13/lib/libcupti.so.13",
    "cusparse/lib/libcusparse.so.12",
    "cu13/lib/libcusparse.so.12",
    "cusolver/lib/libcusolver.so.11",
    "cu13/lib/libcusolver.so.12",
    "cufft/lib/libcufft.so.11",
    "cu13/lib/libcufft.so.12",
    "nvshmem/lib/libnvshmem_host.so.3",
    "cudnn/lib/libcudnn.so.9",
];

/// A library that writes a name into the log when it is loaded.
fn logging_library(path: &Path, name: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let source = path.with_extension("c");
    let text = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         __attribute__((constructor)) static void loaded(void) {{\n\
           FILE *log = fopen(getenv(\"{LOG}\"), \"a\");\n\
           if (log) {{ fputs(\"{name}\\n\", log); fclose(log); }}\n}}\n"
    );
    fs::write(&source, text).unwrap();
    let status = Command::new("gcc").args(["-shared", "-fPIC", "-o"]).args([path, &source]).status();
    assert!(status.expect("gcc: run `cargo xtask test`").success());
    fs::remove_file(source).unwrap();
}

/// An environment with some of the libraries, and the path of a plugin in it.
fn environment(folder: &Path, libraries: &[&str]) -> PathBuf {
    for library in libraries {
        logging_library(&folder.join("nvidia").join(library), library);
    }
    let package = folder.join("jax_plugins/xla_cuda12");
    fs::create_dir_all(&package).unwrap();
    let plugin = package.join("xla_cuda_plugin.so");
    fs::copy(fake_plugin(), &plugin).unwrap();
    plugin
}

fn logged(folder: &Folder) -> Vec<String> {
    let text = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn set_log(folder: &Folder) {
    // SAFETY: this test has its process to itself and has started no thread that
    // reads the environment.
    unsafe { std::env::set_var(LOG, folder.path().join("log")) };
}

fn load(plugin: &Path, platform: Option<&str>, folders: &[PathBuf]) -> Option<Report> {
    Plugin::load(plugin, platform, || folders.to_vec()).unwrap_or_else(|error| panic!("{error}")).preload
}

#[test]
fn the_libraries_are_loaded_in_the_order_of_jax() {
    isolated("the_libraries_are_loaded_in_the_order_of_jax", &[(SCRIPT, "works,platform=cuda")], || {
        let folder = Folder::new("preload");
        set_log(&folder);
        let plugin = environment(folder.path(), &ORDER);
        let report = load(&plugin, Some("cuda"), &[]).unwrap();
        assert_eq!(logged(&folder), ORDER);
        assert_eq!(report.loaded.len(), ORDER.len());
        assert!(report.missing.is_empty() && report.failed.is_empty(), "{report:?}");
        assert_eq!(report.generation, Some(12));
        // A second time changes nothing.
        load(&plugin, Some("cuda"), &[]);
        assert_eq!(logged(&folder).len(), ORDER.len());
    });
}

#[test]
fn what_is_missing_or_broken_is_passed_over_and_told() {
    isolated("what_is_missing_or_broken_is_passed_over_and_told", &[(SCRIPT, "works,platform=cuda")], || {
        let folder = Folder::new("preload");
        set_log(&folder);
        let there = ["cudnn/lib/libcudnn.so.9", "cuda_runtime/lib/libcudart.so.12"];
        let plugin = environment(folder.path(), &there);
        let broken = folder.path().join("nvidia/cublas/lib/libcublas.so.12");
        fs::create_dir_all(broken.parent().unwrap()).unwrap();
        fs::write(&broken, "no library").unwrap();
        fs::create_dir_all(folder.path().join("nvidia/nccl/lib/libnccl.so.2")).unwrap();

        let info = runtime::initialize(Some(&plugin), Some("cuda"), None).unwrap();
        assert_eq!(logged(&folder), [there[1], there[0]]);
        let info: serde_json::Value = serde_json::from_str(&info.json).unwrap();
        let report = &info["preload"];
        assert_eq!(report["loaded"].as_array().unwrap().len(), 2, "{report}");
        assert_eq!(report["missing"].as_array().unwrap().len(), ORDER.len() - 3, "{report}");
        assert!(report["missing"].as_array().unwrap().contains(&"nvidia/nccl/lib/libnccl.so.2".into()));
        assert!(report["failed"][0]["path"].as_str().unwrap().ends_with("libcublas.so.12"), "{report}");
        assert!(report["failed"][0]["problem"].as_str().unwrap().contains("file too short"), "{report}");
    });
}

#[test]
fn a_client_that_cannot_be_created_brings_the_report_and_advice() {
    let name = "a_client_that_cannot_be_created_brings_the_report_and_advice";
    let script = "works,platform=cuda,fail=PJRT_Client_Create,fail_code=9";
    isolated(name, &[(SCRIPT, script)], || {
        let folder = Folder::new("preload");
        set_log(&folder);
        let plugin = environment(folder.path(), &["nccl/lib/libnccl.so.2"]);
        let error = runtime::initialize(Some(&plugin), Some("cuda"), None).unwrap_err();
        assert!(error.message().contains("synthetic failure of PJRT_Client_Create"), "{error}");
        assert!(error.detail("hint").unwrap().contains("nvidia-smi"), "{error:?}");
        let report = error.detail("preload").unwrap();
        assert!(report.starts_with("loaded of the nvidia wheels: libnccl.so.2; not found: "), "{report}");
        assert!(report.contains("libcudart.so.12") && !report.contains("libcudart.so.13"), "{report}");
        assert_eq!(error.detail("plugin.path"), plugin.to_str());
    });
}

#[test]
fn nothing_is_loaded_for_other_platforms() {
    isolated("nothing_is_loaded_for_other_platforms", &[(SCRIPT, "works")], || {
        let folder = Folder::new("preload");
        set_log(&folder);
        let plugin = environment(folder.path(), &["nccl/lib/libnccl.so.2"]);
        assert_eq!(load(&plugin, Some("cpu"), &[]), None);
        assert_eq!(load(&fake_plugin(), None, &[]), None);
        assert!(logged(&folder).is_empty());
        // Nor for a file that is no plugin, however it is called.
        let text = plugin.with_file_name("text.so");
        fs::write(&text, "no library").unwrap();
        assert!(Plugin::load(&text, Some("cuda"), Vec::new).is_err());
        assert!(logged(&folder).is_empty());
    });
}

#[test]
fn the_folders_are_tried_in_order() {
    isolated("the_folders_are_tried_in_order", &[(SCRIPT, "works")], || {
        let given = Folder::new("given");
        set_log(&given);
        let real = Folder::new("real");
        let listed = Folder::new("listed");
        let plugin = environment(real.path(), &["nccl/lib/libnccl.so.2", "cudnn/lib/libcudnn.so.9"]);
        for (library, name) in [
            ("cudnn/lib/libcudnn.so.9", "hidden"),
            ("nvshmem/lib/libnvshmem_host.so.3", "nvshmem from the list"),
        ] {
            logging_library(&listed.path().join("nvidia").join(library), name);
        }
        logging_library(&given.path().join("nvidia/nccl/lib/libnccl.so.2"), "nccl beside the link");
        let link = given.path().join("jax_plugins/xla_cuda13/xla_cuda_plugin.so");
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&plugin, &link).unwrap();

        let report = preload::cuda(&link, &[listed.path().to_owned(), "/no/such/folder".into()]);
        assert_eq!(
            logged(&given),
            ["nccl beside the link", "nvshmem from the list", "cudnn/lib/libcudnn.so.9"]
        );
        assert_eq!(report.searched.len(), 3, "{report:?}");
        assert_eq!(report.generation, Some(13));
        assert_eq!(report.missing.len(), LIBRARIES.len() - 3);
    });
}
