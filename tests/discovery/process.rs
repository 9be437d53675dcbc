//! What depends on the whole process: its own variables, its rights, its signals,
//! and the plugin that it loads in the end.

use crate::builder::{LIBRARY, World, module, usable};
use crate::support::{Isolated, fake_plugin, run_add};
use cyxla::discover::{self, registered};
use cyxla::error::Code;
use cyxla::options::Options;
use cyxla::runtime;
use std::ffi::{CStr, CString};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::PathBuf;

/// A test in a process that sees only what is in `world`. Variables of the machine
/// that would add to it are empty, which counts as unset.
fn only(name: &str, world: &World) -> Isolated {
    let name = format!("process::{name}");
    let mut test = Isolated::new(&name);
    let empty = [
        "CYXLA_PLUGIN",
        "CYXLA_PLATFORM",
        "CYXLA_OPTIONS",
        "CYXLA_PLUGIN_DIRS",
        "CYXLA_PYTHON",
        "PJRT_NAMES_AND_LIBRARY_PATHS",
        "TPU_LIBRARY_PATH",
        "CONDA_PREFIX",
        "PYTHONPATH",
    ];
    for variable in empty {
        test = test.variable(variable, "");
    }
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"] {
        test = test.variable(variable, world.at("nowhere"));
    }
    test
}

fn run(test: Isolated, body: impl FnOnce()) {
    if let Some(ended) = test.run(body) {
        ended.assert_well();
    }
}

#[test]
fn a_package_leads_to_a_runtime_that_works() {
    let world = World::new();
    let env = world.venv("env");
    let library = env.declared("cyxla-pjrt-cpu", module("cpu"));
    fs::remove_file(&library).unwrap();
    symlink(fake_plugin(), &library).unwrap();
    env.jax("cuda12", "1.0");
    let test = only("a_package_leads_to_a_runtime_that_works", &world).variable("VIRTUAL_ENV", &env.root);
    run(test, || {
        let info = runtime::initialize(None, None, None).unwrap();
        assert!(info.plugin_origin.contains("package cyxla-pjrt-cpu in"), "{}", info.plugin_origin);
        // The path goes the way it was found, not where the link leads.
        assert!(info.plugin_path.ends_with("site-packages/cyxla_pjrt_cpu/plugin.so"), "{info:?}");
        run_add().unwrap();
    });
}

#[test]
fn wrong_options_of_a_package_never_reach_its_plugin() {
    let world = World::new();
    let env = world.venv("env");
    let source = crate::builder::module_with("cpu", "{'cpu_device_count': '4'}", "plugin.so", "");
    let library = env.declared("cyxla-pjrt-cpu", source);
    fs::remove_file(&library).unwrap();
    symlink(fake_plugin(), &library).unwrap();
    let test = only("wrong_options_of_a_package_never_reach_its_plugin", &world);
    run(test.variable("VIRTUAL_ENV", &env.root), || {
        let error = runtime::initialize(None, None, None).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition);
        assert!(
            error.message().contains("cyxla-pjrt-cpu in ") && error.message().contains("expected an integer")
        );
        let path = PathBuf::from(error.detail("plugin.path").unwrap());
        runtime::initialize(Some(&path), Some("cpu"), None).unwrap();
    });
}

#[test]
fn a_tpu_that_is_not_there_is_refused_unless_a_path_is_given() {
    let world = World::new();
    let env = world.venv("env");
    let library = env.libtpu();
    fs::remove_file(&library).unwrap();
    symlink(fake_plugin(), &library).unwrap();
    let test = only("a_tpu_that_is_not_there_is_refused_unless_a_path_is_given", &world);
    run(test.variable("VIRTUAL_ENV", &env.root), || {
        let list = discover::find();
        assert_eq!(usable(&list).len(), 1);
        assert!(list.plugins[0].absent_device.is_some(), "these tests are for machines without a TPU");
        let error = runtime::initialize(None, Some("tpu"), None).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition);
        assert!(error.message().contains("no TPU"), "{error}");
        let error = runtime::initialize(None, None, None).unwrap_err();
        assert_eq!(error.code(), Code::NotFound);
        assert!(error.message().contains("no TPU"), "{error}");
        let path = list.plugins[0].path.clone();
        // The fake plugin is for the CPU, and says so: it was loaded.
        let error = runtime::initialize(Some(&path), Some("tpu"), None).unwrap_err();
        assert!(error.message().contains("is for the platform cpu"), "{error}");
        runtime::initialize(Some(&path), None, None).unwrap();
    });
}

#[test]
fn hosts_that_ignore_their_children_get_answers_all_the_same() {
    let world = World::new();
    let env = world.venv("env");
    env.declared("cyxla-good", module("npu"));
    env.declared("cyxla-bad", "raise ValueError('my own words')\n");
    let test = only("hosts_that_ignore_their_children_get_answers_all_the_same", &world);
    run(test.variable("VIRTUAL_ENV", &env.root), || {
        // SAFETY: this process runs one test, which starts no other children.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        let list = discover::find();
        assert_eq!(usable(&list).len(), 1, "{:?}", list.failures);
        assert!(list.failures[0].problem.contains("my own words"), "{:?}", list.failures);
    });
}

#[test]
fn hosts_without_standard_streams_get_answers_all_the_same() {
    let world = World::new();
    let env = world.venv("env");
    env.declared("cyxla-good", module("npu"));
    let test = only("hosts_without_standard_streams_get_answers_all_the_same", &world);
    run(test.variable("VIRTUAL_ENV", &env.root), || {
        // SAFETY: plain copies of descriptors; nothing else runs in this process.
        let kept = [0, 1, 2].map(|stream| unsafe { libc::dup(stream) });
        for stream in 0..3 {
            // SAFETY: as above.
            assert_eq!(unsafe { libc::close(stream) }, 0);
        }
        let found = usable(&discover::find()).len();
        for (stream, kept) in (0..).zip(kept) {
            // SAFETY: as above.
            assert_eq!(unsafe { libc::dup2(kept, stream) }, stream);
        }
        assert_eq!(found, 1);
    });
}

#[test]
fn what_the_host_registers_is_found_before_packages_and_once() {
    let world = World::new();
    let env = world.venv("env");
    let cuda = env.jax("cuda12", "1.0");
    let other = world.write("other.so", LIBRARY);
    let test = only("what_the_host_registers_is_found_before_packages_and_once", &world);
    run(
        test.variable("VIRTUAL_ENV", &env.root).variable("TEST_CUDA", &cuda).variable("TEST_OTHER", &other),
        || {
            let path = |name: &str| PathBuf::from(std::env::var_os(name).unwrap());
            let mut options = Options::new();
            options.parse("preallocate=true").unwrap();
            let text = |text: &str| CString::new(text).unwrap();
            let (cuda, other) = (path("TEST_CUDA"), path("TEST_OTHER"));
            let cuda_text = text(cuda.to_str().unwrap());
            let register = cyxla::capi::plugins::cyxla_plugin_register;
            let (null, no_options) = (std::ptr::null(), std::ptr::null());
            // SAFETY: NUL-terminated texts that outlive the calls; NULL where it is allowed.
            unsafe {
                assert!(
                    register(c"cuda".as_ptr(), cuda_text.as_ptr(), no_options, c"my host".as_ptr()).is_null()
                );
                for (platform, path, part) in [
                    (null, cuda_text.as_ptr(), "platform is NULL"),
                    (c"cuda".as_ptr(), null, "path is NULL"),
                    (c"C U".as_ptr(), cuda_text.as_ptr(), "no platform name"),
                    (c"cuda".as_ptr(), c"".as_ptr(), "path is empty"),
                ] {
                    let error = register(platform, path, no_options, null);
                    let message = CStr::from_ptr(cyxla::capi::error::cyxla_error_message(error));
                    assert!(message.to_str().unwrap().contains(part), "{message:?}");
                    cyxla::capi::error::cyxla_error_free(error);
                }
            }
            registered::register("cuda", &other, None, None).unwrap();
            registered::register("cuda", &other, Some(&options), Some("second time")).unwrap();
            let list = discover::find();
            assert_eq!(usable(&list), [("cuda", cuda.as_path()), ("cuda", other.as_path())]);
            assert_eq!(list.plugins[0].origin, "my host");
            assert_eq!((list.plugins[1].origin.as_str(), list.plugins[1].options.len()), ("second time", 1));
        },
    );
}

/// The process runs as another user than the one who started it, by its program's
/// set-user-id bit.
#[test]
fn a_privileged_process_heeds_no_variable() {
    const NOBODY: u32 = 65534;
    let world = World::new();
    let env = world.venv("env");
    env.jax("cuda12", "1.0");
    let plugin = world.write("plugin.so", LIBRARY);
    let copy = world.at("test-program");
    let is_child = std::env::var_os("CYXLA_TEST_ISOLATED").is_some();
    if !is_child {
        fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        chown(&copy, Some(NOBODY), None).expect("the tests of privileged processes need root");
        fs::set_permissions(&copy, Permissions::from_mode(0o4755)).unwrap();
        fs::set_permissions(world.at(""), Permissions::from_mode(0o755)).unwrap();
    }
    // `sh` gets the usual command line as $0 and $@, and runs the copy with it.
    let script = format!("exec '{}' \"$@\"", copy.display());
    let test = Isolated::new("process::a_privileged_process_heeds_no_variable")
        .under(&["sh", "-c", &script])
        .variable("VIRTUAL_ENV", &env.root)
        .variable("CYXLA_PLUGIN", &plugin)
        .variable("CYXLA_PLATFORM", "npu")
        .variable("PJRT_NAMES_AND_LIBRARY_PATHS", format!("npu:{}", plugin.display()))
        .variable("CYXLA_PLUGIN_DIRS", world.at(""))
        .variable("XDG_CONFIG_HOME", world.at(""))
        .variable("TPU_LIBRARY_PATH", &plugin);
    run(test, || {
        assert!(cyxla::env::is_privileged(), "the file system ignores set-user-id programs");
        let list = discover::find();
        assert!(list.plugins.is_empty(), "{list:#?}");
        assert!(list.searched.iter().any(|place| place.contains("privileged")), "{:?}", list.searched);
        let error = runtime::initialize(None, None, None).unwrap_err();
        assert!(error.message().contains("CYXLA_PLUGIN (not set)"), "{error}");
    });
}
