//! Trend of a project's runs over time, as a picture: their durations, and the proved share.

use std::collections::BTreeMap;

use omo_core::text::pluralize;
use omo_core::timestamp::Timestamp;

use crate::page::project_model::ProjectRun;
use crate::page::scale_steps::{format_span, tick_millis};
use crate::page::time_scale::{LEFT, RIGHT, TickView, WIDTH};
use crate::tone::Tone;

/// Vertical range of the durations, in units.
const TIMES: (i64, i64) = (24, 184);
/// Vertical range of the shares, in units.
const SHARES: (i64, i64) = (214, 284);
const HEIGHT: i64 = 296;
/// The lines that durations are read by. From one to the next it is a step of the same height.
const DURATIONS: [i64; 7] = [
    1_000,
    10_000,
    60_000,
    600_000,
    3_600_000,
    36_000_000,
    345_600_000,
];
/// A share is that of so many runs, the last ones that had ended.
const SHARED_BY: usize = 10;

pub(crate) struct TrendView {
    pub width: i64,
    pub height: i64,
    pub left: i64,
    pub right: i64,
    pub summary: String,
    pub ticks: Vec<TickView>,
    /// The durations that have a line, each with its place and its words.
    pub durations: Vec<(i64, String)>,
    /// The shares that have a line.
    pub share_lines: Vec<(i64, &'static str)>,
    /// Vertical place of a line across, in units.
    pub top: i64,
    pub bottom: i64,
    /// A mark for each run, in their order.
    pub points: Vec<PointView>,
    /// The way of the line of the shares.
    pub share_path: String,
    /// The tones that occur, each with its mark.
    pub legend: Vec<(Tone, &'static str)>,
}

pub(crate) struct PointView {
    pub x: i64,
    pub y: i64,
    pub tone: Tone,
    pub shape: &'static str,
    /// The share then, in words; empty where the run has not ended.
    pub share: String,
}

/// Draws the runs, which come with the newest first. Of a single one there is nothing to compare.
pub(crate) fn trend_view(runs: &[&ProjectRun], now: Timestamp) -> Option<TrendView> {
    let (last, first) = (runs.first()?, runs.last().filter(|_| runs.len() > 1)?);
    let (begin, end) = (first.began, now.max(last.began));
    let range = end.millis_since(begin).unwrap_or_default().max(1);
    let x = |at: Timestamp| {
        let since = at.millis_since(begin).unwrap_or_default().min(range);
        LEFT + scaled(since, range, WIDTH - LEFT - RIGHT)
    };
    let took = |run: &ProjectRun| run.until.millis_since(run.began).unwrap_or_default();
    let longest = runs.iter().map(|run| took(run)).max().unwrap_or_default();
    let shortest = runs.iter().map(|run| took(run)).min().unwrap_or_default();
    let lines = lines_for(shortest, longest);
    let shares = shares(runs);
    let points = runs.iter().enumerate().map(|(place, run)| PointView {
        x: x(run.began),
        y: duration_y(took(run), lines),
        tone: run.tone,
        shape: shape(run.tone),
        share: shares
            .get(&place)
            .map(|percent| format!("{percent} %"))
            .unwrap_or_default(),
    });
    let step = tick_millis(range);
    let tick = |count: i64| TickView {
        x: LEFT + scaled(range - count * step, range, WIDTH - LEFT - RIGHT),
        label: if count == 0 {
            "now".to_owned()
        } else {
            format!("{} ago", format_span(count * step))
        },
    };
    let share_y = |percent: usize| {
        SHARES.1
            - scaled(
                i64::try_from(percent).unwrap_or_default(),
                100,
                SHARES.1 - SHARES.0,
            )
    };
    let share_point = |(place, percent): (&usize, &usize)| {
        runs.get(*place)
            .map(|run| format!("{} {}", x(run.began), share_y(*percent)))
    };
    let share_path: Vec<String> = shares.iter().filter_map(share_point).collect();
    let tones = [
        Tone::Proved,
        Tone::Weakened,
        Tone::Unproved,
        Tone::Failed,
        Tone::Open,
    ];
    let occurs = |tone: &Tone| runs.iter().any(|run| run.tone == *tone);
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
        ticks: (0..=range / step).map(tick).collect(),
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
        points: points.collect(),
        share_path: if share_path.len() > 1 {
            format!("M{}", share_path.join("L"))
        } else {
            String::new()
        },
        legend: tones
            .into_iter()
            .filter(occurs)
            .map(|tone| (tone, shape(tone)))
            .collect(),
    })
}

fn scaled(part: i64, whole: i64, length: i64) -> i64 {
    let exact = i128::from(part) * i128::from(length) / i128::from(whole.max(1));
    i64::try_from(exact).unwrap_or(length)
}

/// The lines that all durations from the shortest to the longest lie between: two at least.
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

/// Vertical place of a duration among these lines: a shorter one than the first is at it, and
/// between two lines each doubling takes the same height.
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

/// The share of proved ones at each run that has ended, by its place.
fn shares(runs: &[&ProjectRun]) -> BTreeMap<usize, usize> {
    let ended: Vec<(usize, bool)> = runs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.tone != Tone::Open)
        .map(|(place, run)| (place, run.tone == Tone::Proved))
        .collect();
    let share = |(index, (place, _)): (usize, &(usize, bool))| {
        let last = || ended.iter().skip(index).take(SHARED_BY);
        (
            *place,
            last().filter(|(_, is_proved)| *is_proved).count() * 100 / last().count().max(1),
        )
    };
    ended.iter().enumerate().map(share).collect()
}

/// The mark of a tone: no meaning is in a colour alone.
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
