//! Tests of the cache in one process; `tests/cache_processes.rs` has many.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::compile::saved::sample::{facts, surroundings};
use crate::discover::scratch::Scratch;

const HOUR: Duration = Duration::from_secs(3600);

fn key(program: &[u8]) -> Key {
    let surroundings = &surroundings();
    Key::new(&KeyParts { program, options: b"", surroundings, environment: "" })
}

fn cache(folder: &Scratch, size: u64) -> Cache {
    Cache::open(folder.path(), size).unwrap()
}

fn put(cache: &Cache, program: &[u8], code: &[u8]) -> Result<()> {
    cache.put(&key(program), &Saved::new(facts(), code))
}

fn get(cache: &Cache, program: &[u8]) -> Option<Vec<u8>> {
    cache.get(&key(program)).map(|saved| saved.executable().to_vec())
}

fn path(cache: &Cache, program: &[u8]) -> PathBuf {
    Folder::path_of(cache.path(), &entry_name(&key(program)))
}

fn set_age(path: &Path, age: Duration) {
    File::open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
}

fn age(path: &Path) -> Duration {
    fs::metadata(path).unwrap().modified().unwrap().elapsed().unwrap_or_default()
}

#[test]
fn what_is_put_in_is_found_by_its_key_alone() {
    let folder = Scratch::new("cache");
    let cache = Cache::open(&folder.path().join("made/when needed"), DEFAULT_SIZE).unwrap();
    assert_eq!(get(&cache, b"a"), None);
    assert_eq!((cache.entries().unwrap(), cache.clear().unwrap()), (vec![], Removed::default()));
    assert!(!cache.path().exists(), "looking makes no folder");
    put(&cache, b"a", b"code of a").unwrap();
    put(&cache, b"b", b"code of b").unwrap();
    put(&cache, b"a", b"new code of a").unwrap();
    assert_eq!(get(&cache, b"a").unwrap(), b"new code of a");
    let found = cache.get(&key(b"b")).unwrap();
    assert_eq!(found.facts, facts_with_key(b"b"));
    assert_eq!(get(&cache, b"c"), None);
    assert_eq!(cache.entries().unwrap().len(), 2);
    let files = || fs::read_dir(cache.path().join("cyxla-executables-v1")).unwrap().count();
    assert_eq!(files(), 5, "two entries, the counter, the lock, the tag");
    let size = cache.size().unwrap();
    assert_eq!(cache.clear().unwrap(), Removed { count: 2, size });
    assert_eq!((get(&cache, b"a"), files()), (None, 2));
}

fn facts_with_key(program: &[u8]) -> crate::compile::saved::Facts {
    crate::compile::saved::Facts { cache_key: Some(key(program).0), ..facts() }
}

#[test]
fn each_part_makes_another_key() {
    let here = surroundings();
    let parts = KeyParts { program: b"ab", options: b"c", surroundings: &here, environment: "" };
    let mut keys = vec![Key::new(&parts)];
    keys.push(Key::new(&KeyParts { program: b"a", options: b"bc", ..parts }));
    keys.push(Key::new(&KeyParts { environment: "XLA_FLAGS=\"--xla_a=1\"", ..parts }));
    let changes: [fn(&mut crate::compile::identity::Surroundings); 7] = [
        |here| here.platform = "cuda".into(),
        |here| here.platform_version = "2".into(),
        |here| here.api_version.1 += 1,
        |here| here.plugin.hash.0[31] += 1,
        |here| here.cpu = crate::compile::saved::sample::cpu(&["avx2"]),
        |here| here.device_kind = "H100".into(),
        |here| here.device_count += 1,
    ];
    for change in changes {
        let mut other = surroundings();
        change(&mut other);
        keys.push(Key::new(&KeyParts { surroundings: &other, ..parts }));
    }
    for (index, key) in keys.iter().enumerate() {
        assert!(!keys[..index].contains(key), "{index}");
    }
    let mut same = surroundings();
    same.plugin.name = "elsewhere.so".into();
    same.plugin.stat = None;
    assert_eq!(Key::new(&KeyParts { surroundings: &same, ..parts }), keys[0]);
}

#[test]
fn what_is_wrong_is_a_miss_and_goes() {
    let folder = Scratch::new("cache-damaged");
    let cache = cache(&folder, DEFAULT_SIZE);
    let damage: [fn(&Path); 4] = [
        |path| fs::write(path, "").unwrap(),
        |path| File::options().write(true).open(path).unwrap().set_len(100).unwrap(),
        |path| {
            let mut bytes = fs::read(path).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(path, bytes).unwrap();
        },
        // The entry of another key, whole.
        |path| fs::write(path, Saved::new(facts_with_key(b"b"), b"b").encode().unwrap()).unwrap(),
    ];
    for damage in damage {
        put(&cache, b"a", b"code").unwrap();
        assert!(get(&cache, b"a").is_some());
        damage(&path(&cache, b"a"));
        assert_eq!(get(&cache, b"a"), None);
        assert!(!path(&cache, b"a").exists());
    }
    put(&cache, b"a", b"code").unwrap();
    cache.remove(&key(b"a"));
    cache.remove(&key(b"a"));
    assert_eq!(get(&cache, b"a"), None);
}

#[test]
fn what_may_come_from_others_is_not_used() {
    let folder = Scratch::new("cache-others");
    let cache = cache(&folder, DEFAULT_SIZE);
    put(&cache, b"a", b"code").unwrap();
    let file = path(&cache, b"a");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let inside = fs::metadata(file.parent().unwrap()).unwrap();
    assert_eq!(inside.permissions().mode() & 0o777, 0o700);
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    assert!(get(&cache, b"a").is_some());
    fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
    assert_eq!(get(&cache, b"a"), None);
    assert!(file.exists(), "it is not known to be damaged");
}

#[test]
fn links_and_folders_in_its_place_are_left_alone() {
    let folder = Scratch::new("cache-links");
    let cache = cache(&folder, DEFAULT_SIZE);
    put(&cache, b"a", b"code").unwrap();
    let outside = folder.write("outside", fs::read(path(&cache, b"a")).unwrap());
    fs::remove_file(path(&cache, b"a")).unwrap();
    symlink(&outside, path(&cache, b"a")).unwrap();
    fs::create_dir(path(&cache, b"b")).unwrap();
    for program in [b"a", b"b"] {
        assert_eq!(get(&cache, program), None);
    }
    assert!(cache.entries().unwrap().is_empty());
    let error = put(&cache, b"b", b"code").unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
    put(&cache, b"a", b"code").unwrap();
    assert!(get(&cache, b"a").is_some(), "the link has been replaced");
    assert!(outside.exists() && path(&cache, b"b").is_dir());
    // A link in place of the whole folder leads nowhere.
    let other = Scratch::new("cache-linked");
    symlink(path(&cache, b"a").parent().unwrap(), other.path().join("cyxla-executables-v1")).unwrap();
    let linked = Cache::open(other.path(), DEFAULT_SIZE).unwrap();
    assert_eq!(get(&linked, b"a"), None);
    assert!(put(&linked, b"a", b"code").is_err() && linked.clear().is_err() && linked.entries().is_err());
    assert!(get(&cache, b"a").is_some());
}

#[test]
fn a_path_that_is_no_folder_is_an_error_only_when_it_matters() {
    let folder = Scratch::new("cache-file");
    let cache = Cache::open(&folder.write("file", ""), DEFAULT_SIZE).unwrap();
    assert_eq!(get(&cache, b"a"), None);
    let error = put(&cache, b"a", b"code").unwrap_err();
    assert!(error.message().contains("file cannot be written to"), "{error}");
    assert_eq!(Cache::open(Path::new(""), 1).unwrap_err().code(), Code::InvalidArgument);
    assert!(Cache::open(Path::new("relative"), 1).unwrap().path().is_absolute());
}

#[test]
fn the_longest_unused_goes_first() {
    let folder = Scratch::new("cache-size");
    let code = vec![7; 100_000];
    let size = Saved::new(facts_with_key(b"a"), &code).encode().unwrap().len() as u64;
    let cache = cache(&folder, 4 * size);
    for (program, hours) in [(b"a", 9), (b"b", 8), (b"c", 7), (b"d", 6)] {
        put(&cache, program, &code).unwrap();
        set_age(&path(&cache, program), hours * HOUR);
    }
    assert_eq!(cache.entries().unwrap().len(), 4);
    assert!(get(&cache, b"a").is_some());
    assert!(age(&path(&cache, b"a")) < HOUR, "a hit marks the entry");
    put(&cache, b"e", &code).unwrap();
    let left = [b"a", b"b", b"c", b"d", b"e"].map(|program| path(&cache, program).exists());
    assert_eq!(left, [true, false, false, true, true]);
    assert!(cache.size().unwrap() <= 4 * size * 9 / 10);
    let error = put(&cache, b"f", &[0; 500_000]).unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted);
    assert_eq!(cache.entries().unwrap().len(), 3);
}

#[test]
fn a_hit_marks_its_entry_once_an_hour() {
    let folder = Scratch::new("cache-mark");
    let cache = cache(&folder, DEFAULT_SIZE);
    put(&cache, b"a", b"code").unwrap();
    set_age(&path(&cache, b"a"), HOUR / 2);
    assert!(get(&cache, b"a").is_some() && age(&path(&cache, b"a")) > HOUR / 3);
    // A clock that was wrong must not keep it for ever.
    File::open(path(&cache, b"a")).unwrap().set_modified(SystemTime::now() + 99 * HOUR).unwrap();
    assert!(get(&cache, b"a").is_some());
    assert!(fs::metadata(path(&cache, b"a")).unwrap().modified().unwrap() < SystemTime::now() + HOUR);
}

#[test]
fn dead_writers_are_cleaned_up_after_and_nobody_else() {
    let folder = Scratch::new("cache-dead");
    let cache = cache(&folder, DEFAULT_SIZE);
    put(&cache, b"a", b"code").unwrap();
    let inside = path(&cache, b"a").parent().unwrap().to_owned();
    let make = |name: &str, hours: u32| {
        fs::write(inside.join(name), "x").unwrap();
        set_age(&inside.join(name), hours * HOUR);
    };
    let plugin = |digit: &str| format!("{}.plugin", digit.repeat(64));
    make("unfinished-1", 2);
    make("unfinished-2", 0);
    make("theirs", 9999);
    make(&plugin("a"), 9999);
    make(&plugin("b"), 1);
    make(&format!("{}.executable.bak", "a".repeat(64)), 9999);
    set_age(&inside.join("lock"), 25 * HOUR);
    put(&cache, b"b", b"code").unwrap();
    let there = |name: &str| inside.join(name).exists();
    assert!(!there("unfinished-1") && there("unfinished-2"));
    assert!(!there(&plugin("a")) && there(&plugin("b")));
    assert!(age(&inside.join("lock")) < HOUR);
    assert_eq!(cache.clear().unwrap().count, 2);
    assert!(!there("unfinished-2") && !there(&plugin("b")));
    assert!(there("theirs") && there(&format!("{}.executable.bak", "a".repeat(64))));
}

#[test]
fn one_process_at_a_time_looks() {
    let folder = Scratch::new("cache-lock");
    let code = vec![7; 100_000];
    let cache = cache(&folder, 150_000);
    put(&cache, b"a", &code).unwrap();
    let inside = path(&cache, b"a").parent().unwrap().to_owned();
    let lock = File::open(inside.join("lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    put(&cache, b"b", &code).unwrap();
    assert_eq!(cache.entries().unwrap().len(), 2, "another process does the work");
    drop(lock);
    put(&cache, b"c", &code).unwrap();
    assert_eq!(cache.entries().unwrap().len(), 1);
}

#[test]
fn a_plugin_is_read_once() {
    let folder = Scratch::new("cache-plugin");
    let cache = Cache::open(&folder.path().join("cache"), DEFAULT_SIZE).unwrap();
    let library = folder.write("plugin.so", "abc");
    let set_time = |time| File::open(&library).unwrap().set_modified(time).unwrap();
    set_time(SystemTime::now() + HOUR);
    let young = FileStat::of(&library).unwrap();
    let read = cache.plugin_file(&library, &young).unwrap();
    assert!(read.stat.is_none() && !cache.path().exists(), "it may change without a trace");
    set_time(SystemTime::now() - HOUR);
    std::thread::sleep(Duration::from_millis(200));
    let old = FileStat::of(&library).unwrap();
    let first = cache.plugin_file(&library, &old).unwrap();
    assert_eq!((first.stat, first.hash), (Some(old), read.hash));
    let again = cache.plugin_file(Path::new("/gone/plugin.so"), &old).unwrap();
    assert_eq!(again, first, "the file is not even opened");
    // Another hash, to see that it is the remembered one.
    let made_up = Hash([5; 32]);
    let name = format!("{}.plugin", old.hash());
    let remember = |record: &[u8]| {
        Folder::create(cache.path()).and_then(|inside| inside.write(&name, record)).unwrap();
        cache.plugin_file(&library, &old).unwrap().hash
    };
    let record = plugin_record(&made_up, &old);
    assert_eq!(remember(&record), made_up);
    for at in 0..record.len() {
        let mut damaged = record.clone();
        damaged[at] ^= 0x10;
        assert_eq!(remember(&damaged), read.hash, "{at}");
    }
    assert_eq!(remember(&record[..31]), read.hash);
    assert_eq!(remember(b""), read.hash);
}
