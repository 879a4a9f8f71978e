//! Texts about changes that were taken back after a step: remaining paths, restore commands.

use omo_core::text::{list_some, sanitize};
use omo_git::kept_work::split_reference;
use omo_plan::model::Plan;

const NAMED_PATHS: usize = 8;

/// Command such as `omo run restore step-2 --run r-1`; `None` for another kind of reference.
pub fn restore_command(reference: &str) -> Option<String> {
    let (run, id) = split_reference(reference)?;
    Some(format!(
        "omo run restore {} --run {}",
        sanitize(id, 80),
        sanitize(run, 80)
    ))
}

/// The line about changes of the user that a commit displaced; `reference` keeps them.
pub fn displaced_line(reference: &str) -> String {
    let command = restore_command(reference)
        .unwrap_or_else(|| format!("git show {}", sanitize(reference, 200)));
    format!("a commit displaced changes of yours, which are kept: `{command}` brings them again")
}

/// The paths that changed meanwhile and stay as they are; `None` without any.
pub(crate) fn left_alone(plan: &Plan, paths: &[String]) -> Option<String> {
    let named = list_some(paths.iter().map(String::as_str), NAMED_PATHS);
    let word = plan.dialect.unit_word();
    (!paths.is_empty()).then(|| {
        format!(
            "left alone: {}: changed meanwhile, not by this {word}'s files",
            sanitize(&named, 400)
        )
    })
}
