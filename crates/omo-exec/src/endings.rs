//! Being asked to end, by whoever started this process or by Ctrl-C: noted instead of obeyed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::platform;

/// From now on that this process is asked to end sets `asked`, and does not end it. Where that cannot
/// be had it ends as it always did.
pub fn note(asked: &Arc<AtomicBool>) {
    platform::note_endings(asked);
}
