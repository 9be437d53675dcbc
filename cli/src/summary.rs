//! Arrays as text for people, laid out as NumPy prints them: brackets, equal
//! columns, and only the edges of what is large.

use cyxla::dtype::DType;
use serde_json::{Value, json};

use crate::decimal;
use crate::element::{self, Element};

/// Arrays with more elements show only their edges.
const LARGE: usize = 200;
/// Arrays with more elements have no place in a JSON answer.
const LARGE_IN_JSON: usize = 1000;
/// So many entries at either end of an axis.
const EDGE: usize = 3;
const LINE_WIDTH: usize = 75;
/// Arrays of many axes have many lines even so.
const MOST_LINES: usize = 40;

/// Prints an array's values, without a final newline.
pub fn text(dtype: DType, dims: &[i64], bytes: &[u8]) -> String {
    let dims: Vec<usize> = dims.iter().map(|dim| usize::try_from(*dim).unwrap_or(0)).collect();
    if dims.contains(&0) {
        return "[]".to_owned();
    }
    let count: usize = dims.iter().product();
    let large = count > LARGE;
    let shown = shown_indices(&dims, large);
    let elements: Option<Vec<Element>> =
        shown.iter().map(|index| element::at(dtype, bytes, *index)).collect();
    let Some(elements) = elements else {
        return "(no values)".to_owned();
    };
    let places = if dims.is_empty() { decimal::ALONE } else { decimal::IN_ARRAY };
    let mut words = words(&elements, places).into_iter();
    let mut layout = Layout { dims: &dims, large, words: &mut words };
    cut(&layout.axis(0, 1, LINE_WIDTH))
}

/// An array as nested JSON lists; None when it is large or has no values.
/// Complex numbers are pairs, and what JSON lacks (NaN, infinities) is text.
pub fn json(dtype: DType, dims: &[i64], bytes: &[u8]) -> Option<Value> {
    let dims: Vec<usize> = dims.iter().map(|dim| usize::try_from(*dim).unwrap_or(0)).collect();
    // An empty array has lists in it, down to its first axis of length zero.
    let lists = dims.iter().take_while(|dim| **dim > 0);
    let lists = lists.fold(1usize, |product, dim| product.saturating_mul(*dim));
    if lists > LARGE_IN_JSON {
        return None;
    }
    let count = if dims.contains(&0) { 0 } else { lists };
    let mut values: Vec<Value> =
        (0..count).map(|i| element::at(dtype, bytes, i).map(value)).collect::<Option<_>>()?;
    for (axis, &dim) in dims.iter().enumerate().rev() {
        let rows: usize = dims[..axis].iter().product();
        let mut rest = values.into_iter();
        values = (0..rows).map(|_| rest.by_ref().take(dim).collect::<Vec<_>>().into()).collect();
    }
    values.into_iter().next()
}

fn value(element: Element) -> Value {
    let real = |real: &element::Real| match real.value {
        value if value.is_finite() => json!(decimal::shortest(real)),
        value if value.is_nan() => json!("NaN"),
        value if value > 0.0 => json!("Infinity"),
        _ => json!("-Infinity"),
    };
    match element {
        Element::Bool(value) => json!(value),
        Element::Int(value) => match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => json!(value),
            (_, Ok(value)) => json!(value),
            _ => json!(value.to_string()),
        },
        Element::Real(value) => real(&value),
        Element::Complex(re, im) => json!([real(&re), real(&im)]),
    }
}

/// The entries of an axis that are shown; None stands for the gap.
fn entries(dim: usize, large: bool) -> Vec<Option<usize>> {
    if large && dim > 2 * EDGE {
        let ends = (0..EDGE).map(Some).chain([None]).chain((dim - EDGE..dim).map(Some));
        ends.collect()
    } else {
        (0..dim).map(Some).collect()
    }
}

/// The row-major positions of all elements that are shown, in order.
fn shown_indices(dims: &[usize], large: bool) -> Vec<usize> {
    dims.iter().fold(vec![0], |starts, dim| {
        let along: Vec<usize> = entries(*dim, large).into_iter().flatten().collect();
        starts.iter().flat_map(|start| along.iter().map(move |i| start * dim + i)).collect()
    })
}

/// Elements as words of one width.
fn words(elements: &[Element], places: usize) -> Vec<String> {
    let mut reals = Vec::new();
    let mut imaginaries = Vec::new();
    let mut plain = Vec::new();
    for element in elements {
        match element {
            Element::Bool(true) => plain.push("True".to_owned()),
            Element::Bool(false) => plain.push("False".to_owned()),
            Element::Int(value) => plain.push(value.to_string()),
            Element::Real(real) => reals.push(*real),
            Element::Complex(real, imaginary) => {
                reals.push(*real);
                imaginaries.push(*imaginary);
            }
        }
    }
    if !imaginaries.is_empty() {
        return complex(&decimal::column(&reals, places), &decimal::column(&imaginaries, places));
    }
    if !reals.is_empty() {
        return decimal::column(&reals, places);
    }
    let width = plain.iter().map(String::len).max().unwrap_or(0);
    plain.iter().map(|word| format!("{word:>width$}")).collect()
}

/// Complex numbers as words: `1.+2.5j`, the signs below each other.
fn complex(reals: &[String], imaginaries: &[String]) -> Vec<String> {
    let signed: Vec<String> = imaginaries
        .iter()
        .map(|number| match number.trim_start() {
            number if number.starts_with('-') => number.to_owned(),
            number => format!("+{number}"),
        })
        .collect();
    let width = signed.iter().map(String::len).max().unwrap_or(0);
    let words = reals.iter().zip(&signed).map(|(real, imaginary)| {
        let number = imaginary.trim_end();
        let after = " ".repeat(imaginary.len() - number.len());
        format!("{real}{:>1$}j{after}", number, width - after.len())
    });
    words.collect()
}

struct Layout<'a> {
    dims: &'a [usize],
    large: bool,
    words: &'a mut dyn Iterator<Item = String>,
}

impl Layout<'_> {
    /// The text of one entry at an axis: a word, or a bracketed list of the
    /// next axis's entries. `indent` is where continued lines begin.
    fn axis(&mut self, axis: usize, indent: usize, width: usize) -> String {
        let Some(&dim) = self.dims.get(axis) else {
            return self.words.next().unwrap_or_default();
        };
        let entries = entries(dim, self.large);
        let blank = " ".repeat(indent);
        if axis + 1 < self.dims.len() {
            let between = format!("{}{blank}", "\n".repeat(self.dims.len() - axis - 1));
            let parts: Vec<String> = entries
                .iter()
                .map(|entry| match entry {
                    Some(_) => self.axis(axis + 1, indent + 1, width),
                    None => "...".to_owned(),
                })
                .collect();
            return format!("[{}]", parts.join(&between));
        }
        let mut text = String::from("[");
        let mut column = indent;
        for (position, entry) in entries.iter().enumerate() {
            let word = match entry {
                Some(_) => self.words.next().unwrap_or_default(),
                None => "...".to_owned(),
            };
            if position > 0 {
                // One column stays free for the bracket that closes the list.
                if column + 1 + word.len() >= width {
                    text.push('\n');
                    text.push_str(&blank);
                    column = indent;
                } else {
                    text.push(' ');
                    column += 1;
                }
            }
            column += word.len();
            text.push_str(&word);
        }
        format!("{text}]")
    }
}

fn cut(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= MOST_LINES {
        return text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    }
    let kept = lines[..MOST_LINES].iter().map(|line| line.trim_end()).collect::<Vec<_>>();
    format!("{}\n... ({} more lines)", kept.join("\n"), lines.len() - MOST_LINES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn small_arrays_are_shown_whole() {
        assert_eq!(text(DType::F32, &[], &f32s(&[1.5])), "1.5");
        assert_eq!(text(DType::F32, &[4], &f32s(&[1.0, 2.0, 3.0, 4.5])), "[1.  2.  3.  4.5]");
        assert_eq!(text(DType::F32, &[2, 2], &f32s(&[1.0, 2.0, 3.0, 4.0])), "[[1. 2.]\n [3. 4.]]");
        assert_eq!(text(DType::U8, &[2, 1, 2], &[1, 20, 3, 4]), "[[[ 1 20]]\n\n [[ 3  4]]]");
        assert_eq!(text(DType::PRED, &[2], &[1, 0]), "[ True False]");
        assert_eq!(text(DType::F32, &[3, 0], &[]), "[]");
        assert_eq!(text(DType::F32, &[1 << 40, 1 << 40, 0], &[]), "[]");
        assert_eq!(text(DType::TOKEN, &[], &[]), "(no values)");
        assert_eq!(text(DType::C64, &[2], &f32s(&[1.0, -2.0, 0.5, 0.25])), "[1. -2.j   0.5+0.25j]");
    }

    #[test]
    fn long_lines_are_broken_and_large_arrays_cut() {
        let bytes: Vec<u8> = (0..200i32).flat_map(i32::to_le_bytes).collect();
        let whole = text(DType::S32, &[200], &bytes);
        assert!(whole.lines().all(|line| line.len() <= LINE_WIDTH));
        assert!(whole.ends_with(" 199]") && whole.contains(" 100 "));
        let bytes: Vec<u8> = (0..2000i32).flat_map(i32::to_le_bytes).collect();
        assert_eq!(text(DType::S32, &[2000], &bytes), "[   0    1    2 ... 1997 1998 1999]");
        let table = text(DType::S32, &[40, 50], &bytes);
        assert_eq!(table.lines().count(), 7);
        assert_eq!(table.lines().next(), Some("[[   0    1    2 ...   47   48   49]"));
        assert_eq!(table.lines().nth(3), Some(" ..."));
        assert!(table.ends_with(" [1950 1951 1952 ... 1997 1998 1999]]"));
        let deep = text(DType::U8, &[5, 5, 5, 5, 3], &[0; 1875]);
        assert_eq!(deep.lines().count(), MOST_LINES + 1);
        assert!(deep.ends_with("more lines)"));
    }

    #[test]
    fn json_is_nested_and_has_words_for_what_json_lacks() {
        let values = f32s(&[0.1, f32::NAN, f32::INFINITY, -1.0]);
        let value = json(DType::F32, &[2, 2], &values).unwrap();
        assert_eq!(value.to_string(), r#"[[0.1,"NaN"],["Infinity",-1.0]]"#);
        assert_eq!(json(DType::F32, &[], &f32s(&[2.5])).unwrap().to_string(), "2.5");
        assert_eq!(json(DType::F32, &[2, 0], &[]).unwrap().to_string(), "[[],[]]");
        assert_eq!(json(DType::F32, &[0, 2], &[]).unwrap().to_string(), "[]");
        let complex = json(DType::C64, &[1], &f32s(&[1.0, 2.0])).unwrap();
        assert_eq!(complex.to_string(), "[[1.0,2.0]]");
        assert_eq!(json(DType::U64, &[1], &[255; 8]).unwrap().to_string(), "[18446744073709551615]");
        assert!(json(DType::U8, &[1001], &[0; 1001]).is_none());
        assert!(json(DType::U8, &[1 << 40, 1 << 40, 0], &[]).is_none());
        assert_eq!(json(DType::U8, &[0, 1 << 40, 1 << 40], &[]).unwrap().to_string(), "[]");
        assert!(json(DType::TOKEN, &[], &[]).is_none());
    }
}
