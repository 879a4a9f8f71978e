//! Checks steps against sessions: each step in one session, in order, and within its scope fence.

use std::collections::{BTreeMap, HashMap};

use super::strategy::SessionSection;
use crate::diagnostic::Code;
use crate::dialects::ultraplan::scope_fence::{PathComparer, ScopeFence};
use crate::dialects::ultraplan::section_outline::PlanFindings;
use crate::dialects::ultraplan::step::ParsedStep;
use crate::fields::named_files::FileMention;
use crate::model::FileAction;

/// Reports steps without a session or with several, and sessions without steps or with unknown
/// ones.
pub(crate) fn report_membership(
    steps: &[ParsedStep],
    sessions: &[SessionSection],
    findings: &mut PlanFindings<'_>,
) {
    let known: HashMap<u64, &ParsedStep> = steps.iter().map(|step| (step.number, step)).collect();
    let mut owners: BTreeMap<u64, &SessionSection> = BTreeMap::new();
    for session in sessions {
        let number = session.number;
        if session.steps.numbers.is_empty() {
            let text = format!("session {number} has no steps");
            findings.add(
                Code::SessionWithoutSteps,
                session.heading.clone(),
                None,
                text,
                "",
            );
        }
        for step in &session.steps.numbers {
            let (id, span) = (step.to_string(), session.steps.span.clone());
            if !known.contains_key(step) {
                let text = format!("session {number} names step {step}, which is not there");
                findings.add(Code::SessionNamesUnknownStep, span, Some(&id), text, "");
            } else if let Some(first) = owners.insert(*step, session) {
                let text = format!(
                    "step {step} belongs to session {} and to session {number}",
                    first.number
                );
                findings.add(
                    Code::StepInSeveralSessions,
                    span,
                    Some(&id),
                    text,
                    "name it in one of them",
                );
            }
        }
    }
    for step in steps
        .iter()
        .filter(|step| !owners.contains_key(&step.number))
    {
        let text = format!(
            "step {} belongs to no session: it is run after all of them",
            step.number
        );
        findings.add(
            Code::StepInNoSession,
            step.heading.clone(),
            Some(&step.task.id),
            text,
            "",
        );
    }
}

/// Reports a step that runs after one with a greater number.
pub(crate) fn report_order(
    sessions: &[SessionSection],
    stages: &[usize],
    findings: &mut PlanFindings<'_>,
) {
    let mut by_stage: BTreeMap<usize, Vec<&SessionSection>> = BTreeMap::new();
    for (session, stage) in sessions.iter().zip(stages) {
        by_stage.entry(*stage).or_default().push(session);
    }
    // Greatest step of earlier waves.
    let mut greatest = 0;
    for (_, wave) in by_stage {
        for session in &wave {
            let mut before = greatest;
            for step in &session.steps.numbers {
                if *step < before {
                    let text = format!(
                        "session {} runs step {step} after step {before}",
                        session.number
                    );
                    return findings.add(
                        Code::SessionOrder,
                        session.steps.span.clone(),
                        None,
                        text,
                        "",
                    );
                }
                before = *step;
            }
        }
        greatest = wave
            .iter()
            .flat_map(|session| &session.steps.numbers)
            .copied()
            .chain([greatest])
            .max()
            .unwrap_or(0);
    }
}

pub(crate) fn report_numbering(
    steps: &[ParsedStep],
    first: Option<u64>,
    findings: &mut PlanFindings<'_>,
) {
    let mut numbers: Vec<u64> = steps.iter().map(|step| step.number).collect();
    if let Some([before, step]) = steps
        .windows(2)
        .find(|pair| matches!(pair, [a, b] if b.number < a.number))
    {
        let text = format!(
            "step {} stands after step {}: it is run in that order",
            step.number, before.number
        );
        findings.add(Code::StepsOutOfOrder, step.heading.clone(), None, text, "");
    }
    numbers.sort_unstable();
    numbers.dedup();
    let start = first.or(numbers.first().copied()).unwrap_or(1);
    let gap = numbers
        .iter()
        .zip(start..)
        .find(|(number, expected)| *number != expected);
    if let Some((number, _)) = gap
        && let Some(step) = steps.iter().find(|step| step.number == *number)
    {
        let text = format!("no step has the number before {number}");
        findings.add(
            Code::StepNumbersHaveGaps,
            step.heading.clone(),
            None,
            text,
            "",
        );
    }
}

pub(crate) fn report_fence<'s>(
    name: &str,
    fence: &ScopeFence,
    steps: impl Iterator<Item = &'s ParsedStep>,
    comparison: &mut PathComparer,
    findings: &mut PlanFindings<'_>,
) {
    for step in steps {
        for file in &step.files {
            let one = std::slice::from_ref(file);
            let (Ok(never), Ok(touch)) = (
                comparison.first_overlap(one, &fence.never),
                comparison.first_overlap(one, &fence.touch),
            ) else {
                return report_too_much(file, findings);
            };
            let (path, task, span) = (&file.0.path, Some(step.task.id.as_str()), file.1.clone());
            if let Some((_, pattern)) = never {
                let text = format!(
                    "step {} changes `{path}`, and {name} may never touch `{}`",
                    step.number, pattern.0.path
                );
                findings.add(
                    Code::FileInNeverTouch,
                    span,
                    task,
                    text,
                    "take it out of the step, or out of the list",
                );
            } else if touch.is_none()
                && !fence.touch.is_empty()
                && file.0.action != FileAction::Create
            {
                let text = format!(
                    "step {} changes `{path}`, which {name} does not list",
                    step.number
                );
                findings.add(Code::FileOutsideTouch, span, task, text, "add it to Touch");
            }
        }
    }
}

/// Reports sessions of one wave that may touch the same files.
pub(crate) fn report_overlaps(
    sessions: &[SessionSection],
    stages: &[usize],
    steps: &[ParsedStep],
    comparison: &mut PathComparer,
    findings: &mut PlanFindings<'_>,
) {
    let mut known: HashMap<u64, &ParsedStep> =
        steps.iter().map(|step| (step.number, step)).collect();
    let mut waves: BTreeMap<usize, Vec<(&SessionSection, Vec<FileMention>)>> = BTreeMap::new();
    for (session, stage) in sessions.iter().zip(stages) {
        // Files of its steps belong to a session, listed or not. A step of several sessions counts for the first.
        let own = session
            .steps
            .numbers
            .iter()
            .filter_map(|number| known.remove(number));
        let changed = own.flat_map(|step| &step.files);
        let all = session.fence.touch.iter().chain(changed).cloned().collect();
        waves.entry(*stage).or_default().push((session, all));
    }
    for (stage, wave) in &waves {
        let mut before: &[(&SessionSection, Vec<FileMention>)] = &[];
        for (place, (session, touched)) in wave.iter().enumerate() {
            for (other, theirs) in before {
                let Ok(pair) = comparison.first_overlap(theirs, touched) else {
                    return touched
                        .first()
                        .map_or((), |file| report_too_much(file, findings));
                };
                if let Some((first, second)) = pair {
                    let place = u64::try_from(stage + 1).unwrap_or(u64::MAX);
                    let text = format!(
                        "wave {}: sessions {} and {} may touch the same files: {} ~ {}",
                        session.wave.unwrap_or(place),
                        other.number,
                        session.number,
                        first.0.path,
                        second.0.path
                    );
                    let help = "give them different waves, or files that are apart";
                    findings.add(Code::ScopeOverlap, second.1.clone(), None, text, help);
                }
            }
            before = wave.get(..=place).unwrap_or_default();
        }
    }
}

fn report_too_much(file: &FileMention, findings: &mut PlanFindings<'_>) {
    let text = "the sessions list more paths than can be compared".to_owned();
    findings.add(
        Code::ScopeOverlap,
        file.1.clone(),
        None,
        text,
        "list folders in place of files",
    );
}
