//! Proof of each task of a plan.
//!
//! Most tasks of most formats name no command. Such a task is proved by a check of its group: the command of a
//! checkpoint, a later task that is a check itself, or the checks of the whole plan. Any other task is unproved: it is
//! done and shown as that, and a reviewer judges it.
//!
//! A task that names a check of its own that is not run is not proved by that of its group: its author meant something
//! else to show that it is done. A check that the user adds proves it, since the screen shows both.

use std::collections::{HashMap, HashSet};

use omo_core::check::task_check::TaskCheck;
use serde::{Deserialize, Serialize};

use crate::command_concern::{
    CommandConcern, find_check_concern, has_expected_output, program_part,
};
use crate::dialects::checklist::FILE_TITLES;
use crate::fields::prose::JUDGES;
use crate::fields::unused_commands::unused_commands;
use crate::model::{FileAction, Plan, PlannedState, RefusedCheck, Task};
use crate::task_graph::order_by_needs;

/// Proof of a task without checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "task")]
pub enum ProofSource {
    /// The task of this id, once it has passed: a later one that is a check itself.
    Task(String),
    /// Checks of the whole plan.
    FinalChecks,
}

/// Proof of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskProof<'a> {
    /// Number of the task's own checks.
    OwnChecks(usize),
    /// Task of this id.
    Task(&'a str),
    /// Checks of the whole plan.
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

const MAX_REFUSED: usize = 10_000;

/// The plan of a run: with `added` checks of the whole, without commands that prove nothing or never end, and with the
/// proof of each task. Idempotent.
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
        refuse_checks(&mut plan);
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

/// Open tasks without a proof, in order.
pub fn unproved_tasks(plan: &Plan) -> impl Iterator<Item = &Task> {
    let is_open = |task: &&Task| task.state == PlannedState::Open && !task.is_verification();
    plan.tasks
        .iter()
        .filter(is_open)
        .filter(|task| TaskProof::from(*task) == TaskProof::None)
}

fn add_checkpoints(plan: &mut Plan) {
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, task) in plan.tasks.iter().enumerate() {
        places.entry(&task.id).or_insert(place);
    }
    let behind: Vec<Option<usize>> = plan
        .checkpoints
        .iter()
        .map(|checkpoint| places.get(checkpoint.task.as_str()).copied())
        .collect();
    for (checkpoint, place) in plan.checkpoints.iter().zip(behind) {
        let task = place.and_then(|place| plan.tasks.get_mut(place));
        if let Some(task) = task.filter(|task| !task.checks.contains(&checkpoint.check)) {
            task.checks.push(checkpoint.check.clone());
        }
    }
}

/// Removes commands that cannot judge anything, and names those that the reader has left out. Where a format marks
/// checks, only harmful ones are removed.
fn refuse_checks(plan: &mut Plan) {
    let names_checks = !plan.policy.unproved_continues;
    let refused = &mut plan.refused_checks;
    let mut known: HashSet<(Option<String>, String)> = refused
        .iter()
        .map(|known| (known.task.clone(), known.command.clone()))
        .collect();
    let mut refuse = |task: Option<&str>, command: &str, concern: CommandConcern| {
        let task = task.map(str::to_owned);
        if refused.len() < MAX_REFUSED && known.insert((task.clone(), command.to_owned())) {
            refused.push(RefusedCheck {
                task,
                command: command.to_owned(),
                concern,
            });
        }
    };
    // A cache: most plans run the same few commands again and again.
    let mut concerns: HashMap<(String, bool), Option<CommandConcern>> = HashMap::new();
    let added = &plan.policy.added_checks;
    let mut is_run = |task: Option<&str>, check: &TaskCheck| {
        let is_added = task.is_none() && added.contains(check);
        let is_judged = has_expected_output(check);
        let concern = *concerns
            .entry((check.command.clone(), is_judged))
            .or_insert_with(|| find_check_concern(check));
        let concern = concern.filter(|concern| {
            let counts = !names_checks || concern.harms();
            counts && !(is_added && concern.may_be_added())
        });
        if let Some(concern) = concern {
            refuse(task, &check.command, concern);
        }
        concern.is_none()
    };
    for task in &mut plan.tasks {
        let id = task.id.clone();
        task.checks.retain(|check| is_run(Some(&id), check));
        task.red_check = task
            .red_check
            .take()
            .filter(|check| is_run(Some(&id), check));
    }
    plan.final_checks.retain(|check| is_run(None, check));
    for task in plan.tasks.iter().filter(|_| !names_checks) {
        // A check that was brought into this copy of the project stands elsewhere in the text.
        let is_used = |command: &str, concern: CommandConcern| {
            task.all_checks().any(|check| {
                let is_moved = || program_part(&check.command) == program_part(command);
                check.command == command || concern == CommandConcern::OtherFolder && is_moved()
            })
        };
        for (command, concern) in unused_commands(&task.body) {
            if !is_used(&command, concern) {
                refuse(Some(&task.id), &command, concern);
            }
        }
    }
    let places: HashMap<&str, usize> = plan
        .tasks
        .iter()
        .enumerate()
        .map(|(place, task)| (task.id.as_str(), place))
        .collect();
    let place = |known: &RefusedCheck| {
        known
            .task
            .as_deref()
            .map_or(usize::MAX, |id| places.get(id).copied().unwrap_or(0))
    };
    plan.refused_checks.sort_by_cached_key(place);
}

/// Proofs of the tasks without checks, by place.
fn find_sources(plan: &Plan) -> Vec<(usize, ProofSource)> {
    let behind: HashSet<&str> = plan
        .checkpoints
        .iter()
        .map(|known| known.task.as_str())
        .collect();
    // From the last on: the nearest judge of the group, and the nearest judge of everything.
    let mut of_section: HashMap<Option<&str>, &str> = HashMap::new();
    let mut of_all: Option<&str> = None;
    let is_own = |refused: &&RefusedCheck| refused.concern.is_of_check();
    let without_own: HashSet<&str> = plan
        .refused_checks
        .iter()
        .filter(is_own)
        .filter_map(|refused| refused.task.as_deref())
        .collect();
    let has_added = plan
        .policy
        .added_checks
        .iter()
        .any(|added| plan.final_checks.contains(added));
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
                if !is_checkpoint && section.is_none_or(|title| is_of_whole(title, plan)) {
                    of_all = Some(&task.id);
                }
            }
            continue;
        }
        if task.is_verification() {
            continue;
        }
        if without_own.contains(task.id.as_str()) {
            found.extend(has_added.then_some((place, ProofSource::FinalChecks)));
            continue;
        }
        let judge = of_section.get(&section).copied().or(of_all);
        let whole = || (!plan.final_checks.is_empty()).then_some(ProofSource::FinalChecks);
        let source = judge
            .map(|id| ProofSource::Task(id.to_owned()))
            .or_else(whole);
        found.extend(source.map(|source| (place, source)));
    }
    found
}

/// `true` for a heading of text about the whole plan.
fn is_of_whole(title: &str, plan: &Plan) -> bool {
    JUDGES.is_match(title)
        || title == plan.title
        || FILE_TITLES.contains(&title.to_lowercase().as_str())
}

/// `true` for a check of earlier work: by its title, and without changed files.
pub fn judges_others(task: &Task) -> bool {
    let makes = |action| matches!(action, FileAction::Create | FileAction::Test);
    JUDGES.is_match(&task.title)
        && !task
            .files
            .iter()
            .any(|file| !file.is_optional && makes(file.action))
}

/// Orders a task behind the tasks that it proves. Where the plan's own order contradicts, nothing of that holds.
fn require_proved_tasks(plan: &mut Plan) {
    let places: HashMap<&str, usize> = plan
        .tasks
        .iter()
        .enumerate()
        .map(|(place, task)| (task.id.as_str(), place))
        .collect();
    let need = |id: &String| places.get(id.as_str()).copied();
    let mut needs: Vec<Vec<usize>> = plan
        .tasks
        .iter()
        .map(|task| task.deps.iter().filter_map(need).collect())
        .collect();
    let mut added: Vec<(usize, usize)> = Vec::new();
    for (place, task) in plan.tasks.iter().enumerate() {
        let Some(ProofSource::Task(id)) = &task.proved_by else {
            continue;
        };
        added.extend(need(id).map(|judge| (judge, place)));
    }
    for (judge, place) in &added {
        needs
            .get_mut(*judge)
            .into_iter()
            .for_each(|own| own.push(*place));
    }
    if order_by_needs(&needs).is_err() {
        plan.tasks
            .iter_mut()
            .filter(|task| matches!(task.proved_by, Some(ProofSource::Task(_))))
            .for_each(|task| task.proved_by = None);
        return;
    }
    let known: Vec<HashSet<String>> = plan
        .tasks
        .iter()
        .map(|task| task.deps.iter().cloned().collect())
        .collect();
    let ids: Vec<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
    for (judge, place) in added {
        let Some(id) = ids
            .get(place)
            .filter(|id| known.get(judge).is_some_and(|deps| !deps.contains(*id)))
        else {
            continue;
        };
        plan.tasks
            .get_mut(judge)
            .into_iter()
            .for_each(|task| task.deps.push(id.clone()));
    }
}

#[cfg(test)]
mod tests;
