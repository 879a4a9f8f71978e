//! What the facts mean: one function for each check, from facts to findings.
//!
//! Nothing here looks at anything: all that it says follows from the facts alone.

mod installation;
mod project;
mod settings;
#[cfg(test)]
mod tests;
mod user;

use omo_core::text::command_text::quote_argument;
use omo_core::text::sanitize;

use super::facts::Facts;
use super::finding::Finding;

/// Every check, in the order in which they are told where all is well.
const CHECKS: [fn(&Facts) -> Vec<Finding>; 19] = [
    installation::client,
    installation::plugin,
    installation::versions,
    installation::programs,
    installation::hooks,
    settings::disabled_hooks,
    settings::duplicate_hooks,
    settings::omo_disable,
    settings::block_cap,
    settings::other_loops,
    project::goal,
    project::place,
    project::state,
    project::git,
    project::log,
    project::repository,
    user::trust,
    user::config,
    user::feedback,
];

/// Judges everything: what is bad first. A check that finds several things wrong has a row for each.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(facts)).map(sanitize_finding).collect();
    findings.sort_by_key(|finding| finding.level);
    findings
}

/// Of a longer text only so many characters are told.
const MOST_CHARS: usize = 600;

/// Makes the texts of a finding harmless: any program may have chosen the names and contents of files.
fn sanitize_finding(finding: Finding) -> Finding {
    let sanitize = |text: String| sanitize(&text, MOST_CHARS);
    Finding {
        found: sanitize(finding.found),
        why: finding.why.map(sanitize),
        fix: finding.fix.map(sanitize),
        ..finding
    }
}

/// What is wrong, or that nothing is.
fn or_good(problems: Vec<Finding>, good: impl FnOnce() -> Finding) -> Vec<Finding> {
    if problems.is_empty() { vec![good()] } else { problems }
}

/// A path in a command that a person may copy.
fn quote_path(path: &std::path::Path) -> String {
    quote_argument(&path.to_string_lossy())
}
