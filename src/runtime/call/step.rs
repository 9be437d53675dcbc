//! Running a call: starting a step, and waiting for its end.

use std::time::{Duration, Instant};

use super::{Call, State};
use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::presence;

/// How often a wait with a limit looks, at first and at last.
const FIRST_LOOK: Duration = Duration::from_micros(20);
const LAST_LOOK: Duration = Duration::from_millis(2);

impl Call {
    /// Runs a step and waits for its end.
    pub fn run(&mut self) -> Result<()> {
        self.start()?;
        self.wait(None)
    }

    /// Starts a step. The results of the one before are gone, whatever comes.
    pub fn start(&mut self) -> Result<()> {
        self.check_idle()?;
        if let Some(obstacle) = &self.obstacle {
            return Err(obstacle.clone());
        }
        self.feed_all()?;
        self.refresh()?;
        self.state = State::Empty;
        self.steps += 1;
        let inner = &*self.executable.0;
        let notify = !inner.runtime.info.is_synchronous;
        if let Err(error) = self.bound.start(&inner.loaded, notify) {
            self.lose_feeds();
            // A plugin may have taken what was donated before it failed.
            let _ = self.settle();
            return Err(error);
        }
        for feed in &mut self.feeds {
            feed.is_placed = false;
        }
        self.state = State::InFlight(self.bound.take_event(0));
        Ok(())
    }

    /// Waits for the step that was started, or for so long. DEADLINE_EXCEEDED leaves it
    /// running.
    pub fn wait(&mut self, limit: Option<Duration>) -> Result<()> {
        presence::check()?;
        let State::InFlight(event) = &self.state else { return Ok(()) };
        let Some(event) = event else { return self.finish(Ok(())) };
        if let Some(limit) = limit {
            let deadline = Instant::now().checked_add(limit);
            let mut pause = FIRST_LOOK;
            while !event.is_ready()? {
                let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
                if left == Some(Duration::ZERO) {
                    let message = format!("the step did not end within {} ms", limit.as_millis());
                    return Err(Error::new(Code::DeadlineExceeded, Origin::Caller, message)
                        .hint("it is still running; wait again"));
                }
                std::thread::sleep(left.map_or(pause, |left| left.min(pause)));
                pause = (pause * 2).min(LAST_LOOK);
            }
        }
        let outcome = event.wait();
        self.finish(outcome)
    }

    /// Whether no step is running. An error of the step comes from waiting for it.
    pub fn is_done(&self) -> bool {
        match &self.state {
            State::InFlight(Some(event)) => presence::is_gone() || event.is_ready().unwrap_or(true),
            _ => true,
        }
    }

    fn finish(&mut self, outcome: Result<()>) -> Result<()> {
        self.state = State::Empty;
        let settled = self.settle();
        match outcome.and(settled) {
            Ok(()) => {
                self.state = State::Done;
                Ok(())
            }
            Err(error) => {
                self.lose_feeds();
                Err(error)
            }
        }
    }

    /// Looks at what the host wrote, where that is needed.
    fn refresh(&mut self) -> Result<()> {
        for position in 0..self.busy_inputs.len() {
            let index = self.busy_inputs[position];
            let spec = &self.executable.inputs()[index];
            self.inputs[index].refresh(&self.executable.0, spec, index)?;
            self.place(index);
        }
        Ok(())
    }

    /// Makes outputs of the last step inputs of the next.
    fn feed_all(&mut self) -> Result<()> {
        for position in 0..self.feeds.len() {
            let feed = self.feeds[position];
            if feed.is_placed {
                continue;
            }
            let output = self.bound.take_result(0, feed.output);
            let output = output.ok_or_else(|| Error::internal("an output that is to be fed is missing"))?;
            let old = self.inputs[feed.input].feed(output);
            self.place(feed.input);
            self.feeds[position].is_placed = true;
            drop(old); // the step that read it has ended
        }
        Ok(())
    }

    /// After an error nobody has what was to be fed.
    fn lose_feeds(&mut self) {
        if !self.feeds.is_empty() {
            let message = "a step of this call failed, and what it was to feed to the next is lost";
            self.obstacle = Some(
                Error::new(Code::FailedPrecondition, Origin::Caller, message)
                    .hint("start over: call cyxla_call_feed again"),
            );
        }
    }

    /// Tells the host's buffers what the step took of them.
    fn settle(&mut self) -> Result<()> {
        self.busy_inputs.iter().try_for_each(|&index| self.inputs[index].settle_donation())
    }
}
