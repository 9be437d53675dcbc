//! Every exported function carries the lines that a C programmer needs: what
//! it does, each parameter, what it returns, threads, blocking, since when. Pages quote what
//! the sources say, and link to what there is.

use std::fs;
use std::path::{Path, PathBuf};

/// An extern function as it stands in the source.
struct Function {
    name: String,
    parameters: Vec<String>,
    returns: bool,
    doc: Vec<String>,
}

fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/capi");
    let entries = fs::read_dir(&folder).expect("src/capi");
    let paths = entries.map(|entry| entry.expect("an entry of src/capi").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The exported functions of a source file.
fn functions(source: &str) -> Vec<Function> {
    let lines: Vec<&str> = source.lines().collect();
    let exported = (0..lines.len()).filter(|index| lines[*index].trim().starts_with("#[unsafe(no_mangle)]"));
    exported
        .map(|index| {
            let (name, parameters, returns) = signature(&lines[index + 1..].join("\n"));
            Function { name, parameters, returns, doc: doc_above(&lines[..index]) }
        })
        .collect()
}

fn doc_above(lines: &[&str]) -> Vec<String> {
    let above = lines.iter().rev().map(|line| line.trim());
    let own = above.take_while(|line| line.starts_with("///") || line.starts_with("#["));
    let mut doc: Vec<String> =
        own.filter_map(|line| line.strip_prefix("///")).map(|line| line.trim().to_string()).collect();
    doc.reverse();
    doc
}

/// Name, parameter names, and whether something is returned.
fn signature(text: &str) -> (String, Vec<String>, bool) {
    let text = text.split_once("fn ").expect("a function after no_mangle").1;
    let (name, rest) = text.split_once('(').expect("a parameter list");
    let mut depth = 1;
    let mut parameters = vec![String::new()];
    let mut before = ' ';
    let mut end = rest.len();
    for (at, letter) in rest.char_indices() {
        match letter {
            '(' | '<' | '[' => depth += 1,
            '>' if before == '-' => {}
            ')' | '>' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            end = at;
            break;
        }
        match letter {
            ',' if depth == 1 => parameters.push(String::new()),
            _ => parameters.last_mut().expect("never empty").push(letter),
        }
        before = letter;
    }
    let names = parameters.iter().filter_map(|parameter| parameter.split_once(':'));
    let names = names.map(|(name, _)| name.trim().to_string()).collect();
    let head = rest[end..].split('{').next().unwrap_or_default();
    (name.to_string(), names, head.contains("->"))
}

/// What the doc of a function lacks.
fn problems(function: &Function) -> Vec<String> {
    let mut found = Vec::new();
    let mut say = |text: String| found.push(format!("{}: {text}", function.name));
    let doc = &function.doc;
    match doc.first() {
        None => say("has no doc".into()),
        Some(line) if !line.ends_with('.') || line.starts_with('@') => {
            say("the first line must be a sentence that ends with a full stop".into());
        }
        Some(_) => {}
    }
    if doc.get(1).is_some_and(|line| !line.is_empty()) {
        say("an empty line must follow the first one".into());
    }
    let documented: Vec<(&str, &str)> = tagged(doc, "@param").collect();
    let names: Vec<&str> = documented.iter().map(|(name, _)| *name).collect();
    if names != function.parameters {
        say(format!("@param names {names:?}, the parameters are {:?}", function.parameters));
    }
    for (name, meaning) in &documented {
        if meaning.is_empty() {
            say(format!("@param {name} says nothing"));
        }
    }
    let returns = tagged(doc, "@return").count();
    if returns != usize::from(function.returns) {
        say(format!("{returns} lines with @return, expected {}", usize::from(function.returns)));
    }
    if tagged(doc, "@return").any(|(word, _)| word.is_empty()) {
        say("@return says nothing".into());
    }
    let last = doc.last().map_or("", String::as_str);
    for tag in ["@threads", "@blocks", "@since"] {
        match last.split_once(tag) {
            Some((_, rest)) if !rest.trim().is_empty() && !rest.trim().starts_with('@') => {}
            _ => say(format!("the last line must have {tag} and its value")),
        }
    }
    let since = last.split_once("@since").map_or("", |(_, rest)| rest.trim());
    if !since.split_once('.').is_some_and(|(major, minor)| is_number(major) && is_number(minor)) {
        say(format!("@since must name a version such as 0.1, not `{since}`"));
    }
    found
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The first word and the rest of each line that starts with `tag`.
fn tagged<'a>(doc: &'a [String], tag: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let lines = doc.iter().filter_map(move |line| line.strip_prefix(tag));
    lines
        .map(|line| line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), "")))
        .map(|(word, rest)| (word, rest.trim()))
}

#[test]
fn every_exported_function_is_documented() {
    let mut count = 0;
    let mut found = Vec::new();
    for path in sources() {
        for function in functions(&fs::read_to_string(&path).expect("a source of src/capi")) {
            count += 1;
            found.extend(problems(&function));
        }
    }
    assert!(count > 0, "no exported function found in src/capi");
    assert!(found.is_empty(), "{} problems:\n{}", found.len(), found.join("\n"));
}

const GOOD: &str = r#"
/// Reads a program.
///
/// The bytes are copied.
///
/// @param data     program bytes.
/// @param size     in bytes.
/// @param release  called at the end,
///                 or NULL.
/// @param out      receives a program.
/// @return NULL, or an owned error.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_read(
    data: *const c_void,
    size: usize,
    release: Option<unsafe extern "C" fn(*mut c_void, i32) -> i32>,
    out: *mut *mut cyxla_program,
) -> *mut cyxla_error {
"#;

fn problems_in(source: &str) -> Vec<String> {
    let functions = functions(source);
    assert_eq!(functions.len(), 1);
    problems(&functions[0])
}

#[test]
fn the_template_is_accepted() {
    assert_eq!(problems_in(GOOD), Vec::<String>::new());
    let nothing = "/// Frees.\n///\n/// @threads safe.   @blocks no.   @since 0.1\n#[unsafe(no_mangle)]\n\
                   pub extern \"C\" fn cyxla_nothing() {}\n";
    assert_eq!(problems_in(nothing), Vec::<String>::new());
}

#[test]
fn each_missing_part_is_found() {
    let broken = [
        ("/// Reads a program.\n///\n/// The bytes are copied.\n///\n", ""),
        ("Reads a program.", "Reads a program"),
        ("/// Reads a program.\n///\n", "/// Reads a program.\n"),
        ("/// @param size     in bytes.\n", ""),
        ("@param size     in bytes.", "@param size"),
        ("@param size ", "@param count "),
        ("@param data     program bytes.", "@param size     program bytes."),
        ("/// @return NULL, or an owned error.\n", ""),
        ("@return NULL, or an owned error.", "@return"),
        ("/// @return NULL", "/// @return a thing.\n/// @return NULL"),
        (") -> *mut cyxla_error {", ") {"),
        ("@threads safe.   ", ""),
        ("@blocks no.   ", ""),
        ("@blocks no.", "@blocks"),
        ("   @since 0.1", ""),
        ("@since 0.1", "@since soon"),
    ];
    for (part, instead) in broken {
        assert!(GOOD.contains(part), "{part}");
        let source = GOOD.replace(part, instead);
        assert!(!problems_in(&source).is_empty(), "`{part}` replaced by `{instead}` was accepted");
    }
}

/// The sources below a folder, as one text. String literals that go on in the
/// next line are joined.
fn all_sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            text += &all_sources(&path);
        } else {
            text += &fs::read_to_string(&path).expect("a source file");
        }
    }
    text
}

/// The messages that a page of errors quotes: what stands in backticks in the
/// first column of its tables.
fn quoted_messages(page: &str) -> Vec<&str> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.flat_map(|row| row.split(" | ").next().unwrap_or_default().split('`').step_by(2)).collect()
}

/// The parts of a quoted message that do not stand in the sources.
fn missing_parts<'a>(message: &'a str, sources: &str) -> Vec<&'a str> {
    let parts = message.split('…').map(|part| part.trim_matches([' ', ',', ';', ':', '.', '\'', '(', ')']));
    parts.filter(|part| !sources.contains(part)).collect()
}

#[test]
fn the_page_of_errors_quotes_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/errors.md")).expect("docs/errors.md");
    let sources = all_sources(&root.join("src"));
    let messages = quoted_messages(&page);
    assert!(messages.len() > 40, "only {} messages found", messages.len());
    for message in messages {
        assert_eq!(missing_parts(message, &sources), Vec::<&str>::new(), "of `{message}` in docs/errors.md");
    }
}

#[test]
fn a_message_that_no_source_has_is_found() {
    let page = "| `it is …, not …`; `another` | CODE | Use `none` of it. |\n";
    assert_eq!(quoted_messages(page), ["it is …, not …", "another"]);
    assert_eq!(missing_parts("it is …, never …", "\"it is {a}, not {b}\""), ["never"]);
}

/// The pages for people, by their path in the tree.
fn pages(root: &Path) -> Vec<String> {
    let docs = fs::read_dir(root.join("docs")).expect("docs").map(|entry| entry.expect("an entry of docs"));
    let names = docs.map(|entry| format!("docs/{}", entry.file_name().display()));
    let others = ["README.md", "CONTRIBUTING.md", "examples/c/README.md"].map(str::to_owned);
    names.filter(|name| name.ends_with(".md")).chain(others).collect()
}

/// The lines of a page that are no code.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Where the links of a page lead, but for those to other sites.
fn relative_links(page: &str) -> Vec<&str> {
    let targets = prose(page).flat_map(|line| line.split("](").skip(1));
    let links = targets.filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
    links.filter(|link| !link.contains("://") && !link.starts_with("mailto:")).collect()
}

/// The names that the headings of a page have in links.
fn anchors(page: &str) -> Vec<String> {
    let headings = prose(page).filter(|line| line.starts_with('#'));
    let anchor = |letter: char| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then(|| letter.to_ascii_lowercase()),
    };
    headings.map(|line| line.trim_start_matches('#').trim().chars().filter_map(anchor).collect()).collect()
}

/// Whether the link of a page leads to something that is there; `page` is a path below `root`.
fn leads_somewhere(root: &Path, page: &str, link: &str) -> bool {
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = match path {
        "" => root.join(page),
        _ => root.join(page).parent().expect("a folder of the page").join(path),
    };
    let has = |anchor: &str| {
        fs::read_to_string(&target).is_ok_and(|page| anchors(&page).iter().any(|name| name == anchor))
    };
    target.exists() && anchor.is_none_or(has)
}

#[test]
fn links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut count, mut dead) = (0, Vec::new());
    for page in pages(root) {
        let text = fs::read_to_string(root.join(&page)).expect("a page");
        let links = relative_links(&text);
        count += links.len();
        let bad = links.iter().filter(|link| !leads_somewhere(root, &page, link));
        dead.extend(bad.map(|link| format!("{page}: {link}")));
    }
    assert!(count > 40, "only {count} links found");
    assert!(dead.is_empty(), "{} links lead nowhere:\n{}", dead.len(), dead.join("\n"));
}

#[test]
fn dead_links_are_found() {
    let page = "See [a](b.md), [`c`](d/e.c#f) and [g](https://h/i).\n```\n[j](k)\n```\n[l](#m)\n";
    assert_eq!(relative_links(page), ["b.md", "d/e.c#f", "#m"]);
    assert_eq!(anchors("# How `a_b` works, and-why\n```\n# none\n```\n"), ["how-a_b-works-and-why"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let leads = |link| leads_somewhere(root, "docs/errors.md", link);
    assert!(leads("options.md") && leads("../README.md") && leads("#options") && leads("../examples/c"));
    assert!(leads("discovery.md#manifests"));
    assert!(
        !leads("option.md") && !leads("README.md") && !leads("#option") && !leads("discovery.md#options")
    );
}
