//! The sources beside Python, and the order of them all.

use crate::builder::{LIBRARY, World, assert_usable, default, problem, usable};
use cyxla::discover::find_in;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

fn manifest(library: &str) -> String {
    format!(r#"{{"format": 1, "platform": "npu", "library": "{library}"}}"#)
}

/// A world with one plugin for one platform in every source, and the libraries in
/// the order of the search.
fn all_sources() -> (World, Vec<PathBuf>) {
    let mut world = World::new();
    let named = world.write("named/npu.so", LIBRARY);
    world.set("PJRT_NAMES_AND_LIBRARY_PATHS", format!("npu:{}", named.display()));
    let mut wanted = vec![named];
    for (place, variable) in [
        ("config", Some("XDG_CONFIG_HOME")),
        ("xdg", Some("XDG_CONFIG_DIRS")),
        ("machine/etc", None),
        ("data", Some("XDG_DATA_HOME")),
        ("share", Some("XDG_DATA_DIRS")),
    ] {
        world.write(format!("{place}/cyxla/plugins.d/npu.json"), manifest("npu.so"));
        wanted.push(world.write(format!("{place}/cyxla/plugins.d/npu.so"), LIBRARY));
        if let Some(variable) = variable {
            let folder = world.at(place);
            world.set(variable, folder);
        }
    }
    for place in ["dir1", "dir2"] {
        world.write(format!("{place}/npu.json"), manifest("npu.so"));
        wanted.push(world.write(format!("{place}/npu.so"), LIBRARY));
    }
    let folders = format!("{}:{}", world.at("dir1").display(), world.at("dir2").display());
    world.set("CYXLA_PLUGIN_DIRS", folders);
    let env = world.active("env");
    wanted.push(env.declared("cyxla-npu", "raise RuntimeError\n"));
    env.add("cyxla_npu/cyxla_plugin.json", manifest("plugin.so"));
    let installed = manifest("npu.so").replace("1,", "1, \"version\": \"0.1\",");
    world.write("data/cyxla/plugins/npu-0.1/plugin.json", installed);
    wanted.push(world.write("data/cyxla/plugins/npu-0.1/npu.so", LIBRARY));
    (world, wanted)
}

#[test]
fn earlier_sources_come_first_and_a_broken_one_leaves_the_next() {
    let (world, wanted) = all_sources();
    let wanted: Vec<(&str, &PathBuf)> = wanted.iter().map(|path| ("npu", path)).collect();
    for first in 0..wanted.len() {
        let list = world.find();
        assert_usable(&list, &wanted[first..]);
        assert_eq!(&default(&list).unwrap().path, wanted[first].1);
        std::fs::remove_file(wanted[first].1).unwrap();
    }
    let list = world.find();
    assert_eq!(default(&list), None);
    let problems =
        list.plugins.iter().filter(|found| found.problem.as_deref() == Some("there is no such file"));
    assert_eq!(problems.count(), wanted.len());
}

#[test]
fn cyxla_plugin_outdoes_all_and_is_never_passed_over() {
    let (mut world, wanted) = all_sources();
    let mine = world.write("mine.so", LIBRARY);
    world.set("CYXLA_PLUGIN", &mine).set("CYXLA_PLATFORM", "cuda");
    let list = world.find();
    assert_eq!(default(&list).unwrap().path, mine);
    assert_eq!(usable(&list).len(), wanted.len() + 1);
    assert!(list.plugins[1].why_not_default.as_deref().unwrap().contains("CYXLA_PLUGIN"));
    std::fs::remove_file(&mine).unwrap();
    let list = world.find();
    assert_eq!(default(&list), None);
    assert_eq!(list.plugins[0].problem.as_deref(), Some("there is no such file"));
}

#[test]
fn the_platform_outdoes_the_source() {
    let mut world = World::new();
    let first = world.write("first.so", LIBRARY);
    world.set("PJRT_NAMES_AND_LIBRARY_PATHS", format!("rocm:{0},cuda:{0}", first.display()));
    let env = world.active("env");
    env.package("lammps-jax-pjrt-cpu", "0.11.2", "");
    let cpu = env.add("lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so", LIBRARY);
    world.machine("dev/nvidia0", "");
    assert_usable(&world.find(), &[("cpu", &cpu), ("cuda", &first), ("rocm", &first)]);
    world.set("CYXLA_PLATFORM", "gpu");
    assert_eq!(default(&world.find()).unwrap().platform, "cuda");
}

#[test]
fn a_privileged_process_searches_only_what_belongs_to_the_system() {
    let (world, wanted) = all_sources();
    let list = find_in(&world.surroundings().privileged());
    assert_usable(&list, &[("npu", &wanted[3])]);
    assert!(list.searched.iter().any(|place| place.contains("privileged")), "{:?}", list.searched);
}

#[test]
fn values_that_are_empty_relative_or_no_text() {
    let names = [
        "CYXLA_PLUGIN",
        "PJRT_NAMES_AND_LIBRARY_PATHS",
        "CYXLA_PLUGIN_DIRS",
        "CYXLA_PYTHON",
        "PYTHONPATH",
        "TPU_LIBRARY_PATH",
        "XDG_CONFIG_HOME",
        "XDG_DATA_DIRS",
        "HOME",
        "PATH",
    ];
    let odd = OsStr::from_bytes(b"/no\xff/such");
    for value in [
        OsStr::new(""),
        OsStr::new("relative"),
        odd,
        OsStr::new(":::"),
        OsStr::new("/etc/passwd"),
        OsStr::new("/"),
    ] {
        for name in names {
            let mut world = World::new();
            world.set(name, value);
            let list = world.find();
            if value.is_empty() {
                assert_eq!(list.plugins.len() + list.failures.len(), 0, "{name}: {list:#?}");
            }
            assert!(default(&list).is_none_or(|found| found.path.is_file()), "{name}: {list:#?}");
        }
    }
    let mut world = World::new();
    world
        .set("PYTHONPATH", "relative")
        .set("CYXLA_PLUGIN_DIRS", OsStr::from_bytes(b"/no\xff/such:/etc/passwd"));
    world.set("CYXLA_PLATFORM", OsStr::from_bytes(b"\xff"));
    let list = world.find();
    assert!(problem(&list, "PYTHONPATH").contains("not an absolute path"));
    assert!(problem(&list, "/no\u{fffd}/such").contains("no such folder"));
    assert!(problem(&list, "/etc/passwd").contains("not a folder"));
    assert!(problem(&list, "CYXLA_PLATFORM").contains("not UTF-8"));
}
