//! What proves each task of a plan.
//!
//! Most tasks of most formats name no command. One that has none is proved by what judges its group: the command of a
//! checkpoint, a later task that is a check itself, or the checks of the whole plan. What is left is unproved: it is done
//! and shown as that, and a reviewer judges it.

use std::collections::{HashMap, HashSet};

use omo_core::check::task_check::TaskCheck;
use serde::{Deserialize, Serialize};

use crate::command_concern::find_check_concern;
use crate::fields::shell_commands::names_program;
use crate::model::{FileAction, Plan, PlannedState, RefusedCheck, Task, TaskKind};
use crate::pattern::Pattern;
use crate::task_graph::order_by_needs;

/// What proves a task that has no check of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "task")]
pub enum ProofSource {
    /// The task of this id, once it has passed: it comes later, and is a check itself.
    Task(String),
    /// The checks of the whole plan.
    FinalChecks,
}

/// What shows that a task is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskProof<'a> {
    /// So many checks of its own.
    OwnChecks(usize),
    /// The task of this id.
    Task(&'a str),
    /// The checks of the whole plan.
    FinalChecks,
    /// No command.
    None,
}

impl<'a> From<&'a Task> for TaskProof<'a> {
    fn from(task: &'a Task) -> Self {
        match (task.proving_checks().count(), &task.proved_by) {
            (0, Some(ProofSource::Task(id))) => Self::Task(id),
            (0, Some(ProofSource::FinalChecks)) => Self::FinalChecks,
            (0, None) => Self::None,
            (count, _) => Self::OwnChecks(count),
        }
    }
}

/// The title of a task or a group that judges what was done before.
static JUDGES: Pattern = Pattern::new(
    r"^[^\p{L}]*(?:(?i-u:final|full|manual|end-to-end)\s+|(?i-u:phase)\s+\S+[:.]?\s+)*(?i-u:checkpoint|run|re-?run|verify|verification|validate|validation|ensure|confirm|check|test|tests|testing|execute|quality|smoke|sanity|qa)\b",
);

/// A command behind a word that says to run it or to see something by it.
static NAMED_COMMAND: Pattern =
    Pattern::new(r"\b(?i-u:run|verify|validate|check|test|execute|ensure|confirm)\b[^`]*`([^`]+)`");
/// So many rows of a task, and so many bytes of one, are looked through for such commands.
const MAX_ROWS: usize = 200;
const MAX_ROW_BYTES: usize = 4_096;

/// The plan as it is run: with these checks of the whole beside its own, without the commands that prove nothing or never
/// end, and with what proves each task. A plan to which that was done before is the same afterwards.
#[must_use]
pub fn find_proofs(mut plan: Plan, added: &[TaskCheck]) -> Plan {
    for check in added {
        if !plan.final_checks.contains(check) {
            plan.final_checks.push(check.clone());
        }
        if !plan.policy.added_checks.contains(check) {
            plan.policy.added_checks.push(check.clone());
        }
    }
    if !plan.policy.unproved_continues {
        return plan;
    }
    add_checkpoints(&mut plan);
    refuse_checks(&mut plan);
    let sources = find_sources(&plan);
    for (place, source) in sources {
        if let Some(task) = plan.tasks.get_mut(place) {
            task.proved_by = Some(source);
        }
    }
    require_proved_tasks(&mut plan);
    plan
}

/// The tasks that nothing proves, in their order; those that are done already are none of them.
pub fn unproved_tasks(plan: &Plan) -> impl Iterator<Item = &Task> {
    let is_open = |task: &&Task| task.state == PlannedState::Open && task.kind != TaskKind::Verify;
    plan.tasks.iter().filter(is_open).filter(|task| TaskProof::from(*task) == TaskProof::None)
}

/// Has the task that a checkpoint stands behind run its check.
fn add_checkpoints(plan: &mut Plan) {
    for checkpoint in &plan.checkpoints {
        let task = plan.tasks.iter_mut().find(|task| task.id == checkpoint.task);
        if let Some(task) = task.filter(|task| !task.checks.contains(&checkpoint.check)) {
            task.checks.push(checkpoint.check.clone());
        }
    }
}

/// Takes the commands out that cannot judge anything.
fn refuse_checks(plan: &mut Plan) {
    let refused = &mut plan.refused_checks;
    let mut is_run = |task: Option<&str>, check: &TaskCheck| {
        let Some(concern) = find_check_concern(check) else { return true };
        let task = task.map(str::to_owned);
        let found = RefusedCheck { task, command: check.command.clone(), concern };
        if !refused.contains(&found) {
            refused.push(found);
        }
        false
    };
    for task in &mut plan.tasks {
        let id = task.id.clone();
        // What the reader has left out already is named all the same: its author may count on it.
        for command in named_commands(&task.body).filter(|_| task.checks.is_empty()) {
            is_run(Some(&id), &TaskCheck::new(command));
        }
        task.checks.retain(|check| is_run(Some(&id), check));
        task.red_check = task.red_check.take().filter(|check| is_run(Some(&id), check));
    }
    plan.final_checks.retain(|check| is_run(None, check));
}

/// The commands that the text of a task says to run or to verify with, one a line.
fn named_commands(body: &str) -> impl Iterator<Item = &str> {
    let rows = body.lines().take(MAX_ROWS).filter(|row| row.len() <= MAX_ROW_BYTES);
    let named = rows.filter_map(|row| NAMED_COMMAND.read::<1>(row).map(|([command], _)| command.trim()));
    named.filter(|command| names_program(command))
}

/// What proves each of the tasks that have no check, by their places.
fn find_sources(plan: &Plan) -> Vec<(usize, ProofSource)> {
    let behind: HashSet<&str> = plan.checkpoints.iter().map(|known| known.task.as_str()).collect();
    // From the last on: the nearest one behind a task that judges its group, and the nearest that judges everything.
    let mut of_section: HashMap<Option<&str>, &str> = HashMap::new();
    let mut of_all: Option<&str> = None;
    let mut found = Vec::new();
    for (place, task) in plan.tasks.iter().enumerate().rev() {
        let section = task.section.as_deref();
        if task.state != PlannedState::Open {
            continue;
        }
        if task.proving_checks().next().is_some() {
            let is_checkpoint = behind.contains(task.id.as_str());
            if is_checkpoint || judges_others(task) {
                of_section.insert(section, &task.id);
                if !is_checkpoint && section.is_none_or(|title| JUDGES.is_match(title) || title == plan.title) {
                    of_all = Some(&task.id);
                }
            }
            continue;
        }
        if task.kind == TaskKind::Verify {
            continue;
        }
        let judge = of_section.get(&section).copied().or(of_all);
        let whole = || (!plan.final_checks.is_empty()).then_some(ProofSource::FinalChecks);
        let source = judge.map(|id| ProofSource::Task(id.to_owned())).or_else(whole);
        found.extend(source.map(|source| (place, source)));
    }
    found
}

/// Whether a task is a check of what was done before it: its title says so, and it makes nothing itself.
fn judges_others(task: &Task) -> bool {
    let makes = |action| matches!(action, FileAction::Create | FileAction::Test);
    JUDGES.is_match(&task.title) && !task.files.iter().any(|file| !file.is_optional && makes(file.action))
}

/// Has a task that proves others come after them. Where the plan's own order says otherwise, nothing of it holds.
fn require_proved_tasks(plan: &mut Plan) {
    let places: HashMap<&str, usize> =
        plan.tasks.iter().enumerate().map(|(place, task)| (task.id.as_str(), place)).collect();
    let need = |id: &String| places.get(id.as_str()).copied();
    let mut needs: Vec<Vec<usize>> =
        plan.tasks.iter().map(|task| task.deps.iter().filter_map(need).collect()).collect();
    let mut added: Vec<(usize, usize)> = Vec::new();
    for (place, task) in plan.tasks.iter().enumerate() {
        let Some(ProofSource::Task(id)) = &task.proved_by else { continue };
        added.extend(need(id).map(|judge| (judge, place)));
    }
    for (judge, place) in &added {
        needs.get_mut(*judge).into_iter().for_each(|own| own.push(*place));
    }
    if order_by_needs(&needs).is_err() {
        plan.tasks
            .iter_mut()
            .filter(|task| matches!(task.proved_by, Some(ProofSource::Task(_))))
            .for_each(|task| task.proved_by = None);
        return;
    }
    let known: Vec<HashSet<String>> = plan.tasks.iter().map(|task| task.deps.iter().cloned().collect()).collect();
    let ids: Vec<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
    for (judge, place) in added {
        let Some(id) = ids.get(place).filter(|id| known.get(judge).is_some_and(|deps| !deps.contains(*id))) else {
            continue;
        };
        plan.tasks.get_mut(judge).into_iter().for_each(|task| task.deps.push(id.clone()));
    }
}

#[cfg(test)]
mod tests;
