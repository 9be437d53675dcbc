//! `cyxla cache`: what is in the executable cache.

use std::path::PathBuf;

use cyxla::compile::cache::{Cache, DEFAULT_SIZE, Entry};
use cyxla::env;
use cyxla::error::{Code, Error, Origin, Result};
use serde_json::{Value, json};

use crate::args::CacheArgs;
use crate::console::Console;
use crate::{table, words};

/// Lists the cache of the arguments, or clears it.
pub fn cache(args: &CacheArgs, console: &mut Console) -> Result<()> {
    let Some(folder) = args.dir.clone().or_else(|| env::value(env::CACHE_DIR).map(PathBuf::from)) else {
        return off(args, console);
    };
    let cache = Cache::open(&folder, DEFAULT_SIZE)?;
    if args.clear {
        let removed = cache.clear()?;
        let value = json!({ "path": cache.path().to_string_lossy(), "removed": removed.count, "removed_size": removed.size });
        let (count, size) = (words::count(removed.count, "executable"), words::exact_size(removed.size));
        return show(console, &value, format!("removed {count}, {size}, from {}\n", cache.path().display()));
    }
    let entries = cache.entries()?;
    let value = json(&cache, &entries);
    show(console, &value, text(&cache, &entries))
}

fn off(args: &CacheArgs, console: &mut Console) -> Result<()> {
    if args.clear {
        let message = "the executable cache is off, so there is none to clear";
        return Err(Error::new(Code::FailedPrecondition, Origin::Caller, message)
            .hint("name the folder of a cache with --dir"));
    }
    let value = json!({ "path": null, "count": 0, "size": 0, "max_size": DEFAULT_SIZE, "entries": [] });
    show(
        console,
        &value,
        "the executable cache is off; to turn it on, set CYXLA_CACHE_DIR to a folder\n".to_owned(),
    )
}

fn show(console: &mut Console, value: &Value, text: String) -> Result<()> {
    if console.json() { console.print_json(value) } else { console.print(&text) }
}

fn json(cache: &Cache, entries: &[Entry]) -> Value {
    let listed: Vec<Value> = entries
        .iter()
        .map(|entry| {
            json!({ "path": entry.path.to_string_lossy(), "size": entry.size, "used": words::time(entry.used) })
        })
        .collect();
    json!({
        "path": cache.path().to_string_lossy(),
        "count": entries.len(),
        "size": size(entries),
        "max_size": DEFAULT_SIZE,
        "entries": listed,
    })
}

fn text(cache: &Cache, entries: &[Entry]) -> String {
    let mut rows = vec![
        vec!["folder".to_owned(), cache.path().display().to_string()],
        vec!["executables".to_owned(), entries.len().to_string()],
        vec![
            "size".to_owned(),
            format!(
                "{}, of at most {} by default",
                words::exact_size(size(entries)),
                words::size(DEFAULT_SIZE)
            ),
        ],
    ];
    for (title, entry) in [("last used", entries.first()), ("longest unused", entries.last())] {
        rows.extend(entry.map(|entry| {
            vec![title.to_owned(), format!("{} ({})", words::ago(entry.used), words::time(entry.used))]
        }));
    }
    table::columns(&rows)
}

fn size(entries: &[Entry]) -> u64 {
    entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.size))
}
