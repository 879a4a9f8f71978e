//! Dialect of plans with `### Step N:` below `## Implementation Plan`: steps form sessions, and sessions run in waves.

mod brief_sessions;
pub mod commands;
pub mod commit_checkpoint;
pub mod consistency;
pub mod expectation;
pub mod inline_code;
pub mod numbers;
pub mod on_failure;
pub mod scope_fence;
pub mod section_outline;
pub mod sessions;
pub mod step;
mod strategy;
pub mod waves;

use std::collections::{BTreeMap, HashMap, HashSet};

use omo_core::check::task_check::TaskCheck;
use omo_core::text::sanitize;

use self::sessions::read_strategy;
use self::strategy::ExecutionStrategy;
use super::{BatchOptions, PlanDialect, PlanInput, PlanKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{GroupIsolation, OnTaskFail, Parallelism, Plan, RunPolicy, Task, TaskGroup};
use crate::plan_summary::SESSION_PREFIX;
use scope_fence::PathComparer;
use section_outline::{NumberedHeading, PlanFindings, SectionOutline, parse_numbered_heading};
use step::{ParsedStep, has_steps, read_steps};

const WHOLE: &str = "plan";
const REST: &str = "rest";

#[derive(Debug)]
pub(crate) struct UltraplanDialect;

impl PlanDialect for UltraplanDialect {
    fn name(&self) -> &'static str {
        "ultraplan"
    }

    fn kind(&self) -> PlanKind {
        PlanKind::Steps
    }

    fn recognizes(&self, input: &PlanInput<'_>) -> bool {
        let outline = SectionOutline::new(input.document());
        let is_plan = outline.section_named("implementation plan").is_some()
            && outline.section_named("scope fence").is_none();
        is_plan && has_steps(&outline)
    }

    fn near_miss(&self, input: &PlanInput<'_>) -> Option<Diagnostic> {
        let document = input.document();
        let step = document
            .headings
            .iter()
            .find(|heading| parse_numbered_heading(heading, "Step") != NumberedHeading::Other)?;
        let mut findings = PlanFindings::new(document);
        let help = "a plan has `## Implementation Plan` above its `### Step 1: Title`";
        findings.add(
            Code::UnrecognizedFormat,
            step.span.clone(),
            None,
            UNRECOGNIZED_MESSAGE.to_owned(),
            help,
        );
        findings.into_diagnostics().pop()
    }

    fn read_plan(&self, input: &PlanInput<'_>, _options: BatchOptions, plan: &mut Plan) {
        read_ultra(&SectionOutline::new(input.document()), plan);
    }
}

fn read_ultra(outline: &SectionOutline<'_>, plan: &mut Plan) {
    let mut findings = PlanFindings::new(outline.document);
    let steps = read_steps(outline, &mut findings);
    consistency::report_numbering(&steps, Some(1), &mut findings);
    let numbers: Vec<u64> = steps.iter().map(|step| step.number).collect();
    let strategy = read_strategy(outline, &numbers, &mut findings)
        .filter(|strategy| !strategy.sessions.is_empty());
    plan.goal = read_goal(outline);
    plan.groups = match &strategy {
        Some(strategy) => session_groups(strategy, &steps, &mut findings),
        None => vec![group(
            WHOLE.to_owned(),
            plan.title.clone(),
            steps.iter().map(|step| step.task.id.clone()),
            0,
        )],
    };
    plan.tasks = order_tasks(
        steps.into_iter().map(|step| step.task).collect(),
        &plan.groups,
    );
    plan.final_checks = read_closing_checks(outline, "verification", &mut findings);
    let is_parallel = plan
        .groups
        .iter()
        .any(|group| group.isolation == GroupIsolation::Worktree);
    plan.policy = run_policy(if is_parallel {
        Parallelism::Groups
    } else {
        Parallelism::None
    });
    plan.diagnostics.extend(findings.into_diagnostics());
}

/// A group for each session, in the order of the file, and a last one for steps of no session.
fn session_groups(
    strategy: &ExecutionStrategy,
    steps: &[ParsedStep],
    findings: &mut PlanFindings<'_>,
) -> Vec<TaskGroup> {
    let sessions = &strategy.sessions;
    let session_waves = waves::assign_waves(strategy, findings);
    consistency::report_membership(steps, sessions, findings);
    consistency::report_order(sessions, &session_waves, findings);
    let mut comparison = PathComparer::with_budget();
    consistency::report_overlaps(sessions, &session_waves, steps, &mut comparison, findings);
    let mut by_number: BTreeMap<u64, &ParsedStep> = BTreeMap::new();
    for step in steps {
        by_number.entry(step.number).or_insert(step);
    }
    let mut sessions_in_wave: BTreeMap<usize, usize> = BTreeMap::new();
    for wave in &session_waves {
        *sessions_in_wave.entry(*wave).or_insert(0) += 1;
    }
    let mut groups: Vec<TaskGroup> = Vec::new();
    for (session, wave) in sessions.iter().zip(&session_waves) {
        let session_steps = session
            .steps
            .numbers
            .iter()
            .filter_map(|number| by_number.get(number).copied());
        let name = format!("session {}", session.number);
        consistency::report_fence(
            &name,
            &session.fence,
            session_steps,
            &mut comparison,
            findings,
        );
        let is_alone = sessions_in_wave.get(wave) == Some(&1);
        let tasks = session.steps.numbers.iter().map(u64::to_string);
        groups.push(TaskGroup {
            deps: session
                .deps
                .numbers
                .iter()
                .map(|number| format!("{SESSION_PREFIX}{number}"))
                .collect(),
            names_all_deps: session.deps.span != session.heading,
            may_touch: session.fence.touch_paths(),
            never_touch: session.fence.never_paths(),
            isolation: if is_alone {
                GroupIsolation::Shared
            } else {
                GroupIsolation::Worktree
            },
            ..group(
                format!("{SESSION_PREFIX}{}", session.number),
                session.title.clone(),
                tasks,
                *wave,
            )
        });
    }
    let taken: HashSet<u64> = sessions
        .iter()
        .flat_map(|session| &session.steps.numbers)
        .copied()
        .collect();
    let rest: Vec<String> = steps
        .iter()
        .filter(|step| !taken.contains(&step.number))
        .map(|step| step.task.id.clone())
        .collect();
    if !rest.is_empty() {
        let last = session_waves.iter().max().map_or(0, |last| last + 1);
        groups.push(group(
            REST.to_owned(),
            "steps of no session".to_owned(),
            rest.into_iter(),
            last,
        ));
    }
    groups
}

fn group(id: String, title: String, tasks: impl Iterator<Item = String>, wave: usize) -> TaskGroup {
    TaskGroup {
        id,
        title,

        tasks: tasks.collect(),
        wave,
        deps: Vec::new(),
        names_all_deps: false,
        may_touch: Vec::new(),
        never_touch: Vec::new(),
        isolation: GroupIsolation::Shared,
        hard_stop: false,
    }
}

pub(crate) const UNRECOGNIZED_MESSAGE: &str =
    "unrecognized file format. Expected an ultraplan or session spec.";

const MAX_GOAL: usize = 1_000;

/// `true` for `none`, a dash, `n/a`, or no word at all.
pub(crate) fn is_nothing(value: &str) -> bool {
    let plain = value.trim_matches(|char: char| char.is_whitespace() || "*_`().".contains(char));
    let first = plain.split([' ', '(', ',']).next().unwrap_or_default();
    matches!(
        plain.to_ascii_lowercase().as_str(),
        "" | "-" | "—" | "–" | "n/a" | "nothing" | "nil"
    ) || first.eq_ignore_ascii_case("none")
}

pub(crate) fn first_paragraph(text: &str) -> &str {
    let text = text.trim();
    let mut end = 0;
    for line in text
        .split_inclusive('\n')
        .take_while(|line| !line.trim().is_empty())
    {
        end += line.len();
    }
    text.get(..end).unwrap_or(text).trim_end()
}

pub(crate) fn is_horizontal_rule(line: &str) -> bool {
    let signs = line.split_whitespace().collect::<String>();
    signs.len() >= 3
        && ['-', '*', '_']
            .iter()
            .any(|sign| signs.chars().all(|char| char == *sign))
}

pub(crate) fn read_goal(outline: &SectionOutline<'_>) -> String {
    let section = ["goal", "context"]
        .iter()
        .find_map(|name| outline.section_named(name));
    let text = section
        .map(|section| outline.document.slice(section.content()).trim())
        .unwrap_or_default();
    let lines = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(MAX_GOAL)
        .collect()
}

pub(crate) fn read_closing_checks(
    outline: &SectionOutline<'_>,
    name: &str,
    findings: &mut PlanFindings<'_>,
) -> Vec<TaskCheck> {
    let Some(section) = outline.section_named(name) else {
        return Vec::new();
    };
    let (found, sentences) = commands::read_section_commands(outline.document, section.content());
    for sentence in sentences {
        let shown = sanitize(outline.document.slice(sentence.clone()), 80);
        let text = format!("`{shown}` holds no command: it is not checked");
        findings.add(
            Code::VerifyMayBeProse,
            sentence,
            None,
            text,
            "write its command between backticks",
        );
    }
    for command in &found {
        commands::report_command(command, &section.heading.span, None, findings);
    }
    found.into_iter().map(|command| command.check).collect()
}

/// Tasks in the order of a run: by wave, then as in their groups. Each depends on the one before in its group.
pub(crate) fn order_tasks(mut tasks: Vec<Task>, groups: &[TaskGroup]) -> Vec<Task> {
    let mut places: HashMap<&str, (usize, usize, usize)> = HashMap::new();
    let mut before: HashMap<&str, &str> = HashMap::new();
    for (number, group) in groups.iter().enumerate() {
        let mut last = None;
        for (place, task) in group.tasks.iter().enumerate() {
            if places.contains_key(task.as_str()) {
                continue;
            }
            places.insert(task, (group.wave, number, place));
            before.extend(last.map(|last| (task.as_str(), last)));
            last = Some(task.as_str());
        }
    }
    for task in &mut tasks {
        task.deps = before
            .get(task.id.as_str())
            .map(|id| (*id).to_owned())
            .into_iter()
            .collect();
    }
    tasks.sort_by_key(|task| places.get(task.id.as_str()).copied());
    tasks
}

pub(crate) fn run_policy(parallel: Parallelism) -> RunPolicy {
    RunPolicy {
        on_task_fail: OnTaskFail::Stop,
        parallel,
        max_workers: 0,
        ..RunPolicy::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_in_many_ways() {
        for value in [
            "",
            " ",
            "none",
            "None.",
            "*none*",
            "`none`",
            "none (first session)",
            "—",
            "N/A",
        ] {
            assert!(is_nothing(value), "{value}");
        }
        for value in ["1", "nonexistent.rs", "Session 1", "no-op.sh"] {
            assert!(!is_nothing(value), "{value}");
        }
    }
}
