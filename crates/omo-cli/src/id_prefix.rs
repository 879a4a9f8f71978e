//! `match_id`: finds a typed id, complete or a unique prefix, among the known ones.

use omo_core::text::sanitize;

use crate::error::CommandError;

const NAMED_CANDIDATES: usize = 10;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum IdMatch<'a> {
    One(&'a str),
    None,
    Several(Vec<&'a str>),
}

pub(crate) fn match_id<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> IdMatch<'a> {
    let mut candidates: Vec<&str> = known
        .into_iter()
        .filter(|id| id.starts_with(typed))
        .collect();
    candidates.sort_unstable();
    candidates.dedup();
    match &*candidates {
        [] => IdMatch::None,
        [first, ..] if *first == typed || candidates.len() == 1 => IdMatch::One(first),
        _ => IdMatch::Several(candidates),
    }
}

pub(crate) fn ambiguous_id(
    typed: &str,
    kind: &str,
    option: &str,
    candidates: &[&str],
) -> CommandError {
    let mut lines: Vec<String> = candidates
        .iter()
        .take(NAMED_CANDIDATES)
        .map(|id| format!("  {option} {}", sanitize(id, 128)))
        .collect();
    if candidates.len() > lines.len() {
        lines.push(format!("  and {} more", candidates.len() - lines.len()));
    }
    let message = format!(
        "{} {kind} begin with `{}`",
        candidates.len(),
        sanitize(typed, 60)
    );
    CommandError::usage(
        message,
        format!("name one, or type more of it:\n{}", lines.join("\n")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_means_the_only_id_that_has_it() {
        let known = ["4f1c-a", "4f1c-b", "9", "90", "-1"];
        for (typed, expected) in [
            ("4f1c-a", IdMatch::One("4f1c-a")),
            ("4f", IdMatch::Several(vec!["4f1c-a", "4f1c-b"])),
            ("9", IdMatch::One("9")),
            ("90", IdMatch::One("90")),
            ("-", IdMatch::One("-1")),
            ("f1c", IdMatch::None),
            ("4f1c-a0", IdMatch::None),
        ] {
            assert_eq!(match_id(typed, known), expected, "{typed}");
        }
        assert_eq!(
            match_id("4", ["4f", "4f"]),
            IdMatch::One("4f"),
            "one session in two folders"
        );
    }

    #[test]
    fn candidates_are_named_and_those_that_are_too_many_counted() {
        let many: Vec<String> = (10..25).map(|number| format!("a{number}")).collect();
        let ids: Vec<&str> = many.iter().map(String::as_str).collect();
        let line = ambiguous_id("a", "sessions", "--session", &ids).line();
        assert!(line.starts_with("15 sessions begin with `a`; "), "{line}");
        assert!(
            line.contains("--session a19 and 5 more") && !line.contains("a20"),
            "{line}"
        );
    }
}
