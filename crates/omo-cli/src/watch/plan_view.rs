//! What is shown of a run of a plan that is watched. Pure.

use omo_core::money::format_dollars;
use omo_core::session::Session;
use omo_core::stop::allowed_blocks;
use omo_core::timestamp::Timestamp;
use omo_engine::event::RunEvent;
use omo_engine::parallel::worker_rows;
use omo_engine::report::heading::{HeadingKind, run_heading};
use omo_engine::report::workers::worker_name;
use omo_engine::report::workers::worker_warnings;
use omo_engine::report::{TaskRow, build_report};
use omo_engine::state::{RunPhase, RunState, RunningAttempt, TaskStanding, TaskStatus};
use omo_plan::model::TaskKind;

use crate::blocks::parts::{progress_words, run_subject};
use crate::run_report::tasks::{mark, standing_words};
use crate::watch::run_view::{Bound, CheckView, RunStatus, RunView, TaskRank, TaskView, Tone};

/// A check that runs now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunningCheck {
    /// The task that it is of.
    pub task: String,
    /// Its command.
    pub command: String,
    /// The last line that it has printed so far.
    pub last_line: String,
}

/// Facts of a run of a plan.
pub(crate) struct PlanFacts<'a> {
    /// The run.
    pub run: &'a str,
    /// Where it stands.
    pub state: &'a RunState,
    /// All that happened.
    pub events: &'a [RunEvent],
    /// The checks that run now.
    pub running_checks: &'a [RunningCheck],
    /// The entry of the session that holds it.
    pub holder: Option<&'a Session>,
    /// How often the client lets a Stop be turned into going on.
    pub client_block_cap: Option<u32>,
    /// Whether something that should be at work on it is gone.
    pub is_abandoned: bool,
    /// Now.
    pub now: Timestamp,
}

/// What is shown of it.
pub(crate) fn plan_view(facts: &PlanFacts<'_>) -> RunView {
    let state = facts.state;
    let heading = run_heading(state);
    let report = build_report(facts.run, state).with_history(facts.events);
    let (status, tone) = match heading.kind {
        HeadingKind::Running => (RunStatus::AtWork, Tone::AtWork),
        HeadingKind::Waiting => (RunStatus::Waiting, Tone::Attention),
        HeadingKind::Complete => (RunStatus::Complete, Tone::Good),
        // The engine calls it complete, and so does the exit status; it is not green.
        HeadingKind::Unproved if crate::blocks::parts::is_complete(state) => (RunStatus::Complete, Tone::Attention),
        HeadingKind::Unproved | HeadingKind::Incomplete | HeadingKind::Cancelled => (RunStatus::Ended, Tone::Attention),
        HeadingKind::Failed => (RunStatus::Ended, Tone::Bad),
    };
    let title = if report.title.is_empty() { run_subject(state) } else { report.title.clone() };
    let mut notes = Vec::new();
    if facts.is_abandoned {
        notes.push(abandoned_note(state));
    }
    notes.extend(worker_warnings(state));
    if let RunPhase::Cancelled { why } = &state.phase {
        notes.push(format!("cancelled {why}"));
    }
    RunView {
        title,
        kind: format!("plan run, {}", report.mode),
        status,
        sentence: format!("{}: {}", heading.text, progress_words(state)),
        tone,
        began: Some(state.opened_at),
        ended: (state.phase != RunPhase::Executing).then_some(state.updated_at),
        question: question(state),
        workers: worker_rows(state, facts.now),
        tasks: state
            .standings()
            .iter()
            .zip(&report.tasks)
            .map(|((_, standing), row)| task(state, standing, row))
            .collect(),
        task_word: state.plan.dialect.unit_word(),
        checks: checks(facts),
        bounds: bounds(facts),
        notes,
    }
}

/// Shows what gets older by itself as it is now; all else stays.
pub(crate) fn update_times(view: &mut RunView, facts: &PlanFacts<'_>) {
    view.workers = worker_rows(facts.state, facts.now);
    view.bounds = bounds(facts);
}

fn abandoned_note(state: &RunState) -> String {
    if state.parallel.is_some() {
        "no worker is at work: their supervisor has ended; `omo run watch` goes on".to_owned()
    } else {
        "the client that worked on this has ended; /omo:execute in a session goes on".to_owned()
    }
}

fn question(state: &RunState) -> Vec<String> {
    let Some(open) = state.open_question() else { return Vec::new() };
    let question = &open.question;
    let choices: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
    let text = question.text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned);
    text.chain([format!("To answer: omo answer {} {}", question.id, choices.join("|"))]).collect()
}

fn task(state: &RunState, standing: &TaskStanding, row: &TaskRow) -> TaskView {
    let known = state.tasks.get(&row.id);
    let plan = state.plan.task(&row.id);
    let running = known.and_then(|known| known.running.as_ref());
    let ended = row.history.iter().filter_map(|attempt| attempt.until.map(|until| attempt.millis(until)));
    let (rank, tone) = match standing {
        TaskStanding::Is(TaskStatus::Running) => (TaskRank::AtWork, Tone::AtWork),
        TaskStanding::Is(TaskStatus::Failed) => (TaskRank::Failed, Tone::Bad),
        TaskStanding::Is(TaskStatus::Unverified | TaskStatus::Claimed | TaskStatus::Skipped) => {
            (TaskRank::Over, Tone::Attention)
        }
        TaskStanding::Blocked { .. } => (TaskRank::Later, Tone::Attention),
        TaskStanding::Is(TaskStatus::Passed) => (TaskRank::Over, Tone::Good),
        TaskStanding::Is(TaskStatus::Held) => (TaskRank::Next, Tone::Attention),
        TaskStanding::Is(TaskStatus::Pending) => {
            let has_passed = |id: &String| state.standing(id).is_some_and(|standing| standing.is_ended());
            let is_next = plan.is_some_and(|task| task.deps.iter().all(has_passed));
            (if is_next { TaskRank::Next } else { TaskRank::Later }, Tone::Plain)
        }
    };
    let title = match plan.map(|task| task.kind) {
        Some(TaskKind::Verify) if row.title.is_empty() => "Verification of all tasks".to_owned(),
        _ => row.title.clone(),
    };
    let most = plan.map_or(0, |task| task.max_attempts);
    let about = match (rank, row.attempts) {
        (TaskRank::AtWork | TaskRank::Next, attempts @ 2..) => format!("attempt {attempts} of {most}: {title}"),
        (TaskRank::Failed, _) if !row.evidence.is_empty() => format!("{title}: {}", row.evidence),
        _ => title,
    };
    TaskView {
        id: row.id.clone(),
        mark: mark(standing),
        words: standing_words(standing, row),
        tone,
        rank,
        worked_millis: ended.sum(),
        since: running.map(|running| running.since),
        worker: running.map(|running| worker(state, &row.id, running)).unwrap_or_default(),
        about,
    }
}

/// Who works on a task, in a word or two.
fn worker(state: &RunState, id: &str, running: &RunningAttempt) -> String {
    let group = state.parallel.as_ref().and_then(|_| state.plan.group_of(id));
    match (group, &running.by.session) {
        (Some((_, group)), _) => worker_name(&group.id),
        (None, Some(session)) => format!("session {}", session.chars().take(8).collect::<String>()),
        (None, None) => "a terminal".to_owned(),
    }
}

/// The checks that run, those of the whole, and the last of each task, the latest first.
fn checks(facts: &PlanFacts<'_>) -> Vec<CheckView> {
    let state = facts.state;
    let running = facts.running_checks.iter().map(|check| CheckView {
        of: check.task.clone(),
        command: check.command.clone(),
        words: "runs".to_owned(),
        tone: Tone::AtWork,
        last_line: check.last_line.clone(),
    });
    let whole = state.plan.final_checks.iter().enumerate();
    let whole = whole.filter_map(|(place, check)| Some(("", &check.command, state.final_checks.get(&place)?)));
    let mut ended: Vec<_> = state.tasks.iter().filter(|(_, known)| known.running.is_none()).collect();
    ended.sort_by_key(|(_, known)| std::cmp::Reverse(known.updated_at));
    let of_tasks = ended.into_iter().filter_map(|(id, known)| {
        let (command, outcome) = known.checks.last()?;
        Some((id.as_str(), command, outcome))
    });
    let ran = whole.chain(of_tasks).map(|(of, command, outcome)| CheckView {
        of: of.to_owned(),
        command: command.clone(),
        words: outcome.verdict.word().to_owned(),
        tone: if outcome.is_green() { Tone::Good } else { Tone::Bad },
        last_line: outcome.printed.excerpt(2).pop().unwrap_or_default(),
    });
    running.chain(ran).collect()
}

fn bounds(facts: &PlanFacts<'_>) -> Vec<Bound> {
    let state = facts.state;
    if state.phase != RunPhase::Executing {
        return Vec::new();
    }
    let mut bounds =
        facts.holder.map(|session| session_bounds(session, facts.client_block_cap, facts.now)).unwrap_or_default();
    if state.round > 1 {
        bounds.push(Bound::Words(format!("round {} of {}", state.round, state.plan.policy.max_rounds)));
    }
    if let Some(parallel) = &state.parallel {
        let cost = parallel.cost_micros().saturating_add(parallel.untold_micros());
        match parallel.policy.budget_micros {
            Some(budget) => {
                bounds.push(Bound::Words(format!("cost {} of {}", format_dollars(cost), format_dollars(budget))));
            }
            None if cost > 0 => bounds.push(Bound::Words(format!("cost {} so far", format_dollars(cost)))),
            None => {}
        }
        if let Some(until) = parallel.limited_until.filter(|until| *until > facts.now) {
            bounds.push(Bound::Words(format!("a limit of use until {until}")));
        }
    }
    bounds
}

/// What is left of the bounds of a session that is held; nothing where it is not.
pub(super) fn session_bounds(session: &Session, client_block_cap: Option<u32>, now: Timestamp) -> Vec<Bound> {
    if !session.is_armed() {
        return Vec::new();
    }
    let allowed = allowed_blocks(session, client_block_cap);
    let left = allowed.saturating_sub(session.ulw.stop_blocks);
    let minutes = i64::from(session.limits.clamped().max_minutes);
    let left_millis = minutes * 60_000 - session.ulw.worked_millis(now);
    vec![
        Bound::Words(format!("{left} of {allowed} continuations left")),
        Bound::Time { left_millis, at: session.ulw.paused.is_none().then_some(now) },
    ]
}
