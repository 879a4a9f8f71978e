//! Overview of a plan for the person who approves it: tasks in order, tasks unable to begin, cost.

use std::collections::BTreeMap;
use std::fmt::Write;

use omo_core::money::format_dollars;
use omo_core::text::{format_limit, list_some, name_some, pluralize, sanitize};
use omo_plan::model::{Plan, PlannedState, ReviewTime, Task, TaskGroup};
use omo_plan::proof::TaskProof;

use crate::billing::BillingFacts;
use crate::client_policy::ClientPolicy;
use crate::execution_mode::ExecutionMode;
use crate::standing::lacks_contract;
use crate::state::FINAL_CHECKS_ID;
use crate::worker_model::model_words;

const MAX_TASKS: usize = 60;
const MAX_NAMES: usize = 12;

pub fn plan_overview(
    plan: &Plan,
    mode: ExecutionMode,
    clients: &ClientPolicy,
    billing: &BillingFacts,
) -> String {
    let tasks = pluralize(plan.work_tasks().count(), plan.dialect.unit_word());
    let mut text = format!(
        "{}: {tasks}, {}\n",
        sanitize(&plan.title, 120),
        mode_words(mode)
    );
    if !plan.goal.trim().is_empty() {
        let _ = writeln!(text, "{}", sanitize(&plan.goal, 300));
    }
    text.push('\n');
    let mut left = MAX_TASKS;
    for (heading, tasks) in sections(plan, mode) {
        if left == 0 {
            break;
        }
        let _ = writeln!(text, "{heading}");
        for task in tasks.iter().take(left) {
            let _ = writeln!(text, "  {}", task_row(plan, task));
        }
        left = left.saturating_sub(tasks.len());
    }
    let hidden = plan.work_tasks().count().saturating_sub(MAX_TASKS);
    if hidden > 0 {
        let _ = writeln!(text, "  … and {hidden} more");
    }
    text.push('\n');
    for line in unable_lines(plan).into_iter().chain(refused_lines(plan)) {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "{}", cost_line(plan, mode, clients, billing));
    text + &pull_request_line(plan)
}

/// The ordered pull request, as a line; empty without one.
pub fn pull_request_line(plan: &Plan) -> String {
    let Some(order) = &plan.policy.pull_request else {
        return String::new();
    };
    format!(
        "Pull request: once the run is complete, {} opens one at {} ({}), with what is committed then.\n",
        sanitize(&order.program, 20),
        sanitize(&order.remote, 100),
        sanitize(&order.address, 200)
    )
}

pub fn unable_lines(plan: &Plan) -> Vec<String> {
    let unable: Vec<&str> = plan
        .tasks
        .iter()
        .filter(|task| lacks_contract(plan, task))
        .map(|task| task.id.as_str())
        .collect();
    let unchecked: Vec<&str> = plan
        .work_tasks()
        .filter(|task| task.state == PlannedState::Open && !unable.contains(&task.id.as_str()))
        .filter(|task| TaskProof::from(*task) == TaskProof::None && task.criteria.is_empty())
        .map(|task| task.id.as_str())
        .collect();
    let mut lines = Vec::new();
    let word = plan.dialect.unit_word();
    if !unable.is_empty() {
        let waiting = dependents_of(plan, &unable);
        let waits = if waiting.is_empty() {
            String::new()
        } else {
            format!("; {} for that", wait_words(word, &waiting))
        };
        lines.push(format!(
            "Cannot begin: {} without a Task Contract, which this plan's `contract_version` demands{waits}.",
            name_some(word, &unable, MAX_NAMES)
        ));
    }
    if !unchecked.is_empty() && plan.policy.unproved_continues {
        lines.push(unproved_line(plan, &unchecked));
    } else if !unchecked.is_empty() {
        lines.push(format!(
            "Without a check: {}, which omo can only report as unproved.",
            name_some(word, &unchecked, MAX_NAMES)
        ));
    }
    lines
}

fn wait_words(word: &str, ids: &[&str]) -> String {
    let verb = if ids.len() == 1 { "waits" } else { "wait" };
    format!("{} {verb}", name_some(word, ids, MAX_NAMES))
}

/// The tasks that need one of these, directly or not; those themselves are left out.
fn dependents_of<'a>(plan: &'a Plan, ids: &[&str]) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    // A dependency may stand behind the task that needs it.
    loop {
        let before = found.len();
        for task in plan.work_tasks() {
            let is_known = |id: &str| ids.contains(&id) || found.contains(&id);
            if !is_known(&task.id) && task.deps.iter().any(|dep| is_known(dep)) {
                found.push(&task.id);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn mode_words(mode: ExecutionMode) -> &'static str {
    match mode {
        ExecutionMode::Batches => "in batches: one agent after another, with stops for you",
        ExecutionMode::Waves => "in waves: several workers at the same time in your checkout",
        ExecutionMode::Parallel => {
            "in parallel: workers in worktrees of their own, whose work omo merges"
        }
        ExecutionMode::StepByStep => "step by step, by this session itself",
    }
}

fn sections(plan: &Plan, mode: ExecutionMode) -> Vec<(String, Vec<&Task>)> {
    match mode {
        ExecutionMode::StepByStep => {
            vec![("In this order:".to_owned(), plan.work_tasks().collect())]
        }
        ExecutionMode::Batches => plan
            .groups
            .iter()
            .enumerate()
            .map(|(place, group)| {
                let stop = if group.hard_stop && place + 1 < plan.groups.len() {
                    ", then a stop for you"
                } else {
                    ""
                };
                (format!("Batch {}{stop}", place + 1), tasks_of(plan, group))
            })
            .collect(),
        ExecutionMode::Waves => {
            let mut waves: BTreeMap<usize, Vec<&Task>> = BTreeMap::new();
            for (wave, task) in waves_by_dependency(plan) {
                waves.entry(wave).or_default().push(task);
            }
            waves
                .into_iter()
                .map(|(wave, tasks)| (format!("Wave {}", wave + 1), tasks))
                .collect()
        }
        ExecutionMode::Parallel => {
            let mut groups: Vec<&TaskGroup> = plan
                .groups
                .iter()
                .filter(|group| !group.tasks.is_empty())
                .collect();
            groups.sort_by_key(|group| group.wave);
            groups
                .into_iter()
                .map(|group| (worker_heading(group), tasks_of(plan, group)))
                .collect()
        }
    }
}

fn tasks_of<'a>(plan: &'a Plan, group: &TaskGroup) -> Vec<&'a Task> {
    group.tasks.iter().filter_map(|id| plan.task(id)).collect()
}

fn worker_heading(group: &TaskGroup) -> String {
    let title = if group.title.is_empty() {
        String::new()
    } else {
        format!(": {}", sanitize(&group.title, 60))
    };
    format!(
        "Wave {}, worker {}{title}",
        group.wave + 1,
        sanitize(&group.id, 60)
    )
}

fn waves_by_dependency(plan: &Plan) -> Vec<(usize, &Task)> {
    let mut waves: BTreeMap<&str, usize> = BTreeMap::new();
    // Each pass settles at least one task of a chain; a circle is no plan that can run.
    for _ in 0..plan.tasks.len() {
        let mut is_settled = true;
        for task in plan.work_tasks() {
            let wave = task
                .deps
                .iter()
                .filter_map(|dep| waves.get(dep.as_str()))
                .max()
                .map_or(0, |wave| wave + 1);
            if waves.insert(&task.id, wave) != Some(wave) {
                is_settled = false;
            }
        }
        if is_settled {
            break;
        }
    }
    plan.work_tasks()
        .map(|task| {
            (
                waves.get(task.id.as_str()).copied().unwrap_or_default(),
                task,
            )
        })
        .collect()
}

fn task_row(plan: &Plan, task: &Task) -> String {
    let deps: Vec<&str> = task.deps.iter().map(String::as_str).collect();
    let after = if deps.is_empty() {
        String::new()
    } else {
        format!("  (after {})", list_some(deps, MAX_NAMES))
    };
    format!(
        "{}  {}{after}  [{}]",
        sanitize(&task.id, 64),
        sanitize(&task.title, 80),
        proof_words(plan, task)
    )
}

pub fn proof_words(plan: &Plan, task: &Task) -> String {
    match TaskProof::from(task) {
        _ if task.is_verification() => "verdict".to_owned(),
        _ if task.state == PlannedState::Done => "done before".to_owned(),
        _ if task.state == PlannedState::LeftOut => "left out".to_owned(),
        TaskProof::OwnChecks(count) => pluralize(count, "check"),
        TaskProof::Task(id) => format!("check of {}", sanitize(id, 64)),
        TaskProof::FinalChecks => "check of the whole".to_owned(),
        TaskProof::None if is_reviewed(plan, task) => "review".to_owned(),
        TaskProof::None => "nothing".to_owned(),
    }
}

fn is_reviewed(plan: &Plan, task: &Task) -> bool {
    let mut reviews = plan.tasks.iter().filter(|review| review.is_verification());
    reviews.any(|review| review.deps.contains(&task.id))
}

/// Commands that the plan names as checks and that omo does not run, each with the reason.
pub fn refused_lines(plan: &Plan) -> Vec<String> {
    let heading =
        "Not run as checks; a check ends by itself, and its exit status counts:".to_owned();
    let rows = plan.refused_checks.iter().take(MAX_NAMES).map(|refused| {
        let task = refused.task.as_deref().unwrap_or(FINAL_CHECKS_ID);
        format!(
            "  {}  {}: {}",
            sanitize(task, 64),
            sanitize(&refused.command, 160),
            refused.concern
        )
    });
    let more = plan.refused_checks.len().saturating_sub(MAX_NAMES);
    let more = (more > 0).then(|| format!("  … and {more} more"));
    let has_one = !plan.refused_checks.is_empty();
    has_one
        .then_some(heading)
        .into_iter()
        .chain(rows)
        .chain(more)
        .collect()
}

fn unproved_line(plan: &Plan, unproved: &[&str]) -> String {
    let word = plan.dialect.unit_word();
    let review = match plan.policy.review {
        _ if plan.verification_task().is_none() => "no reviewer judges that",
        ReviewTime::Tasks => "a reviewer judges each",
        ReviewTime::Waves => "a reviewer judges each part of the plan",
        ReviewTime::End | ReviewTime::Never => "a reviewer judges that at the end",
    };
    format!(
        "No command proves {}: shown as unproved once done, and {review}.",
        name_some(word, unproved, MAX_NAMES)
    )
}

fn cost_line(
    plan: &Plan,
    mode: ExecutionMode,
    clients: &ClientPolicy,
    billing: &BillingFacts,
) -> String {
    let checks = plan
        .tasks
        .iter()
        .flat_map(Task::all_checks)
        .chain(&plan.final_checks);
    let longest = checks
        .map(omo_core::check::task_check::TaskCheck::effective_timeout)
        .max();
    let checks = longest
        .map(|seconds| format!(" A check may run for {}.", format_limit(seconds)))
        .unwrap_or_default();
    let session = "billed as this session is, without a budget";
    let work = match mode {
        ExecutionMode::StepByStep => format!("this session works, {session}."),
        ExecutionMode::Batches => format!("one agent at a time, {session}."),
        ExecutionMode::Waves => {
            let most = match plan.policy.max_workers {
                0 => "an agent for each task of a wave".to_owned(),
                most => format!(
                    "at most {} at the same time",
                    pluralize(most as usize, "agent")
                ),
            };
            let rounds = pluralize(plan.policy.max_rounds.max(1) as usize, "round");
            let verifier = if plan.verification_task().is_some() {
                ", and a verifier in each"
            } else {
                ""
            };
            format!("{most}, for at most {rounds}{verifier}; {session}.")
        }
        ExecutionMode::Parallel => client_cost(plan, clients, billing),
    };
    let models = model_words(plan, mode, clients)
        .map(|words| format!(" {words}"))
        .unwrap_or_default();
    format!("Cost: {work}{models}{checks}")
}

fn client_cost(plan: &Plan, clients: &ClientPolicy, billing: &BillingFacts) -> String {
    let workers = plan
        .groups
        .iter()
        .filter(|group| !group.tasks.is_empty())
        .count();
    let at_once = match clients.max_workers {
        0 => String::new(),
        most => format!(", at most {most} at the same time"),
    };
    let budget = match clients.budget_micros {
        Some(micros) => format!("{} for all of them together", format_dollars(micros)),
        None => "no budget (`--max-budget-usd X` sets one)".to_owned(),
    };
    format!(
        "{}{at_once}, each a Claude Code client with {} at most; {budget}; billed to {}.",
        pluralize(workers, "worker"),
        format_limit(clients.time_limit_seconds()),
        billing.payer().unwrap_or("your subscription")
    )
}

#[cfg(test)]
mod tests {
    use omo_plan::dialects::{BatchOptions, read};

    use super::*;
    use crate::modes::{ModeOptions, arranged};

    fn overview(text: &str, mode: ExecutionMode, clients: &ClientPolicy) -> String {
        let plan = read("docs/plan.md", text.as_bytes(), BatchOptions::default());
        plan_overview(
            &arranged(plan, mode, &ModeOptions::default()),
            mode,
            clients,
            &BillingFacts::default(),
        )
    }

    const PLAN: &str = "---\ncontract_version: 2\n---\n\n# Words\n\n**Goal:** three words\n\n\
        ### Task 1: One\n\n**Task Contract:** one.\n\n**Verify:**\nRun: `test -f one`\n\n\
        ### Task 2: Two\n\n**Depends on:** Task 1\n\n**Verify:**\nRun: `test -f two`\n\n\
        ### Task 3: Three\n\n**Depends on:** Task 2\n\n**Task Contract:** three.\n\n**Verify:**\nRun: `test -f three`\n\n\
        ### Task 4: Four\n\n**Task Contract:** four.\n\n";

    #[test]
    fn tasks_stand_in_waves_and_those_that_cannot_begin_are_named() {
        let shown = overview(PLAN, ExecutionMode::Waves, &ClientPolicy::default());
        let expected = "Words: 4 tasks, in waves: several workers at the same time in your checkout\nthree words\n\n\
            Wave 1\n  1  One  [1 check]\n  4  Four  [review]\nWave 2\n  2  Two  (after 1)  [1 check]\nWave 3\n  3  Three  (after 2)  [1 check]\n\n\
            Cannot begin: task 2 without a Task Contract, which this plan's `contract_version` demands; task 3 waits for that.\n\
            Without a check: task 4, which omo can only report as unproved.\nCost: ";
        assert!(shown.starts_with(expected), "{shown}");
        assert!(
            shown.contains("for at most 5 rounds, and a verifier in each"),
            "{shown}"
        );
    }

    #[test]
    fn what_workers_may_cost_is_said() {
        let clients = ClientPolicy {
            max_workers: 2,
            budget_micros: Some(2_500_000),
            ..ClientPolicy::default()
        };
        let shown = overview(PLAN, ExecutionMode::Parallel, &clients);
        for part in [
            "at most 2 at the same time",
            "$2.50 for all of them",
            "2 hours at most",
            "your subscription",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        let shown = overview(PLAN, ExecutionMode::Batches, &ClientPolicy::default());
        assert!(
            shown.contains("Batch 1") && shown.contains("one agent at a time"),
            "{shown}"
        );
    }

    #[test]
    fn a_plan_shows_no_more_than_a_screen_takes_and_nothing_harmful() {
        let tasks: Vec<String> = (1..=100)
            .map(|id| format!("### Task {id}: a\u{1b}[2Jb\n\n"))
            .collect();
        let shown = overview(
            &format!("# P\u{7}\n\n{}", tasks.concat()),
            ExecutionMode::StepByStep,
            &ClientPolicy::default(),
        );
        assert!(
            shown.contains("… and 40 more\n") && !shown.contains(['\u{1b}', '\u{7}']),
            "{shown}"
        );
    }
}
