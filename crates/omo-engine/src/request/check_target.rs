//! Checks of a request: the plan's file exists, and so does the step or the session in it.

use omo_core::text::sanitize;
use omo_plan::model::Plan;
use omo_plan::plan_summary::{SESSION_PREFIX, session_groups};

use super::arguments::{ArgumentError, PlanSelection};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathTarget {
    File,
    Folder,
    Other,
    Nothing,
}

/// A missing path, or one that is neither a file nor a folder, is an error.
pub fn check_file(path: &str, found: PathTarget) -> Result<(), ArgumentError> {
    let shown = sanitize(path, 200);
    match found {
        PathTarget::File | PathTarget::Folder => Ok(()),
        PathTarget::Other => Err(ArgumentError::new(
            format!("not a file: {shown}"),
            "name the file of the plan",
        )),
        PathTarget::Nothing => Err(ArgumentError {
            is_missing: true,
            ..ArgumentError::new(
                format!("file not found: {shown}"),
                "a path is taken from the folder that you are in",
            )
        }),
    }
}

/// An unknown step or session, or a plan without sessions, is an error.
pub fn check_selection(plan: &Plan, part: PlanSelection) -> Result<(), ArgumentError> {
    let (word, number, known) = match part {
        PlanSelection::Whole => return Ok(()),
        PlanSelection::Step(number) => (
            "step",
            number,
            sorted_numbers(plan.tasks.iter().map(|task| task.id.as_str())),
        ),
        PlanSelection::Session(number) => {
            let ids =
                session_groups(plan).filter_map(|group| group.id.strip_prefix(SESSION_PREFIX));
            ("session", number, sorted_numbers(ids))
        }
    };
    if known.contains(&number) {
        return Ok(());
    }
    if word == "session" && known.is_empty() {
        return Err(ArgumentError::new(
            "plan has no Execution Strategy",
            "leave out --session to run all of its steps",
        ));
    }
    let message = format!("no {word} {number} (plan has {})", format_ranges(&known));
    Err(ArgumentError::new(
        message,
        format!("name one of its {word}s"),
    ))
}

fn sorted_numbers<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<u64> {
    let mut numbers: Vec<u64> = ids.filter_map(|id| id.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Text such as `1..5`, or `1..3, 7` where some are missing.
fn format_ranges(numbers: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*number) => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let shown = ranges.iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}..{last}")
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}
