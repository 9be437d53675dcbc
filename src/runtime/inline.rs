//! Measures whether a plugin really runs programs in the thread that calls it.

use super::Executable;
use super::run::{argument_list, borrow_all, check_inputs};
use crate::error::Result;
use crate::pjrt::{HostInput, presence};

impl Executable {
    /// Runs the program once and says whether it had ended when the plugin returned
    /// from starting it. The results are dropped.
    ///
    /// Plugins run tiny programs in the caller whatever they are told, so only one
    /// that takes a while tells anything.
    pub fn ends_within_call(&self, inputs: &[&[u8]]) -> Result<bool> {
        let executable = &*self.0;
        presence::check()?;
        executable.check_runs_alone()?;
        let outputs = self.outputs().len();
        self.check_counts(inputs.len(), outputs)?;
        let inputs: Vec<HostInput<'_>> = inputs.iter().map(|bytes| HostInput::new(bytes)).collect();
        check_inputs(&inputs, self.inputs())?;
        let arguments = borrow_all(executable, &inputs)?;
        let list = argument_list(executable, &arguments);
        let (results, ended) = executable.loaded.execute(&list, true)?;
        // A plugin that gives nothing to wait for has nothing left to do.
        let had_ended = ended.as_ref().map_or(Ok(true), |event| event.is_ready());
        if let Some(ended) = ended {
            ended.wait()?;
        }
        drop(results);
        had_ended
    }
}
