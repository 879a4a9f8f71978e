//! The end of everything that a run has started: once the run is over, what still works for it is ended.

use std::time::{Duration, Instant};

use super::{CommandWatcher, Engine};
use crate::{Run, RunStoreError};

/// How often the ledger is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Looks every now and then whether a run goes on.
struct RunLookout<'a> {
    run: &'a Run,
    looked: Option<Instant>,
    is_over: bool,
}

impl<'a> RunLookout<'a> {
    fn new(run: &'a Run) -> Self {
        Self { run, looked: None, is_over: false }
    }

    fn goes_on(&mut self) -> bool {
        if !self.is_over && self.looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY) {
            self.looked = Some(Instant::now());
            self.is_over = match self.run.state() {
                Ok(state) => state.is_over(),
                Err(error) => matches!(error, RunStoreError::NotFound(_)),
            };
        }
        !self.is_over
    }
}

/// Ends what a verb has started once its run is over, by a cancel from elsewhere for example.
pub(super) struct RunWatcher<'a, W> {
    lookout: RunLookout<'a>,
    inner: &'a mut W,
}

impl<'a, W: CommandWatcher> RunWatcher<'a, W> {
    pub(super) fn new(run: &'a Run, inner: &'a mut W) -> Self {
        Self { lookout: RunLookout::new(run), inner }
    }
}

impl<W: CommandWatcher> CommandWatcher for RunWatcher<'_, W> {
    fn begins(&mut self, command: &str, place: usize, of: usize) {
        self.inner.begins(command, place, of);
    }

    fn copies(&mut self, file_count: usize) {
        self.inner.copies(file_count);
    }

    fn compares(&mut self, command: &str, with_work: bool) {
        self.inner.compares(command, with_work);
    }

    fn should_continue(&mut self) -> bool {
        self.inner.should_continue() && self.lookout.goes_on()
    }
}

impl Engine<'_> {
    /// Tells, asked again and again, whether the run still needs what was started for it.
    pub(crate) fn is_needed(&self) -> impl FnMut() -> bool {
        let mut lookout = RunLookout::new(self.run);
        move || lookout.goes_on()
    }
}
