//! `ProgressLine`: a running check and its elapsed time as one line on a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use omo_checks::session_checks::CheckWatcher;
use omo_core::check::session_check::Check;
use omo_core::stop::claim::CheckResult;
use omo_core::text::command_text::typed_form;

use crate::output::table::truncate_columns;

const CLEAR: &str = "\r\u{1b}[K";

/// A line with a name and the elapsed time; silent elsewhere than on a terminal.
pub(crate) struct ProgressLine {
    is_shown: bool,
    name: String,
    run: String,
    since: Instant,
    told: Option<Duration>,
}

impl ProgressLine {
    pub(crate) fn new() -> Self {
        let (name, run) = (String::new(), String::new());
        Self {
            is_shown: std::io::stderr().is_terminal(),
            name,
            run,
            since: Instant::now(),
            told: None,
        }
    }

    pub(crate) fn begin(&mut self, name: String, run: String) {
        (self.name, self.run) = (name, run);
        (self.since, self.told) = (Instant::now(), None);
        self.show(0);
    }

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

pub(crate) struct SessionCheckProgress(ProgressLine);

impl SessionCheckProgress {
    pub(crate) fn new() -> Self {
        Self(ProgressLine::new())
    }
}

impl CheckWatcher for SessionCheckProgress {
    fn check_started(&mut self, check: &Check) {
        self.0.begin(
            check.name.clone(),
            truncate_columns(&typed_form(&check.command), 60),
        );
    }

    fn should_continue(&mut self) -> bool {
        self.0.tick();
        true
    }

    fn check_finished(&mut self, _result: &CheckResult) {
        self.0.clear();
    }
}
