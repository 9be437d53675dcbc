//! Modules and interpreters that fail, in every way, beside ones that do not.

use crate::builder::{World, assert_usable, module, module_with, problem, usable};
use std::fs;
use std::time::{Duration, Instant};

const BEGINNING: &str = "PLATFORM = 'cpu'\nCREATE_OPTIONS = {}\n\n\n";

fn failing() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let text = |text: &str| text.as_bytes().to_vec();
    let with = |rest: &str| text(&format!("{BEGINNING}{rest}"));
    let options = |options: &str| text(&module_with("x", options, "plugin.so", ""));
    vec![
        (
            "raises-import",
            text("import a_module_that_is_not_there\n"),
            "ModuleNotFoundError: No module named",
        ),
        (
            "raises-value",
            text("raise ValueError('broken\\non two lines')\n"),
            "ValueError: broken on two lines",
        ),
        (
            "raises-odd",
            text("class E(Exception):\n  def __str__(self): raise self\nraise E\n"),
            "text cannot be made",
        ),
        ("syntax-error", text("def library_path(:\n"), "SyntaxError"),
        ("not-utf8", b"PLATFORM = '\xff\xfe'\n".to_vec(), "SyntaxError"),
        ("exits", text("raise SystemExit(0)\n"), "SystemExit: 0"),
        ("hard-exit", text("import os\nos._exit(0)\n"), "exit code 0"),
        ("aborts", text("import os\nos.abort()\n"), "signal 6"),
        ("no-function", with(""), "no function library_path"),
        ("not-callable", with("library_path = 'plugin.so'\n"), "no function library_path"),
        ("needs-argument", with("def library_path(x):\n    return x\n"), "missing 1 required"),
        ("returns-none", with("def library_path():\n    pass\n"), "gave NoneType"),
        (
            "returns-relative",
            with("def library_path():\n    return 'plugin.so'\n"),
            "expected an absolute path",
        ),
        ("returns-nul", with("def library_path():\n    return '/a\\0b'\n"), "expected an absolute path"),
        ("no-such-file", text(&module_with("x", "{}", "gone.so", "")), "no such file"),
        ("is-a-folder", text(&module_with("x", "{}", "", "")), "is a directory"),
        ("no-platform", text(&module("x").replace("PLATFORM", "PLATFROM")), "no PLATFORM"),
        ("platform-int", text(&module("x").replace("'x'", "7")), "of type int, expected str"),
        ("platform-bytes", text(&module("x").replace("'x'", "b'x'")), "of type bytes, expected str"),
        ("platform-empty", text(&module("")), "PLATFORM is empty"),
        ("platform-newline", text(&module("c\\npu")), "no platform name"),
        ("platform-path", text(&module("../cpu")), "no platform name"),
        ("platform-surrogate", text(&module("\\udcff")), "which is no text"),
        ("no-options", text(&module("x").replace("CREATE_OPTIONS", "OPTIONS")), "no CREATE_OPTIONS"),
        ("options-list", options("[1]"), "of type list, expected dict"),
        ("options-none", options("{'a': None}"), "'a' is None"),
        ("options-nested", options("{'a': {'b': 1}}"), "'a' is {'b': 1}"),
        ("options-too-big", options("{'a': 1 << 63}"), "64-bit integer"),
        ("options-infinite", options("{'a': float('inf')}"), "'a' is inf"),
        ("options-mixed-list", options("{'a': [1, '2']}"), "list of 64-bit integers"),
        ("options-int-name", options("{1: 1}"), "the name 1, expected a string"),
        ("options-odd-name", options("{'a b': 1}"), "white space"),
        ("too-much", options("{'a': 'x' * 100000}"), "longer than 65536 bytes"),
    ]
}

#[test]
fn each_failing_module_is_reported_with_its_own_words() {
    let mut world = World::new();
    let env = world.active("env");
    let cpu = env.declared("cyxla-pjrt-cpu", module("cpu"));
    for (name, source, _) in failing() {
        env.declared(&format!("cyxla-{name}"), source);
    }
    env.package("cyxla-no-module", "1.0", "[cyxla.plugins]\nx = nowhere.at.all\n");
    let list = world.find();
    assert_usable(&list, &[("cpu", &cpu)]);
    for (name, _, part) in failing() {
        let problem = problem(&list, &format!("package cyxla-{name} "));
        assert!(problem.contains(part), "{name}: {problem}");
        assert!(!problem.contains('\n'), "{name}: {problem}");
    }
    assert!(problem(&list, "package cyxla-no-module ").contains("No module named 'nowhere'"));
}

#[test]
fn what_a_module_does_besides_is_no_problem() {
    let mut world = World::new();
    let env = world.active("env");
    let with = |platform: &str, extra: &str| module_with(platform, "{}", "plugin.so", extra);
    let extra = "import os\nif os.fork() == 0:\n    import time\n    time.sleep(60)\n    os._exit(0)\n";
    let a = env.declared("leaves-a-child", with("a", extra));
    let extra = "import sys\nprint('x' * (1 << 20))\nprint('{\"platform\": \"forged\"}')\nsys.stderr.write('y' * (1 << 20))\n";
    let b = env.declared("prints", with("b", extra));
    let c = env.declared("reads", with("c", "import sys\nassert sys.stdin.read() == ''\n"));
    let source = with("d", "import pathlib\n").replace("return os.path.join", "return pathlib.Path");
    let d = env.declared("tells-a-path-object", source);
    let e = env.declared(
        "leaves-a-thread",
        with("e", "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n"),
    );
    let start = Instant::now();
    let list = world.find();
    let mut found = usable(&list);
    found.sort_unstable();
    let wanted = [&a, &b, &c, &d, &e].map(|path| path.as_path());
    assert_eq!(found.iter().map(|(_, path)| *path).collect::<Vec<_>>(), wanted, "{:?}", list.failures);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn modules_that_hang_are_stopped_and_the_time_for_all_is_bounded() {
    let mut world = World::new();
    let env = world.active("env");
    env.declared("a-hangs", "import time\ntime.sleep(3600)\n");
    env.declared("b-hangs", format!("{BEGINNING}def library_path():\n    while True:\n        pass\n"));
    env.declared("c-is-late", module("cpu"));
    let start = Instant::now();
    let patience = Duration::from_secs(2);
    let surroundings = world.surroundings().patience(patience, 2 * patience);
    let list = cyxla::discover::find_in(&surroundings);
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    assert_usable(&list, &[]);
    for name in ["a-hangs", "b-hangs"] {
        assert!(problem(&list, name).contains("and was stopped"), "{:?}", list.failures);
    }
    assert!(problem(&list, "c-is-late").contains("was not asked"), "{:?}", list.failures);
    // Answers are kept, so a second look is quick, and has time for the last one.
    let start = Instant::now();
    let list = cyxla::discover::find_in(&surroundings);
    assert_eq!(usable(&list).len(), 1, "{:?}", list.failures);
    assert!(problem(&list, "a-hangs").contains("and was stopped"));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn a_changed_module_is_asked_again() {
    let mut world = World::new();
    let env = world.active("env");
    let library = env.declared("cyxla-cpu", module("cpu"));
    assert_usable(&world.find(), &[("cpu", &library)]);
    env.add("cyxla_cpu/__init__.py", module("another"));
    assert_usable(&world.find(), &[("another", &library)]);
}

#[test]
fn an_interpreter_that_fails_is_reported_once_and_hides_nothing_else() {
    let cases: [(&[u8], &str); 3] = [
        (b"/caf\xe9\n", "does not start"),
        (b"import os; os._exit(3)\n", "exit code 3"),
        (b"import time; time.sleep(3600)\n", "did not start within"),
    ];
    for (content, part) in cases {
        let mut world = World::new();
        let env = world.active("env");
        env.add("first.pth", content);
        env.declared("cyxla-x", module("x"));
        env.declared("cyxla-y", module("y"));
        let tpu = env.libtpu();
        let surroundings = world.surroundings().patience(Duration::from_secs(2), Duration::from_secs(20));
        let list = cyxla::discover::find_in(&surroundings);
        // Newer interpreters skip a `.pth` file that is not UTF-8.
        if usable(&list).len() == 3 && content.starts_with(b"/caf") {
            continue;
        }
        assert_usable(&list, &[("tpu", &tpu)]);
        let problem = problem(&list, &env.root.display().to_string());
        assert!(problem.contains(part) && problem.contains("cyxla-x, cyxla-y"), "{problem}");
    }
    let mut world = World::new();
    let env = world.active("env");
    env.declared("cyxla-x", module("x"));
    fs::remove_dir_all(env.root.join("bin")).unwrap();
    assert!(problem(&world.find(), &env.root.display().to_string()).contains("it has no interpreter"));
}
