//! Real numbers as short decimals, in the two forms that NumPy prints.

use crate::element::{Precision, Real};

/// Digits after the point in an array; more are rounded away.
pub const IN_ARRAY: usize = 8;
/// Digits after the point for a number that stands alone: all that there are.
pub const ALONE: usize = usize::MAX;

/// The shortest decimal that means this number in its own format. Formats that
/// NumPy lacks have so few digits that it would mislead (448, the largest number
/// of f8e4m3fn, would be 450); they get six digits, as Python prints them.
pub fn shortest(real: &Real) -> f64 {
    match real.precision {
        Precision::Double => real.value,
        Precision::Single => (real.value as f32).to_string().parse().unwrap_or(real.value),
        Precision::Half(tolerance) => (0..17)
            .map(|places| format!("{:.*e}", places, real.value))
            .filter_map(|text| text.parse::<f64>().ok())
            .find(|guess| (guess - real.value).abs() < tolerance)
            .unwrap_or(real.value),
        Precision::Narrow => format!("{:.5e}", real.value).parse().unwrap_or(real.value),
    }
}

/// Whether NumPy would print these numbers with exponents.
pub fn need_exponents(reals: &[Real]) -> bool {
    let sizes = || reals.iter().map(|real| real.value.abs()).filter(|size| size.is_finite() && *size > 0.0);
    let (least, most) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    most > 0.0 && (most >= 1e8 || least < 1e-4 || most / least > 1000.0)
}

/// Numbers as text of one width, points below each other, with at most so many
/// digits after the point.
pub fn column(reals: &[Real], places: usize) -> Vec<String> {
    let parts: Vec<Parts> = if need_exponents(reals) {
        let places = reals.iter().map(|real| exponential_places(real).min(places)).max();
        reals.iter().map(|real| exponential(real, places.unwrap_or(0))).collect()
    } else {
        reals.iter().map(|real| positional(real, places)).collect()
    };
    let numbers = || parts.iter().filter(|part| !part.special);
    let before = numbers().map(|part| part.before.len()).max().unwrap_or(0);
    let after = parts.iter().map(|part| part.after.len()).max().unwrap_or(0);
    let ends = parts.iter().map(|part| part.exponent.len()).max().unwrap_or(0);
    let point = usize::from(numbers().next().is_some());
    let width = before.max(special_width(&parts).saturating_sub(point + after + ends));
    parts
        .iter()
        .map(|part| {
            if part.special {
                return format!("{:>1$}", part.before, width + point + after + ends);
            }
            let fill = " ".repeat(after - part.after.len());
            let (mark, power) = part.exponent.split_at(part.exponent.len().min(2));
            let power = format!("{power:0>0$}", ends.saturating_sub(2));
            format!("{:>width$}.{}{mark}{power}{fill}", part.before, part.after)
        })
        .collect()
}

/// A printed number in its parts; infinities and NaNs are all `before`.
struct Parts {
    before: String,
    after: String,
    exponent: String,
    special: bool,
}

fn special_width(parts: &[Parts]) -> usize {
    parts.iter().filter(|part| part.special).map(|part| part.before.len()).max().unwrap_or(0)
}

fn special(real: &Real) -> Option<Parts> {
    let word = match real.value {
        value if value.is_nan() => "nan",
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        _ => return None,
    };
    let (after, exponent) = (String::new(), String::new());
    Some(Parts { before: word.to_owned(), after, exponent, special: true })
}

fn positional(real: &Real, most: usize) -> Parts {
    special(real).unwrap_or_else(|| {
        let short = format!("{}", shortest(real));
        let places = short.split_once('.').map_or(0, |(_, after)| after.len());
        let text = if places > most { format!("{:.most$}", real.value) } else { short };
        let (before, after) = text.split_once('.').unwrap_or((&text, ""));
        Parts {
            before: before.to_owned(),
            after: after.trim_end_matches('0').to_owned(),
            exponent: String::new(),
            special: false,
        }
    })
}

/// Digits after the point that the shortest form with an exponent has.
fn exponential_places(real: &Real) -> usize {
    let short = format!("{:e}", shortest(real));
    let digits = short.split('e').next().unwrap_or_default();
    digits.split_once('.').map_or(0, |(_, after)| after.len())
}

/// With exactly so many digits after the point, so that columns need no filling
/// with zeros that the number may not have.
fn exponential(real: &Real, places: usize) -> Parts {
    special(real).unwrap_or_else(|| {
        let text = format!("{:.places$e}", real.value);
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
        let (sign, power) = match power.strip_prefix('-') {
            Some(power) => ('-', power),
            None => ('+', power),
        };
        Parts {
            before: before.to_owned(),
            after: after.to_owned(),
            exponent: format!("e{sign}{power:0>2}"),
            special: false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubles(values: &[f64]) -> Vec<Real> {
        values.iter().map(|&value| Real { value, precision: Precision::Double }).collect()
    }

    fn joined(values: &[f64]) -> String {
        column(&doubles(values), IN_ARRAY).join(" ")
    }

    #[test]
    fn columns_look_like_numpys() {
        assert_eq!(joined(&[1.0, 2.5, -3.25]), " 1.    2.5  -3.25");
        assert_eq!(joined(&[1.0, 2.0]), "1. 2.");
        assert_eq!(joined(&[0.1, f64::NAN, f64::NEG_INFINITY]), " 0.1  nan -inf");
        assert_eq!(joined(&[1e-5, 1234.5]), "1.0000e-05 1.2345e+03");
        assert_eq!(joined(&[1e9]), "1.e+09");
        assert_eq!(joined(&[1e100, 1.0]), "1.e+100 1.e+000");
        assert_eq!(joined(&[1.0 / 3.0]), "0.33333333");
        assert_eq!(joined(&[0.0, -0.0]), " 0. -0.");
        assert_eq!(joined(&[f64::NAN, f64::INFINITY]), "nan inf");
        assert_eq!(joined(&[2.0 / 3.0 * 1e-7]), "6.66666667e-08");
    }

    #[test]
    fn a_number_is_as_short_as_its_format_allows() {
        let single = Real { value: f64::from(0.1f32), precision: Precision::Single };
        assert_eq!(shortest(&single), 0.1);
        // 0.1 in f16 is 0.0999755859375, a step there is 2^-14.
        let half = Precision::Half(2f64.powi(-15));
        assert_eq!(shortest(&Real { value: 0.0999755859375, precision: half }), 0.1);
        let narrow = Precision::Narrow;
        assert_eq!(shortest(&Real { value: 448.0, precision: narrow }), 448.0);
        assert_eq!(shortest(&Real { value: 0.10009765625, precision: narrow }), 0.100098);
        assert_eq!(shortest(&Real { value: 0.1, precision: Precision::Double }), 0.1);
    }
}
