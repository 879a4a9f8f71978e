//! Durations, ages and limits in words, such as `3 min 20 s`.

use super::pluralize;
use crate::timestamp::Timestamp;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// A duration in at most two units: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
pub fn format_duration(millis: u64) -> String {
    match millis {
        1..100 => "< 0.1 s".to_owned(),
        0..10_000 if !millis.is_multiple_of(SECOND) => {
            format!("{}.{} s", millis / SECOND, millis % SECOND / 100)
        }
        0..MINUTE => format!("{} s", millis / SECOND),
        MINUTE..HOUR => two_units(millis / MINUTE, "min", millis % MINUTE / SECOND, "s"),
        HOUR..DAY => two_units(millis / HOUR, "h", millis % HOUR / MINUTE, "min"),
        DAY.. => two_units(millis / DAY, "d", millis % DAY / HOUR, "h"),
    }
}

fn two_units(large: u64, large_word: &str, small: u64, small_word: &str) -> String {
    match small {
        0 => format!("{large} {large_word}"),
        _ => format!("{large} {large_word} {small} {small_word}"),
    }
}

/// Whole minutes: `under a minute`, `12 min`, `3 h 20 min`, `2 d 4 h`.
pub fn format_minutes(minutes: u64) -> String {
    if minutes == 0 {
        "under a minute".to_owned()
    } else {
        format_duration(minutes.saturating_mul(MINUTE))
    }
}

/// The time since a moment, as [`format_minutes`] writes it.
pub fn format_age(since: Option<Timestamp>, now: Timestamp) -> String {
    let millis = since
        .and_then(|since| now.millis_since(since))
        .unwrap_or_default();
    format_minutes(u64::try_from(millis).unwrap_or_default() / MINUTE)
}

/// A limit in the largest unit that divides it: `90 seconds`, `2 minutes`, `3 hours`.
pub fn format_limit(seconds: u32) -> String {
    match seconds {
        0..60 => pluralize(seconds as usize, "second"),
        60..7_200 if seconds.is_multiple_of(60) => pluralize((seconds / 60) as usize, "minute"),
        _ if seconds.is_multiple_of(3_600) => pluralize((seconds / 3_600) as usize, "hour"),
        _ => pluralize(seconds as usize, "second"),
    }
}

/// A stopwatch: `0:05`, `12:05`, `1:02:05`.
pub fn format_clock(millis: i64) -> String {
    let seconds = millis.max(0) / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_at_most_two_units() {
        for (millis, words) in [
            (0, "0 s"),
            (3, "< 0.1 s"),
            (430, "0.4 s"),
            (12_300, "12 s"),
            (60_000, "1 min"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
            (3 * DAY + 4 * HOUR, "3 d 4 h"),
        ] {
            assert_eq!(format_duration(millis), words, "{millis}");
        }
    }

    #[test]
    fn ages_are_told_in_the_two_greatest_units() {
        for (minutes, expected) in [
            (0, "under a minute"),
            (1, "1 min"),
            (60, "1 h"),
            (200, "3 h 20 min"),
            (1_440, "1 d"),
            (3_000, "2 d 2 h"),
        ] {
            assert_eq!(
                format_age(
                    Some(Timestamp::from_millis(0)),
                    Timestamp::from_millis(minutes * 60_000)
                ),
                expected
            );
        }
        let now = Timestamp::from_millis(10_000_000);
        assert_eq!(format_age(None, now), "under a minute");
        assert_eq!(
            format_age(Some(Timestamp::from_millis(99_000_000)), now),
            "under a minute"
        );
    }
}
