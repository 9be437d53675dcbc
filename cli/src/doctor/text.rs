//! The report for people.

use super::{Check, Report, State};
use crate::table;
use crate::words::wrapped;

/// Lines about one plugin: what it is, then a line for each check.
pub fn report(report: &Report) -> String {
    let subject = &report.subject;
    let version = subject.version.as_ref().map_or(String::new(), |version| format!(" {version}"));
    let chosen = if subject.is_chosen { " (would be used)" } else { "" };
    let usable = if report.is_usable() { "usable" } else { "NOT USABLE" };
    let heading = format!("{}{version}{chosen}: {usable}", report.platform().unwrap_or("plugin"));
    let mut rows = vec![
        vec!["  library".to_owned(), String::new(), subject.path.display().to_string()],
        vec!["  found by".to_owned(), String::new(), subject.origin.clone()],
    ];
    // An absent device is a check of its own.
    if let Some(why_not) =
        subject.why_not.as_ref().filter(|&reason| subject.absent_device.as_ref() != Some(reason))
    {
        rows.extend(wrapped(why_not).into_iter().enumerate().map(|(index, line)| {
            let name = if index == 0 { "  not used" } else { "" };
            vec![name.to_owned(), String::new(), line]
        }));
    }
    rows.extend(report.checks.iter().flat_map(check));
    format!("{heading}\n{}", table::columns(&rows))
}

fn check(check: &Check) -> Vec<Vec<String>> {
    let state = match check.state {
        State::Problem => "PROBLEM",
        other => other.name(),
    };
    let mut lines = wrapped(&check.text);
    for note in &check.notes {
        // Several lines are somebody else's, to be left as they are.
        let parts =
            if note.contains('\n') { note.lines().map(str::to_owned).collect() } else { wrapped(note) };
        let indented = parts.iter().enumerate().map(|(index, line)| match index {
            0 => format!("- {line}"),
            _ => format!("  {line}"),
        });
        lines.extend(indented);
    }
    let mut lines = lines.into_iter();
    let first = vec![format!("  {}", check.name), state.to_owned(), lines.next().unwrap_or_default()];
    let rest = lines.map(|line| vec![String::new(), String::new(), line]);
    [first].into_iter().chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_stand_below_their_check() {
        let check = Check::new("client", State::Problem, "it failed").note("do this").note("printed: a\nb");
        let rows = super::check(&check);
        assert_eq!(rows[0], ["  client", "PROBLEM", "it failed"]);
        let below: Vec<&str> = rows[1..].iter().map(|row| row[2].as_str()).collect();
        assert_eq!(below, ["- do this", "- printed: a", "  b"]);
    }
}
