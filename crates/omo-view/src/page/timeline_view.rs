//! `TimelineDrawing`: lanes of workers to scale, attempts as bars, moments as marks.

use std::collections::BTreeSet;

use omo_core::text::pluralize;

use crate::page::critical_path::critical_path;
use crate::page::scale_steps::format_span;
use crate::page::text_budget::{Rows, ShownText, TextBudget};
use crate::page::time_scale::{LEFT, RIGHT, TickView, TimeScale, WIDTH};
use crate::run_view::{Lane, Mark, MarkKind, RunView, Span, SpanKind, TaskView};
use crate::tone::Tone;

const TOP: i64 = 26;
const ROW: i64 = 21;
const MARKS: i64 = 14;
const LANE_GAP: i64 = 9;
/// Distance below which marks of one kind are merged.
const NEAR: i64 = 7;
const MAX_LANES: usize = 60;
const MAX_SPANS: usize = 1_500;
const MAX_MARKS: usize = 1_500;
/// Maximum rows of overlapping bars in a lane.
const MAX_ROWS: usize = 12;
const SPAN_BYTES: usize = 300;
const MARK_BYTES: usize = 200;

pub(crate) struct TimelineDrawing {
    pub width: i64,
    pub height: i64,
    pub left: i64,
    pub right: i64,
    pub ticks: Vec<TickView>,
    pub lanes: Rows<LaneView>,
    pub summary: String,
    pub legend: Vec<(&'static str, &'static str)>,
    pub mark_legend: Vec<(&'static str, &'static str, &'static str)>,
}

impl TimelineDrawing {
    pub(crate) fn is_empty(&self) -> bool {
        self.lanes
            .rows
            .iter()
            .all(|lane| lane.spans.is_empty() && lane.marks.is_empty())
    }
}

pub(crate) struct LaneView {
    pub name: ShownText,
    pub short_name: ShownText,
    pub y: i64,
    pub text_y: i64,
    pub height: i64,
    pub spans: Vec<SpanView>,
    pub marks: Vec<MarkView>,
}

pub(crate) struct SpanView {
    pub x: i64,
    pub y: i64,
    pub width: i64,
    pub text_y: i64,
    pub class: &'static str,
    pub is_critical: bool,
    /// Text within the bar; empty if too short.
    pub inside: ShownText,
    pub label: ShownText,
    pub when: String,
    pub took: String,
    pub word: &'static str,
    pub card: Option<usize>,
}

pub(crate) struct MarkView {
    pub x: i64,
    pub y: i64,
    pub class: &'static str,
    pub shape: &'static str,
    pub label: ShownText,
    pub more: String,
    pub when: String,
    pub word: &'static str,
}

pub(crate) fn timeline_view(page: &RunView, budget: &mut TextBudget) -> TimelineDrawing {
    let scale = TimeScale::new(&page.timeline);
    let path = critical_path(page);
    let mut room = (MAX_SPANS, MAX_MARKS);
    let mut y = TOP;
    let mut index = 0;
    let lanes = budget.rows(&page.timeline.lanes, MAX_LANES, "lane", |budget, lane| {
        let critical: BTreeSet<usize> = path
            .range((index, 0)..=(index, usize::MAX))
            .map(|(_, place)| *place)
            .collect();
        let view = lane_view(lane, &page.tasks, &scale, y, &critical, &mut room, budget);
        y += view.height + LANE_GAP;
        index += 1;
        view
    });
    let attempts = span_count(&lanes.rows, |span| span.card.is_some());
    let work = if attempts > 0 {
        pluralize(attempts, "attempt")
    } else {
        let turns = span_count(&lanes.rows, |span| span.class == "turn");
        pluralize(turns, "turn")
    };
    let summary = format!(
        "{work} in {}, over {}: each bar is as long as it took.",
        pluralize(lanes.rows.len(), "lane"),
        format_span(scale.millis())
    );
    TimelineDrawing {
        width: WIDTH,
        height: y + 4,
        left: LEFT,
        right: WIDTH - RIGHT,
        ticks: scale.ticks(),
        legend: bar_legend(&lanes.rows, !path.is_empty()),
        mark_legend: mark_legend(&lanes.rows),
        lanes,
        summary,
    }
}

fn span_count(lanes: &[LaneView], is_counted: fn(&SpanView) -> bool) -> usize {
    let spans = lanes.iter().flat_map(|lane| &lane.spans);
    spans.filter(|span| is_counted(span)).count()
}

fn lane_view(
    lane: &Lane,
    cards: &[TaskView],
    scale: &TimeScale,
    y: i64,
    critical: &BTreeSet<usize>,
    room: &mut (usize, usize),
    budget: &mut TextBudget,
) -> LaneView {
    let mut order: Vec<(usize, &Span)> = lane.spans.iter().enumerate().take(room.0).collect();
    room.0 -= order.len();
    order.sort_by_key(|(place, span)| (span.from, *place));
    let mut rows: Vec<i64> = Vec::new();
    let mut spans = Vec::new();
    for (place, span) in order {
        if !budget.take(SPAN_BYTES) {
            break;
        }
        let x = scale.x(span.from);
        let width = (scale.x(scale.end_of(span)) - x).max(3);
        let free = rows.iter().position(|taken| *taken <= x);
        let row = free.unwrap_or(rows.len()).min(MAX_ROWS - 1);
        if row == rows.len() {
            rows.push(0);
        }
        // Up to the end in time: a bar is drawn at least 3 units wide.
        if let Some(taken) = rows.get_mut(row) {
            *taken = scale.x(scale.end_of(span));
        }
        let bar_y = y + i64::try_from(row).unwrap_or_default() * ROW;
        spans.push(span_view(
            span,
            cards,
            scale,
            (x, bar_y, width),
            critical.contains(&place),
            budget,
        ));
    }
    let bars = i64::try_from(rows.len()).unwrap_or_default() * ROW;
    let marks_height = if lane.marks.is_empty() { 0 } else { MARKS };
    LaneView {
        name: budget.line(&lane.name, 200),
        short_name: budget.line(&lane.name, 20),
        y,
        text_y: y + 12,
        height: (bars + marks_height).max(ROW),
        spans,
        marks: mark_views(lane, scale, y + bars + MARKS / 2 - 1, &mut room.1, budget),
    }
}

fn span_view(
    span: &Span,
    cards: &[TaskView],
    scale: &TimeScale,
    (x, y, width): (i64, i64, i64),
    is_critical: bool,
    budget: &mut TextBudget,
) -> SpanView {
    let (class, symbol, word, card) = match span.kind {
        SpanKind::Attempt { task, end } => (
            end.tone().class(),
            end.tone().symbol(),
            end.word(),
            Some(task),
        ),
        SpanKind::Turn => ("turn", "", "turn", None),
        SpanKind::Review => ("review", "", "review", None),
        SpanKind::Background => ("wait", "", "wait for work in the background", None),
        SpanKind::Person => ("wait", "", "wait for a person", None),
        SpanKind::Idle => ("wait", "", "idle", None),
    };
    // A letter is about seven units wide.
    let letters = usize::try_from((width - 8) / 7).unwrap_or_default();
    let inside = match letters {
        0 => String::new(),
        1..=3 => symbol.to_owned(),
        _ => {
            let title = card
                .and_then(|card| cards.get(card))
                .map_or("", |card| card.title.as_str());
            format!("{symbol} {} {title}", span.label)
        }
    };
    SpanView {
        x,
        y,
        width,
        text_y: y + 12,
        class,
        is_critical,
        inside: budget.line(inside.trim(), letters.max(1)),
        label: budget.line(&span.label, 120),
        when: scale.when(span.from),
        took: format_span(
            scale
                .end_of(span)
                .millis_since(span.from)
                .unwrap_or_default(),
        ),
        word,
        card,
    }
}

/// Marks by kind; close ones are merged and counted.
fn mark_views(
    lane: &Lane,
    scale: &TimeScale,
    y: i64,
    room: &mut usize,
    budget: &mut TextBudget,
) -> Vec<MarkView> {
    let mut order: Vec<&Mark> = lane.marks.iter().collect();
    order.sort_by_key(|mark| (mark.kind, mark.at));
    let mut views: Vec<(MarkKind, usize, MarkView)> = Vec::new();
    for mark in order {
        let x = scale.x(mark.at);
        if let Some((_, more, _)) = views
            .last_mut()
            .filter(|(kind, _, view)| *kind == mark.kind && x - view.x < NEAR)
        {
            *more += 1;
            continue;
        }
        if *room == 0 || !budget.take(MARK_BYTES) {
            break;
        }
        *room -= 1;
        let (class, shape, word) = mark_look(mark.kind);
        let label = budget.line(&mark.label, 120);
        let view = MarkView {
            x,
            y,
            class,
            shape,
            label,
            more: String::new(),
            when: scale.when(mark.at),
            word,
        };
        views.push((mark.kind, 0, view));
    }
    views
        .into_iter()
        .map(|(_, more, view)| MarkView {
            more: if more == 0 {
                String::new()
            } else {
                format!(" and {more} more")
            },
            ..view
        })
        .collect()
}

/// Class, SVG path and word of a mark.
fn mark_look(kind: MarkKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        MarkKind::Green => ("proved", "M-3.5 0.2L-1 3L4 -3", "green check"),
        MarkKind::Red => ("failed", "M-3 -3L3 3M-3 3L3 -3", "red check"),
        MarkKind::Review => ("review", "M0 -4L4 0L0 4L-4 0Z", "claim, review or verdict"),
        MarkKind::Continuation => ("continuation", "M-3 -3.5L3 0L-3 3.5", "continuation"),
        MarkKind::Person => ("person", "M-3.5 -3.5H3.5V3.5H-3.5Z", "question or answer"),
    }
}

fn bar_legend(lanes: &[LaneView], has_path: bool) -> Vec<(&'static str, &'static str)> {
    let span_classes: BTreeSet<&str> = lanes
        .iter()
        .flat_map(|lane| &lane.spans)
        .map(|span| span.class)
        .collect();
    let bars = [
        (Tone::Proved.class(), "✓ passed"),
        (Tone::Unproved.class(), "? unproved"),
        (Tone::Failed.class(), "✗ failed"),
        (Tone::Open.class(), "… running or interrupted"),
        ("turn", "turn"),
        ("review", "review"),
        ("wait", "idle or waiting"),
    ];
    let mut legend: Vec<_> = bars
        .into_iter()
        .filter(|(class, _)| span_classes.contains(class))
        .collect();
    if has_path {
        legend.push(("critical", "critical path"));
    }
    legend
}

fn mark_legend(lanes: &[LaneView]) -> Vec<(&'static str, &'static str, &'static str)> {
    let kinds = [
        MarkKind::Green,
        MarkKind::Red,
        MarkKind::Review,
        MarkKind::Continuation,
        MarkKind::Person,
    ];
    let mark_classes: BTreeSet<&str> = lanes
        .iter()
        .flat_map(|lane| &lane.marks)
        .map(|mark| mark.class)
        .collect();
    kinds
        .into_iter()
        .map(mark_look)
        .filter(|(class, ..)| mark_classes.contains(class))
        .collect()
}
