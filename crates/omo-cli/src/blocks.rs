//! Instruction blocks for a session that works on a run, each at most `MAX_BYTES`: a word in
//! capitals such as `SPAWN agent` or `WAIT`, lines, and the next command. Text of the plan is data:
//! neutralised, cut and indented. No command has a pipe, so that a permission for `omo` covers it.

pub(crate) mod parallel_run;
pub(crate) mod parts;
pub(crate) mod task_list_run;
pub(crate) mod workflow_batch;

use std::fmt::Write;
use std::path::Path;

use omo_core::text::{capitalize, format_age, name_some, pluralize, sanitize};
use omo_core::timestamp::Timestamp;
use omo_engine::event::{QuestionKind, RunResult};
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::projection::is_in_project;
use omo_engine::report::dev_workflow::{self, EndedTask, REPORT_PATH};
use omo_engine::report::heading::run_heading;
use omo_engine::report::plan_overview::{refused_lines, unable_lines};
use omo_engine::state::{ANSWER_CONTINUE, QuestionState, RunPhase, RunState, TaskStanding};
use omo_engine::view::next_steps::end_lines;
use omo_engine::view::ways_out::way_out_lines;
use omo_engine::view::words::how_to_go_on;
use omo_engine::work::read_checkout;
use omo_plan::dialects::PlanKind;
use omo_plan::model::Task;
use omo_view::run_view::RunEnd;

use crate::blocks::parts::{LONG_TIMEOUT, fit_block, plan_notes, plan_path, progress_words};
use crate::blocks::workflow_batch::WorkflowBatch;

const MAX_ROWS: usize = 12;

pub(crate) fn opened_block(id: &str, state: &RunState) -> String {
    let plan = &state.plan;
    let stops: Vec<String> = plan
        .groups
        .iter()
        .enumerate()
        // Nothing waits behind the last batch.
        .filter(|(place, group)| group.hard_stop && place + 1 < plan.groups.len())
        .map(|(place, _)| (place + 1).to_string())
        .collect();
    let stops = if stops.is_empty() {
        "no stop for you".to_owned()
    } else {
        format!("a stop for you after batch {}", stops.join(", "))
    };
    let mut text = format!(
        "omo: opened the run {id} of {}: {} in {}, {stops}.\n",
        plan_path(state),
        pluralize(state.task_counts().total, plan.dialect.unit_word()),
        pluralize(plan.groups.len(), "batch"),
    );
    text.push_str(&plan_notes(plan, &[]));
    for line in refused_lines(plan) {
        let _ = writeln!(text, "{line}");
    }
    fit_block(text)
}

/// `true` where whole batches go to the `Workflow` tool: it starts one kind of agent, which shows no evidence.
pub(crate) fn goes_by_workflow(state: &RunState) -> bool {
    match state.mode {
        ExecutionMode::Batches => state.plan.verification_task().is_none() && !state.is_task_list(),
        ExecutionMode::Waves | ExecutionMode::Parallel | ExecutionMode::StepByStep => false,
    }
}

pub(crate) fn resumed_block(id: &str, state: &RunState, intro: &str) -> String {
    fit_block(format!(
        "{intro}omo: going on with the run {id} of {}: {}.\n",
        plan_path(state),
        progress_words(state)
    ))
}

/// Block for an unchanged plan whose run is complete; `anew` is the line that runs the plan again.
pub(crate) fn complete_already(id: &str, state: &RunState, anew: &str) -> String {
    let head = format!(
        "omo: the run {id} of {} is complete, and the plan is unchanged.",
        plan_path(state)
    );
    let typed = sanitize(anew, 300);
    // Below the block's own lines, which are what the person is shown.
    fit_block(format!(
        "{head}\n\n{}\n  To start over, type: {typed}",
        end_block(state)
    ))
}

pub(crate) fn spawn_workflow(out: &WorkflowBatch, state: &RunState) -> String {
    let arguments = serde_json::to_string(&out.arguments).unwrap_or_default();
    format!(
        "SPAWN workflow\n  {}; now: {}.\n  In ONE message call the Workflow tool once, with exactly this:\n     name: \"omo:execute-batch\"\n     \
         args: {arguments}\n  and last the Bash tool:\n  run: omo agent next --workflow --wait 540      {LONG_TIMEOUT}\n\
         If you have no Workflow tool, run instead: omo agent next",
        progress_words(state),
        out.task_ids().join(", "),
    )
}

pub(crate) fn spawn_agent(run: &str, task: &Task, state: &RunState) -> String {
    let (id, word) = (&task.id, state.plan.dialect.unit_word());
    let (agent, prompt) = (
        task_list_run::agent_type(task),
        task_list_run::prompt(run, task, state),
    );
    fit_block(format!(
        "SPAWN agent\n  {}; next is {word} {id}, \"{}\".\n  In ONE message call the Agent tool once:\n     subagent_type: \"{agent}\"   \
         {}run_in_background: false\n     description: \"{word} {id}\"\n     prompt: \"{prompt}\"\n  and last the Bash tool:\n  run: omo agent next --wait 540      {LONG_TIMEOUT}\n\
         If you have no Agent tool, run instead: omo agent next --inline",
        progress_words(state),
        title(task),
        task_list_run::model_argument(task, 1, state),
    ))
}

pub(crate) fn work_inline(run: &str, task: &Task, state: &RunState) -> String {
    let (id, word) = (&task.id, capitalize(state.plan.dialect.unit_word()));
    fit_block(format!(
        "DO\n  {word} {id}, \"{}\", is yours to do in this session.\n  run: omo agent start {id} --run {run}      {LONG_TIMEOUT}\n  \
         Then do what it prints, and end with the `omo agent done` line that stands there.",
        title(task)
    ))
}

pub(crate) fn wait_for_agents(ids: &[String]) -> String {
    format!(
        "WAIT\n  {} went to agents a moment ago, which have not begun yet.\n  run: omo agent next --wait 540      {LONG_TIMEOUT}",
        name_some("Task", ids, usize::MAX)
    )
}

pub(crate) fn wait_block(ids: &[&str], state: &RunState, now: Timestamp, workflow: bool) -> String {
    let word = capitalize(state.plan.dialect.unit_word());
    let mut lines = Vec::new();
    for id in ids {
        let task = state.tasks.get(*id);
        let since = task
            .and_then(|task| task.running.as_ref())
            .map(|running| running.since);
        lines.push(format!(
            "  {word} {id} is being worked on, begun {} ago.",
            format_age(since, now)
        ));
    }
    let lost = match ids {
        [] => String::new(),
        [id] if state.mode == ExecutionMode::StepByStep => {
            format!("\nIf its worker is gone, or its ticket is lost: omo agent fail --lost {id}")
        }
        [id] => format!("\nIf that agent has ended without a word: omo agent fail --lost {id}"),
        _ => "\nFor each of them whose agent has ended without a word: omo agent fail --lost ID"
            .to_owned(),
    };
    let flag = if workflow { " --workflow" } else { "" };
    fit_block(format!(
        "WAIT\n{}\n  run: omo agent next{flag} --wait 540      {LONG_TIMEOUT}{lost}",
        lines.join("\n")
    ))
}

pub(crate) fn wait_for_workers() -> String {
    format!(
        "WAIT\n  The tasks were handed out a moment ago, and their first agent has not begun yet.\n  run: omo agent next --workflow --wait 540      {LONG_TIMEOUT}"
    )
}

pub(crate) fn next_at_terminal(state: &RunState) -> String {
    if state.parallel.is_some() {
        "`omo run watch` starts the workers and shows them".to_owned()
    } else {
        format!(
            "start `claude` in this folder and type {}",
            go_on_line(state)
        )
    }
}

pub(crate) fn user_part(block: &str) -> &str {
    block.split_once("\n\n").map_or(block, |(_, shown)| shown)
}

/// A question for a person. In `claude -p` none can answer within the turn.
pub(crate) fn question_block(
    question: &QuestionState,
    state: &RunState,
    can_ask_user: bool,
) -> String {
    match &question.question.kind {
        QuestionKind::Decisions { .. } if can_ask_user => ask_within_the_turn(question),
        QuestionKind::HardStop { group } => hard_stop(question, *group, state),
        _ => stop(question, state),
    }
}

fn ask_within_the_turn(question: &QuestionState) -> String {
    let question = &question.question;
    let lines: Vec<String> = question
        .text
        .lines()
        .map(|line| format!("    {}", sanitize(line, 160)))
        .collect();
    let choices = question.option_ids();
    fit_block(format!(
        "ASK\n  Put this to the user with AskUserQuestion, in these words or shorter, with the header `{id}` and each \
         choice first in its label; do not choose for them.\n{}\n  \
         Then, with what they chose:\n  run: omo answer {id} {}\n  (choices: {})\n  omo takes only what the dialog \
         recorded. If it fails: show them the question and end your turn. Their next prompt lets the answer pass.",
        lines.join("\n"),
        choices.first().unwrap_or(&"continue"),
        choices.join(", "),
        id = question.id,
    ))
}

fn stop_heading(question: &QuestionState) -> String {
    format!(
        "STOP\n  Show the user the second paragraph, then end your turn. Only their next prompt lets it pass; until then an \
         answer is refused.\n  Where that prompt is not a command of omo, but says so: `omo answer {} {}`\n\n",
        question.question.id,
        question.question.option_ids().join("|")
    )
}

fn hard_stop(question: &QuestionState, group: usize, state: &RunState) -> String {
    let mut text = stop_heading(question);
    let _ = writeln!(text, "  Paused at hard-stop: waiting for \"continue\"");
    let _ = writeln!(
        text,
        "  Batch {} of {} of {} is over: {}.",
        group + 1,
        state.plan.groups.len(),
        plan_path(state),
        progress_words(state)
    );
    let batch = state
        .plan
        .groups
        .get(group)
        .map(|group| group.tasks.as_slice())
        .unwrap_or_default();
    let ended: Vec<EndedTask> = dev_workflow::ended_tasks(state)
        .into_iter()
        .filter(|task| batch.contains(&task.id))
        .collect();
    rows(&mut text, &ended);
    let next_tasks = tasks_until_next_stop(group, state);
    if !next_tasks.is_empty() {
        let _ = writeln!(
            text,
            "  Next: {}.",
            name_some("task", &next_tasks, MAX_ROWS)
        );
    }
    how_to_continue(&mut text, question, state);
    text.push_str(&how_to_retry(state));
    fit_block(text)
}

fn tasks_until_next_stop(group: usize, state: &RunState) -> Vec<&str> {
    let behind = state.plan.groups.iter().skip(group + 1);
    let mut tasks = Vec::new();
    for group in behind {
        let left = group.tasks.iter().filter(|id| {
            state
                .standing(id)
                .is_some_and(|standing| !standing.is_ended())
        });
        tasks.extend(left.map(String::as_str));
        if group.hard_stop && !tasks.is_empty() {
            break;
        }
    }
    tasks
}

fn stop(question: &QuestionState, state: &RunState) -> String {
    let mut text = stop_heading(question);
    for line in question.question.text.lines() {
        let _ = writeln!(text, "  {}", sanitize(line, 300));
    }
    for option in &question.question.options {
        let _ = writeln!(text, "    {}: {}", option.id, sanitize(&option.text, 200));
    }
    for line in way_out_lines(question, state)
        .into_iter()
        .chain(unable_lines_at_start(state))
    {
        let _ = writeln!(text, "  {line}");
    }
    how_to_continue(&mut text, question, state);
    fit_block(text)
}

/// Tasks that cannot begin or are not checked; empty once one was begun.
fn unable_lines_at_start(state: &RunState) -> Vec<String> {
    let is_begun = state.tasks.values().any(|task| task.attempts > 0);
    if is_begun {
        Vec::new()
    } else {
        unable_lines(&state.plan)
    }
}

fn how_to_continue(text: &mut String, question: &QuestionState, state: &RunState) {
    let choices = question.question.option_ids();
    let go_on = go_on_line(state);
    if question.question.kind.is_passed_by_going_on() {
        let _ = write!(text, "  To go on, type: {go_on}");
        let others: Vec<&str> = choices
            .iter()
            .copied()
            .filter(|choice| *choice != ANSWER_CONTINUE)
            .collect();
        if !others.is_empty() {
            let _ = write!(text, "      (or: {})", others.join(", "));
        }
    } else {
        let _ = write!(text, "{}", parallel_run::how_to_answer(&choices, &go_on));
    }
    if let QuestionKind::Decisions { .. } = question.question.kind {
        let _ = write!(
            text,
            "\n  In a terminal: omo answer {} {}",
            question.question.id,
            choices.join("|")
        );
    }
}

pub(crate) fn go_on_line(state: &RunState) -> String {
    if state.is_task_list() {
        how_to_go_on(state)
    } else {
        "/omo:execute".to_owned()
    }
}

pub(crate) fn end_block(state: &RunState) -> String {
    let heading = run_heading(state);
    // Other tools parse these words, all but the heading.
    let end_words = match (parallel_run::result_block(state), &state.phase) {
        (Some(result), _) if heading.kind == RunEnd::Unproved => {
            format!("{}\n  Result: {result}", heading.text)
        }
        (Some(result), _) => format!("Result: {result}"),
        (
            None,
            RunPhase::Ended {
                result: RunResult::Complete,
            },
        ) if heading.text == "Complete" => "Execution complete: complete".to_owned(),
        (None, RunPhase::Ended { result }) => {
            format!("{}\n  Execution complete: {}", heading.text, result.word())
        }
        (None, RunPhase::Executing | RunPhase::Cancelled { .. }) => heading.text,
    };
    let mut text =
        format!("DONE\n  Show the user these lines, then end your turn.\n\n  {end_words}\n");
    let _ = writeln!(text, "  {}: {}.", plan_path(state), progress_words(state));
    let failed: Vec<EndedTask> = dev_workflow::ended_tasks(state)
        .into_iter()
        .filter(|task| task.status != dev_workflow::EndedStatus::Done)
        .collect();
    rows(&mut text, &failed);
    for line in end_lines(state, read_checkout(state)) {
        let _ = writeln!(text, "  {}", sanitize(&line, 400));
    }
    match state.mode {
        ExecutionMode::Parallel | ExecutionMode::StepByStep => {
            text.push_str(&parallel_run::end_line(state));
        }
        ExecutionMode::Batches | ExecutionMode::Waves
            if state.plan.dialect.kind() == PlanKind::Tasks
                && is_in_project(Path::new(&state.root), state.plan.dialect, REPORT_PATH) =>
        {
            let _ = write!(text, "  Report: {REPORT_PATH}");
        }
        ExecutionMode::Batches | ExecutionMode::Waves => text.push_str("  Report: omo report"),
    }
    text.push_str(&how_to_retry(state));
    fit_block(text)
}

fn how_to_retry(state: &RunState) -> String {
    let failed = state.standings().into_iter().find(|(task, standing)| {
        matches!(standing, TaskStanding::Is(status) if status.is_ended())
            && !state.unblocks_dependents(&task.id)
    });
    let Some((task, _)) = failed else {
        return String::new();
    };
    format!(
        "\n  To have a failed {} done again once its cause is fixed: omo run retry {}",
        state.plan.dialect.unit_word(),
        task.id
    )
}

fn rows(text: &mut String, tasks: &[EndedTask]) {
    for task in tasks.iter().take(MAX_ROWS) {
        let row = format!(
            "{} {}  {} — {}",
            task.status.mark(),
            task.id,
            sanitize(&task.title, 60),
            sanitize(&task.evidence, 120)
        );
        let _ = writeln!(text, "    {row}");
    }
    if tasks.len() > MAX_ROWS {
        let _ = writeln!(
            text,
            "    … and {} more: omo report",
            tasks.len() - MAX_ROWS
        );
    }
}

fn title(task: &Task) -> String {
    sanitize(&task.title, 80).replace('"', "'")
}

#[cfg(test)]
mod tests;
