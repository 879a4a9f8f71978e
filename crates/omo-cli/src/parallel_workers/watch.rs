//! Looking on while parallel workers work: until they are over, a person has to answer, or the time is over.

use std::time::{Duration, Instant};

use omo_engine::Run;
use omo_engine::event::EventActor;
use omo_engine::schedule::{self, NextAction};
use omo_engine::state::{QuestionState, RunState};
use omo_engine::work::Engine;

use crate::billing::can_ask_user;
use crate::blocks::{self, parts};
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::print_block;
use crate::parallel_workers::cleanup::clean_up;
use crate::parallel_workers::screen::{self, EventLines};
use crate::parallel_workers::supervisor;
use crate::watch::RunKeeper;

/// How often the length of the ledger is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// A supervisor that ends so often without anything having happened will not do better the next time.
const MAX_STARTS: u32 = 3;

/// Whether a run has parallel workers.
pub(crate) fn is_parallel(state: &RunState) -> bool {
    state.parallel.is_some()
}

/// Refuses a run without parallel workers.
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

/// Whether there is something to do that no person has to decide.
pub(crate) fn can_continue(state: &RunState) -> bool {
    matches!(schedule::next_action(state), NextAction::Parallel(_) | NextAction::FinalChecks)
}

/// Has the run go on, and looks on.
pub(crate) fn watch_run(
    context: &CommandContext,
    engine: &Engine,
    holder: &EventActor,
    deadline: Option<Instant>,
    mut lines: EventLines,
) -> Result<(), CommandError> {
    let mut state = engine.settle(engine.run.state()?)?;
    let mut starts = SupervisorStarts::since(&state);
    loop {
        lines.tell(engine.run, &state)?;
        match schedule::next_action(&state) {
            NextAction::Over => {
                clean_up(engine)?;
                context.note_in_session(engine.run, holder, &state);
                let text = blocks::end_block(&state);
                print_block(if lines.is_at_terminal() { blocks::user_part(&text) } else { &text })?;
                return if parts::is_complete(&state) {
                    Ok(())
                } else {
                    Err(CommandError::already_printed(ExitKind::NotGreen))
                };
            }
            NextAction::Ask(question) => {
                context.note_in_session(engine.run, holder, &state);
                let text = blocks::question_block(question, &state, can_ask_user(context));
                print_block(&if lines.is_at_terminal() { question_at_terminal(&text, question) } else { text })?;
                return Err(CommandError::already_printed(ExitKind::NeedsPerson));
            }
            NextAction::Parallel(_) | NextAction::FinalChecks => {}
            _ => {
                context.note_in_session(engine.run, holder, &state);
                return print_block("The tasks of this run are done here now.\nDO\n  run: omo agent next");
            }
        }
        starts.start_if_gone(context, engine.run, &state)?;
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            context.note_in_session(engine.run, holder, &state);
            return print_block(&screen::still_working(&state));
        }
        state = wait_for_change(engine, &state, deadline)?;
    }
}

/// Supervisors that were started, one after the other.
struct SupervisorStarts {
    count: u32,
    /// The last event before them.
    seq: u64,
}

impl SupervisorStarts {
    fn since(state: &RunState) -> Self {
        Self { count: 0, seq: state.seq }
    }

    /// Starts one where there is none, unless that has brought nothing so often that it will not the next time.
    fn start_if_gone(&mut self, context: &CommandContext, run: &Run, state: &RunState) -> Result<(), CommandError> {
        if run.is_supervised()? {
            return Ok(());
        }
        *self = if state.seq == self.seq {
            Self { count: self.count + 1, seq: self.seq }
        } else {
            Self { count: 1, seq: state.seq }
        };
        if self.count > MAX_STARTS {
            let why = supervisor::last_complaint(run);
            return Err(CommandError::io(
                format!("the workers cannot be started:\n{why}"),
                "`omo run cancel` ends the run; nothing of it is lost",
            ));
        }
        supervisor::ensure_supervisor(context, run)
    }
}

/// Has the workers of a run go on that is watched.
pub(crate) struct WorkerKeeper<'a> {
    context: &'a CommandContext<'a>,
    engine: &'a Engine<'a>,
    holder: EventActor,
    starts: Option<SupervisorStarts>,
}

impl<'a> WorkerKeeper<'a> {
    /// One for a run that this holder had.
    pub(crate) fn new(context: &'a CommandContext<'a>, engine: &'a Engine<'a>, holder: EventActor) -> Self {
        Self { context, engine, holder, starts: None }
    }
}

impl RunKeeper for WorkerKeeper<'_> {
    fn keep_going(&mut self) -> Result<(), CommandError> {
        if self.engine.run.is_supervised()? {
            return Ok(());
        }
        let state = self.engine.run.state()?;
        if !can_continue(&state) {
            return Ok(());
        }
        let starts = self.starts.get_or_insert_with(|| SupervisorStarts::since(&state));
        starts.start_if_gone(self.context, self.engine.run, &state)
    }

    fn close(&mut self) -> Result<(), CommandError> {
        let state = self.engine.run.state()?;
        if schedule::next_action(&state) == NextAction::Over {
            clean_up(self.engine)?;
        }
        self.context.note_in_session(self.engine.run, &self.holder, &state);
        Ok(())
    }
}

/// A question as a person reads it who looks on at a terminal, and how it is answered there.
fn question_at_terminal(block: &str, question: &QuestionState) -> String {
    let choices: Vec<&str> = question.question.options.iter().map(|option| option.id.as_str()).collect();
    let (shown, id) = (blocks::user_part(block), &question.question.id);
    let in_session = ["\n  To answer, ", "\n  To go on, "];
    let end = in_session.iter().filter_map(|line| shown.find(line)).min().unwrap_or(shown.len());
    let shown = shown.get(..end).unwrap_or(shown);
    format!("{shown}\n  To answer: omo answer {id} {}; then: omo run watch", choices.join("|"))
}

/// Waits until the ledger has another event, the supervisor is gone, or the time is over.
fn wait_for_change(engine: &Engine, state: &RunState, deadline: Option<Instant>) -> Result<RunState, CommandError> {
    let look_until = Instant::now() + Duration::from_secs(1);
    let until = deadline.map_or(look_until, |deadline| deadline.min(look_until));
    let mut bytes = None;
    loop {
        let is_over = Instant::now() >= until;
        let before = bytes.replace(engine.run.ledger_bytes());
        if before != bytes || is_over {
            let now = engine.run.state()?;
            if now.seq != state.seq || is_over {
                return Ok(now);
            }
        }
        std::thread::sleep(LOOK_EVERY.min(until.saturating_duration_since(Instant::now())));
    }
}
