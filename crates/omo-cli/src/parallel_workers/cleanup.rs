//! Clean-up after a parallel run: waits for the end of its supervisor, and removes worktrees.

use std::time::{Duration, Instant};

use omo_engine::work::Engine;

use crate::error::CommandError;

pub(crate) const CLEANUP_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub(crate) fn clean_up(engine: &Engine) -> Result<(), CommandError> {
    put_away_within(engine, CLEANUP_TIMEOUT).map(drop)
}

/// [`clean_up`] with a bound; `true` if the supervisor has ended.
pub(crate) fn put_away_within(engine: &Engine, patience: Duration) -> Result<bool, CommandError> {
    let last = Instant::now() + patience;
    while engine.run.is_supervised()? {
        if Instant::now() >= last {
            return Ok(false);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    engine.reap_if_unsupervised()?;
    Ok(true)
}
