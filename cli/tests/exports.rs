//! `cyxla run` on files of `jax.export` (names, dropped inputs, platforms, gradients) and
//! on HLO protos.

mod support;

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use support::{cyxla, error_json, f32s, failure_text, fixture, npy, plugin, success_json};

fn run(program: &str, more: &[String]) -> Output {
    let program = fixture("exports").join(program);
    cyxla().arg("run").arg(program).arg("--plugin").arg(plugin()).args(more).output().unwrap()
}

fn named(name: &str, path: &Path) -> String {
    format!("--input={name}={}", path.display())
}

fn plain(path: &Path) -> String {
    format!("--input={}", path.display())
}

/// Numbers as a file.
fn vector(folder: &Path, values: &[f32]) -> PathBuf {
    let name = format!("{}.npy", values[0]);
    npy(folder, &name, "<f4", &format!("({},)", values.len()), false, &f32s(values))
}

fn values(output: &Output) -> Vec<Value> {
    let outputs = success_json(output)["outputs"].as_array().unwrap().clone();
    outputs.into_iter().map(|output| output["values"].clone()).collect()
}

#[test]
fn inputs_go_by_the_names_that_jax_gives_them() {
    let folder = tempfile::tempdir().unwrap();
    let (x, y) = (vector(folder.path(), &[1.0, 2.0, 3.0]), vector(folder.path(), &[4.0, 5.0, 6.0]));
    let json = "--json".to_owned();
    let output = run("vjp2.jaxexport", &[named("args[1]", &y), named("args[0]", &x), json.clone()]);
    assert_eq!(values(&output), [json!([4.0, 40.0, 162.0])]);
    assert_eq!(success_json(&output)["outputs"][0]["name"], "result['z']");
    // The rest is taken in order.
    let output = run("vjp2.jaxexport", &[plain(&x), named("args[1]", &y), json.clone()]);
    assert_eq!(values(&output), [json!([4.0, 40.0, 162.0])]);

    let text = failure_text(&run("vjp2.jaxexport", &[plain(&x), named("args[2]", &y)]));
    assert!(text.contains("no input named 'args[2]'\n  hint: did you mean 'args[0]'?"), "{text}");
    let twice = [named("args[0]", &x), named("args[0]", &y)];
    assert!(failure_text(&run("vjp2.jaxexport", &twice)).contains("'args[0]' is given twice"));
}

#[test]
fn dropped_inputs_are_given_like_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let scalar = |name: &str, descr: &str| npy(folder, name, descr, "()", false, &[0; 4]);
    let pair = vector(folder, &[1.0, 2.0]);
    let inputs = [
        named("args[0]['größe\\n'][0]", &scalar("size.npy", "<i4")),
        named("args[0]['w1'][0]", &pair),
        named("args[0]['w1'][1]", &pair),
        named("args[1].x", &vector(folder, &[7.0])),
        named("args[1].y", &npy(folder, "none.npy", "<f4", "(2, 0)", false, &[])),
        named("args[2][0]", &npy(folder, "five.npy", "<i4", "(5,)", false, &[0; 20])),
        named("kwargs['more']['b']", &npy(folder, "b.npy", "|b1", "(3,)", false, &[1, 0, 1])),
        named("kwargs['more']['a'][<flat index 0>]", &scalar("a.npy", "<f4")),
        named("kwargs['scale']", &pair),
        "--json".to_owned(),
    ];
    let outputs = success_json(&run("trees.jaxexport", &inputs))["outputs"].clone();
    assert_eq!(outputs.as_array().unwrap().len(), 7);
    assert_eq!(
        (&outputs[0]["name"], &outputs[0]["values"]),
        (&json!("result[\"it's\"][0]"), &json!([true, false, true]))
    );
    // Leaving out one that is dropped is like leaving out any.
    let error = error_json(&run("trees.jaxexport", &inputs[1..]));
    assert_eq!(error["message"], "the program expects 9 arguments, got 8");
    assert_eq!(error["details"]["hint"], "missing: args[0]['größe\\n'][0] s32[]");
}

#[test]
fn a_program_for_several_platforms_picks_its_branch() {
    let folder = tempfile::tempdir().unwrap();
    let x = vector(folder.path(), &[1.0, 2.0, 3.0, 4.0]);
    for program in ["platforms_x64.jaxexport", "platforms_x32.jaxexport"] {
        let output = run(program, &[plain(&x), "--json".to_owned()]);
        assert_eq!(values(&output), [json!([2.0, 3.0, 4.0, 5.0])]);
    }
}

#[test]
fn gradients_are_a_program_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (x, y) = (vector(folder.path(), &[1.0, 2.0, 3.0]), vector(folder.path(), &[4.0, 5.0, 6.0]));
    let ones = npy(folder.path(), "ones.npy", "<f4", "(3,)", false, &f32s(&[1.0; 3]));
    let inputs = [plain(&x), plain(&y), plain(&ones), "--vjp".to_owned(), "--json".to_owned()];
    // Of x ** 3 * y.
    assert_eq!(
        values(&run("vjp2.jaxexport", &inputs)),
        [json!([12.0, 60.0, 162.0]), json!([1.0, 8.0, 27.0])]
    );
    let error = error_json(&run("trees.jaxexport", &["--vjp".to_owned(), "--json".to_owned()]));
    assert!(
        error["message"].as_str().unwrap().ends_with("trees.jaxexport: the jax.export file holds no VJP"),
        "{error}"
    );
}

#[test]
fn what_cannot_run_is_refused_before_a_plugin_is_loaded() {
    let program = fixture("exports/symbolic.jaxexport");
    let output =
        cyxla().arg("run").arg(program).args(["--plugin", "/nonexistent", "--json"]).output().unwrap();
    let error = error_json(&output);
    assert_eq!(error["code"], "UNIMPLEMENTED");
    assert!(error["details"]["hint"].as_str().unwrap().contains("with numbers in its shapes"), "{error}");
}

#[test]
fn compile_options_are_checked_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let x = plain(&vector(folder.path(), &[1.0, 2.0, 3.0, 4.0]));
    let run = |option: &str| {
        let more = [x.clone(), "-c".to_owned(), option.to_owned(), "--json".to_owned()];
        run("platforms_x64.jaxexport", &more)
    };
    assert_eq!(values(&run("xla.xla_cpu_enable_fast_math=true")), [json!([2.0, 3.0, 4.0, 5.0])]);
    for (option, words) in [
        ("divice=0", "unknown compile option 'divice'"),
        ("device=7", "there are 1 devices"),
        ("device=x", "device"),
    ] {
        let error = error_json(&run(option));
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    }
    // What needs no plugin to be wrong is told without one.
    let mut command = cyxla();
    command.arg("run").arg(fixture("exports/trees.jaxexport")).args([
        "-c",
        "divice=0",
        "--json",
        "--plugin",
        "/nonexistent",
    ]);
    let error = error_json(&command.output().unwrap());
    assert_eq!(error["details"]["hint"], "did you mean 'device'?");
}

#[test]
fn hlo_protos_are_described_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let matrix =
        |name: &str, values: [f32; 6]| npy(folder.path(), name, "<f4", "(2, 3)", false, &f32s(&values));
    let (a, b) =
        (matrix("a.npy", [5.0, 7.0, 9.0, 11.0, 13.0, 15.0]), matrix("b.npy", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let program = fixture("hlo/tuple.pb");
    let described = success_json(&cyxla().arg("inspect").arg(&program).arg("--json").output().unwrap());
    assert_eq!((&described["format"], &described["problem"]), (&json!("hlo"), &Value::Null));
    // The parts of the one parameter.
    assert_eq!(described["inputs"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&described["inputs"][1]["dims"], &described["inputs"][1]["is_donated"]),
        (&json!([2, 3]), &json!(true))
    );
    let mut command = cyxla();
    command.arg("run").arg(&program).args(["--json", "--plugin"]).arg(plugin());
    let output = command.args([plain(&a), plain(&b)]).output().unwrap();
    assert_eq!(values(&output), [json!([[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])]);
    let token = cyxla().arg("inspect").arg(fixture("hlo/token.pb")).output().unwrap();
    assert!(failure_text(&token).contains("token.pb: input 0 of the program is a token"));
}

/// f(a, b, c) = (a @ b, c) on a mesh of 2 x 2.
#[test]
fn a_sharded_export_takes_and_gives_whole_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let matrix = |name: &str, rows: usize, columns: usize| {
        let values: Vec<f32> = (0..rows * columns).map(|index| (index % 7) as f32).collect();
        let path = npy(folder, name, "<f4", &format!("({rows}, {columns})"), false, &f32s(&values));
        (path, values)
    };
    let ((a_path, a), (b_path, b)) = (matrix("a.npy", 4, 4), matrix("b.npy", 4, 8));
    let inputs = [a_path, b_path, vector(folder, &[5.0, 6.0])].map(|path| plain(&path));
    let four = "--option=cpu_device_count=4".to_owned();
    let output = run("sharding4.jaxexport", &[&inputs[..], &["--json".to_owned(), four]].concat());
    if support::plugin_minor() < 106 {
        let error = error_json(&output);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("does not tell how the program's arrays are divided"), "{message}");
        return;
    }
    let product = |row: usize, column: usize| (0..4).map(|k| a[row * 4 + k] * b[k * 8 + column]).sum::<f32>();
    let rows: Vec<Vec<f32>> = (0..4).map(|row| (0..8).map(|column| product(row, column)).collect()).collect();
    assert_eq!(values(&output), [json!(rows), json!([5.0, 6.0])]);

    let text = failure_text(&run("sharding4.jaxexport", &inputs));
    assert!(text.contains("written for several devices") && text.contains("cpu_device_count=4"), "{text}");
}
