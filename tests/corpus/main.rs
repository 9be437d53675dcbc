//! Programs that JAX exported, of five versions from 0.4.30 to 0.10.2, give JAX's own
//! results on the plugin under test, and tell what they take and give before they are
//! compiled, and give the same into destinations. What cannot run is refused for the right reason.
//!
//! tests/corpus/make.sh makes the files.

#[path = "../support/mod.rs"]
mod support;

mod compare;
mod destinations;
mod expected;
mod index;

use cyxla::error::Error;
use cyxla::options::{Options, Value};
use cyxla::pjrt::{HostInput, HostOutput};
use cyxla::program::{Format, Program, TensorSpec};
use cyxla::runtime::{self, Buffer, Executable};

use expected::{Expected, Refusal, Stage};
use index::{Array, Corpus, Entry};

const VERSIONS: [&str; 5] = ["0.4.30", "0.5.3", "0.7.2", "0.9.0", "0.10.2"];

#[test]
fn jax_0_4_30() {
    check_all("0.4.30");
}

#[test]
fn jax_0_5_3() {
    check_all("0.5.3");
}

#[test]
fn jax_0_7_2() {
    check_all("0.7.2");
}

#[test]
fn jax_0_9_0() {
    check_all("0.9.0");
}

#[test]
fn jax_0_10_2() {
    check_all("0.10.2");
}

#[test]
fn no_version_is_left_out() {
    let entries = std::fs::read_dir(index::folder()).expect("the corpus");
    let folders = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir());
    let mut found: Vec<String> =
        folders.map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect();
    let mut tested = VERSIONS.map(str::to_owned);
    found.sort();
    tested.sort();
    assert_eq!(found, tested);
}

/// Checks every program, and then tells of all that went wrong.
fn check_all(version: &str) {
    let plugin = support::real_plugin();
    runtime::initialize(Some(&plugin), Some("cpu"), None)
        .unwrap_or_else(|error| panic!("cannot load {}: {error}", plugin.display()));
    let cache = support::Folder::new("corpus");
    let mut options = Options::new();
    options.set("cache_dir", Value::String(cache.path().display().to_string())).expect("a name");
    let tested = Tested { corpus: Corpus::read(version), options };
    let entries = &tested.corpus.entries;
    let check = |entry: &Entry| {
        check_file(&tested, entry, version).err().map(|problem| format!("{}: {problem}", entry.program))
    };
    let problems: Vec<String> = entries.iter().filter_map(check).collect();
    let (count, all) = (problems.len(), entries.len());
    assert!(problems.is_empty(), "{count} of {all} programs of JAX {version}:\n{}", problems.join("\n"));
}

/// The programs of one version, and how they are compiled.
struct Tested {
    corpus: Corpus,
    options: Options,
}

/// What is wrong, in words.
type Outcome = Result<(), String>;

fn check_file(tested: &Tested, entry: &Entry, version: &str) -> Outcome {
    let expected = expected::of(entry, version, expected::plugin_minor());
    let program = match Program::from_file(&tested.corpus.file(entry), Format::Detect, None) {
        Ok(program) => program,
        Err(error) => return check_refusal(&expected, Stage::Read, &error),
    };
    if program.format() != Format::JaxExport {
        return Err(format!("taken for {:?}", program.format()));
    }
    check_program(tested, entry, &program, &expected)
}

fn check_program(tested: &Tested, entry: &Entry, program: &Program, expected: &Expected) -> Outcome {
    let corpus = &tested.corpus;
    check_facts(entry, program)?;
    let executable = match Executable::compile(program, Some(&tested.options)) {
        Ok(executable) => executable,
        Err(error) => return check_refusal(expected, Stage::Compile, &error),
    };
    if let Expected::Refused(refusal) = expected {
        return Err(format!("it compiled, want {refusal:?}"));
    }
    check_specs("executable's input", &entry.inputs, executable.inputs())?;
    check_specs("executable's output", &entry.outputs, executable.outputs())?;
    // Before it runs: what has sorted something, no plugin can save any more.
    let saved = executable.to_bytes().map_err(|error| format!("saving: {error}"))?;
    let results = run(corpus, entry, &executable).map_err(|error| error.to_string())?;
    check_results(corpus, entry, &results)?;
    let again = run_on_buffers(corpus, entry, &executable).map_err(|error| format!("on buffers: {error}"))?;
    if again != results {
        return Err("buffers give other results than host memory".into());
    }
    destinations::check(corpus, entry, program, &results)
        .map_err(|problem| format!("with destinations: {problem}"))?;
    check_saved(tested, entry, program, &executable, &saved, &results)?;
    match (&entry.vjp, program.vjp()) {
        (None, Err(error)) if error.message().contains("holds no VJP") => Ok(()),
        (None, Err(error)) => Err(format!("of the VJP that it lacks: {error}")),
        (None, Ok(_)) => Err("it has a VJP that nobody put in".into()),
        (Some(_), Err(error)) => Err(format!("its VJP: {error}")),
        (Some(entry), Ok(vjp)) => check_program(tested, entry, &vjp, &Expected::Runs)
            .map_err(|problem| format!("its VJP: {problem}")),
    }
}

fn check_refusal(expected: &Expected, stage: Stage, error: &Error) -> Outcome {
    let said = format!("{stage:?} gave {}: {error} (hint: {:?})", error.code().name(), error.detail("hint"));
    let Expected::Refused(Refusal { at, code, words }) = expected else { return Err(said) };
    let whole = format!("{} {}", error.message(), error.detail("hint").unwrap_or_default());
    let missing: Vec<&String> = words.iter().filter(|word| !whole.contains(word.as_str())).collect();
    if *at == stage && *code == error.code() && missing.is_empty() {
        return Ok(());
    }
    Err(format!("{said}; want {} from {at:?}, and lacks {missing:?}", code.name()))
}

/// What is known before it is compiled.
fn check_facts(entry: &Entry, program: &Program) -> Outcome {
    let contents = program.contents();
    let export = contents.export.as_deref().ok_or("nothing is told of the export")?;
    same("function", &entry.function, &export.function_name)?;
    same("platforms", &entry.platforms, &export.platforms)?;
    same("platforms of the program", &entry.platforms, &program.platforms().to_vec())?;
    same("calling convention", &entry.convention, &export.calling_convention_version)?;
    same("devices", &entry.devices, &export.device_count)?;
    same("kept inputs", &entry.kept, &export.kept_inputs)?;
    same("tree of inputs", &entry.in_tree, &export.in_tree.to_string())?;
    same("tree of outputs", &entry.out_tree, &export.out_tree.to_string())?;
    same("custom calls", &entry.custom_calls, &contents.custom_calls)?;
    let signature = program.signature().ok_or("it has no signature")?;
    check_specs("input", &entry.inputs, &signature.inputs)?;
    check_specs("output", &entry.outputs, &signature.outputs)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, want: &T, got: &T) -> Outcome {
    if want == got { Ok(()) } else { Err(format!("{what}: got {got:?}, want {want:?}")) }
}

fn check_specs(what: &str, want: &[Array], got: &[TensorSpec]) -> Outcome {
    same(&format!("count of {what}s"), &want.len(), &got.len())?;
    for (place, (want, got)) in want.iter().zip(got).enumerate() {
        let what = format!("{what} {place}");
        same(&format!("{what}: name"), &Some(want.name.as_str()), &got.name.as_deref())?;
        same(&format!("{what}: donation"), &want.is_donated, &got.is_donated)?;
        if let Some(contents) = &want.value {
            same(&format!("{what}: element type"), &contents.dtype, &got.dtype)?;
            same(&format!("{what}: dims"), &contents.dims, &got.dims)?;
        }
    }
    Ok(())
}

/// Saved and loaded again, by hand and by way of the cache, it is the same.
fn check_saved(
    tested: &Tested,
    entry: &Entry,
    program: &Program,
    executable: &Executable,
    saved: &[u8],
    results: &[Vec<u8>],
) -> Outcome {
    let failed = |error: Error| format!("saved: {error}");
    let compiled_again = Executable::compile(program, Some(&tested.options)).map_err(failed)?;
    same("whether it comes from the cache", &true, &compiled_again.is_from_cache())?;
    let others = [compiled_again, Executable::from_bytes(saved).map_err(failed)?];
    for other in others {
        same("signature once saved", executable.signature(), other.signature())?;
        if run(&tested.corpus, entry, &other).map_err(failed)? != results {
            return Err("once saved it gives other results".into());
        }
    }
    Ok(())
}

fn inputs<'a>(corpus: &'a Corpus, entry: &Entry) -> Vec<&'a [u8]> {
    entry.inputs.iter().map(|input| corpus.bytes(input).expect("an input's bytes")).collect()
}

fn run(corpus: &Corpus, entry: &Entry, executable: &Executable) -> cyxla::error::Result<Vec<Vec<u8>>> {
    // Not zero, so that a result that is not written shows.
    let mut results: Vec<Vec<u8>> =
        executable.outputs().iter().map(|output| vec![0xaa; output.host_size()]).collect();
    let mut outputs: Vec<&mut [u8]> = results.iter_mut().map(Vec::as_mut_slice).collect();
    executable.run(&inputs(corpus, entry), &mut outputs)?;
    Ok(results)
}

fn run_on_buffers(
    corpus: &Corpus,
    entry: &Entry,
    executable: &Executable,
) -> cyxla::error::Result<Vec<Vec<u8>>> {
    let specs = executable.inputs();
    let buffers = inputs(corpus, entry)
        .iter()
        .zip(specs)
        .map(|(bytes, spec)| Buffer::from_host(0, spec.dtype, &spec.dims, HostInput::new(bytes)))
        .collect::<cyxla::error::Result<Vec<Buffer>>>()?;
    let results = executable.execute(&buffers.iter().collect::<Vec<_>>())?;
    let read = |result: &Buffer| {
        let mut bytes = vec![0x55; result.host_size()];
        result.to_host(HostOutput::new(&mut bytes))?;
        Ok(bytes)
    };
    results.iter().map(read).collect()
}

fn check_results(corpus: &Corpus, entry: &Entry, results: &[Vec<u8>]) -> Outcome {
    for (output, got) in entry.outputs.iter().zip(results) {
        let (Some(contents), Some(want)) = (&output.value, corpus.bytes(output)) else {
            return Err(format!("JAX's result {} is unknown", output.name));
        };
        if let Some(problem) = compare::differs(contents.dtype, want, got, entry.tolerance) {
            return Err(format!("{}: {problem}", output.name));
        }
    }
    Ok(())
}
