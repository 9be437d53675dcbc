//! Odd paths of plugins: what loads, and what each of the others is told. Every row
//! is tried in a process of its own, then all of them in one.

mod support;

use cyxla::error::Code;
use cyxla::plugin::Plugin;
use cyxla::runtime;
use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use support::{Folder, Isolated, add_on_real_plugin, each_isolated, real_plugin, run_add};

/// What comes of a path.
enum Outcome {
    Loads,
    Fails(Code, &'static [&'static str]),
}

use Outcome::{Fails, Loads};

struct Row {
    name: &'static str,
    /// Within the tree; used as it is when it is empty.
    path: OsString,
    outcome: Outcome,
}

const WITH_SPACE: &str = "with space/plug in.so";
const NOT_ASCII: &str = "with space/ünï-çödé 目录/плагин.so";
const NOT_UTF8: &[u8] = b"not \xff utf-8/p.so";
const FORBIDDEN: &str = "forbidden/p.so";

fn long_path() -> PathBuf {
    let name = "x".repeat(200);
    Path::new(&name).join(&name).join("p.so")
}

fn rows() -> Vec<Row> {
    let row = |name, path: &str, outcome| Row { name, path: path.into(), outcome };
    let invalid = |parts| Fails(Code::InvalidArgument, parts);
    vec![
        row("a space", WITH_SPACE, Loads),
        row("letters beyond ASCII", NOT_ASCII, Loads),
        Row { name: "bytes that are no UTF-8", path: OsString::from_vec(NOT_UTF8.to_vec()), outcome: Loads },
        row("a link", "link.so", Loads),
        row("a link to a link", "link2.so", Loads),
        Row { name: "a long path", path: long_path().into(), outcome: Loads },
        row("an empty path", "", invalid(&["empty"])),
        row("a folder", "dir.so", invalid(&["is a directory"])),
        row("nothing", "missing.so", Fails(Code::NotFound, &["missing.so", "no such file"])),
        row("a dangling link", "dangling.so", Fails(Code::NotFound, &["dangling.so"])),
        row("a loop of links", "loop_a.so", Fails(Code::NotFound, &["loop_a.so", "loop"])),
        row("a text", "text.so", invalid(&["text.so", "not an ELF file"])),
        row("a linker script", "ldscript.so", invalid(&["not an ELF file"])),
        row("an empty file", "empty.so", invalid(&["empty.so", "file is empty"])),
        row("a piece of the ELF header", "stub.so", invalid(&["cut off after 40 bytes"])),
        row("the first page", "truncated.so", invalid(&["cut off", "4096 bytes"])),
        row("another machine's", "wrong_arch.so", invalid(&["aarch64", "needs x86-64"])),
        row("a pipe", "pipe.so", invalid(&["not a regular file"])),
        row("a folder that is closed", FORBIDDEN, Fails(Code::PermissionDenied, &["permission"])),
        Row {
            name: "a path that no system call takes",
            path: "y/".repeat(3000).into(),
            outcome: invalid(&["too long"]),
        },
    ]
}

/// The tree that the rows speak of. The plugin's file is large, so it is linked.
struct Tree(Folder);

impl Tree {
    fn new() -> Self {
        let tree = Self(Folder::new("paths"));
        let plugin = fs::canonicalize(real_plugin()).expect("the plugin under test exists");
        for path in [
            Path::new(WITH_SPACE),
            Path::new(NOT_ASCII),
            Path::new(OsStr::from_bytes(NOT_UTF8)),
            Path::new("link.so"),
            &long_path(),
            Path::new(FORBIDDEN),
        ] {
            tree.link(&plugin, path);
        }
        tree.link(Path::new("link.so"), "link2.so".as_ref());
        tree.link(Path::new("/no/such/target.so"), "dangling.so".as_ref());
        tree.link(Path::new("loop_b.so"), "loop_a.so".as_ref());
        tree.link(Path::new("loop_a.so"), "loop_b.so".as_ref());
        fs::create_dir(tree.at("dir.so")).unwrap();
        tree.write("text.so", b"this is a text\n");
        tree.write("ldscript.so", b"/* GNU ld script */ INPUT(libm.so.6)\n");
        tree.write("empty.so", b"");
        let mut start = first_bytes(&plugin, 65536);
        tree.write("stub.so", &start[..40]);
        tree.write("truncated.so", &start[..4096]);
        start[18..20].copy_from_slice(&183u16.to_le_bytes());
        tree.write("wrong_arch.so", &start);
        let pipe = CString::new(tree.at("pipe.so").into_os_string().into_vec()).unwrap();
        // SAFETY: the path is a C string.
        assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o644) }, 0);
        // Everybody may go down to the closed folder, and nobody into it.
        fs::set_permissions(tree.0.path(), Permissions::from_mode(0o755)).unwrap();
        tree.set_forbidden(0o000);
        tree
    }

    fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(path)
    }

    fn link(&self, target: &Path, path: &Path) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.at(name), bytes).unwrap();
    }

    fn set_forbidden(&self, mode: u32) {
        let folder = self.at(FORBIDDEN).parent().unwrap().to_owned();
        fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
    }

    /// The path of a row as a caller would write it.
    fn path_of(&self, row: &Row) -> PathBuf {
        if row.path.is_empty() { PathBuf::new() } else { self.at(&row.path) }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.set_forbidden(0o755);
    }
}

fn first_bytes(path: &Path, count: usize) -> Vec<u8> {
    use std::io::Read;
    let mut bytes = vec![0; count];
    fs::File::open(path).unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

/// Runs `body` as a user without privileges, whom closed folders stop.
fn without_privileges(body: impl FnOnce()) {
    const NOBODY: libc::uid_t = 65534;
    // SAFETY: changing the effective user touches no memory.
    let become_user = |user| unsafe { libc::seteuid(user) };
    // SAFETY: as above.
    let is_root = unsafe { libc::geteuid() } == 0;
    if is_root {
        assert_eq!(become_user(NOBODY), 0, "root cannot become user {NOBODY} here");
    }
    body();
    if is_root {
        assert_eq!(become_user(0), 0);
    }
}

fn check_failure(row: &Row, path: &Path, code: Code, parts: &[&str]) {
    let attempt = || runtime::initialize(Some(path), Some("cpu"), None);
    let mut outcome = None;
    if code == Code::PermissionDenied {
        without_privileges(|| outcome = Some(attempt()));
    }
    let error = outcome.unwrap_or_else(attempt).expect_err(row.name);
    assert_eq!(error.code(), code, "{}: {error}", row.name);
    for part in parts {
        assert!(error.message().contains(part), "{}: `{error}` does not say `{part}`", row.name);
    }
    if !row.path.is_empty() {
        let shown = path.to_string_lossy();
        assert_eq!(error.detail("plugin.path"), Some(&*shown), "{}", row.name);
    }
    assert!(!runtime::is_initialized());
}

/// The variable makes the library read the file, which must not come first.
#[test]
fn flags_change_no_outcome() {
    const FLAGS: (&str, &str) = ("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false");
    support::isolated("flags_change_no_outcome", &[FLAGS], || {
        let tree = Tree::new();
        for row in rows() {
            if let Fails(code, parts) = row.outcome {
                check_failure(&row, &tree.path_of(&row), code, parts);
            }
        }
        let endless = runtime::initialize(Some(Path::new("/dev/zero")), Some("cpu"), None);
        assert_eq!(endless.expect_err("it is no file").code(), Code::InvalidArgument);
        add_on_real_plugin();
    });
}

/// How many different files are mapped into this process from the plugin's path.
fn mapped_plugins() -> usize {
    let plugin = fs::canonicalize(real_plugin()).unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mut files: Vec<&str> = maps
        .lines()
        .filter(|line| line.ends_with(plugin.to_str().unwrap()))
        .filter_map(|line| line.split_whitespace().nth(4))
        .collect();
    files.sort_unstable();
    files.dedup();
    files.len()
}

#[test]
fn each_row_in_a_process_of_its_own() {
    let cases = rows().into_iter().map(|row| (row.name.to_owned(), row));
    let name = "each_row_in_a_process_of_its_own";
    each_isolated(name, "CYXLA_TEST_ROW", cases, |row| {
        let tree = Tree::new();
        let path = tree.path_of(row);
        match row.outcome {
            Loads => {
                let info = runtime::initialize(Some(&path), Some("cpu"), None).expect(row.name);
                assert_eq!(info.plugin_path, path);
                run_add().expect(row.name);
            }
            Fails(code, parts) => {
                check_failure(row, &path, code, parts);
                add_on_real_plugin();
            }
        }
    });
}

#[test]
fn all_rows_in_one_process() {
    support::isolated("all_rows_in_one_process", &[], || {
        let tree = Tree::new();
        for row in rows() {
            if let Fails(code, parts) = row.outcome {
                check_failure(&row, &tree.path_of(&row), code, parts);
            }
        }
        for row in rows().iter().filter(|row| matches!(row.outcome, Loads)) {
            Plugin::load(&tree.path_of(row), None, Vec::new)
                .unwrap_or_else(|error| panic!("{}: {error}", row.name));
        }
        assert_eq!(mapped_plugins(), 1, "all links lead to one file");
        let link = tree.at("link.so");
        let first = runtime::initialize(Some(&link), Some("cpu"), None).unwrap();
        assert_eq!(first.plugin_path, link);
        for other in [tree.at("link2.so"), real_plugin(), tree.at("missing.so")] {
            let again = runtime::initialize(Some(&other), Some("cpu"), None).unwrap();
            assert!(std::ptr::eq(first, again), "there is one runtime");
        }
        run_add().unwrap();
    });
}

/// Loads `path` in a working folder that holds `link.so`.
fn from_the_folder(test: &str, path: &'static str, search: Option<&Path>) {
    let tree = Tree::new();
    let mut child = Isolated::new(test);
    if let Some(search) = search {
        child = child.variable("LD_LIBRARY_PATH", search);
    }
    let here = fs::canonicalize(tree.at("")).unwrap();
    let ended = child.in_folder(here).run(move || {
        let info = runtime::initialize(Some(Path::new(path)), Some("cpu"), None).unwrap();
        let wanted = std::env::current_dir().unwrap().join("link.so");
        assert_eq!(info.plugin_path, wanted);
        run_add().unwrap();
    });
    if let Some(ended) = ended {
        ended.assert_well();
    }
}

#[test]
fn a_relative_path_starts_at_the_working_folder() {
    from_the_folder("a_relative_path_starts_at_the_working_folder", "./link.so", None);
}

#[test]
fn a_bare_name_is_a_file_of_the_working_folder() {
    // Another library of that name, where the dynamic loader would look for it.
    let decoy = Folder::new("decoy");
    let library = support::native_library("no_symbol.c", &decoy);
    fs::rename(library, decoy.path().join("link.so")).unwrap();
    let name = "a_bare_name_is_a_file_of_the_working_folder";
    from_the_folder(name, "link.so", Some(decoy.path()));
}

#[test]
fn a_bare_name_is_not_searched_elsewhere() {
    support::isolated("a_bare_name_is_not_searched_elsewhere", &[], || {
        // Every Linux system has this one in its library folders.
        let error = runtime::initialize(Some(Path::new("libm.so.6")), Some("cpu"), None)
            .expect_err("there is no such file here");
        assert_eq!(error.code(), Code::NotFound, "{error}");
        add_on_real_plugin();
    });
}
