//! The end of a parallel run: its supervisor ends, and what is left of its workers is removed.

use std::time::{Duration, Instant};

use omo_engine::work::Engine;

use crate::error::CommandError;

/// Time that a supervisor has to put away what is left of a run that is over.
pub(crate) const CLEANUP_TIMEOUT: Duration = Duration::from_secs(60);
/// Pause between two looks for it.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Waits until the supervisor has ended, and removes what is left. The last work trees are removed once their removal
/// is written down, and a user who is told that the run is over finds none of them.
pub(crate) fn clean_up(engine: &Engine) -> Result<(), CommandError> {
    put_away_within(engine, CLEANUP_TIMEOUT).map(drop)
}

/// As [`clean_up`], waiting so long at most; whether the supervisor has ended.
pub(crate) fn put_away_within(engine: &Engine, patience: Duration) -> Result<bool, CommandError> {
    let last = Instant::now() + patience;
    while engine.run.is_supervised()? {
        if Instant::now() >= last {
            return Ok(false);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    engine.reap_if_unsupervised()?;
    Ok(true)
}
