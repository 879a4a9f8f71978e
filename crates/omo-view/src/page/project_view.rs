//! `ProjectView`, the input of `project.html`. Each text that is not omo's own is a `ShownText`.

use askama::Template;
use omo_core::text::pluralize;

use crate::page::page_view::style_digest;
use crate::page::project_model::{ProjectPage, ProjectRun, TaskTally};
use crate::page::scale_steps::format_span;
use crate::page::text_budget::{Rows, ShownText, TextBudget, left_out};
use crate::page::trend_view::{TrendView, trend_view};
use crate::run_view::Subject;
use crate::tone::Tone;

const MAX_RUNS: usize = 100;
const MAX_PROBLEMS: usize = 20;

#[derive(Template)]
#[template(path = "project.html")]
pub(crate) struct ProjectView {
    style_digest: String,
    title: ShownText,
    scope: ShownText,
    as_of: ShownText,
    verdicts: Vec<(Tone, String)>,
    trend: Option<TrendView>,
    runs: Vec<RunRow>,
    more: String,
    problems: Rows<ShownText>,
}

pub(crate) struct RunRow {
    pub place: usize,
    pub tone: Tone,
    pub title: ShownText,
    pub link: Option<String>,
    pub began: ShownText,
    pub took: String,
    sentence: ShownText,
    kind: &'static str,
    request: ShownText,
    facts: Vec<ShownText>,
}

/// The newest run stands first.
pub(crate) fn project_view(page: &ProjectPage) -> ProjectView {
    let mut budget = TextBudget::new();
    let budget = &mut budget;
    let mut order: Vec<&ProjectRun> = page.runs.iter().collect();
    order.sort_by_key(|run| std::cmp::Reverse(run.began));
    order.truncate(MAX_RUNS);
    let hidden = page.runs.len() - order.len() + page.unread;
    let (title, scope) = (budget.line(&page.title, 200), budget.line(&page.scope, 400));
    let as_of = budget.line(&page.as_of, 40);
    let runs: Vec<RunRow> = order
        .iter()
        .enumerate()
        .map(|(place, run)| run_row(place, run, budget))
        .collect();
    ProjectView {
        style_digest: style_digest(),
        title,
        scope,
        as_of,
        verdicts: verdict_counts(&order),
        trend: trend_view(&order, page.now),
        runs,
        more: if hidden == 0 {
            String::new()
        } else {
            left_out(hidden, "run")
        },
        problems: budget.rows(&page.problems, MAX_PROBLEMS, "run", |budget, line| {
            budget.line(line, 300)
        }),
    }
}

fn run_row(place: usize, run: &ProjectRun, budget: &mut TextBudget) -> RunRow {
    let details = &run.details;
    let facts = [
        tasks_words(run.tasks),
        details.effort.clone(),
        details.mode.clone(),
        details.cost.clone(),
    ];
    let first_line = run
        .request
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    RunRow {
        place,
        tone: run.tone,
        title: budget.line(
            if run.title.trim().is_empty() {
                "(no title)"
            } else {
                &run.title
            },
            200,
        ),
        link: details.page_file.clone().filter(|file| is_page_name(file)),
        began: budget.line(&details.began, 40),
        took: format_span(run.took_millis()),
        sentence: budget.line(&run.sentence, 300),
        kind: match run.subject {
            Subject::Plan => "plan",
            Subject::Ultrawork => "ultrawork",
        },
        request: budget.line(
            if first_line.trim() == run.title.trim() {
                ""
            } else {
                first_line
            },
            200,
        ),
        facts: facts
            .iter()
            .filter(|fact| !fact.is_empty())
            .map(|fact| budget.line(fact, 100))
            .collect(),
    }
}

/// `5 of 5 tasks done, 3 proved`.
fn tasks_words(tasks: TaskTally) -> String {
    match tasks {
        TaskTally { all: 0, .. } => String::new(),
        TaskTally { all, done, proved } => {
            format!("{done} of {} done, {proved} proved", pluralize(all, "task"))
        }
    }
}

/// File name that leads to a file beside the page, and nowhere else.
fn is_page_name(file: &str) -> bool {
    let name = file.strip_suffix(".html").unwrap_or_default();
    name.starts_with(|char: char| char.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn verdict_counts(runs: &[&ProjectRun]) -> Vec<(Tone, String)> {
    let mut counts = Vec::new();
    for tone in Tone::ALL {
        let count = runs.iter().filter(|run| run.tone == tone).count();
        if count > 0 {
            counts.push((tone, format!("{count} {}", tone.word())));
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_stays_in_the_folder_of_the_page() {
        for (file, is_fine) in [
            ("plan-r-1.html", true),
            ("ultrawork-2026-11-23T173000.000Z-abc_1.html", true),
            ("../plan-r-1.html", false),
            (".html", false),
            ("javascript:alert(1).html", false),
            ("https://example.com/x.html", false),
            ("plan-%2e%2e.html", false),
            ("plan-r-1.html?x", false),
            ("", false),
        ] {
            assert_eq!(is_page_name(file), is_fine, "{file}");
        }
    }
}
