//! One line for each check while it runs, on a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use omo_checks::session_checks::CheckWatcher;
use omo_core::check::session_check::Check;
use omo_core::stop::claim::CheckResult;
use omo_core::text::command_text::typed_form;

use crate::output::table::truncate_columns;

const CLEAR: &str = "\r\u{1b}[K";

/// A line that says what runs, and for how long; elsewhere than on a terminal nothing is shown.
pub(crate) struct ProgressLine {
    is_shown: bool,
    name: String,
    run: String,
    since: Instant,
    told: Option<Duration>,
}

impl ProgressLine {
    /// One on stderr, where that is a terminal.
    pub(crate) fn new() -> Self {
        let (name, run) = (String::new(), String::new());
        Self { is_shown: std::io::stderr().is_terminal(), name, run, since: Instant::now(), told: None }
    }

    /// Something begins to run.
    pub(crate) fn begin(&mut self, name: String, run: String) {
        (self.name, self.run) = (name, run);
        (self.since, self.told) = (Instant::now(), None);
        self.show(0);
    }

    /// Time goes by.
    pub(crate) fn tick(&mut self) {
        let seconds = Duration::from_secs(self.since.elapsed().as_secs());
        if self.told != Some(seconds) {
            self.told = Some(seconds);
            self.show(seconds.as_secs());
        }
    }

    fn show(&self, seconds: u64) {
        if self.is_shown {
            let mut err = anstream::stderr().lock();
            let _ = write!(err, "{CLEAR}{}  {seconds} s  {}", self.name, self.run);
            let _ = err.flush();
        }
    }

    /// What ran is done.
    pub(crate) fn clear(&self) {
        if self.is_shown {
            let mut err = anstream::stderr().lock();
            let _ = write!(err, "{CLEAR}");
            let _ = err.flush();
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Shows which check runs, and for how long.
pub(crate) struct SessionCheckProgress(ProgressLine);

impl SessionCheckProgress {
    /// A progress on stderr, where that is a terminal.
    pub(crate) fn new() -> Self {
        Self(ProgressLine::new())
    }
}

impl CheckWatcher for SessionCheckProgress {
    fn check_started(&mut self, check: &Check) {
        self.0.begin(check.name.clone(), truncate_columns(&typed_form(&check.command), 60));
    }

    fn should_continue(&mut self) -> bool {
        self.0.tick();
        true
    }

    fn check_finished(&mut self, _result: &CheckResult) {
        self.0.clear();
    }
}
