//! Measures whether a plugin really runs programs in the thread that calls it.

use smallvec::SmallVec;

use super::run::{Borrowed, all_ready, borrow_all, check_inputs, list_arguments, wait_for_all};
use super::{Executable, destinations};
use crate::error::Result;
use crate::pjrt::{Buffer, Events, HostInput, Results, presence};

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
        let mut arguments = Borrowed::new();
        borrow_all(executable, &inputs, &mut arguments)?;
        let mut places = SmallVec::new();
        destinations::make_all(executable, executable.device(), &mut places)?;
        let mut list = SmallVec::new();
        list_arguments(executable, &arguments, &mut list);
        list.extend(places.iter().map(Buffer::as_argument));
        let (mut results, mut ended) = (Results::new(), Events::new());
        executable.loaded.execute(&list, devices, executable.target(), &mut results, Some(&mut ended))?;
        let had_ended = all_ready(&ended);
        wait_for_all(&ended)?;
        had_ended
    }
}
