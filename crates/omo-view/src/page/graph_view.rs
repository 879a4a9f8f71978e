//! `GraphView`: tasks of a plan by state, in layers by their needs, with links to their cards.

use std::fmt::Write;

use omo_core::text::pluralize;

use crate::page::graph_layout::{
    GraphLayout, GraphLine, MAX_NODES, NODE_HEIGHT, NODE_WIDTH, lay_out,
};
use crate::page::text_budget::{ShownText, TextBudget};
use crate::run_view::{RunView, TaskView};

/// Characters that fit into a node.
const NODE_CHARS: usize = 25;
const NODE_BYTES: usize = 480;

pub(crate) struct GraphView {
    pub width: i32,
    pub height: i32,
    pub nodes: Vec<NodeView>,
    /// SVG path of each line.
    pub lines: Vec<String>,
    pub summary: String,
}

pub(crate) struct NodeView {
    pub card: usize,
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
    pub text_x: i32,
    pub id_y: i32,
    pub title_y: i32,
    pub class: &'static str,
    pub symbol: &'static str,
    pub word: &'static str,
    pub id: ShownText,
    pub short_id: ShownText,
    pub title: ShownText,
    pub short_title: ShownText,
}

/// `None` where there is nothing to draw, or too much to look at.
pub(crate) fn graph_view(page: &RunView, budget: &mut TextBudget) -> Option<GraphView> {
    let count = page.tasks.len();
    if !(2..=MAX_NODES).contains(&count) {
        return None;
    }
    let needs = page.tasks.iter().enumerate();
    let edges: Vec<(usize, usize)> = needs
        .flat_map(|(to, card)| card.needs.iter().map(move |from| (*from, to)))
        .collect();
    let layout = lay_out(count, &edges);
    let places = layout.nodes.iter().zip(&page.tasks).enumerate();
    let nodes: Vec<NodeView> = places
        .take_while(|_| budget.take(NODE_BYTES))
        .map(|(place, (at, card))| (place, *at, card))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|(place, at, card)| node_view(place, at, card, budget))
        .collect();
    let lines = layout.lines.iter().map(|line| line_path(&layout, line));
    let lines: Vec<String> = lines
        .take_while(|line| budget.take(line.len() + 20))
        .collect();
    let order = match lines.len() {
        0 => "None needs another.",
        _ => "A line leads from a task to one that needs it; what other lines imply has none.",
    };
    let summary = format!("{}. {order}", pluralize(nodes.len(), "task"));
    Some(GraphView {
        width: layout.width,
        height: layout.height,
        nodes,
        lines,
        summary,
    })
}

fn node_view(
    card: usize,
    (x, y): (i32, i32),
    shown: &TaskView,
    budget: &mut TextBudget,
) -> NodeView {
    let tone = shown.tone();
    NodeView {
        card,
        x: x - NODE_WIDTH / 2,
        y: y - NODE_HEIGHT / 2,
        width: NODE_WIDTH,
        height: NODE_HEIGHT,
        text_x: x - NODE_WIDTH / 2 + 10,
        id_y: y - 3,
        title_y: y + 12,
        class: tone.class(),
        symbol: tone.symbol(),
        word: shown.standing.word(),
        id: budget.line(&shown.id, 64),
        short_id: budget.line(&shown.id, NODE_CHARS - 6),
        title: budget.line(&shown.title, 120),
        short_title: budget.line(&shown.title, NODE_CHARS),
    }
}

/// SVG path from edge to edge of two nodes, curved at each bend.
fn line_path(layout: &GraphLayout, line: &GraphLine) -> String {
    let (from_x, from_y) = layout.nodes.get(line.from).copied().unwrap_or_default();
    let (to_x, to_y) = layout.nodes.get(line.to).copied().unwrap_or_default();
    let (half_width, half_height) = (NODE_WIDTH / 2, NODE_HEIGHT / 2);
    let (start, end) = if layout.is_sideways {
        ((from_x + half_width, from_y), (to_x - half_width - 5, to_y))
    } else {
        (
            (from_x, from_y + half_height),
            (to_x, to_y - half_height - 5),
        )
    };
    let mut path = format!("M{} {}", start.0, start.1);
    let mut before = start;
    for (x, y) in line.bends.iter().copied().chain([end]) {
        if layout.is_sideways {
            let middle = i32::midpoint(before.0, x);
            let _ = write!(path, "C{middle} {} {middle} {y} {x} {y}", before.1);
        } else {
            let middle = i32::midpoint(before.1, y);
            let _ = write!(path, "C{} {middle} {x} {middle} {x} {y}", before.0);
        }
        before = (x, y);
    }
    path
}
