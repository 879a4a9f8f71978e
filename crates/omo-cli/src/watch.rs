//! Watching of a run on a screen or line by line, until its end. Never changes the run.

pub(crate) mod live_screen;
pub(crate) mod live_watch;
pub(crate) mod run_loop;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use omo_core::text::sanitize;
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;
use omo_view::run_view::{RunEnd, RunView};
use omo_view::screen::lines::{question_lines, sentence};

use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::{print_block, print_warning};
use crate::run_reader::RunReader;
use crate::watch::live_screen::can_draw;
use crate::watch::run_loop::{Pace, RunDisplay, show_until_end};

pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(500);

pub(crate) struct WatchRequest<'a> {
    pub env: &'a ProcessEnv,
    pub config: &'a UserConfig,
    pub deadline: Option<Instant>,
}

impl WatchRequest<'_> {
    fn pace(&self) -> Pace {
        Pace {
            interval: POLL_INTERVAL,
            deadline: self.deadline,
            is_live: true,
        }
    }
}

pub(crate) fn watch(
    mut run: RunReader<'_>,
    request: &WatchRequest<'_>,
) -> Result<(), CommandError> {
    if run.source.is_open() && can_draw() {
        return live_watch::watch_live(run, request, None);
    }
    let mut lines = LineDisplay::default();
    show_until_end(&mut run, &mut lines, &request.pace())?;
    if lines.view.end == RunEnd::Running {
        Ok(())
    } else {
        print_end(&run, &lines.view, false)
    }
}

#[derive(Default)]
struct LineDisplay {
    /// Number of printed events; `None` before the first look.
    told: Option<usize>,
    view: RunView,
}

impl RunDisplay for LineDisplay {
    fn show(&mut self, run: &RunReader<'_>, has_changed: bool) -> Result<bool, CommandError> {
        run.update_view(&mut self.view, has_changed);
        let (lines, count) = run.source.lines_since(self.told.unwrap_or_default());
        let is_running = self.view.end == RunEnd::Running;
        if self.told.replace(count).is_some() {
            lines
                .iter()
                .try_for_each(|line| print_block(&sanitize(line, 400)))?;
        } else if is_running {
            print_block(&closing_text(run, &self.view))?;
        }
        Ok(is_running)
    }
}

fn print_end(run: &RunReader<'_>, view: &RunView, has_page: bool) -> Result<(), CommandError> {
    print_block(&closing_text(run, view))?;
    if view.ended_at.is_some() || has_page {
        match run.keep_page() {
            Ok(path) => print_block(&format!("The page of this run: {}", path.display()))?,
            Err(error) => print_warning(&error.message()),
        }
    }
    result(view)
}

fn closing_text(run: &RunReader<'_>, view: &RunView) -> String {
    if let Some(text) = run.end_text() {
        return text;
    }
    let mut lines = vec![format!(
        "{}\n{}",
        sanitize(view.shown_title(), 400),
        sanitize(&sentence(view), 400)
    )];
    let questions = view.questions.iter().filter(|question| question.is_open);
    lines.extend(
        questions
            .flat_map(question_lines)
            .map(|line| sanitize(&line, 400)),
    );
    lines.extend(
        view.notes
            .iter()
            .filter(|_| view.end == RunEnd::Running)
            .take(1)
            .map(|line| sanitize(line, 400)),
    );
    lines.join("\n")
}

fn result(view: &RunView) -> Result<(), CommandError> {
    match view.end {
        RunEnd::Running => Ok(()),
        RunEnd::Waiting => Err(CommandError::already_printed(ExitKind::NeedsPerson)),
        _ if view.is_complete => Ok(()),
        _ => Err(CommandError::already_printed(ExitKind::NotGreen)),
    }
}
