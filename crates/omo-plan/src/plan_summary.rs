//! Summary of an ultraplan or a session, shown before its run: `Type: plan`, `Steps: 3`, warnings.

use std::collections::{BTreeMap, HashSet};

use crate::diagnostic::Code;
use crate::dialects::PlanKind;
use crate::model::{Plan, Precondition, Task, TaskGroup};

/// Start of a session group's id, before its number.
pub const SESSION_PREFIX: &str = "session-";

/// Groups of sessions, without the group of steps that have no session.
pub fn session_groups(plan: &Plan) -> impl Iterator<Item = &TaskGroup> {
    plan.groups
        .iter()
        .filter(|group| group.id.starts_with(SESSION_PREFIX))
}

/// Lines `Type: plan`, `Steps: 3` and, with sessions, about their waves.
pub fn summary_lines(plan: &Plan) -> Vec<String> {
    let dialect = plan.dialect.rules();
    let word = if dialect.kind() == PlanKind::Steps {
        "Steps"
    } else {
        "Tasks"
    };
    let mut lines = vec![
        format!("Type: {}", dialect.file_type()),
        format!("{word}: {}", plan.tasks.len()),
    ];
    let sessions: Vec<&TaskGroup> = session_groups(plan).collect();
    if !sessions.is_empty() {
        let waves = sessions_per_wave(&sessions).len();
        lines.push(format!(
            "Execution Strategy: {} sessions across {waves} waves",
            sessions.len()
        ));
    }
    if dialect.is_one_session() {
        lines.push(format!("Entry condition: {}", entry_condition_text(plan)));
        let touch: usize = plan.groups.iter().map(|group| group.may_touch.len()).sum();
        let never: usize = plan
            .groups
            .iter()
            .map(|group| group.never_touch.len())
            .sum();
        lines.push(format!("Scope fence: {touch} touch, {never} never-touch"));
    }
    let warnings = warning_lines(plan);
    if !warnings.is_empty() {
        lines.push(format!("Warnings: {}", warnings.join("; ")));
    }
    lines
}

/// Warnings about missing fields of steps, with their defaults, in the order of the file.
pub fn warning_lines(plan: &Plan) -> Vec<String> {
    let mut tasks: Vec<&Task> = plan.tasks.iter().collect();
    tasks.sort_by_key(|task| task.lines);
    let lacks: HashSet<(&str, Code)> = plan
        .diagnostics
        .iter()
        .filter_map(|found| Some((found.task.as_deref()?, found.code)))
        .collect();
    let mut statements = Vec::new();
    for task in tasks {
        if lacks.contains(&(task.id.as_str(), Code::MissingOnFailure)) {
            statements.push(format!(
                "Step {}: missing On failure, defaulting to escalate",
                task.id
            ));
        }
        if lacks.contains(&(task.id.as_str(), Code::MissingVerify)) {
            statements.push(format!("Step {}: missing Verify", task.id));
        }
    }
    statements
}

fn entry_condition_text(plan: &Plan) -> &str {
    let text = plan
        .preconditions
        .iter()
        .find_map(|precondition| match precondition {
            Precondition::EntryCondition { text, .. } => Some(text.as_str()),
            Precondition::Verification { .. } | Precondition::Decision(_) => None,
        });
    text.unwrap_or("none")
}

/// Number of sessions in each wave, as pairs of wave and number.
pub fn sessions_per_wave(sessions: &[&TaskGroup]) -> Vec<(usize, usize)> {
    let mut waves = BTreeMap::new();
    for session in sessions {
        *waves.entry(session.wave).or_insert(0) += 1;
    }
    waves.into_iter().collect()
}
