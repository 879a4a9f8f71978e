//! `DiffView`: output of `git diff` on the page, in parts of added, removed and other lines.

use crate::page::text_budget::{BlockBound, ShownText, TextBudget, left_out};

const BOUND: BlockBound = BlockBound {
    lines: 400,
    chars: 240,
    bytes: 40_000,
};
const PART_BYTES: usize = 32;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DiffPart {
    pub kind: DiffKind,
    pub text: ShownText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffKind {
    Added,
    Removed,
    Head,
    Context,
}

impl DiffKind {
    /// HTML element, for a reader who sees no colour.
    pub(crate) fn element(self) -> &'static str {
        match self {
            Self::Added => "ins",
            Self::Removed => "del",
            Self::Head => "b",
            Self::Context => "span",
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DiffView {
    pub parts: Vec<DiffPart>,
    pub added: usize,
    pub removed: usize,
}

pub(crate) fn diff_view(diff: &str, budget: &mut TextBudget) -> DiffView {
    let kinds: Vec<(DiffKind, &str)> = classified(diff).collect();
    let (added, removed) = (
        count(&kinds, DiffKind::Added),
        count(&kinds, DiffKind::Removed),
    );
    let mut parts = Vec::new();
    let (mut lines, mut bytes) = (0, 0);
    for run in kinds.chunk_by(|one, other| one.0 == other.0) {
        let size: usize = run
            .iter()
            .map(|(_, line)| line.len().min(BOUND.chars) + 1)
            .sum();
        if lines >= BOUND.lines || bytes >= BOUND.bytes || !budget.take(PART_BYTES) {
            let text = budget.line(&left_out(kinds.len() - lines, "line"), 100);
            parts.push(DiffPart {
                kind: DiffKind::Context,
                text,
            });
            break;
        }
        let bound = BlockBound {
            lines: BOUND.lines - lines,
            chars: BOUND.chars,
            bytes: BOUND.bytes - bytes,
        };
        let text = budget.block(run.iter().map(|(_, line)| *line), bound);
        lines += run.len();
        bytes += size;
        parts.extend(run.first().map(|(kind, _)| DiffPart { kind: *kind, text }));
    }
    DiffView {
        parts,
        added,
        removed,
    }
}

fn count(lines: &[(DiffKind, &str)], wanted: DiffKind) -> usize {
    lines.iter().filter(|(kind, _)| *kind == wanted).count()
}

/// Lines by kind. A sign counts only within a hunk; before it stands the head of a file.
fn classified(diff: &str) -> impl Iterator<Item = (DiffKind, &str)> {
    let mut is_in_hunk = false;
    diff.lines().map(move |line| {
        if line.starts_with("diff ") {
            is_in_hunk = false;
        } else if line.starts_with("@@") {
            is_in_hunk = true;
            return (DiffKind::Head, line);
        }
        let kind = match line.chars().next() {
            _ if !is_in_hunk => DiffKind::Head,
            Some('+') => DiffKind::Added,
            Some('-') => DiffKind::Removed,
            _ => DiffKind::Context,
        };
        (kind, line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_sign_of_a_line_in_a_hunk_counts() {
        let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@ fn x\n a\n--- b\n+++ c\n+d\ndiff --git a/y b/y\n+ e";
        let view = diff_view(diff, &mut TextBudget::new());
        let kinds: Vec<DiffKind> = view.parts.iter().map(|part| part.kind).collect();
        assert_eq!(
            kinds,
            [
                DiffKind::Head,
                DiffKind::Context,
                DiffKind::Removed,
                DiffKind::Added,
                DiffKind::Head
            ]
        );
        assert_eq!((view.added, view.removed), (2, 1));
        assert_eq!(view.parts[3].text.to_string(), "+++ c\n+d");
    }

    #[test]
    fn what_is_too_long_says_how_much_is_missing() {
        let diff = format!("@@ -1 +1 @@\n{}", "+x\n-y\n".repeat(1_000));
        let view = diff_view(&diff, &mut TextBudget::new());
        assert_eq!(
            view.parts.last().unwrap().text.to_string(),
            "… 1601 more lines left out"
        );
        let diff = format!("@@ -1 +1 @@\n{}", "+x\n".repeat(1_000));
        let view = diff_view(&diff, &mut TextBudget::new());
        assert!(
            view.parts[1]
                .text
                .to_string()
                .ends_with("… 601 more lines left out"),
            "{view:?}"
        );
    }
}
