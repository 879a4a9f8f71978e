//! `show_until_end`: the loop behind each display of a running run.

use std::time::{Duration, Instant};

use crate::error::CommandError;
use crate::run_reader::RunReader;

pub(crate) struct Pace {
    pub interval: Duration,
    pub deadline: Option<Instant>,
    /// Includes running checks and workers.
    pub is_live: bool,
}

pub(crate) trait RunDisplay {
    /// Shows the run; `false` to end.
    fn show(&mut self, run: &RunReader<'_>, has_changed: bool) -> Result<bool, CommandError>;

    fn wait(&mut self, _run: &RunReader<'_>, patience: Duration) -> Result<(), CommandError> {
        std::thread::sleep(patience);
        Ok(())
    }
}

pub(crate) fn show_until_end(
    run: &mut RunReader<'_>,
    display: &mut dyn RunDisplay,
    pace: &Pace,
) -> Result<(), CommandError> {
    loop {
        let has_changed = run.refresh(pace.is_live)?;
        let goes_on = display.show(run, has_changed)?;
        let left = pace.deadline.map_or(Duration::MAX, |deadline| {
            deadline.saturating_duration_since(Instant::now())
        });
        if !goes_on || left.is_zero() {
            return Ok(());
        }
        display.wait(run, left.min(pace.interval))?;
    }
}
