//! What `cargo xtask bench` is asked for.

use crate::Result;

/// The arguments, read.
pub struct Request {
    part: Option<String>,
    /// At most, of each program.
    pub calls: usize,
    /// Whether the figures go into docs, too.
    pub writes: bool,
    /// Whether only limits are watched.
    pub checks: bool,
}

impl Request {
    const PARTS: [&str; 3] = ["round-trip", "start", "listing"];

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
        if request.writes && request.part.is_some() {
            return Err("--write writes everything: leave the part out".into());
        }
        if request.checks && !["round-trip", "start"].iter().any(|part| request.part.as_deref() == Some(part))
        {
            return Err("--check is for round-trip or for start".into());
        }
        Ok(request)
    }

    pub fn wants(&self, part: &str) -> bool {
        self.part.as_deref().is_none_or(|wanted| wanted == part)
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
        for wrong in [
            &["--calls"][..],
            &["--calls", "0"],
            &["start", "listing"],
            &["start", "--write"],
            &["--check"],
            &["x"],
        ] {
            assert!(Request::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
