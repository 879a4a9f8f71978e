//! What comes next in a run: one pure function from its state to an action.
//!
//! There is always an action or an end: where nothing can be begun, nobody is at work and nobody is
//! asked, the run is over.

use std::collections::BTreeSet;

use crate::model::{Group, OnUnitFail, Parallel, Precondition, Unit};
use crate::paths;
use crate::run::event::{GateKind, RunResult};
use crate::run::state::{GateState, ONE_BY_ONE, Phase, RunState, Standing, UnitStatus};

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// A person has to answer; nothing else is begun until they did.
    Ask(&'a GateState),
    /// Something has to be asked that nobody has put down yet.
    Open(GateKind),
    /// These units can be begun now, all of them at the same time.
    Start(Vec<&'a Unit>),
    /// Somebody is at work on these, and nothing else can be begun before they are done.
    Wait(Vec<&'a str>),
    /// Everything was done; the checks of the whole plan are to be run.
    FinalChecks,
    /// The run is to end like this.
    End(RunResult),
    /// It has ended, or was cancelled.
    Over,
}

/// Decides what comes next.
pub fn next(state: &RunState) -> Action<'_> {
    if state.phase != Phase::Executing {
        return Action::Over;
    }
    if let Some(gate) = state.open_gate() {
        return Action::Ask(gate);
    }
    if let Some(about) = due_gate(state) {
        return Action::Open(about);
    }
    let standings = state.standings();
    let running: Vec<&str> = state.running().map(|(id, _)| id).collect();
    let has_failed = standings.iter().any(|(unit, standing)| is_failure(state, unit, standing));
    let stops = has_failed && state.plan.policy.on_unit_fail == OnUnitFail::Stop;
    if !stops {
        let ready = ready(state, &standings);
        if !ready.is_empty() {
            return Action::Start(ready);
        }
    }
    if !running.is_empty() {
        return Action::Wait(running);
    }
    if stops {
        return Action::End(RunResult::Failed);
    }
    if has_failed || standings.iter().any(|(_, standing)| !standing.is_ended()) {
        return Action::End(RunResult::CompletedWithFailures);
    }
    final_checks(state)
}

fn final_checks(state: &RunState) -> Action<'_> {
    let outcomes: Vec<_> = state.plan.final_checks.iter().map(|check| state.final_checks.get(&check.command)).collect();
    match () {
        () if outcomes.iter().any(Option::is_none) => Action::FinalChecks,
        () if outcomes.iter().flatten().all(|outcome| outcome.is_green()) => Action::End(RunResult::Complete),
        () => Action::End(RunResult::Failed),
    }
}

fn is_failure(state: &RunState, unit: &Unit, standing: &Standing) -> bool {
    standing.is_ended() && !state.lets_go_on(&unit.id)
}

/// What has to be asked before anything else is begun, and was not asked yet.
fn due_gate(state: &RunState) -> Option<GateKind> {
    let was_opened = |wanted: &dyn Fn(&GateKind) -> bool| state.gates.iter().any(|known| wanted(&known.gate.about));
    for precondition in &state.plan.preconditions {
        if matches!(precondition, Precondition::Verification { approved: false })
            && !was_opened(&|about| *about == GateKind::Verification)
        {
            return Some(GateKind::Verification);
        }
    }
    due_decisions(state).or_else(|| due_hard_stop(state))
}

/// Blocking decisions one by one, then the others in one question, then those of them that were not
/// taken together, one by one.
fn due_decisions(state: &RunState) -> Option<GateKind> {
    let open = state.plan.preconditions.iter().filter_map(|precondition| match precondition {
        Precondition::Decision(decision) if decision.chosen.is_none() => Some(decision),
        _ => None,
    });
    let (blocking, others): (Vec<_>, Vec<_>) = open.partition(|decision| decision.blocking);
    let is_asked_together = state.gates.iter().any(|known| {
        let several =
            matches!(&known.gate.about, GateKind::Decisions { decisions } if decisions.iter().all(|one| !one.blocking));
        several && known.answer.as_ref().is_some_and(|answer| answer.option == ONE_BY_ONE)
    });
    if let Some(first) = blocking.first() {
        return Some(GateKind::Decisions { decisions: vec![(*first).clone()] });
    }
    let recommended = others.iter().all(|decision| decision.recommended.is_some());
    match others.as_slice() {
        [] => None,
        several if several.len() > 1 && recommended && !is_asked_together => {
            Some(GateKind::Decisions { decisions: several.iter().map(|decision| (*decision).clone()).collect() })
        }
        [first, ..] => Some(GateKind::Decisions { decisions: vec![(*first).clone()] }),
    }
}

/// The first batch behind which a person is to be asked, all of which has ended, while something is
/// left to do.
fn due_hard_stop(state: &RunState) -> Option<GateKind> {
    let standings = state.standings();
    let left = left(&standings);
    if left.is_empty() {
        return None;
    }
    let is_over = |group: &&Group| group.units.iter().all(|id| !left.contains(id.as_str()));
    let mut behind = state.plan.groups.iter().take_while(is_over).enumerate();
    let due = behind.find(|(place, group)| group.hard_stop && !state.is_stop_passed(*place));
    due.map(|(place, _)| GateKind::HardStop { group: place })
}

/// The units that have not ended.
fn left<'a>(standings: &[(&'a Unit, Standing)]) -> BTreeSet<&'a str> {
    let left = standings.iter().filter(|(_, standing)| !standing.is_ended());
    left.map(|(unit, _)| unit.id.as_str()).collect()
}

/// The units that can be begun now, all of them at the same time.
fn ready<'a>(state: &'a RunState, standings: &[(&'a Unit, Standing)]) -> Vec<&'a Unit> {
    let policy = &state.plan.policy;
    let most = match (policy.parallel, policy.max_workers) {
        (Parallel::None, _) => 1,
        (Parallel::Groups | Parallel::Units, 0) => usize::MAX,
        (Parallel::Groups | Parallel::Units, most) => usize::try_from(most).unwrap_or(usize::MAX),
    };
    let open = open_groups(state, standings);
    let mut at_work: Vec<&Unit> = state.running().filter_map(|(id, _)| state.plan.unit(id)).collect();
    let mut ready = Vec::new();
    for (unit, standing) in standings {
        if at_work.len() >= most {
            break;
        }
        let waits = matches!(standing, Standing::Is(UnitStatus::Pending | UnitStatus::Held));
        if waits
            && state.plan.group_of(&unit.id).is_none_or(|(place, _)| open.contains(&place))
            && unit.deps.iter().all(|id| state.lets_go_on(id))
            && at_work.iter().all(|other| are_apart(unit, other))
        {
            at_work.push(unit);
            ready.push(*unit);
        }
    }
    ready
}

/// The places of the groups that may be worked on: every group of an earlier stage has ended, and so has
/// every one that they depend on.
fn open_groups(state: &RunState, standings: &[(&Unit, Standing)]) -> Vec<usize> {
    let groups = &state.plan.groups;
    let left = left(standings);
    let is_over = |group: &Group| group.units.iter().all(|id| !left.contains(id.as_str()));
    let first = groups.iter().filter(|group| !is_over(group)).map(|group| group.stage).min();
    let is_dep_over = |id: &String| groups.iter().find(|group| group.id == *id).is_none_or(is_over);
    let is_open = |group: &Group| Some(group.stage) == first && group.deps.iter().all(is_dep_over);
    groups.iter().enumerate().filter(|(_, group)| is_open(group)).map(|(place, _)| place).collect()
}

/// Whether two units of one work tree can be worked on at the same time: both name their files, and none
/// of them can be the same.
pub fn are_apart(one: &Unit, other: &Unit) -> bool {
    let names_files = !one.files.is_empty() && !other.files.is_empty();
    names_files && one.files.iter().all(|file| other.files.iter().all(|known| !paths::overlap(&file.path, &known.path)))
}
