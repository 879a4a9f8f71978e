//! `TrendView`: a drawing of the durations of a project's runs, and of their proved share.

use std::collections::BTreeMap;

use omo_core::text::pluralize;
use omo_core::timestamp::Timestamp;

use crate::page::project_model::ProjectRun;
use crate::page::scale_steps::{format_span, tick_millis};
use crate::page::time_scale::{LEFT, RIGHT, TickView, WIDTH};
use crate::tone::Tone;

/// Vertical range of durations.
const TIMES: (i64, i64) = (24, 184);
/// Vertical range of shares.
const SHARES: (i64, i64) = (214, 284);
const HEIGHT: i64 = 296;
/// Lines of durations in milliseconds, a step of the same height from one to the next.
const DURATIONS: [i64; 7] = [
    1_000,
    10_000,
    60_000,
    600_000,
    3_600_000,
    36_000_000,
    345_600_000,
];
/// Number of ended runs in a share.
const SHARED_BY: usize = 10;

pub(crate) struct TrendView {
    pub width: i64,
    pub height: i64,
    pub left: i64,
    pub right: i64,
    pub summary: String,
    pub ticks: Vec<TickView>,
    /// Place and words of each line.
    pub durations: Vec<(i64, String)>,
    pub share_lines: Vec<(i64, &'static str)>,
    pub top: i64,
    pub bottom: i64,
    /// In the order of the runs.
    pub points: Vec<PointView>,
    pub share_path: String,
    pub legend: Vec<(Tone, &'static str)>,
}

pub(crate) struct PointView {
    pub x: i64,
    pub y: i64,
    pub tone: Tone,
    pub shape: &'static str,
    /// Percentage at this run; empty before its end.
    pub share: String,
}

/// The drawing of `runs`, which have the newest first; `None` for a single one.
pub(crate) fn trend_view(runs: &[&ProjectRun], now: Timestamp) -> Option<TrendView> {
    let (last, first) = (runs.first()?, runs.last().filter(|_| runs.len() > 1)?);
    let (begin, end) = (first.began, now.max(last.began));
    let range = end.millis_since(begin).unwrap_or_default().max(1);
    let longest = runs.iter().map(|run| run.took_millis()).max();
    let shortest = runs.iter().map(|run| run.took_millis()).min();
    let lines = lines_for(shortest.unwrap_or_default(), longest.unwrap_or_default());
    let shares = shares(runs);
    let mut points = Vec::with_capacity(runs.len());
    let mut share_path = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let since = run.began.millis_since(begin).unwrap_or_default().min(range);
        let x = LEFT + scaled(since, range, WIDTH - LEFT - RIGHT);
        let share = shares.get(&place);
        share_path.extend(share.map(|percent| format!("{x} {}", share_y(*percent))));
        points.push(PointView {
            x,
            y: duration_y(run.took_millis(), lines),
            tone: run.tone,
            shape: shape(run.tone),
            share: share
                .map(|percent| format!("{percent} %"))
                .unwrap_or_default(),
        });
    }
    let step = tick_millis(range);
    let ticks = (0..=range / step).map(|count| TickView {
        x: LEFT + scaled(range - count * step, range, WIDTH - LEFT - RIGHT),
        label: if count == 0 {
            "now".to_owned()
        } else {
            format!("{} ago", format_span(count * step))
        },
    });
    let tones = Tone::ALL
        .into_iter()
        .filter(|tone| runs.iter().any(|run| run.tone == *tone));
    Some(TrendView {
        width: WIDTH,
        height: HEIGHT,
        left: LEFT,
        right: WIDTH - RIGHT,
        summary: format!(
            "{} over {}. Each mark is a run: when it began, and how long it took, on a logarithmic scale. The line \
             below them is the share that was proved of the last {SHARED_BY} that had ended.",
            pluralize(runs.len(), "run"),
            format_span(range)
        ),
        ticks: ticks.collect(),
        durations: lines
            .iter()
            .map(|millis| (duration_y(*millis, lines), format_span(*millis)))
            .collect(),
        share_lines: vec![
            (share_y(100), "100 % proved"),
            (share_y(50), "50 %"),
            (share_y(0), "0 %"),
        ],
        top: TIMES.0,
        bottom: SHARES.1,
        points,
        share_path: if share_path.len() > 1 {
            format!("M{}", share_path.join("L"))
        } else {
            String::new()
        },
        legend: tones.map(|tone| (tone, shape(tone))).collect(),
    })
}

fn share_y(percent: usize) -> i64 {
    let percent = i64::try_from(percent).unwrap_or_default();
    SHARES.1 - scaled(percent, 100, SHARES.1 - SHARES.0)
}

fn scaled(part: i64, whole: i64, length: i64) -> i64 {
    let exact = i128::from(part) * i128::from(length) / i128::from(whole.max(1));
    i64::try_from(exact).unwrap_or(length)
}

/// Lines around all durations, at least two.
fn lines_for(shortest: i64, longest: i64) -> &'static [i64] {
    let last = DURATIONS
        .iter()
        .position(|line| longest <= *line)
        .unwrap_or(DURATIONS.len() - 1)
        .max(1);
    let first = DURATIONS
        .iter()
        .rposition(|line| *line <= shortest)
        .unwrap_or_default()
        .min(last - 1);
    DURATIONS.get(first..=last).unwrap_or(&DURATIONS)
}

/// Vertical place of a duration: logarithmic between two lines, shorter ones at the first.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a place in a picture"
)]
fn duration_y(millis: i64, lines: &[i64]) -> i64 {
    let place = lines
        .windows(2)
        .enumerate()
        .find_map(|(place, pair)| match pair {
            [low, high] if millis <= *high => {
                let (millis, low, high) = (millis.max(*low) as f64, *low as f64, *high as f64);
                Some(place as f64 + (millis / low).ln() / (high / low).ln())
            }
            _ => None,
        });
    let steps = (lines.len() - 1) as f64;
    let height = (TIMES.1 - TIMES.0) as f64;
    TIMES.1 - (place.unwrap_or(steps) / steps * height).round() as i64
}

/// Proved percentage at each ended run, by its place.
fn shares(runs: &[&ProjectRun]) -> BTreeMap<usize, usize> {
    let ended: Vec<(usize, bool)> = runs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.tone != Tone::Open)
        .map(|(place, run)| (place, run.tone == Tone::Proved))
        .collect();
    let mut shares = BTreeMap::new();
    for (index, (place, _)) in ended.iter().enumerate() {
        let last: Vec<bool> = ended
            .iter()
            .skip(index)
            .take(SHARED_BY)
            .map(|(_, is_proved)| *is_proved)
            .collect();
        let proved = last.iter().filter(|is_proved| **is_proved).count();
        shares.insert(*place, proved * 100 / last.len().max(1));
    }
    shares
}

/// SVG path of a tone's mark: no meaning is in a colour alone.
fn shape(tone: Tone) -> &'static str {
    match tone {
        Tone::Proved => "M-5 0.3L-1.4 4.2L5.6 -4.2",
        Tone::Weakened => "M0 -5L5 4H-5Z",
        Tone::Unproved => "M-4 -4H4V4H-4Z",
        Tone::Failed => "M-4.2 -4.2L4.2 4.2M-4.2 4.2L4.2 -4.2",
        Tone::Open => "M-5 0H5M0 -5V5",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_stands_between_the_lines_that_it_lies_between() {
        let shown = lines_for(900, 2_000_000);
        let y = |millis| duration_y(millis, shown);
        let lines: Vec<i64> = shown.iter().map(|millis| y(*millis)).collect();
        assert_eq!(
            lines,
            [184, 144, 104, 64, 24],
            "the lines are not a step apart"
        );
        assert_eq!((y(0), y(i64::MAX)), (184, 24));
        assert!((104..144).contains(&y(30_000)) && y(31_000) <= y(30_000));
        assert_eq!(lines_for(20_000, 50_000), [10_000, 60_000]);
        assert_eq!(lines_for(0, 0), [1_000, 10_000]);
        assert_eq!(lines_for(i64::MAX, i64::MAX), [36_000_000, 345_600_000]);
    }
}
