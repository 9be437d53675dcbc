//! The executable cache in many processes at once, which are killed or run out of
//! room while they write. Whatever happens, nobody reads anything but what was written.

mod support;

use std::env;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cyxla::compile::cache::{Cache, Key, KeyParts};
use cyxla::compile::identity::{CpuFeatures, Hash, PluginFile, Surroundings};
use cyxla::compile::saved::{Facts, Saved};
use cyxla::dtype::DType;
use cyxla::error::{Code, Result};
use cyxla::program::Signature;
use support::{Folder, Isolated};

/// The folder of the cache that a child process is to use, and its number.
const FOLDER: &str = "CYXLA_TEST_CACHE";
const NUMBER: &str = "CYXLA_TEST_NUMBER";

fn surroundings() -> Surroundings {
    Surroundings {
        platform: "cpu".into(),
        platform_version: "1".into(),
        api_version: (0, 1),
        plugin: PluginFile { name: "plugin.so".into(), hash: Hash([1; 32]), stat: None },
        cpu: CpuFeatures::here(),
        device_kind: "cpu".into(),
        device_count: 1,
    }
}

fn key(name: u64) -> Key {
    let here = surroundings();
    let program = &name.to_le_bytes();
    Key::new(&KeyParts { program, options: b"", surroundings: &here, environment: "" })
}

/// Code that tells under which name it belongs and whether it is whole.
fn code(name: u64, version: u64, words: usize) -> Vec<u8> {
    let mut code = [name, version, words as u64].map(u64::to_le_bytes).as_flattened().to_vec();
    let mut word = name ^ version;
    for _ in 0..words {
        word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        code.extend(word.to_le_bytes());
    }
    code
}

fn assert_right(name: u64, found: &[u8]) {
    let number = |at: usize| u64::from_le_bytes(found[at..at + 8].try_into().expect("eight bytes"));
    assert_eq!(number(0), name);
    assert!(found == code(name, number(8), number(16) as usize), "the code of {name} is not what was put in");
}

fn put(cache: &Cache, name: u64, code: &[u8]) -> Result<()> {
    let facts = Facts {
        library_version: "0".into(),
        made_in: surroundings(),
        name: name.to_string(),
        options: String::new(),
        signature: Signature::default(),
        parameters: Vec::new(),
        index_dtype: DType::S32,
        replica_count: 1,
        partition_count: 1,
        devices: vec![0],
        cache_key: None,
    };
    cache.put(&key(name), &Saved::new(facts, code))
}

/// Whether there is an executable of this name; it is the right one.
fn get(cache: &Cache, name: u64) -> bool {
    let found = cache.get(&key(name));
    if let Some(saved) = &found {
        assert_right(name, saved.executable());
    }
    found.is_some()
}

fn cache_at(folder: &Path, size: u64) -> Cache {
    Cache::open(folder, size).expect("a cache")
}

/// All entries as they stand, none of which may ever be seen half written.
fn assert_whole(cache: &Cache) -> usize {
    let entries = cache.entries().expect("the entries");
    for entry in &entries {
        let Ok(bytes) = fs::read(&entry.path) else { continue };
        if let Err(error) = Saved::decode(&bytes) {
            panic!("{}: {error}", entry.path.display());
        }
    }
    entries.len()
}

fn unfinished(cache: &Cache) -> usize {
    let inside = fs::read_dir(cache.path().join("cyxla-executables-v1")).expect("the cache's own folder");
    let names = inside.map(|entry| entry.expect("an entry").file_name());
    names.filter(|name| name.to_string_lossy().starts_with("unfinished-")).count()
}

/// In a child process: its number and the folder of the cache.
fn child() -> Option<(u64, PathBuf)> {
    let number = env::var(NUMBER).ok()?.parse().expect("a number");
    Some((number, env::var_os(FOLDER).expect("a folder").into()))
}

/// Runs a test in some processes at once, each with its number; all end well.
fn at_once(test: &str, count: usize, folder: &Path) {
    let run = |number: usize| {
        let this = Isolated::new(test).variable(NUMBER, number.to_string()).variable(FOLDER, folder);
        this.run(|| unreachable!("this is the parent")).expect("how the child ended").assert_well();
    };
    thread::scope(|scope| {
        for number in 0..count {
            scope.spawn(move || run(number));
        }
    });
}

/// Runs the body in a child process, whose name and number it has.
fn in_child(test: &str, body: impl FnOnce(u64, &Path)) -> bool {
    let Some((number, folder)) = child() else { return false };
    Isolated::new(test).run(|| body(number, &folder));
    true
}

#[test]
fn processes_share_entries_and_keep_to_the_size() {
    const TEST: &str = "processes_share_entries_and_keep_to_the_size";
    const SIZE: u64 = 3 << 20;
    let share = |number: u64, folder: &Path| {
        let cache = cache_at(folder, SIZE);
        let mut hits = 0;
        for round in 0..150 {
            // A few keys are everybody's, the others its own.
            let name = if round % 3 == 0 { round % 5 } else { 1000 * (number + 1) + round % 40 };
            hits += u32::from(get(&cache, name));
            put(&cache, name, &code(name, round, 512 * (1 + (round % 7) as usize))).expect("room");
            get(&cache, name);
        }
        assert!(hits > 0);
    };
    if in_child(TEST, share) {
        return;
    }
    let folder = Folder::new("cache-shared");
    at_once(TEST, 6, folder.path());
    let cache = cache_at(folder.path(), SIZE);
    assert!(assert_whole(&cache) > 20);
    assert_eq!(unfinished(&cache), 0);
    // Whoever held the lock may have looked before the last ones wrote.
    put(&cache, 1, &code(1, 1, 1)).expect("room");
    assert!(cache.size().expect("a size") <= SIZE + (1 << 20));
}

#[test]
fn a_cache_may_be_cleared_at_any_time() {
    const TEST: &str = "a_cache_may_be_cleared_at_any_time";
    let share = |number: u64, folder: &Path| {
        let cache = cache_at(folder, 1 << 20);
        let end = Instant::now() + Duration::from_millis(700);
        let (mut kept, mut lost) = (0, 0);
        while Instant::now() < end {
            match number {
                0 => drop(cache.clear().expect("the cache can be cleared")),
                // As thorough as users are.
                1 => {
                    let _ = fs::remove_dir_all(cache.path());
                    thread::sleep(Duration::from_millis(5));
                }
                _ => match put(&cache, kept % 10, &code(kept % 10, kept, 100)) {
                    Ok(()) => kept += 1,
                    Err(error) => {
                        assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
                        lost += 1;
                    }
                },
            }
            get(&cache, kept % 10);
        }
        assert!(number < 2 || kept > 0, "{lost} failed");
    };
    if in_child(TEST, share) {
        return;
    }
    let folder = Folder::new("cache-cleared");
    let inside = folder.path().join("cache");
    at_once(TEST, 4, &inside);
    let cache = cache_at(&inside, 1 << 20);
    assert_whole(&cache);
    put(&cache, 1, &code(1, 1, 1)).expect("the cache works as before");
    assert!(get(&cache, 1));
}

/// A process that writes without an end, and says when it has begun.
fn start_writer(test: &str, number: u64, folder: &Path) -> Child {
    let mut command = Command::new(env::current_exe().expect("the test program has a path"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(NUMBER, number.to_string());
    command.env(FOLDER, folder).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a child")
}

fn wait_until_writing(child: &mut Child) {
    const SIGN: &[u8] = b"#";
    let output = child.stdout.as_mut().expect("a pipe");
    let mut byte = [0];
    while byte != *SIGN {
        output.read_exact(&mut byte).expect("the child writes");
    }
}

#[test]
fn killed_writers_leave_nothing_that_is_read() {
    const TEST: &str = "killed_writers_leave_nothing_that_is_read";
    const NAMES: u64 = 6;
    const WRITERS: u64 = 4;
    if let Some((number, folder)) = child() {
        let cache = cache_at(&folder, 8 << 20);
        for version in 0_u64.. {
            let name = (version * number) % NAMES;
            put(&cache, name, &code(name, version, 6_000)).expect("room");
            if version == 0 {
                use std::io::Write;
                let mut output = std::io::stdout();
                output.write_all(b"#").and_then(|()| output.flush()).expect("somebody reads");
            }
        }
    }
    let folder = Folder::new("cache-killed");
    let cache = cache_at(folder.path(), 8 << 20);
    let mut hits = 0;
    for round in 0..500 / WRITERS {
        let mut writers: Vec<Child> =
            (0..WRITERS).map(|number| start_writer(TEST, 1 + number, folder.path())).collect();
        writers.iter_mut().for_each(wait_until_writing);
        thread::sleep(Duration::from_micros(round * 7919 % 2000));
        for mut writer in writers {
            writer.kill().expect("the child can be killed");
            writer.wait().expect("the child can be waited for");
        }
        hits += (0..NAMES).filter(|&name| get(&cache, name)).count();
        if round % 25 == 0 {
            assert_whole(&cache);
        }
    }
    assert!(hits > 100, "{hits} of {} were there", NAMES * 500 / WRITERS);
    assert!(assert_whole(&cache) > 0);
    assert!(unfinished(&cache) > 0, "nobody was killed while writing");
}

#[test]
fn what_does_not_fit_on_the_disk_is_not_kept() {
    const TEST: &str = "what_does_not_fit_on_the_disk_is_not_kept";
    let folder =
        env::var_os(FOLDER).map_or_else(|| Folder::new("cache-full").path().to_owned(), PathBuf::from);
    // Writing past the limit fails in the middle, as it does on a full disk.
    let script = "trap '' XFSZ; ulimit -f 100; exec \"$@\"";
    let ended = Isolated::new(TEST).under(&["sh", "-c", script, "sh"]).variable(FOLDER, &folder).run(|| {
        let cache = cache_at(&folder, 1 << 30);
        put(&cache, 1, &code(1, 1, 1000)).expect("there is room for this");
        for (name, words) in [(2, 100_000), (3, 7_000), (1, 100_000)] {
            let error = put(&cache, name, &code(name, 2, words)).map(|()| words);
            if words == 100_000 {
                let error = error.expect_err("there is no room for this");
                assert_eq!(error.code(), Code::FailedPrecondition);
                assert!(error.message().contains("too large"), "{error}");
            }
            assert_eq!(unfinished(&cache), 0);
        }
        assert!(get(&cache, 1), "what was there stays");
        assert!(!get(&cache, 2));
        assert_whole(&cache);
    });
    if let Some(ended) = ended {
        ended.assert_well();
        fs::remove_dir_all(folder).expect("the folder can be removed");
    }
}
