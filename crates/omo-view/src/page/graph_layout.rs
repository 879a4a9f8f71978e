//! Layout of a plan's graph: places of tasks, and paths of the lines between them.
//!
//! Only user of the layout library, which gets small graphs without circles, duplicates and edges across a layer.

use std::collections::BTreeSet;

use rust_sugiyama::configure::{Config, CrossingMinimization, RankingType};

pub(crate) const NODE_WIDTH: i32 = 172;
pub(crate) const NODE_HEIGHT: i32 = 36;
pub(crate) const MAX_NODES: usize = 400;
const PAGE_WIDTH: i32 = 1_080;
const GAP: i32 = 22;
const LAYER_GAP: i32 = 36;
/// Points that split long lines; beyond them lines are straight.
const MAX_BENDS: usize = 1_200;
const BEND_SIZE: f64 = 8.0;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GraphLayout {
    pub width: i32,
    pub height: i32,
    /// Layers from left to right instead of top to bottom.
    pub is_sideways: bool,
    /// Centre of each node.
    pub nodes: Vec<(i32, i32)>,
    pub lines: Vec<GraphLine>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GraphLine {
    /// Node that comes first.
    pub from: usize,
    /// Node that needs `from`.
    pub to: usize,
    /// Points between both centres.
    pub bends: Vec<(i32, i32)>,
}

/// Lays out `count` nodes. An edge leads to the node that needs its first; circles are broken, implied edges left out.
pub(crate) fn lay_out(count: usize, edges: &[(usize, usize)]) -> GraphLayout {
    let count = count.min(MAX_NODES);
    let graph = LayeredGraph::new(count, edges);
    let sideways = place(&graph, true);
    if sideways.width <= PAGE_WIDTH {
        return sideways;
    }
    let downwards = place(&graph, false);
    if downwards.width < sideways.width {
        downwards
    } else {
        sideways
    }
}

/// Nodes in layers, each below its needs.
struct LayeredGraph {
    layers: Vec<usize>,
    edges: Vec<(usize, usize)>,
}

impl LayeredGraph {
    fn new(count: usize, edges: &[(usize, usize)]) -> Self {
        let edges: BTreeSet<(usize, usize)> = edges
            .iter()
            .copied()
            .filter(|(from, to)| from != to && *from < count && *to < count)
            .collect();
        let order = topological_order(count, &edges);
        let places: Vec<usize> = (0..count)
            .map(|node| {
                order
                    .iter()
                    .position(|other| *other == node)
                    .unwrap_or(node)
            })
            .collect();
        let forward: BTreeSet<(usize, usize)> = edges
            .into_iter()
            .filter(|(from, to)| places.get(*from) < places.get(*to))
            .collect();
        let edges = without_implied(&order, &forward);
        let mut layers = vec![0_usize; count];
        for node in &order {
            let above = edges
                .iter()
                .filter(|(_, to)| to == node)
                .filter_map(|(from, _)| layers.get(*from));
            let layer = above.max().map_or(0, |above| above + 1);
            if let Some(node_layer) = layers.get_mut(*node) {
                *node_layer = layer;
            }
        }
        Self { layers, edges }
    }

    fn layer(&self, node: usize) -> usize {
        self.layers.get(node).copied().unwrap_or_default()
    }
}

/// Nodes behind their needs, as far as no circle prevents that.
fn topological_order(count: usize, edges: &BTreeSet<(usize, usize)>) -> Vec<usize> {
    let mut order = Vec::with_capacity(count);
    let mut is_taken = vec![false; count];
    let mut open = vec![0_usize; count];
    for (_, to) in edges {
        if let Some(open) = open.get_mut(*to) {
            *open += 1;
        }
    }
    while order.len() < count {
        let free: Vec<usize> = (0..count)
            .filter(|node| is_taken.get(*node) == Some(&false))
            .collect();
        let ready = free.iter().find(|node| open.get(**node) == Some(&0));
        // In a circle the first one in the order of the plan is taken.
        let Some(next) = ready.or(free.first()).copied() else {
            break;
        };
        if let Some(taken) = is_taken.get_mut(next) {
            *taken = true;
        }
        for (_, to) in edges.range((next, 0)..=(next, usize::MAX)) {
            if let Some(open) = open.get_mut(*to) {
                *open = open.saturating_sub(1);
            }
        }
        order.push(next);
    }
    order
}

/// Edges without those that a longer path implies.
fn without_implied(order: &[usize], edges: &BTreeSet<(usize, usize)>) -> Vec<(usize, usize)> {
    let count = order.len();
    let mut reached: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
    let mut kept = Vec::new();
    for node in order.iter().rev() {
        // The nearest first: what they reach needs no edge of its own.
        let mut targets: Vec<usize> = edges
            .range((*node, 0)..=(*node, usize::MAX))
            .map(|(_, to)| *to)
            .collect();
        targets.sort_by_key(|target| order.iter().position(|other| other == target));
        let mut targets_reached: BTreeSet<usize> = BTreeSet::new();
        for target in targets {
            if targets_reached.insert(target) {
                kept.push((*node, target));
                targets_reached.extend(reached.get(target).into_iter().flatten());
            }
        }
        if let Some(node_reached) = reached.get_mut(*node) {
            *node_reached = targets_reached;
        }
    }
    kept.sort_unstable();
    kept
}

/// Places of nodes and bends by the library; unconnected parts stand side by side.
fn place(graph: &LayeredGraph, is_sideways: bool) -> GraphLayout {
    let count = graph.layers.len();
    let (mut lines, mut edges) = (Vec::new(), Vec::new());
    let mut next = count;
    for (from, to) in &graph.edges {
        let between = graph.layer(*to).saturating_sub(graph.layer(*from) + 1);
        let bends = if next + between <= count + MAX_BENDS {
            next..next + between
        } else {
            next..next
        };
        next = bends.end;
        let stops: Vec<usize> = std::iter::once(*from)
            .chain(bends.clone())
            .chain([*to])
            .collect();
        edges.extend(
            stops
                .iter()
                .zip(stops.iter().skip(1))
                .map(|(from, to)| (index(*from), index(*to))),
        );
        lines.push((*from, *to, bends));
    }
    let (width, height) = if is_sideways {
        (NODE_HEIGHT, NODE_WIDTH)
    } else {
        (NODE_WIDTH, NODE_HEIGHT)
    };
    let height = height + LAYER_GAP - GAP;
    let vertices: Vec<(u32, (f64, f64))> = (0..next)
        .map(|node| {
            let size = if node < count {
                (f64::from(width), f64::from(height))
            } else {
                (BEND_SIZE, BEND_SIZE)
            };
            (index(node), size)
        })
        .collect();
    let config = Config {
        vertex_spacing: f64::from(GAP),
        dummy_vertices: false,
        ranking_type: RankingType::Up,
        c_minimization: CrossingMinimization::Barycenter,
        transpose: next <= 120,
        ..Config::default()
    };
    let mut parts: Vec<GraphPart> = Vec::new();
    if count > 0 {
        let placed_parts = rust_sugiyama::from_vertices_and_edges(&vertices, &edges, &config);
        parts.extend(
            placed_parts
                .into_iter()
                .map(|(placed, ..)| GraphPart::new(&placed, count, is_sideways)),
        );
    }
    // The library has no fixed order.
    parts.sort_by_key(|part| part.nodes.iter().map(|(node, _)| *node).min());
    let mut places = vec![(0, 0); next];
    let (width, height) = pack(&parts, &mut places);
    GraphLayout {
        width,
        height,
        is_sideways,
        nodes: places.iter().take(count).copied().collect(),
        lines: lines
            .into_iter()
            .map(|(from, to, bends)| GraphLine {
                from,
                to,
                bends: bends.filter_map(|bend| places.get(bend).copied()).collect(),
            })
            .collect(),
    }
}

/// Connected part, from its own left upper corner.
struct GraphPart {
    nodes: Vec<(usize, (i32, i32))>,
    width: i32,
    height: i32,
}

impl GraphPart {
    fn new(placed: &[(usize, (f64, f64))], count: usize, is_sideways: bool) -> Self {
        if placed.is_empty() {
            return Self {
                nodes: Vec::new(),
                width: 0,
                height: 0,
            };
        }
        let mut nodes = Vec::with_capacity(placed.len());
        let (mut left, mut top, mut right, mut bottom) = (i32::MAX, i32::MAX, i32::MIN, i32::MIN);
        for (node, (x, y)) in placed {
            let (x, y) = if is_sideways {
                (units(*y), units(*x))
            } else {
                (units(*x), units(*y))
            };
            let (half_width, half_height) = if *node < count {
                (NODE_WIDTH / 2, NODE_HEIGHT / 2)
            } else {
                (4, 4)
            };
            left = left.min(x - half_width);
            top = top.min(y - half_height);
            right = right.max(x + half_width);
            bottom = bottom.max(y + half_height);
            nodes.push((*node, (x, y)));
        }
        for (_, (x, y)) in &mut nodes {
            *x -= left;
            *y -= top;
        }
        Self {
            nodes,
            width: right - left,
            height: bottom - top,
        }
    }
}

/// Packs parts into rows, each as high as its highest; width and height of the whole.
fn pack(parts: &[GraphPart], places: &mut [(i32, i32)]) -> (i32, i32) {
    let row_width = parts
        .iter()
        .map(|part| part.width)
        .max()
        .unwrap_or_default()
        .max(PAGE_WIDTH - 2 * GAP);
    let (mut x, mut y, mut row_height, mut widest) = (0, 0, 0, 0);
    for part in parts {
        if x > 0 && x + part.width > row_width {
            (x, y, row_height) = (0, y + row_height + GAP, 0);
        }
        for (node, (dx, dy)) in &part.nodes {
            if let Some(place) = places.get_mut(*node) {
                *place = (x + dx + GAP, y + dy + GAP);
            }
        }
        widest = widest.max(x + part.width);
        row_height = row_height.max(part.height);
        x += part.width + GAP;
    }
    (widest + 2 * GAP, y + row_height + 2 * GAP)
}

fn index(node: usize) -> u32 {
    u32::try_from(node).unwrap_or(u32::MAX)
}

/// Coordinate in whole units, clamped to ±1,000,000; 0 for no number.
#[expect(
    clippy::cast_possible_truncation,
    reason = "it was clamped to what fits"
)]
fn units(value: f64) -> i32 {
    if value.is_finite() {
        value.clamp(-1.0e6, 1.0e6).round() as i32
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn overlaps(layout: &GraphLayout) -> bool {
        let touch = |(ax, ay): (i32, i32), (bx, by): (i32, i32)| {
            (ax - bx).abs() < NODE_WIDTH && (ay - by).abs() < NODE_HEIGHT
        };
        let nodes = &layout.nodes;
        (0..nodes.len())
            .any(|one| (one + 1..nodes.len()).any(|other| touch(nodes[one], nodes[other])))
    }

    fn is_inside(layout: &GraphLayout) -> bool {
        let (right, bottom) = (
            layout.width - NODE_WIDTH / 2,
            layout.height - NODE_HEIGHT / 2,
        );
        layout.nodes.iter().all(|(x, y)| {
            (NODE_WIDTH / 2..=right).contains(x) && (NODE_HEIGHT / 2..=bottom).contains(y)
        })
    }

    #[test]
    fn what_is_needed_stands_before_what_needs_it() {
        let layout = lay_out(4, &[(0, 1), (1, 2), (0, 2), (0, 3), (3, 2)]);
        assert!(
            layout.is_sideways && !overlaps(&layout) && is_inside(&layout),
            "{layout:?}"
        );
        let lines: Vec<(usize, usize)> = layout
            .lines
            .iter()
            .map(|line| (line.from, line.to))
            .collect();
        assert_eq!(
            lines,
            [(0, 1), (0, 3), (1, 2), (3, 2)],
            "0 before 2 is implied"
        );
        assert!(
            lines
                .iter()
                .all(|(from, to)| layout.nodes[*from].0 < layout.nodes[*to].0)
        );
    }

    #[test]
    fn a_line_over_several_layers_goes_around_what_stands_there() {
        // 5 needs 4 at the end of a chain, and 6, which stands in the first layer.
        let layout = lay_out(7, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (6, 5)]);
        let long = layout.lines.iter().find(|line| line.from == 6).unwrap();
        assert_eq!(long.bends.len(), 4);
        for (x, y) in &long.bends {
            let hit = |(nx, ny): &(i32, i32)| {
                (x - nx).abs() < NODE_WIDTH / 2 && (y - ny).abs() < NODE_HEIGHT / 2
            };
            assert!(!layout.nodes.iter().any(hit), "{layout:?}");
        }
    }

    #[test]
    fn circles_and_edges_to_nowhere_are_passed_over() {
        let layout = lay_out(3, &[(0, 1), (1, 2), (2, 0), (1, 1), (0, 9), (7, 8)]);
        assert_eq!(layout.lines.len(), 2);
        assert!(!overlaps(&layout) && is_inside(&layout));
        assert_eq!(lay_out(0, &[]).nodes, []);
    }

    #[test]
    fn many_tasks_without_order_stand_in_rows() {
        let layout = lay_out(200, &[]);
        assert!(
            !overlaps(&layout) && is_inside(&layout) && layout.width <= PAGE_WIDTH,
            "{} wide",
            layout.width
        );
        let chain: Vec<(usize, usize)> = (1..30).map(|node| (node - 1, node)).collect();
        let layout = lay_out(30, &chain);
        assert!(
            !layout.is_sideways && layout.width <= PAGE_WIDTH,
            "a long chain goes down"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn any_graph_has_a_layout_and_always_the_same(
            count in 0_usize..50, edges in prop::collection::vec((0_usize..50, 0_usize..50), 0..160)
        ) {
            let layout = lay_out(count, &edges);
            prop_assert_eq!(layout.nodes.len(), count);
            prop_assert!(!overlaps(&layout) && is_inside(&layout));
            prop_assert_eq!(lay_out(count, &edges), layout);
        }
    }
}
