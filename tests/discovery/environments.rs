//! Where Python environments are, in all their shapes.

use crate::builder::{
    LIBRARY, Site, World, assert_no_problem, assert_usable, module, problem, python, write,
};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn packages() -> String {
    format!("lib/python{}/site-packages", python().1)
}

fn executable(path: &Path, text: &str) {
    write(path, text);
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn lib64_is_the_same_folder_once_more() {
    let mut world = World::new();
    let env = world.active("env");
    symlink("lib", env.root.join("lib64")).unwrap();
    let cpu = env.declared("cyxla-cpu", module("cpu"));
    assert_usable(&world.find(), &[("cpu", &cpu)]);
}

#[test]
fn a_folder_of_libraries_of_its_own_counts_too() {
    let mut world = World::new();
    let env = world.active("env");
    let other = Site::below(&env.root, &packages().replace("lib/", "lib64/"));
    let (cuda, rocm) = (env.jax("cuda12", "1.0"), other.jax("rocm7", "1.0"));
    assert_usable(&world.find(), &[("cuda", &cuda), ("rocm", &rocm)]);
}

#[test]
fn debians_folders_belong_to_the_systems_python() {
    let mut world = World::new();
    let root = world.at("machine");
    let local = Site::below(&root, &format!("usr/local/lib/python{}/dist-packages", python().1));
    let system = Site::below(&root, "usr/lib/python3/dist-packages");
    let (cuda, rocm) = (local.jax("cuda12", "1.0"), system.jax("rocm7", "1.0"));
    system.jax("cuda12", "0.9");
    let wanted = [("cuda", &cuda), ("rocm", &rocm)];
    assert_usable(&world.find(), &wanted);
    world.set("PATH", "relative:.:/no/such/folder");
    assert_usable(&world.find(), &wanted);
}

#[test]
fn conda_has_no_configuration_and_sees_the_users_packages() {
    let mut world = World::new();
    let conda = Site::below(&world.at("conda"), &packages());
    conda.interpreter();
    symlink(format!("python{}", python().1), world.at("conda/lib/python3.1")).unwrap();
    let user = Site::below(&world.at("home"), &format!(".local/{}", packages()));
    let home = world.at("home");
    world.set("CONDA_PREFIX", &conda.root).set("HOME", home);
    let (cpu, npu) = (conda.declared("cyxla-cpu", module("cpu")), user.declared("cyxla-npu", module("npu")));
    assert_usable(&world.find(), &[("cpu", &cpu), ("npu", &npu)]);
    // An environment inside it comes first, and does not hide it.
    let inner = world.active("env").declared("cyxla-cpu", module("cpu"));
    assert_usable(&world.find(), &[("cpu", &inner), ("cpu", &cpu), ("npu", &npu)]);
    world.set("PYTHONNOUSERSITE", "1");
    assert_usable(&world.find(), &[("cpu", &inner), ("cpu", &cpu)]);
}

#[test]
fn an_environment_may_see_the_packages_of_its_base() {
    let mut world = World::new();
    let env = world.active("env");
    let base = Site::below(&world.at("base"), &packages());
    let user = Site::below(&world.at("home"), &format!(".local/{}", packages()));
    world.set("HOME", world.at("home"));
    let (cpu, _, _) = (env.declared("cyxla-cpu", module("cpu")), base.jax("rocm7", "1.0"), user.libtpu());
    assert_usable(&world.find(), &[("cpu", &cpu)]);
    let config = |sees: &str| {
        format!("home = {}\ninclude-system-site-packages = {sees}\n", world.at("base/bin").display())
    };
    write(&env.root.join("pyvenv.cfg"), config("true"));
    let (rocm, tpu) = (base.at("jax_plugins/xla_rocm7/xla_rocm_plugin.so"), user.at("libtpu/libtpu.so"));
    assert_usable(&world.find(), &[("cpu", &cpu), ("rocm", &rocm), ("tpu", &tpu)]);
}

#[test]
fn the_python_on_the_path_tells_by_its_files() {
    let mut world = World::new();
    let env = world.venv("env");
    let cpu = env.declared("cyxla-cpu", module("cpu"));
    world.set("PATH", format!("/no/such/folder:{}/bin", env.root.display()));
    assert_usable(&world.find(), &[("cpu", &cpu)]);
    // Without a configuration, where the link leads decides; so it does for a link
    // from elsewhere, as in Python itself.
    let mut world = World::new();
    let whole = Site::below(&world.at("whole"), "lib/python3.7/site-packages");
    let cuda = whole.jax("cuda12", "1.0");
    fs::create_dir_all(world.at("whole/bin")).unwrap();
    fs::copy("/bin/true", world.at("whole/bin/python3.7")).unwrap();
    fs::create_dir_all(world.at("links")).unwrap();
    symlink(world.at("whole/bin/python3.7"), world.at("links/python3")).unwrap();
    world.set("PATH", world.at("links"));
    let list = world.find();
    assert_usable(&list, &[("cuda", &cuda)]);
    assert_no_problem(&list);
    // An active environment hides it.
    world.active("env");
    assert_usable(&world.find(), &[]);
}

#[test]
fn a_shim_is_run_once_and_a_broken_one_passed_over() {
    let mut world = World::new();
    let env = world.venv("env");
    let cpu = env.jax("cuda12", "1.0");
    let log = world.at("log");
    executable(&world.at("broken/python3"), "#!/bin/sh\necho 'python3: command not found' >&2\nexit 127\n");
    let script = format!(
        "#!/bin/sh\necho run >> '{}'\nexec '{}/bin/python3' \"$@\"\n",
        log.display(),
        env.root.display()
    );
    executable(&world.at("shims/python3"), &script);
    world.set("PATH", format!("{}:{}", world.at("broken").display(), world.at("shims").display()));
    for _ in 0..3 {
        let list = world.find();
        assert_usable(&list, &[("cuda", &cpu)]);
        assert!(problem(&list, "broken/python3").contains("exit code 127"));
    }
    assert_eq!(fs::read_to_string(&log).unwrap(), "run\n");
}

#[test]
fn names_that_need_care() {
    for name in [
        OsStr::new("with space"),
        OsStr::new("quo'te\"s"),
        OsStr::new("line\nbreak"),
        OsStr::new("ümläut"),
        OsStr::new("-dash"),
        OsStr::new("$HOME"),
        OsStr::from_bytes(b"not-utf8-\xff"),
        OsStr::new(&"x".repeat(200)),
    ] {
        let mut world = World::new();
        let cpu = world.active(name).declared("cyxla-cpu", module("cpu"));
        let list = world.find();
        assert_usable(&list, &[("cpu", &cpu)]);
        assert_no_problem(&list);
    }
}

#[test]
fn variables_that_name_no_environment_are_reported() {
    let mut world = World::new();
    world.write("file", "");
    world.write("odd/pyvenv.cfg", b"home\n= = =\n\xff\xfe\nhome = \n");
    fs::create_dir_all(world.at("loop")).unwrap();
    symlink("lib", world.at("loop/lib")).unwrap();
    let absolute = |name: &str| world.at(name).into_os_string();
    let cases = [
        (absolute("nowhere"), "no such"),
        (absolute("file"), "not a folder"),
        (absolute("loop"), "no lib/python3"),
        (absolute("odd"), "no lib/python3"),
        ("relative".into(), "not an absolute path"),
        (OsStr::from_bytes(b"/\xff").into(), "no such"),
    ];
    for (value, part) in cases {
        for variable in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
            world.set(variable, &value);
            let list = world.find();
            assert!(problem(&list, variable).contains(part), "{value:?}: {:?}", list.failures);
            world.set(variable, "");
        }
    }
    assert_no_problem(&world.find());
}

#[test]
fn cyxla_python_is_searched_instead_of_the_others() {
    let mut world = World::new();
    world.active("active").jax("rocm7", "1.0");
    let env = world.venv("env");
    let cuda = env.jax("cuda12", "1.0");
    let script = format!("#!/bin/sh\nexec '{}/bin/python3' \"$@\"\n", env.root.display());
    executable(&world.at("bin/my-python"), &script);
    for value in ["env", "env/bin/python", "bin/my-python"] {
        let path = world.at(value);
        world.set("CYXLA_PYTHON", path);
        let list = world.find();
        assert_usable(&list, &[("cuda", &cuda)]);
        assert_no_problem(&list);
    }
    let bin = world.at("bin");
    world.set("CYXLA_PYTHON", "my-python").set("PATH", bin);
    assert_usable(&world.find(), &[("cuda", &cuda)]);
    let not_python = world.write("bin/text", LIBRARY);
    for (value, part) in [
        (world.at("nowhere"), "no such file"),
        (world.at("bin"), "no lib/python3"),
        (not_python, "cannot tell where its packages are"),
        ("no-such-python".into(), "no such file"),
    ] {
        world.set("CYXLA_PYTHON", value);
        let list = world.find();
        assert_usable(&list, &[]);
        assert!(problem(&list, "CYXLA_PYTHON").contains(part), "{:?}", list.failures);
    }
}
