//! Watch for Ctrl-C while `omo doctor` runs a session, with a progress line on a terminal.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use omo_process::termination;

const CLEAR: &str = "\r\u{1b}[K";

pub(super) struct CancelWatch {
    interrupted: Arc<AtomicBool>,
    since: Instant,
    told: Option<u64>,
}

impl CancelWatch {
    pub(super) fn new() -> Self {
        let interrupted = Arc::new(AtomicBool::new(false));
        termination::flag_termination(&interrupted);
        Self {
            interrupted,
            since: Instant::now(),
            told: None,
        }
    }

    pub(super) fn should_continue(&mut self) -> bool {
        let seconds = self.since.elapsed().as_secs();
        if self.told != Some(seconds) && std::io::stderr().is_terminal() {
            self.told = Some(seconds);
            let mut err = anstream::stderr().lock();
            let _ = write!(
                err,
                "{CLEAR}starting a session to see the hooks  {seconds} s"
            );
            let _ = err.flush();
        }
        !self.interrupted.load(Ordering::Relaxed)
    }
}

impl Drop for CancelWatch {
    fn drop(&mut self) {
        if self.told.is_some() {
            let _ = write!(anstream::stderr(), "{CLEAR}");
        }
    }
}
