//! The dialect of plans with `## Implementation Plan` and `### Step N:`, whose sessions run in waves.

use std::collections::{BTreeMap, HashSet};

use super::ultra::fence::Comparison;
use super::ultra::outline::{Findings, Outline};
use super::ultra::report::SESSION_PREFIX;
use super::ultra::sessions::{Strategy, strategy};
use super::ultra::steps::{Step, has_steps, steps};
use super::ultra::{closing_checks, goal, in_order, policy, scope, waves};
use crate::model::{Dialect, Group, Isolation, Parallel, Plan};

/// The group of a plan without sessions.
const WHOLE: &str = "plan";
/// The group of the steps that belong to no session.
const REST: &str = "rest";

/// Whether a document is such a plan.
pub fn is_one(outline: &Outline<'_>) -> bool {
    outline.part("implementation plan").is_some() && outline.part("scope fence").is_none() && has_steps(outline)
}

/// Reads one, and fills in what it says.
pub fn read(outline: &Outline<'_>, plan: &mut Plan) {
    let mut findings = Findings::new(outline.document);
    let steps = steps(outline, &mut findings);
    scope::add_numbering(&steps, Some(1), &mut findings);
    let strategy = strategy(outline, &mut findings).filter(|strategy| !strategy.sessions.is_empty());
    plan.dialect = Dialect::Ultraplan;
    plan.goal = goal(outline);
    plan.groups = match &strategy {
        Some(strategy) => of_sessions(strategy, &steps, &mut findings),
        None => vec![group(WHOLE.to_owned(), plan.title.clone(), steps.iter().map(|step| step.unit.id.clone()), 0)],
    };
    plan.units = in_order(steps.into_iter().map(|step| step.unit).collect(), &plan.groups);
    plan.final_checks = closing_checks(outline, "verification", &mut findings);
    let is_parallel = plan.groups.iter().any(|group| group.isolation == Isolation::Worktree);
    plan.policy = policy(if is_parallel { Parallel::Groups } else { Parallel::None });
    plan.diagnostics.extend(findings.into_diagnostics());
}

/// The sessions as groups, in the order of the file, and behind them one for the steps of none.
fn of_sessions(strategy: &Strategy, steps: &[Step], findings: &mut Findings<'_>) -> Vec<Group> {
    let sessions = &strategy.sessions;
    let stages = waves::stages(strategy, findings);
    scope::add_membership(steps, sessions, findings);
    scope::add_order(sessions, &stages, findings);
    let mut comparison = Comparison::of_a_plan();
    scope::add_overlaps(sessions, &stages, steps, &mut comparison, findings);
    let mut by_number: BTreeMap<u64, &Step> = BTreeMap::new();
    for step in steps {
        by_number.entry(step.number).or_insert(step);
    }
    let mut in_stage: BTreeMap<usize, usize> = BTreeMap::new();
    for stage in &stages {
        *in_stage.entry(*stage).or_insert(0) += 1;
    }
    let mut groups: Vec<Group> = Vec::new();
    for (session, stage) in sessions.iter().zip(&stages) {
        let own = session.steps.numbers.iter().filter_map(|number| by_number.get(number).copied());
        let name = format!("session {}", session.number);
        scope::add_fence(&name, &session.fence, own, &mut comparison, findings);
        let is_alone = in_stage.get(stage) == Some(&1);
        let units = session.steps.numbers.iter().map(u64::to_string);
        groups.push(Group {
            deps: session.deps.numbers.iter().map(|number| format!("{SESSION_PREFIX}{number}")).collect(),
            touch: session.fence.touch_paths(),
            never: session.fence.never_paths(),
            isolation: if is_alone { Isolation::Shared } else { Isolation::Worktree },
            ..group(format!("{SESSION_PREFIX}{}", session.number), session.title.clone(), units, *stage)
        });
    }
    let taken: HashSet<u64> = sessions.iter().flat_map(|session| &session.steps.numbers).copied().collect();
    let rest: Vec<String> =
        steps.iter().filter(|step| !taken.contains(&step.number)).map(|step| step.unit.id.clone()).collect();
    if !rest.is_empty() {
        let last = stages.iter().max().map_or(0, |last| last + 1);
        groups.push(group(REST.to_owned(), "steps of no session".to_owned(), rest.into_iter(), last));
    }
    groups
}

fn group(id: String, title: String, units: impl Iterator<Item = String>, stage: usize) -> Group {
    Group {
        id,
        title,

        units: units.collect(),
        stage,
        deps: Vec::new(),
        touch: Vec::new(),
        never: Vec::new(),
        isolation: Isolation::Shared,
        hard_stop: false,
    }
}
