//! `## Dry Run Report`: the steps and faults of a plan, shown in place of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use omo_core::check::task_check::TaskCheck;
use omo_core::text::command_text::paste_form;
use omo_core::text::{inline_code, pluralize, sanitize};
use omo_plan::diagnostic::{Diagnostic, Severity};
use omo_plan::model::{FileAction, Plan, Precondition, Task, TaskGroup};
use omo_plan::plan_summary::{SESSION_PREFIX, session_groups};

use super::{command_for, file_name, on_failure_word};
use crate::billing::BillingFacts;
use crate::preflight::{PreflightFinding, PreflightSeverity};
use crate::report::table::{cell, code_cell, table};
use crate::request::arguments::PlanSelection;
use crate::request::part::{selected_groups, selected_tasks};

#[derive(Clone, Debug, Default)]
pub struct DryRunFacts {
    pub existing: BTreeSet<String>,
    pub proofs: BTreeMap<String, String>,
    pub findings: Vec<PreflightFinding>,
    pub billing: BillingFacts,
}

#[derive(Clone, Debug)]
pub struct DryRunReport {
    pub text: String,
    pub is_ready: bool,
}

/// The report on the selected part of a plan; `is_ready` if it has no issue.
pub fn dry_run_report(plan: &Plan, part: PlanSelection, facts: &DryRunFacts) -> DryRunReport {
    let (tasks, groups) = (selected_tasks(plan, part), selected_groups(plan, part));
    let mut text = format!(
        "## Dry Run Report: {}\n\n",
        sanitize(file_name(&plan.source.path), 120)
    );
    let _ = write!(
        text,
        "**Type:** {}  \n**Steps:** {}\n\n",
        plan.dialect.rules().file_type(),
        tasks.len()
    );
    let _ = write!(
        text,
        "### Step Validation\n\n{}",
        task_table(plan, &tasks, facts)
    );
    let others: Vec<&Diagnostic> = plan
        .diagnostics
        .iter()
        .filter(|found| found.task.is_none())
        .collect();
    for found in &others {
        let _ = writeln!(
            text,
            "- Line {}: {}",
            found.line,
            sanitize(&found.text, 300)
        );
    }
    // For a plan with an exit condition they stand there.
    let whole: &[TaskCheck] = if plan.dialect.rules().is_one_session() {
        &[]
    } else {
        &plan.final_checks
    };
    for check in whole {
        let _ = writeln!(
            text,
            "- Check of the whole: {}",
            paste_form(&check.command, 1_000)
        );
    }
    text += if others.is_empty() && whole.is_empty() {
        ""
    } else {
        "\n"
    };
    text += &files(&tasks, facts);
    text += &conditions(plan);
    text += &execution_preview(plan, &groups, facts);
    text += &findings(facts);
    let issues = count_issues(plan, &tasks, facts);
    let warnings = facts
        .findings
        .iter()
        .filter(|found| found.severity == PreflightSeverity::Warning)
        .count();
    let verdict = match issues {
        0 if warnings > 0 => format!(
            "READY — with {}, see Pre-flight",
            pluralize(warnings, "warning")
        ),
        0 => "READY".to_owned(),
        1 => "NEEDS ATTENTION — 1 issue found".to_owned(),
        more => format!("NEEDS ATTENTION — {more} issues found"),
    };
    let _ = write!(text, "### Verdict\n\n{verdict}\n");
    DryRunReport {
        text,
        is_ready: issues == 0,
    }
}

fn count_issues(plan: &Plan, tasks: &[&Task], facts: &DryRunFacts) -> usize {
    let wrong = plan
        .diagnostics
        .iter()
        .filter(|found| {
            found
                .task
                .as_ref()
                .is_none_or(|id| tasks.iter().any(|task| task.id == *id))
        })
        .filter(|found| found.severity != Severity::Note)
        .count();
    let missing = tasks
        .iter()
        .flat_map(|task| &task.files)
        .filter(|file| is_missing(file.action, &file.path, facts));
    let missing: BTreeSet<&str> = missing.map(|file| file.path.as_str()).collect();
    let stops = facts
        .findings
        .iter()
        .filter(|finding| finding.severity == PreflightSeverity::Stop)
        .count();
    wrong + missing.len() + stops
}

fn is_missing(action: FileAction, path: &str, facts: &DryRunFacts) -> bool {
    matches!(action, FileAction::Modify | FileAction::Delete) && !facts.existing.contains(path)
}

fn task_table(plan: &Plan, tasks: &[&Task], facts: &DryRunFacts) -> String {
    let rows: Vec<[String; 6]> = tasks
        .iter()
        .map(|task| task_row(plan, task, facts))
        .collect();
    table(
        [
            "Step",
            "Description",
            "Verify",
            "On failure",
            "Checkpoint",
            "Issues",
        ],
        &rows,
    )
}

fn task_row(plan: &Plan, task: &Task, facts: &DryRunFacts) -> [String; 6] {
    let found = plan
        .diagnostics
        .iter()
        .filter(|found| found.task.as_ref() == Some(&task.id));
    let found: Vec<String> = found.map(|found| found.text.clone()).collect();
    let checks: Vec<&str> = task
        .checks
        .iter()
        .map(|check| check.command.as_str())
        .collect();
    [
        task.id.clone(),
        cell(&task.title, 60),
        match facts.proofs.get(&task.id).filter(|_| checks.is_empty()) {
            Some(proof) => cell(proof, 60),
            None if checks.is_empty() => "—".to_owned(),
            None => code_cell(&checks.join("; "), 60),
        },
        on_failure_word(task.on_failure).to_owned(),
        task.commit
            .as_ref()
            .map_or_else(|| "—".to_owned(), |commit| cell(&commit.message, 60)),
        if found.is_empty() {
            "none".to_owned()
        } else {
            cell(&found.join("; "), 200)
        },
    ]
}

fn files(tasks: &[&Task], facts: &DryRunFacts) -> String {
    let mut paths = BTreeSet::new();
    let mut text = "### File References\n\n".to_owned();
    for file in tasks
        .iter()
        .flat_map(|task| &task.files)
        .filter(|file| paths.insert(file.path.as_str()))
    {
        let is_there = facts.existing.contains(&file.path);
        let is_new = matches!(file.action, FileAction::Create | FileAction::Test);
        let word = match (is_there, is_new) {
            (true, true) if file.action == FileAction::Create => "EXISTS (marked as new file)",
            (true, _) => "EXISTS",
            (false, true) => "NOT FOUND (marked as new file)",
            (false, false) => "NOT FOUND (unexpected — may be missing)",
        };
        let _ = writeln!(text, "- `{}`: {word}", inline_code(&file.path, 200));
    }
    text += if paths.is_empty() {
        "The plan names no files.\n\n"
    } else {
        "\n"
    };
    text
}

fn conditions(plan: &Plan) -> String {
    if !plan.dialect.rules().is_one_session() {
        return String::new();
    }
    let mut text = "### Entry / Exit Conditions\n\n".to_owned();
    for precondition in &plan.preconditions {
        if let Precondition::EntryCondition {
            text: condition,
            checks,
        } = precondition
        {
            let _ = writeln!(text, "- Entry: {}", sanitize(condition, 300));
            for check in checks {
                let _ = writeln!(text, "  - would run {}", paste_form(&check.command, 1_000));
            }
        }
    }
    for check in &plan.final_checks {
        let _ = writeln!(
            text,
            "- Exit: would run {}",
            paste_form(&check.command, 1_000)
        );
    }
    text + "\n"
}

fn execution_preview(plan: &Plan, selected: &[&TaskGroup], facts: &DryRunFacts) -> String {
    let groups: Vec<&TaskGroup> = session_groups(plan).collect();
    if groups.is_empty() {
        return String::new();
    }
    let shown = groups
        .iter()
        .filter(|group| selected.iter().any(|known| known.id == group.id));
    let rows: Vec<[String; 5]> = shown.map(|group| session_row(plan, group)).collect();
    let waves: BTreeSet<usize> = groups.iter().map(|group| group.wave).collect();
    format!(
        "### Execution Preview\n\nSessions: {} across {} waves\n\n{}{}\n\n",
        groups.len(),
        waves.len(),
        table(["Wave", "Session", "Steps", "Depends on", "Command"], &rows),
        facts.billing.summary_line()
    )
}

fn session_row(plan: &Plan, group: &TaskGroup) -> [String; 5] {
    let deps: Vec<String> = group
        .deps
        .iter()
        .map(|id| format!("S{}", session_number(id)))
        .collect();
    [
        (group.wave + 1).to_string(),
        format!(
            "Session {}: {}",
            session_number(&group.id),
            cell(&group.title, 60)
        ),
        group.tasks.join(", "),
        if deps.is_empty() {
            "none".to_owned()
        } else {
            deps.join(", ")
        },
        code_cell(
            &format!(
                "{} --session {} {}",
                command_for(plan),
                session_number(&group.id),
                plan.source.path
            ),
            160,
        ),
    ]
}

fn session_number(id: &str) -> &str {
    id.strip_prefix(SESSION_PREFIX).unwrap_or(id)
}

fn findings(facts: &DryRunFacts) -> String {
    let lines: String = facts
        .findings
        .iter()
        .map(|found| format!("- {}: {}\n", found.text, found.hint))
        .collect::<Vec<_>>()
        .concat();
    if lines.is_empty() {
        lines
    } else {
        format!("### Pre-flight\n\n{lines}\n")
    }
}
