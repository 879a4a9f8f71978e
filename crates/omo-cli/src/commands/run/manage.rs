//! `omo run list|show|resume|cancel|gc|import`.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use omo_core::text::{format_age, sanitize};
use omo_core::timestamp::Timestamp;
use omo_engine::event::{EventKind, RunResult};
use omo_engine::modes::{ExecutionMode, ModeOptions, arranged};
use omo_engine::report::dev_workflow;
use omo_engine::state::{RunPhase, RunState, TaskStanding, TaskStatus};
use omo_engine::verbs;
use omo_engine::work::{PlanEdit, PlanFile, RunOpening, find_edit, opening_events};
use omo_engine::{Run, RunStore, import as imports};
use omo_plan::dialects::BatchOptions;
use omo_plan::model::Plan;
use omo_state::env::{self, ProcessEnv};
use omo_state::files::project_file::ProjectFile;
use omo_state::git_worktree::GitWorktree;
use serde::Serialize;

use super::arguments::{CancelOptions, GcOptions, ImportOptions, ListOptions, ResumeOptions, ShowOptions};
use super::open;
use super::start::arguments::{ExecuteCommand, ExecuteRequest, PlanSource};
use crate::commands::agent::workers;
use crate::commands::run::{parallel, task_list};
use crate::context::{CommandContext, Ended};
use crate::error::CommandError;
use crate::output::table::{self, Cell};
use crate::{blocks, dispatch};

/// One run, as it is listed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    id: String,
    plan: String,
    state: String,
    total: usize,
    passed: usize,
    failed: usize,
    blocked: usize,
    holder: Option<String>,
    updated_at: Option<Timestamp>,
    problem: Option<String>,
}

/// Lists the runs, the newest first.
pub(super) fn list(env: &ProcessEnv, options: &ListOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let listed = context.runs.as_ref().map(RunStore::list).transpose()?.unwrap_or_default();
    let lines: Vec<Line> = listed.into_iter().map(|listed| run_line(listed.id, listed.state)).collect();
    let mut out = anstream::stdout().lock();
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&lines).unwrap_or_default())?;
    } else if lines.is_empty() {
        writeln!(out, "No plan was run in this repository. `omo run start FILE` runs one.")?;
    } else {
        let cells = |line: &Line| {
            let state = line.problem.as_deref().unwrap_or(&line.state);
            let done =
                if line.problem.is_some() { "-".to_owned() } else { format!("{} of {}", line.passed, line.total) };
            [
                Cell::plain(sanitize(&line.id, 64)),
                Cell::new(sanitize(state, 100), status_style(&line.state)),
                Cell::plain(done),
                Cell::plain(
                    line.updated_at
                        .map_or_else(|| "-".to_owned(), |at| format!("{} ago", format_age(Some(at), env.now))),
                ),
                Cell::plain(sanitize(&line.plan, 100)),
            ]
        };
        table::write_table(&mut out, ["run", "state", "done", "last", "plan"], lines.iter().map(cells).collect())?;
    }
    Ok(())
}

fn run_line(id: String, state: Result<RunState, omo_engine::RunStoreError>) -> Line {
    match state {
        Ok(state) => {
            let counts = state.task_counts();
            Line {
                id,
                plan: blocks::run_subject(&state),
                state: status_word(&state).to_owned(),
                total: counts.total,
                passed: counts.passed + counts.claimed,
                failed: counts.failed,
                blocked: counts.blocked,
                holder: state.holder.session.clone(),
                updated_at: Some(state.updated_at),
                problem: None,
            }
        }
        Err(error) => Line {
            id,
            plan: String::new(),
            state: "unreadable".to_owned(),
            total: 0,
            passed: 0,
            failed: 0,
            blocked: 0,
            holder: None,
            updated_at: None,
            problem: Some(error.to_string()),
        },
    }
}

/// Where a run stands, in one word.
pub(super) fn status_word(state: &RunState) -> &'static str {
    match &state.phase {
        RunPhase::Executing if state.open_question().is_some() => "waits for you",
        RunPhase::Executing => "executing",
        RunPhase::Ended { result } => result.word(),
        RunPhase::Cancelled { .. } => "cancelled",
    }
}

fn status_style(word: &str) -> Style {
    match word {
        "complete" => AnsiColor::Green.on_default(),
        "waits for you" | "cancelled" => AnsiColor::Yellow.on_default(),
        "completed_with_failures" | "failed" | "unreadable" => AnsiColor::Red.on_default(),
        _ => Style::new(),
    }
}

/// Shows a run, task by task.
pub(crate) fn show(env: &ProcessEnv, options: &ShowOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.run.as_deref(), Ended::Included)?;
    let mut out = anstream::stdout().lock();
    if options.json {
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&omo_engine::report::build_report(run.id(), &state)).unwrap_or_default()
        )?;
        return Ok(());
    }
    head(&mut out, &run, &state, env)?;
    tasks(&mut out, &state)?;
    // A run that is over waits for no answer; the question is put again once it goes on.
    let is_open = state.phase == RunPhase::Executing;
    for question in state.questions.iter().filter(|question| is_open && question.answer.is_none()) {
        writeln!(out, "\n{} waits for you: {}", question.question.id, sanitize(&question.question.text, 600))?;
        let options: Vec<String> = question
            .question
            .options
            .iter()
            .map(|option| format!("  omo answer {} {}", question.question.id, option.id))
            .collect();
        writeln!(out, "{}", options.join("\n"))?;
    }
    if let Some(edit) = find_edit(Path::new(&state.root), &state)? {
        writeln!(out, "\nThe plan was edited since: {edit}. `omo run resume` takes that in.")?;
    }
    Ok(())
}

fn head(out: &mut impl Write, run: &Run, state: &RunState, env: &ProcessEnv) -> Result<(), CommandError> {
    let dim = Style::new().dimmed();
    let torn = run.count_torn_writes()?;
    let mut rows = vec![
        ("run", run.id().to_owned()),
        ("plan", sanitize(&blocks::run_subject(state), 200)),
        ("state", format!("{}, {}", status_word(state), blocks::progress_words(state))),
        ("held by", state.holder.describe()),
        ("begun", format!("{} ({} ago)", state.opened_at, format_age(Some(state.opened_at), env.now))),
        ("last event", format!("{} ago", format_age(Some(state.updated_at), env.now))),
    ];
    if torn > 0 {
        rows.push(("interrupted", format!("{torn} writes did not come to their end; nothing of them counts")));
    }
    for (file, kept) in &state.changed_files {
        let kept = kept.as_ref().map(|kept| format!("; what was in it is in {kept}")).unwrap_or_default();
        rows.push(("edited", format!("{file} was changed by something else{kept}")));
    }
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    for (label, value) in rows {
        writeln!(out, "{dim}{label:width$}{dim:#}  {value}")?;
    }
    writeln!(out)?;
    Ok(())
}

fn tasks(out: &mut impl Write, state: &RunState) -> Result<(), CommandError> {
    let rows = state.standings().into_iter().map(|(unit, standing)| {
        let known = state.tasks.get(&unit.id);
        let evidence = match &standing {
            TaskStanding::Blocked { by } => format!("waits for {by}"),
            TaskStanding::Is(_) => {
                known.and_then(|known| known.last_end.as_ref()).map(|end| end.evidence.clone()).unwrap_or_default()
            }
        };
        let style = match &standing {
            TaskStanding::Is(TaskStatus::Passed) => AnsiColor::Green.on_default(),
            TaskStanding::Is(TaskStatus::Failed | TaskStatus::Unverified) => AnsiColor::Red.on_default(),
            TaskStanding::Blocked { .. } | TaskStanding::Is(TaskStatus::Skipped | TaskStatus::Claimed) => {
                AnsiColor::Yellow.on_default()
            }
            TaskStanding::Is(_) => Style::new(),
        };
        [
            Cell::plain(&unit.id),
            Cell::new(standing.word(), style),
            Cell::plain(known.map_or(0, |known| known.attempts).to_string()),
            Cell::plain(sanitize(&unit.title, 40)),
            Cell::plain(sanitize(&evidence, 60)),
        ]
    });
    table::write_table(
        out,
        [state.plan.dialect.unit_word(), "state", "attempts", "title", "evidence"],
        rows.collect(),
    )?;
    Ok(())
}

/// Takes a run over, with its plan as the file says it now.
pub(super) fn resume(env: &ProcessEnv, options: &ResumeOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.run.as_deref(), Ended::Included)?;
    if !context.is_person() {
        // A session takes only a run that no live session holds; a person at a terminal takes it from any session.
        verbs::join_run(&state, &context.caller()?, &omo_engine::work::is_alive)?;
    }
    let digest = options.digest.as_deref();
    match state.mode {
        _ if state.is_task_list() => task_list::resume(&context, &run, &state, digest),
        ExecutionMode::Parallel | ExecutionMode::StepByStep => parallel::resume(&context, &run, &state, digest),
        ExecutionMode::Batches | ExecutionMode::Waves => continue_run(&context, &run, &state, true, digest),
    }
}

/// Goes on with a run, in waves with `again` also with one that has failed: it is gone over anew. `digest` is what its user has read of an edited plan.
pub(super) fn continue_run(
    context: &CommandContext,
    run: &Run,
    before: &RunState,
    again: bool,
    digest: Option<&str>,
) -> Result<(), CommandError> {
    let engine = context.engine(run, before)?;
    if !context.is_person() {
        verbs::join_run(before, &engine.caller, &omo_engine::work::is_alive)?;
    }
    let edit = find_edit(Path::new(&before.root), before)?;
    let replanned = match &edit {
        None => None,
        Some(_) => Some(reread_plan(context, before, digest)?),
    };
    let is_over = match before.phase {
        RunPhase::Ended { result: RunResult::Complete } => true,
        RunPhase::Ended { .. } => !(again && before.mode == ExecutionMode::Waves),
        RunPhase::Executing | RunPhase::Cancelled { .. } => false,
    };
    if is_over && replanned.is_none() {
        context.note_ended_run(run, before);
        return crate::output::print_block(&blocks::end_block(before));
    }
    let _door = context.runs.as_ref().map(|runs| context.lock_opening(runs, Some(run.id()))).transpose()?;
    let ((), state) = engine.take_over(|state| {
        let replanned = replanned.map(|(plan, approved)| verbs::replace_plan(state, plan, approved)).transpose()?;
        Ok((replanned.into_iter().chain(dispatch::forget_dispatched_if_any(state)).collect(), ()))
    })?;
    context.note_in_session(run, &before.holder, &state);
    let mut text = blocks::resumed_block(run.id(), &state);
    if let Some(edit) = edit {
        text = format!("{}{text}", describe_edit(&edit, before, &state));
    }
    crate::output::print_block(&text)
}

/// The plan as its file says it now, with the approval of exactly its commands.
fn reread_plan(
    context: &CommandContext,
    state: &RunState,
    digest: Option<&str>,
) -> Result<(Plan, String), CommandError> {
    let root = Path::new(&state.root);
    let file = PlanFile::read(root, root, Path::new(&state.plan.source.path))?;
    // Read with the options that the run has; others would make other batches of the same tasks.
    let plan = file.plan(BatchOptions::from(&state.plan.policy));
    if !plan.can_run() {
        return Err(open::invalid_plan_error(&plan, &file.bytes));
    }
    let plan = state.as_in_run(plan);
    let typed = ExecuteRequest::new(command_of(state.mode), PlanSource::File(plan.source.path.clone()));
    let about = open::Asked::for_plan(&plan.source.path, typed.typed(&typed.source));
    let approved = open::approve_plan(context, &plan, digest, &about)?;
    Ok((plan, approved))
}

/// The slash command that goes on with a run that agents work on.
fn command_of(mode: ExecutionMode) -> ExecuteCommand {
    if mode == ExecutionMode::Batches { ExecuteCommand::ExecutePlan } else { ExecuteCommand::Execute }
}

/// What an edit of the plan means for its run.
pub(super) fn describe_edit(edit: &PlanEdit, before: &RunState, now: &RunState) -> String {
    let (were, are) = (before.plan.tasks.len(), now.plan.tasks.len());
    let word = now.plan.dialect.unit_word();
    let total = format!("ℹ️ Plan now has {are} {word}s (was {were}); resuming with updated total.\n");
    let stale: Vec<&str> = now.tasks.iter().filter(|(_, unit)| unit.is_stale).map(|(id, _)| id.as_str()).collect();
    let again = format!("note: stale, to be done again: {}\n", stale.join(", "));
    let said = [
        (were != are).then_some(total),
        Some(format!("note: the plan was edited: {edit}\n")),
        (!stale.is_empty()).then_some(again),
    ];
    said.into_iter().flatten().collect()
}

/// Ends a run before its end.
pub(super) fn cancel(env: &ProcessEnv, options: &CancelOptions) -> Result<(), CommandError> {
    cancel_within(env, options, workers::watch::CLEANUP_TIMEOUT)
}

/// As [`cancel`], for a person in a session, who waits no longer than a prompt may.
pub(crate) fn cancel_typed(env: &ProcessEnv, options: &CancelOptions) -> Result<(), CommandError> {
    cancel_within(env, options, Duration::from_secs(2))
}

fn cancel_within(env: &ProcessEnv, options: &CancelOptions, patience: Duration) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, before) = context.find_run(options.run.run.as_deref(), Ended::Excluded)?;
    let engine = context.engine(&run, &before)?;
    let state = engine.decide(|state| Ok(vec![verbs::cancel_run(state, &options.reason)?]))?;
    context.note_in_session(&run, &before.holder, &state);
    let mut message = format!("{} is cancelled; `omo run resume --run {}` goes on with it.", run.id(), run.id());
    // When the user is told that it is cancelled, nothing of it is at work.
    if workers::watch::is_parallel(&state) && !workers::watch::put_away_within(&engine, patience)? {
        message.push_str(" Its clients are being ended; `omo run show` says what is left of them.");
    }
    crate::output::print_block(&message)
}

/// Removes the records of runs that ended long ago.
pub(super) fn gc(env: &ProcessEnv, options: &GcOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let Some(runs) = &context.runs else { return crate::output::print_block("There is nothing to remove.") };
    let millis = i64::from(options.days).saturating_mul(24 * 3_600_000);
    let since = Timestamp::from_millis(env.now.as_millis().saturating_sub(millis));
    let removed = runs.gc(since)?;
    for id in &removed {
        let _ = omo_exec::changes::forget_snapshots(&context.state_home, id);
        let _ = omo_exec::restore::forget_snapshots(&context.state_home, id);
    }
    if removed.is_empty() {
        return crate::output::print_block(&format!("No run ended more than {} days ago.", options.days));
    }
    crate::output::print_block(&format!("removed: {}", removed.join(", ")))
}

/// Goes on from the checkpoint that another program left.
pub(super) fn import(env: &ProcessEnv, options: &ImportOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let path = std::env::current_dir()?.join(&options.file);
    let shown = sanitize(&options.file, 200);
    let bytes = match omo_engine::work::read_plan_bytes(&path) {
        Err(omo_engine::work::PlanFileError::Missing(_)) => {
            return Err(CommandError::not_found(
                format!("there is no file `{shown}`"),
                "name the checkpoint that was left",
            ));
        }
        read => read?,
    };
    let text = String::from_utf8_lossy(&bytes);
    let found = dev_workflow::checkpoint::ForeignCheckpoint::read(&text).map_err(|error| {
        CommandError::usage(
            format!("`{shown}` is no checkpoint: {error}"),
            "it is the JSON file that execute-plan left",
        )
    })?;
    let file = PlanFile::read(&context.root, &context.root, Path::new(&found.plan_file)).map_err(|error| {
        CommandError::not_found(
            format!("the plan that `{shown}` names: {error}"),
            "put the plan back, or correct `plan_file`",
        )
    })?;
    let plan = file.plan(BatchOptions::of(found.k.get(), found.batch_size.get()));
    if !plan.can_run() {
        return Err(open::invalid_plan_error(&plan, &file.bytes));
    }
    let events = imports::checkpoint(&plan, &text)
        .map_err(|error| CommandError::conflict(format!("`{shown}` {error}"), "remove it to begin afresh"))?;
    let work_tree = GitWorktree::find(&context.root).ok_or_else(|| open::no_repository_error(&context.root))?;
    drop(context.runs.as_ref().map(|runs| context.lock_opening(runs, None)).transpose()?);
    let checkpoint = ProjectFile::at(&context.root, dev_workflow::CHECKPOINT_PATH);
    let checkpoint = checkpoint.filter(|file| path.canonicalize().ok() == file.path().canonicalize().ok());
    if checkpoint.is_none() {
        open::require_writable_files(&context)?;
    }
    let plan = arranged(plan, ExecutionMode::Batches, &ModeOptions::default());
    let typed = ExecuteRequest::new(ExecuteCommand::ExecutePlan, PlanSource::File(plan.source.path.clone()));
    let asked = open::Asked::for_plan(&plan.source.path, typed.typed(&typed.source));
    let approved = open::approve_plan(&context, &plan, options.digest.as_deref(), &asked)?;
    let runs = RunStore::create(&context.root, Some(&context.state_home))?;
    let _door = context.lock_opening(&runs, None)?;
    let (actor, now) = (context.actor(), env::now());
    let root = context.root.display().to_string();
    let opened = EventKind::from(RunOpening {
        plan,
        commands_digest: approved,
        root,
        base: work_tree.head(),
        scope: None,
        mode: ExecutionMode::Batches,
    });
    let more = opening_events(opened.clone(), events, &actor, now);
    let (run, state) = runs.begin(&actor, now, opened, more)?;
    // What was taken in stands in the ledger now, and the file is omo's own from here on.
    if let Some(file) = checkpoint {
        file.remove()?;
    }
    let state = context.engine(&run, &state)?.write_projections(state.clone())?;
    context.note_in_session(&run, &state.holder, &state);
    crate::output::print_block(&format!(
        "omo: took {} in, as claims that omo has not checked.\n{}",
        shown,
        blocks::resumed_block(run.id(), &state)
    ))
}
