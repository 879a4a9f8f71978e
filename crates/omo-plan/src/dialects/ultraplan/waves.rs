//! Assigns sessions to waves, which run one after the other; sessions of a wave run in parallel.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::strategy::{ExecutionStrategy, SessionSection};
use crate::diagnostic::Code;
use crate::dialects::ultraplan::section_outline::PlanFindings;

/// Index of each session's wave, in the order of the sessions.
pub(crate) fn assign_waves(
    strategy: &ExecutionStrategy,
    findings: &mut PlanFindings<'_>,
) -> Vec<usize> {
    let listed = waves_by_session(strategy, findings);
    let mut waves: Vec<Option<u64>> = Vec::new();
    for session in &strategy.sessions {
        let elsewhere = listed.get(&session.number).copied();
        if let (Some(wave), Some(elsewhere)) = (session.wave, elsewhere)
            && wave != elsewhere
        {
            let text = format!(
                "session {} says wave {wave}, and the execution order wave {elsewhere}",
                session.number
            );
            findings.add(
                Code::WavesDisagree,
                session.heading.clone(),
                None,
                text,
                "the session's own wave counts",
            );
        }
        waves.push(session.wave.or(elsewhere));
    }
    let known: BTreeSet<u64> = waves.iter().flatten().copied().collect();
    let places: BTreeMap<u64, usize> = known
        .iter()
        .enumerate()
        .map(|(place, wave)| (*wave, place))
        .collect();
    // Nothing says that a session without a wave may be beside another: it runs alone, after all.
    let mut alone = places.len();
    let mut stages = Vec::new();
    for wave in waves {
        stages.push(
            wave.and_then(|wave| places.get(&wave).copied())
                .unwrap_or_else(|| {
                    alone += 1;
                    alone - 1
                }),
        );
    }
    report_dependencies(&strategy.sessions, &stages, findings);
    stages
}

fn waves_by_session(
    strategy: &ExecutionStrategy,
    findings: &mut PlanFindings<'_>,
) -> HashMap<u64, u64> {
    let mut listed = HashMap::new();
    let known: BTreeSet<u64> = strategy
        .sessions
        .iter()
        .map(|session| session.number)
        .collect();
    for line in &strategy.wave_lines {
        for number in &line.sessions.numbers {
            if !known.contains(number) {
                let text =
                    format!("the execution order names session {number}, which is not there");
                findings.add(
                    Code::UnknownSession,
                    line.sessions.span.clone(),
                    None,
                    text,
                    "",
                );
            }
            listed.entry(*number).or_insert(line.wave);
        }
    }
    listed
}

fn report_dependencies(
    sessions: &[SessionSection],
    stages: &[usize],
    findings: &mut PlanFindings<'_>,
) {
    let places: HashMap<u64, usize> = sessions
        .iter()
        .enumerate()
        .map(|(place, one)| (one.number, place))
        .collect();
    let in_circle = in_circle(sessions, &places);
    for (place, session) in sessions.iter().enumerate() {
        for number in &session.deps.numbers {
            let span = session.deps.span.clone();
            let dependent = session.number;
            let Some(other) = places.get(number) else {
                let text =
                    format!("session {dependent} depends on session {number}, which is not there");
                findings.add(Code::UnknownSession, span, None, text, "");
                continue;
            };
            if *number == dependent {
                findings.add(
                    Code::SelfDependency,
                    span,
                    None,
                    format!("session {dependent} depends on itself"),
                    "",
                );
            } else if in_circle.contains(&place) && in_circle.contains(other) {
                let text = format!(
                    "session {dependent} depends on session {number}, which waits for it in turn"
                );
                findings.add(Code::Cycle, span, None, text, "");
            } else if stages.get(*other) >= stages.get(place) {
                let text = format!(
                    "session {dependent} depends on session {number}, which runs in the same wave or later"
                );
                let help = "give it a later wave than what it depends on";
                findings.add(Code::SessionDependsOnLaterWave, span, None, text, help);
            }
        }
    }
}

/// Indices of sessions in a dependency cycle, or between two cycles.
fn in_circle(sessions: &[SessionSection], places: &HashMap<u64, usize>) -> BTreeSet<usize> {
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for (place, session) in sessions.iter().enumerate() {
        let deps = session
            .deps
            .numbers
            .iter()
            .filter_map(|number| places.get(number));
        edges.extend(deps.map(|dep| (*dep, place)));
    }
    let turned: Vec<(usize, usize)> = edges.iter().map(|(from, to)| (*to, *from)).collect();
    let forward = left_waiting(sessions.len(), &edges);
    let backward = left_waiting(sessions.len(), &turned);
    forward.intersection(&backward).copied().collect()
}

fn left_waiting(count: usize, edges: &[(usize, usize)]) -> BTreeSet<usize> {
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waits_for = vec![0_usize; count];
    for (from, to) in edges {
        if let (Some(list), Some(number)) = (behind.get_mut(*from), waits_for.get_mut(*to)) {
            list.push(*to);
            *number += 1;
        }
    }
    let mut free: Vec<usize> = (0..count)
        .filter(|place| waits_for.get(*place) == Some(&0))
        .collect();
    let mut left: BTreeSet<usize> = (0..count).collect();
    while let Some(place) = free.pop() {
        left.remove(&place);
        for next in behind.get(place).into_iter().flatten() {
            if let Some(number) = waits_for.get_mut(*next) {
                *number -= 1;
                if *number == 0 {
                    free.push(*next);
                }
            }
        }
    }
    left
}
