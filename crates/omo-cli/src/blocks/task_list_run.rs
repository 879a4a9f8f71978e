//! Instruction blocks for a session that works on a task list, with progress lines for its user.

use std::fmt::Write;

use omo_core::text::{first_lines, list_some, pluralize, sanitize};
use omo_engine::event::{EventKind, RunEvent};
use omo_engine::report::task_list;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::view::next_steps;
use omo_engine::work::read_checkout;
use omo_plan::model::{Plan, Task, TaskKind};
use omo_plan::task_list::{TaskFile, TaskFileStatus};

use crate::blocks::parts::{self, LONG_TIMEOUT, MAX_BYTES};

const AT_ONCE: usize = 8;
const MIN_USER_BYTES: usize = 200;
const NAMES: usize = 12;

pub(crate) fn user_line(text: &str) -> String {
    format!("DONE\n  Show the user this line, then end your turn.\n\n  {text}")
}

pub(crate) fn opened_block(run: &str, state: &RunState) -> String {
    let tasks = pluralize(state.task_counts().total, "task");
    format!(
        "omo: opened the run {run} of {}: {tasks}.\n",
        subject(state)
    )
}

fn subject(state: &RunState) -> String {
    if state.is_task_list() {
        return format!("the task list {}", state.task_list_id());
    }
    sanitize(&state.plan.source.path, 200)
}

fn frame_block(head: &str, shown: &str, tail: &str) -> String {
    let room = MAX_BYTES.saturating_sub(head.len() + tail.len());
    format!("{head}{}{tail}", first_lines(shown.trim_end(), room))
}

pub(crate) fn is_round_beginning(events: &[RunEvent]) -> bool {
    let last = events.iter().rev().find_map(|event| match event.kind {
        EventKind::TaskStarted { .. } => Some(false),
        EventKind::RunOpened { .. } | EventKind::RoundStarted { .. } | EventKind::RunResumed => {
            Some(true)
        }
        _ => None,
    });
    last.unwrap_or(true)
}

fn wave_announcement(tasks: &[&Task], state: &RunState, is_beginning: bool) -> String {
    let names: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    let round = format!("round {} of {}", state.round, state.plan.policy.max_rounds);
    let progress = parts::progress_words(state);
    match (
        tasks.iter().any(|task| task.is_verification()),
        is_beginning && state.round > 1,
    ) {
        (true, _) => format!("{progress}; the verification begins ({round})."),
        (false, true) => format!(
            "{progress}; {round} begins with {}.",
            list_some(names.into_iter(), NAMES)
        ),
        (false, false) => format!(
            "{progress}; now: {} ({round}).",
            list_some(names.into_iter(), NAMES)
        ),
    }
}

/// Block that has the session start an agent for each task, and the number of agents in it.
pub(crate) fn spawn_block(
    run: &str,
    tasks: &[&Task],
    state: &RunState,
    is_beginning: bool,
) -> (String, usize) {
    let agents = agent_lines(run, tasks, state);
    let count = agents.len();
    let calls = if count == 1 {
        "In ONE message call the Agent tool once".to_owned()
    } else {
        format!("In ONE message call the Agent tool {count} times")
    };
    let text = format!(
        "SPAWN agents\n  {}\n  {calls}, with run_in_background: false if it takes that:\n{}  and last the Bash tool:\n  \
         run: omo agent next --wait 540      {LONG_TIMEOUT}\nIf you have no Agent tool, run instead: omo agent next --inline",
        wave_announcement(tasks.get(..count).unwrap_or(tasks), state, is_beginning),
        agents.concat(),
    );
    (text, count)
}

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
        "     subagent_type: \"{}\"   {}description: \"task {id}\"\n     prompt: \"{prompt}\"\n",
        agent_type(task),
        model_argument(task, attempt, state),
    )
}

/// The `model` argument of the `Agent` tool with a trailing blank; empty for the session's own model.
pub(crate) fn model_argument(task: &Task, attempt: u32, state: &RunState) -> String {
    let model = omo_engine::worker_model::choose_model(&state.plan, task, attempt);
    model
        .map(|model| format!("model: \"{}\"   ", sanitize(model, 100)))
        .unwrap_or_default()
}

pub(crate) fn agent_type(task: &Task) -> &'static str {
    match task.kind {
        TaskKind::Verify => "omo:verifier",
        TaskKind::Impl | TaskKind::Tests | TaskKind::Doc => "omo:worker",
    }
}

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

pub(crate) fn end_block(state: &RunState) -> String {
    let shown = match &state.phase {
        RunPhase::Executing => task_list::progress_screen(state),
        RunPhase::Ended { .. } | RunPhase::Cancelled { .. } => {
            let behind = next_steps::end_lines(state, read_checkout(state)).join("\n");
            let room = task_list::SCREEN_BYTES.saturating_sub(behind.len() + 2);
            format!(
                "{}\n\n{behind}",
                first_lines(task_list::final_report_block(state).trim_end(), room)
            )
        }
    };
    end_lines(&shown)
}

pub(crate) fn end_lines(shown: &str) -> String {
    frame_block(
        "DONE\n  Show the user these lines, then end your turn.\n\n",
        shown,
        "",
    )
}

pub(crate) fn ended_without_a_run(id: &str, tasks: &[TaskFile], is_complete: bool) -> String {
    let resolved = tasks
        .iter()
        .filter(|task| task.status == TaskFileStatus::Resolved)
        .count();
    let mut text = String::new();
    let (word, result) = if is_complete {
        ("Complete", "✓ PASS")
    } else {
        ("Failed", "✗ FAIL")
    };
    let _ = write!(
        text,
        "## Execution {word}\n\n**Result:** {result}, as the session's files say; omo has run nothing of it.\n\
         {resolved} of {} tasks are resolved.\n\nSession ID: {id}",
        tasks.len()
    );
    if !is_complete {
        let _ = write!(
            text,
            "\n\nTo go on with what is left, type: /omo:ulw-exec --session {id} --again"
        );
    }
    text
}

/// Commands that end a task for the holder of its ticket. `next` is the option of a worker that goes on.
pub(crate) fn how_to_end(task: &Task, plan: &Plan, run: &str, ticket: &str, next: &str) -> String {
    let options = format!("--run {run} --ticket {ticket}");
    if task.is_verification() {
        let show = if plan.policy.unproved_continues {
            "Read what was done, and show it with commands; where you may run none, leave `--evidence` out below:"
        } else {
            "Show with commands of your own that the whole is done:"
        };
        return format!(
            "{show}\n  run: omo agent evidence run {options} -- COMMAND\n\
             Then judge it. Where all of it is done:\n  run: omo agent verdict PASS {options} --evidence <ids>      {LONG_TIMEOUT}\n\
             Where it is not, naming each task that is to be done again:\n  run: omo agent verdict FAIL {options} --reopen \"<task>: <why, one line>\""
        );
    }
    let note = "--note \"<what a later task should know, one line>\"";
    let end = if task.criteria.is_empty() {
        format!(
            "When the work is finished:\n  run: omo agent done {options}{next} {note}      {LONG_TIMEOUT}"
        )
    } else {
        format!(
            "When the work is finished, show it with commands, each of which prints an id:\n  run: omo agent evidence run {options} -- COMMAND\n\
             Then:\n  run: omo agent done {options}{next} --evidence <ids> {note}      {LONG_TIMEOUT}"
        )
    };
    format!(
        "{end}\nIf it cannot be done as it is written:\n  run: omo agent fail {options} --why \"<one line>\""
    )
}
