//! `omo report --html --follow`: writes the page of a run anew whenever something has happened in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use omo_process::termination;
use omo_state::env::{self, ProcessEnv};
use omo_view::run_view::{RunEnd, RunView, Timeline};

use crate::commands::report::shown_run::ShownRun;
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::page_file::PageFile;

/// How often the run is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often a request to end is looked for meanwhile.
const HEAR_EVERY: Duration = Duration::from_millis(100);

/// What follows a run until it ends, or until its user ends that.
pub(super) struct PageFollower {
    interrupted: Arc<AtomicBool>,
}

impl PageFollower {
    /// From now on a request to end is noted, and does not end this process.
    pub(super) fn new() -> Self {
        let interrupted = Arc::new(AtomicBool::new(false));
        termination::flag_termination(&interrupted);
        Self { interrupted }
    }

    /// Writes the page of the run anew while it goes on, and once more when that ends: then it renews itself no longer.
    pub(super) fn follow(self, run: ShownRun, file: &PageFile<'_>, page: RunView) -> Result<(), CommandError> {
        let mut written = page;
        let ended = self.follow_to_end(run, file, &mut written);
        if ended.as_ref().is_err_and(|error| error.kind == ExitKind::NotFound) {
            "The run was removed before it ended".clone_into(&mut written.heading);
            written.end = RunEnd::Cancelled;
            written.as_of.clear();
        }
        file.write_run(&written, false)?;
        ended
    }

    /// Leaves in `written` what the page is to show at last.
    fn follow_to_end(&self, mut run: ShownRun, file: &PageFile<'_>, written: &mut RunView) -> Result<(), CommandError> {
        // What happened since the run was first read is not known: it is read once more.
        let mut known = None;
        loop {
            let is_interrupted = !self.wait();
            let found = Some(run.fingerprint());
            if found != known {
                known = found;
                let env = ProcessEnv { now: env::now(), ..file.env.clone() };
                run = run.read_again(&env)?;
                let page = run.page(&env)?;
                let is_news = !is_same_but_for_time(&page, written);
                if is_news && run.is_open() && !is_interrupted {
                    file.write_run(&page, true)?;
                }
                if is_news {
                    *written = page;
                }
            }
            if is_interrupted || !run.is_open() {
                return Ok(());
            }
        }
    }

    /// Waits until the run is to be looked at again; `false` where its user has ended that.
    fn wait(&self) -> bool {
        let mut left = LOOK_EVERY;
        while !left.is_zero() && !self.interrupted.load(Ordering::Relaxed) {
            std::thread::sleep(HEAR_EVERY);
            left = left.saturating_sub(HEAR_EVERY);
        }
        !self.interrupted.load(Ordering::Relaxed)
    }
}

/// Whether two pages of a run show the same, apart from the time that has gone by.
fn is_same_but_for_time(one: &RunView, other: &RunView) -> bool {
    let at_start = |page: &RunView| {
        let timeline = Timeline { until: page.timeline.began, ..page.timeline.clone() };
        RunView { as_of: String::new(), timeline, ..page.clone() }
    };
    at_start(one) == at_start(other)
}

#[cfg(test)]
mod tests {
    use omo_core::timestamp::Timestamp;
    use omo_view::page::sample::sample_page;

    use super::*;

    #[test]
    fn time_that_goes_by_is_no_news() {
        let page = sample_page();
        let mut later = RunView { as_of: "14:03:22".to_owned(), ..page.clone() };
        later.timeline.until = Timestamp::from_millis(later.timeline.until.as_millis() + 5_000);
        assert!(is_same_but_for_time(&page, &later));
        later.timeline.lanes.pop();
        assert!(!is_same_but_for_time(&page, &later));
        assert!(!is_same_but_for_time(&page, &RunView { heading: "Failed".to_owned(), ..page.clone() }));
    }
}
