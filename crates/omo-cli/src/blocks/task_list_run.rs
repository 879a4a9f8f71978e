//! What the verbs print for a session that works on the run of a task list: blocks as those of a plan, with
//! the lines in them that the session has to show to its user.

use std::fmt::Write;

use omo_core::text::{first_lines, sanitize};
use omo_engine::event::{EventKind, RunEvent};
use omo_engine::report::task_list;
use omo_engine::state::{RunPhase, RunState};
use omo_plan::model::{Task, TaskKind};
use omo_plan::task_list::{TaskFile, TaskFileStatus};

use crate::blocks::parts::{LONG_TIMEOUT, MAX_BYTES};
use crate::run_report::next_steps;

/// So many agents are started in one message at most.
const AT_ONCE: usize = 8;
/// What is left for the user's own lines, at least, where agents are started.
const MIN_USER_BYTES: usize = 200;
/// How the user's part of a block is announced.
const SHOW_HEADING: &str = "  1. Show the user these lines:";

/// Only one line for the user.
pub(crate) fn user_line(text: &str) -> String {
    format!("DONE\n  Show the user this line, then end your turn.\n\n  {text}")
}

/// A run was opened.
pub(crate) fn opened_block(run: &str, state: &RunState) -> String {
    let head = format!("omo: opened the run {run} of {}.\n\nDO\n{SHOW_HEADING}\n\n", of(state));
    let shown = if state.is_task_list() { task_list::start_screen(state) } else { task_list::progress_screen(state) };
    frame_block(&head, &shown, "\n\n  2. Then\n  run: omo agent next")
}

/// A run goes on.
pub(crate) fn resumed_block(run: &str, state: &RunState) -> String {
    let head = format!("omo: going on with the run {run} of {}.\n\nDO\n{SHOW_HEADING}\n\n", of(state));
    frame_block(&head, &task_list::progress_screen(state), "\n\n  2. Then\n  run: omo agent next")
}

/// What a run is of.
fn of(state: &RunState) -> String {
    if state.is_task_list() {
        return format!("the task list {}", state.task_list_id());
    }
    sanitize(&state.plan.source.path, 200)
}

/// What is between two parts, as much of it as there is room for.
fn frame_block(head: &str, shown: &str, tail: &str) -> String {
    let room = MAX_BYTES.saturating_sub(head.len() + tail.len());
    format!("{head}{}{tail}", first_lines(shown.trim_end(), room))
}

/// Whether nothing was begun since the tasks are gone over this time.
pub(crate) fn is_round_beginning(events: &[RunEvent]) -> bool {
    let last = events.iter().rev().find_map(|event| match event.kind {
        EventKind::TaskStarted { .. } => Some(false),
        EventKind::RunOpened { .. } | EventKind::RoundStarted { .. } | EventKind::RunResumed => Some(true),
        _ => None,
    });
    last.unwrap_or(true)
}

/// What the user is shown before a wave.
fn wave_announcement(tasks: &[&Task], state: &RunState, is_beginning: bool) -> String {
    if tasks.iter().any(|task| task.kind == TaskKind::Verify) {
        return "## Running Verification...".to_owned();
    }
    match (is_beginning, state.round) {
        (true, 1) => task_list::round_line(state),
        (true, _) => format!("{}\n{}", task_list::retry_lines(state), task_list::round_line(state)),
        (false, _) => task_list::progress_screen(state),
    }
}

/// Tasks for subagents, all of them to be started at the same time; with how many of them there was room for.
pub(crate) fn spawn_block(run: &str, tasks: &[&Task], state: &RunState, is_beginning: bool) -> (String, usize) {
    let agents = agent_lines(run, tasks, state);
    let count = agents.len();
    let (calls, they) = if count == 1 {
        ("Call the Agent tool once".to_owned(), "it has answered, or was")
    } else {
        (format!("In ONE message, call the Agent tool {count} times"), "all have answered, or were")
    };
    let agents = agents.concat();
    let tail = format!(
        "\n\n  2. {calls}, with run_in_background: false if it takes that:\n{agents}  3. In the same turn, when {they} \
         launched in the background:\n  run: omo agent next      {LONG_TIMEOUT}\nIf you have no Agent tool, run instead: omo agent next --inline"
    );
    (
        frame_block(
            &format!("SPAWN agents\n{SHOW_HEADING}\n\n"),
            &wave_announcement(tasks, state, is_beginning),
            &tail,
        ),
        count,
    )
}

/// The lines for each agent: no more of them than a block has room for, and one at least.
fn agent_lines(run: &str, tasks: &[&Task], state: &RunState) -> Vec<String> {
    let room = MAX_BYTES - MIN_USER_BYTES - 400;
    let mut agents: Vec<String> = Vec::new();
    let mut taken = 0;
    for task in tasks.iter().take(AT_ONCE) {
        let agent = agent_line(run, task, state);
        taken += agent.len();
        if taken > room && !agents.is_empty() {
            break;
        }
        agents.push(agent);
    }
    agents
}

fn agent_line(run: &str, task: &Task, state: &RunState) -> String {
    let id = &task.id;
    let attempt = state.tasks.get(id).map_or(0, |known| known.attempts) + 1;
    let prompt = prompt(run, task, state);
    format!(
        "     subagent_type: \"{}\"   model: \"{}\"   description: \"task {id}\"\n     prompt: \"{prompt}\"\n",
        agent_type(task, state),
        omo_engine::worker_model::choose_model(task, attempt),
    )
}

/// Which agent works on a task: one that has something to judge in it shows that with evidence.
pub(crate) fn agent_type(task: &Task, state: &RunState) -> &'static str {
    match task.kind {
        TaskKind::Verify => "omo:verifier",
        TaskKind::Impl | TaskKind::Tests | TaskKind::Doc if state.is_task_list() => "omo:worker",
        TaskKind::Impl | TaskKind::Tests | TaskKind::Doc => "omo:executor",
    }
}

/// What an agent is told: the rest it gets from omo.
pub(crate) fn prompt(run: &str, task: &Task, state: &RunState) -> String {
    let (id, word) = (&task.id, state.plan.dialect.unit_word());
    let begin = format!("Begin with: omo agent start {id} --run {run}");
    if state.is_task_list() {
        return format!("SESSION_ID: {} TASK_ID: {id} {begin}", state.task_list_id());
    }
    match task.kind {
        TaskKind::Verify => format!("TASK_ID: {id} Verify the plan run {run}. {begin}"),
        TaskKind::Impl | TaskKind::Tests | TaskKind::Doc => {
            format!("Execute {word} {id} of the plan run {run}. {begin}")
        }
    }
}

/// The run came to its end.
pub(crate) fn end_block(state: &RunState) -> String {
    let shown = match &state.phase {
        RunPhase::Executing => task_list::progress_screen(state),
        RunPhase::Ended { .. } | RunPhase::Cancelled { .. } => {
            let behind = next_steps::end_lines(state).join("\n");
            let room = task_list::SCREEN_BYTES.saturating_sub(behind.len() + 2);
            format!("{}\n\n{behind}", first_lines(task_list::final_report_block(state).trim_end(), room))
        }
    };
    end_lines(&shown)
}

/// Lines for the user, with which the work ends.
pub(crate) fn end_lines(shown: &str) -> String {
    frame_block("DONE\n  Show the user these lines, then end your turn.\n\n", shown, "")
}

/// A session is over, and no run of it is known.
pub(crate) fn ended_without_a_run(id: &str, tasks: &[TaskFile], is_complete: bool) -> String {
    let resolved = tasks.iter().filter(|task| task.status == TaskFileStatus::Resolved).count();
    let mut text = String::new();
    let (word, result) = if is_complete { ("Complete", "✓ PASS") } else { ("Failed", "✗ FAIL") };
    let _ = write!(
        text,
        "## Execution {word}\n\n**Result:** {result}, as the session's files say; omo has run nothing of it.\n\
         {resolved} of {} tasks are resolved.\n\nSession ID: {id}",
        tasks.len()
    );
    if !is_complete {
        let _ = write!(text, "\n\nTo go on with what is left, type: /omo:ulw-exec --session {id} --again");
    }
    text
}

/// The commands with which the worker that has the ticket ends a task of such a run.
pub(crate) fn how_to_end(task: &Task, run: &str, ticket: &str) -> String {
    let with = format!("--run {run} --ticket {ticket}");
    if task.kind == TaskKind::Verify {
        return format!(
            "Show with commands of your own that the whole is done:\n  run: omo agent evidence run {with} -- COMMAND\n\
             Then judge it. Where all of it is done:\n  run: omo agent verdict PASS {with} --evidence <ids>      {LONG_TIMEOUT}\n\
             Where it is not, naming each task that is to be done again:\n  run: omo agent verdict FAIL {with} --reopen \"<task>: <why, one line>\""
        );
    }
    let note = "--note \"<what a later task should know, one line>\"";
    let end = if task.criteria.is_empty() {
        format!("When the work is finished:\n  run: omo agent done {with} {note}      {LONG_TIMEOUT}")
    } else {
        format!(
            "When the work is finished, show it with commands, each of which prints an id:\n  run: omo agent evidence run {with} -- COMMAND\n\
             Then:\n  run: omo agent done {with} --evidence <ids> {note}      {LONG_TIMEOUT}"
        )
    };
    format!("{end}\nIf it cannot be done as it is written:\n  run: omo agent fail {with} --why \"<one line>\"")
}
