//! How long a command waits, and how often it looks meanwhile.

use std::time::Duration;

/// The longest wait: a command of the client lives ten minutes.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(590);
/// How often the ledger is looked at while this waits for workers.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(200);
