//! `cyxla inspect`: everything that a file tells, without a plugin.

mod support;

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::inotify;
use rustix::pty;
use serde_json::{Value, json};
use support::{
    cyxla, error_json, failure_text, fake_plugin, file, fixture, npy, stderr, stdout, success_json,
};

/// The command where nothing is installed and no variable is set.
fn nowhere() -> Command {
    let mut command = cyxla();
    command.env_clear().env("HOME", "/nonexistent").arg("inspect");
    command
}

fn inspect(path: impl AsRef<OsStr>, more: &[&str]) -> Output {
    nowhere().arg(path).args(more).output().unwrap()
}

fn text(path: impl AsRef<OsStr>, more: &[&str]) -> String {
    let output = inspect(path, more);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    stdout(&output)
}

#[test]
fn a_person_gets_a_table() {
    let text = text(fixture("exports/trees.jaxexport"), &[]);
    for line in [
        "format        a jax.export file",
        "name          trees",
        "platforms     cpu",
        "devices       1",
        "custom calls  none",
        "VJP           none",
        "inputs: 9, 59 bytes, 3 dropped",
        "      0  args[0]['größe\\n'][0]                s32[]      4 B      4  dropped",
        "      1  args[0]['w1'][0]                     f32[2]     8 B      8",
        "      4  args[1].y                            f32[2,0]   0 B      0",
        "      0  result[\"it's\"][0]               pred[3]    3 B      3",
    ] {
        assert!(text.lines().any(|one| one == line), "{text} lacks {line}");
    }
    for part in ["StableHLO     1.", "calling convention 10", "size          3.0 KiB (3116 bytes)"] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    assert!(!text.contains("cannot run"), "{text}");
}

#[test]
fn platforms_shardings_and_devices_are_listed() {
    let branches = text(fixture("exports/platforms_x64.jaxexport"), &[]);
    assert!(branches.contains("platforms         tpu, cpu, cuda\n"), "{branches}");
    let sharded = text(fixture("exports/sharding4.jaxexport"), &[]);
    assert!(sharded.lines().any(|line| line.starts_with("devices ") && line.ends_with(" 4")), "{sharded}");
    assert!(sharded.contains("sharding P('x', 'y')"), "{sharded}");
}

#[test]
fn programs_get_the_same_in_json() {
    let value = success_json(&inspect(fixture("exports/trees.jaxexport"), &["--json"]));
    assert_eq!((&value["format"], &value["name"]), (&json!("jax_export"), &json!("trees")));
    let first = json!({"name": "args[0]['größe\\n'][0]", "dtype": "s32", "dims": [], "size": 4,
        "is_donated": false, "is_kept": false, "sharding": null});
    assert_eq!(value["inputs"][0], first);
    assert_eq!(value["jax_export"]["calling_convention_version"], 10);
    assert_eq!(value["problem"], Value::Null);
}

#[test]
fn what_cannot_run_is_described_and_the_reason_comes_last() {
    let output = inspect(fixture("exports/symbolic.jaxexport"), &[]);
    assert_eq!(output.status.code(), Some(0), "inspecting it is no failure");
    let text = stdout(&output);
    assert!(text.contains("f32[2*b,4]") && text.contains("inputs: 2, of unknown size"), "{text}");
    let end = text.split("\n\n").last().unwrap();
    assert!(end.starts_with("cannot run: input 0 (args[0]) of the program has no fixed shape"), "{text}");
    assert!(end.contains("\n  hint: export the function once for each shape"), "{text}");
    let value = success_json(&inspect(fixture("exports/symbolic.jaxexport"), &["--json"]));
    assert_eq!(value["inputs"][1]["dims"], json!(["2*b", 4]));
    assert_eq!(
        (&value["inputs"][1]["size"], &value["problem"]["code"]),
        (&Value::Null, &json!("UNIMPLEMENTED"))
    );

    let folder = tempfile::tempdir().unwrap();
    let callback = "module @m { func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
        %0 = stablehlo.custom_call @xla_python_cpu_callback(%a) : (tensor<2xf32>) -> tensor<2xf32>
        return %0 : tensor<2xf32> } }";
    let path = file(folder.path(), "callback.mlir", callback);
    let text = stdout(&inspect(path, &[]));
    assert!(text.contains("custom calls  xla_python_cpu_callback\n"), "{text}");
    assert!(text.contains("\ncannot run: ") && text.contains("Python"), "{text}");
}

#[test]
fn the_program_of_gradients_is_described() {
    let path = fixture("exports/vjp2.jaxexport");
    assert!(text(&path, &[]).contains("VJP           inside; --vjp describes it\n"));
    let first = text(&path, &["--vjp"]);
    assert!(
        first.contains("name          fun_vjp_jax\n") && first.contains("inputs: 3, 36 bytes\n"),
        "{first}"
    );
    assert!(text(&path, &["--vjp", "--vjp"]).contains("VJP           none\n"));
    let error = error_json(&inspect(&path, &["--vjp", "--vjp", "--vjp", "--json"]));
    assert_eq!(error["code"], "NOT_FOUND");
    let error = error_json(&inspect(fixture("names.mlirbc"), &["--vjp", "--json"]));
    assert!(error["message"].as_str().unwrap().contains("only jax.export files"), "{error}");
}

/// A program that takes this many scalars and gives them back.
fn wide(count: usize) -> String {
    let parameters: Vec<String> = (0..count).map(|index| format!("%a{index}: tensor<f32>")).collect();
    let names: Vec<String> = (0..count).map(|index| format!("%a{index}")).collect();
    let types = vec!["tensor<f32>"; count].join(", ");
    let (parameters, names) = (parameters.join(", "), names.join(", "));
    format!("module @wide {{ func.func @main({parameters}) -> ({types}) {{ return {names} : {types} }} }}")
}

#[test]
fn a_pipe_gets_every_row_and_soon() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "wide.mlir", wide(10_000));
    let begin = Instant::now();
    let text = text(path, &[]);
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert!(text.contains("\ninputs: 10000, 39.1 KiB (40000 bytes)\n"), "{}", &text[..500]);
    assert_eq!(text.lines().filter(|line| line.contains("f32[]")).count(), 20_000);
    assert!(!text.contains("more; --json"));
}

/// What a command writes to a terminal.
fn at_terminal(command: &mut Command) -> String {
    let mut terminal = File::from(pty::openpt(pty::OpenptFlags::RDWR | pty::OpenptFlags::NOCTTY).unwrap());
    pty::unlockpt(&terminal).unwrap();
    let name = pty::ptsname(&terminal, Vec::new()).unwrap();
    let far_end = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut child = command.stdout(far_end).spawn().unwrap();
    // The command holds the far end open, and must not outlive the child.
    command.stdout(Stdio::null());
    let mut bytes = Vec::new();
    // Ends with an error when the far end is closed.
    let _ = terminal.read_to_end(&mut bytes);
    assert!(child.wait().unwrap().success());
    String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
}

#[test]
fn a_terminal_gets_the_first_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "wide.mlir", wide(50));
    let text = at_terminal(nowhere().arg(path));
    assert_eq!(text.lines().filter(|line| line.contains("f32[]")).count(), 80, "{text}");
    assert_eq!(text.matches("  ... and 10 more; --json has all").count(), 2, "{text}");
}

#[test]
fn names_do_not_steer_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "m.mlir", "module @\"a\\1B[2Jb\" { func.func @main() { return } }");
    let text = text(path, &[]);
    assert!(!text.contains('\x1b') && text.contains("inputs: none"), "{text}");
}

/// What is opened in a folder while something runs.
fn opened(folder: &Path, run: impl FnOnce()) -> usize {
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
    inotify::add_watch(&watch, folder, inotify::WatchFlags::OPEN).unwrap();
    run();
    let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
    let mut events = inotify::Reader::new(&watch, &mut buffer);
    std::iter::from_fn(|| events.next().ok().map(|_| ())).count()
}

#[test]
fn no_plugin_is_loaded_or_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fake_plugin(), folder.path().join("libpjrt_cpu.so")).unwrap();
    let run = |arguments: &[&OsStr]| {
        let mut command = cyxla();
        command.env("CYXLA_PLUGIN_DIRS", folder.path()).env("CYXLA_FAKE_PLUGIN", "aborts");
        let output = command.env("CYXLA_PLUGIN", "/nonexistent").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    };
    let path = fixture("exports/vjp1.jaxexport");
    assert_eq!(opened(folder.path(), || run(&["inspect".as_ref(), path.as_ref()])), 0);
    assert!(opened(folder.path(), || run(&["plugins".as_ref()])) > 0, "a search is noticed");
}

#[test]
fn files_that_are_no_programs_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let export = std::fs::read(fixture("exports/trees.jaxexport")).unwrap();
    let elf = std::fs::read("/proc/self/exe").unwrap();
    let pickle = b"\x80\x04\x95\x03*\0\0\0\0\0\0\x8c\x1ajax._src.interpreters.pxla\x94\x8c\x16UnloadedMeshExecutable\x94";
    for (path, words) in [
        (folder.join("nosuch"), "there is no such file"),
        (folder.to_owned(), "it is a directory"),
        (PathBuf::from("/dev/zero"), "it is not a regular file"),
        (file(folder, "empty", ""), "the program is empty"),
        (file(folder, "blank", " \n"), "the program is empty"),
        (file(folder, "cut", &export[..200]), "cut"),
        (npy(folder, "array.npy", "|u1", "(1,)", false, b"1"), "is a NumPy file, no program"),
        (file(folder, "arrays.npz", "PK\x03\x04..."), "is a NumPy file, no program"),
        (file(folder, "plugin.so", elf), "is an ELF file"),
        (file(folder, "model.tflite", b"\x1c\0\0\0TFL3\0\0"), "a TensorFlow Lite model"),
        (file(folder, "zeros", [0; 4096]), "holds nothing but 4096 zero bytes"),
        (file(folder, "script.py", "import jax\n"), "it begins with `import jax`"),
        (file(folder, "pickle", pickle), "serialize_executable"),
        (file(folder, "hlo.txt", "HloModule m\n"), "HLO text"),
        (file(folder, "noise", b"\xff\xfe\xfd\xfc\xfb\xfa"), "not recognized"),
        (file(folder, "bytecode", b"ML\xefR\x0dStableHLO_v1.0.0\0"), "damaged"),
    ] {
        let error = error_json(&inspect(&path, &["--json"]));
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(words), "{message} lacks {words}");
        assert!(message.contains(path.to_str().unwrap()), "{message}");
    }
    let error = failure_text(&inspect(folder.join("script.py"), &[]));
    assert!(error.contains("\n  hint: export the function with jax.export"), "{error}");
}

#[test]
fn every_cut_of_an_export_is_an_error_or_described() {
    let folder = tempfile::tempdir().unwrap();
    let export = std::fs::read(fixture("exports/vjp1.jaxexport")).unwrap();
    for length in (0..export.len()).step_by(97) {
        let path = file(folder.path(), "cut", &export[..length]);
        let output = inspect(&path, &[]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{length}: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{length}: {}", stderr(&output));
    }
}

#[test]
fn every_program_of_the_corpus_is_described() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    };
    let folders: Vec<PathBuf> = entries(&corpus).into_iter().filter(|path| path.is_dir()).collect();
    let files = folders.iter().flat_map(|folder| entries(folder));
    let programs: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "jaxexport")).collect();
    assert!(programs.len() > 50, "{} programs in {}", programs.len(), corpus.display());
    for program in programs {
        let value = success_json(&inspect(&program, &["--json"]));
        assert_eq!(value["format"], "jax_export", "{}", program.display());
        assert!(value["inputs"].is_array() && value["outputs"].is_array(), "{}", program.display());
        assert!(value["stablehlo"].is_string(), "{}", program.display());
    }
}
