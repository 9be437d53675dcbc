//! include/cyxla.h: cbindgen on each file of src/capi, one section a file.
//!
//! cbindgen alone would put all types before all functions. Run once per file,
//! it keeps a topic together, so that the header reads as src/capi does.

use std::fs;
use std::path::{Path, PathBuf};

use cbindgen::ItemType;

use crate::Result;
use crate::project::{self, Project};

/// The sections, in the order in which they stand in the header.
const SECTIONS: [&str; 17] = [
    "version",
    "error",
    "dtype",
    "options",
    "plugins",
    "runtime",
    "program",
    "program_signature",
    "executable",
    "executable_signature",
    "saved",
    "bytes",
    "run",
    "call",
    "buffer",
    "memory",
    "dlpack",
];

/// Types of other libraries' headers, which may be included before this one or after it:
/// no typedefs, which C99 allows once only.
const FOREIGN: &str = "
/* DLPack's; dlpack.h says what is in them. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
";

/// What one section says.
struct Section {
    heading: String,
    handles: String,
    declarations: String,
}

pub fn write(project: &Project) -> Result<()> {
    let path = path(project);
    project::make_folder(&project.include())?;
    project::write(&path, &generate(project)?)?;
    println!("wrote {}", path.display());
    Ok(())
}

pub fn check(project: &Project) -> Result<()> {
    let path = path(project);
    let wanted = generate(project)?;
    let found = project::read(&path)?;
    if wanted == found {
        println!("include/cyxla.h is what src/capi says");
        return Ok(());
    }
    let line = wanted.lines().zip(found.lines()).take_while(|(a, b)| a == b).count();
    println!("first difference at line {}:", line + 1);
    println!("  in the file: {}", found.lines().nth(line).unwrap_or("(end)"));
    println!("  in src/capi: {}", wanted.lines().nth(line).unwrap_or("(end)"));
    Err("include/cyxla.h is not what src/capi says; run `cargo xtask header` and commit it".into())
}

pub fn path(project: &Project) -> PathBuf {
    project.include().join("cyxla.h")
}

fn generate(project: &Project) -> Result<String> {
    let folder = project.root.join("src/capi");
    refuse_unknown_sections(&folder)?;
    let settings = project.root.join("cbindgen.toml");
    let config = cbindgen::Config::from_file(&settings)?;
    let sections = SECTIONS
        .iter()
        .map(|name| section(&config, &folder.join(format!("{name}.rs"))))
        .collect::<Result<Vec<_>>>()?;
    let version = env!("CARGO_PKG_VERSION");
    let page = config.header.as_deref().unwrap_or_default().trim().replace("@VERSION@", version);
    let guard = config.include_guard.as_deref().ok_or("cbindgen.toml names no include_guard")?;

    let mut text = format!("{page}\n\n#ifndef {guard}\n#define {guard}\n\n");
    text += "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n";
    text += &version_macros(version)?;
    text += FOREIGN;
    text += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    text += &heading("Handles: what each is, how long it lives, and who may share it.");
    for section in &sections {
        text += &section.handles;
    }
    for section in &sections {
        text += &heading(&section.heading);
        text += &section.declarations;
    }
    text += "#ifdef __cplusplus\n} /* extern \"C\" */\n#endif\n\n";
    text += &format!("#endif /* {guard} */\n");
    Ok(text)
}

/// A file that is not in the list would be left out of the header in silence.
fn refuse_unknown_sections(folder: &Path) -> Result<()> {
    let entries =
        fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if SECTIONS.contains(&name.as_str()) || path.is_dir() {
            continue;
        }
        if project::read(&path)?.contains("no_mangle") {
            return Err(format!(
                "{} exports functions; add it to SECTIONS in xtask/src/header.rs",
                path.display()
            ));
        }
    }
    Ok(())
}

fn section(config: &cbindgen::Config, source: &Path) -> Result<Section> {
    let declared = [ItemType::Constants, ItemType::Structs, ItemType::Typedefs, ItemType::Functions];
    let heading = project::read(source)?
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n");
    if heading.is_empty() {
        return Err(format!("{} needs a `//!` text: it becomes the section's heading", source.display()));
    }
    Ok(Section {
        heading,
        handles: bindings(config, source, &[ItemType::OpaqueItems])?,
        declarations: bindings(config, source, &declared)?,
    })
}

fn bindings(config: &cbindgen::Config, source: &Path, items: &[ItemType]) -> Result<String> {
    let mut config = config.clone();
    config.header = None;
    config.include_guard = None;
    config.no_includes = true;
    config.export.item_types = items.to_vec();
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(source)
        .generate()
        .map_err(|error| format!("cbindgen on {}: {error}", source.display()))?;
    let mut bytes = Vec::new();
    bindings.write(&mut bytes);
    let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
    let paragraphs: Vec<&str> = text.trim().split("\n\n").collect();
    let constants = paragraphs.chunk_by(|a, b| constant(a).is_some() && constant(b).is_some());
    Ok(constants.map(|group| table(group).unwrap_or_else(|| group.join("\n\n"))).fold(
        String::new(),
        |text, part| {
            if part.is_empty() { text } else { text + &part + "\n\n" }
        },
    ))
}

/// Constants that follow each other, one a line, with the doc at the end of it.
fn table(group: &[&str]) -> Option<String> {
    let constants = group.iter().map(|paragraph| constant(paragraph)).collect::<Option<Vec<_>>>()?;
    let name_width = constants.iter().map(|(name, ..)| name.len()).max()?;
    let value_width = constants.iter().map(|(_, value, _)| value.len()).max()?;
    let lines = constants
        .iter()
        .map(|(name, value, doc)| format!("#define {name:name_width$} {value:value_width$}  ///< {doc}"));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Name, value and doc of a paragraph that is one constant.
fn constant(paragraph: &str) -> Option<(&str, String, &str)> {
    let (doc, definition) = paragraph.split_once('\n')?;
    let (name, value) = definition.strip_prefix("#define ")?.split_once(' ')?;
    // In brackets, -1 is safe inside any expression.
    let value = if value.starts_with('-') { format!("({value})") } else { value.to_string() };
    (!value.contains('\n')).then_some((name, value, doc.strip_prefix("/// ")?))
}

fn heading(text: &str) -> String {
    let rule = "=".repeat(77);
    let body: String = text.lines().map(|line| format!(" * {line}").trim_end().to_string() + "\n").collect();
    format!("/* {rule}\n{body} * {rule} */\n\n")
}

fn version_macros(version: &str) -> Result<String> {
    let numbers: Vec<u32> = version.split('.').filter_map(|number| number.parse().ok()).collect();
    let [major, minor, patch] = numbers[..] else {
        return Err(format!("the version {version} is not three numbers"));
    };
    Ok(format!(
        "/* The version of this header; cyxla_version_number() tells that of the library. */\n\
         #define CYXLA_VERSION_MAJOR {major}\n\
         #define CYXLA_VERSION_MINOR {minor}\n\
         #define CYXLA_VERSION_PATCH {patch}\n\
         /* major * 10000 + minor * 100 + patch */\n\
         #define CYXLA_VERSION {}\n",
        major * 10000 + minor * 100 + patch
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_stand_one_a_line() {
        let group = ["/// Fine.\n#define CYXLA_OK 0", "/// None.\n#define CYXLA_NONE -1"];
        let lines = "#define CYXLA_OK   0     ///< Fine.\n#define CYXLA_NONE (-1)  ///< None.";
        assert_eq!(table(&group).as_deref(), Some(lines));
        assert_eq!(table(&["/// A function.\nvoid f(void);"]), None);
    }

    #[test]
    fn a_version_is_three_numbers() {
        let macros = version_macros("1.2.3").expect("a version");
        assert!(macros.ends_with("#define CYXLA_VERSION 10203\n"), "{macros}");
        assert!(version_macros("1.2").is_err());
    }

    #[test]
    fn a_file_with_exports_must_be_a_section() {
        let folder = std::env::temp_dir().join(format!("cyxla-sections-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("error.rs"), "#[unsafe(no_mangle)]").expect("a file");
        fs::write(folder.join("guard.rs"), "nothing exported").expect("a file");
        let fine = refuse_unknown_sections(&folder);
        fs::write(folder.join("extra.rs"), "#[unsafe(no_mangle)]").expect("a file");
        let wrong = refuse_unknown_sections(&folder);
        fs::remove_dir_all(&folder).expect("the folder is ours");
        assert_eq!(fine, Ok(()));
        assert!(wrong.is_err_and(|message| message.contains("extra.rs")));
    }
}
