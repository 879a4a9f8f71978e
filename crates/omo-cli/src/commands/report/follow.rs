//! `omo report --html`: the page of a run; with `--follow` it is rewritten at each change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use omo_process::termination;
use omo_view::run_view::{RunEnd, RunView, Timeline};

use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::page_file::{PageFile, announce_page};
use crate::run_reader::RunReader;
use crate::watch::run_loop::{Pace, RunDisplay, show_until_end};

const POLL_INTERVAL: Duration = Duration::from_secs(1);
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(100);

pub(super) fn note_interruption() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    termination::flag_termination(&interrupted);
    interrupted
}

pub(super) struct PageDisplay<'a> {
    pub file: &'a PageFile<'a>,
    pub opens: bool,
    pub interrupted: Option<Arc<AtomicBool>>,
    pub written: Option<RunView>,
}

impl PageDisplay<'_> {
    /// Writes the page; with `--follow` again at each change, and at the end without the reload.
    pub(super) fn write(mut self, run: &mut RunReader<'_>) -> Result<(), CommandError> {
        let ended = show_until_end(
            run,
            &mut self,
            &Pace {
                interval: POLL_INTERVAL,
                deadline: None,
                is_live: false,
            },
        );
        let Some(mut page) = self.written.filter(|_| self.interrupted.is_some()) else {
            return ended;
        };
        if ended
            .as_ref()
            .is_err_and(|error| error.kind == ExitKind::NotFound)
        {
            "The run was removed before it ended".clone_into(&mut page.heading);
            page.end = RunEnd::Cancelled;
            page.as_of.clear();
        }
        self.file.write_run(&page, false)?;
        ended
    }

    fn goes_on(&self) -> bool {
        self.interrupted
            .as_ref()
            .is_some_and(|interrupted| !interrupted.load(Ordering::Relaxed))
    }
}

impl RunDisplay for PageDisplay<'_> {
    fn show(&mut self, run: &RunReader<'_>, has_changed: bool) -> Result<bool, CommandError> {
        let goes_on = run.source.is_open() && self.goes_on();
        let page = has_changed.then(|| run.page()).filter(|page| {
            self.written
                .as_ref()
                .is_none_or(|known| !is_same_but_for_time(page, known))
        });
        if let Some(page) = page {
            if self.written.is_none() {
                announce_page(
                    self.file.env,
                    &self.file.write_run(&page, goes_on)?,
                    self.opens,
                )?;
            } else if goes_on {
                self.file.write_run(&page, true)?;
            }
            self.written = Some(page);
        }
        Ok(goes_on)
    }

    fn wait(&mut self, _run: &RunReader<'_>, patience: Duration) -> Result<(), CommandError> {
        let until = Instant::now() + patience;
        while self.goes_on() && Instant::now() < until {
            std::thread::sleep(INTERRUPT_INTERVAL);
        }
        Ok(())
    }
}

/// `true` for two views that differ in elapsed time alone.
fn is_same_but_for_time(one: &RunView, other: &RunView) -> bool {
    let timeline = Timeline {
        until: other.timeline.until,
        ..one.timeline.clone()
    };
    RunView {
        as_of: other.as_of.clone(),
        timeline,
        ..one.clone()
    } == *other
}

#[cfg(test)]
mod tests {
    use omo_core::timestamp::Timestamp;
    use omo_view::page::sample::sample_page;

    use super::*;

    #[test]
    fn time_that_goes_by_is_no_news() {
        let page = sample_page();
        let mut later = RunView {
            as_of: "14:03:22".to_owned(),
            ..page.clone()
        };
        later.timeline.until = Timestamp::from_millis(later.timeline.until.as_millis() + 5_000);
        assert!(is_same_but_for_time(&page, &later));
        later.timeline.lanes.pop();
        assert!(!is_same_but_for_time(&page, &later));
        assert!(!is_same_but_for_time(
            &page,
            &RunView {
                heading: "Failed".to_owned(),
                ..page.clone()
            }
        ));
    }
}
