//! The judgement of the facts: one pure function for each check, from `Facts` to `Finding`s.

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

/// All findings, the worst first. A check has a row for each problem.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS
        .iter()
        .flat_map(|check| check(facts))
        .map(sanitize_finding)
        .collect();
    findings.sort_by_key(|finding| finding.level);
    findings
}

const MOST_CHARS: usize = 600;

/// Sanitizes a finding: any program may have chosen the names and contents of files.
fn sanitize_finding(finding: Finding) -> Finding {
    Finding {
        found: sanitize(&finding.found, MOST_CHARS),
        why: finding.why.map(|why| sanitize(&why, MOST_CHARS)),
        fix: finding.fix.map(|fix| sanitize(&fix, MOST_CHARS)),
        ..finding
    }
}

fn or_good(problems: Vec<Finding>, good: impl FnOnce() -> Finding) -> Vec<Finding> {
    if problems.is_empty() {
        vec![good()]
    } else {
        problems
    }
}

fn quote_path(path: &std::path::Path) -> String {
    quote_argument(&path.to_string_lossy())
}
