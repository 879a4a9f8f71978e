//! Times in words, and the steps of a scale.

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// What a scale may be parted in.
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

/// For how long, in at most two units: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
pub(crate) fn duration_words(millis: i64) -> String {
    let millis = millis.max(0);
    let two = |large: i64, large_word: &str, small: i64, small_word: &str| match small {
        0 => format!("{large} {large_word}"),
        _ => format!("{large} {large_word} {small} {small_word}"),
    };
    match millis {
        1..100 => "< 0.1 s".to_owned(),
        0..10_000 if millis % SECOND != 0 => format!("{}.{} s", millis / SECOND, millis % SECOND / 100),
        0..MINUTE => format!("{} s", millis / SECOND),
        MINUTE..HOUR => two(millis / MINUTE, "min", millis % MINUTE / SECOND, "s"),
        HOUR..DAY => two(millis / HOUR, "h", millis % HOUR / MINUTE, "min"),
        _ => two(millis / DAY, "d", millis % DAY / HOUR, "h"),
    }
}

/// The distance between two moments of a scale that is so long: at most nine fit into it.
pub(crate) fn tick_millis(millis: i64) -> i64 {
    STEPS.into_iter().find(|step| millis / step <= 9).unwrap_or_else(|| (millis / (9 * DAY) + 1).saturating_mul(DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_at_most_two_units() {
        for (millis, words) in [
            (0, "0 s"),
            (3, "< 0.1 s"),
            (420, "0.4 s"),
            (12_300, "12 s"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
            (3 * DAY + 4 * HOUR, "3 d 4 h"),
        ] {
            assert_eq!(duration_words(millis), words);
        }
    }

    #[test]
    fn a_scale_has_few_ticks_however_long_it_is() {
        for millis in [1, 900, 61_000, HOUR, 25 * HOUR, 40 * DAY, 4_000 * DAY, i64::MAX] {
            assert!(millis / tick_millis(millis) <= 9, "{millis}");
        }
    }
}
