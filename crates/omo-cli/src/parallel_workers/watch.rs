//! Watching of parallel workers until the end of their run, a question or the deadline.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use omo_engine::event::EventActor;
use omo_engine::schedule::{self, NextAction};
use omo_engine::state::{QuestionState, RunState};
use omo_engine::work::Engine;

use crate::billing::can_ask_user;
use crate::blocks::{self, parts};
use crate::commands::run::pr;
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::print_block;
use crate::parallel_workers::keeper::{WorkerKeeper, can_continue};
use crate::parallel_workers::screen;
use crate::run_reader::RunReader;
use crate::run_reader::plan_source::PlanRunSource;
use crate::watch::run_loop::{Pace, RunDisplay, show_until_end};

const POLL_INTERVAL: Duration = Duration::from_millis(20);
const KEEP_EVERY: Duration = Duration::from_secs(1);

pub(crate) fn is_parallel(state: &RunState) -> bool {
    state.parallel.is_some()
}

pub(crate) fn require_parallel(state: &RunState) -> Result<(), CommandError> {
    if is_parallel(state) {
        return Ok(());
    }
    let message = "this run has no parallel workers";
    Err(CommandError::precondition(
        message,
        "`omo agent next` says what comes next; `omo run start --parallel PLAN` runs clients",
    ))
}

/// Shows the workers, restarts a missing supervisor, and prints the block of the next action.
pub(crate) fn watch_run(
    context: &CommandContext,
    engine: &Engine,
    holder: &EventActor,
    deadline: Option<Instant>,
    is_for_agent: bool,
) -> Result<(), CommandError> {
    let state = engine.apply_due_events(engine.run.state()?)?;
    let mut run = RunReader::of_plan((engine.run.clone(), state), context.env);
    let keeper = WorkerKeeper::new(context, engine, holder);
    let mut shown = WorkerDisplay {
        told: None,
        keeper,
        kept_at: Instant::now(),
    };
    show_until_end(
        &mut run,
        &mut shown,
        &Pace {
            interval: POLL_INTERVAL,
            deadline,
            is_live: false,
        },
    )?;
    let Some(PlanRunSource { state, .. }) = run.source.plan() else {
        return Ok(());
    };
    let is_at_terminal = !is_for_agent && std::io::stdout().is_terminal();
    shown.keeper.close(state)?;
    match schedule::next_action(state) {
        NextAction::Over => {
            let state = &pr::open_ordered(context, engine.run, engine.run.state()?);
            let text = blocks::end_block(state);
            print_block(if is_at_terminal {
                blocks::user_part(&text)
            } else {
                &text
            })?;
            if parts::is_complete(state) {
                Ok(())
            } else {
                Err(CommandError::already_printed(ExitKind::NotGreen))
            }
        }
        NextAction::Ask(question) => {
            let text = blocks::question_block(question, state, can_ask_user(context));
            print_block(&if is_at_terminal {
                question_at_terminal(&text, question)
            } else {
                text
            })?;
            Err(CommandError::already_printed(ExitKind::NeedsPerson))
        }
        NextAction::Parallel(_) | NextAction::FinalChecks => {
            print_block(&screen::still_working(state))
        }
        _ => print_block("The tasks of this run are done here now.\nDO\n  run: omo agent next"),
    }
}

struct WorkerDisplay<'a> {
    /// Number of printed events; `None` before the first look.
    told: Option<usize>,
    keeper: WorkerKeeper<'a>,
    kept_at: Instant,
}

impl RunDisplay for WorkerDisplay<'_> {
    fn show(&mut self, run: &RunReader<'_>, has_changed: bool) -> Result<bool, CommandError> {
        let Some(plan) = run.source.plan() else {
            return Ok(false);
        };
        let (lines, count) = plan.worker_lines_since(self.told.unwrap_or_default());
        if self.told.replace(count).is_some() {
            lines.iter().try_for_each(|line| print_block(line))?;
        }
        if has_changed || self.kept_at.elapsed() >= KEEP_EVERY {
            self.keeper.keep_going(&plan.state)?;
            self.kept_at = Instant::now();
        }
        Ok(can_continue(&plan.state))
    }
}

fn question_at_terminal(block: &str, question: &QuestionState) -> String {
    let (shown, id) = (blocks::user_part(block), &question.question.id);
    let in_session = ["\n  To answer, ", "\n  To go on, "];
    let end = in_session
        .iter()
        .filter_map(|line| shown.find(line))
        .min()
        .unwrap_or(shown.len());
    let shown = shown.get(..end).unwrap_or(shown);
    format!(
        "{shown}\n  To answer: omo answer {id} {}; then: omo run watch",
        question.question.option_ids().join("|")
    )
}
