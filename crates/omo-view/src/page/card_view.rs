//! `TaskCard`: a task, or a claim, on the page, with its attempts, checks, files and diff.

use omo_core::text::format_clock;

use crate::page::check_view::{CheckItem, check_view};
use crate::page::diff_view::{DiffView, diff_view};
use crate::page::scale_steps::format_span;
use crate::page::text_budget::{BlockBound, Rows, ShownText, TextBudget};
use crate::run_view::{AttemptView, RunView, Standing, TaskView};
use crate::tone::Tone;

const MAX_CARDS: usize = 600;
const MAX_ATTEMPTS: usize = 24;
const MAX_CHECKS: usize = 24;
const MAX_FILES: usize = 40;
const MAX_EVIDENCE: usize = 12;
const MAX_NEEDS: usize = 48;
const PATH_CHARS: usize = 200;
const WORDS_CHARS: usize = 600;
const GOAL: BlockBound = BlockBound {
    lines: 60,
    chars: 400,
    bytes: 6_000,
};
const CARD_BYTES: usize = 900;

pub(crate) struct TaskCard {
    pub place: usize,
    pub id: ShownText,
    pub title: ShownText,
    pub tone: Tone,
    pub word: &'static str,
    /// A pass whose proof is in doubt.
    pub is_doubted: bool,
    pub effort: String,
    pub goal: ShownText,
    pub needs: Vec<(usize, ShownText)>,
    pub proved_by: ShownText,
    pub attempts: Rows<AttemptItem>,
    pub checks: Rows<CheckItem>,
    pub evidence: Rows<ShownText>,
    pub files: Rows<FileItem>,
    pub diff: DiffView,
    pub note: ShownText,
    /// Unfolds the card: something went wrong.
    pub is_open: bool,
}

pub(crate) struct AttemptItem {
    pub tone: Tone,
    pub word: &'static str,
    pub when: String,
    pub took: String,
    pub why: ShownText,
}

pub(crate) struct FileItem {
    pub path: ShownText,
    pub is_out_of_scope: bool,
}

pub(crate) fn card_views(page: &RunView, budget: &mut TextBudget) -> Rows<TaskCard> {
    let places: Vec<(usize, &TaskView)> = page.tasks.iter().enumerate().collect();
    budget.shared_rows(
        &places,
        MAX_CARDS,
        "task",
        CARD_BYTES,
        |budget, (place, card)| card_view(page, *place, card, budget),
    )
}

fn card_view(page: &RunView, place: usize, card: &TaskView, budget: &mut TextBudget) -> TaskCard {
    let tone = card.tone();
    let needs: Vec<(usize, &TaskView)> = card
        .needs
        .iter()
        .filter_map(|need| Some((*need, page.tasks.get(*need)?)))
        .take(MAX_NEEDS)
        .collect();
    TaskCard {
        place,
        id: budget.line(&card.id, 64),
        title: budget.line(&card.title, 200),
        tone,
        word: card.standing.word(),
        is_doubted: card.standing == Standing::Passed && tone != Tone::Proved,
        effort: effort_words(page, card),
        goal: budget.block(card.goal.lines(), GOAL),
        needs: needs
            .into_iter()
            .map(|(need, task)| (need, budget.line(&task.id, 64)))
            .collect(),
        proved_by: budget.line(card.proved_by.as_deref().unwrap_or_default(), WORDS_CHARS),
        attempts: budget.rows(&card.history, MAX_ATTEMPTS, "attempt", |budget, attempt| {
            attempt_view(page, attempt, budget)
        }),
        checks: budget.rows(&card.checks, MAX_CHECKS, "check", |budget, check| {
            check_view(check, budget)
        }),
        evidence: budget.rows(
            &evidence_lines(card),
            MAX_EVIDENCE,
            "line",
            |budget, line| budget.line(line, WORDS_CHARS),
        ),
        files: budget.rows(&card.files, MAX_FILES, "file", |budget, path| FileItem {
            path: budget.line(path, PATH_CHARS),
            is_out_of_scope: card.out_of_scope.contains(path),
        }),
        diff: diff_view(&card.diff, budget),
        note: budget.line(card.note.as_deref().unwrap_or_default(), WORDS_CHARS),
        is_open: matches!(tone, Tone::Failed | Tone::Unproved),
    }
}

fn attempt_view(page: &RunView, attempt: &AttemptView, budget: &mut TextBudget) -> AttemptItem {
    let since = attempt
        .since
        .millis_since(page.timeline.began)
        .unwrap_or_default();
    AttemptItem {
        tone: attempt.standing().tone(),
        word: attempt.standing().word(),
        when: format!("+{}", format_clock(since)),
        took: format_span(attempt_millis(page, attempt)),
        why: budget.line(&attempt.why, WORDS_CHARS),
    }
}

fn attempt_millis(page: &RunView, attempt: &AttemptView) -> i64 {
    attempt
        .until
        .unwrap_or(page.timeline.until)
        .millis_since(attempt.since)
        .unwrap_or_default()
}

fn effort_words(page: &RunView, card: &TaskView) -> String {
    let millis = card
        .history
        .iter()
        .map(|attempt| attempt_millis(page, attempt))
        .sum();
    match card.history.len() {
        0 => String::new(),
        1 => format_span(millis),
        count => format!("{count} attempts, {}", format_span(millis)),
    }
}

/// Evidence that no check of a task repeats.
fn evidence_lines(task: &TaskView) -> Vec<&String> {
    let is_told_by_checks = task.standing == Standing::Passed && !task.checks.is_empty();
    let evidence = (!task.evidence.is_empty() && !is_told_by_checks).then_some(&task.evidence);
    evidence.into_iter().chain(&task.evidence_lines).collect()
}
