//! Reads what valgrind's callgrind counted.

/// A file that callgrind wrote, with names in full (`--compress-strings=no`).
pub struct Counts {
    /// What the program that was watched called it.
    pub name: String,
    /// Each function of the library that is asked for, and its own instructions without
    /// those of what it called; most first.
    pub functions: Vec<(String, u64)>,
}

impl Counts {
    /// Reads the instructions of one library, known by the end of its path.
    pub fn read(text: &str, library: &str) -> Counts {
        let mut counts = Counts { name: String::new(), functions: Vec::new() };
        let mut is_library = false;
        let mut function = "";
        // The line after `calls=` has the cost of the function that was called.
        let mut is_call = false;
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("desc: Trigger: Client Request: ") {
                counts.name = name.to_string();
            } else if let Some(object) = line.strip_prefix("ob=") {
                is_library = object.rsplit('/').next() == Some(library);
            } else if let Some(name) = line.strip_prefix("fn=") {
                function = name;
            } else if line.starts_with("calls=") {
                is_call = true;
            } else if line.starts_with(|first: char| first.is_ascii_digit()) {
                let cost = line.rsplit(' ').next().and_then(|cost| cost.parse().ok()).unwrap_or(0);
                if is_library && !is_call {
                    counts.add(function, cost);
                }
                is_call = false;
            }
        }
        counts.functions.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        counts
    }

    fn add(&mut self, function: &str, cost: u64) {
        match self.functions.iter_mut().find(|(name, _)| name == function) {
            Some((_, sum)) => *sum += cost,
            None => self.functions.push((function.to_string(), cost)),
        }
    }

    /// All of the library's.
    pub fn total(&self) -> u64 {
        self.functions.iter().map(|(_, cost)| cost).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_instructions_of_the_library_count() {
        let text = "desc: Trigger: Client Request: run x 1\nevents: Ir\n\n\
                    ob=/a/program\nfl=???\nfn=main\n0 5\ncob=/b/libours.so\ncfn=step\ncalls=2 0\n0 900\n\n\
                    ob=/b/libours.so\nfl=???\nfn=step\n12 30\n13 4\ncob=/c/libours.so.plugin\ncfn=f\n\
                    calls=2 0\n12 800\n14 6\n\nfn=other\n7 50\n\n\
                    ob=/c/libours.so.plugin\nfn=f\n0 800\n";
        let counts = Counts::read(text, "libours.so");
        assert_eq!((counts.name.as_str(), counts.total()), ("run x 1", 90));
        assert_eq!(counts.functions, [("other".to_string(), 50), ("step".to_string(), 40)]);
    }
}
