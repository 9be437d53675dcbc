//! A plot of ratios as an SVG file: groups of bars on a logarithmic scale.

use std::fmt::Write;

pub struct Group {
    pub title: String,
    pub bars: Vec<Bar>,
}

pub struct Bar {
    pub label: String,
    /// How long it takes, in the time of the one that is compared with.
    pub ratio: f64,
    /// What stands behind the bar.
    pub text: String,
    /// Whether it is this library's.
    pub is_ours: bool,
}

const WIDTH: f64 = 880.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 680.0;
const ROW: f64 = 20.0;
const TOP: f64 = 60.0;
const OURS: &str = "#1f6fb4";
const OTHERS: &str = "#b8bec4";

/// The whole file.
pub fn svg(title: &str, note: &str, groups: &[Group]) -> String {
    let rows: usize = groups.iter().map(|group| group.bars.len() + 2).sum();
    let height = TOP + ROW * (rows as f64 + 1.0);
    let scale = Scale::of(groups);
    let mut out = String::new();
    line(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">"
        ),
    );
    line(&mut out, format_args!("<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>"));
    text(&mut out, 10.0, 24.0, "font-size=\"16\" font-weight=\"bold\"", title);
    text(&mut out, 10.0, 44.0, "fill=\"#555\"", note);
    let one = scale.x(1.0);
    line(
        &mut out,
        format_args!(
            "<line x1=\"{one:.1}\" y1=\"{TOP}\" x2=\"{one:.1}\" y2=\"{:.1}\" stroke=\"#555\" stroke-dasharray=\"3 3\"/>",
            height - ROW
        ),
    );
    let mut y = TOP;
    for group in groups {
        y += ROW;
        text(&mut out, 10.0, y, "font-weight=\"bold\"", &group.title);
        for bar in &group.bars {
            y += ROW;
            draw(&mut out, bar, y, &scale);
        }
        y += ROW;
    }
    out.push_str("</svg>\n");
    out
}

fn draw(out: &mut String, bar: &Bar, y: f64, scale: &Scale) {
    let end = scale.x(bar.ratio);
    let colour = if bar.is_ours { OURS } else { OTHERS };
    text(out, LEFT - 8.0, y, "text-anchor=\"end\"", &bar.label);
    line(
        out,
        format_args!(
            "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"14\" fill=\"{colour}\"/>",
            y - 11.0,
            end - LEFT
        ),
    );
    text(out, end + 6.0, y, "", &bar.text);
}

/// From ratios to places, a power of ten as wide as the next.
struct Scale {
    lowest: f64,
    highest: f64,
}

impl Scale {
    fn of(groups: &[Group]) -> Self {
        let ratios = || groups.iter().flat_map(|group| group.bars.iter().map(|bar| bar.ratio));
        Self { lowest: ratios().fold(1.0, f64::min) / 2.0, highest: ratios().fold(10.0, f64::max) }
    }

    fn x(&self, ratio: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (ratio / self.lowest).ln() / (self.highest / self.lowest).ln()
    }
}

fn line(out: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{line}");
}

fn text(out: &mut String, x: f64, y: f64, attributes: &str, content: &str) {
    let content = content.replace('&', "&amp;").replace('<', "&lt;");
    line(out, format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{content}</text>"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(ratio: f64) -> Bar {
        Bar { label: "a<b".into(), ratio, text: format!("{ratio}x"), is_ours: ratio < 2.0 }
    }

    #[test]
    fn a_longer_time_is_a_longer_bar_within_the_picture() {
        let groups = [Group { title: "g".into(), bars: vec![bar(0.5), bar(1.0), bar(40.0)] }];
        let scale = Scale::of(&groups);
        let ends = [0.5, 1.0, 40.0].map(|ratio| scale.x(ratio));
        assert!(LEFT < ends[0] && ends[0] < ends[1] && ends[1] < ends[2] && ends[2] <= RIGHT, "{ends:?}");
    }

    #[test]
    fn text_cannot_break_the_file() {
        let file = svg("t", "n & m", &[Group { title: "g".into(), bars: vec![bar(1.0)] }]);
        assert!(file.contains("a&lt;b") && file.contains("n &amp; m") && file.ends_with("</svg>\n"));
        assert_eq!(file.matches("<rect").count(), 2);
    }
}
