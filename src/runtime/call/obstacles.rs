//! What stands against running a step.

use super::Call;
use super::input::{self, Input};
use crate::error::{Code, Error, Origin};

impl Call {
    /// Finds out what stands against a step, and what has to be done in one.
    pub(super) fn review(&mut self) {
        let specs = self.executable.inputs();
        let is_donated = |position: usize| {
            specs[position % specs.len()].is_donated && !self.inputs[position].keeps_its_memory()
        };
        self.busy_inputs = (0..self.inputs.len()).filter(|&at| self.inputs[at].needs_a_look()).collect();
        // On several devices a bad argument of one leaves the others waiting, so nobody may
        // take a buffer in between.
        let several = self.places.devices().len() > 1;
        let is_held =
            |&at: &usize| matches!(self.inputs[at], Input::Bound { .. }) && (several || is_donated(at));
        self.held_inputs = (0..self.inputs.len()).filter(is_held).map(|at| (at, is_donated(at))).collect();
        self.reads_buffers = self.inputs.iter().any(|input| matches!(input, Input::Bound { .. }));
        self.obstacle = self.missing_input().or_else(|| self.lost_feed()).or_else(|| self.clash());
        self.is_plain = self.obstacle.is_none()
            && self.feeds.is_empty()
            && self.busy_inputs.is_empty()
            && self.held_inputs.is_empty()
            && self.stored_outputs.is_empty()
            && self.destinations.is_empty()
            && self.executable.0.is_synchronous()
            && !self.bound.notifies();
    }

    /// Says which input was not set, if there is one that the program takes.
    fn missing_input(&self) -> Option<Error> {
        let specs = self.executable.inputs();
        let is_missing = |&position: &usize| {
            self.parameters[position % specs.len()].is_some()
                && matches!(self.inputs[position], Input::Nothing)
        };
        let missing = (0..self.inputs.len()).find(is_missing)?;
        Some(input::not_set(self.places.name_input(missing), &specs[missing % specs.len()]))
    }

    /// After an error nobody has what was to be fed.
    fn lost_feed(&self) -> Option<Error> {
        let lost = self.feeds.iter().find(|feed| feed.is_lost)?;
        let name = self.places.name_input(lost.input);
        let message =
            format!("a step of this call failed, and what it was to feed to the next is lost: {name}");
        Some(
            Error::new(Code::FailedPrecondition, Origin::Caller, message)
                .hint("start over: call cyxla_call_feed again, for each output that is fed"),
        )
    }

    /// Says which input the program may take while another one is the same: the same buffer,
    /// or memory of the host that is used in place twice.
    fn clash(&self) -> Option<Error> {
        let bound = |position: usize| match &self.inputs[position] {
            Input::Bound { buffer, .. } => Some(buffer),
            _ => None,
        };
        for &(donated, _) in self.held_inputs.iter().filter(|(_, is_donated)| *is_donated) {
            let taken = bound(donated)?;
            let is_same = |&other: &usize| {
                other != donated
                    && bound(other).is_some_and(|buffer| {
                        std::sync::Arc::ptr_eq(taken, buffer) || taken.shares_memory(buffer)
                    })
            };
            if let Some(other) = (0..self.inputs.len()).find(is_same) {
                let (name, other) = (self.places.name_input(donated), self.places.name_input(other));
                let message =
                    format!("{name} is donated and is the same buffer as {other}, or shares memory with it");
                return Some(Error::invalid_argument(message));
            }
        }
        None
    }
}
