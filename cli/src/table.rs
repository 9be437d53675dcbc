//! Text in columns.

/// Lays rows out in columns, two spaces apart; the last column is not padded.
pub fn columns(rows: &[Vec<String>]) -> String {
    columns_up_to(rows, usize::MAX)
}

/// The same with columns of a greatest width; what does not fit moves the rest of its row.
pub fn columns_up_to(rows: &[Vec<String>], widest: usize) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let fitting = |cell: &String| Some(cell.chars().count()).filter(|width| *width <= widest);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).filter_map(fitting).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["a".into(), "bb".into()], vec!["ccc".into(), "d".into(), "e".into()]];
        assert_eq!(columns(&rows), "a    bb\nccc  d   e\n");
        assert_eq!(columns(&[]), "");
        assert_eq!(columns_up_to(&rows, 2), "a  bb\nccc  d   e\n");
    }
}
