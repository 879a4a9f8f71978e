//! `docs/06-plans/execution-report.md`, shared by several plans: every byte outside of this plan's section stays.

use std::fmt::Write;
use std::ops::Range;

use omo_core::text::sanitize;
use omo_plan::diagnostic::Code;
use omo_view::run_view::TaskCounts;

use crate::report::dev_workflow::{EndedTask, ended_tasks, run_status};
use crate::report::judged_with::judged_with;
use crate::state::{RunPhase, RunState};
use crate::task_counterfactual;

const HEADING: &str = "## Execution Report";

/// The plan's section as Markdown, from its heading on.
pub fn section(state: &RunState) -> String {
    let counts = state.task_counts();
    // A paragraph each: rendered, consecutive lines run into one.
    let mut text = format!("{HEADING}\n\n{}\n\n", plan_line(&state.plan.source.path));
    let _ = write!(text, "**Status:** {}\n\n", report_status(state));
    let _ = write!(
        text,
        "**Tasks:** {}\n\n",
        tally(counts, state.plan.policy.unproved_continues)
    );
    if state
        .plan
        .diagnostics
        .iter()
        .any(|found| found.code == Code::NoContractVersion)
    {
        let _ = write!(
            text,
            "**Legacy mode:** the plan names no `contract_version`; its tasks run without a Task Contract\n\n"
        );
    }
    let _ = write!(text, "### Task Results\n\n");
    for task in ended_tasks(state) {
        let _ = writeln!(text, "{}", row(&task));
        for remark in remarks(state, &task.id) {
            let _ = writeln!(text, "  - {remark}");
        }
    }
    answers(&mut text, state);
    text
}

fn report_status(state: &RunState) -> &'static str {
    match state.phase {
        RunPhase::Cancelled { .. } => "cancelled",
        RunPhase::Executing | RunPhase::Ended { .. } => run_status(state, "in-progress"),
    }
}

fn answers(text: &mut String, state: &RunState) {
    let answered = state
        .questions
        .iter()
        .filter_map(|known| Some((&known.question, known.answer.as_ref()?)));
    for (place, (question, answer)) in answered.enumerate() {
        if place == 0 {
            let _ = write!(text, "\n### Answers\n\n");
        }
        let asked = one_line(question.text.lines().next().unwrap_or_default());
        let _ = writeln!(
            text,
            "- {}: {asked} **{}** ({}, {})",
            question.id,
            answer.option,
            answer.by.describe(),
            answer.at
        );
    }
}

fn plan_line(path: &str) -> String {
    format!("**Plan:** {}", one_line(path))
}

fn tally(counts: TaskCounts, lets_be_unproved: bool) -> String {
    let TaskCounts {
        total,
        passed,
        claimed,
        failed,
        unproved,
        blocked,
        pending,
    } = counts;
    let (failed, unproved) = if lets_be_unproved {
        (failed, unproved)
    } else {
        (failed + unproved, 0)
    };
    let unchecked = if claimed > 0 {
        format!(" ({claimed} of them unchecked)")
    } else {
        String::new()
    };
    let completed = passed + claimed;
    let unproved = if unproved > 0 {
        format!(", {unproved} unproved")
    } else {
        String::new()
    };
    format!(
        "{total} total, {completed} completed{unchecked}{unproved}, {blocked} blocked, {failed} failed, {pending} pending"
    )
}

fn row(task: &EndedTask) -> String {
    let (title, evidence) = (one_line(&task.title), one_line(&task.evidence));
    format!(
        "- Task {}: {title} {} — {evidence}",
        task.id,
        task.status.mark()
    )
}

fn remarks(state: &RunState, id: &str) -> Vec<String> {
    let Some(task) = state.tasks.get(id) else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    let end = task.last_end.as_ref();
    if let Some(files) = end
        .map(|end| &end.out_of_scope)
        .filter(|files| !files.is_empty())
    {
        remarks.push(format!(
            "changed files that the task does not name: {}",
            listed(files)
        ));
    }
    let judging: Vec<String> = state
        .changed_check_files
        .iter()
        .filter(|(_, by)| *by == id)
        .map(|(file, _)| file.clone())
        .collect();
    if !judging.is_empty() {
        remarks.push(format!("changed what checks run: {}", listed(&judging)));
    }
    if !task.already_green.is_empty() {
        remarks.push("its check was green before the work began, so it proves little".to_owned());
    }
    remarks.extend(
        state
            .plan
            .task(id)
            .and_then(|task| task_counterfactual::weakness(state, task)),
    );
    remarks.extend(judged_with(task));
    if task.attempts > 1 {
        remarks.push(format!("attempt {}", task.attempts));
    }
    if let Some(note) = end.and_then(|end| end.note.as_ref()) {
        remarks.push(format!("note: {}", one_line(note)));
    }
    remarks
}

fn listed(files: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<String> = files
        .iter()
        .take(SHOWN)
        .map(|file| one_line(file))
        .collect();
    if files.len() > SHOWN {
        names.push(format!("and {} more", files.len() - SHOWN));
    }
    names.join(", ")
}

fn one_line(text: &str) -> String {
    sanitize(text, 300).replace("<!--", "<! --")
}

/// Byte range of a plan's section: to the next heading of its level, or of the first level.
pub(crate) fn find_section(file: &[u8], plan: &str) -> Option<Range<usize>> {
    let wanted = plan_line(plan);
    let mut begins: Option<usize> = None;
    let mut found: Option<usize> = None;
    let mut offset = 0;
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        let trimmed = line.trim_ascii_end();
        if trimmed.starts_with(b"## ") || trimmed.starts_with(b"# ") {
            if let Some(start) = found {
                return Some(start..offset);
            }
            begins = (trimmed == HEADING.as_bytes()).then_some(offset);
        } else if trimmed == wanted.as_bytes() {
            found = found.or(begins);
        }
        offset += line.len();
    }
    found.map(|start| start..offset)
}

/// The file with the section of a plan replaced or appended. Its other bytes may be anything.
pub(crate) fn with_section(file: &[u8], plan: &str, section: &str) -> Vec<u8> {
    let Some(range) = find_section(file, plan) else {
        let gap: &[u8] = match file {
            [] => b"",
            file if file.ends_with(b"\n\n") => b"",
            file if file.ends_with(b"\n") => b"\n",
            _ => b"\n\n",
        };
        return [file, gap, section.as_bytes()].concat();
    };
    let before = file.get(..range.start).unwrap_or_default();
    let after = file.get(range.end..).unwrap_or_default();
    let gap: &[u8] = if after.is_empty() { b"" } else { b"\n" };
    [before, section.as_bytes(), gap, after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: &str = "# Notes\n\ntext\n\n## Execution Report\n\n**Plan:** docs/other.md\n**Status:** complete\n\n### Task Results\n\n- Task 1: x ✅ — y\n";

    #[test]
    fn only_the_section_of_the_plan_is_touched() {
        let one = "## Execution Report\n\n**Plan:** p.md\n**Status:** in-progress\n";
        let two = "## Execution Report\n\n**Plan:** p.md\n**Status:** complete\n";
        let put = |file: &str, section| {
            String::from_utf8(with_section(file.as_bytes(), "p.md", section)).unwrap()
        };
        let begun = put(OTHER, one);
        assert_eq!(begun, format!("{OTHER}\n{one}"));
        assert_eq!(put(&begun, two), format!("{OTHER}\n{two}"));
        let tail = "## Later\n\n**Plan:** p.md in a sentence\n";
        let between = format!("{OTHER}\n{one}\n{tail}");
        assert_eq!(put(&between, two), format!("{OTHER}\n{two}\n{tail}"));
        assert_eq!(find_section(OTHER.as_bytes(), "p.md"), None);
        assert_eq!(put("", one), one);
        let odd = [b"\xff\r\n".as_slice(), begun.as_bytes(), b"\n## \xfe"].concat();
        let changed = with_section(&odd, "p.md", two);
        assert!(
            changed.starts_with(b"\xff\r\n# Notes") && changed.ends_with(b"complete\n\n## \xfe")
        );
    }

    #[test]
    fn a_plan_line_outside_of_a_section_is_none() {
        assert_eq!(find_section(b"**Plan:** p.md\n", "p.md"), None);
        assert_eq!(find_section(b"## Else\n**Plan:** p.md\n", "p.md"), None);
    }
}
