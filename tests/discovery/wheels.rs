//! Wheels that are known by their files.

use crate::builder::{LIBRARY, World, assert_no_problem, assert_usable, default, module, problem, usable};
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn an_empty_environment_has_nothing() {
    let mut world = World::new();
    world.active("env");
    let list = world.find();
    assert_usable(&list, &[]);
    assert_no_problem(&list);
    assert!(list.searched.iter().any(|place| place.contains("VIRTUAL_ENV")), "{:?}", list.searched);
}

#[test]
fn jaxs_wheels_of_every_generation_the_newest_first() {
    let mut world = World::new();
    let env = world.active("env");
    let (cuda12, cuda13) = (env.jax("cuda12", "0.10.2"), env.jax("cuda13", "0.12.0.1"));
    let (rocm60, rocm10) = (env.jax("rocm60", "0.5.0"), env.jax("rocm10", "0.12.0"));
    let (rocm7, oneapi) = (env.jax("rocm7", "0.12.0"), env.jax("oneapi", "0.11.2"));
    let list = world.find();
    let wanted = [
        ("cuda", &cuda13),
        ("cuda", &cuda12),
        ("rocm", &rocm10),
        ("rocm", &rocm7),
        ("rocm", &rocm60),
        ("oneapi", &oneapi),
    ];
    assert_usable(&list, &wanted);
    assert_no_problem(&list);
    assert_eq!(list.plugins[0].version.as_deref(), Some("0.12.0.1"));
    assert!(list.plugins[0].origin.contains("package jax-cuda13-pjrt in"), "{}", list.plugins[0].origin);
    // No device is there, and nobody asks for Intel's.
    assert_eq!(default(&list), None);
    let why = |index: usize| list.plugins[index].why_not_default.as_deref().unwrap();
    assert!(
        why(0).contains("no NVIDIA GPU") && why(2).contains("no AMD GPU") && why(5).contains("asked for")
    );
    assert_eq!(list.choose(&["gpu".into()]).unwrap().path, cuda13);

    world.machine("sys/class/kfd/kfd/topology/nodes/1/properties", "simd_count 416\n");
    assert_eq!(default(&world.find()).unwrap().path, rocm10);
    assert_eq!(world.find().choose(&["gpu".into()]).unwrap().path, rocm10);
    world.machine("dev/nvidiactl", "");
    let list = world.find();
    assert_eq!(default(&list).unwrap().path, cuda13);
    assert!(list.plugins[1].why_not_default.as_deref().unwrap().contains("newer generation"));
    world.set("CYXLA_PLATFORM", "rocm");
    assert_eq!(default(&world.find()).unwrap().path, rocm10);
}

#[test]
fn with_everything_the_default_is_the_cpu() {
    let mut world = World::new();
    world.machine("dev/nvidia0", "");
    let env = world.active("env");
    let (tpu, rocm, cuda) = (env.libtpu(), env.jax("rocm7", "0.12.0"), env.jax("cuda12", "0.10.2"));
    let list = world.find();
    assert_usable(&list, &[("cuda", &cuda), ("rocm", &rocm), ("tpu", &tpu)]);
    assert_eq!(default(&list).unwrap().path, cuda);
    let cpu = env.declared("cyxla-pjrt-cpu", module("cpu"));
    let list = world.find();
    assert_usable(&list, &[("cpu", &cpu), ("cuda", &cuda), ("rocm", &rocm), ("tpu", &tpu)]);
    assert_eq!(default(&list).unwrap().path, cpu);
    assert!(list.plugins[1].why_not_default.as_deref().unwrap().contains("a plugin for cpu"));
    assert_no_problem(&list);
}

#[test]
fn cpu_wheels_that_say_nothing_come_behind_one_that_does() {
    let mut world = World::new();
    let env = world.active("env");
    let mut wheels = Vec::new();
    for (package, library) in [
        ("lammps-jax-pjrt-cpu", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"),
        ("fastatomstruct-xla-cpu", "fastatomstruct_xla_cpu/libpjrt_cpu.so"),
        ("xla-cpu-pjrt", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"),
    ] {
        env.package(package, "3.2.1", "");
        wheels.push(env.add(library, LIBRARY));
    }
    let wanted: Vec<_> = wheels.iter().map(|path| ("cpu", path)).collect();
    let list = world.find();
    assert_usable(&list, &wanted);
    assert!(list.plugins.iter().all(|found| found.version.as_deref() == Some("3.2.1")));
    let cpu = env.declared("cyxla-pjrt-cpu", module("cpu"));
    let list = world.find();
    assert_eq!(usable(&list)[0], ("cpu", cpu.as_path()));
    assert!(list.plugins[1].why_not_default.as_deref().unwrap().contains("declared by its package"));
}

#[test]
fn other_vendors_plugins_for_jax_are_left_alone() {
    let mut world = World::new();
    let env = world.active("env");
    env.package("jax-tt-plugin", "0.1.3", "[jax_plugins]\nlibtt = jax_plugins.libtt");
    env.add("libtt_tpu_compat.pth", "import os; os._exit(1)\n");
    env.add("jax_plugins/libtt/libtt.so", LIBRARY);
    env.package("mlir-tensorrt-jax", "0.4.4", "[jax_plugins]\nmlir_tensorrt = mlir_tensorrt_jax\n");
    env.add("mlir_tensorrt_jax/libmlir-tensorrt-pjrt.so", LIBRARY);
    env.add("jax_plugins/intel_extension_for_openxla/pjrt_plugin_xpu.so", LIBRARY);
    env.add("jax_plugins/notes.txt", "");
    env.add("jax_plugins/xla_cuda14.py", "");
    let list = world.find();
    assert_usable(&list, &[]);
    assert_no_problem(&list);
}

#[test]
fn plugin_folders_without_metadata_and_with_another_file_name() {
    let mut world = World::new();
    let env = world.active("env");
    env.add("jax_plugins/__init__.py", "");
    let cuda12 = env.add("jax_plugins/xla_cuda12/xla_cuda_plugin.so", LIBRARY);
    let cuda13 = env.add("jax_plugins/xla_cuda13/pjrt_c_api_gpu_plugin.so", LIBRARY);
    let list = world.find();
    assert_usable(&list, &[("cuda", &cuda13), ("cuda", &cuda12)]);
    assert_eq!(list.plugins[0].version, None);
}

#[test]
fn what_installs_and_removals_leave_behind() {
    let mut world = World::new();
    let env = world.active("env");
    let cpu = env.declared("cyxla-pjrt-cpu", module("cpu"));
    env.add(
        "~ax_cuda12_pjrt-0.10.1.dist-info/entry_points.txt",
        "[jax_plugins]\nx = jax_plugins.xla_cuda12\n",
    );
    env.add("~yxla_pjrt_cpu-0.0.9.dist-info/entry_points.txt", "[cyxla.plugins]\ncpu = cyxla_pjrt_cpu_old\n");
    env.add("~ax_plugins/xla_cuda12/xla_cuda_plugin.so", LIBRARY);
    env.add("jax_plugins/xla_cuda12/__pycache__/__init__.cpython-311.pyc", "");
    env.add("strange.dist-info/METADATA", "");
    // Metadata without its main file.
    env.add("cyxla_headless-1.0.dist-info/entry_points.txt", "[cyxla.plugins]\nheadless = cyxla_headless\n");
    env.add("cyxla_headless/__init__.py", module("headless"));
    let headless = env.add("cyxla_headless/plugin.so", LIBRARY);
    // Libraries that are no files, or gone.
    fs::create_dir_all(env.at("jax_plugins/xla_rocm7/xla_rocm_plugin.so")).unwrap();
    env.add("jax_plugins/xla_cuda13/__init__.py", "");
    symlink("gone.so", env.at("jax_plugins/xla_cuda13/xla_cuda_plugin.so")).unwrap();
    fs::remove_file(env.jax("rocm10", "0.12.0")).unwrap();
    let list = world.find();
    assert_usable(&list, &[("cpu", &cpu), ("headless", &headless)]);
    assert_eq!(problem(&list, "jax-rocm10-pjrt"), "there is no such file");
    let broken = list.plugins.iter().filter_map(|found| found.problem.as_deref());
    let mut broken: Vec<&str> = broken.collect();
    broken.sort_unstable();
    assert_eq!(broken, ["it is a directory", "there is no such file", "there is no such file"]);
    assert!(list.failures.is_empty(), "{:?}", list.failures);
}

#[test]
fn files_that_are_links_into_a_cache_keep_their_paths() {
    let mut world = World::new();
    let env = world.active("env");
    let library = env.jax("cuda12", "0.10.2");
    fs::create_dir_all(world.at("cache")).unwrap();
    for path in [&library, &env.at("jax_cuda12_pjrt-0.10.2.dist-info/entry_points.txt")] {
        let cached = world.at("cache").join(path.file_name().unwrap());
        fs::rename(path, &cached).unwrap();
        symlink(cached, path).unwrap();
    }
    let list = world.find();
    assert_usable(&list, &[("cuda", &library)]);
    assert_eq!(list.plugins[0].version.as_deref(), Some("0.10.2"));
}

#[test]
fn jaxs_folder_may_be_spread_and_the_first_of_a_name_counts() {
    let mut world = World::new();
    let env = world.active("env");
    let extra = crate::builder::Site::below(&world.at("extra"), "");
    world.set("PYTHONPATH", &extra.path);
    let (cuda, _) = (env.jax("cuda12", "0.10.2"), env.jax("rocm7", "0.12.0"));
    let rocm = extra.jax("rocm7", "0.13.0");
    let list = world.find();
    assert_usable(&list, &[("cuda", &cuda), ("rocm", &rocm)]);
    assert_eq!(list.plugins[1].version.as_deref(), Some("0.13.0"));
}
