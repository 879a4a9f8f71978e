//! Time as a distance in the picture of a timeline.

use omo_core::text::format_clock;
use omo_core::timestamp::Timestamp;

use crate::page::scale_steps::{format_span, tick_millis};
use crate::run_view::{Span, Timeline};

/// Start of the time axis, in units.
pub(crate) const LEFT: i64 = 150;
/// Total width, in units.
pub(crate) const WIDTH: i64 = 1_080;
/// Margin behind the last moment, in units.
pub(crate) const RIGHT: i64 = 24;

pub(crate) struct TickView {
    pub x: i64,
    pub label: String,
}

/// The scale of a timeline. What lies outside of it is at its edge: a clock may have been set back.
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

    /// Total duration, in milliseconds.
    pub(crate) fn millis(&self) -> i64 {
        self.millis
    }

    /// End of a span, or now.
    pub(crate) fn end_of(&self, span: &Span) -> Timestamp {
        span.until.unwrap_or(self.until)
    }

    pub(crate) fn x(&self, at: Timestamp) -> i64 {
        self.place(self.since_start(at))
    }

    /// A moment as the time since the start.
    pub(crate) fn when(&self, at: Timestamp) -> String {
        format!("+{}", format_clock(self.since_start(at)))
    }

    pub(crate) fn ticks(&self) -> Vec<TickView> {
        let step = tick_millis(self.millis);
        let tick = |millis: i64| TickView {
            x: self.place(millis),
            label: if millis == 0 {
                "0".to_owned()
            } else {
                format_span(millis)
            },
        };
        (0..=self.millis / step)
            .map(|count| tick(count * step))
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
