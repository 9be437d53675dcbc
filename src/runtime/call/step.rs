//! Running a call: starting a step, and waiting for its end.

use std::time::{Duration, Instant};

use super::{Call, State};
use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{HoldReleases, presence};
use crate::runtime::buffer::Buffer;
use crate::runtime::locks::Locks;

/// How often a wait with a limit looks, at first and at last.
const FIRST_LOOK: Duration = Duration::from_micros(20);
const LAST_LOOK: Duration = Duration::from_millis(2);

impl Call {
    /// Runs a step and waits for its end.
    #[inline]
    pub fn run(&mut self) -> Result<()> {
        if self.is_plain && self.state != State::InFlight {
            presence::check()?;
            self.state = State::Empty;
            self.steps += 1;
            let started = self.bound.start();
            if started.is_err() {
                return self.explain(started);
            }
            self.state = State::Done;
            return Ok(());
        }
        self.begin()?;
        self.wait(None)
    }

    /// Starts a step, whose end the host is told if it wants to be. The results of the one
    /// before are gone, whatever comes.
    pub fn start(&mut self) -> Result<()> {
        self.begin()?;
        let Some(notice) = &mut self.notice else { return Ok(()) };
        let told = self.bound.notify(notice);
        if told.is_err() {
            let _ = self.wait(None); // no step is left running behind an error
        }
        told
    }

    fn begin(&mut self) -> Result<()> {
        self.check_idle()?;
        self.state = State::Empty; // what comes next may end the results, also if it fails
        if let Some(obstacle) = &self.obstacle {
            return Err(obstacle.clone());
        }
        self.feed_all()?;
        self.refresh()?;
        self.steps += 1;
        let started = self.make_destinations().and_then(|()| self.start_held());
        if started.is_err() {
            self.lose_feeds();
            return self.explain(started);
        }
        for &(position, _) in &self.destinations {
            let is_read = self.feeds.iter().any(|feed| feed.output == position);
            self.outputs[position].use_destination(is_read);
        }
        for feed in &mut self.feeds {
            feed.is_placed = false;
        }
        self.state = State::InFlight;
        if self.executable.0.may_be_synchronous() && self.bound.notifies() {
            self.note_timing();
        }
        Ok(())
    }

    /// Says which buffer is gone, where that is what a plugin refused.
    #[cold]
    fn explain(&self, started: Result<()>) -> Result<()> {
        let is_gone = |&position: &usize| {
            self.inputs[position].bound_buffer().is_some_and(|(buffer, _)| buffer.is_donated())
        };
        let Some(gone) = (0..self.inputs.len()).find(is_gone) else { return started };
        let name = self.places.name_input(gone);
        let message = format!("{name}: the buffer was donated to a program, which has taken its contents");
        Err(Error::new(Code::FailedPrecondition, Origin::Caller, message)
            .hint("bind another buffer, or feed an output of each step to the next"))
    }

    /// Starts the program, while nobody else takes or reads what has to be held.
    fn start_held(&mut self) -> Result<()> {
        let runtime = self.executable.0.runtime;
        if self.held_inputs.is_empty() {
            let order = if self.reads_buffers { runtime.start(false) } else { None };
            let outcome = self.bound.start();
            drop(order);
            return outcome;
        }
        let releases = HoldReleases::begin(); // longer than the locks
        let inputs = &self.inputs;
        let held = self.held_inputs.iter().filter_map(|&(position, is_donated)| {
            let (buffer, contents) = inputs[position].bound_buffer()?;
            Some((position, buffer, contents, is_donated))
        });
        let mut locks = Locks::of(held.clone().map(|(_, buffer, _, is_donated)| (buffer, is_donated)));
        for (position, buffer, ..) in held.clone() {
            locks.contents(buffer).map_err(|error| {
                let name = self.places.name_input(position);
                error.map_message(|message| format!("{name}: {message}"))
            })?;
        }
        let order = runtime.start(self.held_inputs.iter().any(|&(_, is_donated)| is_donated));
        let outcome = self.bound.start();
        drop(order);
        // Also of a program that failed: a plugin may have taken what was donated before.
        let given = |buffer: &Buffer| {
            let mut all = held.clone();
            all.find(|(_, one, ..)| std::ptr::eq(*one, buffer)).map(|(_, _, contents, _)| contents)
        };
        let taken = locks.take_donated(given);
        drop(locks);
        drop(taken?);
        drop(releases);
        outcome
    }

    /// Waits for the step that was started, or for so long. DEADLINE_EXCEEDED leaves it
    /// running.
    pub fn wait(&mut self, limit: Option<Duration>) -> Result<()> {
        presence::check()?;
        if self.state != State::InFlight {
            return Ok(());
        }
        if let Some(limit) = limit {
            self.wait_for(limit)?;
        }
        let outcome = self.bound.wait();
        self.finish(outcome)
    }

    /// Notes whether the step had ended when it was started; if so, the next ones need not
    /// be waited for.
    fn note_timing(&mut self) {
        // A plugin that cannot say is waited for.
        let had_ended = self.bound.is_ready().unwrap_or(false);
        self.executable.0.note_timing(had_ended);
        if self.executable.0.is_synchronous() {
            self.bound.stop_notifying();
            self.review();
        }
    }

    /// Waits until the step has ended, or gives DEADLINE_EXCEEDED.
    fn wait_for(&self, limit: Duration) -> Result<()> {
        let deadline = Instant::now().checked_add(limit);
        let mut pause = FIRST_LOOK;
        while !self.bound.is_ready()? {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                let message = format!("the step did not end within {} ms", limit.as_millis());
                return Err(Error::new(Code::DeadlineExceeded, Origin::Caller, message)
                    .hint("it is still running; wait again"));
            }
            std::thread::sleep(left.map_or(pause, |left| left.min(pause)));
            pause = (pause * 2).min(LAST_LOOK);
        }
        Ok(())
    }

    /// Whether no step is running. An error of the step comes from waiting for it.
    pub fn is_done(&self) -> bool {
        self.state != State::InFlight || presence::is_gone() || self.bound.is_ready().unwrap_or(true)
    }

    fn finish(&mut self, outcome: Result<()>) -> Result<()> {
        self.state = State::Empty;
        match outcome.and_then(|()| self.store_all()) {
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

    /// Writes outputs to where the host wants them.
    fn store_all(&mut self) -> Result<()> {
        for &position in &self.stored_outputs {
            self.outputs[position].store(&self.executable.0, &self.bound, position, self.steps)?;
        }
        Ok(())
    }

    /// Looks at what the host wrote, where that is needed.
    fn refresh(&mut self) -> Result<()> {
        for position in 0..self.busy_inputs.len() {
            let position = self.busy_inputs[position];
            self.inputs[position].refresh(&self.executable.0, &self.places, position)?;
            self.place(position);
        }
        Ok(())
    }

    /// Gives the program memory for the results that it writes where it is told.
    fn make_destinations(&mut self) -> Result<()> {
        if self.destinations.is_empty() {
            return Ok(());
        }
        self.bound.destroy_results(); // the plugin has the memory as long as a result is in it
        let executable = self.executable.clone();
        let device = executable.0.runtime.device(self.places.devices()[0])?;
        for number in 0..self.destinations.len() {
            let (position, parameter) = self.destinations[number];
            let goes_straight = self.goes_straight(position);
            let is_read = self.feeds.iter().any(|feed| feed.output == position);
            let output = &mut self.outputs[position];
            let place = output.make_destination(&executable.0, position, device, goes_straight, is_read)?;
            self.bound.set_argument(0, parameter, place);
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
            let output = self.bound.take_result(feed.output);
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
            self.feeds.iter_mut().for_each(|feed| feed.is_lost = true);
            self.review();
        }
    }
}
