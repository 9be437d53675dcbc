//! `cyxla plugins --options`: the create options that are known.

use cyxla::error::Result;
use cyxla::options::Kind;
use cyxla::options::Options;
use cyxla::runtime::known_options::{self, Known, PLATFORMS};
use serde_json::{Value, json};

use crate::console::Console;
use crate::table;

/// Lists what is known of the options of a platform, of `gpu` or of `all`.
pub fn options(platform: &str, console: &mut Console) -> Result<()> {
    let platforms: Vec<&str> = PLATFORMS
        .into_iter()
        .filter(|name| match platform {
            "all" => true,
            "gpu" => ["cuda", "rocm"].contains(name),
            one => *name == one,
        })
        .collect();
    if console.json() {
        let listed = platforms
            .iter()
            .flat_map(|platform| known_options::of(platform).map(|known| json(platform, known)));
        return console.print_json(&json!({ "options": listed.collect::<Vec<_>>() }));
    }
    console.print(&platforms.iter().map(|platform| text(platform)).collect::<Vec<_>>().join("\n"))
}

fn json(platform: &str, known: &Known) -> Value {
    let default = known.default.value().map(|value| {
        let mut options = Options::new();
        // The table's names are good names.
        let _ = options.set(known.name, value);
        options.to_json()[known.name].take()
    });
    let choices = match known.kind {
        Kind::Choice(words) => Some(words),
        _ => None,
    };
    let range = known.kind.range();
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    json!({
        "platform": platform,
        "name": known.name,
        "kind": kind(known),
        "range": some(&range),
        "choices": choices,
        "default": default,
        "plugin_default": some(known.plugin_default),
        "meaning": known.meaning,
        "plugins": known.since.to_string(),
    })
}

/// The kind as the C interface names it.
fn kind(known: &Known) -> &'static str {
    match known.kind {
        Kind::Text | Kind::Choice(_) => "string",
        Kind::Int(_) => "int",
        Kind::Ints => "ints",
        Kind::Float(..) => "float",
        Kind::Bool => "bool",
    }
}

fn text(platform: &str) -> String {
    let heading = ["  NAME", "KIND", "RANGE", "DEFAULT", "MEANING"].map(str::to_owned).to_vec();
    let rows = known_options::of(platform).map(|known| {
        let default = match known.default.value() {
            Some(value) => value.to_string(),
            None if known.plugin_default.is_empty() => "the plugin's".to_owned(),
            None => format!("the plugin's: {}", known.plugin_default),
        };
        let meaning = match known.since {
            known_options::Since::Always | known_options::Since::Library => known.meaning.to_owned(),
            since => format!("{} ({since})", known.meaning),
        };
        vec![format!("  {}", known.name), kind(known).to_owned(), known.kind.range(), default, meaning]
    });
    format!("{platform}:\n{}", table::columns(&[heading].into_iter().chain(rows).collect::<Vec<_>>()))
}
