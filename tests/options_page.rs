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
