//! `PageView`, the input of `page.html`. Each text that is not omo's own is a `ShownText`.

use askama::Template;
use data_encoding::BASE64;
use omo_core::text::{format_clock, pluralize};
use sha2::{Digest, Sha256};

use crate::page::PageReload;
use crate::page::card_view::{TaskCard, card_views};
use crate::page::check_view::{CheckItem, ReviewItem, check_view, review_view};
use crate::page::graph_view::{GraphView, graph_view};
use crate::page::scale_steps::format_span;
use crate::page::text_budget::{BlockBound, Rows, ShownText, TextBudget};
use crate::page::timeline_view::{TimelineDrawing, timeline_view};
use crate::run_view::{QuestionView, ReviewEnd, RunView, Subject, UnprovedView};
use crate::text::worker_lines;
use crate::tone::Tone;

// The page's policy allows exactly this style sheet and script, by digests without the end of the last line.
const STYLE: &str = include_str!("../../templates/page.css");
const RENEWAL_SCRIPT: &str = include_str!("../../templates/renewal.js");
const REQUEST: BlockBound = BlockBound {
    lines: 80,
    chars: 600,
    bytes: 12_000,
};
const MAX_ROWS: usize = 60;

#[derive(Template)]
#[template(path = "page.html")]
pub(crate) struct PageView {
    style_digest: String,
    renewal: Option<RenewalView>,
    tone: Tone,
    subject: &'static str,
    cards_heading: &'static str,
    title: ShownText,
    sentence: ShownText,
    took: String,
    as_of: ShownText,
    proof_summary: String,
    facts: Vec<(ShownText, ShownText)>,
    request: ShownText,
    checks: Rows<CheckItem>,
    reviews: Rows<ReviewItem>,
    unproved: Rows<UnprovedItem>,
    weakened: Rows<WeakeningItem>,
    /// Id, heading and lines of each section.
    line_sections: [(&'static str, &'static str, Rows<ShownText>); 2],
    next_steps: Rows<ShownText>,
    timeline: TimelineDrawing,
    graph: Option<GraphView>,
    cards: Rows<TaskCard>,
}

pub(crate) struct RenewalView {
    script_digest: String,
    seconds: u32,
}

pub(crate) struct UnprovedItem {
    task: ShownText,
    card: Option<usize>,
    reason: ShownText,
}

pub(crate) struct WeakeningItem {
    when: String,
    by: ShownText,
    what: ShownText,
}

/// Takes what matters most first, while the page has room.
pub(crate) fn page_view(page: &RunView, renewal: Option<PageReload>) -> PageView {
    let mut budget = TextBudget::new();
    let budget = &mut budget;
    let took = page
        .timeline
        .until
        .millis_since(page.timeline.began)
        .unwrap_or_default();
    let title = budget.line(page.shown_title(), 200);
    let sentence = budget.line(&page.heading, 400);
    let as_of = budget.line(&page.as_of, 40);
    let facts = page
        .facts
        .iter()
        .take(MAX_ROWS)
        .map(|(label, value)| (budget.line(label, 40), budget.line(value, 300)));
    let facts = facts.collect();
    let timeline = timeline_view(page, budget);
    PageView {
        style_digest: style_digest(),
        renewal: renewal.map(|renewal| RenewalView {
            script_digest: policy_digest(RENEWAL_SCRIPT),
            seconds: renewal.seconds,
        }),
        tone: page.tone(),
        subject: match page.subject {
            Subject::Plan => "run of a plan",
            Subject::Ultrawork => "ultrawork run",
        },
        cards_heading: match page.subject {
            Subject::Plan => "Tasks",
            Subject::Ultrawork => "The claim",
        },
        title,
        sentence,
        took: format_span(took),
        as_of,
        proof_summary: proof_summary(page),
        facts,
        request: budget.block(page.request.lines(), REQUEST),
        checks: budget.rows(&page.final_checks, MAX_ROWS, "check", |budget, check| {
            check_view(check, budget)
        }),
        reviews: budget.rows(&page.reviews, MAX_ROWS, "review", |budget, review| {
            review_view(page, review, budget)
        }),
        unproved: budget.rows(&unproved_items(page), MAX_ROWS, "item", |budget, item| {
            UnprovedItem {
                card: item
                    .task
                    .as_ref()
                    .and_then(|id| page.tasks.iter().position(|card| card.id == *id)),
                task: budget.line(item.task.as_deref().unwrap_or("the whole"), 64),
                reason: budget.line(&item.reason, 400),
            }
        }),
        weakened: budget.rows(&page.weakened, MAX_ROWS, "change", |budget, change| {
            WeakeningItem {
                when: change
                    .at
                    .and_then(|at| at.millis_since(page.timeline.began))
                    .map(format_clock)
                    .unwrap_or_default(),
                by: budget.line(&change.by, 120),
                what: budget.line(&change.what, 300),
            }
        }),
        line_sections: [
            ("workers", "Workers", &worker_lines(page)),
            ("findings", "Found beside that", &page.findings),
        ]
        .map(|(id, heading, lines)| {
            (
                id,
                heading,
                budget.rows(lines, MAX_ROWS, "line", |budget, line| {
                    budget.line(line, 400)
                }),
            )
        }),
        next_steps: budget.rows(&next_steps(page), MAX_ROWS, "line", |budget, line| {
            budget.line(line, 400)
        }),
        timeline,
        graph: graph_view(page, budget),
        cards: card_views(page, budget),
    }
}

pub(crate) fn style_digest() -> String {
    policy_digest(STYLE)
}

fn policy_digest(part: &str) -> String {
    BASE64.encode(Sha256::digest(part.trim_end().as_bytes()).as_ref())
}

/// `12 of 14 tasks proved, 2 not; 3 checks of the whole; 1 review`.
fn proof_summary(page: &RunView) -> String {
    let mut parts = Vec::new();
    if page.subject == Subject::Plan {
        let proved = page
            .tasks
            .iter()
            .filter(|card| card.tone() == Tone::Proved)
            .count();
        parts.push(format!(
            "{proved} of {} proved",
            pluralize(page.tasks.len(), "task")
        ));
    }
    if !page.final_checks.is_empty() {
        let green = page
            .final_checks
            .iter()
            .filter(|check| check.tone() == Tone::Proved)
            .count();
        let whole = if page.subject == Subject::Plan {
            " of the whole"
        } else {
            ""
        };
        parts.push(format!(
            "{green} of {}{whole} green",
            pluralize(page.final_checks.len(), "check")
        ));
    }
    let review_count = page
        .reviews
        .iter()
        .filter(|review| review.verdict != ReviewEnd::Missing)
        .count();
    if review_count > 0 {
        parts.push(pluralize(review_count, "review"));
    }
    parts.join(" · ")
}

/// Items without proof; a check of the whole that did not run says so itself.
fn unproved_items(view: &RunView) -> Vec<&UnprovedView> {
    view.not_verified
        .iter()
        .filter(|item| item.task.is_some() || view.subject == Subject::Ultrawork)
        .collect()
}

/// Next steps; of a waiting run its questions with their `omo answer` commands.
fn next_steps(view: &RunView) -> Vec<String> {
    let open = view.questions.iter().filter(|question| question.is_open);
    let steps: Vec<String> = open.flat_map(answer_steps).collect();
    if steps.is_empty() {
        view.next_steps.clone()
    } else {
        steps
    }
}

fn answer_steps(question: &QuestionView) -> Vec<String> {
    let asked: Vec<&str> = question
        .question
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let answers = question.options.iter().zip(&question.option_texts);
    let answers =
        answers.map(|(option, text)| format!("`omo answer {} {option}`: {text}", question.id));
    std::iter::once(asked.join(" ")).chain(answers).collect()
}
