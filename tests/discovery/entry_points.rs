//! Packages that declare a plugin: how the entry point is written, where the module
//! is, and manifests that make asking it unnecessary.

use crate::builder::{
    LIBRARY, Site, World, assert_no_problem, assert_usable, module, module_with, problem, usable, write,
};
use cyxla::options::Value;
use std::fs;

#[test]
fn entry_point_files_as_tools_and_people_write_them() {
    let mut world = World::new();
    let env = world.active("env");
    let package = |name: &str, text: &[u8]| {
        env.package(&format!("cyxla-{name}"), "1.0", text);
        env.add(&format!("cyxla_{name}.py"), module_with(name, "{}", "p.so", ""));
    };
    env.add("p.so", LIBRARY);
    let good: [(&str, &[u8]); 8] = [
        ("tight", b"[cyxla.plugins]\nx=cyxla_tight\n"),
        ("spaces", b"[cyxla.plugins]\n  x   =   cyxla_spaces  \n"),
        ("crlf", b"[cyxla.plugins]\r\nx = cyxla_crlf\r\n"),
        ("short", b"[cyxla.plugins]\nx = cyxla_short"),
        ("comments", b"# one\n\n[cyxla.plugins]\n; two\nx = cyxla_comments\n"),
        ("later", b"[console_scripts]\nx = y:z\n\n[cyxla.plugins]\nx = cyxla_later\n"),
        ("extras", b"[cyxla.plugins]\nx = cyxla_extras [gpu,other]\n"),
        ("repeated", b"[cyxla.plugins]\na.b-c d = cyxla_repeated\n[other]\n[cyxla.plugins]\n"),
    ];
    let huge = [b"[cyxla.plugins]\n#", "#".repeat(4 << 20).as_bytes(), b"\nx = cyxla_huge\n"].concat();
    let bad: [(&str, &[u8], &str); 8] = [
        ("attribute", b"[cyxla.plugins]\nx = cyxla_attribute:plugin\n", "not a module"),
        ("equals", b"[cyxla.plugins]\ncyxla_equals\n", "no '='"),
        ("value", b"[cyxla.plugins]\nx =\n", "no module"),
        ("bytes", b"[cyxla.plugins]\nx = caf\xe9\n", "not UTF-8"),
        ("nul", b"[cyxla.plugins]\nx = a\0b\n", "no module"),
        ("code", b"[cyxla.plugins]\nx = os;import os\n", "no module"),
        ("relative", b"[cyxla.plugins]\nx = ..cyxla_relative\n", "no module"),
        ("huge", &huge, "longer than"),
    ];
    let neither: [(&str, &[u8]); 4] = [
        ("spaced", b"[ cyxla.plugins ]\nx = cyxla_spaced\n"),
        ("section", b"x = cyxla_section\n"),
        ("open", b"[cyxla.plugins\nx = cyxla_open\n"),
        ("case", b"[Cyxla.Plugins]\nx = cyxla_case\n"),
    ];
    let all = good.iter().chain(&neither).copied();
    for (name, text) in all.chain(bad.iter().map(|(name, text, _)| (*name, *text))) {
        package(name, text);
    }
    fs::create_dir_all(env.at("cyxla_folder-1.0.dist-info/entry_points.txt")).unwrap();
    let list = world.find();
    let mut found: Vec<&str> = usable(&list).iter().map(|(platform, _)| *platform).collect();
    let mut wanted = good.map(|(name, _)| name);
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    for (name, _, part) in bad {
        let problem = problem(&list, &format!("cyxla-{name} "));
        assert!(problem.contains(part), "{name}: {problem}");
    }
    assert_eq!(list.failures.len(), bad.len(), "{:?}", list.failures);
}

#[test]
fn a_module_says_everything_that_a_plugin_needs() {
    let mut world = World::new();
    let env = world.active("env");
    let options = "{'text': 'x', 'int': -5, 'list': [0, 1, 2], 'float': 0.5, 'true': True, 'empty': '', \
                    'n\\u00fcl': '\\u00fc', 'whole': 1.0}";
    let library = env.declared("cyxla-all", module_with("all_kinds", options, "plugin.so", ""));
    let list = world.find();
    assert_usable(&list, &[("all_kinds", &library)]);
    let found = &list.plugins[0];
    let values: Vec<&Value> = found.options.iter().map(|(_, value)| value).collect();
    let wanted = [
        &Value::String("x".into()),
        &Value::Int(-5),
        &Value::Ints(vec![0, 1, 2]),
        &Value::Float(0.5),
        &Value::Bool(true),
        &Value::String(String::new()),
        &Value::String("ü".into()),
        &Value::Float(1.0),
    ];
    assert_eq!(values, wanted);
    assert_eq!(found.version.as_deref(), Some("1.0"));
    assert!(found.origin.contains("'cyxla_all = cyxla_all' of package cyxla-all in "), "{}", found.origin);
    assert!(found.is_default, "a package declares it, so it may be");
    // Nothing is compiled into the environment by looking at it.
    assert!(!env.at("cyxla_all/__pycache__").exists());
}

#[test]
fn a_manifest_beside_the_module_means_that_nothing_runs() {
    let mut world = World::new();
    let env = world.active("env");
    let raises = "raise RuntimeError('must not be imported')\n";
    let text = r#"{"format": 1, "platform": "data", "library": "plugin.so", "create_options": {"n": 1}}"#;
    let library = env.declared("cyxla-data", raises);
    env.add("cyxla_data/cyxla_plugin.json", text);
    // One entry point names a module inside a package.
    env.package("cyxla-inner", "2.0", "[cyxla.plugins]\nx = inner.one\n");
    env.add("inner/one.py", raises);
    env.add("inner/cyxla_plugin.json", text.replace("\"data\"", "\"inner\""));
    let inner = env.add("inner/plugin.so", LIBRARY);
    for (name, text) in [
        ("json", "{".to_owned()),
        ("format", text.replace("1,", "99,")),
        ("escapes", text.replace("plugin.so", "../../../../etc/passwd")),
        ("deep", "[".repeat(60_000)),
        ("repeated", text.replace("\"format\": 1", "\"format\": 1, \"format\": 1")),
        ("long", " ".repeat(70_000)),
    ] {
        env.declared(&format!("cyxla-{name}"), raises);
        env.add(&format!("cyxla_{name}/cyxla_plugin.json"), text);
    }
    fs::remove_dir_all(env.root.join("bin")).unwrap();
    let list = world.find();
    assert_usable(&list, &[("data", &library), ("inner", &inner)]);
    assert_eq!(list.plugins[0].options.get("n"), Some(&Value::Int(1)));
    assert_eq!(list.plugins[1].version.as_deref(), Some("2.0"));
    for (name, part) in [
        ("json", "not JSON"),
        ("format", "format is 99"),
        ("escapes", "leaves the manifest's folder"),
        ("deep", "recursion limit"),
        ("repeated", "stands twice"),
        ("long", "longer than"),
    ] {
        let problem = problem(&list, &format!("package cyxla-{name} "));
        assert!(problem.contains(part), "{name}: {problem}");
    }
}

#[test]
fn packages_that_are_installed_in_place() {
    let mut world = World::new();
    let env = world.active("env");
    let project = |name: &str| {
        let root = world.at("sources").join(name);
        let module_name = name.replace('-', "_");
        write(&root.join(&module_name).join("__init__.py"), module(&module_name));
        let library = write(&root.join(&module_name).join("plugin.so"), LIBRARY);
        (root, module_name, library)
    };
    let (root, module_name, by_path) = project("by-path");
    env.add("__editable__.by_path-1.0.pth", format!("{}\n", root.display()));
    env.package("by-path", "1.0", format!("[cyxla.plugins]\nx = {module_name}\n"));
    // A hook, which only the interpreter can follow.
    let (root, module_name, by_hook) = project("by-hook");
    let place = root.join(&module_name);
    env.add("__editable__.by_hook-1.0.pth", "import by_hook_finder; by_hook_finder.install()\n");
    env.add(
        "by_hook_finder.py",
        format!(
            "import importlib.util, sys\n\nclass Finder:\n    @staticmethod\n    \
             def find_spec(name, path=None, target=None):\n        if name == '{module_name}':\n            \
             return importlib.util.spec_from_file_location(name, {place:?} + '/__init__.py', \
             submodule_search_locations=[{place:?}])\n\ndef install():\n    sys.meta_path.append(Finder)\n"
        ),
    );
    env.package("by-hook", "1.0", format!("[cyxla.plugins]\nx = {module_name}\n"));
    // The old way, with the metadata beside the sources.
    let (root, module_name, by_egg) = project("by-egg");
    write(&root.join("by_egg.egg-info/PKG-INFO"), "Metadata-Version: 2.1\nName: by-egg\nVersion: 4.0\n");
    write(&root.join("by_egg.egg-info/entry_points.txt"), format!("[cyxla.plugins]\nx = {module_name}\n"));
    env.add("by-egg.egg-link", format!("{}\n.", root.display()));
    env.add("easy-install.pth", format!("{}\n", root.display()));
    env.add("zz-odd.pth", "# comment\n\n../not-there\nimport sys\n");
    let list = world.find();
    assert_usable(&list, &[("by_hook", &by_hook), ("by_path", &by_path), ("by_egg", &by_egg)]);
    assert_eq!(list.plugins[2].version.as_deref(), Some("4.0"));
    assert_no_problem(&list);
}

#[test]
fn metadata_of_older_tools() {
    let mut world = World::new();
    let env = world.active("env");
    env.add("a_b-1.0-py3.11.egg-info/PKG-INFO", "Name: a-b\nVersion: 1.0\n");
    env.add("a_b-1.0-py3.11.egg-info/entry_points.txt", "[cyxla.plugins]\nx = a_b\n");
    env.add("a_b/__init__.py", module("egg_info"));
    let info = env.add("a_b/plugin.so", LIBRARY);
    env.add("c-2.0-py3.11.egg/EGG-INFO/PKG-INFO", "Name: c\nVersion: 2.0\n");
    env.add("c-2.0-py3.11.egg/EGG-INFO/entry_points.txt", "[cyxla.plugins]\nx = c\n");
    env.add("c-2.0-py3.11.egg/c/__init__.py", module("egg"));
    let egg = env.at("c-2.0-py3.11.egg/c/plugin.so");
    write(&egg, LIBRARY);
    env.add("easy-install.pth", "./c-2.0-py3.11.egg\n");
    env.add("single-1.0.egg-info", "Name: single\nVersion: 1.0\n");
    let list = world.find();
    let found: Vec<_> =
        usable(&list).iter().map(|(platform, path)| (*platform, path.canonicalize().unwrap())).collect();
    assert_eq!(found, [("egg_info", info.canonicalize().unwrap()), ("egg", egg.canonicalize().unwrap())]);
    assert_no_problem(&list);
}

#[test]
fn several_plugins_of_one_package_and_of_one_platform() {
    let mut world = World::new();
    let env = world.active("env");
    let (b, a) = (env.declared("cyxla-b", module("cpu")), env.declared("cyxla-a", module("cpu")));
    env.package("cyxla-two", "1.0", "[cyxla.plugins]\none = two.one\ntwo = two.two\n");
    env.add("two/__init__.py", "");
    env.add("two/one.py", module_with("one", "{}", "../one.so", ""));
    env.add("two/two.py", module_with("two", "{}", "../two.so", ""));
    let (one, two) = (env.add("one.so", LIBRARY), env.add("two.so", LIBRARY));
    // A package that offers JAX's own library, which is found by its name too.
    let cuda = env.jax("cuda12", "0.10.2");
    env.package("also-cuda", "1.0", "[cyxla.plugins]\ncuda = also_cuda\n");
    let library = "jax_plugins/xla_cuda12/xla_cuda_plugin.so";
    env.add("also_cuda.py", module_with("cuda", "{'preallocate': False}", library, ""));
    let list = world.find();
    let wanted = [("cpu", &a), ("cpu", &b), ("cuda", &cuda), ("cuda", &cuda), ("one", &one), ("two", &two)];
    assert_usable(&list, &wanted);
    assert!(list.plugins[2].origin.contains("also-cuda") && !list.plugins[2].options.is_empty());
    assert!(list.plugins[1].why_not_default.as_deref().unwrap().contains("in the same place"));
}

#[test]
fn the_first_package_of_a_name_counts() {
    let mut world = World::new();
    let env = world.active("env");
    let extra = Site::below(&world.at("extra"), "");
    env.declared("cyxla-pjrt-cpu", module("hidden"));
    let first = extra.declared("cyxla-pjrt-cpu", module("cpu"));
    world.set("PYTHONPATH", format!("{}:{}", world.at("none").display(), extra.path.display()));
    let list = world.find();
    assert_usable(&list, &[("cpu", &first)]);
    assert_no_problem(&list);
}
