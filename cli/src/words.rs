//! Sizes, times and foreign text in words.

use std::time::{Duration, SystemTime};

/// A number of bytes for people: `1.2 MiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut tenths = u128::from(bytes) * 10;
    let mut unit = 0;
    loop {
        // Rounded first, so that there is no 1024.0 KiB.
        let rounded = (tenths + 512) / 1024;
        if rounded < 10240 || unit + 1 == UNITS.len() {
            return format!("{}.{} {}", rounded / 10, rounded % 10, UNITS[unit]);
        }
        tenths /= 1024;
        unit += 1;
    }
}

/// The same, with the exact number behind it where that is another.
pub fn exact_size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        _ => format!("{} ({bytes} bytes)", size(bytes)),
    }
}

/// A count with its noun: `1 input`, `2 inputs`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A time as ISO 8601 writes it, in UTC.
pub fn time(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, rest) = (seconds / 86400, seconds % 86400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a day, counted from the first of January 1970.
fn date(days: u64) -> (u64, u64, u64) {
    // The calendar repeats itself after 400 years.
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let mut year = 1970 + 400 * (days / DAYS_OF_400_YEARS);
    let mut days = days % DAYS_OF_400_YEARS;
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

/// How long ago a time was: `3 hours ago`.
pub fn ago(time: SystemTime) -> String {
    let seconds = time.elapsed().unwrap_or(Duration::ZERO).as_secs();
    let units = [(86400, "day"), (3600, "hour"), (60, "minute")];
    let unit = units.iter().find(|(length, _)| seconds >= *length);
    match unit {
        Some((length, noun)) => format!("{} ago", count((seconds / length) as usize, noun)),
        None => "just now".to_owned(),
    }
}

/// Text is broken into lines of about this length.
const WIDTH: usize = 92;

/// A text in lines, broken between words.
pub fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > WIDTH {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// Text of a file on one line of a terminal: what would steer the terminal is escaped.
pub fn plain(text: &str) -> String {
    let is_harmless = |c: char| !c.is_control() && !is_direction(c);
    if text.chars().all(is_harmless) {
        return text.to_owned();
    }
    text.chars().flat_map(|c| if is_harmless(c) { vec![c] } else { c.escape_default().collect() }).collect()
}

/// Whether a character changes the direction in which others are shown, or is not seen.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The same, of so many characters at most.
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return plain(text);
    }
    let start: String = text.chars().take(most.saturating_sub(1)).collect();
    plain(&start) + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (1_258_291, "1.2 MiB"),
            (1 << 40, "1.0 TiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (bytes, words) in cases {
            assert_eq!(size(bytes), words, "{bytes}");
        }
        assert_eq!(exact_size(12), "12 bytes");
        assert_eq!(exact_size(2048), "2.0 KiB (2048 bytes)");
    }

    #[test]
    fn times() {
        let at = |seconds| time(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        for (seconds, words) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
        ] {
            assert_eq!(at(seconds), words);
        }
        let before = |seconds| ago(SystemTime::now() - Duration::from_secs(seconds));
        assert_eq!(before(5), "just now");
        assert_eq!(before(61), "1 minute ago");
        assert_eq!(before(7300), "2 hours ago");
        assert_eq!(before(864_001), "10 days ago");
        assert_eq!(ago(SystemTime::now() + Duration::from_secs(60)), "just now");
    }

    #[test]
    fn long_texts_are_broken_between_words() {
        let text = "word ".repeat(40);
        let lines = wrapped(&text);
        assert!(lines.len() == 3 && lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:?}");
        assert_eq!(lines.join(" "), text.trim_end());
        assert_eq!(wrapped(""), [""]);
        assert_eq!(wrapped(&"x".repeat(200)).len(), 1);
    }

    #[test]
    fn foreign_text_is_harmless_and_short() {
        assert_eq!(plain("a['ü'] 日"), "a['ü'] 日");
        assert_eq!(plain("\x1b[2J\n\u{202e}x"), "\\u{1b}[2J\\n\\u{202e}x");
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abcde…");
        assert_eq!(shortened("日本語", 2), "日…");
    }
}
