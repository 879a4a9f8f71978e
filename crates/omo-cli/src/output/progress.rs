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
pub(crate) struct Line {
    is_shown: bool,
    name: String,
    run: String,
    since: Instant,
    told: Option<Duration>,
}

impl Line {
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

impl Drop for Line {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Shows which check runs, and for how long.
pub(crate) struct Progress(Line);

impl Progress {
    /// A progress on stderr, where that is a terminal.
    pub(crate) fn new() -> Self {
        Self(Line::new())
    }
}

impl CheckWatcher for Progress {
    fn check_started(&mut self, gate: &Check) {
        self.0.begin(gate.name.clone(), truncate_columns(&typed_form(&gate.command), 60));
    }

    fn should_continue(&mut self) -> bool {
        self.0.tick();
        true
    }

    fn check_finished(&mut self, _result: &CheckResult) {
        self.0.clear();
    }
}
