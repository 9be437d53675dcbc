//! Which steps a call of `cargo xtask test` runs.

use super::Step;
use crate::Result;

/// What the command line asks for.
#[derive(Default)]
pub struct Selection {
    quick: bool,
    list: bool,
    wheels: bool,
    filter: Option<String>,
}

impl Selection {
    pub fn parse(arguments: &[&str]) -> Result<Self> {
        let mut selection = Self::default();
        for argument in arguments {
            match *argument {
                "--quick" => selection.quick = true,
                "--list" => selection.list = true,
                "--wheels" => selection.wheels = true,
                option if option.starts_with('-') => {
                    return Err(format!("`test` knows no option {option}; `cargo xtask help` lists them"));
                }
                filter if selection.filter.is_none() => selection.filter = Some(filter.to_string()),
                other => {
                    return Err(format!(
                        "`test` takes one filter; quote it if it has spaces (got also `{other}`)"
                    ));
                }
            }
        }
        Ok(selection)
    }

    pub fn only_list(&self) -> bool {
        self.list
    }

    /// The chosen steps and those that they need, in their own order.
    pub fn of<'a>(&self, steps: &'a [Step]) -> Result<Vec<&'a Step>> {
        let mut chosen: Vec<bool> = steps.iter().map(|step| self.asks_for(step)).collect();
        if !chosen.contains(&true) {
            return Err("no step has such a name; `cargo xtask test --list` prints them".into());
        }
        // A step needs only earlier ones, so one pass from the end finds all.
        for index in (0..steps.len()).rev().filter(|index| chosen[*index]).collect::<Vec<_>>() {
            mark_needs(steps, index, &mut chosen);
        }
        Ok(steps.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(step, _)| step).collect())
    }

    fn asks_for(&self, step: &Step) -> bool {
        if step.wheels != self.wheels {
            return false;
        }
        match &self.filter {
            Some(filter) => step.name.contains(filter.as_str()),
            None => !(self.quick && step.slow),
        }
    }
}

fn mark_needs(steps: &[Step], index: usize, chosen: &mut [bool]) {
    for (need, step) in steps.iter().enumerate() {
        if steps[index].needs.contains(&step.name) && !chosen[need] {
            chosen[need] = true;
            mark_needs(steps, need, chosen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::STEPS;

    fn names(arguments: &[&str]) -> Vec<&'static str> {
        let selection = Selection::parse(arguments).expect("good arguments");
        selection.of(STEPS).expect("some step").iter().map(|step| step.name).collect()
    }

    #[test]
    fn a_filter_brings_what_the_step_needs() {
        assert_eq!(names(&["exported symbols"]), ["release build", "exported symbols"]);
        assert!(names(&["valgrind"]).contains(&"plugins"));
    }

    #[test]
    fn each_need_names_an_earlier_step() {
        for (index, step) in STEPS.iter().enumerate() {
            for need in step.needs {
                assert!(
                    STEPS[..index].iter().any(|earlier| earlier.name == *need),
                    "{} needs {need}",
                    step.name
                );
            }
        }
    }

    #[test]
    fn quick_leaves_out_slow_steps() {
        assert!(!names(&["--quick"]).contains(&"demo"));
        assert!(names(&[]).contains(&"demo"));
    }

    #[test]
    fn the_wheels_are_a_tier_of_their_own() {
        let wheels = "wheels for CUDA and TPUs";
        assert!(!names(&[]).contains(&wheels));
        assert_eq!(names(&["--wheels"]), ["release build", "plugins", "test build", wheels]);
    }

    #[test]
    fn wrong_arguments_are_refused() {
        assert!(Selection::parse(&["--fast"]).is_err());
        assert!(Selection::parse(&["a", "b"]).is_err());
        assert!(Selection::parse(&["no such step"]).expect("a filter").of(STEPS).is_err());
    }
}
