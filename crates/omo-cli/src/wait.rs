//! Longest wait of a command, and the pause between two looks.

use std::time::Duration;

/// The longest wait: a command of the client lives ten minutes.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(590);
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(200);
