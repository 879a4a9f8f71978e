//! Proof of each task of a plan: the checks that decide about it.
//!
//! A task without a check of its own is proved by a checkpoint, by a later task that is a check itself, of its section
//! or of the whole plan, or by the final checks. Else it is unproved, and a reviewer judges it. A task whose own check
//! was refused is not proved by others, since its author meant that check; only one that the user adds proves it.

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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "task")]
pub enum ProofSource {
    /// Later task that is a check itself, once it has passed.
    Task(String),
    FinalChecks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskProof<'a> {
    OwnChecks(usize),
    Task(&'a str),
    FinalChecks,
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

/// `plan` as a run has it: with the `added` final checks and with proofs, without useless commands. Idempotent.
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
    let sources = find_proof_sources(&plan);
    for (place, source) in sources {
        if let Some(task) = plan.tasks.get_mut(place) {
            task.proved_by = Some(source);
        }
    }
    require_proved_tasks(&mut plan);
    plan
}

pub fn unproved_tasks(plan: &Plan) -> impl Iterator<Item = &Task> {
    plan.tasks.iter().filter(|task| {
        task.state == PlannedState::Open
            && !task.is_verification()
            && TaskProof::from(*task) == TaskProof::None
    })
}

fn add_checkpoints(plan: &mut Plan) {
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, task) in plan.tasks.iter().enumerate() {
        places.entry(&task.id).or_insert(place);
    }
    let checkpoint_places: Vec<Option<usize>> = plan
        .checkpoints
        .iter()
        .map(|checkpoint| places.get(checkpoint.task.as_str()).copied())
        .collect();
    for (checkpoint, place) in plan.checkpoints.iter().zip(checkpoint_places) {
        let task = place.and_then(|place| plan.tasks.get_mut(place));
        if let Some(task) = task.filter(|task| !task.checks.contains(&checkpoint.check)) {
            task.checks.push(checkpoint.check.clone());
        }
    }
}

/// Moves checks that cannot judge to `refused_checks`; where a format marks checks, only harmful ones.
fn refuse_checks(plan: &mut Plan) {
    let names_checks = !plan.policy.unproved_continues;
    let mut refusals = Refusals {
        names_checks,
        added: &plan.policy.added_checks,
        known: plan
            .refused_checks
            .iter()
            .map(|refused| (refused.task.clone(), refused.command.clone()))
            .collect(),
        refused: std::mem::take(&mut plan.refused_checks),
        concerns: HashMap::new(),
    };
    for task in &mut plan.tasks {
        let id = task.id.clone();
        task.checks
            .retain(|check| refusals.keep_or_refuse(Some(&id), check));
        task.red_check = task
            .red_check
            .take()
            .filter(|check| refusals.keep_or_refuse(Some(&id), check));
    }
    plan.final_checks
        .retain(|check| refusals.keep_or_refuse(None, check));
    for task in plan.tasks.iter().filter(|_| !names_checks) {
        for (command, concern) in unused_commands(&task.body) {
            let is_used = task.all_checks().any(|check| {
                // The text has a check as it was before it was adapted to this copy of the project.
                check.command == command
                    || concern == CommandConcern::OtherFolder
                        && program_part(&check.command) == program_part(&command)
            });
            if !is_used {
                refusals.refuse(Some(&task.id), &command, concern);
            }
        }
    }
    plan.refused_checks = refusals.refused;
    let places: HashMap<&str, usize> = plan
        .tasks
        .iter()
        .enumerate()
        .map(|(place, task)| (task.id.as_str(), place))
        .collect();
    plan.refused_checks.sort_by_cached_key(|refused| {
        refused
            .task
            .as_deref()
            .map_or(usize::MAX, |id| places.get(id).copied().unwrap_or(0))
    });
}

struct Refusals<'p> {
    names_checks: bool,
    added: &'p [TaskCheck],
    refused: Vec<RefusedCheck>,
    known: HashSet<(Option<String>, String)>,
    /// Cache by command: most plans run the same few again and again.
    concerns: HashMap<(String, bool), Option<CommandConcern>>,
}

impl Refusals<'_> {
    fn keep_or_refuse(&mut self, task: Option<&str>, check: &TaskCheck) -> bool {
        let is_added = task.is_none() && self.added.contains(check);
        let is_judged = has_expected_output(check);
        let concern = *self
            .concerns
            .entry((check.command.clone(), is_judged))
            .or_insert_with(|| find_check_concern(check));
        let concern = concern.filter(|concern| {
            let counts = !self.names_checks || concern.harms();
            counts && !(is_added && concern.may_be_added())
        });
        if let Some(concern) = concern {
            self.refuse(task, &check.command, concern);
        }
        concern.is_none()
    }

    fn refuse(&mut self, task: Option<&str>, command: &str, concern: CommandConcern) {
        let task = task.map(str::to_owned);
        if self.refused.len() < MAX_REFUSED && self.known.insert((task.clone(), command.to_owned()))
        {
            self.refused.push(RefusedCheck {
                task,
                command: command.to_owned(),
                concern,
            });
        }
    }
}

/// Proof of each task without checks, by the task's index.
fn find_proof_sources(plan: &Plan) -> Vec<(usize, ProofSource)> {
    let checkpoint_tasks: HashSet<&str> = plan
        .checkpoints
        .iter()
        .map(|checkpoint| checkpoint.task.as_str())
        .collect();
    // From the last task to the first: the nearest later judge of each section, and of the whole plan.
    let mut section_judges: HashMap<Option<&str>, &str> = HashMap::new();
    let mut plan_judge: Option<&str> = None;
    let refused_tasks: HashSet<&str> = plan
        .refused_checks
        .iter()
        .filter(|refused| refused.concern.is_of_check())
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
            let is_checkpoint = checkpoint_tasks.contains(task.id.as_str());
            if is_checkpoint || judges_others(task) {
                section_judges.insert(section, &task.id);
                if !is_checkpoint && section.is_none_or(|title| is_about_whole_plan(title, plan)) {
                    plan_judge = Some(&task.id);
                }
            }
            continue;
        }
        if task.is_verification() {
            continue;
        }
        if refused_tasks.contains(task.id.as_str()) {
            found.extend(has_added.then_some((place, ProofSource::FinalChecks)));
            continue;
        }
        let judge = section_judges.get(&section).copied().or(plan_judge);
        let has_final_checks = !plan.final_checks.is_empty();
        let source = judge
            .map(|id| ProofSource::Task(id.to_owned()))
            .or_else(|| has_final_checks.then_some(ProofSource::FinalChecks));
        found.extend(source.map(|source| (place, source)));
    }
    found
}

/// `true` for the title of a section about the whole plan.
fn is_about_whole_plan(title: &str, plan: &Plan) -> bool {
    JUDGES.is_match(title)
        || title == plan.title
        || FILE_TITLES.contains(&title.to_lowercase().as_str())
}

/// `true` for a task that checks earlier work: by its title, and without new files.
pub fn judges_others(task: &Task) -> bool {
    JUDGES.is_match(&task.title)
        && !task.files.iter().any(|file| {
            !file.is_optional && matches!(file.action, FileAction::Create | FileAction::Test)
        })
}

/// Makes each judge depend on the tasks that it proves. Where that closes a circle, no task is proved by another.
fn require_proved_tasks(plan: &mut Plan) {
    let places: HashMap<&str, usize> = plan
        .tasks
        .iter()
        .enumerate()
        .map(|(place, task)| (task.id.as_str(), place))
        .collect();
    let mut needs: Vec<Vec<usize>> = plan
        .tasks
        .iter()
        .map(|task| {
            task.deps
                .iter()
                .filter_map(|id| places.get(id.as_str()).copied())
                .collect()
        })
        .collect();
    let mut added: Vec<(usize, usize)> = Vec::new();
    for (place, task) in plan.tasks.iter().enumerate() {
        let Some(ProofSource::Task(id)) = &task.proved_by else {
            continue;
        };
        added.extend(places.get(id.as_str()).map(|judge| (*judge, place)));
    }
    for (judge, place) in &added {
        if let Some(judge_needs) = needs.get_mut(*judge) {
            judge_needs.push(*place);
        }
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
        if let Some(task) = plan.tasks.get_mut(judge) {
            task.deps.push(id.clone());
        }
    }
}

#[cfg(test)]
mod tests;
