//! The report of a run for people, the same in every mode: how it ended, each task with what proves it, what nothing
//! has verified, what is not committed, and what comes next. The most important stands first.

pub(crate) mod next_steps;
pub(crate) mod progress;
pub(crate) mod tasks;
mod text_lines;

use std::path::Path;

use anstyle::{AnsiColor, Style};
use omo_core::text::{format_duration, sanitize};
use omo_core::timestamp::Timestamp;
use omo_engine::Run;
use omo_engine::report::heading::{HeadingKind, RunHeading, run_heading};
use omo_engine::report::workers::cost_text;
use omo_engine::report::workers::{worker_lines, worker_result_lines};
use omo_engine::report::{RunReport, build_report};
use omo_engine::state::{ANSWER_WITHDRAWN, RunPhase, RunState};
use omo_engine::work::{find_edit, read_checkout};
use omo_state::env::ProcessEnv;

use crate::blocks::parts;
use crate::error::CommandError;
use crate::local_time::LocalClock;
use crate::run_report::text_lines::TextLines;

/// What a report is made from.
pub(crate) struct ReportSource<'a> {
    run: &'a Run,
    state: &'a RunState,
    /// All of it as data, with what only events and the checkout tell.
    pub report: RunReport,
    clock: LocalClock,
    now: Timestamp,
}

impl<'a> ReportSource<'a> {
    /// Reads the events of a run, and looks at its checkout.
    pub(crate) fn read(run: &'a Run, state: &'a RunState, env: &ProcessEnv) -> Result<Self, CommandError> {
        let report = build_report(run.id(), state).with_history(&run.events()?);
        let report = RunReport { checkout: read_checkout(state), ..report };
        Ok(Self { run, state, report, clock: LocalClock::from_process(env.now), now: env.now })
    }

    /// The report, which is the same as text.
    pub(crate) fn text(&self) -> Result<String, CommandError> {
        let mut lines = TextLines::new();
        self.write_head(&mut lines)?;
        tasks::write_tasks(&mut lines, self);
        self.write_whole(&mut lines);
        lines.section("Workers", &[worker_lines(self.state), worker_result_lines(self.state)].concat());
        self.write_unverified(&mut lines);
        lines.section("Found beside that", &self.report.findings);
        lines.section("Answers", &self.answers());
        lines.section("Not committed", &self.uncommitted());
        lines.numbered("Next", &next_steps::next_steps(self.run.id(), self.state, &self.report));
        Ok(lines.into_text())
    }

    /// The heading, and what the run is.
    fn write_head(&self, lines: &mut TextLines) -> Result<(), CommandError> {
        let (state, report) = (self.state, &self.report);
        lines.heading(&styled_heading(&run_heading(state)));
        let title = if report.title.is_empty() { String::new() } else { format!(", {}", sanitize(&report.title, 80)) };
        let mut rows = vec![
            ("plan", format!("{}{title}", parts::plan_path(state))),
            ("run", format!("{}, {}, held by {}", report.run, report.mode, state.holder.describe())),
            ("tasks", parts::progress_words(state)),
            ("time", self.time_words()),
        ];
        rows.extend(report.cancel_reason.iter().map(|why| ("cancelled", sanitize(why, 300))));
        if state.round > 1 {
            rows.push(("rounds", format!("{} of at most {}", state.round, state.plan.policy.max_rounds)));
        }
        rows.extend(state.parallel.as_ref().and_then(cost_text).map(|cost| ("cost", cost)));
        let torn = self.run.count_torn_writes()?;
        if torn > 0 {
            rows.push(("interrupted", format!("{torn} writes did not come to their end; nothing of them counts")));
        }
        lines.rows(&rows);
        for question in state.questions.iter().filter(|known| is_open(state) && known.answer.is_none()) {
            let (id, options) = (&question.question.id, &question.question.options);
            let answers = options.iter().map(|option| format!("omo answer {id} {}", option.id));
            let asked = format!("{id}: {}", sanitize(&question.question.text, 600));
            lines.section("Asked", &std::iter::once(asked).chain(answers).collect::<Vec<_>>());
        }
        if let Some(edit) = find_edit(Path::new(&state.root), state)? {
            lines.section("Edited", &[format!("The plan was edited since: {edit}. `omo run resume` takes that in.")]);
        }
        Ok(())
    }

    fn time_words(&self) -> String {
        let state = self.state;
        let begun = self.clock.describe(state.opened_at);
        let took = state.updated_at.millis_since(state.opened_at).and_then(|millis| u64::try_from(millis).ok());
        let took = format_duration(took.unwrap_or_default());
        if is_open(state) {
            return format!("begun {begun}, last event {}", self.clock.describe(state.updated_at));
        }
        format!("begun {begun}, ended after {took}")
    }

    /// The checks of the whole plan.
    fn write_whole(&self, lines: &mut TextLines) {
        let rows: Vec<String> = self.report.final_checks.iter().map(tasks::check_words).collect();
        lines.section("Checks of the whole", &rows);
    }

    fn write_unverified(&self, lines: &mut TextLines) {
        let word = self.state.plan.dialect.unit_word();
        let line = |item: &omo_engine::report::UnprovedItem| {
            let what = item.task.as_ref().map(|id| format!("{word} {}: ", sanitize(id, 64))).unwrap_or_default();
            format!("{what}{}", sanitize(&item.reason, 300))
        };
        let rows: Vec<String> = self.report.not_verified.iter().map(line).collect();
        lines.section("Unproved", &rows);
    }

    fn answers(&self) -> Vec<String> {
        let answered = self.state.questions.iter().filter_map(|known| Some((&known.question, known.answer.as_ref()?)));
        let answered = answered.filter(|(_, answer)| answer.option != ANSWER_WITHDRAWN);
        let line = |(question, answer): (&omo_engine::event::Question, &omo_engine::state::QuestionAnswer)| {
            let asked = sanitize(question.text.lines().next().unwrap_or_default(), 120);
            let (option, at) = (sanitize(&answer.option, 64), self.clock.describe(answer.at));
            format!("{}: {asked} {option}, by {}, {at}", question.id, answer.by.describe())
        };
        answered.map(line).collect()
    }

    fn uncommitted(&self) -> Vec<String> {
        self.report.checkout.as_ref().map(next_steps::uncommitted_lines).unwrap_or_default()
    }
}

/// Whether the run goes on.
fn is_open(state: &RunState) -> bool {
    state.phase == RunPhase::Executing
}

/// A heading in its colour: green for what is complete and proved, red for what has failed.
pub(crate) fn styled_heading(heading: &RunHeading) -> String {
    let style = heading_style(heading.kind);
    format!("{style}{}{style:#}", heading.text)
}

/// The colour of a heading.
pub(crate) fn heading_style(kind: HeadingKind) -> Style {
    match kind {
        HeadingKind::Complete => AnsiColor::Green.on_default().bold(),
        HeadingKind::Failed => AnsiColor::Red.on_default().bold(),
        HeadingKind::Waiting | HeadingKind::Unproved | HeadingKind::Incomplete => AnsiColor::Yellow.on_default().bold(),
        HeadingKind::Running | HeadingKind::Cancelled => Style::new().bold(),
    }
}
