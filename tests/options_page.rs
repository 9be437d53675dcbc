//! `docs/options.md` is made from the table of known options, and this compares it.
//! To write it anew: `CYXLA_WRITE_DOCS=1 cargo test --test options_page`.

use std::fs;
use std::path::Path;

use cyxla::runtime::known_options::{self, Known, PLATFORMS};

const BEGINNING: &str = "\
# Create options

A client is created with options: names with values of one of five kinds (string, int, list of ints, float, bool). They come from three
places, the later over the earlier: the defaults below, those that the plugin's package asks for, and those of the caller
(`cyxla_initialize`, the variable `CYXLA_OPTIONS`, or `-o NAME=VALUE` of the command `cyxla`).

The names below are known to libcyxla, which checks their values before the plugin sees them: a value of a wrong kind makes some plugins
abort. An int is taken where a float is wanted, and one int where a list of them is; anything else of a wrong kind is an error that names
both kinds. Names that are not listed go to the plugin as they are, and what it says comes back. A *default* that the plugin does not
know is left out, and listed in `options_ignored` of the runtime's details; an option of the caller that the plugin does not know is an
error. Plugins for the CPU of before about PJRT 0.110 ignore unknown names without a word: there an option of the caller that later
plugins know is listed in `options_ignored` too, and any other is an error.

Where the default is not said to be libcyxla's, the plugin's own holds. `cyxla plugins --options` prints these tables, and
`cyxla doctor` asks a plugin which of the names it takes. The names and kinds were tried on the CPU plugins of PJRT 0.81, 0.106 and 0.115,
on jax-cuda12-pjrt 0.10.2 and on libtpu 0.0.52; those for ROCm are the CUDA plugin's, with which it shares its sources, and were not tried.
";

const THREADS: &str = "
### `threads`

No plugin has this option: libcyxla arranges for it. A CPU plugin makes a pool of threads when the client is created, and divides large
operations among them and the thread that runs the program. How many it makes it takes from the variable `PJRT_NPROC`, or else `NPROC`, or
else from how many CPUs the thread that creates the client may run on. So libcyxla creates the client in a thread of its own that may run
on so many CPUs, and lets what the plugin has started run on all of them afterwards. The caller's own thread is left alone.

- From 1 to the number of CPUs that the process may run on (`taskset`, `cpuset`); more is an error that says how many those are. For more
  threads than CPUs, start the process with `PJRT_NPROC` set to their number.
- A variable that holds another number is an error; libcyxla does not write the environment.
- A client of several devices has a thread for each at least, so fewer are an error.
- Where the system does not let it (a sandbox; `/proc` not mounted, which lists the threads), that is an error (UNIMPLEMENTED), and no client is
  created: `PJRT_NPROC` works there too.
- The plugin makes as many threads again, which run the programs where they do not run in the caller. Compiling uses three more, for the
  whole process, whatever the option says. Neither number can be chosen.
- A thread that the host starts at that very moment, in another thread, and binds to the same first CPUs may be set free with the rest.
- `1` with a synchronous runtime (PJRT 0.115) is strictly one thread: everything runs in the caller. On an asynchronous one (PJRT 0.106 and
  0.81) programs of 1000 operations or more run in one thread of the plugin's, which no option changes.

CPU time in milliseconds of a step of `f32[1024,1024] x f32[1024,1024]` on a machine of 2 CPUs, in all and in the calling thread, as
`tests/c/threads_option.c` prints it:

| plugin | `threads=1`, all | caller | `threads=2`, all | caller |
|---|---|---|---|---|
| PJRT 0.115 | 20.9 | 20.9 | 21.0 | 10.3 |
| PJRT 0.106 | 21.3 | 0.2 | 22.1 | 0.1 |
| PJRT 0.81 | 21.1 | 0.1 | 23.4 | 0.1 |
";

const NAMES: [(&str, &str); 4] =
    [("cpu", "CPU"), ("cuda", "CUDA (NVIDIA GPUs)"), ("rocm", "ROCm (AMD GPUs)"), ("tpu", "TPU")];

fn page() -> String {
    let mut text = BEGINNING.to_owned();
    for platform in PLATFORMS {
        let (_, name) =
            NAMES.into_iter().find(|(short, _)| *short == platform).expect("every platform has a name");
        text += &format!(
            "\n## {name}\n\n| name | kind | values | default | what it does | plugins |\n|---|---|---|---|---|---|\n"
        );
        text.extend(known_options::of(platform).map(row));
        if platform == "cpu" {
            text += THREADS;
        }
    }
    text
}

fn row(known: &Known) -> String {
    let default = match known.default.value() {
        Some(value) if known.plugin_default.is_empty() => format!("{value} (set by libcyxla)"),
        Some(value) => format!("{value} (set by libcyxla; the plugin's own is {})", known.plugin_default),
        None if known.plugin_default.is_empty() => "the plugin's".to_owned(),
        None => known.plugin_default.to_owned(),
    };
    let kind = known.kind.name().trim_start_matches("an ").trim_start_matches("a ");
    let range = known.kind.range();
    format!("| `{}` | {kind} | {range} | {default} | {} | {} |\n", known.name, known.meaning, known.since)
}

#[test]
fn the_page_of_options_is_that_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/options.md");
    if std::env::var_os("CYXLA_WRITE_DOCS").is_some() {
        fs::write(&path, page()).expect("docs/options.md can be written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == page(),
        "docs/options.md is out of date: CYXLA_WRITE_DOCS=1 cargo test --test options_page"
    );
}
