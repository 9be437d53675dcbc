//! `docs/compile_options.md` is made from the table of compile options, and this
//! compares it. To write it anew:
//! `CYXLA_WRITE_DOCS=1 cargo test --test compile_options_page`.

use std::fs;
use std::path::Path;

use cyxla::compile::options::{CRASHES, KNOWN, Known, LIMITS, Limit};
use cyxla::options::Kind;

const BEGINNING: &str = "\
# Compile options

`cyxla_compile_program` takes options: names with values of one of five kinds (string, int, list of ints, float, bool), set with
`cyxla_options_set_...`, read from a text by `cyxla_options_parse`, or given to the command `cyxla` as `--compile-option NAME=VALUE`.
Names, kinds and ranges are checked before the plugin sees them: plugins end the process for a count of 0, and for a large one they run
out of memory. An unknown name is an error that names the nearest known one. One int is taken where a list of ints is wanted.

| name | kind | values | default | what it does |
|---|---|---|---|---|
";

const MIDDLE: &str = "
## Devices

A program runs as `replicas` x `partitions` copies, each on a device of its own. `device` is a position in the list of devices that
`cyxla_runtime_info_device_id` tells, `device_ids` are the ids themselves; the two exclude each other. Without either, the first devices
are taken. The order of `device_ids` is that of the executable's devices: replica 0 with its partitions 0, 1, ..., then replica 1. There
must be as many ids as devices are needed, each of them existing and given once.

Without `replicas` and `partitions` a program is compiled for as many as it says itself (a jax.export file for several devices, or a
module with `mhlo.num_partitions`). `partitions=1` compiles a module whole for one device, if it names no others itself; an export is
only for as many devices as it was made for.

`portable=true` leaves the device open: it excludes several replicas or partitions, and `device` then says where the executable runs
unless a call (the option `device` of `cyxla_call_new`) or the inputs of `cyxla_execute` say otherwise.

## Results in place

A plugin writes results to memory of its own, from where they are copied to the caller. With `results_in_place=true` the program gets
a place for each result of 32 KiB or more (an unused argument that it may overwrite), and writes there itself. `cyxla_run` and
`cyxla_call_bind_output` then pass the caller's memory, if its address is a multiple of 64 and nothing else that the program reads or
writes lies there; else the result is copied as before, which costs nothing but the time. Doubling a million floats with `cyxla_run` took
0.14 ms instead of 0.40 (PJRT 0.115, one core). It is for one device; on devices whose memory is not the host's it changes nothing.
Not every program can have it (the error says why), and after an error of the program the caller's memory holds anything.

What it changes besides: an output that a call feeds to its next step goes to memory of the call first, and `cyxla_call_take` copies.

## XLA's debug options

`xla.NAME` sets the field NAME of XLA's `DebugOptions` for this one program, as `compiler_options` does in JAX:
`xla.xla_cpu_enable_fast_math=true`. All names begin with `xla_`, which may be left out: `xla.cpu_enable_fast_math=true` is the same.
Which names there are depends on the plugin. It answers an unknown one with an error, to which libcyxla adds the nearest name that it
knows. Kinds: true or false; an integer; a number; a text; for one of several words the word in XLA's spelling or its number
(`xla.xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_DEFAULT`); lists of texts and of words with commas between them. A few options that
are whole messages (`xla_backend_extra_options` and others) can only be set for the process, in the variable `XLA_FLAGS`.

Each option of the CPU plugins of PJRT 0.81, 0.106 and 0.115 was set to good and bad values. Some of them end the process; libcyxla
refuses those values:

| name | what may be set | why |
|---|---|---|
";

const LAST: &str = "
Further to know:

- `xla_dump_to` names a folder, into which the plugin writes the program at its stages; with `xla_dump_hlo_as_text` and the like but
  without a folder the plugin prints to the standard output of the process.
- `xla_cpu_enable_fast_math`, `xla_allow_excess_precision`, `xla_cpu_max_isa` and others change results in their last bits; the
  experimental fusion types may change more.
- `xla_cpu_max_isa` with a word that the plugin does not know has no effect but a warning on the standard error.
- `xla_force_host_platform_device_count` and other options of the whole process have no effect here.
- Options are part of the key of the executable cache: a program compiled with other options is another entry.
";

fn page() -> String {
    let mut text = BEGINNING.to_owned();
    text.extend(KNOWN.iter().map(row));
    text += MIDDLE;
    text.extend(LIMITS.iter().map(limit_row));
    text += LAST;
    text
}

fn limit_row((name, limit, why): &(&str, Limit, &str)) -> String {
    let name = if *name == CRASHES { format!("all with `{name}` in the name") } else { format!("`{name}`") };
    let values = match limit {
        Limit::Never => "nothing".to_owned(),
        Limit::False => "false".to_owned(),
        Limit::Int(range) => Kind::Int(range.clone()).range(),
    };
    format!("| {name} | {values} | {why} |\n")
}

fn row(known: &Known) -> String {
    let kind = known.kind.name().trim_start_matches("an ").trim_start_matches("a ");
    format!(
        "| `{}` | {kind} | {} | {} | {} |\n",
        known.name,
        known.kind.range(),
        known.default,
        known.meaning
    )
}

#[test]
fn the_page_of_compile_options_is_that_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/compile_options.md");
    if std::env::var_os("CYXLA_WRITE_DOCS").is_some() {
        fs::write(&path, page()).expect("docs/compile_options.md can be written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == page(),
        "docs/compile_options.md is out of date: CYXLA_WRITE_DOCS=1 cargo test --test compile_options_page"
    );
}
