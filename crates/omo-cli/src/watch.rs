//! Watching a run: a screen of its own on a terminal, and elsewhere a line for each thing that happens.
//!
//! The sources read, a [`RunView`] is made of that, and the screen writes it. A run is never changed by being watched.

pub(crate) mod find_run;
pub(crate) mod live_screen;
pub(crate) mod live_watch;
mod plan_source;
#[cfg(test)]
mod tests;
mod ultrawork_source;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_engine::Run;
use omo_state::config::UserConfig;
use omo_state::env::{self, ProcessEnv};
use omo_state::files::folder::GuardedFolder;
use omo_view::run_view::{RunEnd, RunView};
use omo_view::screen::line::harmless_text;
use omo_view::screen::lines::{question_lines, sentence};

use crate::blocks;
use crate::commands::report::{ReportOptions, html};
use crate::commands::run::cancel::{self, CancelOptions};
use crate::commands::stop::{self, StopOptions};
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::print_block;
use crate::run_arguments::RunOptions;
use crate::watch::live_screen::can_draw;
use crate::watch::plan_source::PlanSource;
use crate::watch::ultrawork_source::UltraworkSource;

/// So often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Of what a check printed, so much is read to find its last line, in bytes.
const TAIL_BYTES: u64 = 4 * 1024;

/// A run that is watched.
pub(crate) enum WatchedRun {
    /// Of a plan.
    Plan(Box<PlanSource>),
    /// Of ultrawork.
    Ultrawork(Box<UltraworkSource>),
}

/// What has a run go on while it is watched. Without one a run is only looked at.
pub(crate) trait RunKeeper {
    /// Called again and again.
    fn keep_going(&mut self) -> Result<(), CommandError> {
        Ok(())
    }

    /// Called once it is watched no more, before anything is said of that.
    fn close(&mut self) -> Result<(), CommandError> {
        Ok(())
    }
}

/// Only looks.
pub(crate) struct LooksOnly;

impl RunKeeper for LooksOnly {}

/// How a run is watched.
pub(crate) struct WatchRequest<'a> {
    /// The environment.
    pub env: &'a ProcessEnv,
    /// What the user has set.
    pub config: &'a UserConfig,
    /// When to end, whatever the run does.
    pub deadline: Option<Instant>,
}

impl WatchedRun {
    /// A run of a plan.
    pub(crate) fn of_plan(run: Run, env: &ProcessEnv) -> Result<Self, CommandError> {
        Ok(Self::Plan(Box::new(PlanSource::read(run, env.client_block_cap)?)))
    }

    /// Reads what has changed, and shows that; where nothing has, only the times go on.
    fn refresh(&mut self, view: &mut RunView) -> Result<(), CommandError> {
        let has_changed = match self {
            Self::Plan(source) => source.refresh()?,
            Self::Ultrawork(source) => source.refresh()?,
        };
        let now = env::now();
        match self {
            Self::Plan(source) if !has_changed => source.update_times(view, now),
            Self::Plan(_) | Self::Ultrawork(_) => *view = self.view(now),
        }
        Ok(())
    }

    fn view(&self, now: Timestamp) -> RunView {
        match self {
            Self::Plan(source) => source.view(now),
            Self::Ultrawork(source) => source.view(now),
        }
    }

    /// Where the run stands or how it ended, as it is left on the terminal.
    fn closing_text(&self, view: &RunView) -> String {
        let ended = match self {
            Self::Plan(source) if view.ended_at.is_some() => {
                Some(blocks::user_part(&blocks::end_block(source.state())).to_owned())
            }
            Self::Plan(_) => None,
            Self::Ultrawork(source) => source.end_text(),
        };
        if let Some(text) = ended {
            return text;
        }
        let shown = |text: &str| sanitize(text, 400);
        let mut lines = vec![format!("{}\n{}", shown(view.shown_title()), shown(&sentence(view)))];
        let questions = view.questions.iter().filter(|question| question.is_open);
        lines.extend(questions.flat_map(question_lines).map(|line| shown(&line)));
        lines.extend(view.notes.iter().filter(|_| view.end == RunEnd::Running).take(1).map(|line| shown(line)));
        lines.join("\n")
    }

    /// The report that is of this run.
    fn report_options(&self) -> ReportOptions {
        match self {
            Self::Plan(source) => ReportOptions {
                run: RunOptions { run: Some(source.run().id().to_owned()) },
                html: Some(None),
                ..ReportOptions::default()
            },
            Self::Ultrawork(source) => ReportOptions {
                session: Some(source.id().as_str().to_owned()),
                html: Some(None),
                ..ReportOptions::default()
            },
        }
    }

    /// Stops the run, as `omo run cancel` and `omo stop` do; says what came of it.
    fn stop(&self, env: &ProcessEnv, config: &UserConfig) -> Result<(), CommandError> {
        match self {
            Self::Plan(source) => {
                let run = RunOptions { run: Some(source.run().id().to_owned()) };
                cancel::run(env, &CancelOptions { run, reason: "by its user".to_owned() })
            }
            Self::Ultrawork(source) => {
                let session = Some(source.id().as_str().to_owned());
                stop::run(env, config, &StopOptions { session, all: false, reason: None })
            }
        }
    }

    fn write_page(&self, env: &ProcessEnv) -> Result<PathBuf, CommandError> {
        html::keep_page(&now_in(env), &self.report_options())
    }
}

/// The same environment, at this moment.
fn now_in(env: &ProcessEnv) -> ProcessEnv {
    ProcessEnv { now: env::now(), ..env.clone() }
}

/// Watches a run on this terminal, or line by line where there is none.
pub(crate) fn watch(run: WatchedRun, request: &WatchRequest<'_>) -> Result<(), CommandError> {
    let is_at_work = run.view(env::now()).ended_at.is_none();
    if is_at_work && can_draw() {
        live_watch::watch_live(run, request, &mut LooksOnly)
    } else {
        watch_lines(run, request)
    }
}

/// The end of watching: how the run stands decides about the exit status.
fn result(view: &RunView) -> Result<(), CommandError> {
    match view.end {
        RunEnd::Running => Ok(()),
        RunEnd::Waiting => Err(CommandError::already_printed(ExitKind::NeedsPerson)),
        _ if view.is_complete => Ok(()),
        _ => Err(CommandError::already_printed(ExitKind::NotGreen)),
    }
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

fn watch_lines(mut run: WatchedRun, request: &WatchRequest<'_>) -> Result<(), CommandError> {
    let mut told = 0;
    let mut is_first = true;
    let mut view = run.view(env::now());
    loop {
        run.refresh(&mut view)?;
        let lines = match &run {
            WatchedRun::Plan(source) => {
                let before = usize::try_from(source.state().seq).unwrap_or(usize::MAX);
                let lines = source.lines_since(u64::try_from(told).unwrap_or_default());
                told = before;
                lines
            }
            WatchedRun::Ultrawork(source) => {
                let (lines, count) = source.lines_since(told);
                told = count;
                lines
            }
        };
        if is_first && view.end == RunEnd::Running {
            print_block(&run.closing_text(&view))?;
        } else if !is_first {
            lines.iter().try_for_each(|line| print_block(&sanitize(line, 400)))?;
        }
        if view.end != RunEnd::Running {
            print_block(&run.closing_text(&view))?;
            if view.ended_at.is_some() {
                tell_page(&run, request)?;
            }
            return result(&view);
        }
        if is_over(request.deadline) {
            return Ok(());
        }
        is_first = false;
        let left = request.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        std::thread::sleep(left.map_or(LOOK_EVERY, |left| left.min(LOOK_EVERY)));
    }
}

/// Where the page of a run is, written anew: of one that has ended, or of which a page was written before. One that
/// cannot be written keeps nothing from being told.
fn tell_page(run: &WatchedRun, request: &WatchRequest<'_>) -> Result<(), CommandError> {
    match run.write_page(request.env) {
        Ok(path) => print_block(&format!("The page of this run: {}", path.display())),
        Err(error) => {
            crate::output::print_warning(&error.message());
            Ok(())
        }
    }
}

/// The last line that a check has printed and that says something, made harmless; `None` where there is no such file.
fn last_printed_line(folder: &GuardedFolder, name: &str) -> Option<String> {
    let bytes = folder.read_end(name, TAIL_BYTES).ok()??;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // A progress bar is written over by itself.
    let mut lines = text.split(['\n', '\r']).rev().map(harmless_text);
    Some(lines.find(|line| line.chars().any(char::is_alphanumeric)).unwrap_or_default())
}
