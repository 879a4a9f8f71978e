//! Steps of a time scale, and spans in words.

use omo_core::text::format_duration;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Steps in milliseconds.
const STEPS: [i64; 21] = [
    100,
    200,
    500,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    20 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    4 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    7 * DAY,
];

/// [`format_duration`] of a span, at least 0.
pub(crate) fn format_span(millis: i64) -> String {
    format_duration(u64::try_from(millis).unwrap_or_default())
}

/// Milliseconds between ticks, such that at most nine fit.
pub(crate) fn tick_millis(millis: i64) -> i64 {
    STEPS
        .into_iter()
        .find(|step| millis / step <= 9)
        .unwrap_or_else(|| (millis / (9 * DAY) + 1).saturating_mul(DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_has_few_ticks_however_long_it_is() {
        for millis in [
            1,
            900,
            61_000,
            HOUR,
            25 * HOUR,
            40 * DAY,
            4_000 * DAY,
            i64::MAX,
        ] {
            assert!(millis / tick_millis(millis) <= 9, "{millis}");
        }
    }
}
