//! Parser of the `On failure:` line of an ultraplan step.

use super::first_paragraph;
use crate::dialects::ultraplan::inline_code::sole_code;
use crate::model::OnFailure;
use crate::pattern::Pattern;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureClause<'a> {
    pub action: Option<OnFailure>,
    /// Text beside the action.
    pub detail: Option<&'a str>,
    /// `true` for a text that names another action, or a number of attempts.
    pub has_more: bool,
}

/// Reads the value of the line; `None` for an empty one.
pub fn parse_on_failure(value: &str) -> Option<FailureClause<'_>> {
    let value = first_paragraph(value);
    if value.is_empty() {
        return None;
    }
    let start = value.trim_start_matches(['*', '_', '`', '"']);
    let word_end = start
        .find(|char: char| !char.is_alphabetic())
        .unwrap_or(start.len());
    let (word, rest) = start.split_at(word_end);
    let rest = rest.trim_start_matches(['*', '_', '`', '"']).trim();
    let detail =
        rest.trim_start_matches(|char: char| char.is_whitespace() || ".,:;-–—→".contains(char));
    let detail = sole_code(detail).unwrap_or(detail);
    let action = parse_action(word);
    Some(FailureClause {
        action,
        detail: Some(detail).filter(|detail| !detail.is_empty()),
        has_more: action.is_some() && names_more(rest),
    })
}

pub fn max_attempts(action: OnFailure) -> u32 {
    match action {
        OnFailure::Revert | OnFailure::Retry => 3,
        OnFailure::Skip | OnFailure::Escalate | OnFailure::Hold => 1,
    }
}

fn parse_action(word: &str) -> Option<OnFailure> {
    match word.to_ascii_lowercase().as_str() {
        "revert" => Some(OnFailure::Revert),
        "retry" => Some(OnFailure::Retry),
        "skip" => Some(OnFailure::Skip),
        "escalate" => Some(OnFailure::Escalate),
        _ => None,
    }
}

static MORE: Pattern = Pattern::new(concat!(
    r"\b(?:(?:max|maximum|most)[^a-z0-9]+[0-9]+|[0-9]+[^a-z0-9]+(?:times|attempts|tries|retries)",
    r"|once|twice|revert|retry|skip|escalate)\b",
));

/// `true` for another action or a number of attempts outside of backticks, which hold commands.
fn names_more(rest: &str) -> bool {
    let plain = crate::dialects::ultraplan::inline_code::split_inline_code(rest)
        .into_iter()
        .filter(|piece| !piece.is_code);
    MORE.is_match(
        &plain
            .map(|piece| piece.text)
            .collect::<Vec<_>>()
            .join(" ")
            .to_ascii_lowercase(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_is_an_action_and_what_is_said_beside_it() {
        use OnFailure::{Escalate, Retry, Revert, Skip};
        for (value, action, detail, has_more) in [
            ("revert", Some(Revert), None, false),
            ("Revert.", Some(Revert), None, false),
            (
                "**revert** — `git checkout -- a.rs`",
                Some(Revert),
                Some("git checkout -- a.rs"),
                false,
            ),
            ("`revert`", Some(Revert), None, false),
            (
                "retry — use the sync client",
                Some(Retry),
                Some("use the sync client"),
                false,
            ),
            ("retry: 別の方法", Some(Retry), Some("別の方法"), false),
            (
                "Retry with less, then escalate",
                Some(Retry),
                Some("with less, then escalate"),
                true,
            ),
            ("skip → escalate", Some(Skip), Some("escalate"), true),
            (
                "SKIP (non-critical)",
                Some(Skip),
                Some("(non-critical)"),
                false,
            ),
            ("escalate to human", Some(Escalate), Some("to human"), false),
            ("revert or retry", Some(Revert), Some("or retry"), true),
            ("retry (max 5)", Some(Retry), Some("(max 5)"), true),
            ("retry 2 times", Some(Retry), Some("2 times"), true),
            (
                "retry at most 3 times",
                Some(Retry),
                Some("at most 3 times"),
                true,
            ),
            (
                "retry — `retry.sh` with port 5",
                Some(Retry),
                Some("`retry.sh` with port 5"),
                false,
            ),
            ("revert-only", Some(Revert), Some("only"), false),
            ("revert\n\n---", Some(Revert), None, false),
            (
                "retry\nanother way\n\nSkip the rest.",
                Some(Retry),
                Some("another way"),
                false,
            ),
            ("abort", None, None, false),
            ("reverting", None, None, false),
            ("— ask", None, Some("ask"), false),
        ] {
            assert_eq!(
                parse_on_failure(value),
                Some(FailureClause {
                    action,
                    detail,
                    has_more
                }),
                "{value}"
            );
        }
        assert_eq!(parse_on_failure(" \n"), None);
    }
}
