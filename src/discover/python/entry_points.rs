//! Reads `entry_points.txt`, where a package says what it offers to others.
//!
//! Python's own reader gives up on a whole environment at the first line that it
//! does not understand; this one names the line and goes on.

use memchr::memmem;

/// The group of plugins that are made for libcyxla.
pub const GROUP: &str = "cyxla.plugins";
/// The group of JAX's plugins.
pub const GROUP_OF_JAX: &str = "jax_plugins";

/// An entry of one of the two groups.
#[derive(Debug, PartialEq, Eq, Clone)]
pub struct Entry {
    pub name: String,
    /// The module, in Python's dotted form.
    pub module: String,
}

/// What a file says.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct EntryPoints {
    /// Plugins for libcyxla.
    pub plugins: Vec<Entry>,
    /// Plugins for JAX.
    pub of_jax: Vec<Entry>,
    /// What is wrong with entries of the first group.
    pub problems: Vec<String>,
}

/// Reads a file's content. Lines of other groups are not looked at.
pub fn parse(text: &[u8]) -> EntryPoints {
    let mut found = EntryPoints::default();
    let mentions = |group: &str| memmem::find(text, group.as_bytes()).is_some();
    let (is_ours, is_of_jax) = (mentions(GROUP), mentions(GROUP_OF_JAX));
    if !is_ours && !is_of_jax {
        return found;
    }
    let Ok(text) = std::str::from_utf8(text) else {
        if is_ours {
            found.problems.push("its entry_points.txt is not UTF-8".into());
        }
        return found;
    };
    let mut group = "";
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            group = name;
            continue;
        }
        match (group, entry(line)) {
            (GROUP, Ok(entry)) => found.plugins.push(entry),
            (GROUP, Err(problem)) => {
                found.problems.push(format!("its entry point '{}' is {problem}", line.escape_debug()));
            }
            (GROUP_OF_JAX, Ok(entry)) => found.of_jax.push(entry),
            _ => {}
        }
    }
    found
}

/// Reads `name = package.module [extra, extra]`.
fn entry(line: &str) -> Result<Entry, &'static str> {
    let (name, value) = line.split_once('=').ok_or("malformed: it has no '='")?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() {
        return Err("malformed: it has no name");
    }
    let value = match value.split_once('[') {
        Some((value, extras)) if extras.ends_with(']') => value.trim_end(),
        Some(_) => return Err("malformed: a bracket is not closed"),
        None => value,
    };
    let (module, attribute) = match value.split_once(':') {
        Some((module, attribute)) => (module.trim_end(), Some(attribute)),
        None => (value, None),
    };
    let is_identifier = |part: &str| {
        let mut letters = part.chars();
        letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    if !module.split('.').all(is_identifier) {
        return Err("malformed: it names no module, such as package.module");
    }
    if attribute.is_some() {
        return Err("not a module: an entry point of this group names a module, without ':'");
    }
    Ok(Entry { name: name.to_owned(), module: module.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugins(text: &str) -> Vec<(String, String)> {
        let found = parse(text.as_bytes());
        assert_eq!(found.problems, [""; 0], "{text:?}");
        found.plugins.into_iter().map(|entry| (entry.name, entry.module)).collect()
    }

    fn one(name: &str, module: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), module.to_owned())]
    }

    #[test]
    fn files_as_tools_and_people_write_them() {
        for (text, name) in [
            ("[cyxla.plugins]\nx=m.n\n", "x"),
            ("[cyxla.plugins]\n  x   =   m.n  \n", "x"),
            ("[cyxla.plugins]\r\nx = m.n\r\n", "x"),
            ("[cyxla.plugins]\nx = m.n", "x"),
            ("# c\n\n[cyxla.plugins]\n#third\n; fourth\nx = m.n\n", "x"),
            ("[console_scripts]\nx = y:z\n\n[cyxla.plugins]\nx = m.n\n", "x"),
            ("[cyxla.plugins]\nx = m.n [gpu,other]\n", "x"),
            ("[cyxla.plugins]\na.b-c d = m.n\n", "a.b-c d"),
            ("[cyxla.plugins]\nx = m.n\n[console_scripts]\nbroken line\n[cyxla.plugins]\n", "x"),
        ] {
            assert_eq!(plugins(text), one(name, "m.n"), "{text:?}");
        }
        assert_eq!(plugins("[cyxla.plugins]\ny = müdül._m1\n"), one("y", "müdül._m1"));
        assert_eq!(plugins("[cyxla.plugins]\na = m\nb = m\n").len(), 2);
    }

    #[test]
    fn what_is_not_meant_for_us_is_not_reported() {
        for text in [
            "",
            "[ cyxla.plugins ]\nx = m\n",
            "[Cyxla.Plugins]\nx = m\n",
            "x = m # [cyxla.plugins]\n",
            "[cyxla.plugins\nx = m\n",
            "[other]\nbroken cyxla.plugins\n",
        ] {
            assert_eq!(plugins(text), [], "{text:?}");
        }
        assert_eq!(parse(b"[other]\nx = caf\xe9"), EntryPoints::default());
    }

    #[test]
    fn a_broken_line_is_reported_and_hides_no_other() {
        for (line, part) in [
            ("m", "no '='"),
            ("x =", "names no module"),
            ("= m", "no name"),
            ("x = os;import os", "names no module"),
            ("x = ..m", "names no module"),
            ("x = a b", "names no module"),
            ("x = a\0b", "a\\0b"),
            ("x = 1a", "names no module"),
            ("x = a-b", "names no module"),
            ("x = m [extra", "bracket"),
            ("x = m:plugin", "not a module"),
        ] {
            let found = parse(format!("[cyxla.plugins]\n{line}\ngood = m\n").as_bytes());
            assert_eq!(found.plugins.len(), 1, "{line:?}");
            assert_eq!(found.problems.len(), 1, "{line:?}");
            assert!(found.problems[0].contains(part), "{:?}", found.problems);
        }
        let found = parse(b"[cyxla.plugins]\nname = caf\xe9\n");
        assert!(found.problems[0].contains("not UTF-8"));
    }

    #[test]
    fn plugins_of_jax() {
        let found = parse(b"[jax_plugins]\nxla_cuda12 = jax_plugins.xla_cuda12\nbroken\n");
        assert_eq!(found.of_jax.len(), 1);
        assert_eq!(found.of_jax[0].module, "jax_plugins.xla_cuda12");
        assert!(found.plugins.is_empty() && found.problems.is_empty());
    }
}
