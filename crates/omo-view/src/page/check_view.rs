//! `CheckItem` and `ReviewItem`: a check and a review on the page.

use omo_core::text::{format_clock, format_duration};

use crate::page::text_budget::{BlockBound, ShownText, TextBudget};
use crate::run_view::{CheckView, ReviewView, RunView};
use crate::tone::Tone;

const COMMAND: BlockBound = BlockBound {
    lines: 12,
    chars: 400,
    bytes: 2_000,
};
const OUTPUT: BlockBound = BlockBound {
    lines: 40,
    chars: 300,
    bytes: 6_000,
};
const WORDS: BlockBound = BlockBound {
    lines: 60,
    chars: 600,
    bytes: 8_000,
};
/// Shown characters of a tree id.
const TREE_CHARS: usize = 12;

pub(crate) struct CheckItem {
    pub tone: Tone,
    pub word: &'static str,
    pub command: ShownText,
    pub detail: ShownText,
    pub facts: String,
    pub tree: ShownText,
    pub output: ShownText,
}

pub(crate) fn check_view(check: &CheckView, budget: &mut TextBudget) -> CheckItem {
    let took = check.duration_millis.map(format_duration);
    let log = check.log.as_ref().filter(|_| !check.output.is_empty());
    let whole_output = log.map(|log| format!("(all of it: {log})"));
    let exit = check.exit.map(|exit| format!("exit {exit}"));
    CheckItem {
        tone: check.tone(),
        word: check.word(),
        command: budget.block(check.command.lines(), COMMAND),
        detail: budget.line(
            if is_exit_alone(check) {
                ""
            } else {
                &check.detail
            },
            400,
        ),
        facts: took.into_iter().chain(exit).collect::<Vec<_>>().join(", "),
        tree: budget.line(check.tree.as_deref().unwrap_or_default(), TREE_CHARS),
        output: budget.block(
            check.output.iter().chain(&whole_output).map(String::as_str),
            OUTPUT,
        ),
    }
}

fn is_exit_alone(check: &CheckView) -> bool {
    check
        .exit
        .is_some_and(|exit| check.detail == format!("exit status {exit}"))
}

pub(crate) struct ReviewItem {
    pub tone: Tone,
    pub word: &'static str,
    pub reviewer: ShownText,
    pub when: String,
    pub tree: ShownText,
    pub words: ShownText,
}

pub(crate) fn review_view(
    page: &RunView,
    review: &ReviewView,
    budget: &mut TextBudget,
) -> ReviewItem {
    let since = review
        .at
        .and_then(|at| at.millis_since(page.timeline.began));
    ReviewItem {
        tone: review.tone(),
        word: review.word(),
        reviewer: budget.line(&review.reviewer, 80),
        when: since
            .map(|since| format!("+{}", format_clock(since)))
            .unwrap_or_default(),
        tree: budget.line(review.tree.as_deref().unwrap_or_default(), TREE_CHARS),
        words: budget.block(review.words.lines(), WORDS),
    }
}
