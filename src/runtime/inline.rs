//! Measures whether a plugin really runs programs in the thread that calls it.

use super::Executable;
use super::run::{argument_list, borrow_all, check_inputs, wait_for_all};
use crate::error::Result;
use crate::pjrt::{Event, HostInput, presence};

impl Executable {
    /// Runs the program once and says whether it had ended when the plugin returned
    /// from starting it. The results are dropped.
    ///
    /// Plugins run tiny programs in the caller whatever they are told, so only one
    /// that takes a while tells anything.
    pub fn ends_within_call(&self, inputs: &[&[u8]]) -> Result<bool> {
        let executable = &*self.0;
        presence::check()?;
        let devices = self.device_count();
        self.check_counts(inputs.len(), self.outputs().len() * devices)?;
        let inputs: Vec<HostInput<'_>> = inputs.iter().map(|bytes| HostInput::new(bytes)).collect();
        check_inputs(executable, &inputs)?;
        let arguments = borrow_all(executable, &inputs)?;
        let list = argument_list(executable, &arguments);
        let (results, ended) = executable.loaded.execute(&list, devices, executable.target(), true)?;
        // A plugin that gives nothing to wait for has nothing left to do.
        let had_ended = ended.iter().map(Event::is_ready).try_fold(true, |all, one| Ok(all && one?));
        wait_for_all(&ended)?;
        drop(results);
        had_ended
    }
}
