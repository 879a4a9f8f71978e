//! `TimeScale`: times as horizontal places in the timeline's drawing, in SVG units.

use omo_core::text::format_clock;
use omo_core::timestamp::Timestamp;

use crate::page::scale_steps::{format_span, tick_millis};
use crate::run_view::{Span, Timeline};

/// Units before the time axis.
pub(crate) const LEFT: i64 = 150;
pub(crate) const WIDTH: i64 = 1_080;
/// Units behind the last moment.
pub(crate) const RIGHT: i64 = 24;

pub(crate) struct TickView {
    pub x: i64,
    pub label: String,
}

/// Scale of a timeline; a moment outside of it, as by a clock set back, is at its edge.
pub(crate) struct TimeScale {
    began: Timestamp,
    until: Timestamp,
    millis: i64,
}

impl TimeScale {
    pub(crate) fn new(timeline: &Timeline) -> Self {
        let millis = timeline
            .until
            .millis_since(timeline.began)
            .unwrap_or_default()
            .max(1);
        Self {
            began: timeline.began,
            until: timeline.until,
            millis,
        }
    }

    pub(crate) fn millis(&self) -> i64 {
        self.millis
    }

    pub(crate) fn end_of(&self, span: &Span) -> Timestamp {
        span.until.unwrap_or(self.until)
    }

    pub(crate) fn x(&self, at: Timestamp) -> i64 {
        self.place(self.since_start(at))
    }

    /// Time since the start, such as `+2:05`.
    pub(crate) fn when(&self, at: Timestamp) -> String {
        format!("+{}", format_clock(self.since_start(at)))
    }

    pub(crate) fn ticks(&self) -> Vec<TickView> {
        let step = tick_millis(self.millis);
        (0..=self.millis / step)
            .map(|count| {
                let millis = count * step;
                let label = if millis == 0 {
                    "0".to_owned()
                } else {
                    format_span(millis)
                };
                let x = self.place(millis);
                TickView { x, label }
            })
            .collect()
    }

    fn since_start(&self, at: Timestamp) -> i64 {
        at.millis_since(self.began)
            .unwrap_or_default()
            .min(self.millis)
    }

    fn place(&self, millis: i64) -> i64 {
        LEFT + millis.saturating_mul(WIDTH - LEFT - RIGHT) / self.millis
    }
}
