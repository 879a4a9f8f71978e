//! The [`RunView`] of a plan run: built here alone, from its state and the facts found beside it.

pub(crate) mod checkout;
mod history;
pub mod next_steps;
mod tasks;
pub mod timeline;
pub mod ways_out;
pub mod words;
pub mod workers;

use std::collections::BTreeMap;

use omo_core::money::format_dollars;
use omo_core::session::Session;
use omo_core::stop::allowed_blocks;
use omo_core::text::format_duration;
use omo_core::timestamp::Timestamp;
use omo_view::run_view::{
    ActorView, Bound, CheckView, CheckoutView, DriftView, QuestionView, ReviewEnd, ReviewView,
    RunResultWord, RunView, SCHEMA, Subject, Timeline, WeakeningView,
};

use crate::event::{EventActor, EventKind, RunEvent, RunResult};
use crate::parallel_state::ParallelState;
use crate::report::findings::finding_lines;
use crate::report::heading::run_heading;
use crate::report::ultraplan::short_commit;
use crate::report::workers::{cost_text, worker_result_lines, worker_warnings};
use crate::schedule::{self, NextAction};
use crate::state::{ANSWER_WITHDRAWN, QuestionState, RunPhase, RunState, TaskStanding, TaskStatus};
use crate::view::next_steps::next_steps;
use crate::view::tasks::{check_view, task_views, unproved_items};
use crate::view::ways_out::way_out_lines;
use crate::view::words::{how_to_go_on, is_complete, progress_words, run_subject};
use crate::view::workers::worker_views;

pub struct RunFacts<'a> {
    pub run: &'a str,
    pub state: &'a RunState,
    /// The events; empty where they were not read.
    pub events: &'a [RunEvent],
    pub now: Timestamp,
    /// Format of a time on the clock of the reader.
    pub clock: &'a dyn Fn(Timestamp) -> String,
    pub found: FoundFacts,
}

#[derive(Clone, Debug, Default)]
pub struct FoundFacts {
    pub differences: BTreeMap<String, String>,
    pub checkout: Option<CheckoutView>,
    /// Running checks with the ids of their tasks; an empty id stands for the whole plan.
    pub running_checks: Vec<(String, CheckView)>,
    pub session: Option<Session>,
    /// Maximum continuations that the client allows.
    pub client_block_cap: Option<u32>,
    /// Ended processes of running tasks in words, such as `its client has ended`, by task id.
    pub ended_workers: BTreeMap<String, &'static str>,
    pub is_abandoned: bool,
    pub torn_writes: usize,
    /// Edit of the plan's file since it was read, in words.
    pub edit: Option<String>,
    /// `true` where the move of the user's branch was cut short.
    pub is_landing_cut: bool,
}

impl<'a> RunFacts<'a> {
    pub fn of_state(run: &'a str, state: &'a RunState) -> Self {
        let found = FoundFacts::default();
        Self {
            run,
            state,
            events: &[],
            now: state.updated_at,
            clock: &|at| at.to_string(),
            found,
        }
    }
}

/// The view of a plan run, without the lanes of its timeline.
pub fn run_view(facts: &RunFacts<'_>) -> RunView {
    let RunFacts {
        run,
        state,
        events,
        now,
        found,
        ..
    } = facts;
    let heading = run_heading(state);
    let tasks = task_views(facts);
    let checks = state.plan.final_checks.iter().enumerate();
    let final_checks: Vec<CheckView> = checks
        .map(|(place, check)| check_view(&check.command, state.final_checks.get(&place), None))
        .collect();
    let costs = |micros: fn(&ParallelState) -> u64| {
        state.parallel.as_ref().map(micros).filter(|cost| *cost > 0)
    };
    let mut view = RunView {
        schema: SCHEMA,
        run: (*run).to_owned(),
        plan: state.plan.source.path.clone(),
        plan_sha256: state.plan_sha256.clone(),
        title: state.plan.title.clone(),
        dialect: state.plan.dialect.word(),
        result: result_word(state),
        heading: heading.text,
        mode: state.mode.words(),
        cancel_reason: match &state.phase {
            RunPhase::Cancelled { why } => Some(why.clone()),
            RunPhase::Executing | RunPhase::Ended { .. } => None,
        },
        holder: actor_view(&state.holder),
        opened_at: state.opened_at,
        updated_at: state.updated_at,
        base: state.base.clone(),
        cost_micros: costs(ParallelState::cost_micros),
        untold_cost_micros: costs(ParallelState::untold_micros),
        counts: state.task_counts(),
        not_verified: unproved_items(&tasks, &final_checks),
        tasks,
        final_checks,
        questions: state
            .questions
            .iter()
            .map(|question| question_view(question, state))
            .collect(),
        drift: state
            .changed_files
            .iter()
            .map(|(file, kept)| DriftView {
                file: file.clone(),
                backup: kept.clone(),
            })
            .collect(),
        findings: finding_lines(state, &state.plan.tasks),
        checkout: found.checkout.clone(),
        next_command: next_command(run, state),
        subject: Subject::Plan,
        end: heading.kind,
        is_complete: is_complete(state),
        about: run_subject(state),
        task_word: state.plan.dialect.unit_word(),
        progress: progress_words(state),
        ended_at: (state.phase != RunPhase::Executing).then_some(state.updated_at),
        facts: identifying_facts(facts),
        request: state.plan.goal.clone(),
        reviews: verdicts(events),
        weakened: weakenings(state),
        workers: worker_views(state, *now),
        worker_notes: worker_result_lines(state),
        bounds: bounds(facts),
        notes: notes(facts),
        as_of: String::new(),
        next_steps: Vec::new(),
        running_checks: found.running_checks.clone(),
        timeline: Timeline {
            began: state.opened_at,
            until: end_of_timeline(facts),
            lanes: Vec::new(),
        },
    };
    view.next_steps = next_steps(state, &view);
    view
}

/// Updates the values that change with the clock alone.
pub fn update_times(view: &mut RunView, facts: &RunFacts<'_>) {
    view.workers = worker_views(facts.state, facts.now);
    view.bounds = bounds(facts);
    view.timeline.until = end_of_timeline(facts);
}

fn end_of_timeline(facts: &RunFacts<'_>) -> Timestamp {
    let is_open = facts.state.phase == RunPhase::Executing;
    if is_open {
        facts.now.max(facts.state.opened_at)
    } else {
        facts.state.updated_at.max(facts.state.opened_at)
    }
}

fn result_word(state: &RunState) -> RunResultWord {
    match &state.phase {
        RunPhase::Executing if state.open_question().is_some() => RunResultWord::Waiting,
        RunPhase::Executing => RunResultWord::InProgress,
        RunPhase::Cancelled { .. } => RunResultWord::Cancelled,
        RunPhase::Ended {
            result: RunResult::Complete,
        } => RunResultWord::Complete,
        RunPhase::Ended {
            result: RunResult::CompletedWithFailures,
        } => RunResultWord::CompletedWithFailures,
        RunPhase::Ended {
            result: RunResult::Failed,
        } => RunResultWord::Failed,
    }
}

fn actor_view(actor: &EventActor) -> ActorView {
    actor
        .session
        .as_ref()
        .map_or(ActorView::Terminal, |id| ActorView::Session {
            id: id.clone(),
        })
}

fn identifying_facts(facts: &RunFacts<'_>) -> Vec<(&'static str, String)> {
    let RunFacts {
        run,
        state,
        clock,
        found,
        ..
    } = facts;
    let title = if state.plan.title.is_empty() {
        String::new()
    } else {
        format!(", {}", state.plan.title)
    };
    let mut rows = vec![
        ("plan", run_subject(state) + &title),
        ("run", format!("{run}, {}", state.mode.words())),
        ("held by", state.holder.describe()),
        ("tasks", progress_words(state)),
        ("begun", clock(state.opened_at)),
    ];
    if state.phase == RunPhase::Executing {
        rows.push(("last event", clock(state.updated_at)));
    } else {
        let took = state
            .updated_at
            .millis_since(state.opened_at)
            .and_then(|millis| u64::try_from(millis).ok());
        rows.push(("took", format_duration(took.unwrap_or_default())));
    }
    if let RunPhase::Cancelled { why } = &state.phase {
        rows.push(("cancelled", why.clone()));
    }
    if state.round > 1 {
        rows.push((
            "rounds",
            format!(
                "{} of at most {}",
                state.round, state.plan.policy.max_rounds
            ),
        ));
    }
    rows.extend(
        state
            .base
            .as_deref()
            .map(|base| ("base", short_commit(base).to_owned())),
    );
    rows.extend(
        state
            .parallel
            .as_ref()
            .and_then(cost_text)
            .map(|cost| ("cost", cost)),
    );
    if found.torn_writes > 0 {
        let words = format!(
            "{} writes did not come to their end; nothing of them counts",
            found.torn_writes
        );
        rows.push(("interrupted", words));
    }
    if found.is_landing_cut {
        rows.push((
            "landing",
            "the move of your branch was cut short; `omo run resume` ends it".to_owned(),
        ));
    }
    if let Some(edit) = &found.edit {
        rows.push(("edited", edit.clone()));
    }
    rows
}

fn question_view(known: &QuestionState, state: &RunState) -> QuestionView {
    let (question, answer) = (&known.question, known.answer.as_ref());
    let is_withdrawn = answer.is_some_and(|answer| answer.option == ANSWER_WITHDRAWN);
    QuestionView {
        id: question.id.clone(),
        question: question.text.clone(),
        options: question
            .options
            .iter()
            .map(|option| option.id.clone())
            .collect(),
        answer: answer
            .filter(|_| !is_withdrawn)
            .map(|answer| answer.option.clone()),
        is_withdrawn,
        by: answer.map(|answer| actor_view(&answer.by)),
        at: answer.map(|answer| answer.at),
        // A run that is over waits for no answer; the question is put again once it goes on.
        is_open: answer.is_none() && state.phase == RunPhase::Executing,
        option_texts: question
            .options
            .iter()
            .map(|option| option.text.clone())
            .collect(),
        ways_out: way_out_lines(known, state)
            .into_iter()
            .chain([then_line(state)])
            .collect(),
    }
}

fn then_line(state: &RunState) -> String {
    let then = if state.parallel.is_some() {
        "`omo run watch`".to_owned()
    } else {
        format!("`{}`", how_to_go_on(state))
    };
    format!("then, to go on: {then}")
}

fn verdicts(events: &[RunEvent]) -> Vec<ReviewView> {
    events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::VerdictGiven { verdict } => Some(ReviewView {
                reviewer: "the verifier".to_owned(),
                verdict: if verdict.passed {
                    ReviewEnd::Agreed
                } else {
                    ReviewEnd::Rejected
                },
                at: Some(event.ts),
                tree: None,
                words: verdict.summary_line(),
            }),
            _ => None,
        })
        .collect()
}

fn weakenings(state: &RunState) -> Vec<WeakeningView> {
    let judged = state
        .tasks
        .iter()
        .filter_map(|(id, known)| Some((id, known, known.judgment.as_ref()?)));
    let judged = judged.map(|(id, known, answer)| WeakeningView {
        at: known.updated_at,
        by: "by a person".to_owned(),
        what: format!("{id} has failed, and was answered with {answer}"),
    });
    let changed = state
        .changed_check_files
        .iter()
        .map(|(file, task)| WeakeningView {
            at: None,
            by: format!("during {task}"),
            what: format!("{file}, which a check runs, was changed"),
        });
    judged.chain(changed).collect()
}

fn notes(facts: &RunFacts<'_>) -> Vec<String> {
    let state = facts.state;
    let abandoned = match (facts.found.is_abandoned, &state.parallel) {
        (false, _) => None,
        (true, Some(_)) => Some(
            "no worker is at work: their supervisor has ended; `omo run watch` goes on".to_owned(),
        ),
        (true, None) => Some(
            "the client that worked on this has ended; /omo:execute in a session goes on"
                .to_owned(),
        ),
    };
    let cancelled = match &state.phase {
        RunPhase::Cancelled { why } => Some(format!("cancelled {why}")),
        RunPhase::Executing | RunPhase::Ended { .. } => None,
    };
    abandoned
        .into_iter()
        .chain(worker_warnings(state))
        .chain(cancelled)
        .collect()
}

fn bounds(facts: &RunFacts<'_>) -> Vec<Bound> {
    let (state, found) = (facts.state, &facts.found);
    if state.phase != RunPhase::Executing {
        return Vec::new();
    }
    let session = found.session.as_ref();
    let mut bounds = session
        .map(|session| session_bounds(session, found.client_block_cap, facts.now))
        .unwrap_or_default();
    if state.round > 1 {
        bounds.push(Bound::Words(format!(
            "round {} of {}",
            state.round, state.plan.policy.max_rounds
        )));
    }
    if let Some(parallel) = &state.parallel {
        let cost = parallel
            .cost_micros()
            .saturating_add(parallel.untold_micros());
        match parallel.policy.budget_micros {
            Some(budget) => {
                bounds.push(Bound::Words(format!(
                    "cost {} of {}",
                    format_dollars(cost),
                    format_dollars(budget)
                )));
            }
            None if cost > 0 => bounds.push(Bound::Words(format!(
                "cost {} so far",
                format_dollars(cost)
            ))),
            None => {}
        }
        if let Some(until) = parallel.limited_until.filter(|until| *until > facts.now) {
            bounds.push(Bound::Words(format!("a limit of use until {until}")));
        }
    }
    bounds
}

/// Bounds of an armed session; none for any other.
pub fn session_bounds(
    session: &Session,
    client_block_cap: Option<u32>,
    now: Timestamp,
) -> Vec<Bound> {
    if !session.is_armed() {
        return Vec::new();
    }
    let allowed = allowed_blocks(session, client_block_cap);
    let left = allowed.saturating_sub(session.ulw.stop_blocks);
    let minutes = i64::from(session.limits.clamped().max_minutes);
    let left_millis = minutes * 60_000 - session.ulw.worked_millis(now);
    vec![
        Bound::Words(format!("{left} of {allowed} continuations left")),
        Bound::Time {
            left_millis,
            at: session.ulw.paused.is_none().then_some(now),
        },
    ]
}

fn next_command(run: &str, state: &RunState) -> Option<String> {
    match &state.phase {
        RunPhase::Cancelled { .. } => return Some(format!("omo run resume --run {run}")),
        RunPhase::Ended { .. } => {
            if state.lacks_commits() {
                return Some(format!("omo run resume --run {run}"));
            }
            let standings = state.standings();
            // Only a task that failed itself is retried: the tasks that it blocks follow.
            let failed = standings.iter().find(|(_, standing)| match standing {
                TaskStanding::Is(TaskStatus::Failed) => true,
                TaskStanding::Is(TaskStatus::Unverified) => !state.plan.policy.unproved_continues,
                _ => false,
            });
            let left_out = standings
                .iter()
                .find(|(_, standing)| *standing == TaskStanding::Is(TaskStatus::Skipped));
            if let Some((task, _)) = failed.or(left_out) {
                return Some(format!("omo run retry {}", task.id));
            }
            let is_red = state
                .final_checks
                .values()
                .any(|outcome| !outcome.is_green());
            return is_red.then(|| format!("omo run resume --run {run}"));
        }
        RunPhase::Executing => {}
    }
    match schedule::next_action(state) {
        // A question with several options gets no command to paste, which would choose one of them.
        NextAction::Ask(known) => match known.question.options.as_slice() {
            [only] => Some(format!("omo answer {} {}", known.question.id, only.id)),
            _ => Some("omo agent next".to_owned()),
        },
        NextAction::Over => None,
        _ => Some("omo agent next".to_owned()),
    }
}
