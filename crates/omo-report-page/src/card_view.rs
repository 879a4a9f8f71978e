//! The card of a task, or of a claim.

use omo_core::text::format_clock;

use crate::check_view::{CheckView, check_view};
use crate::diff_view::{DiffView, diff_view};
use crate::model::{Attempt, Card, Page, Standing};
use crate::scale_steps::format_span;
use crate::text_budget::{BlockBound, Rows, ShownText, TextBudget};
use crate::tone::Tone;

/// So many tasks have a card; plans with more are shown as far as that.
const MAX_CARDS: usize = 600;
const MAX_ATTEMPTS: usize = 24;
const MAX_CHECKS: usize = 24;
const MAX_FILES: usize = 40;
const MAX_EVIDENCE: usize = 12;
const MAX_NEEDS: usize = 48;
const PATH_CHARS: usize = 200;
const WORDS_CHARS: usize = 600;
const GOAL: BlockBound = BlockBound { lines: 60, chars: 400, bytes: 6_000 };
/// What a card costs beside its texts, in bytes.
const CARD_BYTES: usize = 900;

/// A card.
pub(crate) struct CardView {
    pub place: usize,
    pub id: ShownText,
    pub title: ShownText,
    pub tone: Tone,
    pub word: &'static str,
    /// It has passed, and not all that it passed proves something.
    pub is_doubted: bool,
    /// Its attempts and how long they took together.
    pub effort: String,
    pub goal: ShownText,
    pub needs: Vec<(usize, ShownText)>,
    pub proved_by: ShownText,
    pub attempts: Rows<AttemptView>,
    pub checks: Rows<CheckView>,
    pub evidence: Rows<ShownText>,
    pub files: Rows<FileView>,
    pub diff: DiffView,
    pub note: ShownText,
    /// Something went wrong with it: what there is to read about that is not folded.
    pub is_open: bool,
}

/// An attempt.
pub(crate) struct AttemptView {
    pub tone: Tone,
    pub word: &'static str,
    pub when: String,
    pub took: String,
    pub why: ShownText,
}

/// A file that was changed.
pub(crate) struct FileView {
    pub path: ShownText,
    pub is_out_of_scope: bool,
}

/// The cards of a page.
pub(crate) fn card_views(page: &Page, budget: &mut TextBudget) -> Rows<CardView> {
    let places: Vec<(usize, &Card)> = page.cards.iter().enumerate().collect();
    budget.shared_rows(&places, MAX_CARDS, "task", CARD_BYTES, |budget, (place, card)| {
        card_view(page, *place, card, budget)
    })
}

fn card_view(page: &Page, place: usize, card: &Card, budget: &mut TextBudget) -> CardView {
    let tone = card.tone();
    let needs: Vec<(usize, &Card)> =
        card.needs.iter().filter_map(|need| Some((*need, page.cards.get(*need)?))).take(MAX_NEEDS).collect();
    CardView {
        place,
        id: budget.line(&card.id, 64),
        title: budget.line(&card.title, 200),
        tone,
        word: card.standing.word(),
        is_doubted: card.standing == Standing::Passed && tone != Tone::Proved,
        effort: effort_words(page, card),
        goal: budget.block(card.goal.lines(), GOAL),
        needs: needs.into_iter().map(|(need, of)| (need, budget.line(&of.id, 64))).collect(),
        proved_by: budget.line(card.proved_by.as_deref().unwrap_or_default(), WORDS_CHARS),
        attempts: budget
            .rows(&card.attempts, MAX_ATTEMPTS, "attempt", |budget, attempt| attempt_view(page, attempt, budget)),
        checks: budget.rows(&card.checks, MAX_CHECKS, "check", |budget, check| check_view(check, budget)),
        evidence: budget.rows(&card.evidence, MAX_EVIDENCE, "line", |budget, line| budget.line(line, WORDS_CHARS)),
        files: budget.rows(&card.files, MAX_FILES, "file", |budget, path| FileView {
            path: budget.line(path, PATH_CHARS),
            is_out_of_scope: card.out_of_scope.contains(path),
        }),
        diff: diff_view(&card.diff, budget),
        note: budget.line(&card.note, WORDS_CHARS),
        is_open: matches!(tone, Tone::Failed | Tone::Unproved),
    }
}

fn attempt_view(page: &Page, attempt: &Attempt, budget: &mut TextBudget) -> AttemptView {
    let since = attempt.from.millis_since(page.timeline.began).unwrap_or_default();
    AttemptView {
        tone: attempt.end.tone(),
        word: attempt.end.word(),
        when: format!("+{}", format_clock(since)),
        took: format_span(attempt_millis(page, attempt)),
        why: budget.line(&attempt.why, WORDS_CHARS),
    }
}

fn attempt_millis(page: &Page, attempt: &Attempt) -> i64 {
    let is_running = attempt.end == Standing::Running;
    let until = attempt.until.or(is_running.then_some(page.timeline.until));
    until.and_then(|until| until.millis_since(attempt.from)).unwrap_or_default()
}

fn effort_words(page: &Page, card: &Card) -> String {
    let millis = card.attempts.iter().map(|attempt| attempt_millis(page, attempt)).sum();
    match card.attempts.len() {
        0 => String::new(),
        1 => format_span(millis),
        count => format!("{count} attempts, {}", format_span(millis)),
    }
}
