//! What `cargo xtask bench` is asked for.

use crate::Result;

/// The arguments, read.
pub struct Request {
    part: Option<String>,
    /// At most, of each program.
    pub calls: usize,
    /// Whether the figures go into docs, too.
    pub writes: bool,
    /// Whether the targets are to be met.
    pub checks: bool,
}

impl Request {
    const PARTS: [&str; 6] = ["round-trip", "scaling", "start", "listing", "instructions", "soak"];

    pub fn parse(arguments: &[&str]) -> Result<Self> {
        let mut request = Self { part: None, calls: 20_000, writes: false, checks: false };
        let mut arguments = arguments.iter();
        while let Some(&argument) = arguments.next() {
            match argument {
                "--write" => request.writes = true,
                "--check" => request.checks = true,
                "--calls" => {
                    let count =
                        arguments.next().and_then(|count| count.parse().ok()).filter(|&count| count > 0);
                    request.calls = count.ok_or("--calls needs a number")?;
                }
                part if request.part.is_none() && Self::PARTS.contains(&part) => {
                    request.part = Some(part.to_string());
                }
                other => {
                    let parts = Self::PARTS.join(", ");
                    return Err(format!(
                        "`{other}` is none of {parts}, --calls N, --check, --write, or one too many"
                    ));
                }
            }
        }
        if request.writes && !request.is(None) && !request.is(Some("instructions")) {
            return Err("--write writes everything, or what was counted of `instructions`".into());
        }
        if request.checks && request.is(Some("listing")) {
            return Err("there is no target for listing".into());
        }
        Ok(request)
    }

    fn is(&self, part: Option<&str>) -> bool {
        self.part.as_deref() == part
    }

    /// Whether nothing but this part is wanted.
    pub fn only(&self, part: &str) -> bool {
        self.is(Some(part))
    }

    /// Whether this part is wanted, by its name or among all.
    pub fn wants(&self, part: &str) -> bool {
        self.is(None) || self.only(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let request = Request::parse(&["start", "--calls", "5"]).unwrap();
        assert!(request.wants("start") && !request.wants("listing") && request.calls == 5);
        assert!(Request::parse(&["--write"]).is_ok_and(|request| request.writes && request.wants("listing")));
        assert!(
            Request::parse(&["instructions", "--write"]).is_ok_and(|request| request.only("instructions"))
        );
        assert!(Request::parse(&["--check"]).is_ok_and(|request| request.checks && request.wants("soak")));
        for wrong in [
            &["--calls"][..],
            &["--calls", "0"],
            &["start", "listing"],
            &["start", "--write"],
            &["listing", "--check"],
            &["x"],
        ] {
            assert!(Request::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
