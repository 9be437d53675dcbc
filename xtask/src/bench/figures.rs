//! What many times come down to.

/// Of times in nanoseconds.
pub struct Figures {
    pub count: usize,
    pub p50: f64,
    pub p99: f64,
    pub most: f64,
}

impl Figures {
    pub fn new(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).map_or(f64::NAN, |time| *time as f64);
        let most = times.last().map_or(f64::NAN, |time| *time as f64);
        Self { count: times.len(), p50: at(50), p99: at(99), most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter() {
        let figures = Figures::new((0..200).rev().collect());
        assert_eq!((figures.count, figures.p50, figures.p99, figures.most), (200, 100.0, 198.0, 199.0));
        assert_eq!(Figures::new(vec![7]).p99, 7.0);
        assert!(Figures::new(vec![]).p50.is_nan());
    }
}
