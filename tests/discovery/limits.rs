//! Too many files, too large ones, and ones that are no files: all reported, none
//! waited for.

use crate::builder::{LIBRARY, World, problem, usable};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn ten_thousand_manifests_good_and_bad() {
    let world = World::new();
    let folder = "machine/etc/cyxla/plugins.d";
    world.write(format!("{folder}/p.so"), LIBRARY);
    for number in 0..10_000 {
        let text = match number % 2 {
            0 => format!(r#"{{"format": 1, "platform": "p{number}", "library": "p.so"}}"#),
            _ => "{".to_owned(),
        };
        world.write(format!("{folder}/{number:05}.json"), text);
    }
    let start = Instant::now();
    let list = world.find();
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!((list.plugins.len(), list.failures.len()), (5000, 5000));
    assert!(list.plugins[0].is_default && list.plugins[0].platform == "p0");
}

#[test]
fn things_in_place_of_a_manifest() {
    let world = World::new();
    let folder = "machine/etc/cyxla/plugins.d";
    world.write(format!("{folder}/z.json"), r#"{"format": 1, "platform": "npu", "library": "p.so"}"#);
    world.write(format!("{folder}/p.so"), LIBRARY);
    // A gigabyte that takes no room on disk.
    File::create(world.at(folder).join("big.json")).unwrap().set_len(1 << 30).unwrap();
    fs::create_dir(world.at(folder).join("folder.json")).unwrap();
    symlink("loop.json", world.at(folder).join("loop.json")).unwrap();
    symlink("gone", world.at(folder).join("dangling.json")).unwrap();
    symlink("/dev/zero", world.at(folder).join("device.json")).unwrap();
    let pipe = world.at(folder).join("pipe.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    world.write(format!("{folder}/bytes.json"), b"{\"format\": 1, \"platform\": \"\xff\"}");
    let start = Instant::now();
    let list = world.find();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(usable(&list).len(), 1);
    for (name, part) in [
        ("big", "longer than"),
        ("folder", "is a directory"),
        ("loop", "form a loop"),
        ("dangling", "no such file"),
        ("device", "not a regular file"),
        ("pipe", "not a regular file"),
        ("bytes", "not JSON"),
    ] {
        let problem = problem(&list, &format!("/{name}.json"));
        assert!(problem.contains(part), "{name}: {problem}");
    }
}

#[test]
fn folders_that_contain_themselves_and_pipes_among_packages() {
    let mut world = World::new();
    let env = world.active("env");
    let cuda = env.jax("cuda12", "1.0");
    for name in ["jax_plugins/xla_rocm7", "libtpu", "loop.dist-info", "self.egg-info"] {
        symlink(&env.path, env.at(name)).unwrap();
    }
    symlink("cycle.pth", env.at("cycle.pth")).unwrap();
    env.add("back.pth", ".\n./..\n../site-packages\n");
    for name in ["pipe.pth", "pipe-1.0.egg-info"] {
        assert!(Command::new("mkfifo").arg(env.at(name)).status().unwrap().success());
    }
    fs::create_dir(env.at("piped-1.0.dist-info")).unwrap();
    for name in ["METADATA", "entry_points.txt"] {
        let path = env.at("piped-1.0.dist-info").join(name);
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    let start = Instant::now();
    let list = world.find();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(usable(&list), [("cuda", cuda.as_path())]);
}

#[test]
fn files_that_change_while_they_are_read() {
    let mut world = World::new();
    let env = world.active("env");
    env.jax("cuda12", "1.0");
    let folder = "machine/etc/cyxla/plugins.d";
    let manifest = r#"{"format": 1, "platform": "npu", "library": "p.so"}"#;
    world.write(format!("{folder}/p.so"), LIBRARY);
    let end = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut round = 0;
            while !end.load(Ordering::Relaxed) {
                round += 1;
                let text = if round % 3 == 0 { &manifest[..20] } else { manifest };
                world.write(format!("{folder}/a.json"), text);
                env.jax("cuda12", &format!("1.{}", round % 2));
                let _ = fs::remove_dir_all(env.at("jax_plugins"));
                let _ = fs::remove_file(world.at(folder).join("a.json"));
            }
        });
        for _ in 0..300 {
            let list = world.find();
            assert!(list.plugins.len() <= 2, "{list:#?}");
            assert!(list.plugins.iter().all(|found| ["npu", "cuda"].contains(&found.platform.as_str())));
        }
        end.store(true, Ordering::Relaxed);
    });
}
