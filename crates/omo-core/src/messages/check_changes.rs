//! Messages about changes of a run's checks, approvals and bounds: refused, or weakening the run.

use crate::request_source::ModelRoute;
use crate::session::CheckWeakening;
use crate::text::{format_age, sanitize};
use crate::timestamp::Timestamp;

const NAMED_WEAKENINGS: usize = 6;

/// Refusal of a request that the model made, or may have made.
pub fn not_from_person(route: ModelRoute) -> String {
    let (why, instead) = match route {
        ModelRoute::Schedule => (
            "the model scheduled this prompt",
            "type it in the session when none is due",
        ),
        ModelRoute::Shell => (
            "the shell of a session started this client",
            "type it in a client of your own",
        ),
        ModelRoute::SecondClient => (
            "another client serves this session",
            "type it there, or end that client first",
        ),
    };
    format!(
        "nothing was changed: {why}; only a person changes checks, approvals and bounds or starts a run: {instead}"
    )
}

pub(crate) fn weakened_lines(weakened: &[CheckWeakening], now: Timestamp) -> Vec<String> {
    let mut lines: Vec<String> = weakened
        .iter()
        .take(NAMED_WEAKENINGS)
        .map(|weakening| {
            format!(
                "{} {} ago, {}",
                sanitize(&weakening.what, 160),
                format_age(Some(weakening.at), now),
                weakening.by.word()
            )
        })
        .collect();
    if weakened.len() > NAMED_WEAKENINGS {
        lines.push(format!("and {} more", weakened.len() - NAMED_WEAKENINGS));
    }
    lines
}
